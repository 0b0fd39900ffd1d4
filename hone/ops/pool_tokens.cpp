#include <algorithm>
#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// Pools the tokens that the mask sets to one row:
//
//     y[b, h] = f(x[b, s, h] over all s with mask[b, s] set);   x (B, S, H), mask (B, S), y (B, H)
//
// f is the maximum, the mean, or the sum divided by the square root of the count: Reimers and Gurevych, "Sentence-BERT:
// Sentence embeddings using Siamese BERT-networks", 2019. Without tokens y is 0. Masked tokens are not read, so padding
// changes no bit.
namespace hone::ops {
namespace {

constexpr std::string_view kMean = "mean", kMax = "max", kMeanSqrtLen = "mean_sqrt_len";

std::vector<Type> infer(const TypeContext& context) {
  const Type &x = context.inputs[0], &mask = context.inputs[1];
  expect_dtype(x, DType::f32, "x");
  expect_rank(x, 3, "x");
  expect_dtype(mask, DType::i64, "mask");
  expect_rank(mask, 2, "mask");
  expect_equal(mask.dim(0), x.dim(0), "rows of mask");
  expect_equal(mask.dim(1), x.dim(1), "tokens of mask");
  const auto& mode = context.attributes.get<std::string>("mode");
  user_check(mode == kMean || mode == kMax || mode == kMeanSqrtLen,
             "mode must be {}, {} or {}, got {}", kMean, kMax, kMeanSqrtLen, mode);
  return {{DType::f32, {x.dim(0), x.dim(2)}}};
}

/// Returns the tokens of one text that the mask sets.
std::vector<std::int64_t> tokens_of(const Tensor& mask, std::int64_t text) {
  std::vector<std::int64_t> tokens;
  const std::span<const std::int64_t> set = mask.values<std::int64_t>();
  for (std::int64_t s = 0; s < mask.size(1); ++s)
    if (set[static_cast<std::size_t>(text * mask.size(1) + s)] != 0) tokens.push_back(s);
  return tokens;
}

// The factor of each token in a sum.
double weight_of(std::string_view mode, std::size_t tokens) {
  const auto count = static_cast<double>(tokens);
  return mode == kMean ? 1 / count : 1 / std::sqrt(count);
}

// NaN counts as the largest value, so that it propagates.
bool is_larger(float a, float b) { return a > b || (std::isnan(a) && !std::isnan(b)); }

// Returns the token of the largest element of each feature, the first of equal ones.
std::vector<std::int64_t> largest(const reference::Rows& x, std::int64_t first_row,
                                  const std::vector<std::int64_t>& tokens) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(x.length), tokens[0]);
  for (const std::int64_t s : tokens)
    for (std::size_t h = 0; h < best.size(); ++h)
      if (is_larger(x[first_row + s][h], x[first_row + best[h]][h])) best[h] = s;
  return best;
}

void forward(Call& call) {
  const reference::Rows x(call.input(0));
  const Tensor mask = reference::dense(call.input(1));
  const auto& mode = call.attributes.get<std::string>("mode");
  Tensor& y = call.output();
  std::ranges::fill(y.values<float>(), 0.0f);
  for (std::int64_t text = 0; text < mask.size(0); ++text) {
    const std::vector<std::int64_t> tokens = tokens_of(mask, text);
    if (tokens.empty()) continue;
    const std::int64_t first_row = text * mask.size(1);
    const std::span<float> pooled = reference::row_of(y, text);
    if (mode == kMax) {
      std::ranges::copy(x[first_row + tokens[0]], pooled.begin());
      for (const std::int64_t s : tokens)
        std::ranges::transform(x[first_row + s], pooled, pooled.begin(),
                               [](float a, float b) { return is_larger(a, b) ? a : b; });
      continue;
    }
    std::vector<double> sums(pooled.size());
    for (const std::int64_t s : tokens) {
      const std::span<const float> token = x[first_row + s];
      for (std::size_t h = 0; h < sums.size(); ++h) sums[h] += static_cast<double>(token[h]);
    }
    const double weight = weight_of(mode, tokens.size());
    std::ranges::transform(sums, pooled.begin(),
                           [&](double sum) { return static_cast<float>(sum * weight); });
  }
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const Type &x = context.inputs[0], &dy = context.inputs[2];
  const Type y = infer({{x, context.inputs[1]}, context.attributes})[0];
  user_check(dy == y, "dy must be {}, got {}", to_string(y), to_string(dy));
  return {x};
}

// dy goes to all tokens that the mask sets, with their factor, or only to the largest one.
void backward(Call& call) {
  const reference::Rows x(call.input(0)), dy(call.input(2));
  const Tensor mask = reference::dense(call.input(1));
  const auto& mode = call.attributes.get<std::string>("mode");
  Tensor& dx = call.output();
  std::ranges::fill(dx.values<float>(), 0.0f);
  for (std::int64_t text = 0; text < mask.size(0); ++text) {
    const std::vector<std::int64_t> tokens = tokens_of(mask, text);
    if (tokens.empty()) continue;
    const std::int64_t first_row = text * mask.size(1);
    if (mode == kMax) {
      const std::vector<std::int64_t> best = largest(x, first_row, tokens);
      for (std::size_t h = 0; h < best.size(); ++h)
        reference::row_of(dx, first_row + best[h])[h] = dy[text][h];
      continue;
    }
    const double weight = weight_of(mode, tokens.size());
    for (const std::int64_t s : tokens)
      std::ranges::transform(dy[text], reference::row_of(dx, first_row + s).begin(), [&](float d) {
        return static_cast<float>(static_cast<double>(d) * weight);
      });
  }
}

}  // namespace

std::vector<OpDef> pool_tokens() {
  return {
      {.name = "pool_tokens",
       .summary = "y (B, H) = mean, max or sum / sqrt(number) of the tokens of x (B, S, H) that "
                  "mask (B, S) sets",
       .inputs = {"x", "mask"},
       .attributes = {{"mode", std::string(kMean)}},
       .infer = infer,
       .reference = forward,
       .gradient = [](GradientContext& c) -> std::vector<Value> {
         return {c.add("pool_tokens_gradient", {c.input(0), c.input(1), c.output_gradient()},
                       c.node.attributes()),
                 {}};
       },
       .flops = one_per_element},
      {.name = "pool_tokens_gradient",
       .summary = "dx (B, S, H) of pool_tokens",
       .inputs = {"x", "mask", "dy"},
       .attributes = {{"mode", std::string(kMean)}},
       .infer = infer_gradient,
       .reference = backward,
       .flops = one_per_element}};
}

}  // namespace hone::ops
