#include "hone/models/layer_rates.h"

#include <gtest/gtest.h>

#include "hone/passes/freeze.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_model.h"

namespace hone {
namespace {

// Two layers have 0.5 and 0.25 of the rate, the embeddings 0.125, and pooler and classifier all of it.
TEST(LayerRates, FallFromTheHeadToTheEmbeddings) {
  const auto rates = layer_rates(testing::tiny_model(), 0.5);
  EXPECT_EQ(rates.at("bert.encoder.layer.1.output.dense.weight"), 0.5);
  EXPECT_EQ(rates.at("bert.encoder.layer.0.attention.self.query.bias"), 0.25);
  EXPECT_EQ(rates.at("bert.embeddings.word_embeddings.weight"), 0.125);
  EXPECT_EQ(rates.at("bert.embeddings.LayerNorm.bias"), 0.125);
  EXPECT_FALSE(rates.contains("bert.pooler.dense.weight"));
  EXPECT_FALSE(rates.contains("classifier.weight"));
}

TEST(LayerRates, AreOfWhatIsTrained) {
  Model model = testing::tiny_model();
  freeze(model.graph, {"bert.embeddings.*"});
  EXPECT_FALSE(layer_rates(model, 0.5).contains("bert.embeddings.word_embeddings.weight"));
}

TEST(LayerRates, OfOneAreNone) { EXPECT_TRUE(layer_rates(testing::tiny_model(), 1).empty()); }

TEST(LayerRates, RefuseWhatIsNoFactor) {
  for (const double decay : {0.0, 1.5, -1.0})
    expect_user_error("`layerwise_lr_decay` must be above 0 and at most 1, got",
                      [&] { layer_rates(testing::tiny_model(), decay); });
}

}  // namespace
}  // namespace hone
