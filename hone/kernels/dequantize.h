#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"
#include "hone/kernels/mxint_element.h"

/// Decodes MXINT to bfloat16 or float, at memory bandwidth.
///
/// A thread decodes one chunk of elements at a time. The scales of a block of elements are widened in the L1 cache, and
/// elements are decoded a vector at a time: by one scale if the vector is within one group, else by a scale per
/// element. An output that is larger than all caches and aligned to 64 bytes, as tensors are, is written with
/// non-temporal stores, which avoid reading it into the caches first.
///
///     dequantize(pool, {.count = n, .group = 32, .codes = codes, .scales = scales}, MxintDialect::ocp, y);
namespace hone::kernels {

/// Decodes x to y (x.count) as bfloat16 or float, exactly as in `mxint_element.h`, with the same bits on every CPU and
/// for any number of threads.
void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, std::uint16_t* y);
void dequantize(ThreadPool& pool, const MxintCodes& x, MxintDialect dialect, float* y);

/// How the work is split into chunks.
struct DequantizePartition {
  std::int64_t chunk_elements = 0;  ///< per chunk of a thread; the last may be shorter
  std::int64_t chunks = 0;
  std::int64_t block_elements = 0;   ///< per block whose scales are widened together
  std::int64_t vector_elements = 0;  ///< with the instructions of this CPU
  bool non_temporal = false;         ///< the output exceeds the last-level cache
};
DequantizePartition dequantize_partition(std::int64_t count, std::int64_t value_bytes);

/// Moves bytes like a decoder without computation, as a baseline: reads `read_bytes` at x and writes `write_bytes` at y
/// in `chunks` chunks, alternately, with or without non-temporal stores.
void move_bytes(ThreadPool& pool, std::int64_t chunks, bool non_temporal, std::int64_t read_bytes,
                const std::uint8_t* x, std::int64_t write_bytes, std::uint8_t* y);

}  // namespace hone::kernels
