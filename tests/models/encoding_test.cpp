#include "hone/models/encoding.h"

#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "hone/text/tokenizer_files.h"
#include "hone/text/utf8.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

TextModel golden_model() {
  const fs::path golden = test_data() / "frontends" / "golden" / "safetensors";
  return open_model(golden.string(), testing::quiet_context(), /*seed=*/1);
}

TEST(EncodeSplits, SaysWhatWasCutAndReplaced) {
  Splits splits;
  splits.source.train = {{"a b c d e f g h", 0}, {"b", 1}};
  splits.source.test = {{"a \xff", 0}};
  splits.validation_source = {ValidationOrigin::test, "none of them"};
  splits.protocol = Protocol::original;
  std::vector<std::string> warnings;
  const EncodedSplits encoded =
      encode_splits(golden_model(), splits, evaluation_examples(splits, "test", std::nullopt),
                    std::nullopt, {6}, testing::quiet_context(), warnings);
  EXPECT_EQ(encoded.train.ids[0].size(), 6u);
  EXPECT_EQ(encoded.train.labels, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(encoded.validation.size(), 0);
  EXPECT_EQ(encoded.test.size(), 1);
  EXPECT_EQ(encoded.validation_source.text, "none of them");
  EXPECT_EQ(encoded.validation_source.origin, ValidationOrigin::test);
  EXPECT_EQ(encoded.protocol, Protocol::original);
  EXPECT_EQ(warnings,
            (std::vector<std::string>{
                "train: 1 of 2 texts was truncated to 6 tokens", "test: " + not_utf8_warning(1),
                "test: 1 of 1 examples were used for choices, so the metrics are too optimistic"}));
}

TEST(EncodePart, CutsTextsToThePositionsOfTheModel) {
  std::string text;
  for (int i = 0; i < 600; ++i) text += "a ";
  std::vector<std::string> warnings;
  const EncodedSet encoded = encode_split(golden_model(), {{text, 0}}, "data", /*cut=*/{},
                                          testing::quiet_context(), warnings);
  EXPECT_EQ(encoded.ids[0].size(), 32u);
}

TEST(EncodePart, SaysOnceThatTheModelHasFewerPositions) {
  std::vector<std::string> warnings;
  for (int i = 0; i < 2; ++i)
    encode_split(golden_model(), {{"a", 0}}, "data", /*cut=*/{1000}, testing::quiet_context(),
                 warnings);
  EXPECT_EQ(warnings, std::vector<std::string>{"`max_seq_length` 1000: the model has 32 positions; "
                                               "texts are truncated to 32 tokens"});
}

TEST(TextLimit, IsTheSmallestOfWishDefaultAndPositions) {
  const auto limit = [](std::int64_t wish, std::int64_t positions,
                        const std::optional<TokenLimit>& said = {}) {
    return text_limit(TextCut{wish}, positions, said).tokens;
  };
  EXPECT_EQ(limit(0, 512), 512u);
  EXPECT_EQ(limit(0, 1024), 512u);
  EXPECT_EQ(limit(0, 32), 32u);
  EXPECT_EQ(limit(128, 512), 128u);
  EXPECT_EQ(limit(1000, 512), 512u);
  EXPECT_EQ(limit(0, 512, TokenLimit{128, "a file"}), 128u);
  EXPECT_EQ(limit(0, 64, TokenLimit{128, "a file"}), 64u);
  EXPECT_EQ(limit(0, 1024, TokenLimit{1'000'000'000, "a file"}), 512u);
  EXPECT_EQ(limit(256, 512, TokenLimit{128, "a file"}), 256u) << "a wish goes before a file";
}

TEST(TextLimit, CutsAsIsAskedForOrElseAsTheModelSays) {
  TextModel model = golden_model();
  const auto truncation = [&](std::optional<Truncation> asked = {}) {
    return text_limit({.truncation = asked}, model).truncation;
  };
  EXPECT_EQ(truncation(), Truncation::head);
  EXPECT_EQ(truncation(Truncation::tail), Truncation::tail);
  keep_truncation({}, model);
  EXPECT_EQ(truncation(), Truncation::head);
  keep_truncation({.truncation = Truncation::head_tail}, model);
  EXPECT_EQ(truncation(), Truncation::head_tail);
  EXPECT_EQ(truncation(Truncation::head), Truncation::head);
}

TEST(EncodePart, SaysWhichTokensOfLongTextsAreKept) {
  const auto warning = [](Truncation truncation) {
    std::vector<std::string> warnings;
    encode_split(golden_model(), {{"a a a a a a", 0}}, "data", {4, truncation},
                 testing::quiet_context(), warnings);
    return warnings.empty() ? std::string() : warnings.back();
  };
  const std::string cut = "data: 1 of 1 texts was truncated to 4 tokens";
  EXPECT_EQ(warning(Truncation::head), cut);
  EXPECT_EQ(warning(Truncation::tail), cut + " (the last ones)");
  EXPECT_EQ(warning(Truncation::head_tail),
            cut + " (a quarter from the beginning, the rest from the end)");
}

TEST(TextLimit, SaysWhoseItIsWhereItIsTheFoldersOrLeavesNoRoom) {
  const TextLimit of_folder =
      text_limit(TextCut{}, 512, TokenLimit{3, "max_seq_length of m/file.json"});
  EXPECT_EQ(reason(of_folder),
            ", as max_seq_length of m/file.json sets (`max_seq_length` overrides it)");
  EXPECT_EQ(reason(text_limit(TextCut{3}, 512, TokenLimit{3, "a file"})), "");
  EXPECT_EQ(reason(text_limit(TextCut{}, 2, TokenLimit{3, "a file"})), "");
  const Tokenizer roberta = load_tokenizer(test_data() / "text/golden/byte_pair");
  check_room(of_folder, roberta, /*pairs=*/false);
  expect_user_error(
      "max_seq_length of m/file.json: expected at least 4 for pairs, for the special tokens <s> "
      "</s> </s> </s>, got 3",
      [&] { check_room(of_folder, roberta, /*pairs=*/true); });
  expect_user_error("`max_seq_length`: expected at least 2 for the special tokens <s> </s>, got 1",
                    [&] { check_room(text_limit(TextCut{1}, 512), roberta, /*pairs=*/false); });
}

TEST(CheckTakesPairs, LooksAtTheTypesAndSpecialTokensOfTheTokenizer) {
  const Tokenizer bert = synthetic_tokenizer();
  const Tokenizer roberta = load_tokenizer(test_data() / "text/golden/byte_pair");
  const auto limits = [](std::int64_t types) {
    return InputLimits{.tokens = 512, .vocabulary = 1000, .token_types = types};
  };
  check_takes_pairs(limits(2), bert, text_limit(TextCut{3}, 512));
  check_takes_pairs(limits(1), roberta, text_limit(TextCut{4}, 512));
  expect_user_error("pairs of texts need a model with two types of tokens, this one has 1",
                    [&] { check_takes_pairs(limits(1), bert, text_limit(TextCut{3}, 512)); });
  expect_user_error(
      "`max_seq_length`: expected at least 4 for pairs, for the special tokens <s> </s> </s> </s>, "
      "got 3",
      [&] { check_takes_pairs(limits(1), roberta, text_limit(TextCut{3}, 512)); });
}

}  // namespace
}  // namespace hone
