#include "hone/kernels/attention_bf16.h"

#include <algorithm>
#include <numeric>

#include "hone/kernels/attention_gradient.h"
#include "hone/kernels/attention_gradient_bf16.h"
#include "hone/kernels/half_conversion.h"
#include "tests/kernels/kernel_testing.h"

// The kernel cases of tests/runtime compare with the reference. These tests cover the rest.
namespace hone::kernels {
namespace {

using AttentionHalves = std::vector<std::uint16_t>;
using ConstHalfHeads = HeadsOf<const std::uint16_t>;

AttentionHalves random_halves(std::int64_t count, std::uint64_t stream, double range) {
  ThreadPool pool(1);
  const std::vector<float> values = random_floats(count, stream, -range, range);
  AttentionHalves halves(values.size());
  float_to_bfloat16(pool, count, values.data(), halves.data());
  return halves;
}

std::vector<float> attention_floats(const AttentionHalves& halves) {
  std::vector<float> values(halves.size());
  half_to_float(Half::bfloat16, std::ssize(halves), halves.data(), values.data());
  return values;
}

template <typename T>
HeadsOf<T> attention_heads(T* data, const AttentionShape& s, std::int64_t tokens,
                           std::int64_t size) {
  return {data, tokens * s.heads * size, size, s.heads * size};
}

struct AttentionInputs {
  AttentionHalves q, k, v;
  std::vector<float> mask;

  explicit AttentionInputs(const AttentionShape& s)
      : q(random_halves(s.batch * s.queries * s.heads * s.head_size, 1, 2)),
        k(random_halves(s.batch * s.keys * s.heads * s.head_size, 2, 2)),
        v(random_halves(s.batch * s.keys * s.heads * s.value_size, 3, 1)),
        mask(random_floats(s.batch * s.keys, 4, -2, 2)) {}
};

AttentionHalves attended_bf16(ThreadPool& pool, const AttentionShape& s, const AttentionInputs& in,
                              float scale, const WeightDropout& dropout = {}) {
  AttentionHalves y(static_cast<std::size_t>(s.batch * s.queries * s.heads * s.value_size), 7);
  attention_bf16(pool, s, scale, attention_heads(in.q.data(), s, s.queries, s.head_size),
                 attention_heads(in.k.data(), s, s.keys, s.head_size),
                 attention_heads(in.v.data(), s, s.keys, s.value_size), {in.mask.data(), s.keys},
                 attention_heads(y.data(), s, s.queries, s.value_size), dropout);
  return y;
}

const std::vector<AttentionShape> kAttentionShapes = {
    {1, 1, 1, 1, 1, 1}, {2, 3, 17, 129, 7, 9}, {2, 2, 100, 300, 64, 64}, {1, 1, 33, 5, 801, 33}};

TEST(AttentionBf16, IsWhatFloatsGiveButForItsRoundings) {
  ThreadPool pool(2);
  for (const AttentionShape& s : kAttentionShapes) {
    const AttentionInputs in(s);
    const float scale = 1 / std::sqrt(static_cast<float>(s.head_size));
    const std::vector<float> q = attention_floats(in.q), k = attention_floats(in.k),
                             v = attention_floats(in.v);
    std::vector<float> wanted(
        static_cast<std::size_t>(s.batch * s.queries * s.heads * s.value_size));
    attention(pool, s, scale, attention_heads(q.data(), s, s.queries, s.head_size),
              attention_heads(k.data(), s, s.keys, s.head_size),
              attention_heads(v.data(), s, s.keys, s.value_size), {in.mask.data(), s.keys},
              attention_heads(wanted.data(), s, s.queries, s.value_size));
    for_each_target([&] {
      const std::vector<float> y = attention_floats(attended_bf16(pool, s, in, scale));
      // Weights and the result are each rounded, with an error of at most 2^-9 of values up to 1. The rest is the error
      // of float sums.
      for (std::size_t i = 0; i < y.size(); ++i)
        ASSERT_NEAR(y[i], wanted[i], 2 * 0x1p-9 + 0x1p-14) << i << " of " << s.head_size;
    });
  }
}

TEST(AttentionBf16, ThreadsAndInstructionsChangeNothing) {
  ThreadPool one(1), three(3);
  const WeightDropout dropout{0.25, {7, 3}, 60'000, 30'000, 300};
  for (const AttentionShape& s : kAttentionShapes) {
    const AttentionInputs in(s);
    AttentionHalves first;
    for_each_target(
        [&] {
          const AttentionHalves y = attended_bf16(one, s, in, 0.2f, dropout);
          EXPECT_TRUE(same_bits(y, attended_bf16(three, s, in, 0.2f, dropout)));
          if (first.empty()) first = y;
          EXPECT_TRUE(same_bits(y, first)) << s.head_size;
        },
        kFusedTargets);
  }
}

// A text's tokens give the same result among those of others, without padding, as alone.
TEST(AttentionBf16, TextsStandOneBehindTheOther) {
  ThreadPool pool(2);
  const std::vector<std::int64_t> lengths = {5, 140, 1, 33};
  std::vector<std::int64_t> begins(lengths.size());
  std::exclusive_scan(lengths.begin(), lengths.end(), begins.begin(), std::int64_t{0});
  const std::int64_t tokens = begins.back() + lengths.back();
  const AttentionShape all{4, 3, 140, 140, 16, 16};
  const std::int64_t token = all.heads * all.head_size;
  const AttentionHalves q = random_halves(tokens * token, 1, 2),
                        k = random_halves(tokens * token, 2, 2),
                        v = random_halves(tokens * token, 3, 1);
  const auto every = [&](auto* data) {
    return HeadsOf<std::remove_pointer_t<decltype(data)>>{data, 0, all.head_size, token};
  };
  AttentionHalves together(q.size());
  attention_bf16(pool, all, 0.25f, every(q.data()), every(k.data()), every(v.data()), {},
                 every(together.data()), {}, {begins.data(), lengths.data(), true});
  AttentionHalves alone(q.size());
  for (std::size_t text = 0; text < lengths.size(); ++text) {
    const std::int64_t at = begins[text] * token;
    attention_bf16(pool, {1, 3, lengths[text], lengths[text], 16, 16}, 0.25f, every(q.data() + at),
                   every(k.data() + at), every(v.data() + at), {}, every(alone.data() + at));
  }
  EXPECT_TRUE(same_bits(together, alone));
}

struct AttentionGradients {
  AttentionHalves dq, dk, dv;
};

AttentionGradients gradients_bf16(ThreadPool& pool, const AttentionShape& s,
                                  const AttentionInputs& in, const AttentionHalves& dy, float scale,
                                  const WeightDropout& dropout = {}) {
  AttentionGradients d{AttentionHalves(in.q.size(), 7), AttentionHalves(in.k.size(), 7),
                       AttentionHalves(in.v.size(), 7)};
  attention_gradient_bf16(pool, s, scale, attention_heads(in.q.data(), s, s.queries, s.head_size),
                          attention_heads(in.k.data(), s, s.keys, s.head_size),
                          attention_heads(in.v.data(), s, s.keys, s.value_size),
                          {in.mask.data(), s.keys},
                          attention_heads(dy.data(), s, s.queries, s.value_size),
                          attention_heads(d.dq.data(), s, s.queries, s.head_size),
                          attention_heads(d.dk.data(), s, s.keys, s.head_size),
                          attention_heads(d.dv.data(), s, s.keys, s.value_size), dropout);
  return d;
}

AttentionHalves random_dy(const AttentionShape& s) {
  return random_halves(s.batch * s.queries * s.heads * s.value_size, 5, 1);
}

// Compares the norm of the difference. Each of three roundings has an error of at most 2^-9.
TEST(AttentionBf16, GradientsAreWhatFloatsGiveButForTheirRoundings) {
  ThreadPool pool(2);
  const auto difference = [](const std::vector<float>& is, const std::vector<float>& wanted) {
    double distance = 0, norm = 0;
    for (std::size_t i = 0; i < is.size(); ++i) {
      distance += std::pow(double{is[i]} - double{wanted[i]}, 2);
      norm += std::pow(double{wanted[i]}, 2);
    }
    return std::sqrt(distance / std::max(norm, 1e-12));
  };
  for (const AttentionShape& s : kAttentionShapes) {
    if (s.keys == 1) continue;  // its score gradients are 0
    const AttentionInputs in(s);
    const AttentionHalves dy = random_dy(s);
    const float scale = 1 / std::sqrt(static_cast<float>(s.head_size));
    const std::vector<float> q = attention_floats(in.q), k = attention_floats(in.k),
                             v = attention_floats(in.v), wide_dy = attention_floats(dy);
    std::vector<float> dq(q.size()), dk(k.size()), dv(v.size());
    attention_gradient(pool, s, scale, attention_heads(q.data(), s, s.queries, s.head_size),
                       attention_heads(k.data(), s, s.keys, s.head_size),
                       attention_heads(v.data(), s, s.keys, s.value_size), {in.mask.data(), s.keys},
                       attention_heads(wide_dy.data(), s, s.queries, s.value_size),
                       attention_heads(dq.data(), s, s.queries, s.head_size),
                       attention_heads(dk.data(), s, s.keys, s.head_size),
                       attention_heads(dv.data(), s, s.keys, s.value_size));
    for_each_target([&] {
      const AttentionGradients d = gradients_bf16(pool, s, in, dy, scale);
      EXPECT_LT(difference(attention_floats(d.dq), dq), 3 * 0x1p-9) << s.head_size;
      EXPECT_LT(difference(attention_floats(d.dk), dk), 3 * 0x1p-9) << s.head_size;
      EXPECT_LT(difference(attention_floats(d.dv), dv), 3 * 0x1p-9) << s.head_size;
    });
  }
}

TEST(AttentionBf16, ThreadsAndInstructionsChangeNoGradient) {
  ThreadPool one(1), three(3);
  const WeightDropout dropout{0.25, {7, 3}, 60'000, 30'000, 300};
  for (const AttentionShape& s : kAttentionShapes) {
    const AttentionInputs in(s);
    const AttentionHalves dy = random_dy(s);
    AttentionGradients first;
    for_each_target(
        [&] {
          const AttentionGradients d = gradients_bf16(one, s, in, dy, 0.2f, dropout),
                                   e = gradients_bf16(three, s, in, dy, 0.2f, dropout);
          if (first.dq.empty()) first = d;
          for (AttentionHalves AttentionGradients::*part :
               {&AttentionGradients::dq, &AttentionGradients::dk, &AttentionGradients::dv}) {
            EXPECT_TRUE(same_bits(d.*part, e.*part));
            EXPECT_TRUE(same_bits(d.*part, first.*part)) << s.head_size;
          }
        },
        kFusedTargets);
  }
}

}  // namespace
}  // namespace hone::kernels
