// Fills memory with one value, given by its bits. WORD is an unsigned integer of the size of an element.
#include "numbers.cuh"

extern "C" __global__ void fill(WORD* to, WORD value, std::int64_t count) {
  constexpr int kPack = 16 / sizeof(WORD);
  const std::int64_t at = thread_number() * kPack;
  if (at + kPack <= count && reinterpret_cast<std::uint64_t>(to) % 16 == 0) {
    Pack<WORD, kPack> values;
#pragma unroll
    for (int i = 0; i < kPack; ++i) values.at[i] = value;
    *reinterpret_cast<Pack<WORD, kPack>*>(to + at) = values;
  } else {
    for (std::int64_t i = at; i < at + kPack && i < count; ++i) to[i] = value;
  }
}
