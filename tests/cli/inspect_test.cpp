#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

TEST(Inspect, CountsEveryParameterOnce) {
  const Json facts = run_json({"inspect", "tiny"}, workshop());
  std::int64_t sum = 0, words = 0;
  for (const Json& module : facts["parameters_by_module"]) {
    sum += module["parameters"].get<std::int64_t>();
    EXPECT_EQ(module["parameters"], module["trainable"]);
    if (module["module"] == "bert.embeddings.word_embeddings") words = module["parameters"];
  }
  EXPECT_EQ(facts["parameters"], sum);
  // With BERT's 30 522 words instead of the built-in ones it would be bert-tiny.
  EXPECT_EQ(sum - words + 30522 * 128, 4'386'178);
  EXPECT_EQ(facts["trainable_parameters"], sum);
  EXPECT_EQ(facts["frozen_parameters"], 0);
  EXPECT_EQ(facts["parameter_bytes"], 4 * sum);
  // The weights and the two moments of AdamW.
  EXPECT_EQ(facts["training_parameter_bytes"], 3 * 4 * sum);
}

TEST(Inspect, CountsWhatIsFrozen) {
  const Json all = run_json({"inspect", "tiny"}, workshop());
  const Json facts = run_json({"inspect", "tiny", "--freeze", "bert.embeddings.*"}, workshop());
  std::int64_t embeddings = 0;
  for (const Json& module : facts["parameters_by_module"]) {
    const std::string name = module["module"];
    if (name.starts_with("bert.embeddings."))
      embeddings += module["parameters"].get<std::int64_t>();
  }
  EXPECT_GT(embeddings, 0);
  EXPECT_EQ(facts["frozen_parameters"], embeddings);
  EXPECT_EQ(facts["trainable_parameters"], all["parameters"].get<std::int64_t>() - embeddings);
  EXPECT_EQ(facts["inference_flops"], all["inference_flops"]);
  EXPECT_LT(facts["training_step_flops"], all["training_step_flops"]);
}

TEST(Inspect, CostsFollowBatchAndTokens) {
  const auto flops = [](const char* batch, const char* tokens) -> double {
    return run_json({"inspect", "tiny", "--batch", batch, "--tokens", tokens},
                    workshop())["inference_flops"];
  };
  const double one = flops("1", "64");
  EXPECT_DOUBLE_EQ(flops("4", "64"), 4 * one);
  // Attention grows with the square of the tokens.
  EXPECT_GT(flops("1", "128"), 2 * one);
}

TEST(Inspect, ShowsTheGraphUnlessToldNotTo) {
  const std::string all = run_well({"inspect", "model"}, workshop()).output;
  const std::string tables = run_well({"inspect", "model", "--no_graph"}, workshop()).output;
  ASSERT_GE(all.size(), tables.size());
  EXPECT_TRUE(all.ends_with(tables));
  EXPECT_NE(all.find("output loss"), std::string::npos);
  EXPECT_EQ(tables.find("output loss"), std::string::npos);
  EXPECT_NE(tables.find("training step with AdamW"), std::string::npos);
}

}  // namespace
}  // namespace hone::testing
