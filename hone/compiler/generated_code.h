#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/compiler/vector_code.h"
#include "hone/runtime/kernel.h"

/// Code generated for formulas: compiled on first use on a machine, kept in its cache (object_cache.h), and loaded
/// once per process.
namespace hone::compiler {

/// Code of one formula for operands of these kinds.
struct GeneratedCode {
  std::vector<OperandKind> operands;
  VectorFunction function = nullptr;
};

/// Statistics of the code used in this process.
struct CodeCounts {
  std::int64_t compiled = 0;  ///< missing from the machine's cache
  std::int64_t loaded = 0;    ///< including those
  double seconds = 0;         ///< spent on both
};
CodeCounts code_counts();

/// Returns the kinds of operands of calls with these types. An operand of extent 1 is repeated where the results are
/// longer.
std::vector<OperandKind> operand_kinds(const CallSite& site);

/// Returns the LLVM IR generated for operands of these kinds.
std::string generated_text(const std::string& formulas, std::span<const OperandKind> operands);

/// Returns the code for operands of these kinds, compiling it if needed. `formulas` is the text of the formulas.
/// Thread-safe.
const GeneratedCode& code_of(const std::string& formulas, std::span<const OperandKind> operands);

/// Returns the code of these formulas for operands of these kinds, or else for other kinds with the same types; null
/// if there is none.
const GeneratedCode* known_code(const std::string& formulas, std::span<const OperandKind> operands);

}  // namespace hone::compiler
