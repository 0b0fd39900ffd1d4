// Rounds to the nearest values of a number format whose blocks share constants that follow from their largest
// magnitude. BLOCKS, a struct of hone/kernels/scalar, makes a rounding from the bits of that magnitude.
//
// Largest magnitudes are compared as integers, so their order does not matter. There are three variants: `round_runs`
// has a pack of four adjacent values per thread; `round_tiles` reads blocks of any shape twice, with a few threads
// each; `tile_magnitudes` and `round_stored_tiles` store the magnitudes in between, for large blocks, or if the
// constants of a block of zeros depend on all other blocks.
#include "hone/kernels/scalar/block.h"
#include "hone/kernels/scalar/mase_block.h"
#include "numbers.cuh"

using namespace hone;

constexpr unsigned kAll = 0xffffffff;  // threads of a warp
constexpr int kThreads = 256;

// Rounds contiguous blocks of 4 x `lanes` values, `lanes` a power of two up to 32.
extern "C" __global__ void __launch_bounds__(kThreads)
    round_runs(scalar::BLOCKS rule, std::int64_t packs, int lanes, const float* x, float* y) {
  constexpr int kPacks = 2;
  using Four = Pack<float, 4>;
  const std::int64_t first = std::int64_t(blockIdx.x) * (kThreads * kPacks) + threadIdx.x;
  Four values[kPacks] = {};
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const std::int64_t pack = first + k * kThreads;
    if (pack < packs) values[k] = reinterpret_cast<const Four*>(x)[pack];
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    std::uint32_t largest = 0;
    for (const float value : values[k].at) largest = max(largest, scalar::magnitude_bits(value));
    for (int other = lanes / 2; other > 0; other /= 2)
      largest = max(largest, __shfl_xor_sync(kAll, largest, other));
    const auto round = rule.of(largest);
    const std::int64_t pack = first + k * kThreads;
    if (pack >= packs) continue;
    for (float& value : values[k].at) value = round(value);
    reinterpret_cast<Four*>(y)[pack] = values[k];
  }
}

// The elements of a thread. A block of threads has kThreads / lanes blocks of values. `lanes` threads share a block of
// values, and `chunks` blocks of threads share a large one. Adjacent threads read adjacent memory: along the columns,
// or, if the axis of the blocks is not the last one (`across_lines`), along the lines.
struct Share {
  int lanes;
  unsigned chunks;
  std::int64_t chunk_elements;
  bool across_lines;
};

struct Tile {
  std::int64_t number = 0;
  bool exists = false;
  int lane = 0;   // among the threads of this block
  int place = 0;  // of this block in the block of threads

  Tile(const scalar::BlockPlaces& places, const Share& share) : places_(places), share_(share) {
    const int together = kThreads / share.lanes;
    // Adjacent threads read adjacent lines: those of adjacent blocks if a block has one line.
    const bool by_line = share.across_lines && places.block_rows == 1;
    lane = by_line ? int(threadIdx.x) / together : int(threadIdx.x) % share.lanes;
    place = by_line ? int(threadIdx.x) % together : int(threadIdx.x) / share.lanes;
    number = std::int64_t(blockIdx.x / share.chunks) * together + place;
    exists = number < places.blocks();
    if (!exists) return;
    const std::int64_t bands = places.matrices * places.down(), across = places.across();
    const std::int64_t band = share.across_lines ? number % bands : number / across;
    const std::int64_t column =
        (share.across_lines ? number / bands : number % across) * places.block_columns;
    const std::int64_t row = band % places.down() * places.block_rows;
    height_ = scalar::smaller(places.block_rows, places.rows - row);
    width_ = scalar::smaller(places.block_columns, places.columns - column);
    first_ = (band / places.down() * places.rows + row) * places.columns + column;
    even_ = places.distance == 1 || (height_ == 1 && places.columns == places.extent);
    first_offset_ = places.offset(first_);
  }

  // Calls body(offset in the tensor) for the elements of this thread.
  template <typename Body>
  void for_elements(Body&& body) const {
    if (!exists) return;
    const std::int64_t begin = std::int64_t(blockIdx.x % share_.chunks) * share_.chunk_elements;
    const std::int64_t end = scalar::smaller(begin + share_.chunk_elements, height_ * width_);
    if (even_ && height_ == 1) {
#pragma unroll 4
      for (std::int64_t i = begin + lane; i < end; i += share_.lanes)
        body(first_offset_ + i * places_.distance);
      return;
    }
    for (std::int64_t i = begin + lane; i < end; i += share_.lanes) {
      const std::int64_t r = share_.across_lines ? i % height_ : i / width_;
      const std::int64_t c = share_.across_lines ? i / height_ : i % width_;
      body(places_.offset(first_ + r * places_.columns + c));
    }
  }

 private:
  const scalar::BlockPlaces& places_;
  const Share& share_;
  std::int64_t height_ = 0, width_ = 0, first_ = 0, first_offset_ = 0;
  bool even_ = false;  // elements are equally spaced
};

// Returns the largest magnitude of a block of values. All threads of the block of threads must call it.
std::uint32_t largest_of(const Tile& tile, const Share& share, const float* x) {
  __shared__ std::uint32_t seen[kThreads];
  std::uint32_t largest = 0;
  tile.for_elements([&](std::int64_t offset) {
    largest = max(largest, scalar::magnitude_bits(x[offset]));
  });
  std::uint32_t* const own = seen + tile.place * share.lanes;
  own[tile.lane] = largest;
  for (int width = share.lanes / 2; width > 0; width /= 2) {
    __syncthreads();
    if (tile.lane < width) own[tile.lane] = max(own[tile.lane], own[tile.lane + width]);
  }
  __syncthreads();
  return own[0];
}

extern "C" __global__ void __launch_bounds__(kThreads)
    round_tiles(scalar::BLOCKS rule, scalar::BlockPlaces places, Share share, const float* x,
                float* y) {
  const Tile tile(places, share);
  const auto round = rule.of(largest_of(tile, share, x));
  tile.for_elements([&](std::int64_t offset) { y[offset] = round(x[offset]); });
}

// `largest`, one for each block, is initialized to zero.
extern "C" __global__ void __launch_bounds__(kThreads)
    tile_magnitudes(scalar::BlockPlaces places, Share share, const float* x,
                    std::uint32_t* largest) {
  const Tile tile(places, share);
  const std::uint32_t own = largest_of(tile, share, x);
  if (tile.exists && tile.lane == 0) atomicMax(largest + tile.number, own);
}

// Computes the smallest magnitude that is not zero, as its complement: 0 if there is none, all ones for NaN.
// `complement` is initialized to zero.
extern "C" __global__ void smallest_magnitude(std::int64_t blocks, const std::uint32_t* largest,
                                              std::uint32_t* complement) {
  std::uint32_t seen = 0;
  for (std::int64_t i = thread_number(); i < blocks; i += all_threads()) {
    const std::uint32_t magnitude = largest[i];
    if (magnitude > scalar::kInfinityBits) seen = ~0u;
    if (magnitude != 0) seen = max(seen, ~magnitude);
  }
  seen = __reduce_max_sync(kAll, seen);
  if (threadIdx.x % 32 == 0) atomicMax(complement, seen);
}

// If `complement` is null, blocks of zeros are like others.
extern "C" __global__ void __launch_bounds__(kThreads)
    round_stored_tiles(scalar::BLOCKS rule, scalar::BlockPlaces places, Share share,
                       const std::uint32_t* largest, const std::uint32_t* complement,
                       const float* x, float* y) {
  const Tile tile(places, share);
  if (!tile.exists) return;
  std::uint32_t magnitude = largest[tile.number];
  if (magnitude == 0 && complement != nullptr)
    magnitude = *complement == 0 ? scalar::bits_of(1.0f) : ~*complement;
  if (magnitude == 0 && complement != nullptr) magnitude = scalar::kInfinityBits + 1;  // NaN
  const auto round = rule.of(magnitude);
  tile.for_elements([&](std::int64_t offset) { y[offset] = round(x[offset]); });
}
