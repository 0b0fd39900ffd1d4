#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "hone/ops/dropout_factors.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, s, n] = sum_t dropout(softmax_t(scale q[b, s, n] . k[b, t, n] + mask[b, t])) v[b, t, n]: Vaswani and others, "Attention
// is all you need", 2017; with heads where linears leave them, q (B, S, N, D), k (B, T, N, D), v (B, T, N, E), y (B, S, N, E).
//
// Weights (B, N, S, T) are dropped as by `dropout`, where `p` is above 0, and are nowhere as a whole but in the gradient, which
// computes them again.
namespace hone::ops {
namespace {

constexpr std::size_t kKeyOperand = 3;  // where weights are dropped

bool drops(const Attributes& attributes) {
  const double* const p = std::get_if<double>(attributes.find("p"));
  return p != nullptr && *p != 0;
}

std::size_t mask_operand(const Attributes& attributes) {
  return drops(attributes) ? kKeyOperand + 1 : kKeyOperand;
}

std::vector<OperandDef> inputs_of(const Attributes& attributes) {
  if (!drops(attributes)) return {"query", "key", "value", "mask?"};
  return {"query", "key", "value", "random_key", "mask?"};
}

// What weights would be.
Type weights_of(const Type& query, const Type& key) {
  return {DType::f32, {query.dim(0), query.dim(2), query.dim(1), key.dim(1)}};
}

std::vector<Type> infer(const TypeContext& context) {
  user_check(std::holds_alternative<double>(*context.attributes.find("scale")),
             "scale must be a real number");
  const std::vector<Type>& inputs = context.inputs;
  const Type &q = inputs[0], &k = inputs[1], &v = inputs[2];
  const std::vector<OperandDef> operands = inputs_of(context.attributes);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (drops(context.attributes) && i == kKeyOperand) continue;
    const std::string_view name = operands[i].name.substr(0, operands[i].name.find('?'));
    expect_dtype(inputs[i], DType::f32, name);
    expect_rank(inputs[i], 4, name);
  }
  expect_equal(k.dim(0), q.dim(0), "texts of the key");
  expect_equal(k.dim(2), q.dim(2), "heads of the key");
  expect_equal(k.dim(3), q.dim(3), "head size of the key");
  expect_equal(v.dim(0), q.dim(0), "texts of the value");
  expect_equal(v.dim(1), k.dim(1), "tokens of the value");
  expect_equal(v.dim(2), q.dim(2), "heads of the value");
  expect_dropout(drops(context.attributes) ? inputs[kKeyOperand] : Type{DType::i64, {}},
                 weights_of(q, k), context.attributes);
  const std::size_t mask_at = mask_operand(context.attributes);
  if (inputs.size() > mask_at) {
    const Type& mask = inputs[mask_at];
    if (!(mask.dim(0) == Dim(1))) expect_equal(mask.dim(0), q.dim(0), "texts of the mask");
    expect_equal(mask.dim(1), Dim(1), "heads of the mask");
    expect_equal(mask.dim(2), Dim(1), "queries of the mask");
    expect_equal(mask.dim(3), k.dim(1), "tokens of the mask");
  }
  return {{DType::f32, {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}}};
}

// One head of one text.
struct HeadInputs {
  Tensor q, k, v;     // (S, D), (T, D), (T, E)
  const float* mask;  // (T); null: none
  double scale;

  // Weights of all keys for query `s`.
  std::vector<double> weights(std::int64_t s) const {
    std::vector<double> scores(static_cast<std::size_t>(k.size(0)));
    for (std::int64_t t = 0; t < k.size(0); ++t) {
      double sum = 0;
      for (std::int64_t d = 0; d < k.size(1); ++d)
        sum += static_cast<double>(at(q, s, d)) * static_cast<double>(at(k, t, d));
      scores[static_cast<std::size_t>(t)] =
          scale * sum + (mask == nullptr ? 0.0 : static_cast<double>(mask[t]));
    }
    const double maximum = scores.empty() ? 0.0 : std::ranges::max(scores);
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - maximum);
    for (double& score : scores) score /= sum;
    return scores;
  }

  static float at(const Tensor& x, std::int64_t row, std::int64_t column) {
    return x.data<float>()[row * x.strides()[0] + column * x.strides()[1]];
  }
};

// (tokens, size) of x (B, tokens, N, size)
Tensor head_of(const Tensor& x, std::int64_t text, std::int64_t head) {
  const Tensor one = x.slice(0, text, text + 1).slice(2, head, head + 1);
  return Tensor::view_of(one.storage(), one.dtype(), {x.size(1), x.size(3)},
                         {x.strides()[1], x.strides()[3]}, one.offset());
}

// The weights that query `s` of head `n` of text `b` gives.
void drop(std::vector<double>& weights, const DropoutFactors& factors, std::int64_t b,
          std::int64_t n, std::int64_t s) {
  const Sizes& strides = factors.word_strides();
  std::int64_t word = b * strides[0] + n * strides[1] + s * strides[2];
  for (double& weight : weights) {
    weight *= static_cast<double>(factors.at(word));
    word += strides[3];
  }
}

void forward(Call& call) {
  const Tensor &q = call.input(0), &v = call.input(2);
  const std::size_t mask_at = mask_operand(call.attributes);
  const Tensor mask = call.has_input(mask_at) ? reference::dense(call.input(mask_at)) : Tensor();
  std::optional<DropoutFactors> factors;
  if (drops(call.attributes))
    factors.emplace(call, kKeyOperand, Sizes{q.size(0), q.size(2), q.size(1), v.size(1)});
  // The factor acts as the fp32 number it becomes in every fp32 program.
  const double scale = static_cast<float>(call.attributes.get<double>("scale"));
  Tensor& y = call.output();
  for (std::int64_t b = 0; b < q.size(0); ++b) {
    const float* masked = nullptr;
    if (mask.defined()) masked = mask.data<float>() + (mask.size(0) == 1 ? 0 : b * mask.size(3));
    for (std::int64_t n = 0; n < q.size(2); ++n) {
      const HeadInputs head{head_of(q, b, n), head_of(call.input(1), b, n), head_of(v, b, n),
                            masked, scale};
      for (std::int64_t s = 0; s < q.size(1); ++s) {
        std::vector<double> weights = head.weights(s);
        if (factors) drop(weights, *factors, b, n, s);
        float* const out = y.data<float>() + ((b * q.size(1) + s) * q.size(2) + n) * v.size(3);
        for (std::int64_t e = 0; e < v.size(3); ++e) {
          double sum = 0;
          for (std::size_t t = 0; t < weights.size(); ++t)
            sum += weights[t] *
                   static_cast<double>(HeadInputs::at(head.v, static_cast<std::int64_t>(t), e));
          out[e] = static_cast<float>(sum);
        }
      }
    }
  }
}

// What its two products, its scaling, its mask and its softmax count for alone.
double flops(const TypeContext& context, const Bindings& bindings) {
  const Type &q = context.inputs[0], &v = context.inputs[2];
  const auto size = [&](const Type& type, std::int64_t axis) {
    return static_cast<double>(resolve(type.dim(axis), bindings));
  };
  const double scores = size(q, 0) * size(q, 1) * size(q, 2) * size(v, 1);
  const double mask = context.inputs.size() > mask_operand(context.attributes) ? 1 : 0;
  const double dropout = drops(context.attributes) ? 1 : 0;
  return scores * (2 * size(q, 3) + 2 * size(v, 3) + 1 + mask + 4 + dropout);
}

// The steps as operations, whose weights are computed again, and their gradients.
std::vector<Value> gradient(GradientContext& c) {
  const Attributes& attributes = c.node.attributes();
  const std::size_t mask_at = mask_operand(attributes);
  const auto transposed = [&](Value x, const Shape& axes) {
    return c.add("transpose", {x}, {{"axes", axes}});
  };
  const Shape heads_first = {0, 2, 1, 3}, last_swapped = {0, 1, 3, 2};
  const Attributes scale = {{"factor", *attributes.find("scale")}},
                   dropout = {{"p", *attributes.find("p")},
                              {"stream", *attributes.find("stream")},
                              {"limits", *attributes.find("limits")}};
  const auto dropped = [&](Value x) {
    return drops(attributes) ? c.add("dropout", {x, c.input(kKeyOperand)}, dropout) : x;
  };
  const Value query = transposed(c.input(0), heads_first),
              key = transposed(c.input(1), heads_first);
  Value scores = c.add("scale", {c.add("matmul", {query, transposed(key, last_swapped)})}, scale);
  if (c.has_input(mask_at)) scores = c.add("add", {scores, c.input(mask_at)});
  const Value weights = c.add("softmax", {scores}), left = dropped(weights);
  const Value dy = transposed(c.output_gradient(), heads_first);
  const Value dvalue = c.add("matmul", {transposed(left, last_swapped), dy});
  const Value dleft = c.add("matmul", {dy, transposed(c.input(2), {0, 2, 3, 1})});
  const Value dscores = c.add("softmax_gradient", {weights, dropped(dleft)});
  const Value dproduct = c.add("scale", {dscores}, scale);
  const Value dquery = c.add("matmul", {dproduct, key}),
              dkey = c.add("matmul", {transposed(dproduct, last_swapped), query});
  std::vector<Value> gradients = {transposed(dquery, heads_first), transposed(dkey, heads_first),
                                  transposed(dvalue, heads_first)};
  if (drops(attributes)) gradients.emplace_back();
  if (c.has_input(mask_at)) gradients.push_back(dscores);
  return gradients;
}

}  // namespace

std::vector<OpDef> attention() {
  return {
      {.name = "attention",
       .summary = "y (B, S, N, E) = dropout(softmax(scale query (B, S, N, D) key (B, T, N, D)^T + "
                  "mask (B, 1, 1, T))) value (B, T, N, E)",
       .inputs = {"query", "key", "value", "mask?"},
       .inputs_of = inputs_of,
       .attributes = {{"scale", {}}, {"p", 0.0}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
       .trait = Trait::contraction,
       .infer = infer,
       .reference = forward,
       .gradient = gradient,
       .flops = flops}};
}

}  // namespace hone::ops
