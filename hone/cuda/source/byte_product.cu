// y = activation(x W^T + bias) + residual for rows of bytes x (coded_rows.cuh) and a weight of bytes (N, K), on tensor
// cores. Sums are never stored: the same kernel scales them, adds bias and residual, and stores values or the codes
// that the next product reads.
//
// One scale per row: sums over K are exact, and y = ((float) sum · weight scale) · x scale + bias, as on CPUs
// (hone/kernels/int8_product.h). Scales of blocks: the sum of a block is an integer below 2^22. It is added to the bits of
// 1.5 · 2^(23 + d), which makes it a float times 2^d without a conversion; a subtraction and a fused multiply-add with the scale of the
// weight's block add it to the total, block after block. Blocks of a multiple of 32 columns are summed 32 columns at a time, others 16.
// No result depends on how the matrices are split into tiles.
//
// The limit of large products is the L2 cache: a tile of R x C reads (R + C) bytes per column of K for R C multiply-adds. H100 reads
// about 30 bytes per clock and multiprocessor from L2 and computes about 2,500 multiply-adds with mma.sync; a tile of 128 x 192 needs
// 33 bytes per clock at that rate, so both limits meet and wgmma would gain little. 4096 x 768 results are 128 such tiles: one round on
// 132 multiprocessors with 3% idle. An activation such as GELU takes as long as 768 columns of K; tiles of 128 x 96 leave registers
// for two blocks, of which one multiplies while the other finishes (native_kernels.cpp chooses). Scales of blocks take 8 instructions
// per mma.sync and lane, about 2 clocks against 1.6 of the product itself.
//
// Stages of 64 columns are loaded by cp.async, STAGES at a time. The 16-byte chunks of a row are swizzled over pairs of
// rows, so neither copies nor ldmatrix have bank conflicts. Fragments of the next 32 columns are loaded while those
// before them are multiplied, across stages too, with one barrier per stage.
//
// VALUE: the type of bias, residual and results; WARPS_DOWN x WARPS_ACROSS warps of WARP_ROWS x WARP_COLUMNS results; CHUNK: columns summed
// at a time in blocks, 16 or 32; 0: one scale per row; ACTIVATION: the expression of x.
#include "hone/kernels/scalar/activation.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "coded_rows.cuh"
#include "numbers.cuh"
#include "warp_copies.cuh"

using namespace hone;
using namespace hone::cuda;

#ifndef STAGES
#define STAGES 4
#define WARPS_DOWN 2
#define WARPS_ACROSS 4
#define WARP_ROWS 64
#define WARP_COLUMNS 48
#endif
#ifndef CHUNK
#define CHUNK 0
#endif
#ifndef ACTIVATION
#define ACTIVATION x
#endif

constexpr int kThreads = 32 * WARPS_DOWN * WARPS_ACROSS;
constexpr int kRows = WARPS_DOWN * WARP_ROWS, kColumns = WARPS_ACROSS * WARP_COLUMNS, kLines = kRows + kColumns;
constexpr int kStep = 64;                                               // columns of K of a stage
constexpr int kRowTiles = WARP_ROWS / 16, kColumnTiles = WARP_COLUMNS / 8;  // of a warp, for mma.sync
constexpr int kParts = CHUNK == 0 ? 1 : 32 / CHUNK;                     // chunks per 32 columns
constexpr int kStageBytes = kLines * kStep;
// Scales of rows, then of columns, chunk after chunk. They are read one stage longer than codes.
constexpr int kScaleStages = CHUNK == 0 ? 0 : STAGES + 1, kScaleBytes = 2 * kParts * kLines * 4;
constexpr int kSharedBytes = STAGES * kStageBytes + kScaleStages * kScaleBytes;

#if CHUNK == 0
using Sum = std::int32_t;
#else
using Sum = float;
#endif

// A lane's fragments of 32 columns.
struct Fragments {
  std::uint32_t a[kRowTiles][4], b[kColumnTiles][2];
};

// d (16 x 8) = a (16 x 32) b (32 x 8) + c
inline void multiply(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                     const std::int32_t (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}
// The same for the first or the second 16 of those columns.
inline void multiply_half(std::int32_t (&d)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b0,
                          const std::int32_t (&c)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a0), "r"(a1), "r"(b0), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

// ---- from global memory to shared memory

// Copies a thread's share of each stage: chunks of 16 bytes, four per line of x or of the weight, and scales. Lines
// beyond the last count as zeros and are not read.
class Loader {
 public:
  Loader(const CodedRows& x, const ByteMatrix& weight, std::int64_t first_row, std::int64_t first_column,
         std::uint32_t shared)
      : x_(x), weight_(weight), first_row_(first_row), first_column_(first_column), shared_(shared) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) exists_ |= unsigned(exists(line_of(i))) << i;
  }

  void begin(int step) const {
    const int chunk = threadIdx.x % 4;
    const std::uint32_t to = shared_ + step % STAGES * kStageBytes;
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int line = line_of(i);
      if (kLines * 4 % kThreads != 0 && line >= kLines) continue;
      begin_copy(to + line * kStep + ((chunk ^ (line / 2 % 4)) << 4),
                 (line < kRows ? x_.codes : weight_.bytes) + number_of(line) * x_.stride + step * kStep + 16 * chunk,
                 (exists_ >> i & 1) != 0);
    }
    if constexpr (CHUNK != 0)
      begin_scales(step, shared_ + STAGES * kStageBytes + step % kScaleStages * kScaleBytes);
  }

 private:
  static constexpr int kItems = (kLines * 4 + kThreads - 1) / kThreads;

  static int line_of(int item) { return threadIdx.x / 4 + item * (kThreads / 4); }
  std::int64_t number_of(int line) const { return line < kRows ? first_row_ + line : first_column_ + line - kRows; }
  bool exists(int line) const { return number_of(line) < (line < kRows ? x_.rows : weight_.rows); }

  void begin_scales(int step, std::uint32_t to) const {
    constexpr int kChunks = 2 * kParts;
#pragma unroll
    for (int chunk = 0; chunk < kChunks; ++chunk) {
      const auto block = std::uint32_t(step * kStep + chunk * (kStep / kChunks)) / std::uint32_t(x_.block);
#pragma unroll
      for (int line = threadIdx.x; line < kLines; line += kThreads) {
        const void* const from =
            line < kRows ? static_cast<const void*>(x_.origins + block * x_.rows + number_of(line))
                         : weight_.scales + block * weight_.rows + number_of(line);
        begin_word_copy(to + (chunk * kLines + line) * 4, from, block < x_.blocks && exists(line));
      }
    }
  }

  const CodedRows& x_;
  const ByteMatrix& weight_;
  std::int64_t first_row_, first_column_;
  std::uint32_t shared_;
  unsigned exists_ = 0;
};

// ---- from shared memory to sums

// The position of a warp's results in a tile.
struct Place {
  int row, column;

  Place() : row(threadIdx.x / 32 / WARPS_ACROSS * WARP_ROWS), column(threadIdx.x / 32 % WARPS_ACROSS * WARP_COLUMNS) {}
};

// Loads the fragments of 32 columns, `half` 0 or 1 of a stage.
inline void load(Fragments& to, const Place& place, std::uint32_t stage, int half) {
  const int lane = threadIdx.x % 32, turn = lane / 2 % 4;
  const std::uint32_t a = stage + (place.row + lane % 16) * kStep + (((2 * half + lane / 16) ^ turn) << 4);
#pragma unroll
  for (int i = 0; i < kRowTiles; ++i) load_matrices(to.a[i], a + i * 16 * kStep);
  const int line = kRows + place.column + lane % 8 + lane / 16 * 8;
  const std::uint32_t b = stage + line * kStep + (((2 * half + lane / 8 % 2) ^ turn) << 4);
#pragma unroll
  for (int j = 0; j < kColumnTiles / 2; ++j) {
    std::uint32_t both[4];
    load_matrices(both, b + j * 16 * kStep);
    to.b[2 * j][0] = both[0];
    to.b[2 * j][1] = both[1];
    to.b[2 * j + 1][0] = both[2];
    to.b[2 * j + 1][1] = both[3];
  }
}

// `scales`: those of the columns; not used with one scale per row.
template <typename T>
inline void add_products(T (&sums)[kRowTiles][kColumnTiles][4], const Fragments& of, const Place& place,
                         const unsigned char* scales) {
  if constexpr (CHUNK == 0) {
#pragma unroll
    for (int i = 0; i < kRowTiles; ++i)
#pragma unroll
      for (int j = 0; j < kColumnTiles; ++j) multiply(sums[i][j], of.a[i], of.b[j], sums[i][j]);
  } else {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int part = 0; part < kParts; ++part, scales += kLines * 4) {
      const auto* const origins = reinterpret_cast<const std::int32_t*>(scales) + place.row + lane / 4;
      const auto* const of_columns = reinterpret_cast<const float2*>(scales + (kRows + place.column) * 4) + lane % 4;
#pragma unroll
      for (int i = 0; i < kRowTiles; ++i) {
        const std::int32_t above = origins[16 * i], below = origins[16 * i + 8], c[4] = {above, above, below, below};
#pragma unroll
        for (int j = 0; j < kColumnTiles; ++j) {
          const float2 scale = of_columns[4 * j];
          std::int32_t d[4];
          if constexpr (kParts == 1)
            multiply(d, of.a[i], of.b[j], c);
          else
            multiply_half(d, of.a[i][2 * part], of.a[i][2 * part + 1], of.b[j][part], c);
#pragma unroll
          for (int k = 0; k < 4; ++k)
            sums[i][j][k] =
                fmaf(__int_as_float(d[k]) - __int_as_float(c[k]), k % 2 == 0 ? scale.x : scale.y, sums[i][j][k]);
        }
      }
    }
  }
}

// ---- results

// Four adjacent results of a row.
struct Results {
  std::int64_t row, column;
  int count;  // that exist
  float at[4];
};

inline void put_values(const ProductEnds& ends, std::int64_t columns, bool whole, const Results& results) {
  using Four = Pack<VALUE, 4>;
  const std::int64_t first = results.row * columns + results.column;
  const VALUE* const residual = static_cast<const VALUE*>(ends.residual);
  VALUE* const y = static_cast<VALUE*>(ends.values);
  Four four;
  if (whole) {
    Four more = {};
    if (residual != nullptr) more = *reinterpret_cast<const Four*>(residual + first);
#pragma unroll
    for (int i = 0; i < 4; ++i)
      four.at[i] = from_float<VALUE>(residual == nullptr ? results.at[i] : results.at[i] + to_float(more.at[i]));
    *reinterpret_cast<Four*>(y + first) = four;
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < results.count)
      y[first + i] =
          from_float<VALUE>(residual == nullptr ? results.at[i] : results.at[i] + to_float(residual[first + i]));
}

// Returns whether no result is NaN.
inline bool put_codes(const ProductEnds& ends, std::int64_t columns, float scale, const Results& results) {
  const scalar::ScaledGrid rule = {scale, -ends.grid.bound, ends.grid.bound};
  const VALUE* const residual = static_cast<const VALUE*>(ends.residual);
  std::uint32_t word = 0;
  bool numbers = true;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= results.count) continue;
    float value = results.at[i];
    if (residual != nullptr) value += to_float(residual[results.row * columns + results.column + i]);
    const float code = rule.whole(value);
    numbers = numbers && code == code;
    word |= (code == code ? std::uint32_t(int(code)) & 255u : 0u) << (8 * i);
  }
  *reinterpret_cast<std::uint32_t*>(ends.codes.codes + results.row * ends.codes.stride + results.column) = word;
  return numbers;
}

// A lane has two adjacent results in a row of each 16 x 8 tile. Lanes exchange results of two adjacent tiles, so that
// each has four adjacent results of one tile, and a warp writes 16 adjacent results of a row at once.
template <typename T>
inline void exchange(const T (&sums)[kColumnTiles][4], int pair, int half, T (&four)[4]) {
  const bool odd = threadIdx.x % 2 != 0;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const T first = sums[2 * pair][2 * half + i], second = sums[2 * pair + 1][2 * half + i];
    const T other = __shfl_xor_sync(0xffffffffu, odd ? first : second, 1);
    four[i] = odd ? other : first;
    four[2 + i] = odd ? second : other;
  }
}

inline void finish(const CodedRows& x, const ByteMatrix& weight, const ProductEnds& ends, std::int64_t first_row,
                   std::int64_t first_column, const Place& place, const Sum (&sums)[kRowTiles][kColumnTiles][4]) {
  const int lane = threadIdx.x % 32;
  const std::int64_t columns = weight.rows;
  const bool rounds = ends.values == nullptr;
  const auto at_quads = [](const void* pointer) {
    return reinterpret_cast<std::size_t>(pointer) % (4 * sizeof(VALUE)) == 0;
  };
  const bool whole = columns % 4 == 0 && at_quads(ends.values) && at_quads(ends.residual);
  const float scale = rounds ? scalar::usable_scale(std::fabs(*ends.grid.scale), ends.grid.bound) : 0.0f;
  const std::int64_t written = rounds ? ends.codes.stride : columns;  // codes are padded with zeros
  unsigned wrong = 0;                                                 // rows with a NaN
#pragma unroll
  for (int pair = 0; pair < kColumnTiles / 2; ++pair) {
    const std::int64_t column =
        first_column + place.column + 16 * pair + lane % 2 * 8 + lane % 4 / 2 * 4;
    Results results = {0, column, int(max(std::int64_t(0), min(columns - column, std::int64_t(4))))};
    float scales[4] = {}, bias[4] = {};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (i >= results.count) continue;
      scales[i] = CHUNK == 0 ? weight.scales[column + i] : weight.unit;
      bias[i] = to_float(static_cast<const VALUE*>(ends.bias)[column + i]);
    }
#pragma unroll
    for (int tile = 0; tile < kRowTiles; ++tile) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Sum four[4];
        exchange(sums[tile], pair, half, four);
        results.row = first_row + place.row + 16 * tile + 8 * half + lane / 4;
        if (results.row >= x.rows || column >= written) continue;
        const float x_scale = x.scales[results.row];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          using namespace hone::scalar;
          const float x = fmaf(float(four[i]) * scales[i], x_scale, bias[i]);
          results.at[i] = ACTIVATION;
        }
        if (!rounds)
          put_values(ends, columns, whole, results);
        else if (!put_codes(ends, columns, scale, results))
          wrong |= 1u << (2 * tile + half);
      }
    }
  }
  if (!rounds) return;
  // Scales are initialized to zero, and the bits of NaN are larger than those of any scale.
  auto* const bits = reinterpret_cast<std::uint32_t*>(ends.codes.scales);
#pragma unroll
  for (int of = 0; of < 2 * kRowTiles; ++of) {
    const std::int64_t row = first_row + place.row + 8 * of + lane / 4;
    if (row >= x.rows) continue;
    if ((wrong >> of & 1) != 0) atomicMax(bits + row, 0x7fc00000u);
    if (first_column + place.column == 0 && lane % 4 == 0) atomicMax(bits + row, __float_as_uint(scale));
  }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    byte_product(const __grid_constant__ CodedRows x, const __grid_constant__ ByteMatrix weight,
                 const __grid_constant__ ProductEnds ends, std::int64_t column_tiles) {
  extern __shared__ uint4 memory[];
  const std::uint32_t shared = shared_address(memory);
  const std::int64_t row_tile = blockIdx.x / column_tiles;
  const std::int64_t first_row = row_tile * kRows, first_column = (blockIdx.x - row_tile * column_tiles) * kColumns;
  const Loader loader(x, weight, first_row, first_column, shared);
  const Place place;
  const auto steps = int(x.stride / kStep);
#pragma unroll 1
  for (int step = 0; step < STAGES; ++step) {
    if (step < steps) loader.begin(step);
    commit_copies();
  }
  Sum sums[kRowTiles][kColumnTiles][4] = {};
  Fragments now, next;
  wait_for_copies<STAGES - 1>();
  __syncthreads();
  load(now, place, shared, 0);
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    const unsigned char* scales = nullptr;
    if constexpr (CHUNK != 0)
      scales = reinterpret_cast<const unsigned char*>(memory) + STAGES * kStageBytes + step % kScaleStages * kScaleBytes;
    load(next, place, shared + step % STAGES * kStageBytes, 1);
    add_products(sums, now, place, scales);
    // The next stage has arrived, and all threads have read the codes of this one, which is refilled.
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    if (step + STAGES < steps) loader.begin(step + STAGES);
    commit_copies();
    if (step + 1 < steps) load(now, place, shared + (step + 1) % STAGES * kStageBytes, 0);
    add_products(sums, next, place, scales + kParts * kLines * 4);
  }
  finish(x, weight, ends, first_row, first_column, place, sums);
}
