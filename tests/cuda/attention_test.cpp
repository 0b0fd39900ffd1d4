#include <cmath>

#include "hone/base/random.h"
#include "hone/tensor/dense.h"
#include "tests/cuda/gpu.h"
#include "tests/support/evaluate.h"

// Compares attention of 16-bit values and its gradient on tensor cores with the reference, which computes in double
// from the same inputs. Scores, weights and their gradients are rounded to 16 bits before the next product, and results
// once more. These are a few roundings of 2^-9 (bf16) or 2^-12 (f16) each, with random signs; the norm may differ by
// four of them.
namespace hone::testing {
namespace {

class CudaAttention : public OnGpu {
 protected:
  static NamedTensors run(const Graph& graph, const NamedTensors& inputs, Device& device) {
    ThreadPool pool(1);
    ParameterStore none;
    NamedTensors there;
    for (const auto& [name, tensor] : inputs) there.emplace(name, tensor.on(device));
    const Library& tables = device.host_accessible() ? references() : library();
    NamedTensors outputs;
    for (const auto& [name, tensor] : Interpreter(graph, tables, pool, device).run(there, none))
      outputs.emplace(name, dense_on(tensor, cpu()).cast(DType::f32));
    return outputs;
  }
};

struct Case {
  std::int64_t texts, queries, keys, size;
  bool drops, masks, runs;
};

Tensor drawn(const Sizes& sizes, std::string_view name, DType dtype) {
  RandomSequence random(4, stream_of(name));
  Tensor values = Tensor::empty(DType::f32, sizes);
  for (float& value : values.values<float>()) value = static_cast<float>(random.normal());
  return values.cast(dtype);
}

// Returns the graph of a case, and its inputs. In runs, text b has queries - 7 b tokens, and five more tokens belong to
// no text.
std::pair<std::string, NamedTensors> graph_of(const Case& c, DType dtype, bool gradient) {
  const std::string type(info(dtype).name);
  std::int64_t tokens = 0;
  std::vector<std::int64_t> begins, lengths;
  for (std::int64_t b = 0; b < c.texts; ++b) {
    begins.push_back(tokens);
    lengths.push_back(std::max<std::int64_t>(1, c.queries - 7 * b));
    tokens += lengths.back();
  }
  tokens += 5;
  const Sizes q = c.runs ? Sizes{1, tokens, 2, c.size} : Sizes{c.texts, c.queries, 2, c.size},
              k = c.runs ? q : Sizes{c.texts, c.keys, 2, c.size};
  NamedTensors inputs = {
      {"q", drawn(q, "q", dtype)}, {"k", drawn(k, "k", dtype)}, {"v", drawn(k, "v", dtype)}};
  std::string text = fmt::format("%q = input : {0}{1}\n%k = input : {0}{2}\n%v = input : {0}{2}\n",
                                 type, to_string(q), to_string(k)),
              operands = "%q, %k, %v", attributes = "scale=0.11";
  if (gradient) {
    text += fmt::format("%dy = input : {}{}\n", type, to_string(q));
    operands += ", %dy";
    inputs.emplace("dy", drawn(q, "dy", dtype));
  }
  if (c.drops) {
    text += "%key = input : i64[]\n";
    operands += ", %key";
    inputs.emplace("key", Tensor::scalar<std::int64_t>(9));
    // At least the sizes; in runs, those of all tokens.
    attributes += fmt::format(", p=0.25, stream=3, limits=[{}, 2, {}, {}]", c.texts,
                              std::max(tokens, c.queries) + 3, std::max(tokens, c.keys) + 2);
  }
  if (c.runs) {
    text += fmt::format("%begins = input : i64[{0}]\n%lengths = input : i64[{0}]\n", c.texts);
    operands += ", %begins, %lengths";
    attributes += ", unpadded=true, rest=true";
    inputs.emplace("begins", Tensor::of<std::int64_t>({c.texts}, begins));
    inputs.emplace("lengths", Tensor::of<std::int64_t>({c.texts}, lengths));
  } else if (c.masks) {
    text += fmt::format("%mask = input : f32[{}, 1, 1, {}]\n", c.texts, c.keys);
    operands += ", %mask";
    std::vector<float> mask(static_cast<std::size_t>(c.texts * c.keys), 0.0f);
    for (std::size_t i = 0; i < mask.size(); ++i)
      if (i % 5 == 4) mask[i] = -3.4028234663852886e38f;
    inputs.emplace("mask", Tensor::of<float>({c.texts, 1, 1, c.keys}, mask));
  }
  if (gradient) {
    text += fmt::format(
        "%d = attention_gradient({0}) {{{1}}} : {2}{3}, {2}{4}, {2}{4}\noutput dq = "
        "%d\noutput dk = %d:1\noutput dv = %d:2\n",
        operands, attributes, type, to_string(q), to_string(k));
  } else {
    text += fmt::format("%y = attention({}) {{{}}} : {}{}\noutput y = %y\n", operands, attributes,
                        type, to_string(q));
  }
  return {text, inputs};
}

double norm(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

TEST_F(CudaAttention, OfHalvesAgreesWithTheReference) {
  const Case cases[] = {
      {2, 1, 1, 64, true, false, false},      {3, 9, 9, 32, true, false, true},
      {2, 26, 26, 64, true, false, true},     {2, 128, 128, 64, true, true, false},
      {2, 128, 128, 128, false, true, false}, {1, 130, 70, 96, true, false, false},
      {2, 200, 200, 64, true, false, true},   {2, 40, 40, 48, true, true, false},
      {1, 300, 300, 32, false, false, false}};
  for (const Case& c : cases)
    for (const DType dtype : {DType::bf16, DType::f16})
      for (const bool gradient : {false, true}) {
        const auto [text, inputs] = graph_of(c, dtype, gradient);
        const Graph graph = parse(text);
        const NamedTensors expected = run(graph, inputs, cpu()), got = run(graph, inputs, gpu()),
                           again = run(graph, inputs, gpu());
        const double allowed = 4 * (dtype == DType::bf16 ? 0x1p-9 : 0x1p-12);
        for (const auto& [name, tensor] : expected) {
          const std::vector<float> a = elements_of(got.at(name)), b = elements_of(tensor);
          EXPECT_EQ(a, elements_of(again.at(name))) << name << " of\n" << text;
          std::vector<float> difference(a.size());
          for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
          // Results that should be zero are differences of numbers near 1.
          const double least = 0.01 * std::sqrt(static_cast<double>(b.size()));
          EXPECT_LE(norm(difference), allowed * std::max(norm(b), least)) << name << " of\n"
                                                                          << text;
        }
      }
}

}  // namespace
}  // namespace hone::testing
