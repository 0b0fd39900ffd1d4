#include "hone/models/vocabulary.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hone/data/synthetic_words.h"
#include "hone/text/tokenizer_files.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

const std::vector<Example> kTexts = {
    {"the film is fine"}, {"the film is dull"}, {"a fine, fine film"}};

EncodedSet encoded(const Tokenizer& tokenizer) {
  return encode_examples(testing::quiet_context().pool, tokenizer, kTexts, 512);
}

TEST(LearnVocabulary, OfFreshWeightsOnOtherThanBuiltInData) {
  EXPECT_TRUE(learn_vocabulary({"tiny", "reviews.csv"}, kTexts, testing::quiet_context()));
  EXPECT_TRUE(learn_vocabulary({"base", "folder"}, kTexts, testing::quiet_context()));
  EXPECT_FALSE(learn_vocabulary({"tiny", "synth:lookup"}, kTexts, testing::quiet_context()));
  EXPECT_FALSE(learn_vocabulary({"my-model", "reviews.csv"}, kTexts, testing::quiet_context()));
  EXPECT_TRUE(learn_vocabulary({"tiny", "synth:lookup", {40}}, kTexts, testing::quiet_context()));
}

TEST(LearnVocabulary, HasAtMostSoManyTokens) {
  const auto small =
      learn_vocabulary({"tiny", "reviews.csv", {30}}, kTexts, testing::quiet_context());
  ASSERT_TRUE(small);
  EXPECT_EQ(small->tokenizer.vocabulary_size(), 30);
  EXPECT_EQ(small->texts, 3);
  expect_user_error("`vocab_size`: expected at least", [] {
    learn_vocabulary({"tiny", "reviews.csv", {7}}, kTexts, testing::quiet_context());
  });
}

TEST(LearnVocabulary, IsNoneOfAModelThatHasOne) {
  expect_user_error(
      "`vocab_size`: my-model already has a vocabulary; only a new text model (tiny, "
      "base, or a config.json without a tokenizer in its folder) learns one",
      [] {
        learn_vocabulary({"my-model", "reviews.csv", {40}}, kTexts, testing::quiet_context());
      });
}

TEST(LearnVocabulary, IsNoneOfAConfigThatATokenizerLiesBeside) {
  const TemporaryFolder folder;
  const std::string name = folder.file("config.json", R"({"model_type": "bert"})").string();
  EXPECT_TRUE(learn_vocabulary({name, "reviews.csv"}, kTexts, testing::quiet_context()));
  folder.file("vocab.txt", "[PAD]\n");
  EXPECT_FALSE(learn_vocabulary({name, "reviews.csv"}, kTexts, testing::quiet_context()));
  expect_user_error("`vocab_size`: " + name + " already has a vocabulary", [&] {
    learn_vocabulary({name, "reviews.csv", {40}}, kTexts, testing::quiet_context());
  });
}

TEST(LearnVocabulary, OfAnInterruptedRunIsThatOfItsCheckpoints) {
  const TemporaryFolder folder;
  const VocabularyOptions options{"tiny", "reviews.csv", {}, folder.path()};
  const auto learned = learn_vocabulary(options, kTexts, testing::quiet_context());
  const fs::path checkpoint = folder.path() / "seed-1" / "checkpoint-2";
  fs::create_directories(checkpoint);
  save_tokenizer(synthetic_tokenizer(), checkpoint, 64);
  const auto resumed = learn_vocabulary(options, kTexts, testing::quiet_context());
  ASSERT_TRUE(learned && resumed);
  EXPECT_NE(learned->tokenizer.definition().tokens, resumed->tokenizer.definition().tokens);
  EXPECT_EQ(resumed->tokenizer.definition().tokens, synthetic_tokenizer().definition().tokens);
}

std::vector<std::string> pieces_of(const std::vector<Example>& texts, VocabularyRules rules = {}) {
  const auto learned =
      learn_vocabulary({"tiny", "reviews.csv", rules}, texts, testing::quiet_context());
  return learned->tokenizer.definition().tokens;
}

bool has(const std::vector<std::string>& tokens, std::string_view token) {
  return std::ranges::find(tokens, token) != tokens.end();
}

// Three words that differ only by their marks.
TEST(LearnVocabulary, KeepsMarksWhereWordsDifferByThem) {
  const std::vector<Example> kana = {{"はは"}, {"ばば"}, {"ぱぱ"}, {"はは ばば ぱぱ"}};
  const std::vector<std::string> kept = pieces_of(kana);
  for (const char* word : {"はは", "ばば", "ぱぱ"}) EXPECT_TRUE(has(kept, word)) << word;
  const std::vector<std::string> stripped = pieces_of(kana, {.strip_accents = true});
  EXPECT_TRUE(has(stripped, "はは"));
  EXPECT_FALSE(has(stripped, "ばば"));
}

TEST(LearnVocabulary, RemovesMarksThatAreRare) {
  std::vector<Example> texts(200, {"the film is fine"});
  texts.push_back({"naïve naïve"});
  EXPECT_TRUE(has(pieces_of(texts), "naive"));
  EXPECT_TRUE(has(pieces_of(texts, {.strip_accents = false}), "naïve"));
}

TEST(LearnVocabulary, KeepsCapitalsWhereThatIsAsked) {
  const std::vector<Example> texts = {{"Film film Film"}};
  EXPECT_FALSE(has(pieces_of(texts), "Film"));
  EXPECT_TRUE(has(pieces_of(texts, {.lowercase = false}), "Film"));
  expect_user_error("`lowercase`: my-model already has a vocabulary", [&] {
    learn_vocabulary({"my-model", "reviews.csv", {.lowercase = false}}, texts,
                     testing::quiet_context());
  });
}

TEST(UnknownWarning, TellsTheShareOfUnknownTokens) {
  const Tokenizer built_in = synthetic_tokenizer();
  const auto warning = [&](std::vector<Example> texts) {
    return unknown_warning(
        built_in, encode_examples(testing::quiet_context().pool, built_in, texts, 512), "train");
  };
  EXPECT_TRUE(warning({{"хороший фильм"}}).starts_with("train: 50% of the tokens are unknown"))
      << warning({{"хороший фильм"}});
  EXPECT_EQ(warning({{"the film"}}), "");
  EXPECT_EQ(unknown_warning(1, 5, "train"), "");
  EXPECT_EQ(unknown_warning(5, 100, "train"), "");
  EXPECT_NE(unknown_warning(7, 100, "train"), "");
}

TEST(VocabularyText, TellsWhatWasLearned) {
  const auto learned = learn_vocabulary({"tiny", "reviews.csv"}, kTexts, testing::quiet_context());
  ASSERT_TRUE(learned);
  const EncodedSet set = encoded(learned->tokenizer);
  const LearnedVocabularyResult result = learned_vocabulary_result(*learned, set);
  std::size_t tokens = 0;
  for (const auto& ids : set.ids) tokens += ids.size();
  EXPECT_EQ(result.vocab_size, learned->tokenizer.vocabulary_size());
  EXPECT_EQ(result.training_texts, 3);
  EXPECT_DOUBLE_EQ(result.tokens_per_text, static_cast<double>(tokens) / 3);
  EXPECT_EQ(
      vocabulary_text(*learned, set),
      fmt::format("vocabulary of {} word pieces learned from 3 training texts: {:.1f} tokens per "
                  "text",
                  learned->tokenizer.vocabulary_size(), static_cast<double>(tokens) / 3));
}

TEST(SpellingWarning, TellsOfTextsInOtherWords) {
  const std::vector<Example> texts = {{"gripping throughout"}, {"gripping, throughout!"}};
  const auto warning = [&](const Tokenizer& tokenizer) {
    return spelling_warning(
        tokenizer, encode_examples(testing::quiet_context().pool, tokenizer, texts, 512), "train");
  };
  const Tokenizer built_in = synthetic_tokenizer();
  EXPECT_TRUE(warning(built_in).starts_with(
      "train: the vocabulary does not contain these words and cuts them into "))
      << warning(built_in);
  EXPECT_EQ(
      warning(
          learn_vocabulary({"tiny", "reviews.csv"}, texts, testing::quiet_context())->tokenizer),
      "");
  EXPECT_EQ(spelling_warning(built_in, EncodedSet(), "train"), "");
}

TEST(SpellingWarning, CountsWordsOfBytePairs) {
  const Tokenizer tokenizer = load_tokenizer(test_data() / "text/golden/byte_pair");
  const auto warning = [&](const std::string& text) {
    const std::vector<Example> texts = {{text}};
    return spelling_warning(
        tokenizer, encode_examples(testing::quiet_context().pool, tokenizer, texts, 512), "train");
  };
  EXPECT_EQ(warning(" The film was not what I had hoped for, but it's a fine one"), "");
  EXPECT_NE(warning("Übermäßig schwierige Wörter zerfallen hier vollkommen"), "");
}

}  // namespace
}  // namespace hone
