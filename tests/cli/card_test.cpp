#include <gtest/gtest.h>

#include <regex>

#include "hone/base/text.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of the README.md of saved models.
namespace hone::testing {
namespace {

struct Card {
  std::string metadata;  // the lines between the two "---"
  std::string text;
};

Card card_of(const fs::path& model) {
  const std::string whole = read_file(model / "README.md");
  EXPECT_TRUE(whole.starts_with("---\n"));
  const std::size_t end = whole.find("\n---\n", 4);
  EXPECT_NE(end, std::string::npos) << whole;
  return {whole.substr(4, end - 3), whole.substr(end + 5)};
}

void expect_in(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

// Expects the YAML subset that the header uses: block mappings and sequences by indentation, plain words, numbers, and
// strings as JSON.
void expect_yaml(const std::string& text) {
  const std::regex line(
      R"re( *(- )*[A-Za-z_-]+:( ("([^"\\]|\\.)*"|[A-Za-z0-9_.-]+))?| *- ("([^"\\]|\\.)*"|[a-z0-9-]+))re");
  for (const std::string& one : split(trim(text), '\n'))
    EXPECT_TRUE(std::regex_match(one, line)) << one;
}

TEST(Card, OfATrainedModelHasItsFiguresAndWhatTheyStandOn) {
  const Card card = card_of(workshop() / "model");
  expect_yaml(card.metadata);
  const Json result = read_json(workshop() / "model/results.json");
  expect_in(card.metadata, "library_name: transformers\npipeline_tag: text-classification\n");
  expect_in(card.metadata, "model-index:\n- name: \"model\"\n");
  expect_in(card.metadata, "      name: \"reviews.csv\"\n");
  expect_in(card.metadata, "      split: validation\n");
  expect_in(card.metadata, fmt::format("    - type: accuracy\n      value: {}\n",
                                       to_line(result["validation"]["eval_accuracy"])));
  for (const char* unknown : {"license", "language", "base_model"})
    EXPECT_EQ(card.metadata.find(unknown), std::string::npos) << unknown;
  expect_in(card.text, "| | split | n | accuracy | 95% interval | constant prediction | loss |\n");
  expect_in(card.text, "| this model | validation | 4 | ");
  expect_in(card.text, "hone train tiny --data reviews.csv --max_steps 1 -o model");
  expect_in(card.text, "- seed: 42\n");
  expect_in(card.text, "It predicts one of the classes `bad`, `good`.");
  expect_in(card.text, "Its accuracy was measured on only 4 texts (validation split)");
  EXPECT_EQ(card.text.find("simulated"), std::string::npos);
}

TEST(Card, OfAQuantizedModelSaysWhatWasLostAndWhatOthersMakeOfIt) {
  const TemporaryFolder folder;
  const Json result = run_json({"quantize", "model", "--format", "integer(width=6,frac=4)",
                                "--data", "reviews.csv", "-o", folder.path() / "my: \"model\""},
                               workshop());
  const Card card = card_of(folder.path() / "my: \"model\"");
  expect_yaml(card.metadata);
  expect_in(card.metadata, "- quantized\n- \"ptq\"\n");
  expect_in(card.metadata, R"(- name: "my: \"model\"")");
  expect_in(card.text, "| before quantization | validation | 4 | ");
  expect_in(card.text, "| this model | validation | 4 | ");
  expect_in(card.text, "Changed predictions: ");
  expect_in(card.text, "- format: `integer(width=6,frac=4)`, 6 bits per quantized weight");
  expect_in(card.text, "- pass over its graph: `quantize(format=integer(width=6,frac=4))`\n");
  expect_in(card.text, "It is not smaller or faster yet");
  expect_in(card.text, "ignore quantizers of inputs and outputs");
  expect_in(card.text,
            "- Measured on the validation split, n = 4: accuracy 50.0% in `transformers`, ");
}

TEST(Card, OfWeightsAloneSaysNothingOfInputs) {
  const TemporaryFolder folder;
  run_well({"quantize", "model", "--weight_format", "int(bits=8,per=row)", "--data", "reviews.csv",
            "-o", folder.path() / "out"},
           workshop());
  const std::string text = card_of(folder.path() / "out").text;
  expect_in(text, "It is not smaller or faster yet");
  EXPECT_EQ(text.find("know the quantizers"), std::string::npos) << text;
}

TEST(Card, NamesTheModelOfTheHubThatItComesFrom) {
  const TemporaryFolder folder;
  const fs::path snapshot = folder.path() / "hub/models--someone--bert/snapshots/0123";
  fs::create_directories(snapshot);
  for (const char* file :
       {"config.json", "model.safetensors", "tokenizer_config.json", "vocab.txt"})
    fs::copy(workshop() / "model" / file, snapshot);
  fs::create_directories(snapshot / "../../refs");
  folder.file("hub/models--someone--bert/refs/main", "0123");
  ::setenv("HF_HUB_CACHE", (folder.path() / "hub").c_str(), 1);
  run_well({"train", "someone/bert", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o",
            "tuned"},
           folder.path());
  ::unsetenv("HF_HUB_CACHE");
  expect_in(card_of(folder.path() / "tuned").metadata,
            "base_model: \"someone/bert\"\nbase_model_relation: finetune\n");
}

TEST(Card, OfTheOriginalProtocolHasOneMarkedFigure) {
  const TemporaryFolder folder;
  run_well({"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--max_steps", "1",
            "--protocol", "original", "-o", "out"},
           folder.path());
  const Card card = card_of(folder.path() / "out");
  expect_yaml(card.metadata);
  EXPECT_EQ(card.metadata.find("split: validation"), std::string::npos) << card.metadata;
  expect_in(card.metadata, "all of them used for choices");
  EXPECT_EQ(card.text.find("| this model | validation |"), std::string::npos) << card.text;
  expect_in(card.text, "Cautions: test: ");
}

TEST(Card, OfGeneratedTextsSaysSo) {
  const TemporaryFolder folder;
  run_well({"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--max_steps", "1", "--seeds",
            "2", "--save_steps", "1", "-o", "seeds"},
           folder.path());
  const Card card = card_of(folder.path() / "seeds/seed-43");
  expect_in(card.metadata, "- name: \"seeds/seed-43\"\n");
  expect_in(card.metadata, "      split: validation\n");
  expect_in(card.metadata, "      split: test\n");
  expect_in(card.text, "It was trained on generated texts;");
  expect_in(card.text, "- seed: 43\n");
  // Checkpoints get no README.md, because their metrics are not known yet.
  EXPECT_FALSE(fs::exists(folder.path() / "seeds/seed-43/checkpoint-1/README.md"));
}

TEST(Card, TellsTheClassesApartOnThePartThatIsReported) {
  const std::string text = card_of(workshop() / "model").text;
  const Json measured = read_json(workshop() / "model/results.json")["validation"];
  expect_in(text, "## Classes\n\nOn the validation split, n = 4; in brackets the 95% interval:\n");
  expect_in(text,
            "| class | examples | precision | recall | F1 | predicted as `bad` | predicted as "
            "`good` |\n");
  for (std::size_t row : {0, 1}) {
    const std::string label = row == 0 ? "bad" : "good";
    const Json& figures = measured["eval_classes"][label];
    expect_in(text, fmt::format("| `{}` | {} | ", label, figures["support"].get<int>()));
    expect_in(text, fmt::format(" {} | {} |\n", measured["eval_confusion"][row][0].get<int>(),
                                measured["eval_confusion"][row][1].get<int>()));
  }
}

// Only the baseline has untrained weights; the quantized model was trained.
TEST(Card, OfQuantizationAwareTrainingSaysWhoseWeightsWereUntrained) {
  const TemporaryFolder folder;
  run_well({"quantize", "tiny", "--weight_format", "int(bits=8,per=row)", "--qat", "--max_steps",
            "1", "--data", "reviews.csv", "-o", folder.path() / "out"},
           workshop());
  expect_in(card_of(folder.path() / "out").text,
            "Cautions: validation: untrained weights before that training");
}

TEST(Card, SaysTheEffectiveSizeOnce) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 60; ++i) rows += fmt::format("film {},{}\n", i % 20, i % 2 ? "good" : "bad");
  run_well(
      {"train", "tiny", "--data", folder.file("twice.csv", rows), "--max_steps", "1", "-o", "out"},
      folder.path());
  const Card card = card_of(folder.path() / "out");
  expect_in(card.metadata, "(effective ");
  EXPECT_EQ(card.metadata.find("effective n"), std::string::npos) << card.metadata;
  expect_in(card.text, "effective n = ");
}

TEST(Card, OfAnotherIsLeftAlone) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "model");
  folder.file("model/README.md", "mine");
  run_well({"convert", "model", "-o", "converted"}, folder.path());
  EXPECT_EQ(read_file(folder.path() / "converted/README.md"), "mine");
  run_well(
      {"train", "model", "--data", workshop() / "reviews.csv", "--max_steps", "1", "-o", "more"},
      folder.path());
  EXPECT_EQ(read_file(folder.path() / "model/README.md"), "mine");
}

}  // namespace
}  // namespace hone::testing
