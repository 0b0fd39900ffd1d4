#include "hone/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "hone/base/error.h"

namespace hone {
namespace {

using Words = std::array<std::uint32_t, 4>;

TEST(RandomStream, IsPhilox4x32WithTenRounds) {
  // Known answers of the Random123 distribution (kat_vectors): counter, key, result.
  EXPECT_EQ((RandomStream{0, 0}.block(0)), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ((RandomStream{~0ull, ~0ull}.block(~0ull)),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ((RandomStream{0x299f31d0a4093822, 0x0370734413198a2e}.block(0x85a308d3243f6a88)),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, WordsAreThoseOfTheBlocks) {
  const RandomStream stream{7, 3};
  for (std::uint64_t i = 0; i < 12; ++i) EXPECT_EQ(stream.word(i), stream.block(i / 4)[i % 4]);
}

TEST(RandomSequence, ReadsTheStreamInOrder) {
  const RandomStream stream{7, 3};
  RandomSequence sequence(7, 3);
  for (std::uint64_t i = 0; i < 9; ++i) EXPECT_EQ(sequence.next_word(), stream.word(i));
}

TEST(RandomSequence, SeedsAndStreamsAreIndependent) {
  std::set<std::uint32_t> first_words;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t stream = 0; stream < 10; ++stream)
      first_words.insert(RandomSequence(seed, stream).next_word());
  }
  EXPECT_EQ(first_words.size(), 100u);  // two equal among 100 of 2^32: once in a million
}

// The bounds below are five standard deviations of the statistic of `count` independent samples. The seed is fixed, so
// the tests pass always or never.
constexpr int kDraws = 100'000;

TEST(RandomSequence, UniformHasMeanHalfAndVarianceATwelfth) {
  RandomSequence random(1, 1);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    squares += (value - 0.5) * (value - 0.5);
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 5 * std::sqrt(1. / 12 / kDraws));
  EXPECT_NEAR(squares / kDraws, 1. / 12,
              5 * std::sqrt(1. / 180 / kDraws));  // var((u-1/2)^2) = 1/80 - 1/144
}

TEST(RandomSequence, NormalHasMomentsOfTheNormalDistribution) {
  RandomSequence random(1, 2);
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double value = random.normal();
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
    fourth += value * value * value * value;
  }
  EXPECT_NEAR(sum / kDraws, 0, 5 * std::sqrt(1. / kDraws));
  EXPECT_NEAR(squares / kDraws, 1, 5 * std::sqrt(2. / kDraws));
  EXPECT_NEAR(fourth / kDraws, 3, 5 * std::sqrt(96. / kDraws));  // E x^8 - (E x^4)^2 = 105 - 9
}

TEST(RandomSequence, BelowDrawsEveryValueEquallyOften) {
  for (const std::uint64_t bound : {2, 3, 7, 10}) {
    RandomSequence random(2, bound);
    std::vector<int> counts(bound);
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t value = random.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    const double p = 1. / static_cast<double>(bound);
    for (const int count : counts)
      EXPECT_NEAR(count, kDraws * p, 5 * std::sqrt(kDraws * p * (1 - p))) << bound;
  }
}

TEST(RandomSequence, BelowHasNoBiasNearTheRangeOfTheWord) {
  // The remainder of 64 random bits would fall into the first third twice as often as into each other third.
  const std::uint64_t bound = std::uint64_t{3} << 62;
  RandomSequence random(3, 0);
  int thirds[3] = {};
  for (int i = 0; i < kDraws; ++i) ++thirds[random.below(bound) >> 62];
  for (const int count : thirds) EXPECT_NEAR(count, kDraws / 3., 5 * std::sqrt(kDraws * 2. / 9));
}

TEST(RandomSequence, BelowOneIsZeroAndBelowZeroAnError) {
  RandomSequence random(4, 0);
  EXPECT_EQ(random.below(1), 0u);
  EXPECT_THROW(random.below(0), InternalError);
}

TEST(RandomSequence, ShuffleGivesEveryOrderEquallyOften) {
  RandomSequence random(5, 0);
  std::map<std::vector<int>, int> counts;
  const int draws = 24'000;
  for (int i = 0; i < draws; ++i) {
    std::vector<int> items = {0, 1, 2, 3};
    random.shuffle(items);
    ++counts[items];
  }
  EXPECT_EQ(counts.size(), 24u);
  for (const auto& [order, count] : counts)
    EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000 * 23. / 24));
}

TEST(StreamOf, IsFnv1a) {
  // Test vectors by the authors (draft-eastlake-fnv).
  EXPECT_EQ(stream_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(stream_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(stream_of("foobar"), 0x85944171f73967e8u);
}

}  // namespace
}  // namespace hone
