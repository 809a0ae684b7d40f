#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include <backplane/contract/result.h>

namespace deep_sky {

/// A picture of 8-bit red, green, blue, rows packed from the top.
struct Picture {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> rgb;
};

/// Most pixels a picture may have: what fits the 32-bit indices of the kernels with room to spare.
inline constexpr std::uint64_t kMostPixels = 1U << 28U;

/// Reads a PNG file. Errors: `not_found`; `io_unknown` for a file that is no PNG; `validation` for an empty
/// or too large picture.
backplane::Result<Picture> read_png(const std::filesystem::path& path);

/// Writes a PNG file. Errors: `io_unknown`.
backplane::Result<void> write_png(const std::filesystem::path& path, const Picture& picture);

/// A colour, each part 0 to 255.
struct Colour {
  std::uint8_t red;
  std::uint8_t green;
  std::uint8_t blue;
};

/// Draws a circle of one pixel's width; what lies outside the picture is left out.
void draw_circle(Picture& picture, double x, double y, double radius, Colour colour);

/// Draws a whole number in digits of 5 x 7 pixels, its upper left corner at (x, y).
void draw_number(Picture& picture, int x, int y, unsigned number, Colour colour);

}  // namespace deep_sky
