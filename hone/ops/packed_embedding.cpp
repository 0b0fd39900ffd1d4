#include "hone/formats/packing.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., :] = table[ids[...], :], the table the values of packed codes in rows (hone/formats/packing.h). For graphs without
// gradients.
namespace hone::ops {
namespace {

const Format& format_in(const TypeContext& context) {
  const Attribute& attribute = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(attribute),
             "format must be a number format such as mxint(bits=8)");
  return std::get<Format>(attribute);
}

std::vector<Type> infer(const TypeContext& context) {
  const Attribute& shape = *context.attributes.find("shape");
  user_check(std::holds_alternative<Shape>(shape) && std::get<Shape>(shape).size() == 2,
             "shape must be that of the table, such as [30522, 768]");
  expect_dtype(context.inputs[0], DType::i64, "ids");
  const Type table{DType::f32, std::get<Shape>(shape)};
  const PackedLayout layout =
      packed_layout(format_in(context), constant_sizes(table.shape), Arrangement::rows);
  std::vector<Type> expected = {{DType::u8, {Dim(layout.code_bytes)}},
                                {DType::u8, {Dim(layout.shared_bytes)}}};
  for (const Type& state : state_types(format_in(context), table)) expected.push_back(state);
  user_check(context.inputs.size() == 1 + expected.size(), "expected {} inputs behind ids, got {}",
             expected.size(), context.inputs.size() - 1);
  for (std::size_t i = 0; i < expected.size(); ++i)
    user_check(context.inputs[1 + i] == expected[i], "input {} must be {}, got {}", 1 + i,
               to_string(expected[i]), to_string(context.inputs[1 + i]));
  Type y{DType::f32, context.inputs[0].shape};
  y.shape.push_back(table.dim(1));
  return {y};
}

void forward(Call& call) {
  const Format& format = call.attributes.get<Format>("format");
  const Sizes sizes = resolve(call.attributes.get<Shape>("shape"), {});
  std::vector<Tensor> state;
  for (std::size_t i = 3; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  Tensor values = Tensor::empty(DType::f32, sizes);
  unpack({format, sizes, {}, state}, packed_layout(format, sizes, Arrangement::rows),
         {reference::dense(call.input(1)), reference::dense(call.input(2))}, call.pool(),
         values.values<float>());
  const reference::Rows table(values);
  const Tensor ids = reference::dense(call.input(0));
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    user_check(id >= 0 && id < table.count, "id {} is outside the embedding table of {} rows", id,
               table.count);
    std::ranges::copy(table[id], reference::row_of(call.output(), row++).begin());
  }
}

}  // namespace

std::vector<OpDef> packed_embedding() {
  return {{.name = "packed_embedding",
           .summary = "y (..., H) = table[ids (...)], table (V, H) the values of packed codes",
           .inputs = {"ids",
                      {"codes", OperandRole::state},
                      {"shared", OperandRole::state},
                      {"state...", OperandRole::state}},
           .attributes = {{"format", {}}, {"shape", {}}},
           .infer = infer,
           .reference = forward}};
}

}  // namespace hone::ops
