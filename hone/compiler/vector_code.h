#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hone/ir/formula.h"

namespace hone::compiler {

/// Layout of an operand along the innermost loop.
enum class OperandKind : std::uint8_t {
  values,          ///< contiguous floats
  repeated_value,  ///< one float
  truths,          ///< contiguous bytes of 0 and 1
  repeated_truth,  ///< one byte
};

inline bool is_bool_operand(OperandKind kind) {
  return kind == OperandKind::truths || kind == OperandKind::repeated_truth;
}
inline bool is_repeated(OperandKind kind) {
  return kind == OperandKind::repeated_value || kind == OperandKind::repeated_truth;
}

/// Returns the LLVM IR of a function that computes formulas over rows of elements, in vectors of `lanes` floats, with
/// a masked vector at the end of each row. All arithmetic is in fp32. A sum of a product is a fused multiply-add;
/// constants and constant divisors are rounded once. exp, erf and tanh use the polynomials of
/// hone/kernels/math-inl.h, with the same errors. Results are bit-identical for any number of lanes.
std::string vector_code(const FormulaSteps& formulas, std::span<const OperandKind> operands,
                        int lanes, std::string_view name);

/// The type of that function. `operand_row_bytes` is the distance between rows of each operand; rows of results are
/// contiguous.
using VectorFunction = void (*)(const void* const* operands, float* const* results,
                                const std::int64_t* operand_row_bytes, std::int64_t rows,
                                std::int64_t columns);

}  // namespace hone::compiler
