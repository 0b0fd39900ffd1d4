#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Element types of tensors.
namespace hone {

enum class DType : std::uint8_t { f32, f16, bf16, f64, i64, i32, i8, u8, boolean };

struct DTypeInfo {
  DType dtype;
  std::string_view name;         ///< in graph text and messages: "f32"
  std::string_view safetensors;  ///< in safetensors headers: "F32"
  std::size_t size_bytes;
  bool floating;
};

inline constexpr DTypeInfo kDTypes[] = {
    {DType::f32, "f32", "F32", 4, true},        {DType::f16, "f16", "F16", 2, true},
    {DType::bf16, "bf16", "BF16", 2, true},     {DType::f64, "f64", "F64", 8, true},
    {DType::i64, "i64", "I64", 8, false},       {DType::i32, "i32", "I32", 4, false},
    {DType::i8, "i8", "I8", 1, false},          {DType::u8, "u8", "U8", 1, false},
    {DType::boolean, "bool", "BOOL", 1, false},
};

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
static_assert([] {
  for (const DTypeInfo& row : kDTypes)
    if (&info(row.dtype) != &row) return false;
  return true;
}());

/// Returns the dtype called `name` in graph text. Throws `UserError` listing the known ones.
DType parse_dtype(std::string_view name);

/// IEEE half and bfloat16 are stored as bits; arithmetic uses f32.
struct Half {
  std::uint16_t bits;
};
struct BFloat16 {
  std::uint16_t bits;
};

/// Converts exactly.
float to_float(Half value);
float to_float(BFloat16 value);
/// Rounds to nearest, ties to even; overflows to infinity; NaN stays NaN.
Half to_half(float value);
BFloat16 to_bfloat16(float value);

template <typename T>
inline constexpr DType dtype_of = [] {
  static_assert(sizeof(T) == 0, "not an element type");
  return DType::f32;
}();
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<Half> = DType::f16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;

}  // namespace hone
