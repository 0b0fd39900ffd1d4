#pragma once

#include "hone/cuda/source/coded_rows.cuh"
#include "hone/formats/format.h"
#include "hone/tensor/tensor.h"

/// Arguments of kernels that write or read rows of bytes.
namespace hone::cuda {

/// Returns the rows of a tensor of these sizes in a format that `encode_rows` supports. `memory` holds its codes.
CodedRows coded_rows(const Format& format, const Sizes& sizes, const Tensor& memory);

/// Returns the code grid of `int` with one scale per row. `scale`: the scale in the format's state; null: none.
CodeGrid code_grid(const Format& format, const float* scale);

}  // namespace hone::cuda
