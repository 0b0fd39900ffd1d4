#include "hone/data/image_set.h"

#include <algorithm>

namespace hone {

std::int64_t ImageSet::count() const {
  return std::max(std::ssize(bytes), std::ssize(values)) / size.values();
}

void ImageSet::write(std::int64_t number, float* to) const {
  const std::int64_t begin = number * size.values(), pixels = size.height * size.width;
  if (!values.empty()) {
    std::copy_n(values.data() + begin, size.values(), to);
    return;
  }
  const std::uint8_t* from = bytes.data() + begin;
  for (std::size_t channel = 0; channel < factors.size(); ++channel)
    for (std::int64_t i = 0; i < pixels; ++i)
      *to++ = static_cast<float>(*from++) * factors[channel] + shifts[channel];
}

}  // namespace hone
