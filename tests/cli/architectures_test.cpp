#include <gtest/gtest.h>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

struct ArchitectureRow {
  std::string title, config, layer, neurons_key, layers_key, widened, table;
};

class Architectures : public ::testing::TestWithParam<ArchitectureRow> {
 protected:
  Architectures() {
    folder_.file("config.json", GetParam().config);
    folder_.file("pairs.jsonl",
                 "{\"text\": \"a b\", \"second\": \"c\", \"label\": \"yes\"}\n"
                 "{\"text\": \"d\", \"second\": \"e f\", \"label\": \"no\"}\n");
  }
  Ending train(const std::string& model) {
    return run_hone({"train", model, "--data", "pairs.jsonl", "--text_pair_column", "second",
                     "--validation_split", "0", "--max_steps", "2", "-o", "model", "--overwrite"},
                    folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_P(Architectures, TrainFromAConfigAndGoOnFromTheFolder) {
  EXPECT_EQ(train("config.json").code, 0);
  const std::string card = read_file(folder_.path() / "model/README.md");
  EXPECT_NE(card.find(fmt::format("A {} classifier of texts: trained from fresh weights",
                                  GetParam().title)),
            std::string::npos)
      << card;
  fs::rename(folder_.path() / "model", folder_.path() / "before");
  EXPECT_EQ(train("before").code, 0);
  const auto logits = [&](const Words& more) {
    Words words = {"predict", "model", "a b", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return run_json(words, folder_.path())["logits"];
  };
  EXPECT_NE(logits({"--text_pair", "c"}), logits({}));
}

TEST_P(Architectures, AreQuantizedByTheNamesOfTheirLayers) {
  ASSERT_EQ(train("config.json").code, 0);
  run_well({"quantize", "model", "--format", "int(bits=8)", "--rule",
            fmt::format("name = \"{}.0.*\", weight = \"none\"", GetParam().layer), "--data",
            "pairs.jsonl", "--text_pair_column", "second", "--split", "all", "-o", "small"},
           folder_.path());
  const Json layers =
      read_json(folder_.path() / "small/config.json")["quantization_config"]["layers"];
  int first = 0, second = 0;
  for (const auto& [name, formats] : layers.items()) {
    if (name.starts_with(GetParam().layer + ".0.")) {
      ++first;
      EXPECT_FALSE(formats.contains("weight")) << name;
    }
    if (name.starts_with(GetParam().layer + ".1.")) {
      ++second;
      EXPECT_TRUE(formats.contains("weight")) << name;
    }
  }
  EXPECT_EQ(first, 6);
  EXPECT_EQ(second, 6);
}

// A pruned and packed model is unpacked into a folder whose config and tensors agree.
TEST_P(Architectures, AreUnpackedForTransformersWithTheSizesThatTheirConfigSays) {
  folder_.file("words.csv", "text,label\nalpha alpha beta beta,yes\ngamma gamma delta delta,no\n");
  folder_.file("few.csv", "text,label\nalpha beta,yes\n");
  const Words data = {"--validation_split", "0", "--split", "all", "--data"};
  const auto step = [&](Words words, const std::string& texts) {
    words.insert(words.end(), data.begin(), data.end());
    words.push_back(texts);
    run_well(words, folder_.path());
  };
  run_well({"train", "config.json", "--data", "words.csv", "--validation_split", "0", "--max_steps",
            "2", "-o", "model"},
           folder_.path());
  step({"trim", "model", "-o", "trimmed"}, "few.csv");
  step({"prune", "trimmed", "--structure", "neurons,layers", "--method", "l1", "--sparsity", "0.5",
        "-o", "narrow"},
       "few.csv");
  step({"quantize", "narrow", "--native", "int(bits=8,per=row)", "--keep_slower", "-o", "packed"},
       "few.csv");
  const Json said =
      run_json({"unpack", "packed", "--loadable", "transformers", "-o", "plain"}, folder_.path());
  EXPECT_EQ(said["others_load"], true) << said["others_load_reason"];
  const Json before = read_json(folder_.path() / "model/config.json"),
             config = read_json(folder_.path() / "plain/config.json");
  EXPECT_EQ(config[GetParam().layers_key], 1);
  EXPECT_EQ(config[GetParam().neurons_key], 12);
  EXPECT_LT(config["vocab_size"], before["vocab_size"]);
  EXPECT_EQ(said["shapes"]["neurons"], (Json{12}));
  EXPECT_EQ(said["shapes"]["tokens"], config["vocab_size"]);
  const Safetensors file = read_safetensors(folder_.path() / "plain/model.safetensors");
  EXPECT_EQ(file.tensors.at(GetParam().table).size(0), config["vocab_size"].get<std::int64_t>());
  EXPECT_EQ(
      file.tensors.at(fmt::format("{}.0.{}.weight", GetParam().layer, GetParam().widened)).size(0),
      config[GetParam().neurons_key].get<std::int64_t>());
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_FALSE(name.starts_with(GetParam().layer + ".1.")) << name;
    EXPECT_EQ(tensor.dtype(), DType::f32) << name;
    for (const char* own : {"quantizer", "smoothing", "codes"})
      EXPECT_EQ(name.find(own), std::string::npos) << name;
  }
}

TEST_P(Architectures, AreDrawnWithTheirLayersFolded) {
  run_well({"draw", "config.json", "-o", "graph.dot", "--inputs", "input_ids"}, folder_.path());
  const std::string dot = read_file(folder_.path() / "graph.dot");
  EXPECT_NE(dot.find(fmt::format("label=\"{}.0 to 1 (×2)\"", GetParam().layer)), std::string::npos);
}

TEST_P(Architectures, AreNotWrittenOverTheirConfig) {
  const Ending ending =
      run_hone({"draw", "config.json", "-o", "config.json", "--overwrite"}, folder_.path());
  EXPECT_NE(ending.code, 0);
  EXPECT_NE(ending.messages.find("config.json is the model config.json, which this command reads"),
            std::string::npos)
      << ending.messages;
}

INSTANTIATE_TEST_SUITE_P(
    All, Architectures,
    ::testing::Values(
        ArchitectureRow{"DistilBERT",
                        R"({"model_type": "distilbert", "dim": 16, "n_layers": 2, "n_heads": 2,
                "hidden_dim": 24})",
                        "distilbert.transformer.layer", "hidden_dim", "n_layers", "ffn.lin1",
                        "distilbert.embeddings.word_embeddings.weight"},
        ArchitectureRow{"ELECTRA",
                        R"({"model_type": "electra", "embedding_size": 8, "hidden_size": 16,
                "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24})",
                        "electra.encoder.layer", "intermediate_size", "num_hidden_layers",
                        "intermediate.dense", "electra.embeddings.word_embeddings.weight"},
        ArchitectureRow{"RoBERTa",
                        R"({"model_type": "roberta", "hidden_size": 16, "num_hidden_layers": 2,
                "num_attention_heads": 2, "intermediate_size": 24, "type_vocab_size": 1})",
                        "roberta.encoder.layer", "intermediate_size", "num_hidden_layers",
                        "intermediate.dense", "roberta.embeddings.word_embeddings.weight"},
        ArchitectureRow{"BERT",
                        R"({"model_type": "bert", "hidden_size": 16, "num_hidden_layers": 2,
                "num_attention_heads": 2, "intermediate_size": 24})",
                        "bert.encoder.layer", "intermediate_size", "num_hidden_layers",
                        "intermediate.dense", "bert.embeddings.word_embeddings.weight"}),
    [](const auto& info) { return info.param.title; });

}  // namespace
}  // namespace hone::testing
