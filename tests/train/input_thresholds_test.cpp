#include "hone/train/input_thresholds.h"

#include <gtest/gtest.h>

#include "hone/models/transform.h"
#include "hone/passes/prune_inputs.h"
#include "hone/train/text_examples.h"
#include "tests/support/message.h"
#include "tests/support/tiny_model.h"

namespace hone::testing {
namespace {

Model with_thresholds() {
  Model model = tiny_model();
  prune_inputs(model.graph, {});
  return model;
}

TEST(InputThresholds, CutTheShareThatWasAskedFor) {
  Model model = with_thresholds();
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  const std::vector<InputZeros> cut =
      calibrate_thresholds(forward_graph(model), model.parameters, text_examples(tiny_texts(16)),
                           0.3, {.batch_size = 8, .batch_count = 2}, session);
  // Query, key and value share an input: four thresholds per layer, plus the pooler's.
  ASSERT_EQ(cut.size(), 9);
  EXPECT_EQ(cut[0].name, "bert.encoder.layer.0.attention.self.query.threshold");
  EXPECT_NEAR(cut[0].share, 0.3, 1e-3) << "nothing is cut before it";
  for (const InputZeros& one : cut) {
    EXPECT_GT(one.least, 0) << one.name;
    EXPECT_NEAR(one.share, 0.3, 0.1) << one.name;
    EXPECT_EQ(*model.parameters.at(one.name + ".least").data<float>(), one.least);
  }
}

// If texts share a batch, padding must not count.
TEST(InputThresholds, DoNotDependOnBatches) {
  Model one = with_thresholds(), other = with_thresholds();
  ThreadPool pool(1);
  const Session session{builtin(), pool};
  const EncodedSet set = tiny_texts(16);
  const ExampleSource texts = text_examples(set);
  calibrate_thresholds(forward_graph(one), one.parameters, texts, 0.5,
                       {.batch_size = 16, .batch_count = 1}, session);
  calibrate_thresholds(forward_graph(other), other.parameters, texts, 0.5,
                       {.batch_size = 4, .batch_count = 4}, session);
  for (const Node* threshold : input_thresholds(one.graph)) {
    const std::string name = threshold_parameter(*threshold).name();
    EXPECT_EQ(*one.parameters.at(name).data<float>(), *other.parameters.at(name).data<float>());
  }
}

TEST(InputThresholds, NeedTexts) {
  Model model = with_thresholds();
  ThreadPool pool(1);
  EXPECT_EQ(message_of([&] {
              calibrate_thresholds(forward_graph(model), model.parameters,
                                   text_examples(tiny_texts(0)), 0.5, {}, {builtin(), pool});
            }),
            "calibration needs examples: the training split is empty");
}

}  // namespace
}  // namespace hone::testing
