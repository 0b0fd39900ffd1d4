#include "hone/models/vocabulary_cut.h"

#include <gtest/gtest.h>

#include "hone/data/synthetic_words.h"
#include "hone/ir/print.h"
#include "hone/models/transform.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::quiet_context;

EncodedSet encoded_texts(const Tokenizer& tokenizer, const std::vector<std::string>& texts) {
  std::vector<Example> examples;
  for (const std::string& text : texts) examples.push_back({.text = text});
  return encode_examples(quiet_context().pool, tokenizer, examples, 64);
}

std::vector<float> logits_of_texts(const Model& model, const EncodedSet& set) {
  Graph graph = forward_graph(model);
  remove_dropout(graph);
  ParameterStore parameters = model.parameters;
  const NamedTensors inputs = text_examples(set).batch(std::vector<std::int64_t>{0, 1}, 0);
  return testing::floats_of(
      quiet_context().session().executable(graph)->run(inputs, parameters).at("logits"));
}

const std::vector<std::string> kCutTexts = {"a fine film", "the plot is dull , not good"};

TEST(VocabularyCut, TextsOfTokensThatStayGetTheSameAnswers) {
  TextModel source = open_model("tiny", quiet_context(), 3);
  source.model.facts.config["sep_token_id"] = source.tokenizer.encode("a", 8).back();
  const EncodedSet texts = encoded_texts(source.tokenizer, kCutTexts);
  const VocabularyCut chosen = cut_vocabulary(source, texts, 0);
  EXPECT_LT(std::ssize(chosen.kept), chosen.before / 2);
  const TextModel after = cut(source, chosen, quiet_context().session());
  EXPECT_EQ(after.tokenizer.vocabulary_size(), std::ssize(chosen.kept));
  EXPECT_EQ(after.model.facts.limits.vocabulary, std::ssize(chosen.kept));
  EXPECT_EQ(after.model.facts.config["vocab_size"], chosen.kept.size());
  EXPECT_EQ(after.tokenizer.token(after.model.facts.config["sep_token_id"].get<std::int32_t>()),
            "[SEP]");
  const EncodedSet again = encoded_texts(after.tokenizer, kCutTexts);
  EXPECT_NE(again.ids, texts.ids);
  EXPECT_TRUE(respelled_texts(source.tokenizer, texts, after.tokenizer, again).empty());
  EXPECT_EQ(logits_of_texts(source.model, texts), logits_of_texts(after.model, again));
  // The result is an ordinary model: its config builds its graph.
  EXPECT_EQ(to_string(after.model.graph),
            to_string(new_model(after.model.facts, quiet_context().library.ops, 1).graph));
}

TEST(VocabularyCut, KeepsAsManyAsAreAskedForTheMostFrequentFirst) {
  const TextModel source = open_model("tiny", quiet_context(), 3);
  const EncodedSet texts = encoded_texts(source.tokenizer, {"film film plot", "film dull"});
  const VocabularyCut least = cut_vocabulary(source, encoded_texts(source.tokenizer, {"a"}), 0);
  const VocabularyCut chosen = cut_vocabulary(source, texts, least.lasting + 1);
  EXPECT_EQ(std::ssize(chosen.kept), least.lasting + 1);
  const TextModel after = cut(source, chosen, quiet_context().session());
  const EncodedSet again = encoded_texts(after.tokenizer, {"film film plot", "film dull"});
  const std::vector<RespelledText> other =
      respelled_texts(source.tokenizer, texts, after.tokenizer, again);
  ASSERT_EQ(other.size(), 2);
  EXPECT_EQ(other[0].row, 0);
  EXPECT_EQ(other[0].before, "##lo");  // in "p ##lo ##t"
  EXPECT_EQ(other[0].after, "##l ##o");
  EXPECT_EQ(other[1].row, 1);
  EXPECT_EQ(std::ssize(cut_vocabulary(source, texts, 1000).kept), 1000);
  expect_user_error(
      "`keep_tokens`: expected at least 109 tokens (special ones, and single "
      "characters",
      [&] { cut_vocabulary(source, texts, 20); });
  expect_user_error("`keep_tokens`: expected at most",
                    [&] { cut_vocabulary(source, texts, 1'000'000); });
}

}  // namespace
}  // namespace hone
