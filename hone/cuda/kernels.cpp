#include "hone/cuda/kernels.h"

namespace hone::cuda {

KernelTable kernels() {
  KernelTable table;
  // Kernels generated from formulas come last: kernels written for an operation are faster.
  for (const auto rows :
       {attention_kernels, convolution_kernels, element_kernels, gather_kernels, image_kernels,
        loss_kernels, native_kernels, packed_kernels, product_kernels, quantize_kernels,
        row_kernels, training_kernels, formula_kernels}) {
    const KernelTable more = rows();
    table.insert(table.end(), more.begin(), more.end());
  }
  return table;
}

}  // namespace hone::cuda
