#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/mxint_element.h"

/// MXINT to bfloat16 or float, at the speed of memory.
///
/// A chunk of elements is the work of a thread. Of a block of them the scales are widened in the first cache, and the elements
/// decoded a vector at a time: by one scale where it lies in one group, else by a scale for each element, picked from those of
/// the groups it reaches into. An output that no cache holds, and that begins at a multiple of 64 bytes as tensors do, is
/// written around the caches: it would have to be read into them first.
///
///     dequantize(pool, {.count = n, .group = 32, .codes = codes, .scales = scales}, MxintDialect::ocp, y);
namespace hone::kernels {

/// y (x.count) as bfloat16 or as float: exactly what `mxint_element.h` says, the same bits on every processor and for any
/// number of threads.
void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, std::uint16_t* y);
void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, float* y);

/// How that work is cut.
struct DequantizePartition {
  std::int64_t chunk_elements =
      0;  ///< of the work a thread takes at a time; the last may be shorter
  std::int64_t chunks = 0;
  std::int64_t block_elements = 0;   ///< whose scales are widened at once
  std::int64_t vector_elements = 0;  ///< with the instructions of this processor
  bool around_caches = false;        ///< whether the output is larger than the last level of them
};
DequantizePartition dequantize_partition(std::int64_t count, std::int64_t value_bytes);

/// What a decoder that computes nothing would do: reads `read_bytes` at x and writes `write_bytes` at y, in as many chunks as
/// `chunks` says, what is read and what is written in turn. With or without stores around the caches.
void move_bytes(ThreadPool& pool, std::int64_t chunks, bool around_caches, std::int64_t read_bytes,
                const std::uint8_t* x, std::int64_t write_bytes, std::uint8_t* y);

}  // namespace hone::kernels
