// Operations of a training step on parameters, gradients and moments.
#include "numbers.cuh"

// ---- sum = sum + x, or x if `first` is not 0

template <int kCount>
inline void run_accumulate(float* sum, const float* x, const std::int64_t* first,
                           std::int64_t count) {
  using Values = Pack<float, kCount>;
  const bool is_first = *first != 0;
  const std::int64_t at = thread_number() * kCount;
  if (at + kCount <= count) {
    Values values = *reinterpret_cast<const Values*>(x + at);
    if (!is_first) {
      const Values before = *reinterpret_cast<const Values*>(sum + at);
#pragma unroll
      for (int i = 0; i < kCount; ++i) values.at[i] = before.at[i] + values.at[i];
    }
    *reinterpret_cast<Values*>(sum + at) = values;
  } else {
    for (std::int64_t i = at; i < count; ++i) sum[i] = is_first ? x[i] : sum[i] + x[i];
  }
}

extern "C" __global__ void accumulate(float* sum, const float* x, const std::int64_t* first,
                                      std::int64_t count) {
  run_accumulate<4>(sum, x, first, count);
}
extern "C" __global__ void accumulate_unaligned(float* sum, const float* x,
                                                const std::int64_t* first, std::int64_t count) {
  run_accumulate<1>(sum, x, first, count);
}

// ---- the norm of many tensors: a block sums the squares of a chunk of one, then one block their sums

constexpr int kTensors = 128;
constexpr std::int64_t kChunk = 16384;

struct Tensors {
  int count;
  const float* data[kTensors];
  std::int64_t sizes[kTensors];
  std::int64_t first_chunks[kTensors];
};

// Returns the sum over the threads of a block, whose number is a power of two, to its first thread.
inline double sum_of_block(double value) {
  __shared__ double sums[1024];
  sums[threadIdx.x] = value;
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  return sums[threadIdx.x];
}

// Squares of floats are exact in double.
inline double add_square(double sum, float x) { return __fma_rn(double(x), double(x), sum); }

extern "C" __global__ void sum_squares(const __grid_constant__ Tensors tensors, double* sums) {
  const std::int64_t chunk = blockIdx.x;
  int tensor = 0;  // the last that begins no later than the chunk
  for (int step = kTensors / 2; step > 0; step /= 2) {
    const int next = tensor + step;
    if (next < tensors.count && tensors.first_chunks[next] <= chunk) tensor = next;
  }
  const std::int64_t begin = (chunk - tensors.first_chunks[tensor]) * kChunk;
  const std::int64_t rest = tensors.sizes[tensor] - begin, count = rest < kChunk ? rest : kChunk;
  const float* const x = tensors.data[tensor] + begin;
  double sum = 0;
  std::int64_t summed = 0;
  if (reinterpret_cast<std::uint64_t>(x) % 16 == 0) {
    summed = count / 4 * 4;
#pragma unroll 4
    for (std::int64_t i = threadIdx.x * 4; i < summed; i += blockDim.x * 4) {
      const Pack<float, 4> values = *reinterpret_cast<const Pack<float, 4>*>(x + i);
#pragma unroll
      for (int k = 0; k < 4; ++k) sum = add_square(sum, values.at[k]);
    }
  }
  for (std::int64_t i = summed + threadIdx.x; i < count; i += blockDim.x) sum = add_square(sum, x[i]);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) sums[chunk] = sum;
}

extern "C" __global__ void norm_of_sums(const double* sums, std::int64_t count, float* norm) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += sums[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *norm = float(sqrt(sum));
}

// ---- AdamW, see hone/kernels/adamw.cpp

struct AdamWOptions {
  double beta1, beta2, eps, weight_decay, max_grad_norm;
};

struct AdamWFactors {
  float gradient_scale, decay, one_minus_beta1, beta2, one_minus_beta2, step_size,
      reciprocal_second_scale, eps;
};

inline double power(double base, std::int64_t exponent) {
  double product = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) product *= base;
    base *= base;
  }
  return product;
}

inline AdamWFactors factors_of(const AdamWOptions& options, double norm, double learning_rate,
                               std::int64_t step) {
  const double ratio = options.max_grad_norm / (norm + 1e-6);
  const double first_scale = 1 - power(options.beta1, step);
  const double second_scale = 1 - power(options.beta2, step);
  return {options.max_grad_norm > 0 && ratio < 1 ? float(ratio) : 1.0f,
          float(learning_rate * options.weight_decay),
          float(1 - options.beta1),
          float(options.beta2),
          float(1 - options.beta2),
          float(learning_rate / first_scale),
          float(1 / sqrt(second_scale)),
          float(options.eps)};
}

// Flushes subnormal numbers to 0.
inline float normal_or_zero(float x) { return fabsf(x) < 1.17549435e-38f ? 0.0f : x; }

template <int kCount>
struct AdamWState {
  Pack<float, kCount> gradient, parameter, m, v;
};

template <int kCount>
inline AdamWState<kCount> adamw_step(const AdamWFactors& factors,
                                     const AdamWState<kCount>& before) {
  AdamWState<kCount> after;
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const float g = before.gradient.at[i] * factors.gradient_scale;
    const float old_m = before.m.at[i], old_parameter = before.parameter.at[i];
    const float m = fmaf(g - old_m, factors.one_minus_beta1, old_m);
    const float v = fmaf(g * g, factors.one_minus_beta2, before.v.at[i] * factors.beta2);
    const float deviation = fmaf(sqrtf(v), factors.reciprocal_second_scale, factors.eps);
    // Decay alone may be too small to change the parameter; together they are rounded once.
    const float update = fmaf(factors.step_size, m / deviation, factors.decay * old_parameter);
    after.m.at[i] = normal_or_zero(m);
    after.v.at[i] = normal_or_zero(v);
    after.parameter.at[i] = old_parameter - update;
  }
  return after;
}

template <int kCount>
inline void run_adamw(const AdamWOptions& options, float* parameter, const float* gradient,
                      float* m, float* v, const float* norm, const float* learning_rate,
                      const std::int64_t* step, std::int64_t count) {
  using Values = Pack<float, kCount>;
  const auto read = [](const float* from, std::int64_t at) {
    return *reinterpret_cast<const Values*>(from + at);
  };
  const auto write = [](float* to, std::int64_t at, const Values& values) {
    *reinterpret_cast<Values*>(to + at) = values;
  };
  const std::int64_t whole = count / kCount * kCount, stride = all_threads() * kCount;
  std::int64_t at = thread_number() * kCount;
  AdamWState<kCount> state = {};
  const auto read_state = [&] {
    if (at < whole) state = {read(gradient, at), read(parameter, at), read(m, at), read(v, at)};
  };
  read_state();  // loads while one thread computes the factors

  __shared__ AdamWFactors shared_factors;
  if (threadIdx.x == 0)
    shared_factors = factors_of(options, double(*norm), double(*learning_rate), *step);
  __syncthreads();
  const AdamWFactors factors = shared_factors;

  while (at < whole) {
    const AdamWState<kCount> after = adamw_step(factors, state);
    write(m, at, after.m);
    write(v, at, after.v);
    write(parameter, at, after.parameter);
    at += stride;
    read_state();
  }
  // The first threads process the rest, which is less than one pack.
  const std::int64_t i = whole + thread_number();
  if (i >= count) return;
  const AdamWState<1> last =
      adamw_step<1>(factors, {{{gradient[i]}}, {{parameter[i]}}, {{m[i]}}, {{v[i]}}});
  m[i] = last.m.at[0];
  v[i] = last.v.at[0];
  parameter[i] = last.parameter.at[0];
}

extern "C" __global__ void adamw(AdamWOptions options, float* parameter, const float* gradient,
                                 float* m, float* v, const float* norm, const float* learning_rate,
                                 const std::int64_t* step, std::int64_t count) {
  run_adamw<4>(options, parameter, gradient, m, v, norm, learning_rate, step, count);
}
extern "C" __global__ void adamw_unaligned(AdamWOptions options, float* parameter,
                                           const float* gradient, float* m, float* v,
                                           const float* norm, const float* learning_rate,
                                           const std::int64_t* step, std::int64_t count) {
  run_adamw<1>(options, parameter, gradient, m, v, norm, learning_rate, step, count);
}
