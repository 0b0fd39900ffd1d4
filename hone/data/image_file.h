#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/base/file.h"

/// Image files.
namespace hone {

/// Rows of pixels with `channels` bytes each: red, green and blue, or grayscale.
struct Picture {
  std::int64_t height = 0, width = 0, channels = 3;
  std::vector<std::uint8_t> bytes = {};

  const std::uint8_t* pixel(std::int64_t row, std::int64_t column) const {
    return bytes.data() + (row * width + column) * channels;
  }
};

/// Pillow's limit for decompression bombs: 256 MiB with three channels.
inline constexpr std::int64_t kMaxPicturePixels = std::int64_t{1024} * 1024 * 1024 / 4 / 3;

/// Returns whether a file name ends in .png, .jpg or .jpeg, in any case.
bool is_picture_name(std::string_view name);

/// Decodes a PNG or JPEG, recognized by its first bytes, to 3 channels or 1. The values equal those of Pillow's
/// `convert`, except for 16-bit grayscale: the upper eight bits are used. Transparency is dropped, and EXIF orientation
/// ignored. Throws `UserError` for other, damaged or truncated files, CMYK JPEGs, more than `kMaxPicturePixels`, and
/// other numbers of channels.
Picture decode_picture(std::string_view bytes, std::int64_t channels);

/// Reads and decodes an image file. Throws `UserError` with the path as `decode_picture` does, and for a file that
/// cannot be read.
Picture read_picture(const fs::path& path, std::int64_t channels);

}  // namespace hone
