// Convolutions and their input gradients as products: results (M, pixels) = weight (M, depth) elements (depth, pixels).
// The second matrix is read from the images and never stored.
#include "convolution.cuh"

// The taps of the next steps are in shared memory: two parts with one tap per thread, each filled while the other is
// read. A tap is one element of the depth, or one chunk of channels.
constexpr int kTapValues = CHANNELS_LAST ? kChunkValues : 1, kStepTaps = kStep / kTapValues;
static_assert(kThreads % kStepTaps == 0, "whole steps in a part");

inline Chunk load_weight(const VALUE* row, int at, int depth, bool packed) {
#if CHANNELS_LAST
  return at < depth ? load_chunk(row + at) : Chunk{};
#else
  Chunk chunk = {};
  if (packed) return at < depth ? load_chunk(row + at) : chunk;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    VALUE word[kPerWord];
#pragma unroll
    for (int e = 0; e < kPerWord; ++e) {
      const int k = at + i * kPerWord + e;
      word[e] = k < depth ? load(row + k) : VALUE{};
    }
    chunk.at[i] = word_of(word);
  }
  return chunk;
#endif
}

// The grid: tiles in x, parts of the depth of `steps` steps each in z. `packed`: rows of the weight are whole, aligned
// chunks, as they always are with channels last.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    convolve(const __grid_constant__ Window window, const __grid_constant__ Results results, const VALUE* weight,
             int packed, int steps, const VALUE* x, const __grid_constant__ Epilogue epilogue, float* partials) {
  constexpr int kOwnRows = kRows / 64, kOwnPixels = kColumns / 64;
  __shared__ Tile tiles[2];
  __shared__ Tap taps[2 * kThreads];
  const BlockPlace block(results);
  const int thread = threadIdx.x, all_steps = (window.depth + kStep - 1) / kStep;
  const int begin = int(blockIdx.z) * steps, end = min(begin + steps, all_steps);

  // A thread loads one chunk of some rows of the weight, and one chunk of some pixels of the images. Adjacent threads
  // read adjacent memory.
  const int weight_row = thread / 4, weight_chunk = thread % 4;
  const int own_pixel = CHANNELS_LAST ? weight_row : thread % 64, own_chunk = CHANNELS_LAST ? weight_chunk : thread / 64;
  Pixel pixels[kOwnPixels];
#pragma unroll
  for (int i = 0; i < kOwnPixels; ++i)
    pixels[i] = pixel_of(window, x, block.first_column + own_pixel + 64 * i);

  Chunk of_weight[kOwnRows], of_images[kOwnPixels];
  const auto load_weights = [&](int step) {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const int row = block.first_row + weight_row + 64 * i;
      of_weight[i] = {};
      if (row < results.rows)
        of_weight[i] = load_weight(weight + std::int64_t(row) * window.depth,
                                   step * kStep + weight_chunk * kChunkValues, window.depth, packed != 0);
    }
  };
  const auto load_images = [&](int step) {
    const Tap* const own = taps + (step - begin) * kStepTaps % (2 * kThreads) + own_chunk * (kStepTaps / 4);
#if CHANNELS_LAST
    const Tap tap = *own;
#pragma unroll
    for (int i = 0; i < kOwnPixels; ++i) of_images[i] = read_chunk(window, pixels[i], tap);
#else
#pragma unroll
    for (int word = 0; word < 4; ++word) {
      VALUE values[kOwnPixels][kPerWord];
#pragma unroll
      for (int e = 0; e < kPerWord; ++e) {
        const Tap tap = own[word * kPerWord + e];
#pragma unroll
        for (int i = 0; i < kOwnPixels; ++i) values[i][e] = read(window, pixels[i], tap);
      }
#pragma unroll
      for (int i = 0; i < kOwnPixels; ++i) of_images[i].at[word] = word_of(values[i]);
    }
#endif
  };
  const auto store = [&](Tile& tile) {
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i)
      *reinterpret_cast<Chunk*>(tile.rows + place_in_tile(weight_row + 64 * i, weight_chunk)) = of_weight[i];
#pragma unroll
    for (int i = 0; i < kOwnPixels; ++i)
      *reinterpret_cast<Chunk*>(tile.columns + place_in_tile(own_pixel + 64 * i, own_chunk)) = of_images[i];
  };
  const auto fill_taps = [&](int part) {
    taps[part % 2 * kThreads + thread] =
        tap_of(window, begin * kStep + (part * kThreads + thread) * kTapValues);
  };

  Sums sums;
  fill_taps(0);
  fill_taps(1);
  __syncthreads();
  if (begin < end) {
    load_weights(begin);
    load_images(begin);
    store(tiles[0]);
  }
  __syncthreads();
  for (int step = begin; step < end; ++step) {
    const int next = step + 1, done = (next - begin) * kStepTaps;
    // All threads have read the previous part.
    if (done % kThreads == 0) fill_taps(done / kThreads + 1);
    if (next < end) load_images(next);
    // fp32 sums leave no registers to load weights early.
    if (TENSOR && next < end) load_weights(next);
    sums.add(tiles[(step - begin) % 2]);
    if (!TENSOR && next < end) load_weights(next);
    if (next < end) store(tiles[(next - begin) % 2]);
    __syncthreads();
  }
  write_tile(results, sums, block.first_row, block.first_column, tiles, epilogue, partials);
}

// Adds the partial sums (parts, rows, columns) of each result in their order.
extern "C" __global__ void add_parts(const __grid_constant__ Results results, int parts, const float* partials,
                                     const __grid_constant__ Epilogue epilogue) {
  const int number = int(thread_number());
  const std::int64_t count = std::int64_t(results.rows) * results.columns;
  if (number >= count) return;
  const int row = number / results.columns, column = number - row * results.columns;
  float sum = 0;
#pragma unroll 4
  for (int part = 0; part < parts; ++part) sum += partials[part * count + number];
  finish(epilogue, sum, row, offset_of(results, column) + row * results.plane);
}
