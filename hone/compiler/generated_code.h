#pragma once

#include <span>
#include <string>
#include <vector>

#include "hone/compiler/vector_code.h"
#include "hone/runtime/kernel.h"

/// The code of formulas: generated when it is asked for the first time on a machine, kept in its cache (object_cache.h), and
/// loaded once in a process.
namespace hone::compiler {

/// Code of one formula for operands that lie so.
struct GeneratedCode {
  std::vector<OperandKind> operands;
  VectorFunction function = nullptr;
};

/// What has become of code in this process.
struct CodeCounts {
  std::int64_t compiled = 0;  ///< was not in the machine's cache
  std::int64_t loaded = 0;    ///< those and the others
  double seconds = 0;         ///< that it took
};
CodeCounts code_counts();

/// How the operands of calls lie whose types are these: what is of extent 1 where the results are longer is repeated.
std::vector<OperandKind> operand_kinds(const CallSite& site);

/// What is generated for operands that lie so, as LLVM's text.
std::string generated_text(const std::string& formulas, std::span<const OperandKind> operands);

/// The code for operands that lie so; made when there is none. Any thread may ask. `formulas`: their text, whose operands
/// these are.
const GeneratedCode& code_of(const std::string& formulas, std::span<const OperandKind> operands);

/// The code of these formulas for operands that lie so, or else otherwise but are of the same types; null where there is
/// none.
const GeneratedCode* known_code(const std::string& formulas, std::span<const OperandKind> operands);

}  // namespace hone::compiler
