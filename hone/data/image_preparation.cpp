#include "hone/data/image_preparation.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr int kPrecisionBits = 32 - 8 - 2;

double filter_value(Resampling resampling, double x) {
  x = std::fabs(x);
  if (resampling == Resampling::bilinear) return x < 1 ? 1 - x : 0;
  // Keys, "Cubic convolution interpolation for digital image processing", 1981
  constexpr double a = -0.5;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

// Weights of the source pixels of one result pixel, from `first` on.
struct Weights {
  std::int64_t first;
  std::vector<std::int32_t> of;
};

std::vector<Weights> weights_of(std::int64_t from, std::int64_t to, Resampling resampling) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  const double stretch = std::max(scale, 1.0);
  const double support = (resampling == Resampling::bilinear ? 1.0 : 2.0) * stretch;
  std::vector<Weights> all;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - support + 0.5)));
    const auto last = std::min(from, static_cast<std::int64_t>(std::floor(centre + support + 0.5)));
    std::vector<double> values;
    double sum = 0;
    for (std::int64_t j = first; j < last; ++j) {
      values.push_back(
          filter_value(resampling, (static_cast<double>(j) - centre + 0.5) * (1 / stretch)));
      sum += values.back();
    }
    Weights weights{first, {}};
    for (const double value : values) {
      const double fixed = value / sum * (1 << kPrecisionBits);
      weights.of.push_back(static_cast<std::int32_t>(std::lround(fixed)));
    }
    all.push_back(std::move(weights));
  }
  return all;
}

// Returns one channel of a result pixel. `from` is that of the first source pixel; the next ones are `step` bytes
// apart.
std::uint8_t weighted(const std::uint8_t* from, std::int64_t step, const Weights& weights) {
  std::int32_t sum = 1 << (kPrecisionBits - 1);
  for (const std::int32_t weight : weights.of) {
    sum += *from * weight;
    from += step;
  }
  return static_cast<std::uint8_t>(std::clamp(sum >> kPrecisionBits, 0, 255));
}

Picture resized_rows(const Picture& picture, std::int64_t width, Resampling resampling) {
  if (width == picture.width) return picture;
  const std::vector<Weights> weights = weights_of(picture.width, width, resampling);
  Picture result{picture.height, width, picture.channels};
  for (std::int64_t row = 0; row < picture.height; ++row)
    for (const Weights& of : weights)
      for (std::int64_t c = 0; c < picture.channels; ++c)
        result.bytes.push_back(weighted(picture.pixel(row, of.first) + c, picture.channels, of));
  return result;
}

Picture resized_columns(const Picture& picture, std::int64_t height, Resampling resampling) {
  if (height == picture.height) return picture;
  Picture result{height, picture.width, picture.channels};
  for (const Weights& of : weights_of(picture.height, height, resampling))
    for (std::int64_t column = 0; column < picture.width; ++column)
      for (std::int64_t c = 0; c < picture.channels; ++c)
        result.bytes.push_back(
            weighted(picture.pixel(of.first, column) + c, picture.width * picture.channels, of));
  return result;
}

}  // namespace

Picture resized(const Picture& picture, std::int64_t height, std::int64_t width,
                Resampling resampling) {
  // A very elongated image grows by its aspect ratio.
  user_check(width <= kMaxPicturePixels / std::max(height, picture.height),
             "a picture of {} x {} pixels cannot be made one of {} x {}: at most {} pixels lie "
             "between",
             picture.height, picture.width, height, width, kMaxPicturePixels);
  return resized_columns(resized_rows(picture, width, resampling), height, resampling);
}

void prepare_picture(const Picture& picture, const ImagePreparation& preparation,
                     std::uint8_t* to) {
  const ImageSize& size = preparation.size;
  std::int64_t height = size.height, width = size.width;
  if (const std::int64_t edge = preparation.shortest_edge; edge > 0) {
    const bool tall = picture.height > picture.width;
    height = tall ? edge * picture.height / picture.width : edge;
    width = tall ? edge : edge * picture.width / picture.height;
  }
  const Picture whole = resized(picture, height, width, preparation.resampling);
  const std::int64_t top = (height - size.height) / 2, left = (width - size.width) / 2;
  for (std::int64_t c = 0; c < size.channels; ++c)
    for (std::int64_t row = 0; row < size.height; ++row)
      for (std::int64_t column = 0; column < size.width; ++column)
        *to++ = whole.pixel(top + row, left + column)[c];
}

ImageSet image_set(const ImagePreparation& preparation) {
  ImageSet set{.size = preparation.size};
  for (std::size_t c = 0; c < preparation.mean.size(); ++c) {
    const double deviation = static_cast<double>(preparation.deviation[c]);
    set.factors.push_back(static_cast<float>(preparation.rescale_factor / deviation));
    set.shifts.push_back(static_cast<float>(-static_cast<double>(preparation.mean[c]) / deviation));
  }
  return set;
}

}  // namespace hone
