// Adds partial sums (groups, width) by column. The sums of columns below `split` are stored in `first`, the others in
// `second`. Block dimensions are (32, 32): a warp reads 32 columns of a group, and the warps of a block share the
// groups.
#include "numbers.cuh"

extern "C" __global__ void sum_partials(std::int64_t groups, std::int64_t width, const float* partials,
                                        std::int64_t split, float* first, float* second) {
  __shared__ float parts[32][33];
  const std::int64_t column = std::int64_t(blockIdx.x) * 32 + threadIdx.x;
  float sum = 0;
  if (column < width) {
#pragma unroll 8
    for (std::int64_t group = threadIdx.y; group < groups; group += 32) sum += partials[group * width + column];
  }
  parts[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  // Transposed, so that a warp adds the parts of one column.
  sum = parts[threadIdx.x][threadIdx.y];
#pragma unroll
  for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
  const std::int64_t added = std::int64_t(blockIdx.x) * 32 + threadIdx.y;
  if (threadIdx.x != 0 || added >= width) return;
  (added < split ? first[added] : second[added - split]) = sum;
}
