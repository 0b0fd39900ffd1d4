#include "hone/frontends/huggingface/checkpoint.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kGoldenCheckpoints = test_data() / "frontends" / "golden";

Tensor numbers(std::vector<float> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return Tensor::of<float>({count}, values);
}

// Writes two shards, "a" and "b", and an index with this weight_map.
void write_shards(const TemporaryFolder& folder, std::string_view weight_map) {
  write_safetensors(folder.path() / "1.safetensors", {{"a", numbers({1})}}, {});
  write_safetensors(folder.path() / "2.safetensors", {{"b", numbers({2})}}, {});
  folder.file("model.safetensors.index.json", fmt::format(R"({{"weight_map": {}}})", weight_map));
}

void expect_refused(std::string_view fragment, const TemporaryFolder& folder) {
  expect_user_error(fragment, [&] { load_checkpoint(folder.path()); });
}

TEST(Checkpoint, ReadsEveryLayoutOfAModelFolder) {
  const std::map<std::string, std::string> sources = {
      {"safetensors", "model.safetensors"},
      {"safetensors_sharded", "model.safetensors.index.json"},
      {"zip", "pytorch_model.bin"},
      {"legacy", "pytorch_model.bin"},
      {"views", "pytorch_model.bin"},
      {"minimal_config", "pytorch_model.bin"},
      {"zip_sharded", "pytorch_model.bin.index.json"}};
  for (const auto& [folder, source] : sources) {
    const Checkpoint checkpoint = load_checkpoint(kGoldenCheckpoints / folder);
    EXPECT_EQ(checkpoint.source, source) << folder;
    EXPECT_TRUE(checkpoint.tensors.contains("bert.embeddings.word_embeddings.weight")) << folder;
    EXPECT_TRUE(checkpoint.tensors.contains("bert.pooler.dense.bias")) << folder;
    for (const auto& [name, tensor] : checkpoint.tensors) {
      const bool buffer = name == "bert.embeddings.position_ids";
      EXPECT_EQ(tensor.dtype(), buffer ? DType::i64 : DType::f32) << folder << ": " << name;
      EXPECT_TRUE(tensor.contiguous()) << folder << ": " << name;
    }
  }
}

TEST(Checkpoint, KeepsTheElementTypeOfTheFile) {
  const auto dtype = [](const char* folder) {
    return load_checkpoint(kGoldenCheckpoints / folder)
        .tensors.at("bert.pooler.dense.bias")
        .dtype();
  };
  EXPECT_EQ(dtype("float16"), DType::f16);
  EXPECT_EQ(dtype("bfloat16"), DType::bf16);
}

TEST(Checkpoint, ReadsBackWhatItSaved) {
  const TemporaryFolder folder;
  save_checkpoint(folder.path(), {{"x", numbers({1, 2, 3})}});
  const Checkpoint checkpoint = load_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.source, "model.safetensors");
  ASSERT_EQ(checkpoint.tensors.size(), 1u);
  EXPECT_EQ(checkpoint.tensors.at("x").values<float>()[2], 3);
  EXPECT_EQ(read_safetensors(folder.path() / "model.safetensors").metadata.at("format"), "pt");
}

TEST(Checkpoint, PrefersSafetensors) {
  const TemporaryFolder folder;
  folder.file("pytorch_model.bin", "never read");
  save_checkpoint(folder.path(), {{"x", numbers({1})}});
  EXPECT_EQ(load_checkpoint(folder.path()).source, "model.safetensors");
}

TEST(Checkpoint, NamesAllItLookedFor) {
  const TemporaryFolder folder;
  folder.file("config.json", "{}");
  expect_refused(
      "the folder contains no weights; expected one of model.safetensors, "
      "model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json",
      folder);
  expect_user_error("expected the folder of a model, got nothing there",
                    [&] { load_checkpoint(folder.path() / "no"); });
  expect_user_error("expected the folder of a model, got a file",
                    [&] { load_checkpoint(folder.path() / "config.json"); });
}

TEST(Checkpoint, RecognisesGitLfsPointers) {
  const TemporaryFolder folder;
  folder.file("model.safetensors",
              "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
  expect_refused("got a Git LFS pointer to them; run 'git lfs pull'", folder);
}

TEST(Checkpoint, JoinsShards) {
  const TemporaryFolder folder;
  write_shards(folder, R"({"a": "1.safetensors", "b": "2.safetensors"})");
  const Checkpoint checkpoint = load_checkpoint(folder.path());
  EXPECT_EQ(checkpoint.tensors.at("a").values<float>()[0], 1);
  EXPECT_EQ(checkpoint.tensors.at("b").values<float>()[0], 2);
}

TEST(Checkpoint, RefusesShardsThatAreNotWhatTheIndexSays) {
  const TemporaryFolder folder;
  write_shards(folder, R"({"a": "1.safetensors", "b": "3.safetensors"})");
  expect_refused(
      "3.safetensors: no such file, but model.safetensors.index.json lists weights "
      "in it",
      folder);
  write_shards(folder, R"({"a": "1.safetensors", "c": "2.safetensors"})");
  expect_refused(
      "2.safetensors: expected tensor 'c', which model.safetensors.index.json lists "
      "for this file",
      folder);
  write_shards(folder, R"({"a": "1.safetensors", "b": "2.safetensors"})");
  write_safetensors(folder.path() / "2.safetensors", {{"a", numbers({1})}, {"b", numbers({2})}},
                    {});
  expect_refused("2.safetensors: tensor 'a' is also in another file of the model", folder);
}

TEST(Checkpoint, RefusesShardsOutsideOfTheFolder) {
  const TemporaryFolder folder;
  for (const char* name :
       {"../x.safetensors", "/etc/passwd", "..", ".", "", "sub/x", "x\\\\y", "x\\u0000"}) {
    write_shards(folder, fmt::format(R"({{"a": "{}"}})", name));
    expect_refused("weight_map: expected the name of a file in the same folder for 'a'", folder);
  }
}

TEST(Checkpoint, RefusesMalformedIndexes) {
  const TemporaryFolder folder;
  write_shards(folder, R"({"a": 1})");
  expect_refused("weight_map: expected a file name for 'a', got number", folder);
  write_shards(folder, "{}");
  expect_refused("weight_map lists no tensors", folder);
  write_shards(folder, "[]");
  expect_refused("expected an object 'weight_map'", folder);
  folder.file("model.safetensors.index.json", "{");
  expect_refused("malformed JSON", folder);
}

}  // namespace
}  // namespace hone
