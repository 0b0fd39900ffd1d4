#include "hone/kernels/gemm.h"

namespace hone::kernels {

void gemm_reference(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                    std::int64_t c_stride, const GemmAdd& add) {
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      double sum = add.bias ? add.bias[j] : 0.0;
      if (add.accumulate) sum += c[i * c_stride + j];
      for (std::int64_t l = 0; l < shape.k; ++l) {
        sum += double{a.data[i * a.row_stride + l * a.column_stride]} *
               double{b.data[l * b.row_stride + j * b.column_stride]};
      }
      c[i * c_stride + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace hone::kernels
