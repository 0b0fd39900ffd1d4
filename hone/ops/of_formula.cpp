#include "hone/ops/of_formula.h"

#include <algorithm>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

namespace hone {
namespace {

std::vector<Formula> operand_formulas(std::size_t count) {
  std::vector<Formula> operands;
  for (std::size_t i = 0; i < count; ++i) operands.push_back(Formula::operand(i));
  return operands;
}

// ---- the type rule

std::vector<Type> one_result(const TypeContext& context) { return {broadcast_values(context)}; }

// ---- the reference

double value_at(const Tensor& tensor, std::int64_t offset) {
  if (tensor.dtype() == DType::boolean) return tensor.data<bool>()[offset] ? 1 : 0;
  return static_cast<double>(tensor.data<float>()[offset]);
}

constexpr std::size_t kBlock = 1024;  // elements per block

/// Reads the elements of an operand in the order of the results.
class OperandElements {
 public:
  OperandElements(const Tensor& tensor, const Sizes& sizes)
      : tensor_(tensor), sizes_(sizes), strides_(reference::broadcast_strides(tensor, sizes)) {}

  void read(std::int64_t begin, std::vector<double>& to) const {
    for (std::size_t i = 0; i < to.size(); ++i) {
      std::int64_t place = begin + static_cast<std::int64_t>(i), offset = 0;
      for (std::size_t axis = sizes_.size(); axis-- > 0; place /= sizes_[axis])
        offset += place % sizes_[axis] * strides_[axis];
      to[i] = value_at(tensor_, offset);
    }
  }

 private:
  const Tensor& tensor_;
  const Sizes& sizes_;
  Sizes strides_;
};

void evaluate_formulas(Call& call) {
  const FormulaSteps formulas(formulas_of(call.op, call.attributes, call.inputs.size()));
  const Sizes sizes = call.output_sizes();
  std::vector<OperandElements> operands;
  for (const Tensor* input : call.inputs) operands.emplace_back(*input, sizes);
  std::vector<float*> outputs;
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    outputs.push_back(call.output(i).data<float>());
  const std::int64_t count = element_count(sizes);
  std::vector<std::vector<double>> in(operands.size()), out(outputs.size());
  for (std::int64_t begin = 0; begin < count; begin += static_cast<std::int64_t>(kBlock)) {
    const std::size_t some = std::min(kBlock, static_cast<std::size_t>(count - begin));
    std::vector<const double*> read;
    std::vector<double*> written;
    for (std::size_t i = 0; i < in.size(); ++i) {
      in[i].resize(some);
      operands[i].read(begin, in[i]);
      read.push_back(in[i].data());
    }
    for (std::vector<double>& values : out) {
      values.resize(some);
      written.push_back(values.data());
    }
    evaluate(formulas, some, read, written);
    for (std::size_t i = 0; i < out.size(); ++i)
      std::transform(out[i].begin(), out[i].end(), outputs[i] + begin,
                     [](double value) { return static_cast<float>(value); });
  }
}

// ---- the gradient

std::vector<Value> differentiate(GradientContext& c) {
  const std::size_t count = c.node.inputs().size();
  const std::vector<Formula> all = formulas_of(c.node.op(), c.node.attributes(), count);
  std::vector<Formula> reached, seeds;
  std::vector<Value> operands = c.node.inputs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!c.output_gradient(i)) continue;
    reached.push_back(all[i]);
    seeds.push_back(Formula::operand(operands.size()));
    operands.push_back(c.output_gradient(i));
  }
  std::vector<Value> gradients(count);
  const auto derived = derivatives(reached, seeds, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!derived[i] || c.input(i).type().dtype == DType::boolean) continue;
    Elementwise gradient = elementwise_of(std::vector{*derived[i]}, operands);
    // An operand itself needs no operation.
    gradients[i] = gradient.formula == "x0" ? gradient.operands[0]
                                            : c.add("elementwise", std::move(gradient.operands),
                                                    {{"formula", gradient.formula}});
  }
  return gradients;
}

double one_per_result(const TypeContext& context, const Bindings& bindings) {
  return elements(broadcast_values(context), bindings);
}

}  // namespace

Type broadcast_values(const TypeContext& context) {
  std::optional<DType> dtype;
  Shape shape;
  for (const Type& input : context.inputs) {
    shape = broadcast(shape, input.shape);
    if (input.dtype == DType::boolean) continue;
    expect_float(input, "input");
    if (dtype) expect_dtype(input, *dtype, "input");
    dtype = input.dtype;
  }
  user_check(dtype.has_value(), "one input must be f32, bf16 or f16");
  return {*dtype, shape};
}

OpDef of_formula(OpDef def) {
  HONE_ASSERT(def.formula != nullptr, "operation {} has no formula", def.name);
  def.trait = Trait::element_wise;
  if (def.infer == nullptr) def.infer = one_result;
  if (def.reference == nullptr) def.reference = evaluate_formulas;
  if (def.gradient == nullptr) def.gradient = differentiate;
  if (def.flops == nullptr) def.flops = one_per_result;
  return def;
}

std::vector<Formula> formulas_of(const OpDef& op, const Attributes& attributes,
                                 std::size_t operand_count) {
  return op.formula(attributes, operand_formulas(operand_count));
}

Elementwise elementwise_of(std::span<const Formula> formulas, std::span<const Value> operands) {
  Elementwise result;
  std::vector<bool> is_read(operands.size());
  for (const FormulaSteps::Step& step : FormulaSteps(formulas).steps)
    if (step.op == ScalarOp::operand) is_read[step.index] = true;
  std::vector<Formula> places;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto known = std::ranges::find(result.operands, operands[i]);
    places.push_back(Formula::operand(static_cast<std::size_t>(known - result.operands.begin())));
    if (is_read[i] && known == result.operands.end()) result.operands.push_back(operands[i]);
  }
  result.formula = to_string(substitute(formulas, places));
  return result;
}

}  // namespace hone
