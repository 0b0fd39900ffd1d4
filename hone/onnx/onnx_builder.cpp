#include "hone/onnx/onnx_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "hone/base/error.h"

namespace hone {
namespace {

static_assert(std::endian::native == std::endian::little, "ONNX files are little-endian");

OnnxType onnx_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return OnnxType::f32;
    case DType::f16:
      return OnnxType::f16;
    case DType::bf16:
      return OnnxType::bf16;
    case DType::i64:
      return OnnxType::i64;
    case DType::i8:
      return OnnxType::i8;
    case DType::u8:
      return OnnxType::u8;
    case DType::boolean:
      return OnnxType::boolean;
    default:
      fail("ONNX export does not support values of type {}", info(dtype).name);
  }
}

template <typename T>
std::string bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

OnnxConstant constant_of(const std::string& name, const Tensor& tensor, DType stored) {
  return {.name = name,
          .type = onnx_type(stored),
          .sizes = tensor.sizes(),
          .bytes = onnx_bytes(onnx_type(stored), tensor.count()),
          .write = [tensor, stored](const ByteSink& sink) {
            const Tensor cast = tensor.dtype() == stored ? tensor : tensor.cast(stored);
            const Tensor dense = cast.contiguous() ? cast : cast.contiguous_copy();
            sink({dense.device_pointer(), dense.size_bytes()});
          }};
}

}  // namespace

OnnxBuilder::OnnxBuilder(OnnxModel& model, const Graph& graph, const ParameterStore& parameters,
                         DType weights)
    : model_(model), graph_(graph), parameters_(parameters), weights_(weights) {
  for (const auto& node : graph.nodes()) used_.insert(node->name());
  for (Node* input : graph.of_kind(NodeKind::input)) {
    model_.inputs.push_back(
        {input->name(), onnx_type(input->types()[0].dtype), input->types()[0].shape});
    names_[input->result()] = input->name();
  }
  for (const auto& [name, value] : graph.outputs()) {
    user_check(used_.insert(name).second || value.node->name() == name,
               "the graph has an output and another value that are both called '{}'", name);
    model_.outputs.push_back({name, onnx_type(value.type().dtype), value.type().shape});
  }
}

std::string OnnxBuilder::name_of(Value value) {
  const auto known = names_.find(value);
  if (known != names_.end()) return known->second;
  HONE_ASSERT(value.node->kind() == NodeKind::parameter, "{} is read before it is computed",
              value.node->name());
  const std::string& name = value.node->name();
  const Tensor tensor = values_of(*value.node);
  const bool narrow = tensor.dtype() == DType::f32 && tensor.rank() >= 2;
  const DType stored = narrow ? weights_ : tensor.dtype();
  model_.constants.push_back(constant_of(name, tensor, stored));
  return names_[value] = stored == tensor.dtype() ? name : cast(name, OnnxType::f32);
}

Tensor OnnxBuilder::values_of(const Node& parameter) const {
  return parameters_.at(parameter.name()).on(cpu());
}

void OnnxBuilder::begin(const Node& node) {
  node_ = node.name();
  first_node_ = model_.nodes.size();
}

void OnnxBuilder::end(Value result, const std::string& name, const std::string& wanted) {
  const bool is_new = std::any_of(model_.nodes.begin() + static_cast<std::ptrdiff_t>(first_node_),
                                  model_.nodes.end(),
                                  [&](const OnnxNode& node) { return node.outputs[0] == name; });
  if (is_new) rename(name, wanted);
  names_[result] = is_new ? wanted : name;
}

void OnnxBuilder::finish() {
  node_ = "outputs";
  for (const auto& [output, value] : graph_.outputs()) {
    const std::string name = name_of(value);
    if (name == output) continue;
    first_node_ = model_.nodes.size();
    rename(add("Identity", {name}), output);
  }
}

std::string OnnxBuilder::add(std::string_view op, std::vector<std::string> inputs,
                             OnnxAttributes attributes) {
  const std::string name = unique(fmt::format("{}.{}", node_, op));
  model_.nodes.push_back({name, std::string(op), std::move(inputs), {name}, std::move(attributes)});
  return name;
}

std::vector<std::string> OnnxBuilder::add_with_results(std::string_view op,
                                                       std::vector<std::string> inputs,
                                                       std::size_t count) {
  add(op, std::move(inputs));
  std::vector<std::string>& outputs = model_.nodes.back().outputs;
  while (outputs.size() < count) outputs.push_back(unique(outputs[0]));
  return outputs;
}

std::string OnnxBuilder::cast(const std::string& value, OnnxType type) {
  return add("Cast", {value}, {{"to", static_cast<std::int64_t>(type)}});
}

std::string OnnxBuilder::number(float value) {
  return small_constant(OnnxType::f32, {}, bytes_of(std::span<const float>(&value, 1)));
}

std::string OnnxBuilder::byte(std::uint8_t value) {
  return small_constant(OnnxType::u8, {}, std::string(1, static_cast<char>(value)));
}

std::string OnnxBuilder::integer(std::int64_t value) {
  return small_constant(OnnxType::i64, {}, bytes_of(std::span<const std::int64_t>(&value, 1)));
}

std::string OnnxBuilder::integers(const std::vector<std::int64_t>& values) {
  return small_constant(OnnxType::i64, {std::ssize(values)},
                        bytes_of(std::span<const std::int64_t>(values)));
}

std::string OnnxBuilder::constant(OnnxConstant constant) {
  constant.name = unique(constant.name);
  model_.constants.push_back(std::move(constant));
  return model_.constants.back().name;
}

std::string OnnxBuilder::size_of(char symbol) {
  std::string& name = sizes_[symbol];
  if (!name.empty()) return name;
  for (const OnnxValue& input : model_.inputs)
    for (std::size_t axis = 0; axis < input.shape.size(); ++axis)
      if (input.shape[axis].symbol == symbol)
        return name = add("Shape", {input.name},
                          {{"start", static_cast<std::int64_t>(axis)},
                           {"end", static_cast<std::int64_t>(axis + 1)}});
  fail("{}: no input has the size {} that it needs", node_, symbol);
}

std::string OnnxBuilder::target_shape(const Shape& shape, const Shape& like) {
  std::vector<std::int64_t> sizes;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool same = i < like.size() && shape[i] == like[i];
    if (shape[i].symbol == 0) {
      sizes.push_back(shape[i].size);
    } else {
      sizes.push_back(same ? 0 : -1);
      unknown += same ? 0 : 1;
    }
  }
  if (unknown <= 1) return integers(sizes);
  std::vector<std::string> parts;
  for (const Dim& dim : shape)
    parts.push_back(dim.symbol == 0 ? integers({dim.size}) : size_of(dim.symbol));
  return add("Concat", std::move(parts), {{"axis", std::int64_t{0}}});
}

std::string OnnxBuilder::transposed(Value matrix) {
  std::string& name = shared(matrix, "transposed");
  if (name.empty())
    name = add("Transpose", {name_of(matrix)}, {{"perm", std::vector<std::int64_t>{1, 0}}});
  return name;
}

std::string OnnxBuilder::unique(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 1; !used_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

std::string OnnxBuilder::small_constant(OnnxType type, Sizes sizes, std::string bytes) {
  std::string& name =
      small_constants_[fmt::format("{} {} ", static_cast<int>(type), to_string(sizes)) + bytes];
  if (!name.empty()) return name;
  const std::uint64_t size = bytes.size();
  return name = constant({.name = "constant",
                          .type = type,
                          .sizes = std::move(sizes),
                          .bytes = size,
                          .write = [bytes = std::move(bytes)](const ByteSink& sink) {
                            sink(std::as_bytes(std::span(bytes)));
                          }});
}

void OnnxBuilder::rename(const std::string& from, const std::string& to) {
  for (std::size_t i = first_node_; i < model_.nodes.size(); ++i) {
    OnnxNode& node = model_.nodes[i];
    std::ranges::replace(node.inputs, from, to);
    if (node.outputs[0] != from) continue;
    node.outputs[0] = to;
    node.name = to;
  }
}

}  // namespace hone
