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

/// An operation is one record in one file: name, inputs, attributes, type rule, reference kernel,
/// gradient, cost. Nothing else in the tree knows an operation by name.
namespace hone {

class Call;
class Node;
struct GradientContext;
struct Value;

/// What a compiler may assume of an operation.
enum class Trait : std::uint8_t {
  element_wise,   ///< every output element depends on the elements at its place (broadcasting
                  ///< allowed)
  row_reduction,  ///< every output row depends on the input rows at its place
  contraction,    ///< sums of products
  view,           ///< output shares the input's memory
  gather,         ///< output elements are the input's, chosen by another input
  update,         ///< writes into an input's memory: optimizers
  other,
};

/// Element types and shapes of the inputs, and the attributes: all a type rule or a cost rule sees.
struct TypeContext {
  const std::vector<Type>& inputs;
  const Attributes& attributes;
};

struct OpDef {
  std::string_view name;
  std::string_view summary;  ///< formula with shapes
  std::vector<OperandDef> inputs = {};
  /// Of operations whose attributes decide which operands there are. Null: they are `inputs`.
  std::vector<OperandDef> (*inputs_of)(const Attributes&) = nullptr;
  /// With defaults; `std::monostate` for those that must be given.
  Attributes attributes = {};
  Trait trait = Trait::other;
  /// Of operations whose attributes decide it. Null: it is `trait`. Inputs that are read as states stand outside of it.
  Trait (*trait_of)(const TypeContext&) = nullptr;
  /// The input whose memory the first output takes where nothing else reads it and both are of one type: kernels read an
  /// element of it for the last time before they write that place.
  std::optional<std::size_t> in_place = {};
  /// The inputs whose memory the outputs share, one for each output: of views and updates. Empty: they have their own.
  std::vector<std::size_t> aliases = {};
  /// Of views: an input with gaps is copied instead, for this output has none.
  bool closes_gaps = false;
  /// Output types. Throws `UserError` when the inputs do not fit.
  std::vector<Type> (*infer)(const TypeContext&) = nullptr;
  /// Of element-wise operations: each result as a formula of one element of each operand, where truth values are 0 and 1.
  /// What the record leaves out follows from it (`of_formula` of hone/ops/of_formula.h), and what a compiler generates.
  std::vector<Formula> (*formula)(const Attributes&, std::span<const Formula> operands) = nullptr;
  /// Plain loops with double accumulation; the truth every other kernel is compared with.
  void (*reference)(Call&) = nullptr;
  /// One gradient per input, an empty `Value` where there is none. Null: not differentiable.
  std::vector<Value> (*gradient)(GradientContext&) = nullptr;
  /// Floating-point operations of one run, with the symbols bound. Null: none worth counting.
  double (*flops)(const TypeContext&, const Bindings&) = nullptr;
};

/// The operands of an operation with these attributes.
std::vector<OperandDef> operands_of(const OpDef& op, const Attributes& attributes);

/// What a node reads its input `index` as.
OperandRole operand_role(const Node& node, std::size_t index);

/// The known operations by name. Addresses of the records stay valid while the table lives; graphs
/// point to them.
using OpTable = std::map<std::string, OpDef, std::less<>>;

/// The record of an operation. Throws `UserError` naming the nearest for an unknown one.
const OpDef& find_op(const OpTable& ops, std::string_view name);

}  // namespace hone
