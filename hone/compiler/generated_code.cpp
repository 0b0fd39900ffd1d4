#include "hone/compiler/generated_code.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <map>
#include <mutex>
#include <unordered_map>

#include "hone/base/hash.h"
#include "hone/compiler/machine_code.h"
#include "hone/compiler/object_cache.h"

namespace hone::compiler {
namespace {

/// The code loaded in this process. Addresses stay valid.
struct Table {
  std::mutex mutex;
  // By number of lanes, since the code depends on it and a test may use several; and by formulas.
  std::map<int, std::unordered_map<std::string, std::list<GeneratedCode>>> codes;
  CodeCounts counts;
};

Table& table() {
  static Table shared;
  return shared;
}

constexpr std::string_view kPlace = "formula";  // name of the function until its text is known

std::string text_of(const std::string& formulas, std::span<const OperandKind> operands,
                    std::string_view name) {
  return vector_code(FormulaSteps(parse_formulas(formulas)), operands, vector_lanes(), name);
}

// Returns a name that depends on everything that could change the code: the text contains the formula, the kinds of
// operands and the lanes.
std::string name_of(const std::string& formulas, std::span<const OperandKind> operands) {
  Fingerprint print;
  print.add(llvm_version());
  print.add(text_of(formulas, operands, kPlace));
  return "formula_" + print.text();
}

VectorFunction make(const std::string& formulas, std::span<const OperandKind> operands,
                    CodeCounts& counts) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name = name_of(formulas, operands);
  std::optional<std::string> object = cached_object(name);
  if (!object) {
    object = compile_object(text_of(formulas, operands, name), vector_lanes());
    cache_object(name, *object);
    ++counts.compiled;
  }
  const auto function = reinterpret_cast<VectorFunction>(load_object(*object, name));
  ++counts.loaded;
  counts.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return function;
}

std::list<GeneratedCode>& codes_of(const std::string& formulas) {
  return table().codes[vector_lanes()][formulas];
}

auto of_operands(std::span<const OperandKind> operands) {
  return
      [operands](const GeneratedCode& code) { return std::ranges::equal(code.operands, operands); };
}

}  // namespace

CodeCounts code_counts() {
  const std::scoped_lock lock(table().mutex);
  return table().counts;
}

std::vector<OperandKind> operand_kinds(const CallSite& site) {
  // The innermost dimension that may be longer than 1.
  const Shape& shape = site.outputs[0].shape;
  const auto inner =
      std::find_if(shape.rbegin(), shape.rend(), [](const Dim& dim) { return dim != Dim(1); });
  const auto from_end = static_cast<std::size_t>(inner - shape.rbegin());
  std::vector<OperandKind> kinds;
  for (const Type& type : site.inputs) {
    const bool repeated =
        inner != shape.rend() &&
        (type.shape.size() <= from_end || type.shape[type.shape.size() - 1 - from_end] == Dim(1));
    const bool truth = type.dtype == DType::boolean;
    kinds.push_back(truth ? (repeated ? OperandKind::repeated_truth : OperandKind::truths)
                          : (repeated ? OperandKind::repeated_value : OperandKind::values));
  }
  return kinds;
}

std::string generated_text(const std::string& formulas, std::span<const OperandKind> operands) {
  return text_of(formulas, operands, kPlace);
}

const GeneratedCode& code_of(const std::string& formulas, std::span<const OperandKind> operands) {
  const std::scoped_lock lock(table().mutex);
  std::list<GeneratedCode>& codes = codes_of(formulas);
  const auto found = std::ranges::find_if(codes, of_operands(operands));
  if (found != codes.end()) return *found;
  const VectorFunction function = make(formulas, operands, table().counts);
  return codes.emplace_back(GeneratedCode{{operands.begin(), operands.end()}, function});
}

const GeneratedCode* known_code(const std::string& formulas,
                                std::span<const OperandKind> operands) {
  const std::scoped_lock lock(table().mutex);
  const std::list<GeneratedCode>& codes = codes_of(formulas);
  const auto found = std::ranges::find_if(codes, of_operands(operands));
  if (found != codes.end()) return &*found;
  const auto of_same_types = std::ranges::find_if(codes, [&](const GeneratedCode& code) {
    return std::ranges::equal(code.operands, operands, {}, is_bool_operand, is_bool_operand);
  });
  return of_same_types != codes.end() ? &*of_same_types : nullptr;
}

}  // namespace hone::compiler
