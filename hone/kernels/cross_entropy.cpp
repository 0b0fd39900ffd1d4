#include "hone/kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/grain.h"
#include "hone/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/cross_entropy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/softmax-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// log(sum of e^logits) - logits[label]
double row_loss(std::int64_t classes, const float* logits, std::int64_t label) {
  const float maximum = row_maximum(classes, logits);
  const auto ignore = [](std::int64_t, auto, auto) {};
  const float sum = sum_of_exponentials(classes, logits, maximum, ignore);
  return std::log(double{sum}) + (double{maximum} - double{logits[label]});
}

// gradient = scale (softmax(logits) - one_hot(label))
void row_gradient(std::int64_t classes, const float* logits, std::int64_t label, float scale,
                  float* gradient) {
  const Floats d;
  const auto keep = [&](std::int64_t i, auto part, auto term)
                        HWY_ATTR { store(term, d, gradient + i, part); };
  const float sum = sum_of_exponentials(classes, logits, row_maximum(classes, logits), keep);
  scale_row(classes, scale / sum, gradient);
  gradient[label] -= scale;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(row_loss);
HWY_EXPORT(row_gradient);

// Rows that are not ignored.
std::int64_t count_labels(std::int64_t rows, std::int64_t classes, const std::int64_t* labels) {
  std::int64_t counted = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    if (labels[r] == kIgnoredLabel) continue;
    HONE_ASSERT(labels[r] >= 0 && labels[r] < classes, "label {} of row {}, classes {}", labels[r],
                r, classes);
    ++counted;
  }
  return counted;
}

}  // namespace

float cross_entropy(ThreadPool& pool, std::int64_t rows, std::int64_t classes, const float* logits,
                    const std::int64_t* labels) {
  static thread_local Scratch scratch;
  double* const losses = scratch.doubles(static_cast<std::size_t>(rows));
  const std::int64_t counted = count_labels(rows, classes, labels);
  parallel_ranges(pool, rows, rows_per_chunk(classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const bool ignored = labels[r] == kIgnoredLabel;
      losses[r] =
          ignored ? 0.0 : HWY_DYNAMIC_DISPATCH(row_loss)(classes, logits + r * classes, labels[r]);
    }
  });
  double sum = 0.0;
  for (std::int64_t r = 0; r < rows; ++r) sum += losses[r];
  return static_cast<float>(sum / static_cast<double>(counted));
}

void cross_entropy_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t classes,
                            const float* logits, const std::int64_t* labels, float dloss,
                            float* dlogits) {
  const std::int64_t counted = count_labels(rows, classes, labels);
  const float scale = dloss / static_cast<float>(std::max<std::int64_t>(1, counted));
  parallel_ranges(pool, rows, rows_per_chunk(classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      float* const gradient = dlogits + r * classes;
      if (labels[r] == kIgnoredLabel) {
        std::fill_n(gradient, classes, 0.0f);
      } else {
        HWY_DYNAMIC_DISPATCH(row_gradient)
        (classes, logits + r * classes, labels[r], scale, gradient);
      }
    }
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
