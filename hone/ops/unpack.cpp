#include "hone/formats/packing.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y = the values of packed codes (hone/formats/packing.h), in place of a weight. State tensors of the format follow the
// codes. Codes have no gradient.
namespace hone::ops {
namespace {

PackedLayout layout_of(const TypeContext& context) {
  const Attribute &format = *context.attributes.find("format"),
                  &shape = *context.attributes.find("shape"),
                  &arrangement = *context.attributes.find("arrangement");
  user_check(std::holds_alternative<Format>(format),
             "format must be a number format such as mxint(bits=8)");
  user_check(std::holds_alternative<Shape>(shape), "shape must be a list such as [768, 768]");
  user_check(std::holds_alternative<std::string>(arrangement),
             "arrangement must be \"panels\" or \"rows\"");
  const Attribute& version = *context.attributes.find("packing");
  user_check(version == Attribute(kPackingVersion),
             "packing must be {}, the version that this program reads; a newer version of "
             "hone packed this, or it is damaged",
             kPackingVersion);
  parse_parameter_role(context.attributes.get<std::string>("role"));
  return packed_layout(std::get<Format>(format), constant_sizes(std::get<Shape>(shape)),
                       parse_arrangement(std::get<std::string>(arrangement)));
}

void expect_bytes(const Type& type, std::int64_t bytes, const char* what) {
  user_check(type == Type{DType::u8, {Dim(bytes)}}, "{} must be {}, got {}", what,
             to_string(Type{DType::u8, {Dim(bytes)}}), to_string(type));
}

std::vector<Type> infer(const TypeContext& context) {
  const PackedLayout layout = layout_of(context);
  expect_bytes(context.inputs[0], layout.code_bytes, "codes");
  expect_bytes(context.inputs[1], layout.shared_bytes, "shared");
  const Type y{DType::f32, context.attributes.get<Shape>("shape")};
  const std::vector<Type> states = state_types(context.attributes.get<Format>("format"), y);
  user_check(context.inputs.size() == 2 + states.size(), "expected {} state tensors, got {}",
             states.size(), context.inputs.size() - 2);
  for (std::size_t i = 0; i < states.size(); ++i)
    user_check(context.inputs[2 + i] == states[i], "state {} must be {}, got {}", i,
               to_string(states[i]), to_string(context.inputs[2 + i]));
  return {y};
}

void forward(Call& call) {
  const PackedLayout layout = layout_of({{}, call.attributes});
  std::vector<Tensor> state;
  for (std::size_t i = 2; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  const PackedCodes packed{reference::dense(call.input(0)), reference::dense(call.input(1))};
  Tensor& y = call.output();
  unpack({call.attributes.get<Format>("format"), y.sizes(), {}, state}, layout, packed, call.pool(),
         y.values<float>());
}

}  // namespace

std::vector<OpDef> unpack() {
  return {{.name = "unpack",
           .summary = "y (shape) = the values of packed codes",
           .inputs = {{"codes", OperandRole::state},
                      {"shared", OperandRole::state},
                      {"state...", OperandRole::state}},
           .attributes = {{"format", {}},
                          {"shape", {}},
                          {"arrangement", {}},
                          {"role", std::string("weight")},
                          {"packing", kPackingVersion}},
           .infer = infer,
           .reference = forward,
           .flops = one_per_element}};
}

}  // namespace hone::ops
