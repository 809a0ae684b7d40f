#include "plugin/library.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <elf.h>

// Without this the library would want Boost.Filesystem, and be no header-only library any more.
#define BOOST_DLL_USE_STD_FS
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <cxxabi.h>

#include <backplane/contract/plugin.h>
#include <backplane/contract/result.h>

namespace backplane {
namespace {

/// The loader spells a missing symbol as the linker does; people read "foo::bar(int)".
std::string demangled_symbol(const std::string& text) {
  constexpr std::string_view kMarker = "undefined symbol: ";
  const std::size_t begin = text.find(kMarker);
  if (begin == std::string::npos) return {};
  const std::string rest = text.substr(begin + kMarker.size());
  const std::string symbol = rest.substr(0, rest.find_first_of(" ,\n"));
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && name != nullptr ? " (\"" + std::string(name.get()) + "\")" : std::string();
}

/// The message proper: Boost puts its own words before the loader's and the error code's after.
std::string loader_text(const std::exception& exception) {
  std::string text = exception.what();
  const std::size_t loader = text.find("(dlerror system message: ");
  if (loader == std::string::npos) return text;
  text.erase(0, text.find(": ", loader) + 2);
  const std::size_t end = text.rfind("): ");
  return end == std::string::npos ? text : text.substr(0, end);
}

class BoostLibrary final : public Library {
 public:
  BoostLibrary(std::filesystem::path path, boost::dll::shared_library library)
      : path_(std::move(path)), library_(std::move(library)) {}

  [[nodiscard]] Result<PluginEntryPoint> plugin_entry_point() const override {
    return entry_point<const PluginManifest*()>(kPluginEntryPoint, [](auto& function) {
      return reinterpret_cast<PluginEntryPoint>(
          &function);  // NOLINT(*-reinterpret-cast): only noexcept differs
    });
  }

  [[nodiscard]] Result<TranslatorEntryPoint> translator_entry_point() const override {
    return entry_point<const TranslatorApi*()>(kTranslatorEntryPoint, [](auto& function) {
      return reinterpret_cast<TranslatorEntryPoint>(&function);  // NOLINT(*-reinterpret-cast): likewise
    });
  }

  void keep_open() override {
    static std::mutex mutex;
    // Never destroyed, and reachable, so that leak checkers see it for what it is.
    static auto* const kept = new std::vector<boost::dll::shared_library>();
    const std::lock_guard lock(mutex);
    if (library_.is_loaded()) kept->push_back(std::move(library_));
  }

  [[nodiscard]] const std::filesystem::path& path() const noexcept override { return path_; }

 private:
  template <class Function, class Cast>
  auto entry_point(const char* name, Cast cast) const -> Result<decltype(cast(std::declval<Function&>()))> {
    try {
      if (library_.has(name)) return cast(library_.get<Function>(name));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): reported below
    }
    return Error(ErrorCode::plugin_load_failed,
                 "\"" + path_.string() + "\" does not export \"" + name +
                     "\", so it is no library of the kind that is wanted here.");
  }

  std::filesystem::path path_;
  mutable boost::dll::shared_library library_;
};

std::filesystem::path find_core_directory() {
  std::error_code failed;
  std::filesystem::path here = boost::dll::symbol_location_ptr(&core_directory, failed);
  // The loader names the program as it was called, which need not be a path at all.
  std::error_code ignored;
  const std::filesystem::path program = boost::dll::program_location(ignored);
  if (failed || here.filename() == program.filename()) here = program;
  std::filesystem::path resolved = std::filesystem::canonical(here, failed);
  if (failed) resolved = std::filesystem::canonical(program, failed);
  return failed ? std::filesystem::path() : resolved.parent_path();
}

// Asked for once while the library is loaded: a relative path means something else after a change of
// directory.
[[maybe_unused]] const bool core_directory_known = !core_directory().empty();

/// Whether the file holds every segment that its header speaks of. The loader maps without looking, and the
/// first touch of what a half-copied file lacks would end the process.
Result<void> check_complete(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code failed;
  const std::uintmax_t size = std::filesystem::file_size(path, failed);
  Elf64_Ehdr header{};
  if (failed || !file.read(reinterpret_cast<char*>(&header), sizeof header))
    return {};  // the loader knows better why
  const bool is_elf64 =
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64;
  if (!is_elf64 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const bool complete = file.read(reinterpret_cast<char*>(&segment), sizeof segment) &&
                          segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
    if (complete) continue;
    return Error(ErrorCode::plugin_load_failed, "The library \"" + path.string() + "\" is cut off after " +
                                                    std::to_string(size) + " bytes; install it again.");
  }
  return {};
}

}  // namespace

const std::filesystem::path& core_directory() {
  static const auto* const directory = new std::filesystem::path(find_core_directory());
  return *directory;
}

Result<std::shared_ptr<Library>> Library::open(const std::filesystem::path& path) {
  BACKPLANE_CHECK(check_complete(path));
  try {
    const auto mode = boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local;
    boost::dll::shared_library library(path, mode);
    return std::shared_ptr<Library>(std::make_shared<BoostLibrary>(path, std::move(library)));
  } catch (const std::exception& exception) {
    const std::string text = loader_text(exception);
    return Error(ErrorCode::plugin_load_failed, "The library \"" + path.string() + "\" cannot be loaded: " +
                                                    text + demangled_symbol(text) + ".");
  }
}

}  // namespace backplane
