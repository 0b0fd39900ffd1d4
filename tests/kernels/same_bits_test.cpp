#include <functional>
#include <numeric>

#include "hone/kernels/activation.h"
#include "hone/kernels/adamw.h"
#include "hone/kernels/binary_cross_entropy.h"
#include "hone/kernels/cross_entropy.h"
#include "hone/kernels/elementwise.h"
#include "hone/kernels/gemm.h"
#include "hone/kernels/layer_norm.h"
#include "hone/kernels/mean_squared_error.h"
#include "hone/kernels/softmax.h"
#include "hone/kernels/sum.h"
#include "tests/kernels/kernel_testing.h"

// Every kernel used in training and evaluation gives the same bits with every instruction set that has fused
// multiply-add, whatever the vector width. (Kernels of number formats and of dropout do so on all instruction sets;
// their own tests check that.)
namespace hone::kernels {
namespace {

using Floats = std::vector<float>;

struct NamedKernel {
  const char* name;
  Floats (*run)(ThreadPool&, std::int64_t n);  // on rows of n elements
};

constexpr std::int64_t kRows = 5;

Floats rows(std::int64_t n, std::uint64_t stream, double range = 4) {
  return random_floats(kRows * n, stream, -range, range);
}

template <void (*Kernel)(ThreadPool&, std::int64_t, const float*, float*)>
Floats unary(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1);
  Floats y(x.size());
  Kernel(pool, kRows * n, x.data(), y.data());
  return y;
}

template <void (*Kernel)(ThreadPool&, std::int64_t, const float*, const float*, float*)>
Floats unary_gradient(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1), dy = rows(n, 2);
  Floats dx(x.size());
  Kernel(pool, kRows * n, x.data(), dy.data(), dx.data());
  return dx;
}

Floats softmax_of(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1);
  Floats y(x.size());
  softmax(pool, kRows, n, x.data(), y.data());
  return y;
}

Floats softmax_gradient_of(ThreadPool& pool, std::int64_t n) {
  const Floats y = rows(n, 1), dy = rows(n, 2);
  Floats dx(y.size());
  softmax_gradient(pool, kRows, n, y.data(), dy.data(), dx.data());
  return dx;
}

Floats layer_norm_of(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1), gamma = rows(n, 2), beta = rows(n, 3);
  Floats y(x.size());
  layer_norm(pool, kRows, n, x.data(), gamma.data(), beta.data(), 1e-12f, y.data());
  return y;
}

Floats layer_norm_gradient_of(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1), gamma = rows(n, 2), dy = rows(n, 3);
  const auto width = static_cast<std::size_t>(n);
  Floats all(x.size() + 2 * width);
  float* const dgamma = all.data() + x.size();
  layer_norm_gradient(pool, kRows, n, x.data(), gamma.data(), 1e-12f, dy.data(), all.data(), dgamma,
                      dgamma + width);
  return all;
}

std::vector<std::int64_t> labels_below(std::int64_t classes) {
  std::vector<std::int64_t> labels(kRows);
  for (std::size_t r = 0; r < labels.size(); ++r)
    labels[r] = static_cast<std::int64_t>(7 * r) % classes;
  return labels;
}

Floats cross_entropy_of(ThreadPool& pool, std::int64_t n) {
  const Floats logits = rows(n, 1);
  return {cross_entropy(pool, kRows, n, logits.data(), labels_below(n).data())};
}

Floats cross_entropy_gradient_of(ThreadPool& pool, std::int64_t n) {
  const Floats logits = rows(n, 1);
  Floats gradient(logits.size());
  cross_entropy_gradient(pool, kRows, n, logits.data(), labels_below(n).data(), 0.7f,
                         gradient.data());
  return gradient;
}

// The loss of rows against targets within [0, 1], and its gradient.
using Loss = float (*)(ThreadPool&, std::int64_t, const float*, const float*);
using LossGradient = void (*)(ThreadPool&, std::int64_t, const float*, const float*, float, float*);

template <Loss loss, LossGradient gradient_of>
Floats loss_and_gradient(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1), targets = random_floats(kRows * n, 2, 0, 1);
  Floats gradient(x.size());
  gradient_of(pool, kRows * n, x.data(), targets.data(), 0.7f, gradient.data());
  gradient.push_back(loss(pool, kRows * n, x.data(), targets.data()));
  return gradient;
}

Floats sums_of(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1);
  Floats sums(static_cast<std::size_t>(n + kRows + 1));
  const std::int64_t shape[] = {kRows, n}, columns[] = {1, n}, lines[] = {kRows, 1}, one[] = {1, 1};
  sum_to(pool, shape, x.data(), columns, sums.data());
  sum_to(pool, shape, x.data(), lines, sums.data() + n);
  sum_to(pool, shape, x.data(), one, sums.data() + n + kRows);
  return sums;
}

Floats norm_of(ThreadPool& pool, std::int64_t n) {
  const Floats x = rows(n, 1);
  const double sum = sum_of_squares(pool, kRows * n, x.data());
  return {static_cast<float>(sum), static_cast<float>((sum - static_cast<float>(sum)) * 0x1p30)};
}

Floats adamw_of(ThreadPool& pool, std::int64_t n) {
  const Floats gradient = rows(n, 1);
  Floats parameter = rows(n, 2), m = rows(n, 3), v = random_floats(kRows * n, 4, 0, 1);
  adamw_step(pool, {}, 3, 0.3, kRows * n, gradient.data(), parameter.data(), m.data(), v.data());
  parameter.insert(parameter.end(), m.begin(), m.end());
  parameter.insert(parameter.end(), v.begin(), v.end());
  return parameter;
}

// Multiplies (rows, n) by (n, 33), with a bias.
Floats product_of(ThreadPool& pool, std::int64_t n) {
  constexpr std::int64_t kColumns = 33;
  const Floats a = rows(n, 1), b = random_floats(n * kColumns, 2),
               bias = random_floats(kColumns, 3);
  Floats c(static_cast<std::size_t>(kRows * kColumns));
  gemm(pool, {kRows, kColumns, n}, {a.data(), n, 1}, {b.data(), 1, n}, c.data(), kColumns,
       {.bias = bias.data()});
  return c;
}

const NamedKernel kNamedKernels[] = {
    {"gelu_erf", unary<gelu_erf>},
    {"gelu_erf_gradient", unary_gradient<gelu_erf_gradient>},
    {"gelu_tanh", unary<gelu_tanh>},
    {"gelu_tanh_gradient", unary_gradient<gelu_tanh_gradient>},
    {"tanh", unary<tanh>},
    {"tanh_gradient", unary_gradient<tanh_gradient>},
    {"relu", unary<relu>},
    {"relu_gradient", unary_gradient<relu_gradient>},
    {"softmax", softmax_of},
    {"softmax_gradient", softmax_gradient_of},
    {"layer_norm", layer_norm_of},
    {"layer_norm_gradient", layer_norm_gradient_of},
    {"cross_entropy", cross_entropy_of},
    {"cross_entropy_gradient", cross_entropy_gradient_of},
    {"mean_squared_error", loss_and_gradient<mean_squared_error, mean_squared_error_gradient>},
    {"binary_cross_entropy",
     loss_and_gradient<binary_cross_entropy, binary_cross_entropy_gradient>},
    {"sum_to", sums_of},
    {"sum_of_squares", norm_of},
    {"adamw_step", adamw_of},
    {"gemm", product_of},
};

TEST(SameBits, WhateverTheWidthOfVectors) {
  for (const NamedKernel& kernel : kNamedKernels) {
    SCOPED_TRACE(kernel.name);
    for (const std::int64_t n :
         {1, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 128, 300, 1000}) {
      SCOPED_TRACE(n);
      same_for_any_target([&](ThreadPool& pool) { return kernel.run(pool, n); }, kFusedTargets);
    }
  }
}

}  // namespace
}  // namespace hone::kernels
