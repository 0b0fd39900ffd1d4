#include "hone/formats/coded_rows.h"
#include "hone/formats/packing.h"
#include "hone/ops/following_activation.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., n] = activation(sum_k x[..., k] w[n, k] + bias[n]) + residual[..., n], w the values of packed codes in panels
// (hone/formats/packing.h); in `native_linear` x are codes, too, those of `encode_rows`, for which kernels sum codes instead of
// values. For graphs without gradients. Behind the bias stands the residual, where the attribute of this name says that there
// is one, then the states of the weight's format.
namespace hone::ops {
namespace {

const Format& format_in(const TypeContext& context, std::string_view name) {
  const Attribute& attribute = *context.attributes.find(name);
  user_check(std::holds_alternative<Format>(attribute),
             "{} must be a number format such as mxint(bits=8)", name);
  return std::get<Format>(attribute);
}

bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }

std::vector<OperandDef> operands(const Attributes& attributes) {
  std::vector<OperandDef> all = {"x",
                                 {"codes", OperandRole::state},
                                 {"shared", OperandRole::state},
                                 {"bias", OperandRole::bias}};
  if (adds_residual(attributes)) all.emplace_back("residual");
  all.emplace_back("state...", OperandRole::state);
  return all;
}

bool reads_codes(const Attributes& attributes) {
  return attributes.find("input_format") != nullptr;
}

Type weight_type(const TypeContext& context) {
  const Attribute& shape = *context.attributes.find("shape");
  user_check(std::holds_alternative<Shape>(shape) && std::get<Shape>(shape).size() == 2,
             "shape must be that of the weight, such as [768, 768]");
  return {DType::f32, std::get<Shape>(shape)};
}

void expect_input(const TypeContext& context, const Type& weight) {
  const Type& x = context.inputs[0];
  user_check(x.rank() >= 2, "x must have at least 2 dimensions, got {}", to_string(x));
  if (!reads_codes(context.attributes)) {
    expect_dtype(x, DType::f32, "x");
    return expect_equal(x.dim(-1), weight.dim(1), "columns of x against those of the weight");
  }
  Type values{DType::f32, x.shape};
  values.shape.back() = weight.dim(1);
  const Type codes = coded_rows_type(format_in(context, "input_format"), values);
  user_check(x == codes, "x must be {}, the codes of {}, got {}", to_string(codes),
             to_string(values), to_string(x));
}

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], weight = weight_type(context);
  activation_of(context.attributes);
  expect_input(context, weight);
  const PackedLayout layout = packed_layout(format_in(context, "format"),
                                            constant_sizes(weight.shape), Arrangement::panels);
  const auto expect = [&](std::size_t index, const Type& type, std::string_view what) {
    user_check(context.inputs[index] == type, "{} must be {}, got {}", what, to_string(type),
               to_string(context.inputs[index]));
  };
  expect(1, {DType::u8, {Dim(layout.code_bytes)}}, "codes");
  expect(2, {DType::u8, {Dim(layout.shared_bytes)}}, "shared");
  expect(3, {DType::f32, {weight.dim(0)}}, "bias");
  const std::vector<Type> states = state_types(format_in(context, "format"), weight);
  Type y{DType::f32, Shape(x.shape.begin(), x.shape.end() - 1)};
  y.shape.push_back(weight.dim(0));
  const std::size_t first_state = adds_residual(context.attributes) ? 5 : 4;
  if (first_state == 5) expect(4, y, "residual");
  user_check(context.inputs.size() == first_state + states.size(), "expected {} states, got {}",
             states.size(), context.inputs.size() - first_state);
  for (std::size_t i = 0; i < states.size(); ++i) expect(first_state + i, states[i], "state");
  return {y};
}

Tensor decoded_input(const Call& call) {
  const Tensor codes = reference::dense(call.input(0));
  Sizes sizes = codes.sizes();
  sizes.back() = resolve(call.attributes.get<Shape>("shape"), {})[1];
  Tensor x = Tensor::empty(DType::f32, sizes);
  const Format& format = call.attributes.get<Format>("input_format");
  decode_rows(kernels::int8_rows(coded_rows_shape(format, sizes), codes.data<std::uint8_t>()),
              x.values<float>());
  return x;
}

void forward(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const Sizes sizes = resolve(call.attributes.get<Shape>("shape"), {});
  std::vector<Tensor> state;
  const bool adds = adds_residual(call.attributes);
  for (std::size_t i = adds ? 5 : 4; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  Tensor weight = Tensor::empty(DType::f32, sizes);
  unpack({format, sizes, {}, state}, packed_layout(format, sizes, Arrangement::panels),
         {reference::dense(call.input(1)), reference::dense(call.input(2))}, call.pool(),
         weight.values<float>());
  const Tensor x = reads_codes(call.attributes) ? decoded_input(call) : call.input(0);
  const Tensor bias = reference::dense(call.input(3));
  const Tensor residual = adds ? reference::dense(call.input(4)) : Tensor();
  const auto activation = activation_of(call.attributes).function;
  const reference::Rows rows(x), columns(weight);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::span<float> out = reference::row_of(call.output(), row);
    for (std::int64_t n = 0; n < columns.count; ++n) {
      double sum = static_cast<double>(bias.data<float>()[n]);
      for (std::size_t k = 0; k < rows[row].size(); ++k)
        sum += static_cast<double>(rows[row][k]) * static_cast<double>(columns[n][k]);
      sum = activation(sum);
      if (adds) sum += static_cast<double>(residual.data<float>()[row * columns.count + n]);
      out[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
}

double flops(const TypeContext& context, const Bindings& bindings) {
  const double columns = static_cast<double>(resolve(weight_type(context).dim(1), bindings));
  const int steps = (activation_of(context.attributes).name == "none" ? 0 : 1) +
                    (adds_residual(context.attributes) ? 1 : 0);
  return elements(infer(context)[0], bindings) * (2 * columns + steps);
}

OpDef packed(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs_of = operands,
          .attributes = {{"format", {}},
                         {"shape", {}},
                         {"activation", std::string("none")},
                         {"residual", false}},
          .trait = Trait::contraction,
          .infer = infer,
          .reference = forward,
          .flops = flops};
}

}  // namespace

std::vector<OpDef> packed_linear() {
  OpDef native = packed("native_linear",
                        "y (rows..., N) = activation(codes of x (rows..., K) times packed weights "
                        "(N, K)^T + bias (N)) + residual (rows..., N)");
  native.attributes.set("input_format", {});
  return {packed("packed_linear",
                 "y (rows..., N) = activation(x (rows..., K) times packed weights (N, K)^T + bias "
                 "(N)) + residual (rows..., N)"),
          native};
}

}  // namespace hone::ops
