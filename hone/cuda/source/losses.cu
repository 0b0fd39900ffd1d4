// Losses and their gradients. Terms are added in double. If there are several blocks, each stores two sums, of losses
// and of weights, from which `finish_loss` computes the loss. A label outside of the classes or an invalid target makes
// the loss NaN.
#include "groups.cuh"

constexpr std::int64_t kIgnored = -100;

struct Sums {
  double loss, weight;
};

// Returns a row's weight: that of its class, 1 without class weights, 0 if the row is ignored.
inline double weight_of(std::int64_t label, std::int64_t classes, const float* class_weights) {
  if (label == kIgnored) return 0;
  if (label < 0 || label >= classes) return double(not_a_number());
  return class_weights == nullptr ? 1 : double(class_weights[label]);
}

inline int thread_of_block() { return threadIdx.y * blockDim.x + threadIdx.x; }
inline int threads_of_block() { return blockDim.x * blockDim.y; }

// Returns the sum of the weights of all rows. Each block computes it, or, with many rows, one block for all.
inline double sum_of_weights(std::int64_t rows, std::int64_t classes, const std::int64_t* labels,
                             const float* class_weights) {
  double sum = 0;
#pragma unroll 4
  for (std::int64_t row = thread_of_block(); row < rows; row += threads_of_block())
    sum += weight_of(labels[row], classes, class_weights);
  return Block::sum(sum);
}

extern "C" __global__ void add_weights(std::int64_t rows, std::int64_t classes, const std::int64_t* labels,
                                       const float* class_weights, double* sum) {
  const double all = sum_of_weights(rows, classes, labels, class_weights);
  if (thread_of_block() == 0) *sum = all;
}

// A single block stores the loss itself.
inline void leave_sums(Sums sums, Sums* partials, float* loss) {
  sums = {Block::sum(sums.loss), Block::sum(sums.weight)};
  if (thread_of_block() != 0) return;
  if (gridDim.x == 1) {
    *loss = float(sums.loss / sums.weight);
  } else {
    partials[blockIdx.x] = sums;
  }
}

extern "C" __global__ void finish_loss(std::int64_t blocks, const Sums* partials, float* loss) {
  Sums sums = {0, 0};
  for (std::int64_t i = threadIdx.x; i < blocks; i += blockDim.x) {
    sums.loss += partials[i].loss;
    sums.weight += partials[i].weight;
  }
  sums = {Block::sum(sums.loss), Block::sum(sums.weight)};
  if (threadIdx.x == 0) *loss = float(sums.loss / sums.weight);
}

// ---- rows of classes, by groups: warps for few classes, blocks for many

struct Exponentials {
  float maximum, sum;
  double log_sum() const { return double(maximum) + log(double(sum)); }
};

template <typename Group>
Exponentials exponentials(std::int64_t classes, const VALUE* logits) {
  float maximum = lowest(), sum = 0;
  for (std::int64_t c = threadIdx.x; c < classes; c += Group::size()) maximum = fmaxf(maximum, to_float(logits[c]));
  maximum = Group::maximum(maximum);
  for (std::int64_t c = threadIdx.x; c < classes; c += Group::size()) sum += expf(to_float(logits[c]) - maximum);
  return {maximum, Group::sum(sum)};
}

template <typename Group>
void cross_entropy(std::int64_t rows, std::int64_t classes, const VALUE* logits, const std::int64_t* labels,
                   const float* class_weights, Sums* partials, float* loss) {
  Sums sums = {0, 0};
  for (std::int64_t row = Group::group(); row < rows; row += Group::groups()) {
    const std::int64_t label = labels[row];
    const double weight = weight_of(label, classes, class_weights);
    const double log_sum = exponentials<Group>(classes, logits + row * classes).log_sum();
    if (threadIdx.x != 0 || label == kIgnored) continue;
    sums.weight += weight;
    sums.loss += isnan(weight) ? weight : weight * (log_sum - double(to_float(logits[row * classes + label])));
  }
  leave_sums(sums, partials, loss);
}

template <typename Group>
void cross_entropy_gradient(std::int64_t rows, std::int64_t classes, const VALUE* logits, const std::int64_t* labels,
                            const float* dloss, const float* class_weights, const double* weights, VALUE* dlogits) {
  const double all = weights != nullptr ? *weights : sum_of_weights(rows, classes, labels, class_weights);
  for (std::int64_t row = Group::group(); row < rows; row += Group::groups()) {
    const std::int64_t label = labels[row];
    const VALUE* const from = logits + row * classes;
    VALUE* const to = dlogits + row * classes;
    const Exponentials e = exponentials<Group>(classes, from);
    const float factor = float(double(*dloss) * weight_of(label, classes, class_weights) / all);
    for (std::int64_t c = threadIdx.x; c < classes; c += Group::size()) {
      const float probability = expf(to_float(from[c]) - e.maximum) / e.sum;
      to[c] = from_float<VALUE>(label == kIgnored ? 0.0f : (probability - (c == label ? 1.0f : 0.0f)) * factor);
    }
  }
}

template <typename Group>
void soft_cross_entropy(std::int64_t rows, std::int64_t classes, const VALUE* logits, const VALUE* targets,
                        const std::int64_t* labels, const float* class_weights, Sums* partials, float* loss) {
  Sums sums = {0, 0};
  for (std::int64_t row = Group::group(); row < rows; row += Group::groups()) {
    const double weight = weight_of(labels[row], classes, class_weights);
    const double log_sum = exponentials<Group>(classes, logits + row * classes).log_sum();
    if (threadIdx.x == 0) sums.weight += weight;
    if (weight == 0) continue;
    for (std::int64_t c = threadIdx.x; c < classes; c += Group::size())
      sums.loss += weight * double(to_float(targets[row * classes + c])) *
                   (log_sum - double(to_float(logits[row * classes + c])));
  }
  leave_sums(sums, partials, loss);
}

template <typename Group>
void soft_cross_entropy_gradient(std::int64_t rows, std::int64_t classes, const VALUE* logits, const VALUE* targets,
                                 const std::int64_t* labels, const float* dloss, const float* class_weights,
                                 const double* weights, VALUE* dlogits) {
  const double all = weights != nullptr ? *weights : sum_of_weights(rows, classes, labels, class_weights);
  for (std::int64_t row = Group::group(); row < rows; row += Group::groups()) {
    const VALUE *const from = logits + row * classes, *const wanted = targets + row * classes;
    const Exponentials e = exponentials<Group>(classes, from);
    double whole = 0;
    for (std::int64_t c = threadIdx.x; c < classes; c += Group::size()) whole += double(to_float(wanted[c]));
    whole = Group::sum(whole);
    const double factor = double(*dloss) * (weight_of(labels[row], classes, class_weights) / all);
    for (std::int64_t c = threadIdx.x; c < classes; c += Group::size()) {
      const float probability = expf(to_float(from[c]) - e.maximum) / e.sum;
      dlogits[row * classes + c] =
          from_float<VALUE>(float(factor * (whole * double(probability) - double(to_float(wanted[c])))));
    }
  }
}

// GROUP is Warp or Block.
extern "C" __global__ void row_loss(std::int64_t rows, std::int64_t classes, const VALUE* logits,
                                    const std::int64_t* labels, const float* class_weights, Sums* partials,
                                    float* loss) {
  cross_entropy<GROUP>(rows, classes, logits, labels, class_weights, partials, loss);
}
extern "C" __global__ void row_loss_gradient(std::int64_t rows, std::int64_t classes, const VALUE* logits,
                                             const std::int64_t* labels, const float* dloss, const float* class_weights,
                                             const double* weights, VALUE* dlogits) {
  cross_entropy_gradient<GROUP>(rows, classes, logits, labels, dloss, class_weights, weights, dlogits);
}
extern "C" __global__ void soft_row_loss(std::int64_t rows, std::int64_t classes, const VALUE* logits,
                                         const VALUE* targets, const std::int64_t* labels, const float* class_weights,
                                         Sums* partials, float* loss) {
  soft_cross_entropy<GROUP>(rows, classes, logits, targets, labels, class_weights, partials, loss);
}
extern "C" __global__ void soft_row_loss_gradient(std::int64_t rows, std::int64_t classes, const VALUE* logits,
                                                  const VALUE* targets, const std::int64_t* labels, const float* dloss,
                                                  const float* class_weights, const double* weights, VALUE* dlogits) {
  soft_cross_entropy_gradient<GROUP>(rows, classes, logits, targets, labels, dloss, class_weights, weights, dlogits);
}

// ---- elements

struct SquaredError {
  static bool may_be(double target) { return isfinite(target); }
  static double loss(double x, double target) { return (x - target) * (x - target); }
  static double slope(double x, double target) { return 2 * (x - target); }
};

// -(y log sigmoid(x) + (1 - y) log(1 - sigmoid(x)))
struct BinaryCrossEntropy {
  static bool may_be(double target) { return target >= 0 && target <= 1; }
  static double loss(double x, double target) { return fmax(x, 0.0) - x * target + log1p(exp(-fabs(x))); }
  static double slope(double x, double target) { return 1 / (1 + exp(-x)) - target; }
};

template <typename Kind>
void element_loss(std::int64_t count, const VALUE* x, const VALUE* targets, Sums* partials, float* loss) {
  Sums sums = {0, 0};
#pragma unroll 4
  for (std::int64_t i = thread_number(); i < count; i += all_threads()) {
    const double target = double(to_float(targets[i])), value = double(to_float(x[i]));
    sums.loss += Kind::may_be(target) ? Kind::loss(value, target) : double(not_a_number());
    sums.weight += 1;
  }
  leave_sums(sums, partials, loss);
}

template <typename Kind>
void element_loss_gradient(std::int64_t count, const VALUE* x, const VALUE* targets, const float* dloss, VALUE* dx) {
  const std::int64_t i = thread_number();
  if (i >= count) return;
  const double target = double(to_float(targets[i])), factor = double(*dloss) / double(count);
  dx[i] = from_float<VALUE>(Kind::may_be(target) ? float(factor * Kind::slope(double(to_float(x[i])), target))
                                                 : not_a_number());
}

extern "C" __global__ void mean_squared_error(std::int64_t count, const VALUE* x, const VALUE* targets, Sums* partials,
                                              float* loss) {
  element_loss<SquaredError>(count, x, targets, partials, loss);
}
extern "C" __global__ void mean_squared_error_gradient(std::int64_t count, const VALUE* x, const VALUE* targets,
                                                       const float* dloss, VALUE* dx) {
  element_loss_gradient<SquaredError>(count, x, targets, dloss, dx);
}
extern "C" __global__ void binary_cross_entropy(std::int64_t count, const VALUE* x, const VALUE* targets,
                                                Sums* partials, float* loss) {
  element_loss<BinaryCrossEntropy>(count, x, targets, partials, loss);
}
extern "C" __global__ void binary_cross_entropy_gradient(std::int64_t count, const VALUE* x, const VALUE* targets,
                                                         const float* dloss, VALUE* dx) {
  element_loss_gradient<BinaryCrossEntropy>(count, x, targets, dloss, dx);
}
