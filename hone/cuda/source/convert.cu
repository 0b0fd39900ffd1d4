// Converts x to another type, TARGET. Memory-bound, so each thread converts eight elements at a time.
#include "numbers.cuh"

extern "C" __global__ void convert(std::int64_t count, const VALUE* __restrict__ x, TARGET* __restrict__ y) {
  constexpr int kPack = 8;
  const std::int64_t packs = count / kPack;
  for (std::int64_t i = thread_number(); i < packs; i += all_threads()) {
    const Pack<VALUE, kPack> from = reinterpret_cast<const Pack<VALUE, kPack>*>(x)[i];
    Pack<TARGET, kPack> to;
#pragma unroll
    for (int k = 0; k < kPack; ++k) to.at[k] = from_float<TARGET>(to_float(from.at[k]));
    reinterpret_cast<Pack<TARGET, kPack>*>(y)[i] = to;
  }
  for (std::int64_t i = packs * kPack + thread_number(); i < count; i += all_threads())
    y[i] = from_float<TARGET>(to_float(x[i]));
}
