#include "hone/text/tokenizer.h"

#include <gtest/gtest.h>

#include "hone/base/json.h"
#include "hone/text/tokenizer_files.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

const Json& token_golden() {
  static const Json file = read_json(test_data() / "text/golden/tokens.json");
  return file;
}

std::vector<std::string> golden_vocabulary() {
  const std::string file = read_file(test_data() / "text/golden/vocab.txt");
  std::vector<std::string> tokens;
  for (std::size_t begin = 0; begin < file.size();) {
    const std::size_t end = file.find('\n', begin);
    tokens.push_back(file.substr(begin, end - begin));
    begin = end + 1;
  }
  return tokens;
}

Tokenizer golden_tokenizer(const Normalization& normalization) {
  return Tokenizer(
      {.tokens = golden_vocabulary(), .model = WordPieceModel{.normalization = normalization}});
}

// One column of the golden file: its name in "settings" and its normalization.
struct Column {
  const char* name;
  Normalization normalization;
};
const Column kColumns[] = {{"uncased", {}},
                           {"cased", {.strip_accents = false, .lowercase = false}},
                           {"lower_with_accents", {.strip_accents = false}},
                           {"cased_without_accents", {.lowercase = false}},
                           {"ideographs_joined", {.split_cjk = false}}};

void expect_golden(const char* cases) {
  std::size_t column = 0;
  for (const auto& [name, config] : token_golden().at("settings").items()) {
    ASSERT_EQ(name, kColumns[column].name);
    const Tokenizer tokenizer = golden_tokenizer(kColumns[column++].normalization);
    for (const Json& row : token_golden().at(cases)) {
      if (column >= row.size()) continue;
      const std::string text = row[0];
      EXPECT_EQ(tokenizer.encode(text, 512), row[column].get<Ids>()) << name << ": " << row[0];
    }
  }
}

TEST(Tokenizer, ChosenTextsHaveHuggingFaceIds) { expect_golden("chosen"); }
TEST(Tokenizer, RandomTextsHaveHuggingFaceIds) { expect_golden("random"); }

TEST(Tokenizer, TruncatesAsHuggingFaceDoes) {
  const Tokenizer tokenizer = golden_tokenizer({});
  for (const Json& row : token_golden().at("truncated")) {
    EXPECT_EQ(tokenizer.encode(row[1].get<std::string>(), row[0]), row[2].get<Ids>())
        << "max_length " << row[0];
  }
}

Tokenizer small_tokenizer(std::vector<std::string> more, std::vector<AddedToken> added = {}) {
  std::vector<std::string> tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  tokens.insert(tokens.end(), more.begin(), more.end());
  return Tokenizer({.tokens = std::move(tokens), .added = std::move(added)});
}

TEST(Tokenizer, ReportsTruncationOnlyWhenPiecesAreLost) {
  const Tokenizer tokenizer = small_tokenizer({"a"});
  EXPECT_FALSE(tokenizer.encode_text("a a", 4).truncated);
  EXPECT_FALSE(tokenizer.encode_text("a a  \t", 4).truncated);
  EXPECT_TRUE(tokenizer.encode_text("a a a", 4).truncated);
}

TEST(Tokenizer, ReadsIllFormedUtf8AsReplacementAndCountsIt) {
  const Tokenizer tokenizer = small_tokenizer({"ab"});
  const Encoding encoding = tokenizer.encode_text(
      "a\xff"
      "b \xe4\xb8",
      16);
  EXPECT_EQ(encoding.ids, (Ids{2, 5, 3}));
  EXPECT_EQ(encoding.replaced_bytes, 2);
}

TEST(Tokenizer, PrefersTheLongestAddedToken) {
  const Tokenizer tokenizer =
      small_tokenizer({"<x>", "<x>y", "y", "<", ">", "x"}, {{"<x>"}, {"<x>y"}});
  EXPECT_EQ(tokenizer.encode("<x>y <x>x <x", 16), (Ids{2, 6, 5, 10, 8, 10, 3}));
}

TEST(Tokenizer, FindsNormalizedAddedTokensInNormalizedText) {
  const Tokenizer tokenizer = small_tokenizer(
      {"a", "ÄB", "b"}, {{.text = "ÄB", .normalized = true}, {.text = "b", .normalized = true}});
  EXPECT_EQ(tokenizer.encode("a äB ab cb", 16), (Ids{2, 5, 6, 6, 1, 7, 3}));
  EXPECT_EQ(tokenizer.unknown_words("ab cb"), (std::vector<std::string>{"c"}));
}

TEST(Tokenizer, KeepsTheEndOfTextsWhereItIsAskedTo) {
  TokenizerDefinition definition{.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d"},
                                 .truncation = Truncation::tail};
  const Tokenizer tokenizer(definition);
  EXPECT_EQ(tokenizer.encode("a b c d", 4), (Ids{2, 6, 7, 3}));
  EXPECT_TRUE(tokenizer.encode_text("a b c d", 4).truncated);
  EXPECT_EQ(tokenizer.encode("a b", 4), (Ids{2, 4, 5, 3}));
  EXPECT_EQ(tokenizer.encode_pair("a b c d", "a b", 7).ids, (Ids{2, 6, 7, 3, 4, 5, 3}));
  EXPECT_EQ(tokenizer.encode_pair("a b", "c d", 3).ids, (Ids{2, 3, 3}));
}

TEST(Tokenizer, KeepsAQuarterFromTheBeginningAndTheRestFromTheEnd) {
  EXPECT_EQ(head_token_count(Truncation::head_tail, 510), 127u);
  TokenizerDefinition definition{
      .tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "b", "c", "d", "e", "f"},
      .truncation = Truncation::head_tail};
  const Tokenizer tokenizer(definition);
  EXPECT_EQ(tokenizer.encode("a b c d e f", 6), (Ids{2, 4, 7, 8, 9, 3}));
  EXPECT_EQ(tokenizer.encode("a b c d e f", 5), (Ids{2, 7, 8, 9, 3}))
      << "a quarter of 3 is rounded down to 0";
  EXPECT_EQ(tokenizer.encode("a b c d e f", 8), (Ids{2, 4, 5, 6, 7, 8, 9, 3}));
  EXPECT_EQ(tokenizer.encode("a b", 2), (Ids{2, 3}));
  EXPECT_EQ(tokenizer.encode("a b c d e f", 6, Truncation::head), (Ids{2, 4, 5, 6, 7, 3}));
  EXPECT_EQ(tokenizer.encode("a b c d e f", 6, Truncation::tail), (Ids{2, 6, 7, 8, 9, 3}));
}

TEST(Tokenizer, KeepsWhatHuggingFaceKeepsOfLongTexts) {
  const Json golden = read_json(test_data() / "text/golden/truncation.json");
  const auto expect = [&](const Tokenizer& tokenizer, const char* name) {
    for (const Json& row : golden.at(name))
      for (const Truncation truncation :
           {Truncation::head, Truncation::tail, Truncation::head_tail}) {
        const std::string text = row[1];
        const Encoding encoding =
            row[2].is_null()
                ? tokenizer.encode_text(text, row[0], truncation)
                : tokenizer.encode_pair(text, row[2].get<std::string>(), row[0], truncation);
        EXPECT_EQ(encoding.ids, row[3 + static_cast<std::size_t>(truncation)].get<Ids>())
            << name << ": " << row << to_string(truncation);
      }
  };
  expect(golden_tokenizer({}), "word_pieces");
  expect(load_tokenizer(test_data() / "text/golden/byte_pair"), "byte_pairs");
}

TEST(Tokenizer, WithoutCleaningControlCharactersStayInWords) {
  std::vector<std::string> tokens = {"[PAD]",
                                     "[UNK]",
                                     "[CLS]",
                                     "[SEP]",
                                     "a\x01"
                                     "b",
                                     "ab",
                                     "c"};
  const Tokenizer tokenizer(
      {.tokens = tokens, .model = WordPieceModel{.normalization = {.clean_text = false}}});
  EXPECT_EQ(tokenizer.encode("a\x01"
                             "b c\vc",
                             16),
            (Ids{2, 4, 6, 6, 3}));
}

TEST(Tokenizer, TreatsAMaskTokenThatIsAbsentAsText) {
  const Tokenizer tokenizer({.tokens = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[", "]", "mask"}});
  EXPECT_EQ(tokenizer.encode("[MASK]", 16), (Ids{2, 4, 6, 5, 3}));
}

TEST(Tokenizer, EncodesAndCutsPairsAsHuggingFaceDoes) {
  const Tokenizer tokenizer = golden_tokenizer({});
  for (const Json& row : token_golden().at("pairs")) {
    const std::string first = row[1], second = row[2];
    const Encoding encoding = tokenizer.encode_pair(first, second, row[0]);
    EXPECT_EQ(encoding.ids, row[3].get<Ids>()) << row;
    EXPECT_EQ(encoding.type_1_begin, row[4]) << row;
    const Encoding whole = tokenizer.encode_pair(first, second, 512);
    EXPECT_EQ(encoding.truncated, encoding.ids.size() < whole.ids.size()) << row;
  }
}

TEST(Tokenizer, KnowsItsTokens) {
  const Tokenizer tokenizer = small_tokenizer({"word"});
  EXPECT_EQ(tokenizer.vocabulary_size(), 6);
  EXPECT_EQ(tokenizer.token(5), "word");
  EXPECT_EQ(tokenizer.pad_id(), 0);
  EXPECT_EQ(tokenizer.unknown_id(), 1);
  EXPECT_EQ(tokenizer.framing_tokens(false), (std::vector<std::string>{"[CLS]", "[SEP]"}));
  EXPECT_EQ(tokenizer.framing_tokens(true), (std::vector<std::string>{"[CLS]", "[SEP]", "[SEP]"}));
}

TEST(Tokenizer, RefusesWhatItCannotUse) {
  expect_user_error("the token 'a' has the ids 5 and 7", [] { small_tokenizer({"a", "b", "a"}); });
  expect_user_error("the unknown token '[UNK]' is not among", [] {
    Tokenizer({.tokens = {"[PAD]", "[CLS]", "[SEP]"}});
  });
  expect_user_error("the added token '<x>' is not among the 5 tokens",
                    [] { small_tokenizer({}, {{"<x>"}}); });
  expect_user_error("is empty once it is normalized",
                    [] { small_tokenizer({"\u200d"}, {{.text = "\u200d", .normalized = true}}); });
  expect_user_error("max_length: expected at least 2 for the special tokens [CLS] [SEP], got 1",
                    [] { small_tokenizer({}).encode("a", 1); });
  expect_user_error(
      "max_length: expected at least 3 for the special tokens of pairs [CLS] [SEP] [SEP], got 2",
      [] { small_tokenizer({}).encode_pair("a", "b", 2); });
  expect_user_error("token id 5: expected 0 to 4", [] { small_tokenizer({}).token(5); });
}

}  // namespace
}  // namespace hone
