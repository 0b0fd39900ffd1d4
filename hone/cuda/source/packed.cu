// Decodes packed codes (packed_weight.cuh) with the same bits as `PackedRows`: a whole matrix in panels, or some rows
// of one stored by rows. BITS: of a code; HALF: bfloat16 or float16 if codes are such numbers.
#include "numbers.cuh"
#include "packed_weight.cuh"

using namespace hone::cuda;

// Copies in shared memory: threads read different entries, which is slow from parameters.
struct Tables {
  float units[256];
  float scales[256];
};

inline void take_tables(const PackedTables& from, Tables& tables) {
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    tables.units[i] = from.units[i];
    tables.scales[i] = from.scales[i];
  }
  __syncthreads();
}

// Writes the values of a quad of a row, up to the last column.
inline void put_values(const PackedWeight& w, const Tables& tables, std::int64_t row,
                       std::int64_t number, const Quad& quad, float* y) {
  const std::int64_t first = 4 * number;
  const int count = w.columns - first < 4 ? int(w.columns - first) : 4;
  float values[4] = {0, 0, 0, 0};
#ifdef HALF
#pragma unroll
  for (int i = 0; i < 4; ++i) values[i] = to_float(HALF{std::uint16_t(quad_code<BITS>(quad, i))});
#else
  const bool adds = w.zero_points != 0 || w.source == ScaleSource::affine;
  const bool of_row = w.group >= w.columns;
  std::int64_t block = of_row ? 0 : first / w.group;
  int left = int(min((block + 1) * w.group - first,
                     std::int64_t(4)));  // columns left in the block, at most 4
  float scale = scale_of(w, tables.scales, row, block),
        offset = adds ? offset_of(w, row, block) : 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (left == 0 && i < count) {
      scale = scale_of(w, tables.scales, row, ++block);
      if (adds) offset = offset_of(w, row, block);
      left = int(min(w.group, std::int64_t(4)));
    }
    --left;
    float unit = tables.units[quad_code<BITS>(quad, i) ^ std::uint32_t(w.flip)];
    if (adds) unit += offset;
    values[i] = w.divides != 0 ? unit / scale : unit * scale;
  }
#endif
  if (w.columns % 4 == 0) {
    *reinterpret_cast<float4*>(y + first) = make_float4(values[0], values[1], values[2], values[3]);
    return;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < count) y[first + i] = values[i];
}

// Decodes a matrix in panels. A block has 32 rows and 64 quads, 8 at a time; a warp reads and writes whole sectors of
// 32 bytes, eight rows by four quads.
extern "C" __global__ void unpack_panels(PackedWeight w, PackedTables given, float* y) {
  __shared__ Tables tables;
  take_tables(given, tables);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::int64_t row = std::int64_t(blockIdx.x) * 32 + warp % 4 * 8 + lane % 8;
  const std::int64_t quads = (w.columns + 3) / 4,
                     begin = std::int64_t(blockIdx.y) * 64 + warp / 4 * 4 + lane / 8;
  if (row >= w.rows) return;
#pragma unroll 1
  for (int step = 0; step < 8; ++step) {
    const std::int64_t number = begin + step * 8;
    if (number < quads)
      put_values(w, tables, row, number, panel_quad<BITS>(w, row, number), y + row * w.columns);
  }
}

// y[i] = row ids[i] of a matrix stored by rows, or row begin + i. Rows that do not exist are NaN.
extern "C" __global__ void gather_rows(PackedWeight w, PackedTables given, std::int64_t count,
                                       const std::int64_t* ids, std::int64_t begin, float* y) {
  __shared__ Tables tables;
  take_tables(given, tables);
  const std::int64_t quads = (w.columns + 3) / 4;
#pragma unroll 1
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const std::int64_t row = ids != nullptr ? ids[i] : begin + i;
    float* to = y + i * w.columns;
    if (row < 0 || row >= w.rows) {
      for (std::int64_t column = threadIdx.x; column < w.columns; column += blockDim.x)
        to[column] = __uint_as_float(0x7fc00000u);
      continue;
    }
#pragma unroll 1
    for (std::int64_t number = threadIdx.x; number < quads; number += blockDim.x)
      put_values(w, tables, row, number, row_quad<BITS>(w, row, number), to);
  }
}
