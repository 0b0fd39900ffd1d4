#pragma once
// Shared code of the convolution products. A block computes a tile of ROWS x COLUMNS sums. In each step it loads
// `kStep` elements of each row of the first matrix, and of each column of the second, into shared memory. Each of its
// eight warps, two by four, owns a part of the tile.
//
// In shared memory a row of a tile is 16 words of 4 bytes: one float, or two adjacent values of 2 bytes. Chunks of 4
// words are swizzled by row, so that eight rows of one chunk, and two whole rows, are in different banks.
//
// VALUE: float, bfloat16 or float16. TENSOR: 1 multiplies on tensor cores (floats as TF32), 0 multiplies floats in
// fp32. CHANNELS_LAST: 1 if channels are the innermost index of images and of the depth, in whole aligned chunks; 0 if
// pixels and taps are.
#include "convolution_call.cuh"
#include "hone/kernels/scalar/activation.h"
#include "warp_products.cuh"

#ifndef ROWS
#define ROWS 128
#endif
#ifndef COLUMNS
#define COLUMNS 128
#endif
#ifndef TENSOR
#define TENSOR 1
#endif
#ifndef CHANNELS_LAST
#define CHANNELS_LAST 0
#endif
#ifndef ACTIVATION
#define ACTIVATION x
#endif

using namespace hone::cuda;
using namespace hone::scalar;

constexpr int kRows = ROWS, kColumns = COLUMNS, kThreads = 256;
constexpr int kWords = 16, kPerWord = 4 / sizeof(VALUE), kStep = kWords * kPerWord;
constexpr int kWarpRows = kRows / 2, kWarpColumns = kColumns / 4;

struct alignas(16) Tile {
  std::uint32_t rows[kRows * kWords], columns[kColumns * kWords];
};

// Returns the first word of a chunk of a row.
inline int place_in_tile(int row, int chunk) { return row * kWords + ((chunk ^ (row >> 1 & 3)) << 2); }
inline int word_in_tile(int row, int word) { return place_in_tile(row, word >> 2) + (word & 3); }

inline int quotient(int n, const Divisor& by) { return int(std::uint64_t(n) * by.factor >> by.shift); }

// ---- words

inline std::uint32_t bits_of(float x) {
#if TENSOR
  std::uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return rounded;
#else
  return __float_as_uint(x);
#endif
}
inline std::uint32_t bits_of(bfloat16 x) { return x.bits; }
inline std::uint32_t bits_of(float16 x) { return x.bits; }

inline std::uint32_t word_of(const VALUE (&x)[kPerWord]) {
  std::uint32_t word = bits_of(x[0]);
#pragma unroll
  for (int i = 1; i < kPerWord; ++i) word |= bits_of(x[i]) << 16;
  return word;
}

using Chunk = Pack<std::uint32_t, 4>;
constexpr int kChunkValues = 4 * kPerWord;

// Loads from memory that no kernel writes at the same time.
inline float load(const float* x) { return __ldg(x); }
inline bfloat16 load(const bfloat16* x) { return {__ldg(&x->bits)}; }
inline float16 load(const float16* x) { return {__ldg(&x->bits)}; }

// `x` is aligned to 16 bytes.
inline Chunk load_chunk(const VALUE* x) {
  const uint4 words = __ldg(reinterpret_cast<const uint4*>(x));
  Chunk chunk = {{words.x, words.y, words.z, words.w}};
#if TENSOR
  if (sizeof(VALUE) == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i) chunk.at[i] = bits_of(__uint_as_float(chunk.at[i]));
  }
#endif
  return chunk;
}

// ---- elements of images

// Outside of every image, whatever offset is added to it.
constexpr int kOutside = -(1 << 30);

struct alignas(16) Tap {
  int offset, row, column, unused;
};
struct Pixel {
  const VALUE* at;
  int row, column;
};

// Returns element `number` of the depth.
inline Tap tap_of(const Window& w, int number) {
  if (number >= w.depth) return {0, kOutside, 0, 0};
  const int outer = quotient(number, w.inner), inner = number - outer * w.inner.divisor;
  const int channel = CHANNELS_LAST ? inner : outer, tap = CHANNELS_LAST ? outer : inner;
  const int r = quotient(tap, w.tap_width), c = tap - r * w.tap_width.divisor;
  const int row = w.tap_row + r * w.tap_row_step, column = w.tap_column + c * w.tap_column_step;
  return {channel * w.channel_stride + (row * w.width + column) * w.pixel_stride, row, column, 0};
}

// A pixel of a grid, by its number among those of all images.
struct GridPlace {
  int image, row, column;

  GridPlace(const Divisor& grid, const Divisor& grid_width, int number) {
    image = quotient(number, grid);
    const int rest = number - image * grid.divisor;
    row = quotient(rest, grid_width);
    column = rest - row * grid_width.divisor;
  }
};

inline Pixel pixel_of(const Window& w, const VALUE* x, int number) {
  if (number >= w.pixels) return {x, kOutside, 0};
  const GridPlace place(w.grid, w.grid_width, number);
  const int row = place.row * w.step + w.first, column = place.column * w.step + w.first;
  const std::int64_t at = std::int64_t(row) * w.width + column;
  return {x + place.image * w.image + at * w.pixel_stride, row, column};
}

inline bool is_inside(const Window& w, const Pixel& pixel, const Tap& tap) {
  return unsigned(pixel.row + tap.row) < unsigned(w.height) &&
         unsigned(pixel.column + tap.column) < unsigned(w.width);
}
inline VALUE read(const Window& w, const Pixel& pixel, const Tap& tap) {
  return is_inside(w, pixel, tap) ? load(pixel.at + tap.offset) : VALUE{};
}
inline Chunk read_chunk(const Window& w, const Pixel& pixel, const Tap& tap) {
  return is_inside(w, pixel, tap) ? load_chunk(pixel.at + tap.offset) : Chunk{};
}

inline std::int64_t offset_of(const Results& results, int column) {
  const GridPlace place(results.grid, results.grid_width, column);
  return place.image * results.image +
         std::int64_t(place.row * results.step + results.first_row) * results.width +
         place.column * results.step + results.first_column;
}

// ---- sums of a warp's part of a tile

inline int lane_number() { return threadIdx.x % 32; }
inline int warp_row() { return threadIdx.x / 128 * kWarpRows; }
inline int warp_column() { return threadIdx.x / 32 % 4 * kWarpColumns; }

// The row pitch of the memory in which a warp rearranges 16 rows of its part: half a warp writes all banks.
constexpr int kTransposePitch = kWarpColumns + 8;
constexpr int kTransposeFloats = 16 * kTransposePitch;
static_assert(8 * kTransposeFloats * sizeof(float) <= 2 * sizeof(Tile), "turned where tiles were");

#if TENSOR

struct Sums {
  static constexpr int kDown = kWarpRows / 16, kAcross = kWarpColumns / 8;
  float at[kDown][kAcross][4] = {};

  void add(const Tile& tile) {
    const int lane = lane_number();
    // Four matrices of 8 rows and 16 bytes. For rows: two times 8 rows in one chunk, then in the next. For columns: 8
    // columns in two chunks, then the next 8. Rows 8 apart have the same swizzle, and chunks of the second half of a
    // row differ in one bit of the address.
    const std::uint32_t rows = 4 * place_in_tile(warp_row() + lane % 16, lane / 16);
    const std::uint32_t columns = 4 * place_in_tile(warp_column() + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const std::uint32_t rows_begin = shared_address(tile.rows), columns_begin = shared_address(tile.columns);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t a[kDown][4];
#pragma unroll
      for (int i = 0; i < kDown; ++i) load_matrices(a[i], rows_begin + (rows ^ 32 * half) + 64 * 16 * i);
#pragma unroll
      for (int j = 0; j < kAcross; j += 2) {
        std::uint32_t b[4];
        load_matrices(b, columns_begin + (columns ^ 32 * half) + 64 * 8 * j);
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
          multiply_add(at[i][j], a[i], b[0], b[1]);
          multiply_add(at[i][j + 1], a[i], b[2], b[3]);
        }
      }
    }
  }

  // Writes rows 16 slab to 16 slab + 15 of the warp's part.
  void write(int slab, float* to) const {
    const int row = lane_number() / 4, column = lane_number() % 4 * 2;
#pragma unroll
    for (int j = 0; j < kAcross; ++j)
#pragma unroll
      for (int below = 0; below < 2; ++below)
        *reinterpret_cast<Pack<float, 2>*>(to + (row + 8 * below) * kTransposePitch + column + 8 * j) = {
            {at[slab][j][2 * below], at[slab][j][2 * below + 1]}};
  }
};

#else

// A lane has the rows r + 8 i and the columns c + 4 j.
struct Sums {
  static constexpr int kDown = kWarpRows / 8, kAcross = kWarpColumns / 4;
  float at[kDown][kAcross] = {};

  void add(const Tile& tile) {
    using Floats = Pack<float, 4>;
    const int row = warp_row() + lane_number() / 4, column = warp_column() + lane_number() % 4;
#pragma unroll 1  // saves registers
    for (int chunk = 0; chunk < 4; ++chunk) {
      Floats b[kAcross];
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        b[j] = *reinterpret_cast<const Floats*>(tile.columns + place_in_tile(column + 4 * j, chunk));
#pragma unroll
      for (int i = 0; i < kDown; ++i) {
        const Floats a = *reinterpret_cast<const Floats*>(tile.rows + place_in_tile(row + 8 * i, chunk));
#pragma unroll
        for (int k = 0; k < 4; ++k)
#pragma unroll
          for (int j = 0; j < kAcross; ++j) at[i][j] = fmaf(a.at[k], b[j].at[k], at[i][j]);
      }
    }
  }

  void write(int slab, float* to) const {
    const int row = lane_number() / 4, column = lane_number() % 4;
#pragma unroll
    for (int below = 0; below < 2; ++below)
#pragma unroll
      for (int j = 0; j < kAcross; ++j)
        to[(row + 8 * below) * kTransposePitch + column + 4 * j] = at[2 * slab + below][j];
  }
};

#endif

// ---- results

/// The operands and the destination of a product's epilogue.
struct Epilogue {
  const VALUE *bias, *residual;  ///< bias by row, residual like the results; null: none
  VALUE* to;
};

inline void finish(const Epilogue& epilogue, float sum, int row, std::int64_t at) {
  float x = sum;
  if (epilogue.bias != nullptr) x += to_float(epilogue.bias[row]);
  if (epilogue.residual != nullptr) x += to_float(epilogue.residual[at]);
  epilogue.to[at] = from_float<VALUE>(ACTIVATION);
}

// Writes a block's tile, given its first row and column: results, or, if several blocks share the sums of a tile,
// partial sums (parts, rows, columns). `tiles` is the memory of both tiles, which no thread reads any more.
inline void write_tile(const Results& results, const Sums& sums, int first_row, int first_column, Tile* tiles,
                       const Epilogue& epilogue, float* partials) {
  float* const transposed = reinterpret_cast<float*>(tiles) + threadIdx.x / 32 * kTransposeFloats;
  const int lane_column = lane_number() % kWarpColumns, lane_row = lane_number() / kWarpColumns;
  const int column = first_column + warp_column() + lane_column;
  const std::int64_t at = offset_of(results, column);
  const std::int64_t part = std::int64_t(blockIdx.z) * results.rows;
  // Unrolled, since sums are in registers.
#pragma unroll
  for (int slab = 0; slab < kWarpRows / 16; ++slab) {
    sums.write(slab, transposed);
    __syncwarp();
    for (int r = lane_row; r < 16; r += 32 / kWarpColumns) {
      const int row = first_row + warp_row() + 16 * slab + r;
      if (row >= results.rows || column >= results.columns) continue;
      const float sum = transposed[r * kTransposePitch + lane_column];
      if (partials != nullptr)
        partials[(part + row) * results.columns + column] = sum;
      else
        finish(epilogue, sum, row, at + row * results.plane);
    }
    __syncwarp();
  }
}

// The tile that a block computes. Consecutive blocks compute tiles of the same columns, so that they share these in the
// cache.
struct BlockPlace {
  int first_row, first_column;

  explicit BlockPlace(const Results& results) {
    const int tiles_down = (results.rows + kRows - 1) / kRows, across = int(blockIdx.x) / tiles_down;
    first_row = (int(blockIdx.x) - across * tiles_down) * kRows;
    first_column = across * kColumns;
  }
};
