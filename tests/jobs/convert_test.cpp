#include "hone/jobs/convert.h"

#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "hone/frontends/huggingface/checkpoint.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

const fs::path kGolden = test_data() / "frontends" / "golden";

// Returns type, shape and bytes of a tensor.
std::string content(const Tensor& tensor) {
  const Tensor whole = tensor.contiguous_copy();
  return fmt::format(
      "{} {} {}", info(whole.dtype()).name, to_string(whole.sizes()),
      std::string(reinterpret_cast<const char*>(whole.device_pointer()), whole.size_bytes()));
}

TEST(ConvertWeights, KeepsEveryTensorOfEveryLayout) {
  for (const char* layout : {"safetensors", "safetensors_sharded", "zip", "legacy", "zip_sharded",
                             "gamma_beta", "pretraining", "views", "float16", "bfloat16"}) {
    const TemporaryFolder output;
    const Conversion conversion = convert_weights(kGolden / layout, output.path());
    const TensorMap before = load_checkpoint(kGolden / layout).tensors;
    const Safetensors after = read_safetensors(output.path() / "model.safetensors");
    ASSERT_EQ(conversion.tensors.size(), before.size()) << layout;
    std::uint64_t bytes = 0;
    for (const ConvertedTensor& row : conversion.tensors) {
      const std::string& stored = row.same_as.empty() ? row.name : row.same_as;
      EXPECT_EQ(content(after.tensors.at(stored)), content(before.at(row.name))) << row.name;
      EXPECT_EQ(after.tensors.contains(row.name), row.same_as.empty()) << row.name;
      if (row.same_as.empty()) bytes += after.tensors.at(row.name).size_bytes();
    }
    EXPECT_EQ(conversion.bytes, bytes);
    EXPECT_EQ(after.metadata.at("format"), "pt");
  }
}

TEST(ConvertWeights, WritesSharedTensorsOnce) {
  const TemporaryFolder output;
  const Conversion conversion = convert_weights(kGolden / "pretraining", output.path());
  EXPECT_EQ(conversion.source, "pytorch_model.bin");
  std::string shared;
  for (const ConvertedTensor& row : conversion.tensors)
    if (!row.same_as.empty()) shared += row.name + " as " + row.same_as + "\n";
  EXPECT_EQ(shared,
            "cls.predictions.decoder.bias as cls.predictions.bias\n"
            "cls.predictions.decoder.weight as bert.embeddings.word_embeddings.weight\n");
  EXPECT_EQ(read_safetensors(output.path() / "model.safetensors")
                .metadata.at("cls.predictions.decoder.weight"),
            "bert.embeddings.word_embeddings.weight");
}

TEST(ConvertWeights, CopiesWhatStandsBesideThem) {
  const TemporaryFolder model, output;
  for (const char* name : {"config.json", "pytorch_model.bin"})
    fs::copy_file(kGolden / "zip" / name, model.path() / name);
  for (const char* name : {"vocab.txt", "merges.txt", "tokenizer.model", "README.md",
                           "flax.msgpack", "training_args.bin", "pytorch_model.bin.index.json",
                           ".hidden.json", "results.json", "trainer_state.json"})
    model.file(name, name);
  fs::create_directory(model.path() / "folder.json");
  const Conversion conversion = convert_weights(model.path(), output.path());
  EXPECT_EQ(conversion.copied, (std::vector<std::string>{"README.md", "config.json", "merges.txt",
                                                         "tokenizer.model", "vocab.txt"}));
  EXPECT_EQ(read_file(output.path() / "config.json"), read_file(kGolden / "zip" / "config.json"));
}

// sentence-transformers expects the modules in their folders, and the encoder at the top.
TEST(ConvertWeights, TakesTheModulesOfASentenceModelAlong) {
  const fs::path golden = test_data() / "models" / "golden" / "embeddings" / "mean";
  const TemporaryFolder model, output, below;
  fs::copy(golden, model.path(), fs::copy_options::recursive);
  model.file("2_Normalize/numbers.bin", "whatever it holds");
  const std::vector<std::string> copied = convert_weights(model.path(), output.path()).copied;
  for (const char* name :
       {"modules.json", "1_Pooling/config.json", "2_Normalize/numbers.bin",
        "config_sentence_transformers.json", "sentence_bert_config.json", "config.json"}) {
    EXPECT_EQ(std::ranges::count(copied, name), 1) << name;
    EXPECT_EQ(trim(read_file(output.path() / name)), trim(read_file(model.path() / name))) << name;
  }
  fs::create_directory(below.path() / "0_Transformer");
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"})
    fs::copy(golden / name, below.path() / "0_Transformer" / name);
  below.file("modules.json", R"([{"path": "0_Transformer", "type": "models.Transformer"}])");
  const TemporaryFolder flat;
  convert_weights(below.path(), flat.path());
  EXPECT_EQ(read_json(flat.path() / "modules.json")[0]["path"], "");
  EXPECT_EQ(load_checkpoint(flat.path()).tensors.size(), load_checkpoint(golden).tensors.size());
  EXPECT_TRUE(fs::exists(flat.path() / "vocab.txt"));
}

TEST(ConvertWeights, RefusesToCopyAFileThatGitLeftAPointerOf) {
  const TemporaryFolder model, output;
  fs::copy(kGolden / "zip", model.path(), fs::copy_options::recursive);
  model.file("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n");
  expect_user_error("tokenizer.json: expected the contents of the file, got a Git LFS pointer",
                    [&] { convert_weights(model.path(), output.path()); });
}

}  // namespace
}  // namespace hone
