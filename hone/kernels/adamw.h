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

/// Step `step` (1, 2, ...) of n parameters in one pass:
///
///     g = gradient_scale gradient
///     m += (1 - beta1) (g - m)
///     v = beta2 v + (1 - beta2) g^2
///     parameter -= learning_rate / (1 - beta1^step) * m / (sqrt(v / (1 - beta2^step)) + eps)
///                  + learning_rate weight_decay parameter
///
/// `gradient_scale` carries clipping and averaging over accumulated batches. Factors are rounded to
/// float once. Of m and v, 0 is kept where they are too small for a normal float: of a row that is
/// seldom seen they would stay there for good, and such numbers are slow.
void adamw_step(ThreadPool& pool, const AdamW& adamw, std::int64_t step, double gradient_scale,
                std::int64_t n, const float* gradient, float* parameter, float* m, float* v);

/// The same of a table (rows, width) whose gradient is the sums (count, width) in the rows `named`, of which each comes once and
/// -1 is none, and 0 elsewhere; all of them are in [-1, rows), as the caller has checked.
void adamw_step_by_row(ThreadPool& pool, const AdamW& adamw, std::int64_t step,
                       double gradient_scale, std::int64_t rows, std::int64_t width,
                       std::int64_t count, const std::int64_t* named, const float* sums,
                       float* table, float* m, float* v);

/// Sum of x[i]^2 in double, for the norm of gradients.
double sum_of_squares(ThreadPool& pool, std::int64_t n, const float* x);

}  // namespace hone::kernels
