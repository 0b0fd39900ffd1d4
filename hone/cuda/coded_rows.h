#pragma once

#include "hone/cuda/source/coded_rows.cuh"
#include "hone/formats/format.h"
#include "hone/tensor/tensor.h"

/// Arguments of kernels that write or read rows of bytes.
namespace hone::cuda {

/// The rows of a tensor of these sizes in a format that `encode_rows` supports, in the memory of its codes.
CodedRows coded_rows(const Format& format, const Sizes& sizes, const Tensor& memory);

/// The codes of `int` with one scale per row. `scale`: that of the format's state; null: it has none.
CodeGrid code_grid(const Format& format, const float* scale);

}  // namespace hone::cuda
