#pragma once

#include <span>

#include "hone/base/thread_pool.h"
#include "hone/cuda/device.h"
#include "hone/kernels/mxint_element.h"
#include "hone/tensor/tensor.h"

namespace hone {

/// Decodes MXINT arrays in a GPU's memory (`cuda::dequantize_mxint`), and copies as many bytes.
class GpuDecoder {
 public:
  /// Allocates room for the largest of these arrays, whose pointers are not read. `value_bytes`: 2 or 4 per decoded
  /// element.
  GpuDecoder(std::span<const kernels::MxintCodes> arrays, std::int64_t value_bytes,
             cuda::CudaDevice& gpu);
  /// Returns the GPU memory that an array needs.
  static double needed_bytes(const kernels::MxintCodes& array, std::int64_t value_bytes);

  /// Uploads the array; on the host, its scales must follow the codes. Throws `InternalError` if the GPU decodes its
  /// first elements to other bits than the CPU.
  void load(const kernels::MxintCodes& array, ThreadPool& pool);

  /// Enqueue the work: decode the array, or read and write as many bytes.
  void decode() const;
  void move() const;

 private:
  void check(const kernels::MxintCodes& array, ThreadPool& pool) const;

  cuda::CudaDevice& gpu_;
  std::int64_t value_bytes_;
  Tensor codes_, values_, moved_;
  kernels::MxintCodes array_;  // on the GPU
};

/// Return the bytes of codes and scales, and of everything that decoding reads and writes.
std::int64_t read_bytes(const kernels::MxintCodes& array);
std::int64_t decode_bytes(const kernels::MxintCodes& array, std::int64_t value_bytes);

}  // namespace hone
