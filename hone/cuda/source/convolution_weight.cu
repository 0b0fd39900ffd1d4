// Weight gradients of convolutions as products: dweight (outputs, taps) = dy (outputs, pixels) elements (taps,
// pixels)^T. The second matrix is read from the images and never stored.
#include "convolution.cuh"

// How a block loads one step into shared memory, and multiplies it. Both variants have `load` for a step, `store` and
// `add`.
#if CHANNELS_LAST

// dy and images have channels last, so a thread reads chunks of a pixel. In shared memory a row is a pixel. Its chunks
// are swizzled by pixel, so that eight rows of one chunk are in different banks, and floats of four rows.
template <int kExtent>
struct Side {
  static constexpr int kChunks = kExtent / kChunkValues, kTogether = kThreads / kChunks, kOwn = kStep / kTogether;
  Chunk chunks[kOwn];

  static int own_chunk() { return threadIdx.x % kChunks; }
  static int own_pixel(int i) { return threadIdx.x / kChunks + i * kTogether; }
  static int place(int pixel, int chunk) {
    return (pixel * kChunks + (chunk ^ (sizeof(VALUE) == 2 ? pixel & 7 : (pixel & 3) << 1))) << 2;
  }
  static std::uint32_t word(const std::uint32_t* tile, int pixel, int at) {
    return tile[place(pixel, at >> 2) + (at & 3)];
  }
  void store(std::uint32_t* tile) const {
#pragma unroll
    for (int i = 0; i < kOwn; ++i)
      *reinterpret_cast<Chunk*>(tile + place(own_pixel(i), own_chunk())) = chunks[i];
  }
};
using RowSide = Side<kRows>;
using ColumnSide = Side<kColumns>;

struct Steps {
  const Window& window;
  const VALUE *x, *dy;
  int outputs, row;  // the first output of this thread's chunk
  Tap tap;
  RowSide gradients;
  ColumnSide images;

  Steps(const Window& window, const Results& results, const BlockPlace& block, const VALUE* x, const VALUE* dy)
      : window(window),
        x(x),
        dy(dy),
        outputs(results.rows),
        row(block.first_row + RowSide::own_chunk() * kChunkValues),
        tap(tap_of(window, block.first_column + ColumnSide::own_chunk() * kChunkValues)) {}

  void load(int step) {
#pragma unroll
    for (int i = 0; i < RowSide::kOwn; ++i) {
      const int pixel = step * kStep + RowSide::own_pixel(i);
      gradients.chunks[i] = {};
      if (pixel < window.pixels && row < outputs)
        gradients.chunks[i] = load_chunk(dy + std::int64_t(pixel) * outputs + row);
    }
#pragma unroll
    for (int i = 0; i < ColumnSide::kOwn; ++i)
      images.chunks[i] = read_chunk(window, pixel_of(window, x, step * kStep + ColumnSide::own_pixel(i)), tap);
  }
  void store(Tile& tile) const {
    gradients.store(tile.rows);
    images.store(tile.columns);
  }

#if TENSOR
  static void add(const Tile& tile, Sums& sums) {
    const int lane = lane_number();
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t a[Sums::kDown][4], b[Sums::kAcross][2];
      if (sizeof(VALUE) == 2) {
        const int first = 16 * half + lane % 8, low = lane / 8 % 2, high = lane / 16;
#pragma unroll
        for (int i = 0; i < Sums::kDown; ++i)
          load_transposed_matrices(
              a[i], shared_address(tile.rows + RowSide::place(first + 8 * high, warp_row() / 8 + 2 * i + low)));
#pragma unroll
        for (int j = 0; j < Sums::kAcross; j += 2) {
          std::uint32_t both[4];
          load_transposed_matrices(
              both, shared_address(tile.columns + ColumnSide::place(first + 8 * low, warp_column() / 8 + j + high)));
          b[j][0] = both[0], b[j][1] = both[1], b[j + 1][0] = both[2], b[j + 1][1] = both[3];
        }
      } else {
        const int pixel = 8 * half + lane % 4, row = warp_row() + lane / 4, column = warp_column() + lane / 4;
#pragma unroll
        for (int i = 0; i < Sums::kDown; ++i)
#pragma unroll
          for (int part = 0; part < 4; ++part)
            a[i][part] = RowSide::word(tile.rows, pixel + part / 2 * 4, row + 16 * i + part % 2 * 8);
#pragma unroll
        for (int j = 0; j < Sums::kAcross; ++j)
#pragma unroll
          for (int part = 0; part < 2; ++part)
            b[j][part] = ColumnSide::word(tile.columns, pixel + part * 4, column + 8 * j);
      }
#pragma unroll
      for (int i = 0; i < Sums::kDown; ++i)
#pragma unroll
        for (int j = 0; j < Sums::kAcross; ++j) multiply_add(sums.at[i][j], a[i], b[j][0], b[j][1]);
    }
  }
#else
  static void add(const Tile& tile, Sums& sums) {
    const int row = warp_row() + lane_number() / 4, column = warp_column() + lane_number() % 4;
#pragma unroll 4
    for (int pixel = 0; pixel < kStep; ++pixel) {
      float b[Sums::kAcross];
#pragma unroll
      for (int j = 0; j < Sums::kAcross; ++j)
        b[j] = __uint_as_float(ColumnSide::word(tile.columns, pixel, column + 4 * j));
#pragma unroll
      for (int i = 0; i < Sums::kDown; ++i) {
        const float a = __uint_as_float(RowSide::word(tile.rows, pixel, row + 8 * i));
#pragma unroll
        for (int j = 0; j < Sums::kAcross; ++j) sums.at[i][j] = fmaf(a, b[j], sums.at[i][j]);
      }
    }
  }
#endif
};

#else

// Adjacent threads read adjacent pixels: a thread loads one word of some rows and of some taps.
constexpr int kTogether = kThreads / kWords, kOwnRows = kRows / kTogether, kOwnTaps = kColumns / kTogether;

struct Steps {
  const Window& window;
  const Results& results;
  const VALUE *x, *dy;
  int first_row;
  const Tap* taps;
  std::uint32_t gradients[kOwnRows], images[kOwnTaps];

  Steps(const Window& window, const Results& results, const BlockPlace& block, const VALUE* x, const VALUE* dy)
      : window(window), results(results), x(x), dy(dy), first_row(block.first_row) {
    __shared__ Tap of_block[kColumns];
    if (int(threadIdx.x) < kColumns) of_block[threadIdx.x] = tap_of(window, block.first_column + threadIdx.x);
    __syncthreads();
    taps = of_block;
  }

  static int own() { return threadIdx.x / kWords; }
  static int word() { return threadIdx.x % kWords; }

  void load(int step) {
    const int plane = window.grid.divisor;
    Pixel pixels[kPerWord];
    const VALUE* from[kPerWord];
    bool is_pixel[kPerWord];
#pragma unroll
    for (int e = 0; e < kPerWord; ++e) {
      const int number = step * kStep + word() * kPerWord + e;
      is_pixel[e] = number < window.pixels;
      pixels[e] = pixel_of(window, x, number);
      const int image = quotient(number, window.grid);
      from[e] = dy + (std::int64_t(image) * results.rows + first_row + own()) * plane + number - image * plane;
    }
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      VALUE values[kPerWord];
      const bool is_row = first_row + own() + i * kTogether < results.rows;
#pragma unroll
      for (int e = 0; e < kPerWord; ++e)
        values[e] = is_row && is_pixel[e] ? ::load(from[e] + std::int64_t(i) * kTogether * plane) : VALUE{};
      gradients[i] = word_of(values);
    }
#pragma unroll
    for (int i = 0; i < kOwnTaps; ++i) {
      const Tap tap = taps[own() + i * kTogether];
      VALUE values[kPerWord];
#pragma unroll
      for (int e = 0; e < kPerWord; ++e) values[e] = read(window, pixels[e], tap);
      images[i] = word_of(values);
    }
  }
  void store(Tile& tile) const {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) tile.rows[word_in_tile(own() + i * kTogether, word())] = gradients[i];
#pragma unroll
    for (int i = 0; i < kOwnTaps; ++i) tile.columns[word_in_tile(own() + i * kTogether, word())] = images[i];
  }
  static void add(const Tile& tile, Sums& sums) { sums.add(tile); }
};

#endif

// The grid: tiles in x, parts of the pixels of `steps` steps each in z.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    weight_gradient(const __grid_constant__ Window window, const __grid_constant__ Results results, int steps,
                    const VALUE* x, const VALUE* dy, VALUE* dweight, float* partials) {
  __shared__ Tile tiles[2];
  const BlockPlace block(results);
  const int all_steps = (window.pixels + kStep - 1) / kStep;
  const int begin = int(blockIdx.z) * steps, end = min(begin + steps, all_steps);
  Steps next(window, results, block, x, dy);
  Sums sums;
  if (begin < end) {
    next.load(begin);
    next.store(tiles[0]);
  }
  __syncthreads();
  for (int step = begin; step < end; ++step) {
    if (step + 1 < end) next.load(step + 1);
    next.add(tiles[(step - begin) % 2], sums);
    if (step + 1 < end) next.store(tiles[(step + 1 - begin) % 2]);
    __syncthreads();
  }
  write_tile(results, sums, block.first_row, block.first_column, tiles, {nullptr, nullptr, dweight}, partials);
}
