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
// Weights (B, N, S, T) are dropped as by `dropout`, where `p` is above 0, and are nowhere as a whole: the gradient computes them again.
namespace hone::ops {
namespace {

// Behind query, key and value, and behind dy of the gradient: the random key where weights are dropped, then the mask.
constexpr std::size_t kForwardOperands = 3, kGradientOperands = 4;

bool drops(const Attributes& attributes) {
  const double* const p = std::get_if<double>(attributes.find("p"));
  return p != nullptr && *p != 0;
}

std::size_t mask_operand(const Attributes& attributes, std::size_t operands) {
  return drops(attributes) ? operands + 1 : operands;
}

std::vector<OperandDef> with_key_and_mask(std::vector<OperandDef> operands,
                                          const Attributes& attributes) {
  if (drops(attributes)) operands.emplace_back("random_key");
  operands.emplace_back("mask?");
  return operands;
}

std::vector<OperandDef> inputs_of(const Attributes& attributes) {
  return with_key_and_mask({"query", "key", "value"}, attributes);
}

std::vector<OperandDef> gradient_inputs_of(const Attributes& attributes) {
  return with_key_and_mask({"query", "key", "value", "dy"}, attributes);
}

// What weights would be.
Type weights_of(const Type& query, const Type& key) {
  return {DType::f32, {query.dim(0), query.dim(2), query.dim(1), key.dim(1)}};
}

// Checks all operands but dy, `first_operands` of which stand in front of random key and mask; the type of y.
Type check_operands(const TypeContext& context, const std::vector<OperandDef>& operands,
                    std::size_t first_operands) {
  user_check(std::holds_alternative<double>(*context.attributes.find("scale")),
             "scale must be a real number");
  const std::vector<Type>& inputs = context.inputs;
  const Type &q = inputs[0], &k = inputs[1], &v = inputs[2];
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (drops(context.attributes) && i == first_operands) continue;
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
  expect_dropout(drops(context.attributes) ? inputs[first_operands] : Type{DType::i64, {}},
                 weights_of(q, k), context.attributes);
  const std::size_t mask_at = mask_operand(context.attributes, first_operands);
  if (inputs.size() > mask_at) {
    const Type& mask = inputs[mask_at];
    if (!(mask.dim(0) == Dim(1))) expect_equal(mask.dim(0), q.dim(0), "texts of the mask");
    expect_equal(mask.dim(1), Dim(1), "heads of the mask");
    expect_equal(mask.dim(2), Dim(1), "queries of the mask");
    expect_equal(mask.dim(3), k.dim(1), "tokens of the mask");
  }
  return {DType::f32, {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}};
}

std::vector<Type> infer(const TypeContext& context) {
  return {check_operands(context, inputs_of(context.attributes), kForwardOperands)};
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const std::vector<Type>& inputs = context.inputs;
  const Type y = check_operands(context, gradient_inputs_of(context.attributes), kGradientOperands);
  user_check(inputs[3] == y, "dy: expected {}, got {}", to_string(y), to_string(inputs[3]));
  return {inputs[0], inputs[1], inputs[2]};
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

// What the weights of the operands of a call are, and what is left of them.
class CalledWeights {
 public:
  CalledWeights(const Call& call, std::size_t first_operands) : call_(call) {
    const Tensor &q = call.input(0), &v = call.input(2);
    const std::size_t mask_at = mask_operand(call.attributes, first_operands);
    if (call.has_input(mask_at)) mask_ = reference::dense(call.input(mask_at));
    if (drops(call.attributes))
      factors_.emplace(call, first_operands, Sizes{q.size(0), q.size(2), q.size(1), v.size(1)});
  }

  HeadInputs head(std::int64_t b, std::int64_t n) const {
    const float* masked = nullptr;
    if (mask_.defined())
      masked = mask_.data<float>() + (mask_.size(0) == 1 ? 0 : b * mask_.size(3));
    // The factor acts as the fp32 number it becomes in every fp32 program.
    return {head_of(call_.input(0), b, n), head_of(call_.input(1), b, n),
            head_of(call_.input(2), b, n), masked,
            static_cast<float>(call_.attributes.get<double>("scale"))};
  }

  // What the weight of query s of head n of text b to key t is multiplied by.
  double factor(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t t) const {
    if (!factors_) return 1;
    const Sizes& strides = factors_->word_strides();
    return static_cast<double>(
        factors_->at(b * strides[0] + n * strides[1] + s * strides[2] + t * strides[3]));
  }

 private:
  const Call& call_;
  Tensor mask_;
  std::optional<DropoutFactors> factors_;
};

template <typename Body>
void for_each_query(const Tensor& q, Body&& body) {
  for (std::int64_t b = 0; b < q.size(0); ++b)
    for (std::int64_t n = 0; n < q.size(2); ++n)
      for (std::int64_t s = 0; s < q.size(1); ++s) body(b, n, s);
}

// The vector of token s of head n of text b of x (B, S, N, D), which is dense.
float* vector_at(const Tensor& x, std::int64_t b, std::int64_t s, std::int64_t n) {
  return x.data<float>() + ((b * x.size(1) + s) * x.size(2) + n) * x.size(3);
}

void forward(Call& call) {
  const CalledWeights called(call, kForwardOperands);
  const Tensor& v = call.input(2);
  for_each_query(call.input(0), [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    const HeadInputs head = called.head(b, n);
    const std::vector<double> weights = head.weights(s);
    float* const out = vector_at(call.output(), b, s, n);
    for (std::int64_t e = 0; e < v.size(3); ++e) {
      double sum = 0;
      for (std::int64_t t = 0; t < v.size(1); ++t)
        sum += weights[static_cast<std::size_t>(t)] * called.factor(b, n, s, t) *
               static_cast<double>(HeadInputs::at(head.v, t, e));
      out[e] = static_cast<float>(sum);
    }
  });
}

// What one query adds to the gradients of its head.
struct QueryGradients {
  const HeadInputs& head;
  Tensor dy;                    // (S, E)
  std::vector<double>&dk, &dv;  // (T, D), (T, E)

  // `weights` and what they are multiplied by, of all keys; dq (D).
  void add(std::int64_t s, const std::vector<double>& weights, const std::vector<double>& factors,
           float* dq) {
    const std::int64_t keys = head.k.size(0), size = head.k.size(1), values = head.v.size(1);
    std::vector<double> dweights(weights.size()), dquery(static_cast<std::size_t>(size));
    double dot = 0;
    for (std::int64_t t = 0; t < keys; ++t) {
      const auto i = static_cast<std::size_t>(t);
      double sum = 0;
      for (std::int64_t e = 0; e < values; ++e) {
        const double d = HeadInputs::at(dy, s, e);
        sum += d * HeadInputs::at(head.v, t, e);
        dv[static_cast<std::size_t>(t * values + e)] += weights[i] * factors[i] * d;
      }
      dweights[i] = factors[i] * sum;
      dot += weights[i] * dweights[i];
    }
    for (std::int64_t t = 0; t < keys; ++t) {
      const auto i = static_cast<std::size_t>(t);
      const double dscore = head.scale * weights[i] * (dweights[i] - dot);
      for (std::int64_t d = 0; d < size; ++d) {
        dquery[static_cast<std::size_t>(d)] += dscore * HeadInputs::at(head.k, t, d);
        dk[static_cast<std::size_t>(t * size + d)] += dscore * HeadInputs::at(head.q, s, d);
      }
    }
    for (std::int64_t d = 0; d < size; ++d)
      dq[d] = static_cast<float>(dquery[static_cast<std::size_t>(d)]);
  }
};

void backward(Call& call) {
  const CalledWeights called(call, kGradientOperands);
  const Tensor &q = call.input(0), &k = call.input(1), &v = call.input(2);
  const std::int64_t keys = k.size(1);
  std::vector<double> dk, dv;
  for_each_query(q, [&](std::int64_t b, std::int64_t n, std::int64_t s) {
    if (s == 0) {
      dk.assign(static_cast<std::size_t>(keys * k.size(3)), 0);
      dv.assign(static_cast<std::size_t>(keys * v.size(3)), 0);
    }
    std::vector<double> factors;
    for (std::int64_t t = 0; t < keys; ++t) factors.push_back(called.factor(b, n, s, t));
    const HeadInputs head = called.head(b, n);
    QueryGradients{head, head_of(call.input(3), b, n), dk, dv}.add(
        s, head.weights(s), factors, vector_at(call.output(0), b, s, n));
    if (s + 1 < q.size(1)) return;
    for (std::int64_t t = 0; t < keys; ++t) {
      std::copy_n(dk.data() + t * k.size(3), k.size(3), vector_at(call.output(1), b, t, n));
      std::copy_n(dv.data() + t * v.size(3), v.size(3), vector_at(call.output(2), b, t, n));
    }
  });
}

// What its two products, its scaling, its mask and its softmax count for alone.
double flops(const TypeContext& context, const Bindings& bindings) {
  const Type &q = context.inputs[0], &v = context.inputs[2];
  const auto size = [&](const Type& type, std::int64_t axis) {
    return static_cast<double>(resolve(type.dim(axis), bindings));
  };
  const double scores = size(q, 0) * size(q, 1) * size(q, 2) * size(v, 1);
  const double mask =
      context.inputs.size() > mask_operand(context.attributes, kForwardOperands) ? 1 : 0;
  const double dropout = drops(context.attributes) ? 1 : 0;
  return scores * (2 * size(q, 3) + 2 * size(v, 3) + 1 + mask + 4 + dropout);
}

// Its five products, of which one gives the scores again, their softmax and that of its gradient.
double gradient_flops(const TypeContext& context, const Bindings& bindings) {
  const Type &q = context.inputs[0], &v = context.inputs[2];
  const double scores = elements(weights_of(q, context.inputs[1]), bindings);
  const auto size = [](const Type& type) { return static_cast<double>(type.dim(3).size); };
  return scores * (6 * size(q) + 4 * size(v) + 10);
}

// That of the mask, by the steps that attention stands for: nothing is left of them where nobody learns a mask.
Value mask_gradient(GradientContext& c) {
  const Attributes& attributes = c.node.attributes();
  const auto transposed = [&](Value x, const Shape& axes) {
    return c.add("transpose", {x}, {{"axes", axes}});
  };
  const Shape heads_first = {0, 2, 1, 3}, turned = {0, 2, 3, 1};
  const auto dropped = [&](Value x) {
    return drops(attributes) ? c.add("dropout", {x, c.input(kForwardOperands)},
                                     {{"p", *attributes.find("p")},
                                      {"stream", *attributes.find("stream")},
                                      {"limits", *attributes.find("limits")}})
                             : x;
  };
  const Value product =
      c.add("matmul", {transposed(c.input(0), heads_first), transposed(c.input(1), turned)});
  const Value scores =
      c.add("add", {c.add("scale", {product}, {{"factor", *attributes.find("scale")}}),
                    c.input(mask_operand(attributes, kForwardOperands))});
  const Value dleft = c.add(
      "matmul", {transposed(c.output_gradient(), heads_first), transposed(c.input(2), turned)});
  return c.add("softmax_gradient", {c.add("softmax", {scores}), dropped(dleft)});
}

std::vector<Value> gradient(GradientContext& c) {
  const Attributes& attributes = c.node.attributes();
  const std::size_t mask_at = mask_operand(attributes, kForwardOperands);
  std::vector<Value> inputs = {c.input(0), c.input(1), c.input(2), c.output_gradient()};
  for (std::size_t i = kForwardOperands; i < c.node.inputs().size(); ++i)
    inputs.push_back(c.input(i));
  Node& node = c.add_node("attention_gradient", std::move(inputs), attributes);
  std::vector<Value> gradients = {{&node, 0}, {&node, 1}, {&node, 2}};
  if (drops(attributes)) gradients.emplace_back();
  if (c.has_input(mask_at)) gradients.push_back(mask_gradient(c));
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
       .flops = flops},
      {.name = "attention_gradient",
       .summary = "dquery, dkey, dvalue of attention, whose weights are computed again",
       .inputs = {"query", "key", "value", "dy", "mask?"},
       .inputs_of = gradient_inputs_of,
       .attributes = {{"scale", {}}, {"p", 0.0}, {"stream", std::int64_t{0}}, {"limits", Shape{}}},
       .trait = Trait::contraction,
       .infer = infer_gradient,
       .reference = backward,
       .flops = gradient_flops}};
}

}  // namespace hone::ops
