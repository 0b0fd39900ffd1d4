#pragma once

#include <cmath>

/// Formulas of element-wise operations, each written once as a template. GPUs instantiate them with floats, the records
/// of operations with `Formula` (hone/ir/formula.h), from which references and generated code follow. So functions and
/// comparisons are those of the type.
namespace hone::scalar {

template <typename T>
T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// ---- max(x, 0); NaN stays

template <typename T>
T relu(T x) {
  return select(x < 0, T(0), x);
}
template <typename T>
T relu_gradient(T y, T dy) {
  return select(y > 0, dy, T(0));
}

// ---- tanh, from its result

template <typename T>
T tanh_gradient(T y, T dy) {
  return dy * (1 - y * y);
}

// ---- x Phi(x)

inline constexpr double kSqrtOf2 = 1.4142135623730951;
inline constexpr double kSqrtOf2Pi = 2.5066282746310002;
inline constexpr double kSqrtOf2ByPi = 0.7978845608028654;
inline constexpr double kGeluCubic = 0.044715;

template <typename T>
T gelu_erf(T x) {
  using std::erf;
  return T(0.5) * x * (1 + erf(x / T(kSqrtOf2)));
}
template <typename T>
T gelu_erf_gradient(T x, T dy) {
  using std::erf;
  using std::exp;
  const T density = exp(T(-0.5) * x * x) / T(kSqrtOf2Pi);
  return dy * (T(0.5) * (1 + erf(x / T(kSqrtOf2))) + x * density);
}

template <typename T>
T tanh_of_gelu(T x) {
  using std::tanh;
  return tanh(T(kSqrtOf2ByPi) * (x + T(kGeluCubic) * x * x * x));
}
template <typename T>
T gelu_tanh(T x) {
  return T(0.5) * x * (1 + tanh_of_gelu(x));
}
template <typename T>
T gelu_tanh_gradient(T x, T dy) {
  const T t = tanh_of_gelu(x);
  return dy * (T(0.5) * (1 + t) +
               T(0.5) * x * (1 - t * t) * T(kSqrtOf2ByPi) * (1 + T(3 * kGeluCubic) * x * x));
}

// ---- x where it is kept, else 0

template <typename T, typename Condition>
T mask(T x, Condition kept) {
  return select(kept, x, T(0));
}

/// Returns dy where |x| >= least, else 0.
template <typename T>
T threshold_gradient(T x, T dy, T least) {
  using std::fabs;
  return select(fabs(x) < least, T(0), dy);
}
template <typename T>
T threshold(T x, T least) {
  return threshold_gradient(x, x, least);
}

}  // namespace hone::scalar
