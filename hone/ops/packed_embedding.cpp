#include "hone/formats/packing.h"
#include "hone/ops/list.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Rows of a table that is stored as packed codes in rows (hone/formats/packing.h). Inference only.
//
//     packed_embedding:  y[..., :] = table[ids[...], :]
//     packed_rows:       y = table[begin : begin + size, :]; `size` is a list of one dimension, so it can be a symbol
namespace hone::ops {
namespace {

const Format& format_in(const TypeContext& context) {
  const Attribute& attribute = *context.attributes.find("format");
  user_check(std::holds_alternative<Format>(attribute),
             "format must be a number format such as mxint(bits=8)");
  return std::get<Format>(attribute);
}

// The type of the table; its codes and states are the inputs from `first` on.
Type table_type(const TypeContext& context, std::size_t first) {
  const Attribute& shape = *context.attributes.find("shape");
  user_check(std::holds_alternative<Shape>(shape) && std::get<Shape>(shape).size() == 2,
             "shape must be that of the table, such as [30522, 768]");
  const Type table{DType::f32, std::get<Shape>(shape)};
  const PackedLayout layout =
      packed_layout(format_in(context), constant_sizes(table.shape), Arrangement::rows);
  std::vector<Type> expected = {{DType::u8, {Dim(layout.code_bytes)}},
                                {DType::u8, {Dim(layout.shared_bytes)}}};
  for (const Type& state : state_types(format_in(context), table)) expected.push_back(state);
  user_check(context.inputs.size() == first + expected.size(), "expected {} inputs, got {}",
             first + expected.size(), context.inputs.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    user_check(context.inputs[first + i] == expected[i], "input {} must be {}, got {}", first + i,
               to_string(expected[i]), to_string(context.inputs[first + i]));
  return table;
}

std::vector<Type> infer_embedding(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  const Type table = table_type(context, 1);
  Type y{DType::f32, context.inputs[0].shape};
  y.shape.push_back(table.dim(1));
  return {y};
}

std::vector<Type> infer_rows(const TypeContext& context) {
  const Type table = table_type(context, 0);
  const std::int64_t begin = context.attributes.get<std::int64_t>("begin");
  const Attribute& size = *context.attributes.find("size");
  user_check(std::holds_alternative<Shape>(size) && std::get<Shape>(size).size() == 1,
             "size must be a list of one dimension");
  const Dim& count = std::get<Shape>(size)[0];
  user_check(begin >= 0 && count.size >= 0 &&
                 begin <= table.dim(0).size - (count.symbol == 0 ? count.size : 0),
             "cannot take {} rows from {} on of {}", to_string(count), begin, to_string(table));
  return {{DType::f32, {count, table.dim(1)}}};
}

// Returns the whole table, unpacked.
Tensor values_of(const Call& call, std::size_t first) {
  const Format& format = call.attributes.get<Format>("format");
  const Sizes sizes = resolve(call.attributes.get<Shape>("shape"), {});
  std::vector<Tensor> state;
  for (std::size_t i = first + 2; i < call.inputs.size(); ++i)
    state.push_back(reference::dense(call.input(i)));
  Tensor values = Tensor::empty(DType::f32, sizes);
  unpack({format, sizes, {}, state}, packed_layout(format, sizes, Arrangement::rows),
         {reference::dense(call.input(first)), reference::dense(call.input(first + 1))},
         call.pool(), values.values<float>());
  return values;
}

void embed(Call& call) {
  const Tensor values = values_of(call, 1);
  const reference::Rows table(values);
  const Tensor ids = reference::dense(call.input(0));
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    user_check(id >= 0 && id < table.count, "id {} is outside the embedding table of {} rows", id,
               table.count);
    std::ranges::copy(table[id], reference::row_of(call.output(), row++).begin());
  }
}

void take_rows(Call& call) {
  const Tensor values = values_of(call, 0);
  const reference::Rows table(values);
  const std::int64_t begin = call.attributes.get<std::int64_t>("begin");
  const std::int64_t count = call.output().size(0);
  user_check(begin + count <= table.count, "the table needs {} rows, there are {}", begin + count,
             table.count);
  for (std::int64_t row = 0; row < count; ++row)
    std::ranges::copy(table[begin + row], reference::row_of(call.output(), row).begin());
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
           .infer = infer_embedding,
           .reference = embed},
          {.name = "packed_rows",
           .summary = "y (R, H) = R rows of table (V, H), the values of packed codes",
           .inputs = {{"codes", OperandRole::state},
                      {"shared", OperandRole::state},
                      {"state...", OperandRole::state}},
           .attributes = {{"format", {}}, {"shape", {}}, {"begin", std::int64_t{0}}, {"size", {}}},
           .infer = infer_rows,
           .reference = take_rows}};
}

}  // namespace hone::ops
