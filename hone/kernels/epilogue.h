#pragma once

#include <cstdint>

/// Operations that a product applies to its sums, piece by piece while the result is in the L1 cache.
namespace hone::kernels {

enum class Activation : std::uint8_t { none, relu, gelu_erf, gelu_tanh, tanh };

/// Options of C = activation(sums + bias) + residual; with `accumulate`, C's own values are added to the sums. Each
/// step rounds like a separate kernel, so the bits are those of separate steps.
struct Epilogue {
  const float* bias = nullptr;  ///< (N), added to every row; none when null.
  bool accumulate = false;      ///< Adds to what C holds instead of overwriting it.
  Activation activation = Activation::none;
  const float* residual = nullptr;  ///< (M,N); none when null. It must not overlap C.
  std::int64_t residual_stride = 0;

  /// Returns whether steps remain once sums and bias are in C.
  bool has_more_steps() const { return activation != Activation::none || residual != nullptr; }
};

}  // namespace hone::kernels
