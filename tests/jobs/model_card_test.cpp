#include "hone/jobs/model_card.h"

#include <gtest/gtest.h>

#include "tests/support/tiny_model.h"

namespace hone {
namespace {

std::string card_with(const CardFacts& facts) {
  return to_markdown({.name = "mine", .command_line = "hone make", .facts = facts},
                     testing::tiny_model(), {.tokens = 16});
}

// Jobs unknown to the card provide its text.
TEST(ModelCard, SaysWhatTheJobSays) {
  const std::string card = card_with({.base = "someone/bert",
                                      .origin = "`someone/bert` turned around",
                                      .relation = "finetune",
                                      .tags = {"turned"},
                                      .library = "turner",
                                      .weights = {"They are stored backwards."},
                                      .no_metrics_reason = "Nobody looked.",
                                      .limits = {"It is not fit for reading aloud."}});
  for (const char* part :
       {"library_name: turner\n", "base_model: \"someone/bert\"\nbase_model_relation: finetune\n",
        "- turned\n", ": `someone/bert` turned around. It", "\nNobody looked.\n",
        "\n- They are stored backwards.\n", "- It is not fit for reading aloud.\n"})
    EXPECT_NE(card.find(part), std::string::npos) << part << "\nin\n" << card;
  for (const char* part :
       {"metrics:", "model-index:", "one random seed", "- seed:", "generated texts"})
    EXPECT_EQ(card.find(part), std::string::npos) << part << "\nin\n" << card;
}

TEST(ModelCard, OfAChangeHasBothModels) {
  SubjectResult subject{.model = "tiny", .measured = MeasuredSplitResult{.split = "test"}};
  const BeforeAndAfterResult both{.before = {.metrics = {{"accuracy", 0.75}}, .samples = 8},
                                  .after = {.metrics = {{"accuracy", 0.5}}, .samples = 8}};
  const std::string card = card_with(facts_of_change(subject, both, "before the storm"));
  EXPECT_NE(card.find("| before the storm | test | 8 | 75.0% | "), std::string::npos) << card;
  EXPECT_NE(card.find("| this model | test | 8 | 50.0% | "), std::string::npos) << card;
}

}  // namespace
}  // namespace hone
