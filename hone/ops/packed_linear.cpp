#include <algorithm>

#include "hone/formats/coded_rows.h"
#include "hone/formats/packing.h"
#include "hone/ops/following_activation.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., n] = activation(sum_k x[..., k] w[n, k] + bias[n]) + residual[..., n], with w stored as packed codes
// (hone/formats/packing.h) in panels or rows. `native_linear` also quantizes x: it is either codes from `encode_rows`,
// so that kernels multiply integers, or values that the product rounds to a format without states.
// `native_linear_codes` returns the `encode_rows` of y, and y itself is never stored. Products of codes have the bias's
// type, f32, bf16 or f16, which is also the residual's. Inference only. After the bias come the residual, if the
// attribute `residual` is set, the states of the output format, and those of the weight's format.
namespace hone::ops {
namespace {

const Format& format_in(const TypeContext& context, std::string_view name) {
  const Attribute& attribute = *context.attributes.find(name);
  user_check(std::holds_alternative<Format>(attribute),
             "{} must be a number format such as mxint(bits=8)", name);
  return std::get<Format>(attribute);
}

bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }

bool rounds_output(const Attributes& attributes) {
  return attributes.find("output_format") != nullptr;
}

std::size_t output_states(const Attributes& attributes) {
  return rounds_output(attributes) ? states_of(attributes.get<Format>("output_format")).size() : 0;
}

// The index of the first state: those of the output format precede those of the weight's.
std::size_t first_state(const Attributes& attributes) { return adds_residual(attributes) ? 5 : 4; }

std::vector<OperandDef> operands(const Attributes& attributes) {
  std::vector<OperandDef> all = {"x",
                                 {"codes", OperandRole::state},
                                 {"shared", OperandRole::state},
                                 {"bias", OperandRole::bias}};
  if (adds_residual(attributes)) all.emplace_back("residual");
  for (std::size_t i = 0; i < output_states(attributes); ++i)
    all.emplace_back("output_state", OperandRole::state);
  all.emplace_back("state...", OperandRole::state);
  return all;
}

bool rounds_input(const Attributes& attributes) {
  return attributes.find("input_format") != nullptr;
}

PackedLayout layout_of(const Attributes& attributes) {
  return packed_layout(attributes.get<Format>("format"),
                       constant_sizes(attributes.get<Shape>("shape")),
                       parse_arrangement(attributes.get<std::string>("arrangement")));
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
  const bool rounds = rounds_input(context.attributes);
  if (rounds && x.dtype == DType::u8) {
    Type values{DType::f32, x.shape};
    values.shape.back() = weight.dim(1);
    const Type codes = coded_rows_type(format_in(context, "input_format"), values);
    return user_check(x == codes, "x must be {}, the codes of {}, got {}", to_string(codes),
                      to_string(values), to_string(x));
  }
  expect_dtype(x, DType::f32, "x");
  expect_equal(x.dim(-1), weight.dim(1), "columns of x against those of the weight");
  user_check(!rounds || states_of(format_in(context, "input_format")).empty(),
             "x must be codes where its format has states");
}

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], weight = weight_type(context);
  activation_of(context.attributes);
  expect_input(context, weight);
  format_in(context, "format");
  user_check(std::holds_alternative<std::string>(*context.attributes.find("arrangement")),
             "arrangement must be \"panels\" or \"rows\"");
  const PackedLayout layout = layout_of(context.attributes);
  const auto expect = [&](std::size_t index, const Type& type, std::string_view what) {
    user_check(context.inputs[index] == type, "{} must be {}, got {}", what, to_string(type),
               to_string(context.inputs[index]));
  };
  expect(1, {DType::u8, {Dim(layout.code_bytes)}}, "codes");
  expect(2, {DType::u8, {Dim(layout.shared_bytes)}}, "shared");
  const bool of_codes = rounds_input(context.attributes) && x.dtype == DType::u8;
  const DType values = of_codes ? expect_float(context.inputs[3], "bias") : DType::f32;
  expect(3, {values, {weight.dim(0)}}, "bias");
  Type y{values, Shape(x.shape.begin(), x.shape.end() - 1)};
  y.shape.push_back(weight.dim(0));
  const std::size_t first = first_state(context.attributes);
  if (adds_residual(context.attributes)) expect(4, y, "residual");
  std::vector<Type> states = state_types(format_in(context, "format"), weight);
  if (rounds_output(context.attributes)) {
    const std::vector<Type> of_y = state_types(format_in(context, "output_format"), y);
    states.insert(states.begin(), of_y.begin(), of_y.end());
  }
  user_check(context.inputs.size() == first + states.size(), "expected {} states, got {}",
             states.size(), context.inputs.size() - first);
  for (std::size_t i = 0; i < states.size(); ++i) expect(first + i, states[i], "state");
  return {rounds_output(context.attributes)
              ? coded_rows_type(format_in(context, "output_format"), y)
              : y};
}

// Returns the input of the product, decoded or rounded.
Tensor input_values(const Call& call) {
  Tensor given = reference::dense(call.input(0));
  if (!rounds_input(call.attributes)) return given;
  const Format& format = call.attributes.get<Format>("input_format");
  Sizes sizes = given.sizes();
  sizes.back() = resolve(call.attributes.get<Shape>("shape"), {})[1];
  Tensor x = Tensor::empty(DType::f32, sizes);
  if (given.dtype() == DType::u8)
    decode_rows(kernels::int8_rows(coded_rows_shape(format, sizes), given.data<std::uint8_t>()),
                x.values<float>());
  else
    format.def->quantize_reference({format, sizes, given.values<float>(), {}}, x.values<float>());
  return x;
}

std::vector<Tensor> states_from(const Call& call, std::size_t begin, std::size_t end) {
  std::vector<Tensor> states;
  for (std::size_t i = begin; i < end; ++i) states.push_back(reference::dense(call.input(i)));
  return states;
}

// Returns y, whose last extent is the number of rows of the weight.
Tensor product(const Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const Sizes sizes = resolve(call.attributes.get<Shape>("shape"), {});
  const bool adds = adds_residual(call.attributes);
  const std::vector<Tensor> state = states_from(
      call, first_state(call.attributes) + output_states(call.attributes), call.inputs.size());
  Tensor weight = Tensor::empty(DType::f32, sizes);
  unpack({format, sizes, {}, state}, layout_of(call.attributes),
         {reference::dense(call.input(1)), reference::dense(call.input(2))}, call.pool(),
         weight.values<float>());
  const Tensor x = input_values(call);
  const Tensor bias = reference::dense(call.input(3));
  const Tensor residual = adds ? reference::dense(call.input(4)) : Tensor();
  const auto activation = activation_of(call.attributes).function;
  const reference::Rows rows(x), columns(weight);
  Sizes of_y = x.sizes();
  of_y.back() = columns.count;
  Tensor y = Tensor::empty(DType::f32, of_y);
  for (std::int64_t row = 0; row < rows.count; ++row) {
    const std::span<float> out = reference::row_of(y, row);
    for (std::int64_t n = 0; n < columns.count; ++n) {
      double sum = static_cast<double>(bias.data<float>()[n]);
      for (std::size_t k = 0; k < rows[row].size(); ++k)
        sum += static_cast<double>(rows[row][k]) * static_cast<double>(columns[n][k]);
      sum = activation(sum);
      if (adds) sum += static_cast<double>(residual.data<float>()[row * columns.count + n]);
      out[static_cast<std::size_t>(n)] = static_cast<float>(sum);
    }
  }
  return y;
}

void forward(Call& call) {
  const Tensor y = product(call);
  if (rounds_output(call.attributes)) {
    const Format& format = call.attributes.get<Format>("output_format");
    const std::size_t first = first_state(call.attributes);
    encode_rows_reference({format, y.sizes(), y.values<float>(),
                           states_from(call, first, first + output_states(call.attributes))},
                          kernels::int8_rows(coded_rows_shape(format, y.sizes()),
                                             call.output().data<std::uint8_t>()));
  } else {
    std::ranges::copy(y.values<float>(), call.output().data<float>());
  }
}

double flops(const TypeContext& context, const Bindings& bindings) {
  const double columns = static_cast<double>(resolve(weight_type(context).dim(1), bindings));
  const int steps = (activation_of(context.attributes).name == "none" ? 0 : 1) +
                    (adds_residual(context.attributes) ? 1 : 0) +
                    (rounds_output(context.attributes) ? 1 : 0);
  const double rows = elements(context.inputs[0], bindings) /
                      static_cast<double>(resolve(context.inputs[0].dim(-1), bindings));
  const double outputs = static_cast<double>(resolve(weight_type(context).dim(0), bindings));
  return rows * outputs * (2 * columns + steps);
}

OpDef packed(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .inputs_of = operands,
          .attributes = {{"format", {}},
                         {"shape", {}},
                         {"arrangement", std::string(to_string(Arrangement::panels))},
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
                        "y (rows..., N) = activation(x (rows..., K), rounded, times packed weights "
                        "(N, K)^T + bias (N)) + residual (rows..., N)");
  native.attributes.set("input_format", {});
  OpDef native_codes = packed(
      "native_linear_codes", "y = the codes of the result of native_linear, as products read them");
  native_codes.attributes.set("input_format", {});
  native_codes.attributes.set("output_format", {});
  return {packed("packed_linear",
                 "y (rows..., N) = activation(x (rows..., K) times packed weights (N, K)^T + bias "
                 "(N)) + residual (rows..., N)"),
          native, native_codes};
}

}  // namespace hone::ops
