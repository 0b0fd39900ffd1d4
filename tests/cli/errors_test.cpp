#include <gtest/gtest.h>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of error messages, and that failing commands write nothing.
namespace hone::testing {
namespace {

class Refusal : public ::testing::Test {
 protected:
  Refusal() {
    folder_.file("reviews.csv", "review,class\ngood one,1\nbad one,0\n");
    fs::create_directory(folder_.path() / "mine");
    folder_.file("mine/notes.txt", "keep");
  }
  /// Expects `hone ARGUMENTS` to fail with `code` and a message that contains `fragment`, and to leave the folder
  /// unchanged.
  void expect(int code, std::string_view fragment, const std::vector<std::string>& arguments) {
    const std::vector<std::string> before = entries(folder_.path());
    const Ending ending = run_hone(arguments, folder_.path());
    const std::string command = fmt::format("hone {}", fmt::join(arguments, " "));
    EXPECT_EQ(ending.code, code) << command;
    EXPECT_EQ(ending.output, "") << command;
    // Exactly one error, possibly after notes.
    EXPECT_TRUE(("\n" + ending.messages).find("\nerror: ") != std::string::npos)
        << command << ": " << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos)
        << command << ": expected '" << fragment << "' in " << ending.messages;
    EXPECT_EQ(entries(folder_.path()), before) << command;
    EXPECT_EQ(entries(folder_.path() / "mine"), std::vector<std::string>{"notes.txt"}) << command;
  }
  /// Expects a small training run with the options `more` to fail in the same way.
  void expect_of_training(int code, std::string_view fragment, std::vector<std::string> more) {
    more.insert(more.begin(), {"train", "tiny", "--max_steps", "1"});
    expect(code, fragment, more);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Refusal, OfAnUnknownCommandNamesTheNearest) {
  expect(kUsageError, "unknown command 'trian'", {"trian"});
  expect(kUsageError, "did you mean 'eval'?", {"evaluate"});
  expect(kUsageError, "did you mean 'quantize'?", {"quant"});
  expect(kUsageError, "did you mean 'quantize'?", {"quantise", "model"});
}

TEST_F(Refusal, OfAnUnknownFlagNamesTheNearest) {
  expect(kUsageError, "unexpected argument '--learning_rat'; did you mean '--learning_rate'?",
         {"train", "tiny", "--data", "reviews.csv", "-o", "out", "--learning_rat", "1"});
  // Also if the misspelling leaves a required flag missing.
  expect(kUsageError, "unexpected argument '--dat'; did you mean '--data'?",
         {"train", "tiny", "--dat", "reviews.csv", "-o", "out"});
  expect(kUsageError, "unexpected argument 'more'", {"inspect", "tiny", "more"});
}

TEST_F(Refusal, OfMissingArgumentsNamesThem) {
  expect(kUsageError, "hone train: MODEL is required; see `hone train --help`", {"train"});
  expect(kUsageError, "--data is required", {"train", "tiny", "-o", "out"});
  expect(kUsageError, "--output_dir is required", {"train", "tiny", "--data", "reviews.csv"});
  expect(kUsageError, "give --native FORMAT, --format FORMAT or --recipe FILE",
         {"quantize", "model", "--data", "reviews.csv", "-o", "out"});
  expect(kUsageError, "give texts, - for standard input, or --data", {"predict", "model"});
}

TEST_F(Refusal, OfAFlagThatIsGivenTwiceOrWithoutAValueNamesIt) {
  const std::vector<std::string> job = {"train", "tiny", "--data", "reviews.csv"};
  const auto expect_with = [&](std::string_view fragment, std::vector<std::string> more) {
    more.insert(more.begin(), job.begin(), job.end());
    expect(kUsageError, fragment, more);
  };
  expect_with(
      "hone train: --lr and --learning_rate are the same option; give it once; see `hone train "
      "--help`",
      {"-o", "out", "--lr", "1", "--learning_rate", "2"});
  expect_with("hone train: -o and --output_dir are the same option; give it once",
              {"-o", "a", "--output_dir", "b", "-o=c"});
  expect_with("hone train: --seed is given twice; ", {"-o", "out", "--seed=1", "--seed", "1"});
  expect_with("hone train: --seed needs a value; ", {"-o", "out", "--seed"});
  expect_with("hone train: --output_dir needs a value; ", {"--output_dir="});
  expect_with("hone train: --lora needs a value; the option --seed follows it; ",
              {"-o", "out", "--lora", "--seed", "1"});
  expect_with("hone train: -o needs a value; the option --json follows it; ", {"-o", "--json"});
}

TEST_F(Refusal, OfAnEmptyNameComesBeforeAnyWork) {
  const std::vector<std::vector<std::string>> outputs = {
      {"train", "tiny", "--data", "reviews.csv", "-o", ""},
      {"quantize", "tiny", "--format", "bf16", "--data", "reviews.csv", "-o", ""},
      {"eval", "tiny", "--data", "reviews.csv", "-o", ""}};
  for (const std::vector<std::string>& words : outputs)
    expect(kUsageError, "-o: expected FOLDER, got ''; see", words);
  expect(kUsageError, "-o: expected FILE, got ''", {"predict", "tiny", "a film", "-o", ""});
  expect(kUsageError, "-o: expected FILE, got ''", {"draw", "tiny", "-o", ""});
  expect(kUsageError, "--html: expected FILE|FOLDER, got ''", {"runs", "mine", "--html", ""});
  expect(kUsageError, "MODEL: expected MODEL, got ''", {"inspect", ""});
  expect(kUsageError, "--data: expected DATA, got ''", {"eval", "tiny", "--data", ""});
}

TEST_F(Refusal, OfTextsWithoutRoomNamesTheFlag) {
  const std::string expected = "--max_seq_length: expected 0, or at least 2 for the special tokens";
  expect(kUsageError, expected + ", got 1", {"predict", "tiny", "a", "--max_seq_length", "1"});
  expect(kUsageError, expected + ", got -1",
         {"eval", "tiny", "--data", "reviews.csv", "--max_seq_length", "-1"});
  expect(kUsageError, "--max_seq_length: expected a whole number, got 2.5",
         {"tokenize", "tiny", "--data", "reviews.csv", "--max_seq_length", "2.5"});
  expect(
      kUserError,
      "--max_seq_length: expected at least 3 for pairs, for the special tokens [CLS] [SEP] [SEP]",
      {"predict", "tiny", "a", "--text_pair", "b", "--max_seq_length", "2"});
  expect(kUserError, "--max_seq_length: expected at least 3 for pairs, ",
         {"tokenize", "tiny", "--data", "reviews.csv", "--text_pair_column", "class",
          "--max_seq_length", "2"});
}

TEST_F(Refusal, OfValuesSaysWhatWasExpected) {
  const std::vector<std::string> data = {"--data", "synth:lookup?n=300&test=60", "-o", "out"};
  const auto expect_value = [&](int code, std::string_view fragment,
                                std::vector<std::string> values) {
    values.insert(values.begin(), data.begin(), data.end());
    expect_of_training(code, fragment, values);
  };
  expect_value(kUsageError, "--threads: expected a number of at least 1 and below 1025, got 0",
               {"--threads", "0"});
  expect_value(kUsageError, "--batch_size: expected a number of at least 1, got 0",
               {"--batch_size", "0"});
  expect_value(kUsageError, "--max_steps: expected a number of at least 0, got -4",
               {"--max_steps", "-4"});
  expect_value(kUsageError, "--lr: expected a number of at least 0, got -1", {"--lr", "-1"});
  expect_value(kUsageError,
               "--epochs: expected a number of at least 0 and below 1000000000, got many",
               {"--epochs", "many"});
  expect_value(kUsageError,
               "--epochs: expected a number of at least 0 and below 1000000000, got 3.5x",
               {"--epochs", "3.5x"});
  expect_value(kUsageError, "below 1000000000, got 1e30", {"--epochs", "1e30"});
  expect_value(kUsageError, "--max_steps: expected a whole number, got 3.5",
               {"--max_steps", "3.5"});
  expect_value(kUsageError, "--seed: expected a whole number of at least 0, got -1",
               {"--seed", "-1"});
  expect_value(kUsageError,
               "--validation_split: expected a number of at least 0 and below 1, got 10%",
               {"--validation_split", "10%"});
  expect_value(kUsageError, "below 1, got 1;", {"--validation_split", "1"});
  expect_value(kUserError, "no parameter matches 'bart.*' of --freeze", {"--freeze", "bart.*"});
}

TEST_F(Refusal, OfValuesThatOtherOptionsRuleOut) {
  const auto expect_of_pruning = [&](std::string_view fragment, std::vector<std::string> more) {
    more.insert(more.begin(), {"prune", "tiny", "--data", "reviews.csv", "-o", "out"});
    expect(kUsageError, fragment, more);
  };
  expect_of_pruning("--sparsity: expected a share from 0 to below 1, got 1",
                    {"--structure", "heads", "--sparsity", "1"});
  expect_of_pruning("give --epochs or --max_steps too", {"--schedule", "cubic"});
  expect_of_pruning("--scope must be local", {"--structure", "2:4", "--scope", "global"});
  expect(kUsageError, "--png adds a .png to an .svg", {"draw", "tiny", "-o", "x.pdf", "--png"});
  expect(kUsageError, "--warmup: 5 calls of 3 would leave none",
         {"bench", "tiny", "--iterations", "3", "--warmup", "5"});
  expect_of_training(kUsageError, "--lr_scheduler_type constant has no warm-up",
                     {"--data", "synth:lookup?n=300&test=60", "-o", "out", "--lr_scheduler_type",
                      "constant", "--warmup_steps", "3"});
}

TEST_F(Refusal, OfTwoSourcesAtOnce) {
  expect(kUsageError, "TEXT excludes --data",
         {"predict", "model", "text", "--data", "reviews.csv"});
  expect(
      kUsageError, "--qat or --format, not both",
      {"bench", "tiny", "--qat", "integer(width=8,frac=4)", "--format", "integer(width=8,frac=4)"});
}

TEST_F(Refusal, OfAFormatNamesTheNearest) {
  const auto expect_format = [&](std::string_view fragment, const std::string& format) {
    expect(kUsageError, fragment,
           {"quantize", "tiny", "--format", format, "--data", "synth:lookup", "-o", "out"});
  };
  expect_format("--format: unknown format 'intger'; did you mean 'integer'?", "intger(width=8)");
  expect_format("format integer has no parameter 'widt'; did you mean 'width'?", "integer(widt=8)");
  expect_format("the closing parenthesis is missing", "integer(width=8");
}

// The values are refused before the model or the data is read.
TEST_F(Refusal, OfAWordThatAFlagDoesNotKnowNamesTheFlag) {
  const std::vector<std::string> eval = {"eval", "nowhere", "--data", "nothing.csv"};
  const auto expect_word = [&](std::string_view fragment, std::vector<std::string> arguments,
                               std::initializer_list<const char*> more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect(kUsageError, fragment, arguments);
  };
  expect_word("--split: expected train, validation, test or all, got 'tets'; did you mean 'test'?",
              eval, {"--split", "tets"});
  expect_word("--protocol: expected honest or original, got 'orignal'; did you mean 'original'?",
              eval, {"--protocol", "orignal"});
  for (const char* command : {"predict", "compare-formats", "quantize", "widths"})
    expect_word("--split: expected train, validation, test or all, got 'dev';",
                {command, "nowhere", "--data", "nothing.csv", "-o", "out"}, {"--split", "dev"});
  expect_word("--fields: expected some of id, file, text, text_pair, label, ",
              {"predict", "nowhere", "a film", "--json"}, {"--fields", "id,lable"});
  for (const char* flag : {"--format", "--weight_format", "--output_format"})
    expect_word(fmt::format("{}: unknown format 'bf61'", flag),
                {"quantize", "tiny", "--data", "synth:lookup", "-o", "out"}, {flag, "bf61"});
  expect_word("--format: unknown format 'none'", {"suggest", "tiny", "--data", "synth:lookup"},
              {"--format", "none"});
  expect_word("--qat: unknown format 'bf61'", {"bench", "tiny"}, {"--qat", "bf61"});
  expect_word("--candidate: unknown format ''",
              {"compare-formats", "tiny", "--data", "synth:lookup"}, {"--candidate", ""});
  expect_word("FORMAT: unknown format 'bf61'", {"formats"}, {"bf61"});
}

TEST_F(Refusal, OfParametersToFreezeNamesTheFlag) {
  expect(kUserError, "no parameter matches 'bart.*' of --freeze; `hone inspect` lists them",
         {"inspect", "tiny", "--freeze", "bart.*"});
  const std::string nothing = "--freeze: expected a glob of parameters, got nothing";
  expect(kUsageError, nothing, {"inspect", "tiny", "--freeze", ""});
  expect_of_training(kUsageError, nothing,
                     {"--data", "synth:lookup?n=300&test=60", "-o", "out", "--freeze", ""});
}

TEST_F(Refusal, OfAFolderThatExists) {
  expect_of_training(kUserError, "mine: exists already and has no record.json of this program",
                     {"--data", "synth:lookup?n=300&test=60", "-o", "mine"});
}

TEST_F(Refusal, OfDataSaysWhatIsThere) {
  expect_of_training(kUserError, "no column 'text'; the columns are: 'review', 'class'",
                     {"--data", "reviews.csv", "--text_column", "text", "-o", "out"});
  expect_of_training(kUserError, "no column 'label'; the columns are: 'review', 'class'",
                     {"--data", "reviews.csv", "--label_column", "label", "-o", "out"});
  expect_of_training(kUserError, "missing.csv", {"--data", "missing.csv", "-o", "out"});
  expect_of_training(kUserError, "did you mean 'lookup'?", {"--data", "synth:lokup", "-o", "out"});
  expect_of_training(kUserError, "unknown parameter 'm'",
                     {"--data", "synth:lookup?m=3", "-o", "out"});
}

TEST_F(Refusal, OfWorkThatDoesNotFitIntoMemory) {
  expect(kUserError, "not enough memory: a run of 400,000,000 texts of 512 tokens needs about ",
         {"bench", "tiny", "--batch_size", "400000000", "--tokens", "512"});
}

// Column names in untrusted files must not send control sequences to the terminal.
TEST_F(Refusal, ShowsControlCharactersAsWhatTheyAre) {
  const TemporaryFolder folder;
  folder.file("bell.csv", "a\x1b[2J\a,b\nfine,1\n");
  const Ending ending = run_hone(
      {"train", "tiny", "--data", "bell.csv", "--text_column", "text", "-o", "out"}, folder.path());
  EXPECT_EQ(ending.code, kUserError);
  EXPECT_NE(ending.messages.find("a\\x1b[2J\\x07"), std::string::npos) << ending.messages;
}

TEST_F(Refusal, OfAMissingModelNamesIt) {
  const std::string message = "nothing: no such model folder";
  expect(kUserError, message, {"train", "nothing", "--data", "synth:lookup?n=9", "-o", "out"});
  expect(kUserError, message, {"eval", "nothing", "--data", "synth:lookup?n=9"});
  expect(kUserError, message, {"predict", "nothing", "text"});
  expect(kUserError, message, {"inspect", "nothing"});
  expect(kUserError, message, {"draw", "nothing", "-o", "graph.svg"});
  expect(kUserError, message, {"bench", "nothing"});
  // A folder that contains no model.
  expect(kUserError, "config.json", {"inspect", "mine"});
  // Built-in shapes are suggested as well.
  expect(kUserError, "did you mean 'tiny'?",
         {"train", "tinny", "--data", "synth:lookup?n=9", "-o", "out"});
}

// `shrink` and `search` write report folders that contain models.
TEST_F(Refusal, OfAFolderAroundAModelNamesTheModel) {
  const std::string around = workshop();
  expect(kUserError, around + ": not a model folder: it has no config.json; ",
         {"predict", around, "text"});
  expect(kUserError, around + "/model", {"inspect", around});
}

TEST_F(Refusal, OfAQuantizedModelToBeQuantizedAgain) {
  const TemporaryFolder folder;
  const std::vector<std::string> job = {"--format", "integer(width=8,frac=4)", "--data",
                                        workshop() / "reviews.csv", "-o"};
  run_well({"quantize", workshop() / "model", job[0], job[1], job[2], job[3], job[4],
            folder.path() / "quantized"},
           folder.path());
  const Ending again = run_hone(
      {"quantize", "quantized", job[0], job[1], job[2], job[3], job[4], "again"}, folder.path());
  EXPECT_EQ(again.code, kUserError);
  EXPECT_NE(again.messages.find("query: its input is already quantized"), std::string::npos)
      << again.messages;
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"quantized"});
}

TEST_F(Refusal, OfDrawingsNamesTheChoices) {
  expect(kUserError, "expected .svg, .png, .pdf or .dot", {"draw", "tiny", "-o", "graph.jpg"});
  expect(kUsageError, "did you mean 'input_ids'?",
         {"draw", "tiny", "-o", "graph.dot", "--inputs", "input_id"});
  expect(kUsageError, "input_ids cannot be left out",
         {"draw", "tiny", "-o", "graph.dot", "--inputs", "labels"});
}

// `hone shrink` writes `unproven` instead of `model` if no candidate passes.
TEST_F(Refusal, OfAMissingModelNamesThoseBesideIt) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "small/unproven");
  fs::copy_file(workshop() / "model/config.json", folder.path() / "small/unproven/config.json");
  const Ending ending = run_hone({"predict", "small/model", "a text"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("small contains small/unproven (not shown"), std::string::npos)
      << ending.messages;
  for (const char* word : {"Hugging Face", "hf download"})
    EXPECT_EQ(ending.messages.find(word), std::string::npos) << ending.messages;
}

TEST_F(Refusal, OfAModelWhoseRunWasInterruptedSaysHowToGoOn) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "long.partial/checkpoint-30");
  for (const char* file : {"config.json", "trainer_state.json"})
    write_file(folder.path() / "long.partial/checkpoint-30" / file, "{}");
  const Ending ending =
      run_hone({"eval", "long", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  for (const char* word : {"long.partial", "--resume", "long.partial/checkpoint-30"})
    EXPECT_NE(ending.messages.find(word), std::string::npos) << word << "\n" << ending.messages;
  EXPECT_EQ(ending.messages.find("hf download"), std::string::npos) << ending.messages;
}

TEST_F(Refusal, OfAMistypedModelNamesTheNearFolder) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "my-model");
  fs::copy_file(workshop() / "model/config.json", folder.path() / "my-model/config.json");
  const Ending ending =
      run_hone({"eval", "mymodel", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_EQ(ending.code, 1);
  EXPECT_NE(ending.messages.find("did you mean 'my-model'?"), std::string::npos) << ending.messages;
  EXPECT_EQ(ending.messages.find("hf download"), std::string::npos) << ending.messages;
}

}  // namespace
}  // namespace hone::testing
