#pragma once

#include <cstdint>
#include <vector>

namespace hone {

/// What an image is to a model.
struct ImageSize {
  std::int64_t channels = 3, height = 0, width = 0;

  std::int64_t values() const { return channels * height * width; }
  bool operator==(const ImageSize&) const = default;
};

/// Images of one size, as bytes of which a model reads `factors[channel] * byte + shifts[channel]`, or as what it reads.
struct ImageSet {
  ImageSize size;
  std::vector<std::uint8_t> bytes =
      {};  ///< (images, channels, height, width); empty where there are values
  std::vector<float> factors = {}, shifts = {};  ///< of each channel of bytes
  std::vector<float> values = {};                ///< (images, channels, height, width)

  std::int64_t count() const;
  /// Image `number` as a model reads it, `size.values()` numbers.
  void write(std::int64_t number, float* to) const;
};

}  // namespace hone
