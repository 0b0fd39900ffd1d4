// Copies strided elements of UNIT bytes, whatever their type.
#include "numbers.cuh"

#if UNIT == 16
using Element = Pack<std::uint32_t, 4>;
#elif UNIT == 8
using Element = std::uint64_t;
#elif UNIT == 4
using Element = std::uint32_t;
#elif UNIT == 2
using Element = std::uint16_t;
#else
using Element = std::uint8_t;
#endif

constexpr int kMaxAxes = 6;

/// Elements in row-major order, and their strides.
struct Walk {
  std::int64_t count;
  std::int64_t axes;
  std::int64_t sizes[kMaxAxes], from[kMaxAxes], to[kMaxAxes];
};

// `Index` is the type of divisions, since 64-bit ones are slow.
template <typename Index>
void copy(const Walk& walk, const Element* from, Element* to) {
  const std::int64_t number = thread_number();
  if (number >= walk.count) return;
  Index rest = Index(number);
  std::int64_t from_offset = 0, to_offset = 0;
#pragma unroll
  for (int axis = kMaxAxes - 1; axis >= 0; --axis) {
    if (axis >= walk.axes) continue;
    const Index size = Index(walk.sizes[axis]), along = axis == 0 ? rest : rest % size;
    rest /= size;
    from_offset += std::int64_t(along) * walk.from[axis];
    to_offset += std::int64_t(along) * walk.to[axis];
  }
  to[to_offset] = from[from_offset];
}

extern "C" __global__ void copy_few(const Walk walk, const Element* from, Element* to) {
  copy<std::uint32_t>(walk, from, to);
}
extern "C" __global__ void copy_many(const Walk walk, const Element* from, Element* to) {
  copy<std::uint64_t>(walk, from, to);
}

/// Matrices that are read along their rows and written along their columns.
struct TransposedCopy {
  std::int64_t rows, columns;        // of the matrix that is read
  std::int64_t from_row, to_column;  // the strides that are not 1
  std::int64_t axes;                 // other dimensions
  std::int64_t sizes[kMaxAxes], from[kMaxAxes], to[kMaxAxes];
};

constexpr int kTile = 32, kTileRows = 8;

// Each block of (kTile, kTileRows) threads transposes a tile in shared memory, so that reads and writes are both
// coalesced.
extern "C" __global__ void copy_transposed(const TransposedCopy transposed, const Element* from, Element* to) {
  __shared__ Element tile[kTile][kTile + 1];
  std::uint32_t rest = blockIdx.x;
  const std::uint32_t tiles_across = (transposed.columns + kTile - 1) / kTile, tiles_down = (transposed.rows + kTile - 1) / kTile;
  const std::int64_t first_column = std::int64_t(rest % tiles_across) * kTile;
  rest /= tiles_across;
  const std::int64_t first_row = std::int64_t(rest % tiles_down) * kTile;
  rest /= tiles_down;
#pragma unroll
  for (int axis = kMaxAxes - 1; axis >= 0; --axis) {
    if (axis >= transposed.axes) continue;
    const std::uint32_t size = transposed.sizes[axis];
    const std::int64_t along = rest % size;
    rest /= size;
    from += along * transposed.from[axis];
    to += along * transposed.to[axis];
  }
#pragma unroll
  for (int i = 0; i < kTile; i += kTileRows) {
    const std::int64_t row = first_row + threadIdx.y + i, column = first_column + threadIdx.x;
    if (row < transposed.rows && column < transposed.columns)
      tile[threadIdx.y + i][threadIdx.x] = from[row * transposed.from_row + column];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kTile; i += kTileRows) {
    const std::int64_t row = first_row + threadIdx.x, column = first_column + threadIdx.y + i;
    if (row < transposed.rows && column < transposed.columns)
      to[column * transposed.to_column + row] = tile[threadIdx.x][threadIdx.y + i];
  }
}
