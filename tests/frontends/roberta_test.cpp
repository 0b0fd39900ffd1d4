#include "hone/frontends/huggingface/roberta.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

ModelFacts roberta_facts(const Json& keys) {
  Json config = {{"model_type", "roberta"}};
  config.update(keys);
  return facts_of(roberta(), config, "config.json");
}

TEST(Roberta, DefaultsAreThoseOfHuggingFace) {
  const EncoderConfig config = config_of(roberta_facts(Json::object()));
  EXPECT_EQ(config.vocab_size, 50265);
  EXPECT_EQ(config.hidden_size, 768);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(config.layer_norm_eps, 1e-12);
  EXPECT_EQ(config.pad_token_id, 1);
}

TEST(Roberta, TakesFewerTokensThanItHasPositions) {
  EXPECT_EQ(roberta_facts({{"max_position_embeddings", 514}}).limits.tokens, 512);
  EXPECT_EQ(roberta_facts({{"max_position_embeddings", 514}, {"pad_token_id", 0}}).limits.tokens,
            513);
}

TEST(Roberta, RefusesConfigsWithoutRoomBehindPadding) {
  EXPECT_EQ(user_error_of([] {
              roberta_facts({{"pad_token_id", nullptr}});
            }),
            "config.json: pad_token_id: expected a number, because positions start after "
            "it, got null");
  EXPECT_EQ(user_error_of([] {
              roberta_facts({{"max_position_embeddings", 2}});
            }),
            "config.json: max_position_embeddings: expected more than 2, because positions "
            "start after pad_token_id, got 2");
}

// RoBERTa's tokenizer separates pairs by special tokens.
TEST(Roberta, WithOneTypeOfTokensReadsNoneAndTakesPairs) {
  const ModelFacts one = roberta_facts({{"type_vocab_size", 1}}),
                   two = roberta_facts({{"type_vocab_size", 2}});
  EXPECT_EQ(one.limits.token_types, 0);
  EXPECT_TRUE(one.limits.pairs());
  EXPECT_EQ(two.limits.token_types, 2);
}

}  // namespace
}  // namespace hone
