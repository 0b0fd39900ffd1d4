#include "hone/formats/coded_rows.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = x (rows..., K) quantized to codes and scales, in the layout that integer products read
// (hone/formats/coded_rows.h). The last extent of y is the number of bytes per row, but the scales are stored after the
// codes of all rows. Inference only.
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  const Type& x = context.inputs[0];
  const Attribute& format = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(format),
             "format must be a number format such as mxint(bits=8)");
  expect_float(x, "x");
  const std::vector<Type> states = state_types(std::get<Format>(format), x);
  user_check(context.inputs.size() == 1 + states.size(), "{} takes {} state tensors, got {}",
             to_string(std::get<Format>(format)), states.size(), context.inputs.size() - 1);
  for (std::size_t i = 0; i < states.size(); ++i)
    user_check(context.inputs[1 + i] == states[i], "a state must be {}, got {}",
               to_string(states[i]), to_string(context.inputs[1 + i]));
  return {coded_rows_type(std::get<Format>(format), x)};
}

void forward(Call& call) {
  const Tensor x = reference::dense(call.input(0));
  const Format& format = call.attributes.get<Format>("format");
  std::vector<Tensor> state;
  for (std::size_t i = 1; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  encode_rows_reference(
      {format, x.sizes(), x.values<float>(), state},
      kernels::int8_rows(coded_rows_shape(format, x.sizes()), call.output().data<std::uint8_t>()));
}

}  // namespace

std::vector<OpDef> encode_rows() {
  return {{.name = "encode_rows",
           .summary = "y = the codes of x (rows..., K) in a number format, as products read them",
           .inputs = {"x", {"state...", OperandRole::state}},
           .attributes = {{"format", {}}},
           .infer = infer,
           .reference = forward,
           .flops = one_per_element}};
}

}  // namespace hone::ops

namespace hone {

Type coded_rows_type(const Format& format, const Type& x) {
  user_check(x.rank() >= 2 && x.dim(-1).symbol == 0 && x.dim(-1).size > 0,
             "rows of codes need a tensor of at least 2 dimensions with a fixed last one, "
             "got {}",
             to_string(x));
  Sizes row(x.shape.size(), 1);
  row.back() = x.dim(-1).size;
  Type type{DType::u8, x.shape};
  type.shape.back() =
      Dim(static_cast<std::int64_t>(kernels::int8_rows_bytes(coded_rows_shape(format, row))));
  return type;
}

}  // namespace hone
