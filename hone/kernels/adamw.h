#pragma once

#include <cstdint>

#include "hone/base/thread_pool.h"

/// The AdamW update (Loshchilov and Hutter, 2019) with the semantics of torch.optim.AdamW.
namespace hone::kernels {

struct AdamW {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0.01;
};

/// Computes step `step` (1, 2, ...) for n parameters in one pass:
///
///     g = gradient_scale gradient
///     m += (1 - beta1) (g - m)
///     v = beta2 v + (1 - beta2) g^2
///     parameter -= learning_rate / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps)
///                  + learning_rate weight_decay parameter
///
/// `gradient_scale` combines clipping and averaging over accumulated batches. Factors are rounded to float once. m and
/// v are flushed to 0 if subnormal: in rows that are seldom seen they would otherwise stay subnormal forever, and
/// arithmetic on subnormal numbers is slow.
void adamw_step(ThreadPool& pool, const AdamW& adamw, std::int64_t step, double gradient_scale,
                std::int64_t n, const float* gradient, float* parameter, float* m, float* v);

/// The same for a table (rows, width) with a sparse gradient: `sums` (count, width) are the gradients of rows `named`
/// (count), and all other rows have gradient 0. Each row is named at most once; -1 names none. The caller has checked
/// that all names are in [-1, rows).
void adamw_step_by_row(ThreadPool& pool, const AdamW& adamw, std::int64_t step,
                       double gradient_scale, std::int64_t rows, std::int64_t width,
                       std::int64_t count, const std::int64_t* named, const float* sums,
                       float* table, float* m, float* v);

/// Returns the sum of x[i]^2 in double, for the norm of gradients.
double sum_of_squares(ThreadPool& pool, std::int64_t n, const float* x);

}  // namespace hone::kernels
