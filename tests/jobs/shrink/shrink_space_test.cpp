#include "hone/jobs/shrink/shrink_space.h"

#include <gtest/gtest.h>

#include "tests/support/tiny_jobs.h"

// Tests of the default search space of shrinking.
namespace hone {
namespace {

std::string space_of(std::int64_t texts, int hidden_size, bool loadable = false,
                     const std::vector<std::string>& freeze = {},
                     const std::vector<std::string>& only = {}) {
  TrialSubject subject{.name = "tiny",
                       .baseline = open_model("tiny", testing::quiet_context(), 42),
                       .data = {},
                       .without_validation = {}};
  subject.baseline.model.facts.config["hidden_size"] = hidden_size;
  subject.data.train = testing::tiny_texts(texts);
  subject.loadable = loadable;
  return shrink_space(subject, only, freeze);
}

void expect_line(const std::string& space, const std::string& line) {
  EXPECT_NE(space.find("\n" + line + "\n"), std::string::npos) << line << " in " << space;
}

TEST(ShrinkSpace, LearningRatesFollowTheHiddenSize) {
  const std::string tiny = space_of(64, 128), base = space_of(64, 768);
  expect_line(tiny, "learning_rate = 0.00015");
  expect_line(tiny, "learning_rate = 0.005");
  expect_line(base, "learning_rate = 2.5e-05");
  expect_line(base, "learning_rate = 0.00083");
  const std::string small = space_of(64, 8), large = space_of(64, 8192);
  expect_line(small, "learning_rate = 0.0005");
  expect_line(small, "learning_rate = 0.01");
  expect_line(large, "learning_rate = 2e-05");
  expect_line(large, "learning_rate = 0.0005");
}

TEST(ShrinkSpace, TrainsForAtMostEightPassesOverTheTexts) {
  expect_line(space_of(2047, 128), "max_steps = [0, 128]");
  expect_line(space_of(2048, 128), "max_steps = [0, 128, 512]");
  expect_line(space_of(8192, 128), "max_steps = [0, 128, 512, 2048]");
}

TEST(ShrinkSpace, KeepsItsOtherValues) {
  const std::string space = space_of(64, 128);
  for (const char* line :
       {"batch_size = 32", "warmup_ratio = 0.1", "r = 16", "alpha = 32", "most_steps = 512",
        "temperature = 2", "narrow_share = [0, 0.25, 0.5, 0.75, 1]", "heads = [0, 0.5]",
        "neurons = [0, 0.25, 0.5, 0.75]"})
    expect_line(space, line);
}

// transformers configs can express neither fewer heads nor different numbers of neurons per layer.
TEST(ShrinkSpace, ForTransformersHasNoHeadsAndTheSameShareOfNeuronsOfEachLayer) {
  const std::string space = space_of(64, 128, /*loadable=*/true);
  EXPECT_EQ(space.find("heads"), std::string::npos) << space;
  EXPECT_EQ(space.find("scope"), std::string::npos) << "that of layers is the usual one";
  expect_line(space, "neurons = [0, 0.25, 0.5, 0.75]");
  expect_line(space, "layers = [0, 0.5]");
  const std::string frozen = space_of(64, 128, true, {"bert.encoder.layer.0.output.dense"});
  EXPECT_EQ(frozen.find("neurons"), std::string::npos) << frozen;
  EXPECT_NE(space_of(64, 128, false, {"bert.encoder.layer.0.output.dense"}).find("neurons"),
            std::string::npos);
}

// Those of native products if there are formats, otherwise those of fp32 products.
TEST(ShrinkSpace, PrunesTheBlocksThatProductsSkip) {
  const std::string all = space_of(64, 128), floats = space_of(64, 128, false, {}, {"sparsify"});
  expect_line(all, "sparsity = [0, 0.6, 0.8]");
  expect_line(all, "structure = \"1x4\"");
  EXPECT_EQ(all.find("target"), std::string::npos) << "all but the classifier, as ever";
  expect_line(floats, "structure = \"4x1\"");
  EXPECT_EQ(floats.find("[train_on]"), std::string::npos);
  const std::string trained = space_of(64, 128, false, {}, {"sparsify", "train"});
  EXPECT_NE(trained.find("[train_on]"), std::string::npos) << trained;
  EXPECT_NE(trained.find("[distillation]"), std::string::npos) << trained;
  EXPECT_EQ(space_of(64, 128, false, {}, {"prune", "quantize"}).find("[pruning]"),
            std::string::npos);
}

TEST(ShrinkSpace, PrunesNoBlocksOfFrozenLayers) {
  const std::string space = space_of(64, 128, false, {"*.attention.*", "bert.pooler.dense"});
  const std::size_t target = space.find("target = \"");
  ASSERT_NE(target, std::string::npos) << space;
  const std::string names = space.substr(target, space.find('\n', target) - target);
  EXPECT_NE(names.find("bert.encoder.layer.0.intermediate.dense"), std::string::npos) << names;
  for (const char* kept : {".attention.", "pooler", "classifier"})
    EXPECT_EQ(names.find(kept), std::string::npos) << names;
}

}  // namespace
}  // namespace hone
