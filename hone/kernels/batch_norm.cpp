#include "hone/kernels/batch_norm.h"

#include <cmath>

#include "hone/kernels/grain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "hone/kernels/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hone/kernels/lane_sum-inl.h"
#include "hone/kernels/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace hone::kernels {
namespace HWY_NAMESPACE {
namespace {

// Calls body(offset) for the planes of a channel.
template <class Body>
HWY_INLINE void for_planes(const BatchNormShape& shape, std::int64_t channel, Body&& body) {
  for (std::int64_t n = 0; n < shape.batch; ++n)
    body((n * shape.channels + channel) * shape.pixels);
}

struct ChannelMoments {
  float mean;
  double squares;  // sum of squares around it
};

// Two passes, as in layer_norm.cpp; planes are added in double.
ChannelMoments channel_moments(const BatchNormShape& shape, std::int64_t channel, const float* x) {
  const Floats d;
  double sum = 0, squares = 0;
  for_planes(shape, channel, [&](std::int64_t at) HWY_ATTR {
    sum += static_cast<double>(sum_of_terms(shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
      return load(d, x + at + i, part);
    }));
  });
  const float mean = static_cast<float>(sum / static_cast<double>(shape.count()));
  for_planes(shape, channel, [&](std::int64_t at) HWY_ATTR {
    squares +=
        static_cast<double>(sum_of_terms(shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
          const auto centred =
              existing(d, hn::Sub(load(d, x + at + i, part), hn::Set(d, mean)), part);
          return hn::Mul(centred, centred);
        }));
  });
  return {mean, squares};
}

float reciprocal_deviation(double variance, float eps) {
  return static_cast<float>(1 / std::sqrt(variance + static_cast<double>(eps)));
}

void normalize_channel(const BatchNormShape& shape, std::int64_t channel, const float* x,
                       float mean, float factor, float beta, float* y) {
  const Floats d;
  for_planes(shape, channel, [&](std::int64_t at) HWY_ATTR {
    for_vectors(d, shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto centred = hn::Sub(load(d, x + at + i, part), hn::Set(d, mean));
      store(hn::MulAdd(centred, hn::Set(d, factor), hn::Set(d, beta)), d, y + at + i, part);
    });
  });
}

// Normalizes a channel and stores its mean and unbiased variance.
void train_channel(const BatchNormShape& shape, std::int64_t channel, const float* x, float gamma,
                   float beta, float eps, float* y, float* mean, float* variance) {
  const ChannelMoments m = channel_moments(shape, channel, x);
  const double count = static_cast<double>(shape.count());
  normalize_channel(shape, channel, x, m.mean, gamma * reciprocal_deviation(m.squares / count, eps),
                    beta, y);
  *mean = m.mean;
  *variance = static_cast<float>(m.squares / (count - 1));
}

void differentiate_channel(const BatchNormShape& shape, std::int64_t channel, const float* x,
                           float gamma, float eps, const float* dy, float* dx, float* dgamma,
                           float* dbeta) {
  const Floats d;
  const ChannelMoments m = channel_moments(shape, channel, x);
  const double count = static_cast<double>(shape.count());
  const float reciprocal = reciprocal_deviation(m.squares / count, eps);
  double sum = 0, product = 0;
  const auto xhat = [&](std::int64_t at, auto part) HWY_ATTR {
    return hn::Mul(hn::Sub(load(d, x + at, part), hn::Set(d, m.mean)), hn::Set(d, reciprocal));
  };
  for_planes(shape, channel, [&](std::int64_t at) HWY_ATTR {
    sum += static_cast<double>(sum_of_terms(shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
      return load(d, dy + at + i, part);
    }));
    // 0 in missing lanes, like dy
    product +=
        static_cast<double>(sum_of_terms(shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
          return hn::Mul(load(d, dy + at + i, part), xhat(at + i, part));
        }));
  });
  const auto mean_dy = hn::Set(d, static_cast<float>(sum / count)),
             mean_product = hn::Set(d, static_cast<float>(product / count)),
             factor = hn::Set(d, gamma * reciprocal);
  for_planes(shape, channel, [&](std::int64_t at) HWY_ATTR {
    for_vectors(d, shape.pixels, [&](std::int64_t i, auto part) HWY_ATTR {
      const auto centred = hn::NegMulAdd(xhat(at + i, part), mean_product,
                                         hn::Sub(load(d, dy + at + i, part), mean_dy));
      store(hn::Mul(centred, factor), d, dx + at + i, part);
    });
  });
  *dgamma = static_cast<float>(product);
  *dbeta = static_cast<float>(sum);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace hone::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace hone::kernels {
namespace {

HWY_EXPORT(normalize_channel);
HWY_EXPORT(train_channel);
HWY_EXPORT(differentiate_channel);

template <class Body>
void for_channels(ThreadPool& pool, const BatchNormShape& shape, Body&& body) {
  parallel_ranges(pool, shape.channels, rows_per_chunk(shape.count()),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t c = begin; c < end; ++c) body(c);
                  });
}

}  // namespace

void batch_norm(ThreadPool& pool, const BatchNormShape& shape, const float* x, const float* gamma,
                const float* beta, const float* mean, const float* variance, float eps, float* y) {
  for_channels(pool, shape, [&](std::int64_t c) {
    const double deviation = std::sqrt(static_cast<double>(variance[c]) + static_cast<double>(eps));
    HWY_DYNAMIC_DISPATCH(normalize_channel)
    (shape, c, x, mean[c], static_cast<float>(static_cast<double>(gamma[c]) / deviation), beta[c],
     y);
  });
}

void batch_norm_training(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, const float* beta, float eps, float* y, float* mean,
                         float* variance) {
  for_channels(pool, shape, [&](std::int64_t c) {
    HWY_DYNAMIC_DISPATCH(train_channel)
    (shape, c, x, gamma[c], beta[c], eps, y, mean + c, variance + c);
  });
}

void batch_norm_gradient(ThreadPool& pool, const BatchNormShape& shape, const float* x,
                         const float* gamma, float eps, const float* dy, float* dx, float* dgamma,
                         float* dbeta) {
  for_channels(pool, shape, [&](std::int64_t c) {
    HWY_DYNAMIC_DISPATCH(differentiate_channel)
    (shape, c, x, gamma[c], eps, dy, dx, dgamma + c, dbeta + c);
  });
}

}  // namespace hone::kernels
#endif  // HWY_ONCE
