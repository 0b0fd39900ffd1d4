#pragma once

#include <cstdint>

/// What a product does to its sums before it is done with them, one part of the result after the other while that lies in
/// the first cache.
namespace hone::kernels {

enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, tanh };

/// C = activation(sums + bias) + residual; with `accumulate`, C's own values are among the sums. Each step rounds as a
/// kernel of its own does, so the bits are those of one step after the other.
struct Epilogue {
  const float* bias = nullptr;  ///< (N), added to every row; none when null.
  bool accumulate = false;      ///< Adds to what C holds instead of overwriting it.
  Activation activation = Activation::none;
  const float* residual = nullptr;  ///< (M,N); none when null. It must not overlap C.
  std::int64_t residual_stride = 0;

  /// Whether anything is left to be done when sums and bias are in C.
  bool goes_on() const { return activation != Activation::none || residual != nullptr; }
};

}  // namespace hone::kernels
