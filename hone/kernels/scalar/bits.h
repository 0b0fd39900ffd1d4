#pragma once

#include <cmath>
#include <cstdint>

/// Numbers as bits. The files in hone/kernels/scalar are compiled for the host and by NVRTC for GPUs
/// (hone/cuda/source), so that both give the same bits. They contain only plain functions of plain values, and call
/// only functions of the standard library that are exact, or harmless where a comment says so.
namespace hone::scalar {

#ifdef __CUDACC_RTC__
inline std::uint32_t bits_of(float x) { return __float_as_uint(x); }
inline float float_of(std::uint32_t bits) { return __uint_as_float(bits); }
inline std::uint64_t bits_of(double x) {
  return static_cast<std::uint64_t>(__double_as_longlong(x));
}
inline double double_of(std::uint64_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
#else
inline std::uint32_t bits_of(float x) { return __builtin_bit_cast(std::uint32_t, x); }
inline float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }
inline std::uint64_t bits_of(double x) { return __builtin_bit_cast(std::uint64_t, x); }
inline double double_of(std::uint64_t bits) { return __builtin_bit_cast(double, bits); }
#endif

constexpr std::uint32_t kInfinityBits = 0x7f800000;
constexpr std::uint32_t kSignBit = 0x80000000;

inline float not_a_number() { return float_of(0x7fc00000); }
inline float infinity() { return float_of(kInfinityBits); }

/// Returns the bits of |x|, which order NaN above infinity and infinity above finite numbers.
inline std::uint32_t magnitude_bits(float x) { return bits_of(x) & ~kSignBit; }
inline bool is_finite(float x) { return magnitude_bits(x) < kInfinityBits; }
inline bool is_nan(float x) { return magnitude_bits(x) > kInfinityBits; }
inline bool is_negative(float x) { return (bits_of(x) & kSignBit) != 0; }

/// Returns `magnitude`, whose sign bit is 0, with the sign of x.
inline float with_sign_of(float magnitude, float x) {
  return float_of(bits_of(magnitude) | (bits_of(x) & kSignBit));
}

/// Returns NaN for NaN, like std::clamp.
template <typename T>
inline T clamped(T x, T lowest, T highest) {
  return x < lowest ? lowest : highest < x ? highest : x;
}
template <typename T>
inline T smaller(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
inline T larger(T a, T b) {
  return a < b ? b : a;
}

/// Returns 2^exponent, -1022 <= exponent <= 1023. Products with it are exact unless they are too small for a double.
inline double power(int exponent) {
  return double_of(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// Returns 2^exponent as a float; infinity if too large, zero if too small.
inline float float_power(int exponent) {
  if (exponent > 127) return infinity();
  if (exponent >= -126) return float_of(static_cast<std::uint32_t>(exponent + 127) << 23);
  return exponent >= -149 ? float_of(1u << (exponent + 149)) : 0.0f;
}

/// Returns floor(log2 x) of a positive float, also subnormal, converted to double; -1023 for zero.
inline int binade(double x) { return static_cast<int>(bits_of(x) >> 52) - 1023; }

}  // namespace hone::scalar
