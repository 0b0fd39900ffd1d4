#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hone/base/file.h"

/// Pictures as files hold them.
namespace hone {

/// Rows of pixels of `channels` bytes each: red, green and blue, or brightness alone.
struct Picture {
  std::int64_t height = 0, width = 0, channels = 3;
  std::vector<std::uint8_t> bytes = {};

  const std::uint8_t* pixel(std::int64_t row, std::int64_t column) const {
    return bytes.data() + (row * width + column) * channels;
  }
};

/// Where Pillow warns of a file that is small and a picture that is not: 256 MB of three channels.
inline constexpr std::int64_t kMostPicturePixels = std::int64_t{1024} * 1024 * 1024 / 4 / 3;

/// Whether a file's name ends as those of pictures do: .png, .jpg or .jpeg, in any case.
bool is_picture_name(std::string_view name);

/// The bytes of a PNG or a JPEG, told by the first of them, as 3 channels or as 1: the values that Pillow's `convert`
/// gives, but of greys of 16 bits, of which it takes none. What is transparent keeps its colour, and what a camera says of
/// turning is not looked at. Throws `UserError`: another kind of file, a damaged or truncated one, a JPEG of four colours,
/// more than `kMostPicturePixels`, another number of channels.
Picture decode_picture(std::string_view bytes, std::int64_t channels);

/// That of a file. Throws `UserError` with the path as `decode_picture`, and for a file that cannot be read.
Picture read_picture(const fs::path& path, std::int64_t channels);

}  // namespace hone
