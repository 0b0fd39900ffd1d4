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

// Returns log(sum of e^logits) - logits[label].
double row_loss(std::int64_t classes, const float* logits, std::int64_t label) {
  const float maximum = row_maximum(classes, logits);
  const auto ignore = [](std::int64_t, auto, auto) {};
  const float sum = sum_of_exponentials(classes, logits, maximum, ignore);
  return std::log(double{sum}) + (double{maximum} - double{logits[label]});
}

// Computes gradient = scale (softmax(logits) - one_hot(label)).
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

/// The weight of each row: that of its class, 1 without class weights, 0 if the row is ignored.
class RowWeights {
 public:
  RowWeights(const std::int64_t* labels, const float* class_weights)
      : labels_(labels), class_weights_(class_weights) {}

  double operator[](std::int64_t row) const {
    if (labels_[row] == kIgnoredLabel) return 0;
    return class_weights_ == nullptr ? 1 : double{class_weights_[labels_[row]]};
  }
  double sum(std::int64_t rows, std::int64_t classes) const {
    double sum = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      HONE_ASSERT(labels_[r] == kIgnoredLabel || (labels_[r] >= 0 && labels_[r] < classes),
                  "label {} of row {}, classes {}", labels_[r], r, classes);
      sum += (*this)[r];
    }
    return sum;
  }

 private:
  const std::int64_t* labels_;
  const float* class_weights_;
};

}  // namespace

float cross_entropy(ThreadPool& pool, std::int64_t rows, std::int64_t classes, const float* logits,
                    const std::int64_t* labels, const float* class_weights) {
  static thread_local Scratch scratch;
  double* const losses = scratch.doubles(static_cast<std::size_t>(rows));
  const RowWeights weights(labels, class_weights);
  const double sum_of_weights = weights.sum(rows, classes);
  parallel_ranges(pool, rows, rows_per_chunk(classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const bool ignored = labels[r] == kIgnoredLabel;
      losses[r] = ignored ? 0.0
                          : weights[r] * HWY_DYNAMIC_DISPATCH(row_loss)(
                                             classes, logits + r * classes, labels[r]);
    }
  });
  double sum = 0.0;
  for (std::int64_t r = 0; r < rows; ++r) sum += losses[r];
  return static_cast<float>(sum / sum_of_weights);
}

void cross_entropy_gradient(ThreadPool& pool, std::int64_t rows, std::int64_t classes,
                            const float* logits, const std::int64_t* labels, float dloss,
                            float* dlogits, const float* class_weights) {
  const RowWeights weights(labels, class_weights);
  const double sum_of_weights = weights.sum(rows, classes);
  parallel_ranges(pool, rows, rows_per_chunk(classes), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      float* const gradient = dlogits + r * classes;
      if (labels[r] == kIgnoredLabel) {
        std::fill_n(gradient, classes, 0.0f);
      } else {
        const auto scale = static_cast<float>(dloss * weights[r] / sum_of_weights);
        HWY_DYNAMIC_DISPATCH(row_gradient)
        (classes, logits + r * classes, labels[r], scale, gradient);
      }
    }
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
