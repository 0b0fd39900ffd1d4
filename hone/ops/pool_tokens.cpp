#include <cmath>

#include "hone/ops/reference.h"
#include "hone/ops/rules.h"

// One row of the tokens that the mask sets, of any number of them:
//
//     y[b, h] = f(x[b, s, h] over all s with mask[b, s] set);   x (B, S, H), mask (B, S), y (B, H)
//
// with f the largest, the mean, or the sum over the root of the number: Reimers and Gurevych, "Sentence-BERT: Sentence
// embeddings using Siamese BERT-networks", 2019. Where no token is set, y is 0. Tokens that are not set are not read, so
// padding changes no bit.
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

/// The tokens of one text that the mask sets.
std::vector<std::int64_t> tokens_of(const Tensor& mask, std::int64_t text) {
  std::vector<std::int64_t> tokens;
  const std::span<const std::int64_t> set = mask.values<std::int64_t>();
  for (std::int64_t s = 0; s < mask.size(1); ++s)
    if (set[static_cast<std::size_t>(text * mask.size(1) + s)] != 0) tokens.push_back(s);
  return tokens;
}

// What a token's share in a sum is multiplied by.
double weight_of(std::string_view mode, std::size_t tokens) {
  const auto count = static_cast<double>(tokens);
  return mode == kMean ? 1 / count : 1 / std::sqrt(count);
}

// Of equal ones the first.
std::int64_t largest(const reference::Rows& x, std::int64_t first_row,
                     const std::vector<std::int64_t>& tokens, std::size_t h) {
  std::int64_t best = tokens[0];
  for (const std::int64_t s : tokens)
    if (x[first_row + s][h] > x[first_row + best][h]) best = s;
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
    for (std::size_t h = 0; h < pooled.size(); ++h) {
      if (mode == kMax) {
        pooled[h] = x[first_row + largest(x, first_row, tokens, h)][h];
        continue;
      }
      double sum = 0;
      for (const std::int64_t s : tokens) sum += static_cast<double>(x[first_row + s][h]);
      pooled[h] = static_cast<float>(sum * weight_of(mode, tokens.size()));
    }
  }
}

std::vector<Type> infer_gradient(const TypeContext& context) {
  const Type &x = context.inputs[0], &dy = context.inputs[2];
  const Type y = infer({{x, context.inputs[1]}, context.attributes})[0];
  user_check(dy == y, "dy must be {}, got {}", to_string(y), to_string(dy));
  return {x};
}

// dy goes to the tokens that are set, by their weight, or to the largest one alone.
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
    for (std::size_t h = 0; h < dy[text].size(); ++h) {
      if (mode == kMax) {
        const std::int64_t s = largest(x, first_row, tokens, h);
        reference::row_of(dx, first_row + s)[h] = dy[text][h];
        continue;
      }
      const double share = static_cast<double>(dy[text][h]) * weight_of(mode, tokens.size());
      for (const std::int64_t s : tokens)
        reference::row_of(dx, first_row + s)[h] = static_cast<float>(share);
    }
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
