#pragma once
// Counter-based random words, the same as in hone/base/random.h: Philox4x32-10 of (block, stream) under key seed.
#include "cstdint"

struct RandomStream {
  std::uint64_t seed;
  std::uint64_t stream;
};

struct RandomBlock {
  std::uint32_t words[4];
};

inline RandomBlock random_block(RandomStream random, std::uint64_t block) {
  std::uint32_t c0 = std::uint32_t(block), c1 = std::uint32_t(block >> 32),
                c2 = std::uint32_t(random.stream), c3 = std::uint32_t(random.stream >> 32);
  std::uint32_t k0 = std::uint32_t(random.seed), k1 = std::uint32_t(random.seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t high0 = __umulhi(0xD2511F53u, c0), low0 = 0xD2511F53u * c0;
    const std::uint32_t high1 = __umulhi(0xCD9E8D57u, c2), low1 = 0xCD9E8D57u * c2;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

inline std::uint32_t random_word(RandomStream random, std::uint64_t index) {
  return random_block(random, index / 4).words[index % 4];
}
