#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/cli/run_hone.h"
#include "tests/data/packed.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Tests of the values of --data and MODEL.
namespace hone::testing {
namespace {

using Words = std::vector<std::string>;

// A folder that contains a dataset with three splits.
class Reviews : public TemporaryFolder {
 public:
  Reviews() {
    fs::create_directories(path() / "hub/data");
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
    file(fmt::format("hub/data/{}-00000-of-00001.csv.gz", part), gzipped(text));
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
  const Ending ending = run_well(train("hub", {"--json"}), folder.path());
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 30);
  EXPECT_EQ(result["validation"]["eval_samples"], 10);
  EXPECT_EQ(result["test"]["eval_samples"], 6);
  for (const char* note :
       {"note: the text is column 'review'", "note: the label is column 'sentiment'",
        "note: validation: 10 examples of the data's validation split"})
    EXPECT_NE(ending.messages.find(note), std::string::npos) << ending.messages;
  const Json config = read_json(folder.path() / "model/config.json");
  EXPECT_EQ(config["label2id"], Json({{"bad", 0}, {"good", 1}}));
  EXPECT_EQ(config["id2label"], Json({{"0", "bad"}, {"1", "good"}}));
}

TEST(Data, WhoseTestSplitHasNoLabelsIsMeasuredWithoutItAndPredicted) {
  const TemporaryFolder folder;
  std::string rows = "id,text,target\n";
  for (int i = 0; i < 30; ++i)
    rows += fmt::format("{},film {} is {},{}\n", i, i, i % 2 ? "fine" : "dull", i % 2);
  folder.file("kaggle/train.csv", rows);
  folder.file("kaggle/test.csv", "id,text\n0,a fine film\n1,a dull film\n");
  folder.file("kaggle/sample_submission.csv", "id,target\n0,0\n1,0\n");
  const Ending trained = run_well(train("kaggle", {"--json"}), folder.path());
  EXPECT_NE(trained.messages.find("left out: the test split, because it has no labels"),
            std::string::npos)
      << trained.messages;
  EXPECT_TRUE(
      run_json({"eval", "model", "--data", "kaggle"}, folder.path()).contains("eval_accuracy"));
  const auto predicted = [&](const char* split) {
    return json_lines(run_well({"predict", "model", "--data", "kaggle", "--split", split, "--json"},
                               folder.path())
                          .output);
  };
  EXPECT_EQ(predicted("test").size(), 2u);
  const std::vector<Json> all = predicted("all");
  ASSERT_EQ(all.size(), 32u);
  EXPECT_TRUE(all.front().contains("gold"));
}

TEST(Data, HasSplitsOfOtherNamesThatAreAskedFor) {
  const TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 30; ++i)
    rows += fmt::format("film {} is {},{}\n", i, i % 2 ? "fine" : "dull", i % 2);
  folder.file("data/train.csv", rows);
  folder.file("data/validation_matched.csv", "text,label\na fine day,1\n");
  folder.file("data/validation_mismatched.csv", "text,label\na dull day,0\na bad day,0\n");
  run_well(train("data"), folder.path());
  const auto rows_of = [&](const Words& split) {
    Words words = {"eval", "model", "--data", "data"};
    words.insert(words.end(), split.begin(), split.end());
    return run_json(words, folder.path())["eval_samples"];
  };
  EXPECT_EQ(rows_of({}), 3);
  EXPECT_EQ(rows_of({"--split", "validation_matched"}), 1);
  EXPECT_EQ(rows_of({"--split", "validation_mismatched"}), 2);
  expect_refusal(
      {"eval", "model", "--data", "data", "--split", "validation_mismatch"}, folder.path(),
      "data 'data': --split: expected train, validation, test, all or one of train, "
      "validation_matched, validation_mismatched, got 'validation_mismatch'; did you mean "
      "'validation_mismatched'?");
}

TEST(Data, WithoutAValidationPartLendsSomeOfTrain) {
  const Reviews folder;
  fs::remove(folder.path() / "hub/data/validation-00000-of-00001.csv.gz");
  const Ending ending = run_well(train("hub", {"--json"}), folder.path());
  EXPECT_NE(
      ending.messages.find("note: validation: 3 of 30 training examples, set aside by seed 42"),
      std::string::npos)
      << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 27);
  EXPECT_EQ(result["validation"]["eval_samples"], 3);
}

TEST(Data, UnderTheOriginalProtocolIsChosenByOnTest) {
  const Reviews folder;
  const Ending ending = run_well(train("hub", {"--protocol", "original", "--json"}), folder.path());
  EXPECT_NE(ending.messages.find("note: validation: the test split: choices are made on it"),
            std::string::npos)
      << ending.messages;
  const Json result = json_lines(ending.output).at(0);
  EXPECT_EQ(result["train_samples"], 30);
  expect_refusal(
      {"eval", "model", "--data", "hub/data/train-00000-of-00001.csv.gz", "--protocol", "original"},
      folder.path(),
      "--protocol original chooses on the test split, which the data does "
      "not have (hub/data/train-00000-of-00001.csv.gz: 30 examples)");
}

TEST(Data, MayBePairs) {
  const TemporaryFolder folder;
  folder.file("pairs.jsonl",
              "{\"premise\": \"a b\", \"hypothesis\": \"c\", \"label\": \"yes\"}\n"
              "{\"premise\": \"d\", \"hypothesis\": \"e f\", \"label\": \"no\"}\n");
  const Ending trained = run_well(train("pairs.jsonl", {"--validation_split", "0"}), folder.path());
  EXPECT_NE(trained.messages.find("pairs: the columns 'premise' and 'hypothesis'"),
            std::string::npos)
      << trained.messages;
  const Ending many =
      run_well({"predict", "model", "--data", "pairs.jsonl", "--json"}, folder.path());
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
  expect_refusal(
      {"eval", workshop() / "model", "--data", "other.csv"}, folder.path(),
      "other.csv: line 3: label 'mediocre' is not one of the model's classes: bad, good");
}

// The model's classes are bad and good.
TEST(Data, WithLabelsWrittenOtherwiseIsMatchedAndSaid) {
  const TemporaryFolder folder;
  const std::string model = workshop() / "model";
  const auto confusion = [&](const char* name, const std::string& rows, const Words& more,
                             const char* note) {
    folder.file(name, "text,label\n" + rows);
    Words words = {"eval", model, "--data", name, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Ending ending = run_well(words, folder.path());
    EXPECT_NE(ending.messages.find(note), std::string::npos) << ending.messages;
    return json_lines(ending.output).at(0)["eval_confusion"];
  };
  const Json named = confusion("equal.csv", "fine,good\ndull,bad\nfine plot,good\n", {}, "");
  EXPECT_EQ(
      confusion("case.csv", "fine,GOOD\ndull, Bad\nfine plot,Good\n", {}, "GOOD = good, Bad = bad"),
      named);
  EXPECT_EQ(confusion("ids.csv", "fine,1\ndull,0\nfine plot,1\n", {}, "1 = good, 0 = bad"), named);
  EXPECT_EQ(confusion("other.csv", "fine,yes\ndull,no\nfine plot,yes\n",
                      {"--label_map", "yes=good,no=bad"}, ""),
            named);
  expect_refusal({"eval", model, "--data", "other.csv"}, folder.path(),
                 "other.csv: line 2: label 'yes' is not one of the model's classes: bad, good; the "
                 "data's are: no, yes; map them with --label_map no=CLASS,yes=CLASS");
}

TEST(Data, MayCallAClassMinusOne) {
  const TemporaryFolder folder;
  folder.file("pm.csv", "text,label\nfine,1\ndull,-1\nfine plot,1\ndull plot,-1\n");
  run_well(train("pm.csv", {"--validation_split", "0"}), folder.path());
  EXPECT_EQ(read_json(folder.path() / "model/config.json")["id2label"],
            (Json{{"0", "-1"}, {"1", "1"}}));
  const Ending many =
      run_well({"predict", "model", "--data", "pm.csv", "--split", "all", "--json"}, folder.path());
  const std::vector<Json> rows = json_lines(many.output);
  EXPECT_EQ(rows.at(0)["gold"], "1");
  EXPECT_EQ(rows.at(1)["gold"], "-1");
}

// Training leaves classes unnamed, and comparisons match them by number.
TEST(Data, OfNumbersFitsAModelThatDoesNotNameItsClasses) {
  const TemporaryFolder folder;
  fs::copy(workshop() / "model", folder.path() / "plain", fs::copy_options::recursive);
  Json config = read_json(folder.path() / "plain/config.json");
  config.erase("label2id");
  config["id2label"] = {{"0", "LABEL_0"}, {"1", "LABEL_1"}};
  folder.file("plain/config.json", config.dump());
  folder.file("numbers.csv", "text,label\nfine,1\ndull,0\nfine plot,1\ndull plot,0\n");
  run_well({"train", "plain", "--data", "numbers.csv", "--max_steps", "1", "--validation_split",
            "0", "-o", "again"},
           folder.path());
  EXPECT_EQ(read_json(folder.path() / "again/config.json")["id2label"], config["id2label"]);
  for (const char* other : {"again", "plain"})
    run_well({"compare", other, workshop() / "model", "--data", workshop() / "reviews.csv"},
             folder.path());
  run_well(
      {"choose", "plain", "again", workshop() / "model", "--data", "numbers.csv", "--split", "all"},
      folder.path());
  folder.file("three.csv", "text,label\nfine,good\ndull,bad\nplot,so so\n");
  expect_refusal(
      {"eval", "plain", "--data", "three.csv"}, folder.path(),
      "three.csv: line 2: label 'good' is not one of the model's classes: LABEL_0, LABEL_1; "
      "the model does not name its 2 classes, so 'good' may be any of them");
  const Ending unnamed =
      run_hone({"eval", "plain", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_EQ(unnamed.code, 1);
  EXPECT_NE(unnamed.messages.find("--label_map bad=0,good=1, with the number of each class"),
            std::string::npos)
      << unnamed.messages;
  const Json mapped = run_json(
      {"eval", "plain", "--data", workshop() / "reviews.csv", "--label_map", "bad=1,good=0"},
      folder.path());
  const Json straight =
      run_json({"eval", workshop() / "model", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_DOUBLE_EQ(mapped["eval_accuracy"].get<double>(),
                   1 - straight["eval_accuracy"].get<double>());
}

TEST(Data, ThatIsNotUtf8IsCountedOrRefused) {
  const TemporaryFolder folder;
  folder.file("latin.csv", "text,label\ncaf\xe9,good\ndull,bad\n");
  const Words eval = {"eval", workshop() / "model", "--data", "latin.csv"};
  const Ending ending = run_well(eval, folder.path());
  EXPECT_NE(ending.messages.find("1 ill-formed byte was read as U+FFFD"), std::string::npos)
      << ending.messages;
  Words strict = eval;
  strict.push_back("--strict_utf8");
  const Ending tokens =
      run_well({"tokenize", workshop() / "model", "--data", "latin.csv"}, folder.path());
  EXPECT_NE(tokens.messages.find("1 ill-formed byte was read as U+FFFD"), std::string::npos)
      << tokens.messages;
  expect_refusal(strict, folder.path(), "latin.csv: line 2: the text is not UTF-8");
}

// Options of reading data are stored in the model and used by later commands.
TEST(Data, IsReadAsInTraining) {
  const TemporaryFolder folder;
  folder.file("a.tsv", "\"caf\xe9\tgood\nth\xe9\"\tbad\n\xe9t\xe9\tgood\n\xe9mu\tbad\n");
  folder.file("b.tsv", "\"caf\xe9\"\tbad\n");
  folder.file("named.csv", "text,label\nthé,bad\n");
  run_well(train("a.tsv", {"--no_header", "--encoding", "latin-1", "--quoting", "none",
                           "--validation_split", "0"}),
           folder.path());
  const auto predicted = [&](const char* data, const Words& more = {}) {
    Words words = {"predict", "model", "--data", data, "--json", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return json_lines(run_well(words, folder.path()).output).at(0);
  };
  EXPECT_EQ(predicted("b.tsv")["text"], "\"café\"");
  EXPECT_EQ(predicted("b.tsv")["gold"], "bad");
  EXPECT_EQ(predicted("b.tsv", {"--quoting", "minimal"})["text"], "café");
  EXPECT_EQ(predicted("named.csv")["text"], "thé") << "this file shows what it is";
}

TEST(Data, IsReadWithTheSameOptionsByAllCommands) {
  for (const char* command : {"train", "eval", "predict", "tokenize", "quantize", "search"}) {
    const std::string help = run_well({command, "--help-all"}, fs::temp_directory_path()).output;
    for (const char* option : {"--text_column", "--text_pair_column", "--label_column",
                               "--no_header", "--quoting", "--encoding", "--json_field"})
      EXPECT_NE(help.find(option), std::string::npos) << command << " " << option;
  }
}

TEST(Data, IsTokenizedWithoutItsLabel) {
  const TemporaryFolder folder;
  folder.file("two.csv", "verdict,body\nfine words,a b\nbad words,c d\n");
  const Json result = run_json(
      {"tokenize", "tiny", "--data", "two.csv", "--label_column", "verdict", "--examples", "1"},
      folder.path());
  EXPECT_EQ(result["texts"][0]["text"], "a b");
  expect_refusal({"tokenize", "tiny", "--data", "two.csv", "--label_column", "class"},
                 folder.path(), "two.csv: no column 'class'");
  EXPECT_EQ(
      run_hone({"tokenize", "tiny", "--data", "two.csv", "--encoding", "klingon"}, folder.path())
          .code,
      2);
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
  refuses("plain.csv.gz", "plain.csv.gz: this is not a gzip file, or it is damaged");
  refuses("twice.csv", "twice.csv: there are two columns 'text'");
  refuses("ragged.tsv", "ragged.tsv: line 3: expected 2 fields as in the first row, got 1");
  refuses("bad.parquet", "bad.parquet: ");
  refuses("nothing.csv", "data 'nothing.csv': no such file or folder");
  refuses(".", "data '.': expected the layout of aclImdb");
}

// Writes texts with words that are not in the lexicons of the generators.
void write_films(const TemporaryFolder& folder) {
  std::string rows = "text,label\n";
  for (int i = 0; i < 60; ++i)
    rows += fmt::format("\"The {} acting is {} unforgettable; film {}\",{}\n",
                        i % 2 ? "splendid" : "dreadful", i % 3 ? "quite" : "truly", i % 7, i % 2);
  folder.file("films.csv", rows);
}

TEST(Data, OfOnesOwnTeachesFreshWeightsItsWords) {
  const TemporaryFolder folder;
  write_films(folder);
  const Words train = {"train", "tiny", "--data", "films.csv", "--max_steps", "2"};
  Words command = train;
  command.insert(command.end(), {"-o", "model"});
  const Ending ending = run_well(command, folder.path());
  EXPECT_NE(ending.messages.find("note: vocabulary of "), std::string::npos) << ending.messages;
  EXPECT_NE(ending.messages.find(" word pieces learned from 54 training texts: "),
            std::string::npos)
      << ending.messages;
  EXPECT_EQ(ending.messages.find("does not know"), std::string::npos) << ending.messages;
  const Json result = read_json(folder.path() / "model/results.json");
  EXPECT_EQ(result["vocabulary"]["training_texts"], 54);
  EXPECT_LT(result["vocabulary"]["tokens_per_text"], 12);
  const std::string vocabulary = read_file(folder.path() / "model/vocab.txt");
  EXPECT_NE(vocabulary.find("\nunforgettable\n"), std::string::npos) << vocabulary;
  // The vocabulary does not depend on the number of threads.
  command = train;
  command.insert(command.end(), {"-o", "again", "--threads", "3"});
  run_well(command, folder.path());
  EXPECT_EQ(read_file(folder.path() / "again/vocab.txt"), vocabulary);
  EXPECT_TRUE(read_file(folder.path() / "again/model.safetensors") ==
              read_file(folder.path() / "model/model.safetensors"));
  command = train;
  command.insert(command.end(), {"-o", "small", "--vocab_size", "60"});
  run_well(command, folder.path());
  const std::string small = read_file(folder.path() / "small/vocab.txt");
  EXPECT_EQ(std::count(small.begin(), small.end(), '\n'), 60);
  // The vocabulary is built without the validation split.
  const Json shown =
      run_json({"tokenize", "tiny", "--data", "films.csv", "--examples", "1"}, folder.path());
  EXPECT_EQ(shown["vocabulary"]["vocab_size"],
            std::count(vocabulary.begin(), vocabulary.end(), '\n'));
  ASSERT_EQ(shown["splits"].size(), 2);
  EXPECT_EQ(shown["splits"][0]["n"], 54);
  EXPECT_EQ(shown["splits"][1]["split"], "validation");
}

TEST(Data, ThatIsBuiltInKeepsItsVocabulary) {
  const TemporaryFolder folder;
  const Ending ending = run_well(
      {"train", "tiny", "--data", "synth:lookup?n=300&test=60", "--max_steps", "1", "-o", "model"},
      folder.path());
  EXPECT_EQ(ending.messages.find("vocabulary"), std::string::npos) << ending.messages;
  EXPECT_NE(run_well({"tokenize", "tiny", "--data", "synth:lookup?n=300&test=60"}, folder.path())
                .output.find("of the built-in data."),
            std::string::npos);
}

TEST(Data, ThatAModelHasNoWordsForIsWarnedOf) {
  const TemporaryFolder folder;
  write_films(folder);
  const Ending ending = run_well({"eval", "tiny", "--data", "films.csv"}, folder.path());
  EXPECT_NE(ending.messages.find(
                "warning: all: the vocabulary does not contain these words and cuts them into "),
            std::string::npos)
      << ending.messages;
  // The warning is printed once, not once per split.
  const std::string said =
      run_well({"quantize", "tiny", "--format", "int(bits=8)", "--data", "films.csv", "-o", "q"},
               folder.path())
          .messages;
  const std::size_t first = said.find("the vocabulary does not contain");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("the vocabulary does not contain", first + 1), std::string::npos) << said;
}

TEST(Data, IsShownAsTokens) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "text\na fine film \xF0\x9F\x8E\xAC\n" + std::string(50, '!') + "\n");
  const Words words = {"tokenize", workshop() / "model", "--data", "texts.csv", "--examples",
                       "2",        "--max_seq_length",   "10"};
  const Json shown = run_json(words, folder.path())["texts"];
  ASSERT_EQ(shown.size(), 2);
  EXPECT_EQ(shown[0]["split"], "train");
  EXPECT_EQ(shown[0]["row"], 1);
  EXPECT_EQ(shown[0]["tokens"].size(), shown[0]["input_ids"].size());
  EXPECT_EQ(shown[0]["tokens"].front(), "[CLS]");
  EXPECT_EQ(shown[0]["tokens"].back(), "[SEP]");
  EXPECT_EQ(shown[0]["unknown_words"][0], "a");  // missing in the workshop's vocabulary
  EXPECT_EQ(shown[0]["unknown_words"].back(), "\xF0\x9F\x8E\xAC");
  EXPECT_EQ(shown[0]["cut_tokens"], 0);
  EXPECT_EQ(shown[1]["tokens"].size(), 10);
  EXPECT_EQ(shown[1]["cut_tokens"], 42);
  const std::string text = run_well(words, folder.path()).output;
  EXPECT_NE(text.find("\ntrain 1: a fine film \xF0\x9F\x8E\xAC\n  [CLS]  "), std::string::npos)
      << text;
  EXPECT_NE(text.find("; unknown: a "), std::string::npos) << text;
  EXPECT_NE(text.find("  10 tokens; 42 more were truncated"), std::string::npos) << text;
  EXPECT_NE(text.find("Vocabulary: "), std::string::npos) << text;
  // Examples are printed by default, too.
  const std::string unasked =
      run_well({"tokenize", workshop() / "model", "--data", "texts.csv"}, folder.path()).output;
  EXPECT_NE(unasked.find("\ntrain 1: a fine film "), std::string::npos) << unasked;
}

TEST(Data, IsSaidAsTokens) {
  const TemporaryFolder folder;
  folder.file("texts.csv", "text\na film\n\"\"\n" + std::string(2000, '!') + "\n");
  const Words words = {"tokenize", workshop() / "model", "--data", "texts.csv", "--batch_size",
                       "3",        "--max_seq_length",   "100"};
  const Json result = run_json(words, folder.path());
  ASSERT_EQ(result["splits"].size(), 1);
  const Json& part = result["splits"][0];
  EXPECT_EQ(part["split"], "train");
  EXPECT_EQ(part["n"], 3);
  EXPECT_EQ(part["longest_tokens"], 100);
  EXPECT_EQ(part["cut_texts"], 1);
  EXPECT_DOUBLE_EQ(part["padding_share"], 1 - part["tokens"].get<double>() / 300);
  EXPECT_EQ(part["grouped_padding_share"], part["padding_share"]);
  EXPECT_EQ(result["max_seq_length"], 100);
  EXPECT_GE(result["tokenize_seconds"], 0);
  const Ending ending = run_well(words, folder.path());
  EXPECT_NE(
      ending.output.find("At most 100 tokens per text. Padding: in shuffled batches of 3, and "
                         "in batches grouped by length."),
      std::string::npos)
      << ending.output;
  EXPECT_NE(ending.messages.find("warning: 1 of 3 texts is empty"), std::string::npos)
      << ending.messages;
}

TEST(Data, OfSetsInCellsIsLearnedAndMeasured) {
  const TemporaryFolder folder;
  std::string rows = "text,labels\n";
  for (int i = 0; i < 20; ++i)
    rows += fmt::format("song {} of {},{}\n", i, i % 3, i % 3 == 0 ? "love;war" : "war");
  folder.file("sets.csv", rows);
  run_well(train("sets.csv", {"--problem_type", "multi_label_classification"}), folder.path());
  folder.file("two.csv", "text,labels\nfoo,love\nbar,war\n");
  const Json result = run_json({"eval", "model", "--data", "two.csv"}, folder.path());
  EXPECT_EQ(result["eval_samples"], 2);
  folder.file("none.csv", "text,labels\nfoo,love\nbar,peace\n");
  expect_refusal({"eval", "model", "--data", "none.csv"}, folder.path(),
                 "none.csv: line 3: label 'peace' is not one of the model's classes: love, war");
}

// A model in the cache of huggingface_hub, where files are links into `blobs`.
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
  for (const char* name : {"me/film-model", "me/film-model@main", "me/film-model@0123"}) {
    Json there = run_json({"predict", name, "a fine film"}, folder.path());
    EXPECT_EQ(there["model"], name);
    there["model"] = here["model"];
    EXPECT_EQ(there, here) << name;
  }
  // The class names are read, and saved files are regular files, not links.
  run_well({"train", "me/film-model", "--data", workshop() / "reviews.csv", "--max_steps", "1",
            "-o", "trained"},
           folder.path());
  for (const char* name : {"config.json", "model.safetensors", "vocab.txt"})
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(folder.path() / "trained" / name))) << name;
  folder.file("other.csv", "text,label\na,worse\n");
  expect_refusal({"train", "me/film-model", "--data", "other.csv", "-o", "none"}, folder.path(),
                 "other.csv: line 2: label 'worse' is not one of the model's classes: bad, good");
  expect_refusal({"predict", "me/film", "a"}, folder.path(),
                 "me/film: no such model folder, nor a folder me; for a model of the Hugging Face "
                 "hub, run `hf download me/film` first, as it is not in the local cache " +
                     (folder.path() / "hub").string());
  ::unsetenv("HF_HUB_CACHE");
}

}  // namespace
}  // namespace hone::testing
