#include <cmath>
#include <numbers>

#include "hone/kernels/gemm.h"

namespace hone::kernels {
namespace {

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::gelu_erf:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return 0.5 * x *
             (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

}  // namespace

void gemm_reference(const GemmShape& shape, const ConstMatrix& a, const ConstMatrix& b, float* c,
                    std::int64_t c_stride, const Epilogue& epilogue) {
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t j = 0; j < shape.n; ++j) {
      double sum = epilogue.bias ? epilogue.bias[j] : 0.0;
      if (epilogue.accumulate) sum += c[i * c_stride + j];
      for (std::int64_t l = 0; l < shape.k; ++l) {
        sum += double{a.data[i * a.row_stride + l * a.column_stride]} *
               double{b.data[l * b.row_stride + j * b.column_stride]};
      }
      sum = activated(epilogue.activation, sum);
      if (epilogue.residual) sum += epilogue.residual[i * epilogue.residual_stride + j];
      c[i * c_stride + j] = static_cast<float>(sum);
    }
  }
}

}  // namespace hone::kernels
