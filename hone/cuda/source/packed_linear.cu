// Multiplies few rows of floats by a weight packed in panels, at the speed at which memory delivers its codes. Codes
// become bfloat16, which represents their values exactly, and x is split into three bfloat16 whose sum is exactly x. So
// tensor cores multiply without error, and add in fp32.
//
// A block has 128 rows of the weight, four panels, and some slices of 256 columns. Its eight warps cover four panels by
// two halves of a slice. A lane copies 16 bytes of a unit, the words of four rows, to its own ring in shared memory. As
// fragments of the matrix A they need the columns in another order than in memory; B, which is x, is stored in shared
// memory in that order.
//
// Memory is the limit: 4.8 TB/s (H200) at a latency of 1 us need 36 KB in flight on each of 132 multiprocessors. The rings
// hold 8 copies of 16 bytes per lane, 32 KB per block and 64 KB per multiprocessor, whatever the bits of a code, and no
// thread waits for another's codes. Per 512 bytes a warp takes about 75 instructions and up to 12 mma.sync, half of what a
// multiprocessor issues while these bytes come from memory.
//
// The block that finishes its rows last adds the sums of all blocks along the columns, in the order of the columns. So
// results have the same bits in every run, and no second kernel is launched.
//
// BITS: of a code, 1 to 8, or 16 for bfloat16; TILES: 1 or 2 tiles of 8 rows of x; DECODE: the kind of codes; MANTISSA:
// the mantissa bits of small floats; ADDS: 1 if a number is added to codes; BLOCKS: 1 if scales are powers of two for
// blocks along a row.
#include "hone/kernels/scalar/activation.h"
#include "numbers.cuh"
#include "packed_weight.cuh"
#include "warp_copies.cuh"

using namespace hone::cuda;

#ifndef BITS
#define BITS 8
#endif
#ifndef TILES
#define TILES 1
#endif
#ifndef MANTISSA
#define MANTISSA 0
#endif
#ifndef ADDS
#define ADDS 0
#endif
#ifndef BLOCKS
#define BLOCKS 0
#endif
#ifndef ACTIVATION
#define ACTIVATION x
#endif

// Values of DECODE.
#define WHOLE 0        // code - 2^(BITS - 1)
#define SMALL_FLOAT 1  // sign, exponent, MANTISSA bits of fraction
#define TABLE 2
#define BFLOAT16 3  // codes are bfloat16
#ifndef DECODE
#define DECODE WHOLE
#endif

constexpr int narrowest(int bits) { return bits & -bits; }

constexpr int kSlice = 256, kHalf = kSlice / 2;
constexpr int kPanels = 4, kRows = 32 * kPanels;
constexpr int kThreads = 2 * kPanels * 32;
constexpr int kTokens = 8 * TILES;
// Columns of a span, which fill whole words in each plane of bits. A lane processes whole spans.
constexpr int kSpan = BITS == 16 ? 4 : 32 / narrowest(BITS);
constexpr int kWords = BITS * kSpan / 32;
constexpr int kSteps = kHalf / (4 * kSpan);  // spans of a lane in its half of a slice
constexpr int kProducts = kHalf / 16;        // of 16 columns
// Spans in the ring of a lane: 8 copies ahead of the one in use.
constexpr int kSpanBytes = kWords * kThreads * 16;
constexpr int kDepth = kWords >= 5 ? 2 : (8 + kWords - 1) / kWords + 1;
constexpr int kBuffers = TILES == 1 ? 2 : 1;  // of x and scales: with two, a slice takes one barrier
constexpr int kMinBlock = 16;
constexpr std::uint32_t kOnes = 0x3f803f80u, kNegativeZeros = 0x80008000u;  // pairs of bfloat16: 1 and -0

struct PackedProduct {
  std::int64_t tokens;  // rows of x
  std::int64_t slices;  // of all columns
  std::int64_t block_slices;
  std::int64_t padded_rows;
  std::int32_t block_shift;  // BLOCKS: the logarithm of a block's columns
  std::uint32_t factor;      // SMALL_FLOAT: a power of two, twice as bfloat16
};

// Values as bfloat16, for TABLE and BLOCKS.
struct ProductTables {
  std::uint16_t units[256];
  std::uint16_t scales[256];
};

struct Slice {
  uint2 x[2][kProducts][3][TILES][32];  // as lanes read fragments of B
  alignas(16) std::uint16_t block_scales[BLOCKS ? kSlice / kMinBlock : 1][kRows];
};
struct Shared {
  Slice slices[kBuffers];
  std::uint16_t units[DECODE == TABLE ? 256 : 1];
  std::uint16_t scales[BLOCKS ? 256 : 1];
  int is_last;
};
constexpr int kRingAt = (sizeof(Shared) + 15) / 16 * 16;  // in shared memory, kDepth spans

inline std::uint32_t fused(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t d;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}

inline void multiply(float (&sums)[4], const std::uint32_t (&a)[4], uint2 b) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

inline std::uint32_t both(std::uint32_t bfloat) { return bfloat | bfloat << 16; }

// ---- codes

// Begins to copy the span that starts at column `begin` of a panel to the slot of a lane; zeros beyond the last column.
inline void copy_span(const PackedWeight& w, const std::uint8_t* panel, std::int64_t begin, std::uint32_t to) {
  const int lane = threadIdx.x % 32;
  const std::int64_t span = begin / kSpan + lane % 4;
  const std::uint8_t* plane = panel + lane / 4 * 16;
#pragma unroll
  for (int width = 16; width >= 1; width /= 2) {
    if ((BITS & width) == 0) continue;
    const int units = kSpan * width / 32;
#pragma unroll
    for (int i = 0; i < units; ++i) {
      const std::int64_t unit = span * units + i;
      begin_copy(to, plane + unit * 128, unit * 32 < w.padded_columns * width);
      to += kThreads * 16;
    }
    plane += 4 * w.padded_columns * width;
  }
}

inline std::uint32_t word_of(const uint4& words, int row) {
  return row == 0 ? words.x : row == 1 ? words.y : row == 2 ? words.z : words.w;
}

// Returns four codes of a row, a byte each: columns 4 quad to 4 quad + 3 of a span.
inline std::uint32_t quad_of(const uint4 (&span)[kWords], int row, int quad) {
  std::uint32_t codes = 0;
  int word = 0;
#pragma unroll
  for (int width = 8; width >= 1; width /= 2) {
    if ((BITS & width) == 0) continue;
    const int parts = 8 / width;
    const std::uint32_t mask = ((1u << width) - 1) * 0x01010101u;
    codes |= (word_of(span[word + quad / parts], row) >> (quad % parts * width) & mask)
             << (BITS & (width - 1));
    word += kSpan * width / 32;
  }
  return codes;
}

// Returns a pair of codes as bfloat16. `select` moves their bytes to the lower halves. In the last bits of 128, a code
// is a number without a conversion, except for its eighth bit, which chooses what is subtracted.
inline std::uint32_t pair_of(std::uint32_t codes, std::uint32_t select, const Shared& shared,
                             std::uint32_t factor) {
  if constexpr (DECODE == WHOLE) {
    const std::uint32_t pair = __byte_perm(codes, 0x43434343u, select);
    if constexpr (BITS == 8)
      return fused(pair & 0xff7fff7fu, kOnes, pair & 0x00800080u ^ 0xc380c380u);
    constexpr std::uint32_t kMiddle = 0xc300u + (1u << (BITS - 1));  // -(128 + 2^(BITS - 1))
    return fused(pair, kOnes, kMiddle | kMiddle << 16);
  } else if constexpr (DECODE == SMALL_FLOAT) {
    constexpr std::uint32_t kMagnitude = ((1u << (BITS - 1)) - 1) << (7 - MANTISSA);
    const std::uint32_t pair = __byte_perm(codes, 0, select);
    const std::uint32_t sign = pair << (16 - BITS) & kNegativeZeros;
    return fused(sign | pair << (7 - MANTISSA) & (kMagnitude | kMagnitude << 16), factor, kNegativeZeros);
  } else {
    const std::uint32_t pair = __byte_perm(codes, 0, select);
    return shared.units[pair & 0xffu] | std::uint32_t(shared.units[pair >> 16]) << 16;
  }
}

// ---- x

// Split a float exactly into its upper half and the rest. NaN and infinities are in the first part alone.
inline std::uint32_t upper_pair(float a, float b) {
  return __byte_perm(__float_as_uint(a), __float_as_uint(b), 0x7632);
}
inline float lower_part(float x) {
  const std::uint32_t bits = __float_as_uint(x);
  return (bits & 0x7f800000u) == 0x7f800000u ? 0.0f : x - __uint_as_float(bits & 0xffff0000u);
}

inline float usable_value(float value) {
  return value == value ? value : __uint_as_float(0x7fc00000u);
}

// A warp's share of x in a slice: four adjacent columns of a row per lane.
constexpr int kWarpItems = 2 * kProducts * TILES / (kThreads / 32);
struct XItem {
  int tile, product, half;

  explicit XItem(int number) {
    const int item = threadIdx.x / 32 + number * (kThreads / 32);
    tile = item % TILES;
    product = item / TILES % kProducts;
    half = item / (TILES * kProducts);
  }
};
struct XValues {
  float4 of[kWarpItems];
};

// Loads the columns from `begin` on of the rows from `token` on, zeros beyond the last. Does not wait for them.
inline void fetch_x(const float* x, std::int64_t columns, std::int64_t tokens, std::int64_t token,
                    std::int64_t begin, XValues& values) {
  const int lane = threadIdx.x % 32;
  const bool packed = columns % 4 == 0 && reinterpret_cast<std::size_t>(x) % sizeof(float4) == 0;
#pragma unroll
  for (int number = 0; number < kWarpItems; ++number) {
    const XItem item(number);
    const int step = item.product / (kSpan / 4), quad = item.product % (kSpan / 4);
    const std::int64_t row = token + item.tile * 8 + lane / 4;
    const std::int64_t column =
        begin + item.half * kHalf + (4 * step + lane % 4) * kSpan + 4 * quad;
    float4 four = make_float4(0, 0, 0, 0);
    if (row < tokens && column < columns) {
      const float* from = x + row * columns + column;
      if (packed) {
        four = *reinterpret_cast<const float4*>(from);
      } else {
        four.x = from[0];
        if (column + 1 < columns) four.y = from[1];
        if (column + 2 < columns) four.z = from[2];
        if (column + 3 < columns) four.w = from[3];
      }
    }
    values.of[number] = four;
  }
}

inline void split_x(const XValues& values, Slice& slice) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int number = 0; number < kWarpItems; ++number) {
    const XItem item(number);
    const float4& four = values.of[number];
    float part[4] = {usable_value(four.x), usable_value(four.y), usable_value(four.z),
                     usable_value(four.w)};
#pragma unroll
    for (int plane = 0; plane < 3; ++plane) {
      slice.x[item.half][item.product][plane][item.tile][lane] =
          make_uint2(upper_pair(part[0], part[1]), upper_pair(part[2], part[3]));
#pragma unroll
      for (int i = 0; i < 4; ++i) part[i] = lower_part(part[i]);
    }
  }
}

// A thread's share of the scales of the blocks of a slice, as codes of four rows.
constexpr int kMaxScaleItems = kSlice / kMinBlock * kPanels * 8 / kThreads;
struct ScaleCodes {
  std::uint32_t of[kMaxScaleItems];
};

inline void fetch_scales(const PackedWeight& w, std::int64_t first_panel, std::int64_t begin,
                         int shift, ScaleCodes& scales) {
  const int blocks = max(kSlice >> shift, 1);
  const std::int64_t panels = (w.rows + 31) / 32;
#pragma unroll
  for (int i = 0; i < kMaxScaleItems; ++i) {
    const int item = threadIdx.x + i * kThreads;
    const int quad = item % 8, block = item / 8 % blocks, panel = item / (8 * blocks);
    const std::int64_t number = (begin >> shift) + block;
    scales.of[i] = 0;
    if (panel < kPanels && first_panel + panel < panels && number < w.scale_blocks)
      scales.of[i] = *reinterpret_cast<const std::uint32_t*>(
          w.shared + 32 * ((first_panel + panel) * w.scale_blocks + number) + 4 * quad);
  }
}

inline void put_scales(const ScaleCodes& scales, int shift, const Shared& shared, Slice& slice) {
  const int blocks = max(kSlice >> shift, 1);
#pragma unroll
  for (int i = 0; i < kMaxScaleItems; ++i) {
    const int item = threadIdx.x + i * kThreads;
    const int quad = item % 8, block = item / 8 % blocks, panel = item / (8 * blocks);
    if (panel >= kPanels) continue;
    const std::uint32_t codes = scales.of[i];
    const std::uint32_t low =
        shared.scales[codes & 255u] | std::uint32_t(shared.scales[codes >> 8 & 255u]) << 16;
    const std::uint32_t high =
        shared.scales[codes >> 16 & 255u] | std::uint32_t(shared.scales[codes >> 24]) << 16;
    *reinterpret_cast<uint2*>(&slice.block_scales[block][panel * 32 + 4 * quad]) =
        make_uint2(low, high);
  }
}

// ---- results

struct PackedEnds {
  float unit;
  const float *bias, *residual;  ///< residual may be null
  float* partial;                ///< (groups of x rows, parts, padded rows of the weight, kTokens)
  std::int32_t* finished;        ///< per block of rows, the finished blocks along the columns: zeros before and after
  float* y;
};

// y = activation(sums scale + bias) + residual for the rows of a block, by the last block along the columns.
inline void finish_rows(const PackedWeight& w, const PackedProduct& product, const PackedEnds& ends) {
  using namespace hone::scalar;
  const std::int64_t parts = gridDim.y, apart = product.padded_rows * kTokens;
  const std::int64_t first = std::int64_t(blockIdx.z) * kTokens;
  const std::int64_t n = std::int64_t(blockIdx.x) * kRows + threadIdx.x % kRows;
  if (n >= w.rows) return;
  const float scale = BLOCKS ? 1.0f : scale_of(w, nullptr, n, 0), bias = ends.bias[n];
#pragma unroll 1
  for (int token = threadIdx.x / kRows; token < kTokens; token += kThreads / kRows) {
    const std::int64_t m = first + token;
    if (m >= product.tokens) return;
    const float* from = ends.partial + blockIdx.z * parts * apart + n * kTokens + token;
    float sum = 0;
#pragma unroll 4
    for (std::int64_t part = 0; part < parts; ++part) sum += __ldcg(from + part * apart);
    const float x = sum * ends.unit * scale + bias;
    const float result = ACTIVATION;
    const std::int64_t at = m * w.rows + n;
    ends.y[at] = ends.residual == nullptr ? result : result + ends.residual[at];
  }
}

// ---- products

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    packed_product(const __grid_constant__ PackedWeight w, const __grid_constant__ PackedProduct product,
                   const __grid_constant__ ProductTables tables, const __grid_constant__ PackedEnds ends, const float* x) {
  extern __shared__ uint4 memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int lane = threadIdx.x % 32, panel = threadIdx.x / 32 % kPanels,
            half = threadIdx.x / (32 * kPanels);
  const std::int64_t first_panel = std::int64_t(blockIdx.x) * kPanels,
                     token = std::int64_t(blockIdx.z) * kTokens;
  const bool exists = (first_panel + panel) * 32 < w.rows;
  const std::uint8_t* codes = w.codes + (first_panel + panel) * (4 * w.padded_columns * BITS);
  const std::int64_t begin = blockIdx.y * product.block_slices;
  const std::int64_t end = min(begin + product.block_slices, product.slices);
  // Spans follow one another through all slices; each has a slot of the ring.
  const uint4* const ring = memory + kRingAt / 16 + threadIdx.x;
  const std::uint32_t ring_address = shared_address(ring);
  const auto spans = exists ? int(end - begin) * kSteps : 0;
  int next_span = 0, next_slot = 0, slot = 0;
  const auto copy_next = [&] {
    if (next_span < spans) {
      const std::int64_t column =
          (begin + next_span / kSteps) * kSlice + half * kHalf + next_span % kSteps * (4 * kSpan);
      copy_span(w, codes, column, ring_address + next_slot * kSpanBytes);
    }
    commit_copies();
    ++next_span;
    next_slot = next_slot + 1 == kDepth ? 0 : next_slot + 1;
  };
#pragma unroll 1
  for (int i = 1; i < kDepth; ++i) copy_next();
  XValues next_x;
  ScaleCodes next_scales;
  const auto fetch = [&](std::int64_t slice) {
    fetch_x(x, w.columns, product.tokens, token, slice * kSlice, next_x);
    if constexpr (BLOCKS)
      fetch_scales(w, first_panel, slice * kSlice, product.block_shift, next_scales);
  };
  fetch(begin);
  for (int i = threadIdx.x; i < 256; i += kThreads) {
    if constexpr (DECODE == TABLE) shared.units[i] = tables.units[i];
    if constexpr (BLOCKS) shared.scales[i] = tables.scales[i];
  }
  if constexpr (BLOCKS) __syncthreads();
  std::uint32_t added[4] = {};
  if constexpr (ADDS) {
#pragma unroll 1
    for (int row = 0; row < 4; ++row) {
      const std::int64_t of = (first_panel + panel) * 32 + lane / 4 * 4 + row;
      const float middle = float(1 << (BITS - 1));
      const float more = of < w.rows ? offset_of(w, of, 0) + middle : 0.0f;
      const std::uint32_t pair = both(__float_as_uint(more) >> 16);
      if (row == 0) added[0] = pair;
      if (row == 1) added[1] = pair;
      if (row == 2) added[2] = pair;
      if (row == 3) added[3] = pair;
    }
  }
  float sums[TILES][2][4] = {};
#pragma unroll 1
  for (std::int64_t number = begin; number < end; ++number) {
    Slice& slice = shared.slices[(number - begin) % kBuffers];
    if constexpr (kBuffers == 1) __syncthreads();
    split_x(next_x, slice);
    if constexpr (BLOCKS) put_scales(next_scales, product.block_shift, shared, slice);
    __syncthreads();
    if (number + 1 < end) fetch(number + 1);
    if (!exists) continue;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      uint4 span[kWords];
      wait_for_copies<kDepth - 2>();
#pragma unroll
      for (int i = 0; i < kWords; ++i) span[i] = ring[slot * (kSpanBytes / 16) + i * kThreads];
      slot = slot + 1 == kDepth ? 0 : slot + 1;
      copy_next();
#pragma unroll
      for (int quad = 0; quad < kSpan / 4; ++quad) {
        uint2 scales;
        if constexpr (BLOCKS) {
          const int column = half * kHalf + (4 * step + lane % 4) * kSpan + 4 * quad;
          scales = *reinterpret_cast<const uint2*>(
              &slice.block_scales[column >> product.block_shift][panel * 32 + lane / 4 * 4]);
        }
        std::uint32_t pairs[4][2];
#pragma unroll
        for (int row = 0; row < 4; ++row) {
          if constexpr (DECODE == BFLOAT16) {
            pairs[row][0] = word_of(span[0], row);
            pairs[row][1] = word_of(span[kWords - 1], row);
          } else {
            const std::uint32_t four = quad_of(span, row, quad);
            pairs[row][0] = pair_of(four, 0x4140, shared, product.factor);
            pairs[row][1] = pair_of(four, 0x4342, shared, product.factor);
          }
          if constexpr (ADDS) {
            pairs[row][0] = fused(pairs[row][0], kOnes, added[row]);
            pairs[row][1] = fused(pairs[row][1], kOnes, added[row]);
          }
          if constexpr (BLOCKS) {
            const std::uint32_t scale =
                __byte_perm(row < 2 ? scales.x : scales.y, 0, row % 2 == 0 ? 0x1010 : 0x3232);
            pairs[row][0] = fused(pairs[row][0], scale, kNegativeZeros);
            pairs[row][1] = fused(pairs[row][1], scale, kNegativeZeros);
          }
        }
        const std::uint32_t a[2][4] = {{pairs[0][0], pairs[1][0], pairs[0][1], pairs[1][1]},
                                       {pairs[2][0], pairs[3][0], pairs[2][1], pairs[3][1]}};
#pragma unroll
        for (int plane = 2; plane >= 0; --plane) {
#pragma unroll
          for (int tile = 0; tile < TILES; ++tile) {
            const uint2 b = slice.x[half][step * (kSpan / 4) + quad][plane][tile][lane];
            multiply(sums[tile][0], a[0], b);
            multiply(sums[tile][1], a[1], b);
          }
        }
      }
    }
  }
  // The sums of both halves of a slice are added in the memory of x.
  __syncthreads();
  float* other = reinterpret_cast<float*>(shared.slices[0].x) + threadIdx.x % (32 * kPanels);
  if (half == 1) {
#pragma unroll
    for (int i = 0; i < TILES * 8; ++i) other[i * 32 * kPanels] = sums[i / 8][i / 4 % 2][i % 4];
  }
  __syncthreads();
  if (half == 0 && exists) {
    float* to =
        ends.partial + (std::int64_t(blockIdx.z) * gridDim.y + blockIdx.y) * product.padded_rows * kTokens;
#pragma unroll
    for (int i = 0; i < TILES * 8; ++i) {
      const int tile = i / 8, row = i / 2 % 4,
                odd = i % 2;  // rows 4 g and 4 g + 1 of the first A, then the next two
      const std::int64_t of = (first_panel + panel) * 32 + lane / 4 * 4 + row;
      to[of * kTokens + tile * 8 + lane % 4 * 2 + odd] =
          sums[tile][i / 4 % 2][i % 4] + other[i * 32 * kPanels];
    }
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    std::int32_t* const finished = ends.finished + std::int64_t(blockIdx.z) * gridDim.x + blockIdx.x;
    shared.is_last = atomicAdd(finished, 1) + 1 == int(gridDim.y);
    if (shared.is_last) *finished = 0;
  }
  __syncthreads();
  if (!shared.is_last) return;
  __threadfence();
  finish_rows(w, product, ends);
}
