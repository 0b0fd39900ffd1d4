#include "hone/base/text.h"

#include <gtest/gtest.h>

#include <climits>
#include <limits>

#include "hone/base/error.h"

#include "hone/base/error.h"

namespace hone {
namespace {

using Pieces = std::vector<std::string>;

TEST(Glob, MatchesRunsAndSingleCharacters) {
  EXPECT_TRUE(glob_match("bert.*.weight", "bert.encoder.layer.0.weight"));
  EXPECT_TRUE(glob_match("*", ""));
  EXPECT_TRUE(glob_match("**", "anything"));
  EXPECT_TRUE(glob_match("", ""));
  EXPECT_TRUE(glob_match("layer.?", "layer.1"));
  EXPECT_TRUE(glob_match("a*b*c", "abbbxc"));
  EXPECT_TRUE(glob_match("*a", "aaa"));
  EXPECT_TRUE(glob_match("[x].(y)+", "[x].(y)+"));  // no other special characters
  EXPECT_FALSE(glob_match("layer.?", "layer.11"));
  EXPECT_FALSE(glob_match("layer.?", "layer."));
  EXPECT_FALSE(glob_match("", "x"));
  EXPECT_FALSE(glob_match("bert.*.weight", "bert.encoder.bias"));
  EXPECT_FALSE(glob_match("weight", "weights"));
  EXPECT_FALSE(glob_match("a*b", "ac"));
  EXPECT_TRUE(matches_any(std::vector<std::string>{"a*", "b*"}, "bert"));
  EXPECT_FALSE(matches_any(std::vector<std::string>{"a*", "c*"}, "bert"));
  EXPECT_FALSE(matches_any({}, "bert"));
}

TEST(Glob, ManyStarsTakeNoExponentialTime) {
  std::string glob;
  for (int i = 0; i < 200; ++i) glob += "*a";
  EXPECT_FALSE(glob_match(glob + "b", std::string(5000, 'a')));
}

TEST(Split, KeepsEmptyPieces) {
  EXPECT_EQ(split("a,,b", ','), (Pieces{"a", "", "b"}));
  EXPECT_EQ(split("a", ','), (Pieces{"a"}));
  EXPECT_EQ(split("a,", ','), (Pieces{"a", ""}));
  EXPECT_EQ(split(",", ','), (Pieces{"", ""}));
  EXPECT_EQ(split("", ','), Pieces{});
}

TEST(Trim, TakesWhiteSpaceFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
  EXPECT_EQ(trim("x"), "x");
}

TEST(Nearest, ForgivesSlipsOnly) {
  const Pieces words = {"train", "evaluate", "search", "quantize"};
  EXPECT_EQ(nearest("tran", words), "train");
  EXPECT_EQ(nearest("evalaute", words), "evaluate");
  EXPECT_EQ(nearest("serach", words), "search");
  EXPECT_EQ(nearest("quantise", words), "quantize");
  EXPECT_EQ(nearest("QAT", words), "");
  const Pieces short_words = {"log", "int"};
  EXPECT_EQ(nearest("lgo", short_words), "log") << "a swap is one slip";
  EXPECT_EQ(nearest("compress", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("train", {}), "");
}

TEST(Nearest, PrefersTheLeastDistance) {
  const Pieces words = {"layers", "layer"};
  EXPECT_EQ(nearest("layr", words), "layer");
  EXPECT_EQ(nearest("layers", words), "layers");
}

TEST(Nearest, DoesNotProposeAnotherName) {
  const Pieces words = {"bert", "google/bert_uncased_L-2_H-128", "bf16", "--max_steps"};
  EXPECT_EQ(nearest("albert", words), "") << "another first letter";
  EXPECT_EQ(nearest("google/bert_uncased_L-4_H-128", words), "") << "another digit";
  EXPECT_EQ(nearest("bf61", words), "bf16") << "digits that changed places";
  EXPECT_EQ(nearest("--n", words), "") << "dashes are no letters";
  EXPECT_EQ(nearest("ert", words), "bert") << "one letter is missing";
}

TEST(Nearest, HeedsNeitherCaseNorTheSignBetweenWords) {
  const Pieces words = {"fp32", "--max_steps"};
  EXPECT_EQ(nearest("FP32", words), "fp32");
  EXPECT_EQ(nearest("--max-step", words), "--max_steps");
  EXPECT_EQ(nearest("-max_steps", words), "--max_steps");
}

TEST(DidYouMean, IsEmptyWithoutACandidate) {
  const Pieces words = {"train"};
  EXPECT_EQ(did_you_mean("tain", words), "; did you mean 'train'?");
  EXPECT_EQ(did_you_mean("export", words), "");
}

TEST(HumanBytes, PicksTheUnit) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(1023), "1023 B");
  EXPECT_EQ(human_bytes(1024), "1 KiB");
  EXPECT_EQ(human_bytes(1536), "1.50 KiB");
  EXPECT_EQ(human_bytes(4.1 * 1024 * 1024), "4.10 MiB");
  EXPECT_EQ(human_bytes(23.321 * 1024 * 1024), "23.32 MiB");
  EXPECT_EQ(bytes_in_unit(1024, byte_unit(1024), /*decimals=*/true), "1.00 KiB");
  EXPECT_EQ(bytes_in_unit(652 * 1024, byte_unit(16 << 20), /*decimals=*/true), "0.64 MiB");
  EXPECT_EQ(human_bytes(3.0 * (1ll << 40)), "3 TiB");
}

TEST(ThreeDigits, AreSignificantHoweverSmallTheNumber) {
  EXPECT_EQ(three_digits(0), "0");
  EXPECT_EQ(three_digits(0.012345), "0.0123");
  EXPECT_EQ(three_digits(0.0036), "0.00360") << "a ratio is never shown as 0.00";
  EXPECT_EQ(three_digits(3.1e-7), "3.10e-07");
  EXPECT_EQ(three_digits(1), "1.00");
  EXPECT_EQ(three_digits(-4.5), "-4.50");
  EXPECT_EQ(three_digits(9.994), "9.99");
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(999.4), "999");
  EXPECT_EQ(three_digits(999.6), "1,000");
  EXPECT_EQ(three_digits(2227.16), "2,227");
  EXPECT_EQ(three_digits(std::numeric_limits<double>::quiet_NaN()), "–");
}

TEST(Grouped, SetsThousandsApart) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(4386178), "4,386,178");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(LLONG_MIN), "-9,223,372,036,854,775,808");
}

TEST(Text, NamesTheDirectionOfSpeedRatios) {
  EXPECT_EQ(speed_text(6.6), "6.60× faster");
  EXPECT_EQ(speed_text(0.9375), "1.07× slower");
  EXPECT_EQ(speed_range_text(1.79, 1.9), "1.79 to 1.90");
  EXPECT_EQ(speed_range_text(0.843, 0.983), "1.02 to 1.19");
  EXPECT_EQ(speed_range_text(0.957, 1.12), "1.04× slower to 1.12× faster");
  EXPECT_EQ(speed_range_text(0.9985, 1.79), "1.002× slower to 1.79× faster");
  EXPECT_EQ(counted_text(1, "trial"), "1 trial");
  EXPECT_EQ(counted_text(1200, "trial"), "1,200 trials");
}

TEST(Text, ReadsDurations) {
  EXPECT_DOUBLE_EQ(parse_duration("90s"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("1.5m"), 90);
  EXPECT_DOUBLE_EQ(parse_duration("2h"), 7200);
  for (const char* wrong : {"", "m", "5", "0", "0s", "-1m", "1d", "5 m", "inf", "nan"})
    EXPECT_THROW(parse_duration(wrong), UserError) << wrong;
}

TEST(Text, QuotesWordsForAShell) {
  EXPECT_EQ(shell_word("small/model"), "small/model");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("it's mine"), "'it'\\''s mine'");
}

}  // namespace
}  // namespace hone
