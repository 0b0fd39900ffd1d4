#pragma once

#include <cstdint>
#include <vector>

namespace hone {

/// The shape of a model's input image.
struct ImageSize {
  std::int64_t channels = 3, height = 0, width = 0;

  std::int64_t values() const { return channels * height * width; }
  bool operator==(const ImageSize&) const = default;
};

/// Images of one size: bytes, which a model reads as `factors[channel] * byte + shifts[channel]`, or values that it
/// reads directly.
struct ImageSet {
  ImageSize size;
  std::vector<std::uint8_t> bytes =
      {};  ///< (images, channels, height, width); empty if `values` is set
  std::vector<float> factors = {}, shifts = {};  ///< per channel, for bytes
  std::vector<float> values = {};                ///< (images, channels, height, width)

  std::int64_t count() const;
  /// Writes image `number` as the model reads it, `size.values()` numbers.
  void write(std::int64_t number, float* to) const;
};

}  // namespace hone
