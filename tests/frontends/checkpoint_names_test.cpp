#include "hone/frontends/huggingface/checkpoint_names.h"

#include <gtest/gtest.h>

#include "tests/support/evaluate.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using testing::elements_of;

Tensor number(float value) { return Tensor::of<float>({1}, {value}); }

NamedCheckpoint renamed(const TensorMap& tensors) {
  return parameter_names(tensors, "weights.bin", "bert", "embeddings.word_embeddings.weight");
}

NamedCheckpoint renamed_ones(const std::vector<std::string>& names) {
  TensorMap tensors;
  for (const std::string& name : names) tensors.emplace(name, number(1));
  return renamed(tensors);
}

std::vector<std::string> names_of(const TensorMap& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : tensors) names.push_back(name);
  return names;
}

using Names = std::vector<std::string>;

TEST(CheckpointNames, LoseTheModulesOfWrappersWhereverTheyAre) {
  EXPECT_EQ(unwrapped_name("module.bert.pooler.dense.bias"), "bert.pooler.dense.bias");
  EXPECT_EQ(unwrapped_name("_orig_mod.module.classifier.weight"), "classifier.weight");
  EXPECT_EQ(unwrapped_name("module._orig_mod.classifier.weight"), "classifier.weight");
  EXPECT_EQ(unwrapped_name("bert._orig_mod.pooler.dense.bias"), "bert.pooler.dense.bias");
  EXPECT_EQ(unwrapped_name("_fsdp_wrapped_module.bert.encoder.layer.0._checkpoint_wrapped_module."
                           "output.dense.bias"),
            "bert.encoder.layer.0.output.dense.bias");
  EXPECT_EQ(unwrapped_name("submodule.weight"), "submodule.weight");
}

TEST(CheckpointNames, NoteNamesTheFileAndWhatWasRemoved) {
  const NamedCheckpoint named =
      renamed_ones({"module._orig_mod.bert.pooler.dense.gamma", "module.classifier.bias"});
  EXPECT_EQ(names_of(named.tensors), (Names{"bert.pooler.dense.weight", "classifier.bias"}));
  ASSERT_EQ(named.notes.size(), 1u);
  for (const char* part : {"weights.bin", "'module.'", "'_orig_mod.'"})
    EXPECT_NE(named.notes[0].find(part), std::string::npos) << named.notes[0];
  EXPECT_TRUE(renamed_ones({"bert.pooler.dense.bias"}).notes.empty());
}

TEST(CheckpointNames, TwoTensorsOfOneParameterAreRefused) {
  const std::string message = user_error_of([] {
    renamed_ones({"classifier.bias", "module.classifier.bias"});
  });
  EXPECT_NE(message.find("classifier.bias and module.classifier.bias"), std::string::npos)
      << message;
}

TEST(CheckpointNames, APrefixOfAllTensorsIsRemoved) {
  const std::string table = "embeddings.word_embeddings.weight";
  const NamedCheckpoint whole = renamed_ones({"model.bert." + table, "model.classifier.bias"});
  EXPECT_EQ(names_of(whole.tensors), (Names{"bert." + table, "classifier.bias"}));
  ASSERT_EQ(whole.notes.size(), 1u);
  EXPECT_NE(whole.notes[0].find("'model.'"), std::string::npos) << whole.notes[0];
  // An encoder alone, as saved by sentence-transformers.
  EXPECT_EQ(
      names_of(renamed_ones({"0.auto_model." + table, "0.auto_model.pooler.dense.bias"}).tensors),
      (Names{table, "pooler.dense.bias"}));
  EXPECT_EQ(names_of(renamed_ones({"bert.bert." + table, "bert.classifier.bias"}).tensors),
            (Names{"bert." + table, "classifier.bias"}));
}

TEST(CheckpointNames, APrefixThatIsNotSharedOrFitsTwiceStays) {
  const std::string table = "embeddings.word_embeddings.weight";
  for (const Names& names :
       {Names{"bert." + table, "classifier.bias"}, Names{"loss.weight", "model.bert." + table},
        Names{"towers.a." + table, "towers.b." + table}}) {
    const NamedCheckpoint named = renamed_ones(names);
    EXPECT_EQ(names_of(named.tensors), names);
    EXPECT_TRUE(named.notes.empty());
  }
}

TEST(CheckpointNames, PrunedWeightsAreProductsWithTheirMasks) {
  const NamedCheckpoint named = renamed(
      TensorMap{{"module.a.weight_orig", Tensor::of<float>({2, 2}, {1, 2, 3, 4}).cast(DType::f16)},
                {"module.a.weight_mask", Tensor::of<float>({2, 2}, {1, 0, 0, 1})},
                {"module.a.bias_orig", number(5)},
                {"module.a.bias_mask", number(0)},
                {"module.b.weight", number(6)}});
  EXPECT_EQ(names_of(named.tensors), (Names{"a.bias", "a.weight", "b.weight"}));
  EXPECT_EQ(names_of(named.masks), (Names{"a.bias", "a.weight"}));
  EXPECT_EQ(elements_of(named.tensors.at("a.weight")), (std::vector<float>{1, 0, 0, 4}));
  const auto kept = named.masks.at("a.weight").values<bool>();
  EXPECT_EQ(std::vector<bool>(kept.begin(), kept.end()),
            (std::vector<bool>{true, false, false, true}));
}

TEST(CheckpointNames, HalfOfAPrunedWeightIsRefused) {
  const auto refusal = [](const TensorMap& tensors) {
    return user_error_of([&] { renamed(tensors); });
  };
  const std::string lonely = refusal({{"a.weight_orig", number(1)}});
  EXPECT_NE(lonely.find("weights.bin: tensor a.weight_mask is missing"), std::string::npos)
      << lonely;
  const std::string soft = refusal({{"a.weight_orig", number(1)}, {"a.weight_mask", number(0.5f)}});
  EXPECT_NE(soft.find("a.weight_mask has the value 0.5"), std::string::npos) << soft;
  const std::string other =
      refusal({{"a.weight_orig", number(1)}, {"a.weight_mask", Tensor::of<float>({2}, {1, 1})}});
  EXPECT_NE(other.find("a.weight_mask has the shape [2]"), std::string::npos) << other;
  const std::string twice = refusal(
      {{"a.weight", number(1)}, {"a.weight_orig", number(1)}, {"a.weight_mask", number(1)}});
  EXPECT_NE(twice.find("the file contains both a.weight and a.weight_orig"), std::string::npos)
      << twice;
}

}  // namespace
}  // namespace hone
