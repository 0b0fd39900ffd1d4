#include "hone/text/trim_tokenizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/base/json.h"
#include "hone/text/tokenizer_files.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kBytePairs = test_data() / "text" / "golden" / "byte_pair";

// Returns the tokens that always stay, the used ones, and the tokens that these are merged from.
std::vector<std::int32_t> kept_with(const TokenizerDefinition& definition,
                                    const std::vector<std::int32_t>& used) {
  std::vector<char> stays = permanent_tokens(definition);
  const TokenParts parts(definition);
  for (const std::int32_t id : used) {
    stays[static_cast<std::size_t>(id)] = 1;
    for (const std::int32_t part : parts.of(id)) stays[static_cast<std::size_t>(part)] = 1;
  }
  std::vector<std::int32_t> kept;
  for (std::size_t i = 0; i < stays.size(); ++i)
    if (stays[i]) kept.push_back(static_cast<std::int32_t>(i));
  return kept;
}

std::vector<std::string> tokens_in(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<std::string> tokens;
  for (const std::int32_t id : tokenizer.encode(text, 64)) tokens.push_back(tokenizer.token(id));
  return tokens;
}

TEST(TrimTokenizer, WordPiecesKeepSpecialTokensAndSingleCharacters) {
  const TokenizerDefinition definition{.tokens = {"[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]",
                                                  "[MASK]", "f", "##i", "é", "##", "film", "##s",
                                                  "fine", "##ne"}};
  EXPECT_EQ(permanent_tokens(definition),
            (std::vector<char>{1, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0}));
  const Tokenizer before(definition);
  const std::vector<std::int32_t> kept = kept_with(definition, {10});
  const Tokenizer after(trimmed(definition, kept));
  EXPECT_EQ(tokens_in(after, "films"), tokens_in(before, "films"));
  EXPECT_EQ(after.vocabulary_size(), 10);
  TemporaryFolder from, to;
  std::string vocabulary;
  for (const std::string& token : definition.tokens) vocabulary += token + "\n";
  from.file("vocab.txt", vocabulary);
  from.file(
      "tokenizer_config.json",
      R"({"tokenizer_class": "BertTokenizer", "added_tokens_decoder": {"0": {"content": "[PAD]"},
                "2": {"content": "[UNK]"}, "5": {"content": "[MASK]"}}})");
  write_trimmed_tokenizer(from.path(), definition, kept, to.path());
  EXPECT_EQ(load_tokenizer(to.path()).definition().tokens, after.definition().tokens);
  const Json config = read_json(to.path() / "tokenizer_config.json");
  EXPECT_EQ(config["added_tokens_decoder"]["4"]["content"], "[MASK]");
  EXPECT_EQ(config["added_tokens_decoder"].size(), 3);
}

TEST(TrimTokenizer, BytePairsKeepWhatTokensAreMadeThrough) {
  const Tokenizer before = load_tokenizer(kBytePairs);
  const std::string text = "The quick brown fox jumps over the lazy dog, again and again: 3 times!";
  const std::vector<std::int32_t> used = before.encode(text, 64);
  const std::vector<std::int32_t> kept = kept_with(before.definition(), used);
  ASSERT_LT(std::ssize(kept), before.vocabulary_size());
  for (const bool json : {true, false}) {
    TemporaryFolder from, to;
    for (const char* name : {"vocab.json", "merges.txt", "tokenizer.json"})
      if (json == (name == std::string_view("tokenizer.json")))
        fs::copy(kBytePairs / name, from.path() / name);
    const Tokenizer read = load_tokenizer(from.path(), "RobertaTokenizer");
    write_trimmed_tokenizer(from.path(), read.definition(), kept, to.path());
    const Tokenizer after = load_tokenizer(to.path(), "RobertaTokenizer");
    EXPECT_EQ(after.vocabulary_size(), std::ssize(kept));
    EXPECT_EQ(tokens_in(after, text), tokens_in(read, text));
    // Any other text can still be encoded.
    std::string spelled;
    for (const std::string& token : tokens_in(after, "extraordinary")) spelled += token;
    EXPECT_NE(spelled.find("extraordinary"), std::string::npos) << spelled;
  }
}

}  // namespace
}  // namespace hone
