// Pooling of a text's tokens to one vector, and normalization to length 1. Sums are double, since there are few texts.
#include "groups.cuh"

// ---- y = x / max(norm, eps), a warp per row

inline double product(std::int64_t length, const VALUE* a, const VALUE* b) {
  double sum = 0;
#pragma unroll 4
  for (std::int64_t c = threadIdx.x; c < length; c += 32) sum += double(to_float(a[c])) * double(to_float(b[c]));
  return Warp::sum(sum);
}

extern "C" __global__ void normalize(std::int64_t rows, std::int64_t length, double eps, const VALUE* x, VALUE* y) {
  const std::int64_t row = Warp::group();
  if (row >= rows) return;
  const VALUE* const from = x + row * length;
  const double norm = sqrt(product(length, from, from)), divisor = norm < eps ? eps : norm;
  for (std::int64_t c = threadIdx.x; c < length; c += 32)
    y[row * length + c] = from_float<VALUE>(float(double(to_float(from[c])) / divisor));
}

// dx = (dy - y sum(y dy)) / norm; dy / eps for rows that are shorter than eps
extern "C" __global__ void normalize_gradient(std::int64_t rows, std::int64_t length, double eps, const VALUE* x,
                                              const VALUE* dy, VALUE* dx) {
  const std::int64_t row = Warp::group();
  if (row >= rows) return;
  const VALUE *const from = x + row * length, *const slopes = dy + row * length;
  const double norm = sqrt(product(length, from, from)), divisor = norm < eps ? eps : norm;
  const double all = product(length, from, slopes), along = norm > eps ? all / (norm * norm) : 0;
  for (std::int64_t c = threadIdx.x; c < length; c += 32)
    dx[row * length + c] =
        from_float<VALUE>(float((double(to_float(slopes[c])) - double(to_float(from[c])) * along) / divisor));
}

// ---- the tokens of x (texts, tokens, width) that the mask sets, a thread per feature of a text

// NaN counts as the largest value, so that it propagates.
inline bool is_larger(float a, float b) { return a > b || (isnan(a) && !isnan(b)); }

// Returns the token with the largest element, the first one if several are equal; -1: the mask sets none.
inline std::int64_t largest(std::int64_t tokens, std::int64_t width, const VALUE* x, const std::int64_t* mask) {
  std::int64_t best = -1;
  float most = 0;
#pragma unroll 8
  for (std::int64_t s = 0; s < tokens; ++s) {
    const float value = to_float(x[s * width]);
    if (mask[s] == 0 || (best >= 0 && !is_larger(value, most))) continue;
    best = s;
    most = value;
  }
  return best;
}

// Returns the weight of a token in a sum.
inline double weight_of(bool is_mean, std::int64_t set) { return is_mean ? 1 / double(set) : 1 / sqrt(double(set)); }

enum Mode { mean = 0, mean_sqrt_len = 1, max_of_tokens = 2 };

extern "C" __global__ void pool_tokens(std::int64_t texts, std::int64_t tokens, std::int64_t width, int mode,
                                       const VALUE* __restrict__ x, const std::int64_t* __restrict__ mask,
                                       VALUE* __restrict__ y) {
  const std::int64_t number = thread_number();
  if (number >= texts * width) return;
  const std::int64_t text = number / width;
  const VALUE* const from = x + text * tokens * width + number % width;
  const std::int64_t* const own = mask + text * tokens;
  if (mode == max_of_tokens) {
    const std::int64_t best = largest(tokens, width, from, own);
    y[number] = best < 0 ? from_float<VALUE>(0.0f) : from[best * width];
    return;
  }
  double sum = 0;
  std::int64_t set = 0;
#pragma unroll 8
  for (std::int64_t s = 0; s < tokens; ++s) {
    const double value = double(to_float(from[s * width]));  // added only if the token is set
    set += own[s] != 0;
    if (own[s] != 0) sum += value;
  }
  y[number] = from_float<VALUE>(set == 0 ? 0.0f : float(sum * weight_of(mode == mean, set)));
}

extern "C" __global__ void pool_tokens_gradient(std::int64_t texts, std::int64_t tokens, std::int64_t width, int mode,
                                                const VALUE* __restrict__ x, const std::int64_t* __restrict__ mask,
                                                const VALUE* __restrict__ dy, VALUE* __restrict__ dx) {
  const std::int64_t number = thread_number();
  if (number >= texts * width) return;
  const std::int64_t text = number / width, first = text * tokens * width + number % width;
  const std::int64_t* const own = mask + text * tokens;
  if (mode == max_of_tokens) {
    const std::int64_t best = largest(tokens, width, x + first, own);
    for (std::int64_t s = 0; s < tokens; ++s) dx[first + s * width] = s == best ? dy[number] : from_float<VALUE>(0.0f);
    return;
  }
  std::int64_t set = 0;
#pragma unroll 8
  for (std::int64_t s = 0; s < tokens; ++s) set += own[s] != 0;
  const VALUE share = from_float<VALUE>(float(double(to_float(dy[number])) * weight_of(mode == mean, set)));
  for (std::int64_t s = 0; s < tokens; ++s) dx[first + s * width] = own[s] != 0 ? share : from_float<VALUE>(0.0f);
}
