#include <algorithm>
#include <map>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[..., :] = table[ids[...], :];   ids (...), table (V, H). The row `padding` gets no gradient (-1: no such row).
namespace hone::ops {
namespace {

std::vector<Type> infer(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  expect_dtype(context.inputs[1], DType::f32, "table");
  expect_rank(context.inputs[1], 2, "table");
  Type y{DType::f32, context.inputs[0].shape};
  y.shape.push_back(context.inputs[1].dim(1));
  return {y};
}

void check_id(std::int64_t id, std::int64_t rows) {
  user_check(id >= 0 && id < rows, "id {} is outside the embedding table of {} rows", id, rows);
}

void forward(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const reference::Rows table(call.input(1));
  Tensor& y = call.output();
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    check_id(id, table.count);
    std::ranges::copy(table[id], reference::row_of(y, row++).begin());
  }
}

// dtable[v, :] = sum of dy over the positions with ids = v
std::int64_t checked_gradient_rows(const TypeContext& context) {
  expect_dtype(context.inputs[0], DType::i64, "ids");
  expect_dtype(context.inputs[1], DType::f32, "dy");
  const Shape& ids = context.inputs[0].shape;
  const Shape& dy = context.inputs[1].shape;
  user_check(dy.size() == ids.size() + 1 && std::equal(ids.begin(), ids.end(), dy.begin()),
             "dy must have one row per id, got {} for ids {}", to_string(context.inputs[1]),
             to_string(context.inputs[0]));
  const Attribute& rows = *context.attributes.find("rows");
  user_check(std::holds_alternative<std::int64_t>(rows) && std::get<std::int64_t>(rows) >= 0,
             "rows must be a whole number");
  return std::get<std::int64_t>(rows);
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const std::int64_t rows = checked_gradient_rows(context);
  return {{DType::f32, {Dim(rows), context.inputs[1].shape.back()}}};
}

void backward(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const reference::Rows dy(call.input(1));
  Tensor& out = call.output();
  std::vector<double> sums(static_cast<std::size_t>(out.count()));
  std::int64_t row = 0;
  const std::int64_t padding = call.attributes.get<std::int64_t>("padding");
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    check_id(id, out.size(0));
    const std::span<const float> gradient = dy[row++];
    if (id == padding) continue;
    double* to = sums.data() + id * dy.length;
    for (const float value : gradient) *to++ += static_cast<double>(value);
  }
  reference::store(sums, out);
}

// The sparse form: only the rows that occur in ids, in the order of their first occurrence, and their sums.
std::vector<Type> infer_gradient_by_row(const TypeContext& context) {
  checked_gradient_rows(context);
  return {context.inputs[0], context.inputs[1]};
}

void backward_by_row(Call& call) {
  const Tensor ids = reference::dense(call.input(0));
  const reference::Rows dy(call.input(1));
  const std::int64_t count = call.attributes.get<std::int64_t>("rows"),
                     padding = call.attributes.get<std::int64_t>("padding");
  Tensor &rows = call.output(0), &sums = call.output(1);
  const std::span<std::int64_t> named = rows.values<std::int64_t>();
  std::ranges::fill(named, -1);
  std::vector<double> all(static_cast<std::size_t>(sums.count()));
  std::map<std::int64_t, std::int64_t> places;
  std::int64_t row = 0;
  for (const std::int64_t id : ids.values<std::int64_t>()) {
    check_id(id, count);
    const std::span<const float> gradient = dy[row++];
    if (id == padding) continue;
    const auto place = places.emplace(id, std::ssize(places)).first->second;
    named[static_cast<std::size_t>(place)] = id;
    double* to = all.data() + place * dy.length;
    for (const float value : gradient) *to++ += static_cast<double>(value);
  }
  reference::store(all, sums);
}

double one_per_summand(const TypeContext& context, const Bindings& bindings) {
  return elements(context.inputs[1], bindings);
}

}  // namespace

std::vector<OpDef> embedding() {
  return {
      {.name = "embedding",
       .summary = "y (..., H) = table[ids (...)], table (V, H)",
       .inputs = {"ids", {"table", OperandRole::weight}},
       .attributes = {{"padding", std::int64_t{-1}}},
       .trait = Trait::gather,
       .infer = infer,
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         Attributes attributes = c.node.attributes();
         attributes.set("rows", c.input(1).type().dim(0).size);
         return {{}, c.add("embedding_gradient", {c.input(0), c.output_gradient()}, attributes)};
       }},
      {.name = "embedding_gradient",
       .summary = "dtable (rows, H): dy (..., H) summed by ids (...)",
       .inputs = {"ids", "dy"},
       .attributes = {{"padding", std::int64_t{-1}}, {"rows", {}}},
       .infer = infer_gradient,
       .reference = backward,
       .flops = one_per_summand},
      {.name = "embedding_gradient_by_row",
       .summary = "rows: the ids (...) in the order in which they come first, each once, then -1; "
                  "sums: dy (..., H) summed by them, then 0",
       .inputs = {"ids", "dy"},
       .attributes = {{"padding", std::int64_t{-1}}, {"rows", {}}},
       .infer = infer_gradient_by_row,
       .reference = backward_by_row,
       .flops = one_per_summand}};
}

}  // namespace hone::ops
