#include <gtest/gtest.h>

#include "hone/text/tokenizer_files.h"
#include "tests/support/expect.h"
#include "tests/text/byte_pair_golden.h"

// Compares RoBERTa's whole tokenizer with Hugging Face's.
namespace hone {
namespace {

using Ids = std::vector<std::int32_t>;

std::vector<std::pair<std::string, Tokenizer>> columns() {
  std::vector<std::pair<std::string, Tokenizer>> result;
  for (const auto& [name, changes] : byte_golden().at("settings").items())
    result.emplace_back(name, changed_tokenizer(changes));
  return result;
}

void expect_byte_golden(const char* cases) {
  const auto tokenizers = columns();
  for (const Json& row : byte_golden().at(cases))
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      EXPECT_EQ(tokenizers[i].second.encode(row[0].get<std::string>(), 4096), row[i + 1].get<Ids>())
          << tokenizers[i].first << ": " << row[0];
}

TEST(BytePairTokenizer, ChosenTextsHaveHuggingFaceIds) { expect_byte_golden("chosen"); }
TEST(BytePairTokenizer, RandomTextsHaveHuggingFaceIds) { expect_byte_golden("random"); }

TEST(BytePairTokenizer, TruncatesAsHuggingFaceDoes) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  const std::size_t whole = byte_golden().at("truncated").back()[2].size();
  for (const Json& row : byte_golden().at("truncated")) {
    const Encoding encoding = tokenizer.encode_text(row[1].get<std::string>(), row[0]);
    EXPECT_EQ(encoding.ids, row[2].get<Ids>()) << "max_length " << row[0];
    EXPECT_EQ(encoding.truncated, encoding.ids.size() < whole) << row[0];
  }
}

TEST(BytePairTokenizer, EncodesAndCutsPairsAsHuggingFaceDoes) {
  const auto tokenizers = columns();
  for (const Json& row : byte_golden().at("pairs")) {
    const auto column = std::find_if(tokenizers.begin(), tokenizers.end(),
                                     [&](const auto& named) { return named.first == row[0]; });
    const Encoding encoding =
        column->second.encode_pair(row[2].get<std::string>(), row[3].get<std::string>(), row[1]);
    EXPECT_EQ(encoding.ids, row[4].get<Ids>()) << row;
    EXPECT_EQ(encoding.type_1_begin, row[5]) << row;
  }
}

TEST(BytePairTokenizer, IsReadFromVocabularyAndMergesAlone) {
  const TemporaryFolder folder;
  write_byte_files(folder);
  const Tokenizer tokenizer = load_tokenizer(folder.path());
  for (const Json& row : byte_golden().at("without_json"))
    EXPECT_EQ(tokenizer.encode(row[0].get<std::string>(), 4096), row[1].get<Ids>()) << row[0];
  EXPECT_EQ(tokenizer.pad_id(), 1);
  EXPECT_EQ(tokenizer.unknown_id(), 3);
}

TEST(BytePairTokenizer, ReadsIllFormedUtf8AsReplacementAndCountsIt) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  const Encoding encoding = tokenizer.encode_text("film\xff \xe4\xb8<mask>\xc3", 64);
  EXPECT_EQ(encoding.ids, tokenizer.encode("film\ufffd \ufffd<mask>\ufffd", 64));
  EXPECT_EQ(encoding.replaced_bytes, 3);
}

TEST(BytePairTokenizer, ReadsAMegabyteWithoutSpaces) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  const std::string text(1 << 20, 'e');
  EXPECT_GT(tokenizer.encode(text, 1 << 21).size(), 1000u);
  EXPECT_EQ(tokenizer.encode_pair(text, text, 512).ids.size(), 512u);
}

TEST(BytePairTokenizer, SpellsEverything) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  EXPECT_EQ(tokenizer.unknown_words("film 🎬 \x01 中"), std::vector<std::string>{});
}

TEST(BytePairTokenizer, ShowsItsTokensAsText) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  std::vector<std::string> tokens, shown;
  for (const std::int32_t id : tokenizer.encode(" film é\n🎬", 64)) {
    tokens.push_back(tokenizer.token(id));
    shown.push_back(tokenizer.shown_token(id));
  }
  EXPECT_EQ(tokens.at(1), "Ġfilm");
  EXPECT_EQ(shown, (std::vector<std::string>{"<s>", "␣film", "␣é", "\n", "\\xf0\\x9f", "\\x8e",
                                             "\\xac", "</s>"}));
}

TEST(BytePairTokenizer, KnowsWhichTokensGoOnWithAWord) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  const auto continues = [&](std::string_view text) {
    return tokenizer.continues_word(tokenizer.encode(text, 64).at(1));
  };
  EXPECT_TRUE(continues("film"));
  EXPECT_TRUE(continues("7"));
  EXPECT_FALSE(continues(" film"));
  EXPECT_FALSE(continues("."));
  EXPECT_FALSE(tokenizer.continues_word(0));
}

TEST(BytePairTokenizer, AsksForRoomForItsSpecialTokens) {
  const Tokenizer tokenizer = load_tokenizer(byte_golden_folder());
  expect_user_error("max_length: expected at least 2 for the special tokens <s> </s>, got 1",
                    [&] { tokenizer.encode("a", 1); });
  expect_user_error(
      "max_length: expected at least 4 for the special tokens of pairs <s> </s> "
      "</s> </s>, got 3",
      [&] { tokenizer.encode_pair("a", "b", 3); });
}

}  // namespace
}  // namespace hone
