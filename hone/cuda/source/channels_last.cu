// Copies images (images, channels, pixels) to (images, pixels, channels). Channels fill whole chunks of 16 bytes. A
// block transposes 64 pixels of 8 chunks in shared memory, so that it reads and writes lines of 128 bytes. WIDTH
// adjacent pixels are read at once.
#include "numbers.cuh"

#ifndef WIDTH
#define WIDTH 1
#endif

constexpr int kThreads = 256, kPixels = 64, kChunks = 8, kChunkValues = 16 / sizeof(VALUE);
constexpr int kChannels = kChunks * kChunkValues;
// Odd, so that the 8 chunks of 4 pixels that a warp reads are in different banks.
constexpr int kPitch = kPixels + 1;

extern "C" __global__ void __launch_bounds__(kThreads)
    channels_last(int channels, int pixels, const VALUE* x, VALUE* y) {
  __shared__ VALUE tile[kChannels * kPitch];
  const int across = (pixels + kPixels - 1) / kPixels, down = (channels + kChannels - 1) / kChannels;
  const int image_and_row = int(blockIdx.x) / across, image = image_and_row / down;
  const int first_pixel = (int(blockIdx.x) - image_and_row * across) * kPixels;
  const int first_channel = (image_and_row - image * down) * kChannels;
  const std::int64_t begin = std::int64_t(image) * channels * pixels;

  constexpr int kPacks = kPixels / WIDTH, kReads = kChannels * kPacks / kThreads;
  Pack<VALUE, WIDTH> read[kReads];
#pragma unroll
  for (int i = 0; i < kReads; ++i) {
    const int number = threadIdx.x + i * kThreads;
    const int channel = first_channel + number / kPacks, pixel = first_pixel + number % kPacks * WIDTH;
    if (channel < channels && pixel < pixels)
      read[i] = *reinterpret_cast<const Pack<VALUE, WIDTH>*>(x + begin + std::int64_t(channel) * pixels + pixel);
  }
#pragma unroll
  for (int i = 0; i < kReads; ++i) {
    const int number = threadIdx.x + i * kThreads;
    VALUE* const to = tile + number / kPacks * kPitch + number % kPacks * WIDTH;
#pragma unroll
    for (int k = 0; k < WIDTH; ++k) to[k] = read[i].at[k];
  }
  __syncthreads();
#pragma unroll
  for (int number = threadIdx.x; number < kPixels * kChunks; number += kThreads) {
    const int chunk = number % kChunks, pixel = number / kChunks;
    const int channel = first_channel + chunk * kChunkValues;
    if (channel >= channels || first_pixel + pixel >= pixels) continue;
    Pack<VALUE, kChunkValues> values;
#pragma unroll
    for (int k = 0; k < kChunkValues; ++k) values.at[k] = tile[(chunk * kChunkValues + k) * kPitch + pixel];
    *reinterpret_cast<Pack<VALUE, kChunkValues>*>(y + begin + std::int64_t(first_pixel + pixel) * channels + channel) =
        values;
  }
}
