#pragma once

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// What a GPU is seen to do at best, now: the denominators of shares.
namespace hone::cuda {

/// 10^9 operations per second of large products of this type, fp32 in the device's arithmetic, the best of a few; random
/// operands, for those of zeros are faster.
double measure_products_gflops(CudaDevice& device, DType type);

/// The same of bytes, with sums of 32 bits.
double measure_byte_products_gops(CudaDevice& device);

/// 10^9 bytes per second, read plus written, of a large copy within the GPU.
double measure_copy_gbps(CudaDevice& device);

}  // namespace hone::cuda
