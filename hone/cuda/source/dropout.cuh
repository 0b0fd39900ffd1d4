#pragma once
// Dropout factors of elements: see hone/ops/dropout_factors.h.
#include "nest.cuh"
#include "numbers.cuh"
#include "random.cuh"

/// Rows of `length` elements that use consecutive random words. A row's first word follows from its index in the nest,
/// or from its entry in `places`.
struct Drops {
  const std::int64_t* key;
  std::uint64_t stream;
  std::uint64_t threshold;  // p 2^32: smaller words drop an element
  float factor;             // 1 / (1 - p)
  const std::int64_t* places;
  std::int64_t length;
  LoopNest<1> words;

  RandomStream random() const { return {std::uint64_t(*key), stream}; }
  std::uint64_t first_word(std::int64_t row) const {
    return places ? std::uint64_t(places[row]) * length : offset_of(words, row);
  }
  float factor_of(std::uint32_t word) const { return word >= threshold ? factor : 0.0f; }
};

// Returns the factors of four adjacent elements, the first of which uses `word`.
inline Pack<float, 4> four_factors(const Drops& drops, const RandomStream& random,
                                   std::uint64_t word) {
  std::uint32_t words[8] = {};
  const RandomBlock first = random_block(random, word / 4);
#pragma unroll
  for (int i = 0; i < 4; ++i) words[i] = first.words[i];
  if (const int skipped = word % 4) {
    const RandomBlock second = random_block(random, word / 4 + 1);
#pragma unroll
    for (int i = 0; i < 4; ++i) words[4 + i] = second.words[i];
    if (skipped & 1) {
#pragma unroll
      for (int i = 0; i < 7; ++i) words[i] = words[i + 1];
    }
    if (skipped & 2) {
#pragma unroll
      for (int i = 0; i < 5; ++i) words[i] = words[i + 2];
    }
  }
  Pack<float, 4> factors;
#pragma unroll
  for (int i = 0; i < 4; ++i) factors.at[i] = drops.factor_of(words[i]);
  return factors;
}
