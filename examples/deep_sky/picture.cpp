#include "picture.h"

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <system_error>

#include <png.h>

namespace deep_sky {
namespace {

using backplane::Error;
using backplane::ErrorCode;
using backplane::Result;

/// libpng's simplified interface, released whatever happens.
class Image {
 public:
  Image() { image_.version = PNG_IMAGE_VERSION; }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image() { png_image_free(&image_); }

  png_image* operator->() noexcept { return &image_; }
  png_image* get() noexcept { return &image_; }

 private:
  png_image image_{};
};

void set_pixel(Picture& picture, int x, int y, Colour colour) {
  if (x < 0 || y < 0 || x >= static_cast<int>(picture.width) || y >= static_cast<int>(picture.height)) return;
  std::uint8_t* pixel =
      &picture.rgb[(static_cast<std::size_t>(y) * picture.width + static_cast<std::size_t>(x)) * 3];
  pixel[0] = colour.red;
  pixel[1] = colour.green;
  pixel[2] = colour.blue;
}

// Seven rows a digit, five bits a row, the leftmost highest.
constexpr std::array<std::array<std::uint8_t, 7>, 10> kDigits{{
    {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e},
    {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f},
    {0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02},
    {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e},
    {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e},
    {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c},
}};

}  // namespace

Result<Picture> read_png(const std::filesystem::path& path) {
  std::error_code unused;
  if (!std::filesystem::is_regular_file(path, unused)) {
    return Error(ErrorCode::not_found, "\"" + path.string() + "\" is no file; name a PNG picture.");
  }
  Image image;
  if (png_image_begin_read_from_file(image.get(), path.c_str()) == 0) {
    return Error(ErrorCode::io_unknown,
                 "\"" + path.string() + "\" is no PNG picture: " + image->message + ".");
  }
  image->format = PNG_FORMAT_RGB;
  const std::uint64_t pixels = std::uint64_t{image->width} * image->height;
  if (pixels == 0 || pixels > kMostPixels) {
    return Error(ErrorCode::validation, "\"" + path.string() + "\" has " + std::to_string(image->width) +
                                            " x " + std::to_string(image->height) +
                                            " pixels; it may have 1 to " + std::to_string(kMostPixels) + ".")
        .with_limit(pixels, kMostPixels);
  }
  Picture picture{image->width, image->height, std::vector<std::uint8_t>(PNG_IMAGE_SIZE(*image.get()))};
  if (png_image_finish_read(image.get(), nullptr, picture.rgb.data(), 0, nullptr) == 0) {
    return Error(ErrorCode::io_unknown, "\"" + path.string() + "\" is damaged: " + image->message + ".");
  }
  return picture;
}

Result<void> write_png(const std::filesystem::path& path, const Picture& picture) {
  Image image;
  image->width = picture.width;
  image->height = picture.height;
  image->format = PNG_FORMAT_RGB;
  if (png_image_write_to_file(image.get(), path.c_str(), 0, picture.rgb.data(), 0, nullptr) != 0) return {};
  return Error(ErrorCode::io_unknown, "\"" + path.string() + "\" cannot be written: " + image->message + ".");
}

void draw_circle(Picture& picture, double x, double y, double radius, Colour colour) {
  const int steps = static_cast<int>(std::ceil(2 * std::numbers::pi * radius * 2));
  for (int i = 0; i < steps; ++i) {
    const double angle = 2 * std::numbers::pi * i / steps;
    set_pixel(picture, static_cast<int>(std::lround(x + radius * std::cos(angle))),
              static_cast<int>(std::lround(y + radius * std::sin(angle))), colour);
  }
}

void draw_number(Picture& picture, int x, int y, unsigned number, Colour colour) {
  for (const char character : std::to_string(number)) {
    const auto& digit = kDigits[static_cast<std::size_t>(character - '0')];
    for (int row = 0; row < 7; ++row) {
      for (int column = 0; column < 5; ++column) {
        if ((digit[static_cast<std::size_t>(row)] >> (4 - column) & 1) != 0)
          set_pixel(picture, x + column, y + row, colour);
      }
    }
    x += 6;
  }
}

}  // namespace deep_sky
