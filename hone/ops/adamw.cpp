#include <algorithm>
#include <cmath>
#include <limits>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// One step of AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019), in place, with the gradient
// scaled by min(1, max_grad_norm / (norm + 1e-6)) (max_grad_norm 0: not scaled):
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2
//   p = p - (lr / (1 - beta1^step) m / (sqrt(v / (1 - beta2^step)) + eps) + lr weight_decay p)
// Moments too small for a normal float are stored as 0.
namespace hone::ops {
namespace {

void check_scalars(const TypeContext& context, std::size_t first) {
  constexpr const char* kScalars[] = {"norm", "learning_rate", "step"};
  for (std::size_t i = 0; i < 3; ++i) {
    expect_dtype(context.inputs[first + i], i == 2 ? DType::i64 : DType::f32, kScalars[i]);
    expect_rank(context.inputs[first + i], 0, kScalars[i]);
  }
}

std::vector<Type> infer(const TypeContext& context) {
  const Type& parameter = context.inputs[0];
  for (std::size_t i = 0; i < 4; ++i) {
    expect_dtype(context.inputs[i], DType::f32, "parameter, gradient and moments");
    user_check(context.inputs[i] == parameter,
               "parameter, gradient and moments must have one shape, got {} and {}",
               to_string(parameter), to_string(context.inputs[i]));
  }
  check_scalars(context, 4);
  return {parameter, parameter, parameter};
}

// The variant for tables whose gradient is a list of rows and their sums, from `embedding_gradient_by_row`.
std::vector<Type> infer_by_row(const TypeContext& context) {
  const Type &table = context.inputs[0], &rows = context.inputs[1], &sums = context.inputs[2];
  expect_dtype(table, DType::f32, "table");
  expect_rank(table, 2, "table");
  expect_dtype(rows, DType::i64, "rows");
  Type expected{DType::f32, rows.shape};
  expected.shape.push_back(table.dim(1));
  user_check(sums == expected, "sums must have a row of the table for each of rows, {}, got {}",
             to_string(expected), to_string(sums));
  for (const std::size_t i : {3, 4})
    user_check(context.inputs[i] == table, "table and moments must have one shape, got {} and {}",
               to_string(table), to_string(context.inputs[i]));
  check_scalars(context, 5);
  return {table, table, table};
}

float normal_or_zero(double value) {
  const float rounded = static_cast<float>(value);
  return std::fabs(rounded) < std::numeric_limits<float>::min() ? 0.0f : rounded;
}

// `first`: the operand after gradient and moments.
void update(Call& call, std::span<const float> gradient, std::size_t m_index, std::size_t first) {
  const auto attribute = [&](const char* name) { return call.attributes.get<double>(name); };
  const double norm = static_cast<double>(*call.input(first).data<float>());
  const double learning_rate = static_cast<double>(*call.input(first + 1).data<float>());
  const double steps = static_cast<double>(*call.input(first + 2).data<std::int64_t>());
  const double limit = attribute("max_grad_norm");
  const double clip = limit > 0 ? std::min(1.0, limit / (norm + 1e-6)) : 1.0;
  const double correction1 = 1 - std::pow(attribute("beta1"), steps);
  const double correction2 = 1 - std::pow(attribute("beta2"), steps);
  const std::span<float> p = call.input(0).values<float>(), m = call.input(m_index).values<float>(),
                         v = call.input(m_index + 1).values<float>();
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double g = static_cast<double>(gradient[i]) * clip;
    const double new_m =
        attribute("beta1") * static_cast<double>(m[i]) + (1 - attribute("beta1")) * g;
    const double new_v =
        attribute("beta2") * static_cast<double>(v[i]) + (1 - attribute("beta2")) * g * g;
    const double old_p = static_cast<double>(p[i]);
    const double update =
        learning_rate / correction1 * new_m / (std::sqrt(new_v / correction2) + attribute("eps"));
    m[i] = normal_or_zero(new_m);
    v[i] = normal_or_zero(new_v);
    p[i] = static_cast<float>(old_p - (update + learning_rate * attribute("weight_decay") * old_p));
  }
  call.set_output(0, call.input(0));
  call.set_output(1, call.input(m_index));
  call.set_output(2, call.input(m_index + 1));
}

void step(Call& call) {
  const Tensor gradient = reference::dense(call.input(1));
  update(call, gradient.values<float>(), 2, 4);
}

void step_by_row(Call& call) {
  const Tensor &table = call.input(0), rows = reference::dense(call.input(1));
  const reference::Rows sums(call.input(2));
  std::vector<float> gradient(static_cast<std::size_t>(table.count()));
  std::int64_t place = 0;
  for (const std::int64_t row : rows.values<std::int64_t>()) {
    user_check(row >= -1 && row < table.size(0), "row {} is outside the table of {} rows", row,
               table.size(0));
    if (row >= 0)
      std::ranges::copy(sums[place],
                        gradient.begin() + static_cast<std::ptrdiff_t>(row * table.size(1)));
    ++place;
  }
  update(call, gradient, 3, 5);
}

const Attributes kOptions = {
    {"beta1", 0.9}, {"beta2", 0.999}, {"eps", 1e-8}, {"weight_decay", 0.0}, {"max_grad_norm", 1.0}};

double flops(const TypeContext& context, const Bindings& bindings) {
  return 14 * elements(context.inputs[0], bindings);
}

}  // namespace

std::vector<OpDef> adamw() {
  return {
      {.name = "adamw",
       .summary = "parameter, m, v after one AdamW step on the clipped gradient, in place",
       .inputs = {{"parameter", OperandRole::weight},
                  "gradient",
                  {"m", OperandRole::state},
                  {"v", OperandRole::state},
                  "norm",
                  "learning_rate",
                  "step"},
       .attributes = kOptions,
       .trait = Trait::update,
       .aliases = {0, 2, 3},
       .infer = infer,
       .reference = step,
       .flops = flops},
      {.name = "adamw_by_row",
       .summary = "the same for a table (V, H) whose gradient is sums (..., H) in rows (...) and "
                  "0 elsewhere; rows are distinct, -1 is no row",
       .inputs = {{"table", OperandRole::weight},
                  "rows",
                  "sums",
                  {"m", OperandRole::state},
                  {"v", OperandRole::state},
                  "norm",
                  "learning_rate",
                  "step"},
       .attributes = kOptions,
       .trait = Trait::update,
       .aliases = {0, 3, 4},
       .infer = infer_by_row,
       .reference = step_by_row,
       .flops = flops}};
}

}  // namespace hone::ops
