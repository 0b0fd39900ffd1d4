#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "hone/ops/dropout_factors.h"
#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// y[b, s, n] = sum_t dropout(softmax_t(scale q[b, s, n] . k[b, t, n] + mask[b, t])) v[b, t, n] (Vaswani and others,
// "Attention is all you need", 2017). Heads keep the layout of the linear outputs: q (B, S, N, D), k (B, T, N, D),
// v (B, T, N, E), y (B, S, N, E).
//
// If `p` is above 0, weights (B, N, S, T) are dropped as by `dropout`. They are never materialized; the gradient
// recomputes them.
namespace hone::ops {
namespace {

// Texts without padding (`unpadded`) are stored back to back: key (1, T, N, D) and value (1, T, N, E) hold the tokens
// of all texts, and text b has `lengths[b]` tokens, starting at `begins[b]`. Queries have the same layout or the usual
// (B, S, N, D). With `rest`, the tokens after the last text belong to no text, and their results are zero.
//
// The operands after query, key and value (and dy of the gradient) are the random key if weights are dropped, then the
// mask, or `begins` and `lengths`.
constexpr std::size_t kForwardOperands = 3, kGradientOperands = 4;

bool drops(const Attributes& attributes) {
  const double* const p = std::get_if<double>(attributes.find("p"));
  return p != nullptr && *p != 0;
}

bool is_unpadded(const Attributes& attributes) {
  const bool* const unpadded = std::get_if<bool>(attributes.find("unpadded"));
  return unpadded != nullptr && *unpadded;
}

bool has_rest(const Attributes& attributes) {
  const bool* const rest = std::get_if<bool>(attributes.find("rest"));
  return rest != nullptr && *rest;
}

// The index of the mask or of `begins`.
std::size_t texts_operand(const Attributes& attributes, std::size_t operands) {
  return drops(attributes) ? operands + 1 : operands;
}

std::vector<OperandDef> with_texts(std::vector<OperandDef> operands, const Attributes& attributes) {
  if (drops(attributes)) operands.emplace_back("random_key");
  if (!is_unpadded(attributes)) {
    operands.emplace_back("mask?");
    return operands;
  }
  operands.emplace_back("begins");
  operands.emplace_back("lengths");
  return operands;
}

std::vector<OperandDef> inputs_of(const Attributes& attributes) {
  return with_texts({"query", "key", "value"}, attributes);
}

std::vector<OperandDef> gradient_inputs_of(const Attributes& attributes) {
  return with_texts({"query", "key", "value", "dy"}, attributes);
}

// The type that a tensor of the weights would have.
Type weights_of(const Dim& texts, const Type& query, const Type& key) {
  return {DType::f32, {texts, query.dim(2), query.dim(1), key.dim(1)}};
}

void expect_texts(const Type& begins, const Type& lengths) {
  for (const auto& [type, name] : {std::pair{begins, "begins"}, std::pair{lengths, "lengths"}}) {
    expect_dtype(type, DType::i64, name);
    expect_rank(type, 1, name);
  }
  expect_equal(lengths.dim(0), begins.dim(0), "texts of the lengths");
}

void expect_mask(const Type& mask, const Type& q, const Type& k) {
  expect_dtype(mask, DType::f32, "mask");
  expect_rank(mask, 4, "mask");
  if (!(mask.dim(0) == Dim(1))) expect_equal(mask.dim(0), q.dim(0), "texts of the mask");
  expect_equal(mask.dim(1), Dim(1), "heads of the mask");
  expect_equal(mask.dim(2), Dim(1), "queries of the mask");
  expect_equal(mask.dim(3), k.dim(1), "tokens of the mask");
}

// Checks all operands but dy and returns the type of y. The first `first_operands` precede the random key, mask and
// texts.
Type check_operands(const TypeContext& context, std::size_t first_operands) {
  user_check(std::holds_alternative<double>(*context.attributes.find("scale")),
             "scale must be a real number");
  const std::vector<Type>& inputs = context.inputs;
  const Type &q = inputs[0], &k = inputs[1], &v = inputs[2];
  const DType dtype = expect_float(q, "query");
  for (const auto& [type, name] :
       {std::pair{q, "query"}, std::pair{k, "key"}, std::pair{v, "value"}}) {
    expect_dtype(type, dtype, name);
    expect_rank(type, 4, name);
  }
  const std::size_t texts_at = texts_operand(context.attributes, first_operands);
  Dim texts = q.dim(0);
  if (is_unpadded(context.attributes)) {
    expect_texts(inputs[texts_at], inputs[texts_at + 1]);
    texts = inputs[texts_at].dim(0);
    expect_equal(k.dim(0), Dim(1), "texts of the key");
    const bool queries_run = q.dim(0) == Dim(1) && q.dim(1) == k.dim(1);
    if (!queries_run) expect_equal(q.dim(0), texts, "texts of the query");
  } else {
    expect_equal(k.dim(0), q.dim(0), "texts of the key");
  }
  expect_equal(k.dim(2), q.dim(2), "heads of the key");
  expect_equal(k.dim(3), q.dim(3), "head size of the key");
  expect_equal(v.dim(0), k.dim(0), "texts of the value");
  expect_equal(v.dim(1), k.dim(1), "tokens of the value");
  expect_equal(v.dim(2), q.dim(2), "heads of the value");
  expect_dropout(drops(context.attributes) ? inputs[first_operands] : Type{DType::i64, {}},
                 weights_of(texts, q, k), context.attributes);
  // Dropout is a function of a token's position in its own text, which its position among all tokens does not give.
  user_check(!is_unpadded(context.attributes) || !drops(context.attributes) ||
                 !context.attributes.get<Shape>("limits").empty(),
             "limits are needed to drop weights of texts without padding");
  if (!is_unpadded(context.attributes) && inputs.size() > texts_at)
    expect_mask(inputs[texts_at], q, k);
  return {dtype, {q.dim(0), q.dim(1), q.dim(2), v.dim(3)}};
}

std::vector<Type> infer(const TypeContext& context) {
  return {check_operands(context, kForwardOperands)};
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const std::vector<Type>& inputs = context.inputs;
  const Type y = check_operands(context, kGradientOperands);
  user_check(inputs[3] == y, "dy: expected {}, got {}", to_string(y), to_string(inputs[3]));
  return {inputs[0], inputs[1], inputs[2]};
}

struct HeadInputs {
  Tensor q, k, v;     // (S, D), (T, D), (T, E)
  const float* mask;  // (T); null: none
  double scale;

  // The weights of all keys for query `s`.
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

// The tokens of a text in an operand (rows, tokens, N, size).
struct Tokens {
  std::int64_t row, begin, count;
};

// (tokens, size) of head n of x
Tensor head_of(const Tensor& x, const Tokens& tokens, std::int64_t n) {
  const Tensor one = x.slice(0, tokens.row, tokens.row + 1)
                         .slice(1, tokens.begin, tokens.begin + tokens.count)
                         .slice(2, n, n + 1);
  return Tensor::view_of(one.storage(), one.dtype(), {tokens.count, x.size(3)},
                         {x.strides()[1], x.strides()[3]}, one.offset());
}

// The vector of the i-th of these tokens in head n of x, which is dense.
float* vector_at(const Tensor& x, const Tokens& tokens, std::int64_t i, std::int64_t n) {
  return x.data<float>() +
         ((tokens.row * x.size(1) + tokens.begin + i) * x.size(2) + n) * x.size(3);
}

// The texts, mask and dropout factors of a call.
class CalledTexts {
 public:
  CalledTexts(const Call& call, std::size_t first_operands) : call_(call) {
    const Tensor &q = call.input(0), &k = call.input(1);
    const std::size_t texts_at = texts_operand(call.attributes, first_operands);
    std::int64_t longest = k.size(1);
    if (is_unpadded(call.attributes)) {
      begins_ = reference::dense(call.input(texts_at));
      lengths_ = reference::dense(call.input(texts_at + 1));
      longest = check_texts(k.size(1));
    } else if (call.has_input(texts_at)) {
      mask_ = reference::dense(call.input(texts_at));
    }
    if (drops(call.attributes))
      factors_.emplace(call, first_operands,
                       Sizes{count(), q.size(2), std::min(q.size(1), longest), longest});
  }

  std::int64_t count() const {
    return begins_.defined() ? begins_.count() : call_.input(0).size(0);
  }
  Tokens queries(std::int64_t b) const {
    const Tensor &q = call_.input(0), &k = call_.input(1);
    if (begins_.defined() && q.size(0) == 1 && q.size(1) == k.size(1)) return keys(b);
    return {b, 0, q.size(1)};
  }
  Tokens keys(std::int64_t b) const {
    if (!begins_.defined()) return {b, 0, call_.input(1).size(1)};
    return {0, begins_.data<std::int64_t>()[b], lengths_.data<std::int64_t>()[b]};
  }

  HeadInputs head(std::int64_t b, std::int64_t n) const {
    const float* masked = nullptr;
    if (mask_.defined())
      masked = mask_.data<float>() + (mask_.size(0) == 1 ? 0 : b * mask_.size(3));
    // Every fp32 program rounds the factor to fp32, so this one does too.
    return {head_of(call_.input(0), queries(b), n), head_of(call_.input(1), keys(b), n),
            head_of(call_.input(2), keys(b), n), masked,
            static_cast<float>(call_.attributes.get<double>("scale"))};
  }

  // The dropout factor of the weight of query s for key t in head n of text b.
  double factor(std::int64_t b, std::int64_t n, std::int64_t s, std::int64_t t) const {
    if (!factors_) return 1;
    const Sizes& strides = factors_->word_strides();
    return static_cast<double>(
        factors_->at(b * strides[0] + n * strides[1] + s * strides[2] + t * strides[3]));
  }

  // body(text, head, query)
  template <typename Body>
  void for_each_query(Body&& body) const {
    for (std::int64_t b = 0; b < count(); ++b)
      for (std::int64_t n = 0; n < call_.input(0).size(2); ++n)
        for (std::int64_t s = 0; s < queries(b).count; ++s) body(b, n, s);
  }

 private:
  // Checks that texts follow each other without gaps and cover all tokens, except a rest. Returns the length of the
  // longest.
  std::int64_t check_texts(std::int64_t tokens) const {
    std::int64_t next = 0, longest = 0;
    for (std::int64_t b = 0; b < begins_.count(); ++b) {
      const std::int64_t begin = begins_.data<std::int64_t>()[b],
                         length = lengths_.data<std::int64_t>()[b];
      user_check(begin == next && length >= 1 && length <= tokens - begin,
                 "text {}: {} tokens from {} on, of {}, do not follow the {} before", b, length,
                 begin, tokens, next);
      next += length;
      longest = std::max(longest, length);
    }
    user_check(next == tokens || has_rest(call_.attributes), "the texts have {} tokens, of {}",
               next, tokens);
    return longest;
  }

  const Call& call_;
  Tensor begins_, lengths_, mask_;
  std::optional<DropoutFactors> factors_;
};

// Zeroes the outputs: tokens outside all texts are not written later.
void clear_rest(Call& call) {
  if (!has_rest(call.attributes)) return;
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    std::ranges::fill(call.output(i).values<float>(), 0.0f);
}

void forward(Call& call) {
  const CalledTexts texts(call, kForwardOperands);
  const Tensor& v = call.input(2);
  clear_rest(call);
  texts.for_each_query([&](std::int64_t b, std::int64_t n, std::int64_t s) {
    const HeadInputs head = texts.head(b, n);
    const std::vector<double> weights = head.weights(s);
    float* const out = vector_at(call.output(), texts.queries(b), s, n);
    for (std::int64_t e = 0; e < v.size(3); ++e) {
      double sum = 0;
      for (std::int64_t t = 0; t < texts.keys(b).count; ++t)
        sum += weights[static_cast<std::size_t>(t)] * texts.factor(b, n, s, t) *
               static_cast<double>(HeadInputs::at(head.v, t, e));
      out[e] = static_cast<float>(sum);
    }
  });
}

// The contribution of one query to the gradients of its head.
struct QueryGradients {
  const HeadInputs& head;
  Tensor dy;                    // (S, E)
  std::vector<double>&dk, &dv;  // (T, D), (T, E)

  // `weights` and their dropout `factors`, of all keys; dq (D).
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
  const CalledTexts texts(call, kGradientOperands);
  const Tensor &k = call.input(1), &v = call.input(2);
  std::vector<double> dk, dv;
  clear_rest(call);
  texts.for_each_query([&](std::int64_t b, std::int64_t n, std::int64_t s) {
    const Tokens queries = texts.queries(b), keys = texts.keys(b);
    if (s == 0) {
      dk.assign(static_cast<std::size_t>(keys.count * k.size(3)), 0);
      dv.assign(static_cast<std::size_t>(keys.count * v.size(3)), 0);
    }
    std::vector<double> factors;
    for (std::int64_t t = 0; t < keys.count; ++t) factors.push_back(texts.factor(b, n, s, t));
    const HeadInputs head = texts.head(b, n);
    QueryGradients{head, head_of(call.input(3), queries, n), dk, dv}.add(
        s, head.weights(s), factors, vector_at(call.output(0), queries, s, n));
    if (s + 1 < queries.count) return;
    for (std::int64_t t = 0; t < keys.count; ++t) {
      std::copy_n(dk.data() + t * k.size(3), k.size(3), vector_at(call.output(1), keys, t, n));
      std::copy_n(dv.data() + t * v.size(3), v.size(3), vector_at(call.output(2), keys, t, n));
    }
  });
}

// The number of scores; texts without padding count as if all had the same length.
double score_count(const TypeContext& context, const Bindings& bindings, std::size_t operands) {
  const Type &q = context.inputs[0], &k = context.inputs[1];
  const Attributes& attributes = context.attributes;
  if (!is_unpadded(attributes)) return elements(weights_of(q.dim(0), q, k), bindings);
  const Type& begins = context.inputs[texts_operand(attributes, operands)];
  const double queries = elements({DType::f32, {q.dim(0), q.dim(1), q.dim(2)}}, bindings);
  return queries * elements({DType::f32, {k.dim(1)}}, bindings) /
         std::max(1.0, elements(begins, bindings));
}

// The cost of its two products, scaling, mask and softmax as separate operations.
double flops(const TypeContext& context, const Bindings& bindings) {
  const auto size = [&](const Type& type) {
    return static_cast<double>(resolve(type.dim(3), bindings));
  };
  const Attributes& attributes = context.attributes;
  const bool has_mask = !is_unpadded(attributes) &&
                        context.inputs.size() > texts_operand(attributes, kForwardOperands);
  return score_count(context, bindings, kForwardOperands) *
         (2 * size(context.inputs[0]) + 2 * size(context.inputs[2]) + 1 + (has_mask ? 1 : 0) + 4 +
          (drops(attributes) ? 1 : 0));
}

// The cost of its five products, one of which recomputes the scores, of their softmax and its gradient.
double gradient_flops(const TypeContext& context, const Bindings& bindings) {
  const auto size = [&](const Type& type) {
    return static_cast<double>(resolve(type.dim(3), bindings));
  };
  return score_count(context, bindings, kGradientOperands) *
         (6 * size(context.inputs[0]) + 4 * size(context.inputs[2]) + 10);
}

// The gradient of the mask, from the separate steps of attention. It is removed as unused unless the mask is trained.
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
                    c.input(texts_operand(attributes, kForwardOperands))});
  const Value dleft = c.add(
      "matmul", {transposed(c.output_gradient(), heads_first), transposed(c.input(2), turned)});
  return c.add("softmax_gradient", {c.add("softmax", {scores}), dropped(dleft)});
}

std::vector<Value> gradient(GradientContext& c) {
  const Attributes& attributes = c.node.attributes();
  std::vector<Value> inputs = {c.input(0), c.input(1), c.input(2), c.output_gradient()};
  for (std::size_t i = kForwardOperands; i < c.node.inputs().size(); ++i)
    inputs.push_back(c.input(i));
  Node& node = c.add_node("attention_gradient", std::move(inputs), attributes);
  std::vector<Value> gradients(c.node.inputs().size());
  for (int i = 0; i < 3; ++i) gradients[static_cast<std::size_t>(i)] = {&node, i};
  const std::size_t mask_at = texts_operand(attributes, kForwardOperands);
  if (!is_unpadded(attributes) && c.has_input(mask_at)) gradients[mask_at] = mask_gradient(c);
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
       .attributes = {{"scale", {}},
                      {"p", 0.0},
                      {"stream", std::int64_t{0}},
                      {"limits", Shape{}},
                      {"unpadded", false},
                      {"rest", false}},
       .trait = Trait::contraction,
       .infer = infer,
       .reference = forward,
       .gradient = gradient,
       .flops = flops},
      {.name = "attention_gradient",
       .summary = "dquery, dkey, dvalue of attention, whose weights are computed again",
       .inputs = {"query", "key", "value", "dy", "mask?"},
       .inputs_of = gradient_inputs_of,
       .attributes = {{"scale", {}},
                      {"p", 0.0},
                      {"stream", std::int64_t{0}},
                      {"limits", Shape{}},
                      {"unpadded", false},
                      {"rest", false}},
       .trait = Trait::contraction,
       .infer = infer_gradient,
       .reference = backward,
       .flops = gradient_flops}};
}

}  // namespace hone::ops
