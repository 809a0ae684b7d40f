#pragma once

#include <filesystem>

#include <backplane/contract/bytes.h>
#include <backplane/contract/result.h>
#include <backplane/export.h>

namespace backplane {

/// The contents of a file, mapped into memory and read when they are touched; changes to them stay private.
/// The mapping lasts as long as the block. Any thread. Errors: `not_found`, `io_unknown`.
[[nodiscard]] BACKPLANE_API Result<Bytes> map_file(const std::filesystem::path& path);

}  // namespace backplane
