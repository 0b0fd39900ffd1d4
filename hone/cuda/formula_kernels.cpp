#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <mutex>
#include <string>

#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/kernels/loop_nest.h"
#include "hone/ops/of_formula.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Element-wise operations without a kernel of their own: the source is generated from the formula. Values are fp32,
// bf16 or fp16; arithmetic is fp32, and constants are rounded to it once.
namespace hone::cuda {
namespace {

constexpr std::size_t kMaxOperands = 8, kMaxResults = 8;

// ---- the source

std::string step_text(const FormulaSteps::Step& step) {
  const auto with = [&](std::string_view pattern) {
    const auto& t = step.arguments;
    return fmt::format(fmt::runtime(pattern), t[0], t[1], t[2], t[3]);
  };
  switch (step.op) {
    case ScalarOp::operand:
      return fmt::format("x{}", step.index);
    case ScalarOp::constant:  // by its bits: infinities and NaN have no literals
      return fmt::format("__uint_as_float({:#x}u)",
                         std::bit_cast<std::uint32_t>(static_cast<float>(step.value)));
    case ScalarOp::add:
      return with("t{0} + t{1}");
    case ScalarOp::subtract:
      return with("t{0} - t{1}");
    case ScalarOp::multiply:
      return with("t{0} * t{1}");
    case ScalarOp::divide:
      return with("t{0} / t{1}");
    case ScalarOp::negate:
      return with("-t{0}");
    case ScalarOp::absolute:
      return with("std::fabs(t{0})");
    case ScalarOp::square_root:
      return with("std::sqrt(t{0})");
    case ScalarOp::exponential:
      return with("std::exp(t{0})");
    case ScalarOp::error_function:
      return with("std::erf(t{0})");
    case ScalarOp::hyperbolic_tangent:
      return with("std::tanh(t{0})");
    case ScalarOp::select_less:
      return with("t{0} < t{1} ? t{2} : t{3}");
  }
  return "";
}

Program program_of(std::span<const Formula> formulas, std::span<const Tensor* const> operands,
                   DType values) {
  std::string read = "READ=", steps = "STEPS=", write = "WRITE=";
  for (std::size_t i = 0; i < operands.size(); ++i)
    read += fmt::format("const float x{0} = value_of<{1}>(operands.at[{0}], at[{0}]);", i,
                        operands[i]->dtype() == DType::boolean ? "bool" : "VALUE");
  const FormulaSteps all(formulas);
  for (std::size_t i = 0; i < all.steps.size(); ++i)
    steps += fmt::format("const float t{} = {};", i, step_text(all.steps[i]));
  for (std::size_t i = 0; i < all.results.size(); ++i)
    write += fmt::format("results.at[{}][i] = from_float<VALUE>(t{});", i, all.results[i]);
  return {"formula.cu", {read, steps, write, value_definition(values)}};
}

// Returns the program for a call, built once for each formula and types of operands.
const Program& kept_program(const Call& call) {
  static std::mutex mutex;
  static auto& programs = *new std::map<std::string, Program>();
  const std::vector<Formula> formulas = formulas_of(call.op, call.attributes, call.inputs.size());
  std::string key(info(call.types[0].dtype).name);
  for (const Tensor* operand : call.inputs) key += operand->dtype() == DType::boolean ? "?" : ".";
  key += to_string(formulas);
  const std::scoped_lock lock(mutex);
  const auto [entry, is_new] = programs.try_emplace(std::move(key));
  if (is_new) entry->second = program_of(formulas, call.inputs, call.types[0].dtype);
  return entry->second;
}

// ---- the row of the kernel table

std::string_view of_formula_of_values(const CallSite& site) {
  if (site.inputs.size() > kMaxOperands || site.outputs.size() > kMaxResults)
    return "more than 8 operands or results";
  const DType values = site.outputs[0].dtype;
  if (!is_value(values)) return "results are not f32, bf16 or f16";
  const auto is_read = [&](const Type& type) {
    return type.dtype == values || type.dtype == DType::boolean;
  };
  if (!std::ranges::all_of(site.inputs, is_read)) return "operands are of several types";
  return site.outputs[0].rank() <= kernels::kMaxRank ? "" : "more than 6 dimensions";
}

/// The same structs as in formula.cu; null after the last operand or result.
struct OperandPlaces {
  const void* at[kMaxOperands] = {};
};
struct ResultPlaces {
  void* at[kMaxResults] = {};
};

void run_formula(Call& call) {
  const Program& program = kept_program(call);
  const Sizes sizes = call.output_sizes();
  std::array<Sizes, kMaxOperands> strides;
  std::array<std::span<const std::int64_t>, kMaxOperands> walks;
  OperandPlaces operands;
  for (std::size_t i = 0; i < kMaxOperands; ++i) {
    const bool exists = i < call.inputs.size();
    strides[i] =
        exists ? reference::broadcast_strides(call.input(i), sizes) : Sizes(sizes.size(), 0);
    walks[i] = strides[i];
    if (exists) operands.at[i] = call.input(i).device_pointer();
  }
  ResultPlaces results;
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    results.at[i] = call.output(i).device_pointer();
  const kernels::LoopNest<static_cast<int>(kMaxOperands)> nest(sizes, walks);
  constexpr std::int64_t kThreads = 256;
  const std::int64_t count = nest.elements();
  if (element_count(sizes) == 0) return;
  launch(call.device, {program, "formula", blocks_for(call.device, count, kThreads), {kThreads}},
         nest, operands, results, count);
}

}  // namespace

KernelTable formula_kernels() {
  return {{.op = kAnyFormula,
           .device = "cuda",
           .name = "formula",
           .accepts = of_formula_of_values,
           .run = run_formula,
           .layout = Layout::strided,
           .values = KernelValues::f32_and_halves}};
}

}  // namespace hone::cuda
