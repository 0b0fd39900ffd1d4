#include "hone/onnx/operations.h"

#include <algorithm>
#include <limits>

#include "hone/onnx/quantized_form.h"

namespace hone {
namespace {

using Integers = std::vector<std::int64_t>;

// Exports the separate steps of attention, which engines fuse themselves.
std::string attention(OnnxBuilder& to, Node& node) {
  const auto heads_first = [&](std::size_t input, Integers axes) {
    return to.add("Transpose", {to.name_of(node.input(input))}, {{"perm", std::move(axes)}});
  };
  const std::string query = heads_first(0, {0, 2, 1, 3}), key = heads_first(1, {0, 2, 3, 1}),
                    value = heads_first(2, {0, 2, 1, 3});
  const auto scale = static_cast<float>(node.attributes().get<double>("scale"));
  std::string scores = to.add("Mul", {to.add("MatMul", {query, key}), to.number(scale)});
  if (node.inputs().size() > 3) scores = to.add("Add", {scores, to.name_of(node.input(3))});
  const std::string weights = to.add("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  return to.add("Transpose", {to.add("MatMul", {weights, value})},
                {{"perm", Integers{0, 2, 1, 3}}});
}

std::string attention_mask(OnnxBuilder& to, Node& node) {
  const std::string wide = to.add("Unsqueeze", {to.name_of(node.input(0)), to.integers({1, 2})});
  return to.add("Where", {to.cast(wide, OnnxType::boolean), to.number(0),
                          to.number(std::numeric_limits<float>::lowest())});
}

std::string batch_norm(OnnxBuilder& to, Node& node) {
  std::vector<std::string> inputs;
  for (const Value& input : node.inputs()) inputs.push_back(to.name_of(input));
  return to.add("BatchNormalization", std::move(inputs),
                {{"epsilon", node.attributes().get<double>("eps")}});
}

std::string concat(OnnxBuilder& to, Node& node) {
  std::vector<std::string> inputs;
  for (const Value& input : node.inputs()) inputs.push_back(to.name_of(input));
  return to.add("Concat", std::move(inputs),
                {{"axis", node.attributes().get<std::int64_t>("axis")}});
}

std::string conv2d(OnnxBuilder& to, Node& node) {
  std::vector<std::string> inputs;
  for (const Value& input : node.inputs()) inputs.push_back(to.name_of(input));
  const auto of = [&](const char* name) { return node.attributes().get<std::int64_t>(name); };
  const std::int64_t stride = of("stride"), padding = of("padding"), dilation = of("dilation");
  return to.add("Conv", std::move(inputs),
                {{"strides", Integers{stride, stride}},
                 {"pads", Integers(4, padding)},
                 {"dilations", Integers{dilation, dilation}},
                 {"group", of("groups")}});
}

std::string embedding(OnnxBuilder& to, Node& node) {
  if (is_packed_weight(node.input(1)))
    return packed_rows(to, *node.input(1).node, to.name_of(node.input(0)));
  return to.add("Gather", {to.name_of(node.input(1)), to.name_of(node.input(0))});
}

std::string full(OnnxBuilder& to, Node& node) {
  const double value = node.attributes().get<double>("value");
  const std::string shape = to.add("Shape", {to.name_of(node.input(0))});
  const bool whole = node.types()[0].dtype == DType::i64;
  return to.add("Expand", {whole ? to.integer(static_cast<std::int64_t>(value))
                                 : to.number(static_cast<float>(value)),
                           shape});
}

std::string gelu(OnnxBuilder& to, Node& node) {
  constexpr int kFirstOpset = 20;
  if (to.opset() < kFirstOpset) return add_formula(to, node);
  return to.add("Gelu", {to.name_of(node.input(0))},
                {{"approximate", node.attributes().get<std::string>("approximate")}});
}

std::string global_average_pool(OnnxBuilder& to, Node& node) {
  return to.add("ReduceMean", {to.name_of(node.input(0)), to.integers({2, 3})},
                {{"keepdims", std::int64_t{0}}});
}

std::string layer_norm(OnnxBuilder& to, Node& node) {
  return to.add("LayerNormalization",
                {to.name_of(node.input(0)), to.name_of(node.input(1)), to.name_of(node.input(2))},
                {{"axis", std::int64_t{-1}}, {"epsilon", node.attributes().get<double>("eps")}});
}

std::string linear(OnnxBuilder& to, Node& node) {
  const bool has_bias = node.inputs().size() == 3;
  const Value x = node.input(0), weight = node.input(1);
  const auto with_bias = [&](const std::string& product) {
    return has_bias ? to.add("Add", {product, to.name_of(node.input(2))}) : product;
  };
  if (is_packed_weight(weight)) return with_bias(packed_product(to, x, *weight.node));
  if (x.type().rank() == 2) {
    std::vector<std::string> inputs;
    for (const Value& input : node.inputs()) inputs.push_back(to.name_of(input));
    return to.add("Gemm", std::move(inputs), {{"transB", std::int64_t{1}}});
  }
  return with_bias(to.add("MatMul", {to.name_of(x), to.transposed(weight)}));
}

std::string matmul(OnnxBuilder& to, Node& node) {
  return to.add("MatMul", {to.name_of(node.input(0)), to.name_of(node.input(1))});
}

std::string max_pool2d(OnnxBuilder& to, Node& node) {
  const auto of = [&](const char* name) { return node.attributes().get<std::int64_t>(name); };
  return to.add("MaxPool", {to.name_of(node.input(0))},
                {{"kernel_shape", Integers(2, of("kernel"))},
                 {"strides", Integers(2, of("stride"))},
                 {"pads", Integers(4, of("padding"))}});
}

std::string normalize(OnnxBuilder& to, Node& node) {
  const std::string x = to.name_of(node.input(0));
  const std::string norm = to.add("ReduceL2", {x, to.integers({-1})});
  const auto eps = static_cast<float>(node.attributes().get<double>("eps"));
  return to.add("Div", {x, to.add("Max", {norm, to.number(eps)})});
}

// Masked tokens are excluded from sums, whatever their values; a text without tokens gives 0.
std::string pool_tokens(OnnxBuilder& to, Node& node) {
  const std::string x = to.name_of(node.input(0));
  const auto& mode = node.attributes().get<std::string>("mode");
  const std::string kept =
      to.cast(to.add("Unsqueeze", {to.name_of(node.input(1)), to.integers({2})}),
              OnnxType::boolean);  // (B, S, 1)
  const std::string ones = to.cast(kept, OnnxType::f32);
  const OnnxAttributes without_axis = {{"keepdims", std::int64_t{0}}};
  const std::string axis = to.integers({1});
  const std::string count = to.add("ReduceSum", {ones, axis}, without_axis);  // (B, 1)
  if (mode == "max") {
    const std::string masked =
        to.add("Where", {kept, x, to.number(std::numeric_limits<float>::lowest())});
    const std::string largest = to.add("ReduceMax", {masked, axis}, without_axis);
    return to.add("Where", {to.add("Greater", {count, to.number(0)}), largest, to.number(0)});
  }
  const std::string sum =
      to.add("ReduceSum", {to.add("Where", {kept, x, to.number(0)}), axis}, without_axis);
  const std::string divisor = to.add("Max", {count, to.number(1)});
  return to.add("Div", {sum, mode == "mean" ? divisor : to.add("Sqrt", {divisor})});
}

std::string relu(OnnxBuilder& to, Node& node) {
  return to.add("Relu", {to.name_of(node.input(0))});
}

std::string reshape(OnnxBuilder& to, Node& node) {
  return to.add("Reshape", {to.name_of(node.input(0)),
                            to.target_shape(node.types()[0].shape, node.input(0).type().shape)});
}

std::string slice(OnnxBuilder& to, Node& node) {
  const std::int64_t axis = node.attributes().get<std::int64_t>("axis"),
                     begin = node.attributes().get<std::int64_t>("begin");
  const Dim& size = node.attributes().get<Shape>("size")[0];
  std::string end;
  if (size.symbol == 0) {
    end = to.integers({begin + size.size});
  } else {
    end = to.size_of(size.symbol);
    if (begin != 0) end = to.add("Add", {end, to.integers({begin})});
  }
  return to.add("Slice",
                {to.name_of(node.input(0)), to.integers({begin}), end, to.integers({axis})});
}

std::string softmax(OnnxBuilder& to, Node& node) {
  return to.add("Softmax", {to.name_of(node.input(0))}, {{"axis", std::int64_t{-1}}});
}

std::string token_positions(OnnxBuilder& to, Node& node) {
  const std::string ids = to.name_of(node.input(0));
  const std::string padding = to.integer(node.attributes().get<std::int64_t>("padding"));
  const std::string is_token =
      to.cast(to.add("Not", {to.add("Equal", {ids, padding})}), OnnxType::i64);
  const std::string counted = to.add("CumSum", {is_token, to.integer(1)});
  return to.add("Add", {to.add("Mul", {counted, is_token}), padding});
}

std::string transpose(OnnxBuilder& to, Node& node) {
  Integers axes;
  for (const Dim& axis : node.attributes().get<Shape>("axes")) axes.push_back(axis.size);
  return to.add("Transpose", {to.name_of(node.input(0))}, {{"perm", std::move(axes)}});
}

struct FormRow {
  std::string_view op;
  OnnxForm form;
};

// Other element-wise operations are exported as their formulas.
constexpr FormRow kForms[] = {
    {"attention", attention},
    {"attention_mask", attention_mask},
    {"batch_norm", batch_norm},
    {"concat", concat},
    {"conv2d", conv2d},
    {"embedding", embedding},
    {"full", full},
    {"gelu", gelu},
    {"global_average_pool", global_average_pool},
    {"layer_norm", layer_norm},
    {"linear", linear},
    {"matmul", matmul},
    {"max_pool2d", max_pool2d},
    {"normalize", normalize},
    {"pool_tokens", pool_tokens},
    {"quantize", rounded_value},
    {"relu", relu},
    {"reshape", reshape},
    {"slice", slice},
    {"softmax", softmax},
    {"token_positions", token_positions},
    {"transpose", transpose},
    {"unpack", packed_weight},
};

}  // namespace

OnnxForm find_onnx_form(const OpDef& op) {
  const auto* const row = std::ranges::find(kForms, op.name, &FormRow::op);
  if (row != std::end(kForms)) return row->form;
  return op.formula != nullptr ? add_formula : nullptr;
}

}  // namespace hone
