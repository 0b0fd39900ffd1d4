#pragma once

#include "hone/cuda/device.h"
#include "hone/tensor/dtype.h"

/// Measured peak rates of a GPU, the denominators of utilization.
namespace hone::cuda {

/// Returns 10^9 operations per second of large matrix products of this type, fp32 in the device's arithmetic, the best
/// of a few runs. Operands are random because products of zeros are faster.
double measure_products_gflops(CudaDevice& device, DType type);

/// Returns the same for products of bytes with 32-bit sums.
double measure_byte_products_gops(CudaDevice& device);

/// Returns 10^9 bytes per second, read plus written, of a large copy within the GPU.
double measure_copy_gbps(CudaDevice& device);

}  // namespace hone::cuda
