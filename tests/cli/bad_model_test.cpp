#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "hone/tensor/safetensors.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests of the error messages for damaged, inconsistent and malicious models.
namespace hone::testing {
namespace {

constexpr const char* kWeights = "model.safetensors";
const fs::path kGolden = test_data() / "frontends" / "golden";

/// A copy of a valid model, for tests to damage.
class BadModel : public ::testing::Test {
 protected:
  BadModel() {
    fs::copy(workshop() / "model", model());
    for (const auto& entry : fs::directory_iterator(model()))
      if (entry.is_directory()) fs::remove_all(entry.path());
  }

  fs::path model() const { return folder_.path() / "model"; }
  void write(const char* name, std::string_view bytes) const {
    folder_.file(std::string("model/") + name, bytes);
  }
  /// Replaces the weights with those that `change` modified.
  void change_weights(const std::function<void(TensorMap&)>& change) const {
    TensorMap tensors;
    for (const auto& [name, tensor] : read_safetensors(model() / kWeights).tensors)
      tensors.emplace(name, tensor.contiguous_copy());
    change(tensors);
    fs::remove(model() / kWeights);
    write_safetensors(model() / kWeights, tensors, {{"format", "pt"}});
  }
  void change_config(const Json& keys) const {
    Json config = read_json(model() / "config.json");
    config.update(keys);
    write("config.json", to_document(config));
  }
  /// Replaces the weights with a file from the golden data.
  void take_weights(const std::string& name) const {
    fs::remove(model() / kWeights);
    fs::copy(kGolden / "hostile" / name, model() / "pytorch_model.bin");
  }

  /// Expects prediction and quantization to refuse the model with a message that contains `fragment`, and to write
  /// nothing.
  void expect_refused(std::string_view fragment) const {
    const std::string data = workshop() / "reviews.csv";
    const std::vector<std::vector<std::string>> commands = {
        {"predict", "model", "a fine film"},
        {"quantize", "model", "--format", "int(bits=8)", "--data", data, "-o", "out"},
    };
    for (const std::vector<std::string>& command : commands) {
      const std::vector<std::string> before = entries(model());
      const Ending ending = run_hone(command, folder_.path());
      EXPECT_EQ(ending.code, kUserError) << command[0] << ": " << ending.messages;
      EXPECT_EQ(ending.output, "") << command[0];
      EXPECT_TRUE(ending.messages.starts_with("error: model")) << ending.messages;
      EXPECT_NE(ending.messages.find(fragment), std::string::npos)
          << command[0] << ": expected '" << fragment << "' in " << ending.messages;
      EXPECT_EQ(entries(folder_.path()), std::vector<std::string>{"model"}) << command[0];
      EXPECT_EQ(entries(model()), before) << command[0];
    }
  }

 private:
  TemporaryFolder folder_;
};

std::string with_header_length(std::string bytes, std::uint64_t length) {
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes;
}

TEST_F(BadModel, CutOff) {
  const std::string whole = read_file(model() / kWeights);
  write(kWeights, whole.substr(0, whole.size() - 100));
  expect_refused("bytes, the file holds");
  write(kWeights, whole.substr(0, 50));
  expect_refused("bytes, only 42 follow; the file is cut off");
  write(kWeights, "");
  expect_refused("expected 8 bytes of header length, the file has 0");
}

TEST_F(BadModel, WithALyingHeader) {
  const std::string whole = read_file(model() / kWeights);
  write(kWeights, with_header_length(whole, ~std::uint64_t{0}));
  expect_refused("expected a header of at most 100000000 bytes, its length says");
  write(kWeights, with_header_length(whole, 5));
  expect_refused("model.safetensors: the header is malformed JSON");
}

TEST_F(BadModel, WithOverlappingTensors) {
  const std::string header =
      R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  write(kWeights,
        with_header_length(std::string(8, '\0') + header + std::string(12, '\0'), header.size()));
  expect_refused("tensor 'b': expected its data at byte 8, where the one before ends, got 4");
}

TEST_F(BadModel, WithTensorsOfAnotherShapeOrType) {
  change_weights([](TensorMap& tensors) {
    tensors.at("classifier.bias") = Tensor::of<float>({3}, {0, 0, 0});
  });
  expect_refused("tensor classifier.bias has the shape [3], config.json needs [2]");
  change_weights([](TensorMap& tensors) {
    tensors.at("classifier.bias") = Tensor::of<std::int32_t>({2}, {0, 0});
  });
  expect_refused("tensor classifier.bias has elements of type i32, expected floating point");
}

TEST_F(BadModel, WithoutAWeight) {
  change_weights(
      [](TensorMap& tensors) { tensors.erase("bert.encoder.layer.1.output.dense.weight"); });
  expect_refused(
      "model.safetensors: 1 of the 41 weights that config.json needs are missing: "
      "bert.encoder.layer.1.output.dense.weight");
}

TEST_F(BadModel, WithWeightsThatAreNoNumbers) {
  change_weights([](TensorMap& tensors) {
    auto values = tensors.at("bert.pooler.dense.weight").values<float>();
    values[7] = std::nanf("");
    values[9] = INFINITY;
  });
  expect_refused(
      "model.safetensors: tensor bert.pooler.dense.weight has 2 values that are not "
      "numbers, the first at index 7: nan");
}

TEST_F(BadModel, WithoutWeights) {
  fs::remove(model() / kWeights);
  expect_refused(
      "the folder contains no weights; expected one of model.safetensors, "
      "model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json");
}

TEST_F(BadModel, WhosePickleRunsACommand) {
  take_weights("system_zip.bin");
  expect_refused("the pickle calls os.system: only dicts of tensors are read, nothing else is run");
}

TEST_F(BadModel, WhoseArchiveIsCutOff) {
  take_weights("truncated_zip.bin");
  expect_refused("the end of the zip archive is missing; the file is truncated or damaged");
}

TEST_F(BadModel, WhoseStorageLies) {
  take_weights("storage_short_zip.bin");
  expect_refused("storage '0': expected");
}

TEST_F(BadModel, OfAnUnknownKind) {
  change_config({{"model_type", "brt"}});
  expect_refused(
      "config.json: model_type 'brt' is not supported; supported are bert, distilbert, electra, "
      "resnet, roberta\n");
  change_config({{"model_type", "gpt2"}});
  expect_refused("config.json: model_type 'gpt2' is not supported; supported are bert");
}

TEST_F(BadModel, WithAbsurdSizes) {
  change_config({{"num_hidden_layers", -3}});
  expect_refused("config.json: num_hidden_layers: expected a whole number from 1 to 1024, got -3");
  change_config({{"num_hidden_layers", 2}, {"hidden_size", 1'000'000'000'000}});
  expect_refused(
      "config.json: hidden_size: expected a whole number from 1 to 65536, got 1000000000000");
  change_config({{"hidden_size", "128"}});
  expect_refused("config.json: hidden_size: expected a whole number from 1 to 65536, got \"128\"");
  change_config({{"hidden_size", 65536}});
  expect_refused("config.json needs");
}

TEST_F(BadModel, WithConfigsThatAreNone) {
  write("config.json", "{\"model_type\": ");
  expect_refused("config.json: line 1, column 16: malformed JSON");
  write("config.json", std::string(100'000, '['));
  expect_refused("config.json: the JSON is nested deeper than 100");
  fs::remove(model() / "config.json");
  expect_refused("config.json: cannot open");
}

TEST_F(BadModel, WithAVocabularyOfAnotherModel) {
  const std::string vocabulary = read_file(model() / "vocab.txt");
  write("vocab.txt", vocabulary + "onemore\n");
  expect_refused("tokens, the embedding only");
  write("vocab.txt", vocabulary + vocabulary.substr(0, vocabulary.find('\n') + 1));
  expect_refused("tokens, the embedding only");
  write("vocab.txt", vocabulary + "caf\xE9\n");
  const auto lines = std::count(vocabulary.begin(), vocabulary.end(), '\n');
  expect_refused(fmt::format("vocab.txt: line {}: the token 'caf\uFFFD' is not UTF-8", lines + 1));
  fs::remove(model() / "vocab.txt");
  expect_refused(
      "model: no tokenizer; expected model/tokenizer.json, or model/vocab.txt, or "
      "model/vocab.json and model/merges.txt");
}

TEST_F(BadModel, WhoseFilesContradictEachOtherAboutCase) {
  write(
      "tokenizer.json",
      R"({"normalizer":{"type":"BertNormalizer","lowercase":false},)"
      R"("pre_tokenizer":{"type":"BertPreTokenizer"},)"
      R"("post_processor":{"type":"BertProcessing","sep":["[SEP]",3],"cls":["[CLS]",2]},)"
      R"("model":{"type":"WordPiece","unk_token":"[UNK]","vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3}}})");
  write("tokenizer_config.json", R"({"tokenizer_class":"BertTokenizer"})");
  expect_refused("write \"do_lower_case\": false there");
}

TEST_F(BadModel, WhoseTokenizerNeedsOtherSoftware) {
  write("tokenizer_config.json", R"({"tokenizer_class":"BertJapaneseTokenizer"})");
  expect_refused("tokenizer_config.json: tokenizer_class BertJapaneseTokenizer is not supported");
}

TEST_F(BadModel, ButASmallerVocabularyIsWarnedOf) {
  std::string vocabulary = read_file(model() / "vocab.txt");
  vocabulary.resize(vocabulary.rfind('\n', vocabulary.size() - 2) + 1);
  write("vocab.txt", vocabulary);
  const Ending ending = run_well({"predict", "model", "a fine film"}, model().parent_path());
  EXPECT_NE(ending.messages.find("rows of the embedding have no token in the vocabulary"),
            std::string::npos)
      << ending.messages;
}

}  // namespace
}  // namespace hone::testing
