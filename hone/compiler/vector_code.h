#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "hone/ir/formula.h"

namespace hone::compiler {

/// How the elements of an operand lie along the innermost loop.
enum class OperandKind : std::uint8_t {
  values,          ///< floats, one behind the other
  repeated_value,  ///< one float
  truths,          ///< bytes of 0 and 1, one behind the other
  repeated_truth,  ///< one byte
};

inline bool is_truth(OperandKind kind) {
  return kind == OperandKind::truths || kind == OperandKind::repeated_truth;
}
inline bool is_repeated(OperandKind kind) {
  return kind == OperandKind::repeated_value || kind == OperandKind::repeated_truth;
}

/// A function as LLVM's text that computes formulas of rows of elements, in vectors of `lanes` floats with a masked one at the
/// end of each row. Everything is in fp32: products that are added are fused with the addition, constants and divisors that are
/// constants rounded once; exp, erf and tanh are the polynomials of hone/kernels/math-inl.h, with its errors. The same bits for
/// any number of lanes.
std::string vector_code(const FormulaSteps& formulas, std::span<const OperandKind> operands,
                        int lanes, std::string_view name);

/// That function. `operand_row_bytes`: how far apart the rows of each operand are; those of results lie one behind the other.
using VectorFunction = void (*)(const void* const* operands, float* const* results,
                                const std::int64_t* operand_row_bytes, std::int64_t rows,
                                std::int64_t columns);

}  // namespace hone::compiler
