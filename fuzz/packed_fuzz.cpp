#include <algorithm>
#include <cmath>

#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/graph_file.h"
#include "hone/passes/pack.h"
#include "hone/passes/quantize.h"
#include "hone/runtime/native_formats.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/safetensors.h"

namespace hone::fuzz {
namespace {

constexpr std::int64_t kMostElements = 1 << 14;  // of a weight whose products are checked

const Library& library() {
  static const Library all = builtin_library();
  return all;
}

ThreadPool& pool() {
  static ThreadPool one(1);
  return one;
}

// Returns the parameters as if a model were loaded: all of them, with the types that the graph declares.
ParameterStore parameters_of(const Graph& graph, const Safetensors& file) {
  ParameterStore parameters;
  for (const Node* node : graph.of_kind(NodeKind::parameter)) {
    const auto found = file.tensors.find(node->name());
    user_check(found != file.tensors.end(), "{} is not there", node->name());
    Type given{found->second.dtype(), {}};
    for (const std::int64_t size : found->second.sizes()) given.shape.emplace_back(size);
    user_check(given == node->types()[0], "{} is no {}", node->name(), to_string(node->types()[0]));
    parameters.set(node->name(), found->second.contiguous_copy());
  }
  const std::string broken = parameters.first_not_finite();
  user_check(broken.empty(), "{} is no number", broken);
  return parameters;
}

// A separate graph with one packed weight.
struct Alone {
  Graph graph{library().ops};
  ParameterStore parameters;
  Value weight;

  Alone(const Node& unpack, const ParameterStore& all) {
    std::vector<Value> inputs;
    for (const Value& input : unpack.inputs()) {
      const Node& from = *input.node;
      inputs.push_back(graph.find(from.name()) != nullptr
                           ? Value{graph.find(from.name()), 0}
                           : graph.add_parameter(from.name(), from.types()[0], from.role(), false));
      parameters.set(from.name(), all.at(from.name()));
    }
    weight = graph.add("unpack", inputs, unpack.attributes(), unpack.name());
  }
  Tensor run(Value y, const NamedTensors& inputs) {
    graph.set_output("y", y);
    const Session session{library(), pool()};
    prepare_for_inference(graph, parameters, session);
    return session.executable(graph)->run(inputs, parameters).at("y");
  }
};

float input_value(std::int64_t i) { return static_cast<float>((i * 37 + 11) % 101 - 50) / 16; }

// Checks y = x W^T, by whichever kernel accepts it, against sums in double. If `input_format` is empty, x is not
// rounded.
void expect_product(const Node& unpack, const ParameterStore& all, const Tensor& w,
                    const std::optional<Format>& input_format) {
  constexpr std::int64_t kRows = 3;
  const std::int64_t n = w.size(0), k = w.size(1);
  Alone alone(unpack, all);
  Value x = alone.graph.add_input("x of fuzzer", {DType::f32, {Dim(kRows), Dim(k)}});
  const Value bias = alone.graph.add_parameter("bias of fuzzer", {DType::f32, {Dim(n)}},
                                               ParameterRole::bias, true);
  alone.parameters.set("bias of fuzzer", Tensor::zeros(DType::f32, {n}));
  Tensor given = Tensor::empty(DType::f32, {kRows, k}),
         seen = Tensor::empty(DType::f32, {kRows, k});
  for (std::int64_t i = 0; i < given.count(); ++i)
    seen.data<float>()[i] = given.data<float>()[i] = input_value(i);
  if (input_format) {
    x = alone.graph.add(kQuantizer, {x}, {{"format", *input_format}});
    input_format->def->quantize_reference({*input_format, given.sizes(), given.values<float>(), {}},
                                          seen.values<float>());
  }
  const Tensor y =
      alone.run(alone.graph.add("linear", {x, alone.weight, bias}), {{"x of fuzzer", given}});
  for (std::int64_t i = 0; i < kRows * n; ++i) {
    double sum = 0, magnitudes = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const double term = static_cast<double>(seen.data<float>()[i / n * k + j]) *
                          static_cast<double>(w.data<float>()[i % n * k + j]);
      sum += term;
      magnitudes += std::fabs(term);
    }
    if (!(magnitudes > 1e-30 && magnitudes < 1e30)) continue;
    HONE_ASSERT(std::fabs(static_cast<double>(y.data<float>()[i]) - sum) <= 1e-5 * magnitudes,
                "{}: sum {} is {}, expected {}", unpack.name(), i, y.data<float>()[i], sum);
  }
}

void expect_rows(const Node& unpack, const ParameterStore& all, const Tensor& w) {
  Alone alone(unpack, all);
  const std::int64_t count = w.size(0);
  const Value ids = alone.graph.add_input("ids of fuzzer", {DType::i64, {Dim(count)}});
  Tensor every = Tensor::empty(DType::i64, {count});
  for (std::int64_t i = 0; i < count; ++i) every.data<std::int64_t>()[i] = i;
  const Tensor y =
      alone.run(alone.graph.add("embedding", {ids, alone.weight}, {{"padding", std::int64_t{-1}}}),
                {{"ids of fuzzer", every}});
  HONE_ASSERT(std::ranges::equal(y.values<float>(), w.values<float>()), "{}: other rows",
              unpack.name());
}

std::optional<Format> native_input_for(const Format& weight) {
  if (!native_unsupported_reason(weight).empty()) return std::nullopt;
  return native_input(weight, library().formats);
}

}  // namespace

void packed(std::string_view bytes) {
  const std::size_t end = std::min(bytes.find('\0'), bytes.size());
  Graph graph = parse_graph_file(bytes.substr(0, end), library().ops, library().formats);
  const Safetensors file =
      read_safetensors(SharedBytes{bytes.substr(std::min(end + 1, bytes.size())), nullptr});
  const ParameterStore all = parameters_of(graph, file);
  check_packed_weights(graph, all, pool());
  ParameterStore dense = all;
  Graph plain = graph;
  unpack_weights(plain, dense, pool());
  HONE_ASSERT(dense.first_not_finite().empty(), "{} is no number", dense.first_not_finite());
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!node->is(kUnpack)) continue;
    const std::string& codes = node->inputs()[0].node->name();
    const Tensor& w = dense.at(codes.substr(0, codes.rfind('.')));
    if (w.sizes().size() != 2 || w.count() > kMostElements) continue;
    expect_product(*node, all, w, std::nullopt);
    if (const auto input = native_input_for(node->attributes().get<Format>("format")))
      expect_product(*node, all, w, input);
    expect_rows(*node, all, w);
  }
}

}  // namespace hone::fuzz
