#include "hone/search/numpy_random.h"

namespace hone {

NumpyRandom::NumpyRandom(std::uint32_t seed) {
  state_[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i)
    state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
}

void NumpyRandom::refill() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t joined =
        (state_[i] & 0x80000000u) | (state_[(i + 1) % kWords] & 0x7fffffffu);
    state_[i] =
        state_[(i + kShift) % kWords] ^ joined >> 1 ^ ((joined & 1) != 0 ? 0x9908b0dfu : 0u);
  }
  next_ = 0;
}

std::uint32_t NumpyRandom::next_word() {
  if (next_ == kWords) refill();
  std::uint32_t word = state_[next_++];
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

double NumpyRandom::uniform() {
  const std::uint32_t high = next_word() >> 5, low = next_word() >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

std::uint32_t NumpyRandom::up_to(std::uint32_t last) {
  std::uint32_t mask = last;
  for (const int shift : {1, 2, 4, 8, 16}) mask |= mask >> shift;
  if (last == 0) return 0;  // numpy draws nothing for it
  for (;;)
    if (const std::uint32_t value = next_word() & mask; value <= last) return value;
}

}  // namespace hone
