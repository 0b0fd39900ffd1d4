#include <gtest/gtest.h>

#include <cmath>

#include "hone/tensor/safetensors.h"
#include "tests/cli/dialogue.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests of `hone predict --embed`.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

// A BertModel with mean pooling and normalized vectors (tests/README.md).
const std::string kSentenceModel = (test_data() / "models/golden/embeddings/mean").string();

std::vector<float> embedding_of(const Json& said) {
  return said.at("embedding").get<std::vector<float>>();
}

TEST(Embed, GivesTheVectorOfAText) {
  const Json said = run_json({"predict", kSentenceModel, "a film", "--embed"}, workshop());
  EXPECT_EQ(said["command"], "predict");
  EXPECT_EQ(said["text"], "a film");
  EXPECT_EQ(said["pooling"], "mean");
  EXPECT_EQ(said["normalized"], true);
  EXPECT_EQ(said["input_ids"], Json({2, 5, 58, 3}));
  for (const char* key : {"label", "score", "labels", "probabilities", "logits"})
    EXPECT_FALSE(said.contains(key)) << key;
  const std::vector<float> vector = embedding_of(said);
  ASSERT_EQ(vector.size(), 12u);
  double squares = 0;
  for (const float x : vector) squares += static_cast<double>(x) * x;
  EXPECT_NEAR(squares, 1, 1e-6);
}

// Prints the shortest decimals that round to the float, not those of the float as a double.
TEST(Embed, WritesNumbersShort) {
  const std::string line =
      run_well({"predict", kSentenceModel, "a film", "--embed", "--json", "--fields", "embedding"},
               workshop())
          .output;
  const std::vector<Json> said = json_lines(line);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_LT(line.size() / embedding_of(said[0]).size(), 14u) << line;
}

TEST(Embed, SaysTheSameBitsHoweverTheTextsCome) {
  const TemporaryFolder folder;
  folder.file("texts.csv",
              "text,label\na film,7\nthe plot was not bad at all and the music is good,x\nend,7\n");
  const std::vector<Json> said =
      json_lines(run_well({"predict", kSentenceModel, "--data", "texts.csv", "--embed", "--json"},
                          folder.path())
                     .output);
  ASSERT_EQ(said.size(), 3u);
  EXPECT_EQ(said[1]["gold"], "x");
  Dialogue hone({"predict", kSentenceModel, "-", "--embed", "--json"}, folder.path());
  for (const Json& row : said) {
    const auto text = row["text"].get<std::string>();
    hone.say(text + "\n");
    EXPECT_EQ(parse_json(hone.answer(), "answer")["embedding"], row["embedding"]) << text;
    EXPECT_EQ(run_json({"predict", kSentenceModel, text, "--embed"}, folder.path())["embedding"],
              row["embedding"])
        << text;
  }
  hone.finish();
  EXPECT_EQ(hone.wait(), 0);
}

TEST(Embed, WritesVectorsInOneCellOfCsv) {
  const TemporaryFolder folder;
  run_well({"predict", kSentenceModel, "a film", "--embed", "-o", "said.csv"}, folder.path());
  const std::string csv = read_file(folder.path() / "said.csv");
  EXPECT_TRUE(csv.starts_with("id,text,cut,embedding\n1,a film,false,\"[")) << csv;
  const std::size_t begin = csv.find('['), end = csv.find(']');
  EXPECT_EQ(parse_json(csv.substr(begin, end + 1 - begin), "cell"),
            run_json({"predict", kSentenceModel, "a film", "--embed"}, folder.path())["embedding"]);
}

TEST(Embed, ShowsPeopleTheFirstNumbersAndSaysHowTheyWereMade) {
  const Ending ending = run_well({"predict", kSentenceModel, "a film", "--embed"}, workshop());
  EXPECT_NE(ending.output.find("Norm"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("First 4 of 12 numbers"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("1.0000"), std::string::npos) << ending.output;
  EXPECT_NE(ending.output.find("a film"), std::string::npos) << ending.output;
  EXPECT_EQ(ending.output.find("Label"), std::string::npos) << ending.output;
  EXPECT_EQ(ending.messages,
            "note: embeddings: hidden states of the tokens pooled by mean, then normalized "
            "to length 1\n");
}

TEST(Embed, TakesTheEncoderOfAClassifier) {
  const Ending ending =
      run_well({"predict", "model", "a fine film", "--embed", "--json"}, workshop());
  const Json said = json_lines(ending.output).at(0);
  EXPECT_EQ(said["pooling"], "mean");
  EXPECT_EQ(said["normalized"], false);
  EXPECT_EQ(embedding_of(said).size(), 128u);
  EXPECT_NE(ending.messages.find("pooled by mean, the default without a modules.json"),
            std::string::npos)
      << ending.messages;
}

TEST(Embed, TakesAQuantizedCopy) {
  const TemporaryFolder folder;
  const std::string model = workshop() / "model";
  run_well({"quantize", model, "--format", "int(bits=4)", "--data", workshop() / "reviews.csv",
            "-o", "small"},
           folder.path());
  const auto vector = [&](const std::string& of) {
    return embedding_of(run_json({"predict", of, "a fine film", "--embed"}, folder.path()));
  };
  EXPECT_NE(vector("small"), vector(model));
}

// The folder keeps the settings of pooling, normalization and length for sentence-transformers.
TEST(Embed, TakesAQuantizedOrTrainedSentenceModel) {
  const TemporaryFolder folder;
  fs::copy(kSentenceModel, folder.path() / "model", fs::copy_options::recursive);
  folder.file("model/sentence_bert_config.json", R"({"max_seq_length": 7})");
  std::string rows = "text,label\n";
  for (int i = 0; i < 20; ++i) rows += fmt::format("fine music {},good\ndull plot {},bad\n", i, i);
  folder.file("texts.csv", rows);
  const std::string text = "it was quite a slow start to the end of the scene";
  const auto said = [&](const std::string& model) {
    return run_json({"predict", model, text, "--embed"}, folder.path());
  };
  run_well({"quantize", "model", "--format", "int(bits=8)", "--data", "texts.csv", "-o", "small"},
           folder.path());
  const Ending trained = run_well({"train", "model", "--data", "texts.csv", "--max_steps", "2",
                                   "--learning_rate", "1e-9", "-o", "trained"},
                                  folder.path());
  EXPECT_NE(trained.messages.find("note: model is a sentence model: "), std::string::npos)
      << trained.messages;
  const std::vector<float> before = embedding_of(said("model"));
  for (const char* model : {"small", "trained"}) {
    const Json answer = said(model);
    EXPECT_EQ(answer["pooling"], "mean") << model;
    EXPECT_EQ(answer["normalized"], true) << model;
    EXPECT_EQ(answer["input_ids"].size(), 7u) << model;
    const std::vector<float> after = embedding_of(answer);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 0.05) << model;
    EXPECT_TRUE(fs::exists(folder.path() / model / "1_Pooling/config.json"));
    // The record lists these files as written by hone.
    const Json files = read_json(folder.path() / model / "record.json")["files"];
    for (const char* file : {"modules.json", "1_Pooling/config.json", "sentence_bert_config.json"})
      EXPECT_TRUE(files.contains(file)) << file;
  }
  // Classification also truncates texts to this length.
  const Ending label = run_well({"predict", "trained", text, "--json"}, folder.path());
  EXPECT_EQ(json_lines(label.output).at(0)["input_ids"].size(), 7u);
  EXPECT_NE(label.messages.find("1 of 1 texts was truncated to 7 tokens, as max_seq_length of "
                                "trained/sentence_bert_config.json sets"),
            std::string::npos)
      << label.messages;
}

// A randomly initialized head predicts nothing.
TEST(Embed, IsWhatAModelWithoutAHeadIsAskedFor) {
  const Ending ending = run_hone({"predict", kSentenceModel, "a film"}, workshop());
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.output, "");
  for (const char* part : {"the model has no classification head: ", "model.safetensors has no ",
                           "classifier.weight", "`hone predict --embed`", "`hone train`"})
    EXPECT_NE(ending.messages.find(part), std::string::npos) << ending.messages;
}

// Such a model can be trained and quantized, but every command says that its classification metrics mean nothing.
TEST(Embed, IsAllThatAModelWithoutAHeadIsMeasuredBy) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "text,label\na film,a\ndull,b\nfine,a\nawful,b\n");
  const Words data = {"--data", "texts.csv", "--split", "all"};
  const auto with_data = [&](Words words) {
    words.insert(words.end(), data.begin(), data.end());
    return run_hone(words, folder.path());
  };
  const Ending eval = with_data({"eval", kSentenceModel});
  EXPECT_EQ(eval.code, 1);
  EXPECT_NE(eval.messages.find("the model has no classification head: "), std::string::npos)
      << eval.messages;
  const Ending gated = with_data(
      {"quantize", kSentenceModel, "--format", "int(bits=8)", "--max_drop", "1", "-o", "gated"});
  EXPECT_EQ(gated.code, 1);
  EXPECT_NE(
      gated.messages.find("--max_drop, --gate: " + kSentenceModel +
                          " has no classification head, so there are no predictions to evaluate"),
      std::string::npos)
      << gated.messages;
  const Ending quantized =
      with_data({"quantize", kSentenceModel, "--format", "int(bits=8)", "-o", "small"});
  ASSERT_EQ(quantized.code, 0) << quantized.messages;
  const std::string said =
      "the model has no classification head: all numbers are those of a random head and say "
      "nothing about its embeddings";
  EXPECT_NE(quantized.output.find(said), std::string::npos) << quantized.output;
  EXPECT_EQ(read_json(folder.path() / "small/results.json")["caveat"], said);
  const Ending inspected = run_well({"inspect", kSentenceModel, "--no_graph"}, folder.path());
  EXPECT_NE(inspected.output.find("bert, no classification head"), std::string::npos)
      << inspected.output;
  EXPECT_EQ(run_json({"inspect", kSentenceModel}, folder.path())["labels"], Json::array());
}

// Makes attention scores overflow fp32.
TEST(Embed, WarnsOfNumbersThatAreNotFinite) {
  const TemporaryFolder folder;
  fs::copy(kSentenceModel, folder.path() / "model", fs::copy_options::recursive);
  const fs::path weights = folder.path() / "model/model.safetensors";
  TensorMap tensors;
  for (const auto& [name, tensor] : read_safetensors(weights).tensors)
    tensors.emplace(name, tensor.contiguous_copy());
  std::ranges::fill(tensors.at("encoder.layer.0.attention.self.query.weight").values<float>(),
                    3e38f);
  fs::remove(weights);
  write_safetensors(weights, tensors, {{"format", "pt"}});
  const Ending ending =
      run_well({"predict", "model", "a film", "--embed", "--json"}, folder.path());
  EXPECT_TRUE(json_lines(ending.output).at(0)["embedding"][0].is_null());
  EXPECT_NE(ending.messages.find(
                "warning: 1 of 1 texts has an embedding with numbers that are not finite"),
            std::string::npos)
      << ending.messages;
}

TEST(Embed, RefusesFieldsOfTheOtherQuestion) {
  const auto refusal = [](Words more) {
    more.insert(more.begin(), {"predict", "model", "a film", "--json"});
    const Ending ending = run_hone(more, workshop());
    EXPECT_EQ(ending.code, 1);
    return ending.messages;
  };
  const std::string of_label = refusal({"--fields", "embedding"}),
                    of_embedding = refusal({"--embed", "--fields", "id,logits"});
  EXPECT_NE(of_label.find("--fields: it is available with --embed only"), std::string::npos)
      << of_label;
  EXPECT_NE(
      of_embedding.find("--fields: it is not available with --embed, which predicts no labels"),
      std::string::npos)
      << of_embedding;
}

TEST(Embed, RefusesModulesThatItDoesNotCompute) {
  const TemporaryFolder folder;
  fs::copy(kSentenceModel, folder.path() / "model", fs::copy_options::recursive);
  Json modules = read_json(folder.path() / "model/modules.json");
  modules[2]["type"] = "sentence_transformers.models.Dense";
  folder.file("model/modules.json", to_document(modules));
  const Ending ending = run_hone({"predict", "model", "a film", "--embed"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("model/modules.json: the modules are "), std::string::npos)
      << ending.messages;
  EXPECT_NE(ending.messages.find("embeddings need a Transformer, a Pooling and"), std::string::npos)
      << ending.messages;
}

}  // namespace
}  // namespace hone::testing
