#pragma once

#include <cstdint>
#include <vector>

#include "hone/data/image_file.h"
#include "hone/data/image_set.h"

namespace hone {

/// By which values between pixels are found.
enum class Resampling : std::uint8_t { bilinear, bicubic };

/// How pictures become what a model reads.
struct ImagePreparation {
  ImageSize size = {};  ///< what a model reads: the middle of the resized picture
  /// Pixels of the shorter edge of the resized picture, `size` at least; 0: it is resized to `size`, whatever its shape was.
  std::int64_t shortest_edge = 0;
  Resampling resampling = Resampling::bicubic;
  double rescale_factor = 1.0 / 255;  ///< of bytes
  /// Of each channel, of rescaled values: what is read is (value - mean) / deviation.
  std::vector<float> mean = {}, deviation = {};

  bool operator==(const ImagePreparation&) const = default;
};

/// A picture of another size. Pixels are weighted by a filter as wide as pixels of the smaller of both are, first along
/// rows, then along columns, in the fixed point numbers of Pillow, whose bits each of the two has. Throws `UserError` for
/// more than `kMostPicturePixels`.
Picture resized(const Picture& picture, std::int64_t height, std::int64_t width,
                Resampling resampling);

/// The picture as the model reads it, but for the factors and shifts of bytes: `to` has `preparation.size.values()`,
/// channel after channel.
void prepare_picture(const Picture& picture, const ImagePreparation& preparation, std::uint8_t* to);

/// An empty set of images of such a preparation.
ImageSet image_set(const ImagePreparation& preparation);

}  // namespace hone
