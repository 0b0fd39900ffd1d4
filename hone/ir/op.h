#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hone/ir/attribute.h"
#include "hone/ir/formula.h"
#include "hone/ir/role.h"
#include "hone/ir/type.h"
#include "hone/tensor/tensor.h"

/// An operation is one record in one file: name, inputs, attributes, type rule, reference kernel, gradient, cost. No
/// other code refers to an operation by name.
namespace hone {

class Call;
class Node;
struct GradientContext;
struct Value;

/// A property of an operation that compilers rely on.
enum class Trait : std::uint8_t {
  element_wise,   ///< every output element depends on the elements at its position (broadcasting
                  ///< allowed)
  row_reduction,  ///< every output row depends on the input rows at its position
  contraction,    ///< sums of products
  view,           ///< output shares the input's memory
  gather,         ///< output elements are the input's, chosen by another input
  update,         ///< writes into an input's memory: optimizers
  other,
};

/// The input types and attributes: all that a type rule or a cost rule may use.
struct TypeContext {
  const std::vector<Type>& inputs;
  const Attributes& attributes;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  ///< formula with shapes
  std::vector<OperandDef> inputs = {};
  /// Returns the operands if the attributes decide them. Null: the operands are `inputs`.
  std::vector<OperandDef> (*inputs_of)(const Attributes&) = nullptr;
  /// Attributes with their defaults; `std::monostate` for required ones.
  Attributes attributes = {};
  Trait trait = Trait::other;
  /// Returns the trait if the attributes decide it. Null: `trait`. The trait ignores inputs read as states.
  Trait (*trait_of)(const TypeContext&) = nullptr;
  /// The input whose memory the first output may reuse if nothing else reads it and both have the same type. Kernels
  /// read each of its elements before they write the same position.
  std::optional<std::size_t> in_place = {};
  /// For views and updates: the input whose memory each output shares. Empty: the outputs have their own memory.
  std::vector<std::size_t> aliases = {};
  /// For views that never have gaps: an input with gaps is copied instead.
  bool closes_gaps = false;
  /// Returns the output types. Throws `UserError` if the inputs do not fit.
  std::vector<Type> (*infer)(const TypeContext&) = nullptr;
  /// For element-wise operations: each result as a formula of one element of each operand, with truth values as
  /// 0 and 1. Compilers generate code from it, and `of_formula` (hone/ops/of_formula.h) derives the missing fields of
  /// the record.
  std::vector<Formula> (*formula)(const Attributes&, std::span<const Formula> operands) = nullptr;
  /// Plain loops with double accumulation: the reference that every other kernel is tested against.
  void (*reference)(Call&) = nullptr;
  /// One gradient per input, an empty `Value` where there is none. Null: not differentiable.
  std::vector<Value> (*gradient)(GradientContext&) = nullptr;
  /// Returns the floating-point operations of one execution, with the symbols bound. Null: too few to count.
  double (*flops)(const TypeContext&, const Bindings&) = nullptr;
};

/// Returns the operands of an operation with these attributes.
std::vector<OperandDef> operands_of(const OpDef& op, const Attributes& attributes);

/// Returns the role of a node's input `index`.
OperandRole operand_role(const Node& node, std::size_t index);

/// The known operations by name. Graphs point to the records, whose addresses stay valid while the table lives.
using OpTable = std::map<std::string, OpDef, std::less<>>;

/// Returns the record of an operation. For an unknown one, throws `UserError` with the nearest name.
const OpDef& find_op(const OpTable& ops, std::string_view name);

}  // namespace hone
