#include "hone/frontends/huggingface/distilbert.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hone/frontends/huggingface/model.h"
#include "hone/runtime/library.h"
#include "tests/support/evaluate.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

ModelFacts facts(const Json& keys) {
  Json config = {{"model_type", "distilbert"}};
  config.update(keys);
  return facts_of(distilbert(), config, "config.json");
}

TEST(DistilBert, DefaultsAreThoseOfHuggingFace) {
  const EncoderConfig config = config_of(facts(Json::object()));
  EXPECT_EQ(config.vocab_size, 30522);
  EXPECT_EQ(config.hidden_size, 768);
  EXPECT_EQ(config.num_hidden_layers, 6);
  EXPECT_EQ(config.num_attention_heads, 12);
  EXPECT_EQ(config.intermediate_size, 3072);
  EXPECT_EQ(config.hidden_act, "gelu");
  EXPECT_EQ(config.hidden_dropout_prob, 0.1);
  EXPECT_EQ(config.attention_probs_dropout_prob, 0.1);
  EXPECT_EQ(config.classifier_dropout_prob(), 0.2);
  EXPECT_EQ(config.pad_token_id, 0);
  EXPECT_FALSE(config.sinusoidal_positions);
}

TEST(DistilBert, HasNoTypesOfTokensAndTakesPairs) {
  EXPECT_EQ(facts(Json::object()).limits.token_types, 0);
  EXPECT_TRUE(facts(Json::object()).limits.pairs());
}

TEST(DistilBert, RefusesByTheNamesOfItsKeys) {
  const auto refusal = [](const Json& keys) { return user_error_of([&] { facts(keys); }); };
  EXPECT_EQ(refusal({{"dim", 10}, {"n_heads", 4}}),
            "config.json: dim: expected a multiple of n_heads, 4, got 10");
  const std::string activation = refusal({{"activation", "sigmoid"}});
  EXPECT_TRUE(activation.starts_with("config.json: activation: expected gelu, ")) << activation;
  EXPECT_TRUE(activation.ends_with("got \"sigmoid\"")) << activation;
  EXPECT_EQ(refusal({{"sinusoidal_pos_embds", 1}}),
            "config.json: sinusoidal_pos_embds: expected true or false, got 1");
  EXPECT_EQ(refusal({{"seq_classif_dropout", 2}}),
            "config.json: seq_classif_dropout: expected a number from 0 to 1, got 2");
}

TEST(DistilBert, HasADropoutWhereTransformersHasOne) {
  const Library library = builtin_library();  // owns the operations of the graph
  const Graph graph =
      build_graph(library.ops, distilbert(), config_of(facts({{"n_layers", 1}})), {});
  std::vector<std::string> names;
  for (const Node* node : graph.of_kind(NodeKind::operation))
    if (node->is("dropout")) names.push_back(node->name());
  const std::string layer = "distilbert.transformer.layer.0.";
  EXPECT_EQ(names,
            (std::vector<std::string>{"distilbert.embeddings.dropout", layer + "attention.dropout",
                                      layer + "ffn.dropout", "dropout"}));
  EXPECT_EQ(graph.find("token_type_ids"), nullptr);
}

// sin and cos of p / 10000^(2i / dim), alternating.
TEST(DistilBert, BeginsWithSinesWhereTheConfigSaysSo) {
  const Json keys = {{"vocab_size", 9}, {"dim", 4},        {"n_layers", 1},
                     {"n_heads", 1},    {"hidden_dim", 4}, {"max_position_embeddings", 5}};
  Json with_sines = keys;
  with_sines["sinusoidal_pos_embds"] = true;
  const auto table = [](const Json& config) {
    return testing::elements_of(
        new_model(facts(config), builtin_library().ops, /*seed=*/1)
            .parameters.at("distilbert.embeddings.position_embeddings.weight"));
  };
  const std::vector<float> sines = table(with_sines);
  for (std::size_t p = 0; p < 5; ++p) {
    const auto at = static_cast<double>(p);
    const double expected[] = {std::sin(at), std::cos(at), std::sin(at / 100), std::cos(at / 100)};
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(sines[4 * p + i], expected[i], 1e-7);
  }
  EXPECT_LT(table(keys)[1], 0.5f);
}

}  // namespace
}  // namespace hone
