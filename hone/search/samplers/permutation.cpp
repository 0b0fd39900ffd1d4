#include "hone/search/samplers/permutation.h"

#include "hone/base/error.h"
#include "hone/base/random.h"

namespace hone {

Permutation::Permutation(WideCount count, std::uint64_t seed) : count_(count), seed_(seed) {
  HONE_ASSERT(count >= 1 && count <= WideCount{1} << 126, "no order of so many numbers");
  while (WideCount{1} << 2 * half_bits_ < count) ++half_bits_;
}

WideCount Permutation::at(WideCount index) const {
  HONE_ASSERT(index < count_, "an index beyond the end");
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  do {
    auto left = static_cast<std::uint64_t>(index >> half_bits_);
    auto right = static_cast<std::uint64_t>(index) & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const auto words = RandomStream{seed_, right}.block(round);
      const std::uint64_t mixed = std::uint64_t{words[1]} << 32 | words[0];
      const std::uint64_t next = left ^ (mixed & mask);
      left = right;
      right = next;
    }
    index = WideCount{left} << half_bits_ | right;
  } while (index >= count_);
  return index;
}

}  // namespace hone
