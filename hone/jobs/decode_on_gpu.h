#pragma once

#include <span>

#include "hone/base/thread_pool.h"
#include "hone/cuda/device.h"
#include "hone/kernels/mxint_element.h"
#include "hone/tensor/tensor.h"

namespace hone {

/// MXINT in a GPU's memory, to be decoded there (`cuda::dequantize_mxint`), and a copy that moves as many bytes.
class GpuDecoder {
 public:
  /// Has room for the largest of these arrays, which need no memory. `value_bytes` of what elements become: 2 or 4.
  GpuDecoder(std::span<const kernels::MxintCodes> arrays, std::int64_t value_bytes,
             cuda::CudaDevice& gpu);
  /// What an array takes there.
  static double needed_bytes(const kernels::MxintCodes& array, std::int64_t value_bytes);

  /// Takes the array, whose codes lie on the host with its scales behind them. Throws `InternalError` where its first elements
  /// are not decoded to the bits that the processor decodes them to.
  void take(const kernels::MxintCodes& array, ThreadPool& pool);

  /// Put their work on the queue: the array that was taken is decoded, or as many bytes are read and written.
  void decode() const;
  void move() const;

 private:
  void check(const kernels::MxintCodes& array, ThreadPool& pool) const;

  cuda::CudaDevice& gpu_;
  std::int64_t value_bytes_;
  Tensor codes_, values_, moved_;
  kernels::MxintCodes array_;  // there
};

/// Bytes of codes and scales, and of all that decoding reads and writes.
std::int64_t read_bytes(const kernels::MxintCodes& array);
std::int64_t decode_bytes(const kernels::MxintCodes& array, std::int64_t value_bytes);

}  // namespace hone
