#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"
#include "tests/text/packed.h"

// What people give as --data and as MODEL, through the program.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

// A folder with a data set in three parts.
class Reviews : public TemporaryFolder {
 public:
  Reviews() {
    fs::create_directory(path() / "data");
    write("train", 30);
    write("validation", 10);
    write("test", 6);
  }

 private:
  void write(const char* part, int count) const {
    std::string text = "review,sentiment\n";
    for (int i = 0; i < count; ++i)
      text += fmt::format("\"{} {}, {}\",{}\n", part, i, i % 2 ? "fine" : "dull",
                          i % 2 ? "good" : "bad");
    file(fmt::format("data/{}-00000-of-00001.csv.gz", part), gzipped(text));
  }
};

Words train(const std::string& data, const Words& more = {}) {
  Words words = {"train", "tiny", "--data", data, "--max_steps", "1", "-o", "model"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void expect_refusal(const Words& words, const fs::path& folder, const std::string& message) {
  const Words before = entries(folder);
  const Ending ending = run_hone(words, folder);
  EXPECT_EQ(ending.code, 1) << ending.messages;
  EXPECT_NE(ending.messages.find("error: " + message), std::string::npos) << ending.messages;
  EXPECT_EQ(ending.output, "");
  EXPECT_EQ(entries(folder), before);
}

TEST(Data, OfAFolderIsUsedPartByPart) {
  const Reviews folder;
  const Ending ending = run_well(train(".", {"--json"}), folder.path());
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 30);
  EXPECT_EQ(result["validation"]["eval_samples"], 10);
  EXPECT_EQ(result["test"]["eval_samples"], 6);
  for (const char* note :
       {"note: the text is column 'review'", "note: the label is column 'sentiment'",
        "note: validation: 10 texts of the data's own part"})
    EXPECT_NE(ending.messages.find(note), std::string::npos) << ending.messages;
  const Json config = read_json(folder.path() / "model/config.json");
  EXPECT_EQ(config["label2id"], Json({{"bad", 0}, {"good", 1}}));
  EXPECT_EQ(config["id2label"], Json({{"0", "bad"}, {"1", "good"}}));
}

TEST(Data, WithoutAValidationPartLendsSomeOfTrain) {
  const Reviews folder;
  fs::remove(folder.path() / "data/validation-00000-of-00001.csv.gz");
  const Ending ending = run_well(train(".", {"--json"}), folder.path());
  EXPECT_NE(ending.messages.find("note: validation: 3 of 30 training texts, set aside by seed 42"),
            std::string::npos)
      << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 27);
  EXPECT_EQ(result["validation"]["eval_samples"], 3);
}

TEST(Data, UnderTheOriginalProtocolIsChosenByOnTest) {
  const Reviews folder;
  const Ending ending = run_well(train(".", {"--protocol", "original", "--json"}), folder.path());
  EXPECT_NE(ending.messages.find("note: validation: the test part: choices are made on it"),
            std::string::npos)
      << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 30);
  expect_refusal(
      {"eval", "model", "--data", "data/train-00000-of-00001.csv.gz", "--protocol", "original"},
      folder.path(),
      "--protocol original chooses on the test part, which the data does "
      "not have (data/train-00000-of-00001.csv.gz: 30 examples)");
}

TEST(Data, MayBePairs) {
  const TemporaryFolder folder;
  folder.file("pairs.jsonl",
              "{\"premise\": \"a b\", \"hypothesis\": \"c\", \"label\": \"yes\"}\n"
              "{\"premise\": \"d\", \"hypothesis\": \"e f\", \"label\": \"no\"}\n");
  expect_refusal(train("pairs.jsonl"), folder.path(),
                 "pairs.jsonl: the columns 'premise' and 'hypothesis' look like pairs of texts");
  run_well(train("pairs.jsonl", {"--text_pair_column", "hypothesis", "--validation_split", "0"}),
           folder.path());
  const Ending many = run_well(
      {"predict", "model", "--data", "pairs.jsonl", "--text_pair_column", "hypothesis", "--json"},
      folder.path());
  const Json first = json_lines(many.output).at(0);
  EXPECT_EQ(first["text_pair"], "c");
  const Json one = run_json({"predict", "model", "a b", "--text_pair", "c"}, folder.path());
  EXPECT_EQ(one["input_ids"], first["input_ids"]);
  const Json alone = run_json({"predict", "model", "a b"}, folder.path());
  EXPECT_EQ(one["input_ids"].size(), alone["input_ids"].size() + 2);
  EXPECT_NE(one["logits"], alone["logits"]);
  const Ending table = run_well({"predict", "model", "a b", "--text_pair", "c"}, folder.path());
  EXPECT_NE(table.output.find("Second text"), std::string::npos) << table.output;
}

TEST(Data, AsPairsNeedsAModelWithTwoTypesOfTokens) {
  const fs::path golden = test_data() / "frontends/golden/zip_sharded";
  expect_refusal({"predict", golden, "a", "--text_pair", "b"}, workshop(),
                 "pairs of texts need a model with two types of tokens, this one has 1");
}

TEST(Data, WithStrangeLabelsNamesTheirLine) {
  const TemporaryFolder folder;
  folder.file("other.csv", "text,label\nfine,good\ndull,mediocre\n");
  expect_refusal({"eval", workshop() / "model", "--data", "other.csv"}, folder.path(),
                 "other.csv: line 3: label 'mediocre' is none of the model's classes: bad, good");
}

TEST(Data, ThatIsNotUtf8IsCountedOrRefused) {
  const TemporaryFolder folder;
  folder.file("latin.csv", "text,label\ncaf\xe9,good\ndull,bad\n");
  const Words eval = {"eval", workshop() / "model", "--data", "latin.csv"};
  const Ending ending = run_well(eval, folder.path());
  EXPECT_NE(ending.messages.find("1 ill-formed bytes were read as U+FFFD"), std::string::npos)
      << ending.messages;
  Words strict = eval;
  strict.push_back("--strict");
  expect_refusal(strict, folder.path(), "latin.csv: line 2: the text is not UTF-8");
}

TEST(Data, ThatIsDamagedIsRefused) {
  const TemporaryFolder folder;
  const std::string packed = gzipped("text,label\na,1\n");
  folder.file("cut.csv.gz", packed.substr(0, packed.size() - 6));
  folder.file("plain.csv.gz", "text,label\na,1\n");
  folder.file("twice.csv", "text,label,text\na,1,b\n");
  folder.file("ragged.tsv", "text\tlabel\na\t1\nb\n");
  folder.file("bad.parquet", "PAR1 no");
  const auto refuses = [&](const std::string& data, const std::string& message) {
    expect_refusal({"tokenize", "tiny", "--data", data}, folder.path(), message);
  };
  refuses("cut.csv.gz", "cut.csv.gz: the gzip data is cut off at byte");
  refuses("plain.csv.gz", "plain.csv.gz: this is no gzip file, or a damaged one");
  refuses("twice.csv", "twice.csv: the column 'text' is there twice");
  refuses("ragged.tsv", "ragged.tsv: line 3: expected 2 fields as in the header, got 1");
  refuses("bad.parquet", "bad.parquet: ");
  refuses("nothing.csv", "data 'nothing.csv': no such file or folder");
  refuses(".", "data '.': expected the layout of aclImdb");
}

TEST(Data, IsSaidAsTokens) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "text\na film\n\"\"\n" + std::string(2000, '!') + "\n");
  const Words words = {"tokenize", workshop() / "model", "--data", "texts.csv", "--batch",
                       "3",        "--max_seq_length",   "100"};
  const Json result = run_json(words, folder.path());
  ASSERT_EQ(result["parts"].size(), 1);
  const Json& part = result["parts"][0];
  EXPECT_EQ(part["part"], "train");
  EXPECT_EQ(part["texts"], 3);
  EXPECT_EQ(part["longest_tokens"], 100);
  EXPECT_EQ(part["cut_texts"], 1);
  EXPECT_DOUBLE_EQ(part["padding_share"], 1 - part["tokens"].get<double>() / 300);
  EXPECT_EQ(part["grouped_padding_share"], part["padding_share"]);
  EXPECT_EQ(result["max_seq_length"], 100);
  EXPECT_GE(result["tokenize_seconds"], 0);
  const Ending ending = run_well(words, folder.path());
  EXPECT_NE(ending.output.find("Padding: in batches of 3, shuffled, and grouped by length. At most "
                               "100 tokens a text."),
            std::string::npos)
      << ending.output;
  EXPECT_NE(ending.messages.find("warning: train: 1 of 3 texts are empty"), std::string::npos)
      << ending.messages;
}

// A model in a cache as huggingface_hub lays it out: files are links into `blobs`.
TEST(Model, MayBeNamedAsOnTheHub) {
  const TemporaryFolder folder;
  const fs::path model = folder.path() / "hub/models--me--film-model";
  fs::create_directories(model / "blobs");
  fs::create_directories(model / "refs");
  fs::create_directories(model / "snapshots/0123abcd");
  folder.file("hub/models--me--film-model/refs/main", "0123abcd");
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"}) {
    fs::copy_file(workshop() / "model" / name, model / "blobs" / fmt::format("blob-{}", name));
    fs::create_symlink(fmt::format("../../blobs/blob-{}", name),
                       model / "snapshots/0123abcd" / name);
  }
  ::setenv("HF_HUB_CACHE", (folder.path() / "hub").c_str(), 1);
  const Json here = run_json({"predict", workshop() / "model", "a fine film"}, folder.path());
  for (const char* name : {"me/film-model", "me/film-model@main", "me/film-model@0123"})
    EXPECT_EQ(run_json({"predict", name, "a fine film"}, folder.path()), here) << name;
  // What the model's classes are called is seen, and what is saved are files, not links.
  run_well({"train", "me/film-model", "--data", workshop() / "reviews.csv", "--max_steps", "1",
            "-o", "trained"},
           folder.path());
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"})
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.path() / "trained" / name))) << name;
  folder.file("other.csv", "text,label\na,worse\n");
  expect_refusal({"train", "me/film-model", "--data", "other.csv", "-o", "none"}, folder.path(),
                 "other.csv: line 2: label 'worse' is none of the model's classes: bad, good");
  expect_refusal({"predict", "me/film", "a"}, folder.path(),
                 "me/film: no such model folder, nor is the model in the local cache of Hugging "
                 "Face: looked at " +
                     (folder.path() / "hub/models--me--film").string());
  ::unsetenv("HF_HUB_CACHE");
}

}  // namespace
}  // namespace hone::testing
