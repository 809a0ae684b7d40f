#include <memory>
#include <string>
#include <system_error>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include <backplane/file_bytes.h>

namespace backplane {

Result<Bytes> map_file(const std::filesystem::path& path) {
  namespace ipc = boost::interprocess;
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) {
    return Error(ErrorCode::not_found,
                 "\"" + path.string() + "\" cannot be mapped: " + error.message() + ".");
  }
  if (size == 0)
    return Bytes(nullptr, 0, BytesKind::file, nullptr, nullptr);  // an empty range cannot be mapped
  try {
    const ipc::file_mapping file(path.c_str(), ipc::read_only);
    auto region = std::make_unique<ipc::mapped_region>(file, ipc::copy_on_write);
    auto* const data = static_cast<std::byte*>(region->get_address());
    const std::size_t mapped = region->get_size();
    return Bytes(
        data, mapped, BytesKind::file,
        [](void* context, std::byte*, std::size_t) noexcept {
          const std::unique_ptr<ipc::mapped_region> owned(static_cast<ipc::mapped_region*>(context));
        },
        region.release());
  } catch (const ipc::interprocess_exception& exception) {
    return Error(ErrorCode::io_unknown,
                 "\"" + path.string() + "\" cannot be mapped: " + exception.what() + ".");
  }
}

}  // namespace backplane
