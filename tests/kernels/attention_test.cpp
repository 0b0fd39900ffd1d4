#include "hone/kernels/attention.h"

#include <algorithm>

#include "tests/kernels/kernel_testing.h"

namespace hone::kernels {
namespace {

constexpr float kLowest = std::numeric_limits<float>::lowest();

// Queries, keys and values as linears produce them, (B, S, N, D), with `kGap` floats between tokens that must stay
// unchanged.
struct AttentionCase {
  static constexpr std::int64_t kGap = 3;
  AttentionShape shape;
  float scale;
  std::vector<float> q, k, v, mask;  // mask (B, T); empty: none

  AttentionCase(const AttentionShape& sizes, float range, bool masked)
      : shape(sizes),
        scale(1 / std::sqrt(static_cast<float>(sizes.head_size))),
        q(random_floats(floats(sizes.queries, sizes.head_size), 1, -range, range)),
        k(random_floats(floats(sizes.keys, sizes.head_size), 2, -range, range)),
        v(random_floats(floats(sizes.keys, sizes.value_size), 3)) {
    if (masked) mask = random_floats(sizes.batch * sizes.keys, 4, -2, 2);
  }
  std::int64_t token(std::int64_t size) const { return shape.heads * size + kGap; }
  std::int64_t floats(std::int64_t tokens, std::int64_t size) const {
    return shape.batch * tokens * token(size);
  }
  template <typename T>
  HeadsOf<T> heads(T* data, std::int64_t tokens, std::int64_t size) const {
    return {data, tokens * token(size), size, token(size)};
  }
  ConstHeads read(const std::vector<float>& x, std::int64_t tokens, std::int64_t size) const {
    return heads(x.data(), tokens, size);
  }

  std::vector<float> run(ThreadPool& pool) const {
    std::vector<float> y(static_cast<std::size_t>(floats(shape.queries, shape.value_size)), 7.0f);
    attention(pool, shape, scale, read(q, shape.queries, shape.head_size),
              read(k, shape.keys, shape.head_size), read(v, shape.keys, shape.value_size),
              {mask.empty() ? nullptr : mask.data(), shape.keys},
              heads(y.data(), shape.queries, shape.value_size));
    return y;
  }
  std::vector<float> run() const {
    ThreadPool pool(2);
    return run(pool);
  }

  const float* query(std::int64_t text, std::int64_t head, std::int64_t token_index) const {
    return q.data() + (text * shape.queries + token_index) * token(shape.head_size) +
           head * shape.head_size;
  }
  const float* key(std::int64_t text, std::int64_t head, std::int64_t token_index) const {
    return k.data() + (text * shape.keys + token_index) * token(shape.head_size) +
           head * shape.head_size;
  }
  double value(std::int64_t text, std::int64_t head, std::int64_t token_index,
               std::int64_t e) const {
    return v[(text * shape.keys + token_index) * token(shape.value_size) + head * shape.value_size +
             e];
  }
  std::int64_t result_at(std::int64_t text, std::int64_t head, std::int64_t token_index) const {
    return (text * shape.queries + token_index) * token(shape.value_size) + head * shape.value_size;
  }
};

// The weights of one query, before division by their sum, and the largest error of a score.
struct AttentionWeights {
  std::vector<double> of_key;
  double sum = 0;
  double score_error = 0;
};

AttentionWeights weights_of(const AttentionCase& c, std::int64_t text, std::int64_t head,
                            std::int64_t query) {
  AttentionWeights weights;
  std::vector<double>& scores = weights.of_key;
  for (std::int64_t t = 0; t < c.shape.keys; ++t) {
    const float *q = c.query(text, head, query), *k = c.key(text, head, t);
    double score = 0, magnitude = 0;
    for (std::int64_t d = 0; d < c.shape.head_size; ++d) {
      score += double{q[d]} * k[d] * c.scale;
      magnitude += std::abs(double{q[d]} * k[d] * c.scale);
    }
    const double mask = c.mask.empty() ? 0.0 : c.mask[text * c.shape.keys + t];
    // The scaled query rounds once, each step of the product once, then the mask and the maximum.
    const double roundings = static_cast<double>(c.shape.head_size) + 1;
    weights.score_error =
        std::max(weights.score_error,
                 kRounding * (roundings * magnitude + 3 * std::abs(score) + 2 * std::abs(mask)));
    scores.push_back(score + mask);
  }
  const double maximum = *std::ranges::max_element(scores);
  for (double& score : scores) {
    score = std::exp(score - maximum);
    weights.sum += score;
  }
  return weights;
}

void expect_near_doubles(const AttentionCase& c, const std::vector<float>& y) {
  const AttentionShape& s = c.shape;
  for (std::int64_t text = 0; text < s.batch; ++text) {
    for (std::int64_t head = 0; head < s.heads; ++head) {
      for (std::int64_t query = 0; query < s.queries; ++query) {
        const AttentionWeights weights = weights_of(c, text, head, query);
        for (std::int64_t e = 0; e < s.value_size; ++e) {
          double expected = 0, magnitude = 0;
          for (std::int64_t t = 0; t < s.keys; ++t) {
            expected += weights.of_key[t] * c.value(text, head, t, e) / weights.sum;
            magnitude += weights.of_key[t] * std::abs(c.value(text, head, t, e)) / weights.sum;
          }
          // Weights have the errors of their score and of the highest score, plus 2 units of the exponential. They and
          // the weighted values are summed over 128 keys and then over blocks. Each block is rescaled once more. The
          // last errors are those of the quotient and its product.
          const double additions = 128.0 + 4.0 * (static_cast<double>(s.keys) / 128 + 1);
          const double relative =
              2 * (2 * weights.score_error + kRounding * (4 + additions)) + 3 * kRounding;
          ASSERT_NEAR(y[c.result_at(text, head, query) + e], expected, relative * magnitude)
              << "text " << text << " head " << head << " query " << query << " element " << e;
        }
      }
    }
  }
}

void expect_gaps_untouched(const AttentionCase& c, const std::vector<float>& y) {
  const std::int64_t token = c.token(c.shape.value_size), used = token - AttentionCase::kGap;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (static_cast<std::int64_t>(i) % token < used) continue;
    ASSERT_EQ(y[i], 7.0f) << "at " << i;
  }
}

TEST(Attention, AgreesWithDoubles) {
  const AttentionShape shapes[] = {
      {1, 1, 1, 1, 1, 1},
      {2, 3, 5, 7, 4, 4},
      {1, 2, 47, 16, 32, 32},
      {2, 2, 49, 49, 64, 64},
      {1, 1, 16, 129, 5, 9},
      {1, 2, 33, 300, 64, 64},
      {1, 1, 100, 257, 128, 64},
      {3, 1, 1, 130, 17, 1},
      // tokens far apart, which are copied: several panels and remaining rows
      {1, 17, 100, 140, 17, 18},
      {1, 260, 26, 130, 1, 1}};
  for_each_target([&] {
    for (const AttentionShape& shape : shapes) {
      for (const bool masked : {false, true}) {
        SCOPED_TRACE(fmt::format("{} queries, {} keys, heads of {} and {}, mask {}", shape.queries,
                                 shape.keys, shape.head_size, shape.value_size, masked));
        const AttentionCase c(shape, 2, masked);
        const auto y = same_for_any_threads([&](ThreadPool& pool) { return c.run(pool); });
        expect_near_doubles(c, y);
        expect_gaps_untouched(c, y);
      }
    }
  });
}

// The maximum of the scores rises block by block, so earlier sums fade to nothing.
TEST(Attention, AgreesWithDoublesWhereScoresGrow) {
  for_each_target([] {
    AttentionCase c({1, 1, 20, 600, 8, 8}, 1, true);
    for (std::size_t t = 0; t < c.mask.size(); ++t) c.mask[t] = static_cast<float>(t) / 4;
    expect_near_doubles(c, c.run());
  });
}

TEST(Attention, GivesTheSameBitsWithEveryInstructionSetThatFuses) {
  const AttentionCase c({2, 3, 75, 333, 20, 24}, 3, true);
  same_for_any_target([&](ThreadPool& pool) { return c.run(pool); }, kFusedTargets);
}

// A text of `keys` tokens, followed by others that its mask excludes.
AttentionCase padded(std::int64_t keys, std::int64_t padding) {
  AttentionCase c({1, 2, 21, keys + padding, 16, 16}, 2, true);
  std::fill(c.mask.begin() + keys, c.mask.end(), kLowest);
  return c;
}

TEST(Attention, KeysBehindATextChangeNoBit) {
  for_each_target([] {
    for (const std::int64_t keys : {1, 7, 100, 127, 128, 129, 300}) {
      const auto alone = padded(keys, 0).run();
      for (const std::int64_t padding : {1, 13, 128, 300})
        ASSERT_TRUE(same_bits(padded(keys, padding).run(), alone)) << keys << " and " << padding;
    }
  });
}

TEST(Attention, QueriesDoNotDependOnEachOther) {
  for_each_target([] {
    const AttentionCase all({1, 1, 130, 140, 16, 16}, 2, true);
    const auto expected = all.run();
    for (const std::int64_t queries : {1, 15, 48, 49, 97}) {
      AttentionCase some = all;
      some.shape.queries = queries;
      const auto got = some.run();
      ASSERT_TRUE(std::equal(got.begin(), got.end(), expected.begin())) << queries;
    }
  });
}

TEST(Attention, KeysThatAreAllMaskedWeighAlike) {
  for_each_target([] {
    AttentionCase c({1, 1, 3, 200, 8, 8}, 2, true);
    std::ranges::fill(c.mask, kLowest);
    const auto y = c.run();
    for (std::int64_t e = 0; e < 8; ++e) {
      double mean = 0;
      for (std::int64_t t = 0; t < 200; ++t) mean += c.value(0, 0, t, e) / 200;
      for (std::int64_t query = 0; query < 3; ++query)
        ASSERT_NEAR(y[c.result_at(0, 0, query) + e], mean, 210 * kRounding);
    }
  });
}

TEST(Attention, MaskedKeysInFrontWeighNothing) {
  for_each_target([] {
    for (const float mask : {kLowest, -kInfinity}) {
      AttentionCase c({1, 1, 9, 128 + 40, 8, 8}, 2, true);
      std::fill_n(c.mask.begin(), 128, mask);
      AttentionCase alone = c;
      alone.shape.keys = 40;
      alone.k.erase(alone.k.begin(), alone.k.begin() + 128 * c.token(8));
      alone.v.erase(alone.v.begin(), alone.v.begin() + 128 * c.token(8));
      alone.mask.erase(alone.mask.begin(), alone.mask.begin() + 128);
      EXPECT_TRUE(same_bits(c.run(), alone.run())) << mask;
    }
  });
}

TEST(Attention, QueriesWithoutFiniteMaximumGiveNan) {
  for_each_target([] {
    for (const float bad : {kNan, kInfinity}) {
      AttentionCase c({1, 1, 2, 150, 4, 4}, 1, true);
      c.mask[140] = bad;
      const auto y = c.run();
      EXPECT_TRUE(std::isnan(y[0])) << bad;
    }
    AttentionCase none({1, 1, 2, 150, 4, 4}, 1, true);
    std::ranges::fill(none.mask, -kInfinity);
    EXPECT_TRUE(std::isnan(none.run()[0]));
  });
}

// Packed texts give the same results as separate texts, with queries of all their tokens or of one each.
TEST(Attention, OfTextsOneBehindTheOtherIsThatOfEach) {
  const std::vector<std::int64_t> begins = {0, 131, 132}, lengths = {131, 1, 40};
  const AttentionShape tokens{1, 2, 172, 172, 16, 24};
  const AttentionCase all(tokens, 2, false);
  ThreadPool pool(2);
  for_each_target([&] {
    std::vector<float> y(static_cast<std::size_t>(all.floats(172, 24)), 7.0f),
        first(static_cast<std::size_t>(3 * all.token(24)), 7.0f);
    AttentionShape texts = tokens;
    texts.batch = 3;
    texts.queries = texts.keys = 131;
    const auto attend = [&](const AttentionShape& shape, const ConstHeads& q, const Heads& to,
                            bool queries) {
      attention(pool, shape, all.scale, q, all.read(all.k, 172, 16), all.read(all.v, 172, 24), {},
                to, {}, {begins.data(), lengths.data(), queries});
    };
    attend(texts, all.read(all.q, 172, 16), all.heads(y.data(), 172, 24), true);
    texts.queries = 1;
    attend(texts, all.read(all.q, 1, 16), all.heads(first.data(), 1, 24), false);
    for (std::size_t b = 0; b < 3; ++b) {
      SCOPED_TRACE(b);
      AttentionCase one = all;
      one.shape.queries = one.shape.keys = lengths[b];
      const auto part = [&](const std::vector<float>& x, std::int64_t size) {
        return std::vector<float>(x.begin() + begins[b] * all.token(size),
                                  x.begin() + (begins[b] + lengths[b]) * all.token(size));
      };
      one.q = part(all.q, 16);
      one.k = part(all.k, 16);
      one.v = part(all.v, 24);
      ASSERT_TRUE(same_bits(one.run(pool), part(y, 24)));
      one.shape.queries = 1;
      one.q.assign(all.q.begin() + static_cast<std::int64_t>(b) * all.token(16),
                   all.q.begin() + static_cast<std::int64_t>(b + 1) * all.token(16));
      ASSERT_TRUE(same_bits(
          one.run(pool),
          std::vector<float>(first.begin() + static_cast<std::int64_t>(b) * all.token(24),
                             first.begin() + static_cast<std::int64_t>(b + 1) * all.token(24))));
    }
  });
}

TEST(Attention, OfNoQueriesIsNothing) {
  EXPECT_TRUE(AttentionCase({2, 2, 0, 3, 4, 4}, 1, false).run().empty());
}

}  // namespace
}  // namespace hone::kernels
