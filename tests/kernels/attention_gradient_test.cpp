#include "hone/kernels/attention_gradient.h"

#include <algorithm>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

// Operands and results as linears produce them, (B, S, N, D).
struct GradientCase {
  AttentionShape shape;
  float scale;
  std::vector<float> q, k, v, dy, mask;  // mask (B, T); empty: none

  GradientCase(const AttentionShape& s, bool masked)
      : shape(s),
        scale(1 / std::sqrt(static_cast<float>(s.head_size))),
        q(random_floats(count(s.queries, s.head_size), 1, -2, 2)),
        k(random_floats(count(s.keys, s.head_size), 2, -2, 2)),
        v(random_floats(count(s.keys, s.value_size), 3)),
        dy(random_floats(count(s.queries, s.value_size), 4)) {
    if (masked) mask = random_floats(s.batch * s.keys, 5, -2, 2);
  }
  std::int64_t count(std::int64_t tokens, std::int64_t size) const {
    return shape.batch * tokens * shape.heads * size;
  }
  template <typename T>
  HeadsOf<T> heads(T* data, std::int64_t tokens, std::int64_t size) const {
    return {data, tokens * shape.heads * size, size, shape.heads * size};
  }
  std::int64_t at(std::int64_t tokens, std::int64_t size, std::int64_t text, std::int64_t head,
                  std::int64_t token) const {
    return ((text * tokens + token) * shape.heads + head) * size;
  }

  // Returns dq, dk and dv, concatenated.
  std::vector<float> run(ThreadPool& pool, const WeightDropout& dropout = {}) const {
    const AttentionShape& s = shape;
    std::vector<float> d(q.size() + k.size() + v.size(), 7.0f);
    float *dq = d.data(), *dk = dq + q.size(), *dv = dk + k.size();
    attention_gradient(pool, s, scale, heads(q.data(), s.queries, s.head_size),
                       heads(k.data(), s.keys, s.head_size), heads(v.data(), s.keys, s.value_size),
                       {mask.empty() ? nullptr : mask.data(), s.keys},
                       heads(dy.data(), s.queries, s.value_size), heads(dq, s.queries, s.head_size),
                       heads(dk, s.keys, s.head_size), heads(dv, s.keys, s.value_size), dropout);
    return d;
  }
};

// Results in double, and the allowed errors of floats.
struct Expected {
  std::vector<double> values, errors;

  void add(std::size_t i, double value, double error) {
    values[i] += value;
    errors[i] += error;
  }
};

double relative_error_of_sum(std::int64_t terms) {
  return kRounding * static_cast<double>(terms + 2);
}

// Adds the results of one query. The terms of a product have the errors of their factors, and the sum adds rounding
// errors.
void add_query(const GradientCase& c, std::int64_t text, std::int64_t head, std::int64_t query,
               Expected& expected) {
  const AttentionShape& s = c.shape;
  const float* const q = c.q.data() + c.at(s.queries, s.head_size, text, head, query);
  const float* const dy = c.dy.data() + c.at(s.queries, s.value_size, text, head, query);
  const auto key = [&](std::int64_t t) {
    return c.k.data() + c.at(s.keys, s.head_size, text, head, t);
  };
  const auto value = [&](std::int64_t t) {
    return c.v.data() + c.at(s.keys, s.value_size, text, head, t);
  };
  std::vector<double> weights, dweights;
  double score_error = 0, sum = 0, highest = -HUGE_VAL, dot = 0, most = 0;
  for (std::int64_t t = 0; t < s.keys; ++t) {
    double score = 0, magnitude = 0;
    for (std::int64_t d = 0; d < s.head_size; ++d) {
      score += c.scale * double{q[d]} * key(t)[d];
      magnitude += std::abs(c.scale * double{q[d]} * key(t)[d]);
    }
    const double mask = c.mask.empty() ? 0.0 : c.mask[static_cast<std::size_t>(text * s.keys + t)];
    score_error = std::max(score_error, relative_error_of_sum(s.head_size) * magnitude +
                                            kRounding * (3 * std::abs(score) + 2 * std::abs(mask)));
    weights.push_back(score + mask);
    highest = std::max(highest, weights.back());
  }
  for (double& weight : weights) sum += weight = std::exp(weight - highest);
  for (std::int64_t t = 0; t < s.keys; ++t) {
    weights[static_cast<std::size_t>(t)] /= sum;
    double dweight = 0, magnitude = 0;
    for (std::int64_t e = 0; e < s.value_size; ++e) {
      dweight += double{dy[e]} * value(t)[e];
      magnitude += std::abs(double{dy[e]} * value(t)[e]);
    }
    dweights.push_back(dweight);
    most = std::max(most, magnitude);
    dot += weights[static_cast<std::size_t>(t)] * dweight;
  }
  // Error of a weight: its score, the highest score and their sum, two units of the exponential, quotient and product.
  const double weight_error =
      2 * (2 * score_error + 4 * kRounding) + relative_error_of_sum(s.keys) + 3 * kRounding;
  // Error of dP - rowsum(P dP), neither of which exceeds the largest magnitude.
  const double centred_error = most * (2 * relative_error_of_sum(s.value_size) + weight_error +
                                       relative_error_of_sum(s.keys) + 2 * kRounding);
  const std::size_t dk = c.q.size(), dv = dk + c.k.size();
  for (std::int64_t t = 0; t < s.keys; ++t) {
    const double weight = weights[static_cast<std::size_t>(t)];
    const double centred = dweights[static_cast<std::size_t>(t)] - dot;
    const double dscore = weight * centred * c.scale;
    const double error = c.scale * weight * (centred_error + std::abs(centred) * weight_error) +
                         3 * kRounding * std::abs(dscore);
    for (std::int64_t d = 0; d < s.head_size; ++d) {
      const double k = key(t)[d];
      expected.add(static_cast<std::size_t>(c.at(s.queries, s.head_size, text, head, query) + d),
                   dscore * k,
                   std::abs(k) * (error + relative_error_of_sum(s.keys) * std::abs(dscore)));
      expected.add(
          dk + static_cast<std::size_t>(c.at(s.keys, s.head_size, text, head, t) + d),
          dscore * q[d],
          std::abs(double{q[d]}) * (error + relative_error_of_sum(s.queries) * std::abs(dscore)));
    }
    for (std::int64_t e = 0; e < s.value_size; ++e)
      expected.add(
          dv + static_cast<std::size_t>(c.at(s.keys, s.value_size, text, head, t) + e),
          weight * dy[e],
          weight * std::abs(double{dy[e]}) * (weight_error + relative_error_of_sum(s.queries)));
  }
}

Expected expected_of(const GradientCase& c) {
  const std::size_t count = c.q.size() + c.k.size() + c.v.size();
  Expected expected{std::vector<double>(count), std::vector<double>(count)};
  for (std::int64_t text = 0; text < c.shape.batch; ++text)
    for (std::int64_t head = 0; head < c.shape.heads; ++head)
      for (std::int64_t query = 0; query < c.shape.queries; ++query)
        add_query(c, text, head, query, expected);
  return expected;
}

TEST(AttentionGradient, AgreesWithDoubles) {
  const AttentionShape shapes[] = {{1, 1, 1, 1, 1, 1},       {2, 3, 5, 7, 4, 4},
                                   {1, 2, 47, 16, 32, 32},   {2, 2, 65, 65, 64, 64},
                                   {1, 1, 16, 129, 5, 9},    {1, 2, 130, 300, 64, 64},
                                   {1, 1, 100, 257, 128, 8}, {3, 1, 1, 130, 17, 1}};
  for (const AttentionShape& shape : shapes) {
    for (const bool masked : {false, true}) {
      SCOPED_TRACE(fmt::format("{} queries, {} keys, heads of {} and {}, mask {}", shape.queries,
                               shape.keys, shape.head_size, shape.value_size, masked));
      const GradientCase c(shape, masked);
      const Expected expected = expected_of(c);
      for_each_target([&] {
        const auto got = same_for_any_threads([&](ThreadPool& pool) { return c.run(pool); });
        for (std::size_t i = 0; i < got.size(); ++i)
          ASSERT_NEAR(got[i], expected.values[i], expected.errors[i]) << "at " << i;
      });
    }
  }
}

TEST(AttentionGradient, GivesTheSameBitsWithEveryInstructionSetThatFuses) {
  const GradientCase c({2, 3, 175, 133, 20, 24}, true);
  const WeightDropout dropout{0.25, {3, 4}, 3 * 200 * 200, 200 * 200, 200};
  same_for_any_target([&](ThreadPool& pool) { return c.run(pool, dropout); }, kFusedTargets);
}

// Dropped elements are zero, and the others are scaled up.
TEST(AttentionGradient, OfOneKeyIsWhatDropoutLeavesOfDy) {
  const GradientCase c({1, 1, 100, 1, 2, 1}, false);
  ThreadPool pool(1);
  const std::vector<float> all = c.run(pool), half = c.run(pool, {0.5, {1, 2}, 100, 100, 1});
  const std::size_t dv = c.q.size() + c.k.size();
  EXPECT_NE(all[dv], half[dv]);
  // The only weight is 1 for any score, so queries and keys get no gradient.
  for (std::size_t i = 0; i < dv; ++i) EXPECT_EQ(half[i], 0.0f) << i;
}

// Masked keys and values get the gradient 0.
TEST(AttentionGradient, KeysThatAreMaskedGetNone) {
  for_each_target([] {
    GradientCase c({1, 2, 70, 90, 16, 16}, true);
    std::fill(c.mask.begin() + 61, c.mask.end(), std::numeric_limits<float>::lowest());
    ThreadPool pool(2);
    const std::vector<float> got = c.run(pool);
    const std::size_t dk = c.q.size(), dv = dk + c.k.size(), first = 61 * 2 * 16;
    for (std::size_t i = first; i < c.k.size(); ++i) {
      ASSERT_EQ(got[dk + i], 0.0f) << i;
      ASSERT_EQ(got[dv + i], 0.0f) << i;
    }
  });
}

// Packed texts get the same gradients as separate texts.
TEST(AttentionGradient, OfTextsOneBehindTheOtherIsThatOfEach) {
  const std::vector<std::int64_t> begins = {0, 71, 72}, lengths = {71, 1, 28};
  const GradientCase all({1, 2, 100, 100, 16, 8}, false);
  ThreadPool pool(2);
  for_each_target([&] {
    std::vector<float> d(all.q.size() + all.k.size() + all.v.size(), 7.0f);
    float *dq = d.data(), *dk = dq + all.q.size(), *dv = dk + all.k.size();
    AttentionShape texts = all.shape;
    texts.batch = 3;
    texts.queries = texts.keys = 71;
    attention_gradient(pool, texts, all.scale, all.heads(all.q.data(), 100, 16),
                       all.heads(all.k.data(), 100, 16), all.heads(all.v.data(), 100, 8), {},
                       all.heads(all.dy.data(), 100, 8), all.heads(dq, 100, 16),
                       all.heads(dk, 100, 16), all.heads(dv, 100, 8), {},
                       {begins.data(), lengths.data(), true});
    for (std::size_t b = 0; b < 3; ++b) {
      SCOPED_TRACE(b);
      GradientCase one = all;
      one.shape.queries = one.shape.keys = lengths[b];
      const auto part = [&](const float* x, std::int64_t size) {
        return std::vector<float>(x + begins[b] * 2 * size,
                                  x + (begins[b] + lengths[b]) * 2 * size);
      };
      one.q = part(all.q.data(), 16);
      one.k = part(all.k.data(), 16);
      one.v = part(all.v.data(), 8);
      one.dy = part(all.dy.data(), 8);
      std::vector<float> expected = part(dq, 16);
      for (const std::vector<float>& more : {part(dk, 16), part(dv, 8)})
        expected.insert(expected.end(), more.begin(), more.end());
      ASSERT_TRUE(same_bits(one.run(pool), expected));
    }
  });
}

TEST(AttentionGradient, OfNoQueriesIsNone) {
  const GradientCase c({1, 1, 0, 3, 4, 4}, false);
  ThreadPool pool(1);
  EXPECT_EQ(c.run(pool), std::vector<float>(24, 0.0f));
}

}  // namespace
}  // namespace hone::kernels
