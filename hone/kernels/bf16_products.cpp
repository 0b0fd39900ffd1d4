#include "hone/kernels/bf16_products.h"

#include "hone/base/cpu.h"
#include "hone/base/error.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hone::kernels {

#if defined(__x86_64__)
namespace {

// Highway has no target with these instructions and without newer ones.
#define HONE_BF16_TARGET __attribute__((target("avx512f,avx512bf16")))

HONE_BF16_TARGET inline __m512bh pairs_of(__m512i bits) { return reinterpret_cast<__m512bh>(bits); }

template <int kRows, int kVectors>
HONE_BF16_TARGET void multiply(const std::uint32_t* __restrict rows, const PairVectors& columns,
                               std::int64_t pairs, float* __restrict sums) {
  __m512 sum[kRows][kVectors];
  const std::uint32_t* column[kVectors];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_setzero_ps();
  }
#pragma GCC unroll 3
  for (int j = 0; j < kVectors; ++j) column[j] = columns.data[j];
  const std::uint32_t *const ahead = columns.ahead[0], *const also_ahead = columns.ahead[1];
  for (std::int64_t l = 0; l < pairs; ++l) {
    if (ahead != nullptr) __builtin_prefetch(ahead + l * kPairStride, 0, 2);
    if (also_ahead != nullptr) __builtin_prefetch(also_ahead + l * kPairStride, 0, 2);
    __m512bh right[kVectors];
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      right[j] = pairs_of(_mm512_loadu_si512(column[j] + l * kPairStride));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const __m512bh left = pairs_of(_mm512_set1_epi32(static_cast<int>(rows[i])));
#pragma GCC unroll 3
      for (int j = 0; j < kVectors; ++j) sum[i][j] = _mm512_dpbf16_ps(sum[i][j], left, right[j]);
    }
    rows += kPairRows;
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < kVectors; ++j)
      _mm512_store_ps(sums + i * kPieceStride + j * kPairColumns, sum[i][j]);
  }
}

// Multiplies rows.count rows, or a few more, which are zero.
template <int kVectors>
void multiply_rows(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                   float* sums) {
  if (rows.count == 1) return multiply<1, kVectors>(rows.data, columns, pairs, sums);
  if (rows.count == 2) return multiply<2, kVectors>(rows.data, columns, pairs, sums);
  if (rows.count <= 4) return multiply<4, kVectors>(rows.data, columns, pairs, sums);
  multiply<kPairRows, kVectors>(rows.data, columns, pairs, sums);
}

HONE_BF16_TARGET float run(std::int64_t rounds, float start, double* operations) {
  constexpr int kChains = 24;
  const __m512bh half = pairs_of(_mm512_set1_epi16(0x3f00));   // 0.5
  const __m512bh small = pairs_of(_mm512_set1_epi16(0x3400));  // 2^-23
  __m512 chain[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) chain[i] = _mm512_set1_ps(start + static_cast<float>(i));
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (int i = 0; i < kChains; ++i) chain[i] = _mm512_dpbf16_ps(chain[i], half, small);
  }
  __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) sum = _mm512_add_ps(sum, chain[i]);
  *operations = 4.0 * 16.0 * kChains * static_cast<double>(rounds);
  return _mm512_cvtss_f32(sum);
}

#undef HONE_BF16_TARGET

}  // namespace

bool has_bf16_products() {
  static const bool has = instruction_sets().avx512_bf16;
  return has;
}

void multiply_bf16_pairs(const PairRows& rows, const PairVectors& columns, std::int64_t pairs,
                         float* sums) {
  if (columns.count == 3) return multiply_rows<3>(rows, columns, pairs, sums);
  if (columns.count == 2) return multiply_rows<2>(rows, columns, pairs, sums);
  multiply_rows<1>(rows, columns, pairs, sums);
}

float run_bf16_products(std::int64_t rounds, float start, double* operations) {
  return run(rounds, start, operations);
}

#else

bool has_bf16_products() { return false; }

void multiply_bf16_pairs(const PairRows&, const PairVectors&, std::int64_t, float*) {
  HONE_ASSERT(false, "this CPU has no products of bfloat16");
}

float run_bf16_products(std::int64_t, float, double*) {
  HONE_ASSERT(false, "this CPU has no products of bfloat16");
  return 0;
}

#endif

}  // namespace hone::kernels
