#pragma once

#include <cstdint>
#include <vector>

#include "hone/data/image_file.h"
#include "hone/data/image_set.h"

namespace hone {

/// Interpolation filters.
enum class Resampling : std::uint8_t { bilinear, bicubic };

/// Preprocessing of images: resize, crop the center, rescale and normalize.
struct ImagePreparation {
  ImageSize size = {};  ///< input of the model: the center of the resized image
  /// Length of the resized image's shorter edge in pixels, at least `size`; 0: resizes to `size` and ignores the aspect
  /// ratio.
  std::int64_t shortest_edge = 0;
  Resampling resampling = Resampling::bicubic;
  double rescale_factor = 1.0 / 255;  ///< multiplies bytes
  /// Per channel, of rescaled values: the model reads (value - mean) / deviation.
  std::vector<float> mean = {}, deviation = {};

  bool operator==(const ImagePreparation&) const = default;
};

/// Resizes an image. The filter is as wide as a pixel of the smaller image, and is applied along rows, then along
/// columns, in Pillow's fixed-point arithmetic, with bit-identical results. Throws `UserError` for more than
/// `kMaxPicturePixels`.
Picture resized(const Picture& picture, std::int64_t height, std::int64_t width,
                Resampling resampling);

/// Resizes and crops an image without rescaling and normalizing its bytes. Writes `preparation.size.values()` bytes to
/// `to`, channel by channel.
void prepare_picture(const Picture& picture, const ImagePreparation& preparation, std::uint8_t* to);

/// Returns an empty image set with the size, factors and shifts of `preparation`.
ImageSet image_set(const ImagePreparation& preparation);

}  // namespace hone
