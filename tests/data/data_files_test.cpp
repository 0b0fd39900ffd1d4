#include "hone/data/data_files.h"

#include <gtest/gtest.h>

#include "hone/data/labelled_file.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

// A folder of empty files.
class Files : public TemporaryFolder {
 public:
  explicit Files(const Names& names) {
    for (const std::string& name : names) file(name, "");
  }
  DataFiles find(const std::string& name = "") const {
    return find_data_files((name.empty() ? path() : path() / name).string());
  }
  // Returns paths relative to the folder.
  Names names(const std::vector<fs::path>& paths) const {
    Names result;
    for (const fs::path& file : paths) result.push_back(fs::relative(file, path()).string());
    return result;
  }
};

TEST(DataFiles, AFileIsTrain) {
  const Files files({"test.jsonl.gz"});
  EXPECT_EQ(files.names(files.find("test.jsonl.gz").train), (Names{"test.jsonl.gz"}));
}

TEST(DataFiles, MayHaveEndingsInCapitals) {
  EXPECT_EQ(labelled_file_ending("A10.CSV"), ".csv");
  EXPECT_EQ(labelled_file_ending("rows.Json.GZ"), ".json.gz");
  EXPECT_EQ(labelled_file_ending("csv"), "");
}

TEST(DataFiles, AreSortedIntoPartsByName) {
  const Files files({"train.csv", "valid.tsv", "test-00001-of-00002.parquet",
                     "test-00000-of-00002.parquet", "README.md", ".train.json"});
  const DataFiles found = files.find();
  EXPECT_EQ(files.names(found.train), (Names{"train.csv"}));
  EXPECT_EQ(files.names(found.validation), (Names{"valid.tsv"}));
  EXPECT_EQ(files.names(found.test),
            (Names{"test-00000-of-00002.parquet", "test-00001-of-00002.parquet"}));
  EXPECT_TRUE(found.notes.empty());
}

TEST(DataFiles, OfOtherNamesAreLeftOut) {
  const Files files({"train-00000-of-00001.parquet", "unsupervised-00000-of-00001.parquet"});
  EXPECT_EQ(files.find().notes,
            (Names{"left out, since they are in no split: unsupervised-00000-of-00001.parquet"}));
}

TEST(DataFiles, MayLieInAFolderOfTheHub) {
  for (const char* folder : {"data", "plain_text"}) {
    const Files files({std::string(folder) + "/train-00000-of-00001.parquet", "README.md",
                       "dataset_infos.json", "scripts/tool.py"});
    EXPECT_EQ(files.names(files.find().train),
              (Names{std::string(folder) + "/train-00000-of-00001.parquet"}));
  }
}

TEST(DataFiles, ThatAreBrokenLinksAreNotPassedOver) {
  const Files files({"test.csv"});
  fs::create_symlink("nowhere", files.path() / "train.csv");
  EXPECT_EQ(files.names(files.find().train).size(), 1u);
}

TEST(DataFiles, SayHowToUnpackThem) {
  const Files files({"train.zip"});
  expect_user_error("unpack it first: unzip ", [&] { files.find(); });
  expect_user_error("unpack it first: unzip ", [&] { files.find("train.zip"); });
}

/// A folder of empty files and a README.md that begins with this block.
class Card : public Files {
 public:
  explicit Card(const std::string& configs)
      : Files({"a.csv", "b.csv", "sub/c.csv", "sub/deep/d.csv", "train.csv", "test.csv"}) {
    file("README.md", "---\nlicense: mit\nconfigs:\n" + configs + "---\n# Reviews\n");
  }
  Names train() const { return names(find().train); }
};

// The expected values are those of load_dataset of `datasets` on the same folders.
TEST(DataFiles, AreThoseOfTheCard) {
  const Card named(
      "- config_name: default\n  data_files:\n  - split: train\n    path: [b.csv, a.csv]\n"
      "  - split: test\n    path: sub/*.csv\n");
  const DataFiles found = named.find();
  EXPECT_EQ(named.names(found.train), (Names{"b.csv", "a.csv"}));
  EXPECT_EQ(named.names(found.test), (Names{"sub/c.csv"}));
  EXPECT_EQ(Card("- config_name: x\n  data_files: a.csv\n").train(), (Names{"a.csv"}));
  EXPECT_EQ(Card("- config_name: x\n  data_files:\n  - b.csv\n  - a.csv\n").train(),
            (Names{"b.csv", "a.csv"}));
  const auto of_glob = [](const std::string& glob) {
    return Card("- config_name: x\n  data_files: '" + glob + "'\n").train();
  };
  EXPECT_EQ(of_glob("sub/**"), (Names{"sub/c.csv", "sub/deep/d.csv"}));
  EXPECT_EQ(of_glob("**/d.csv"), (Names{"sub/deep/d.csv"}));
  EXPECT_EQ(of_glob("**/[ab].csv"), (Names{"a.csv", "b.csv"}));
  EXPECT_EQ(Card("- config_name: x\n  data_dir: sub\n").train(),
            (Names{"sub/c.csv", "sub/deep/d.csv"}));
}

TEST(DataFiles, AreThoseOfTheDefaultConfig) {
  const std::string x = "- config_name: x\n  data_files: a.csv\n";
  EXPECT_EQ(Card(x + "- config_name: y\n  default: true\n  data_files: b.csv\n").train(),
            (Names{"b.csv"}));
  EXPECT_EQ(Card(x + "- config_name: default\n  data_files: b.csv\n").train(), (Names{"b.csv"}));
  const Card several(x + "- config_name: y\n  data_files: b.csv\n");
  expect_user_error("README.md: 0 of the configs x, y are marked as the default",
                    [&] { several.find(); });
  expect_user_error("choose one, as in '" + several.path().string() + "?config=x'",
                    [&] { several.find(); });
}

// The expected values are those of load_dataset(folder, name).
TEST(DataFiles, AreThoseOfTheConfigThatIsAskedFor) {
  const Card card(
      "- config_name: x\n  data_files: a.csv\n- config_name: y\n  default: true\n"
      "  data_files:\n  - split: train\n    path: b.csv\n  - split: test\n    path: test.csv\n");
  const auto find = [&](const std::string& parameter) {
    return find_data_files(card.path().string() + parameter);
  };
  EXPECT_EQ(card.names(find("").train), (Names{"b.csv"}));
  EXPECT_EQ(card.names(find("?config=x").train), (Names{"a.csv"}));
  EXPECT_TRUE(find("?config=x").test.empty());
  EXPECT_EQ(card.names(find("?config=y").test), (Names{"test.csv"}));
  expect_user_error("README.md: expected one of the configs x, y, got 'z'",
                    [&] { find("?config=z"); });
  expect_user_error("README.md: expected one of the configs x, y, got ''",
                    [&] { find("?config="); });
  expect_user_error("expected config=NAME after the '?', got 'name=x'", [&] { find("?name=x"); });
  const Files plain({"a.csv"});
  expect_user_error("README.md: there is no card with configs; leave ?config= out",
                    [&] { find_data_files(plain.path().string() + "?config=x"); });
}

TEST(DataFiles, OfCardsAreRefusedWhereTheyAreNot) {
  const auto refuses = [](const std::string& configs, const std::string& message) {
    const Card card(configs);
    expect_user_error(message, [&] { card.find(); });
  };
  refuses("- config_name: x\n  data_files: z*.csv\n",
          "config 'x': no data file is called 'z*.csv'");
  refuses("- config_name: [x\n", "README.md: line 5: the block at the top is not YAML: ");
  refuses("- data_files: a.csv\n",
          "README.md: line 4: configs: expected an entry with a `config_name`");
  refuses("- config_name: x\n  data_files:\n  - split: train\n",
          "line 6: configs: expected an entry with `split` and `path`, got {split: train}");
}

TEST(DataFiles, AskWhichOfTwoKindsIsMeant) {
  const Files files({"train.csv", "train.jsonl"});
  expect_user_error("two kinds of files for one split: train.csv and train.jsonl; leave one",
                    [&] { files.find(); });
}

TEST(DataFiles, NameTheShardThatIsMissing) {
  const Files files({"train-00000-of-00003.csv", "train-00002-of-00003.csv"});
  expect_user_error("shard 1 of 3 is missing beside train-00000-of-00003.csv",
                    [&] { files.find(); });
  const Files mixed({"train-00000-of-00001.csv", "train.csv"});
  expect_user_error("some files of a split are numbered shards and some are not",
                    [&] { mixed.find(); });
}

TEST(DataFiles, OfAGlobOverOnePartAreTrain) {
  const Files files({"part-1.csv", "part-2.csv", "other.csv"});
  EXPECT_EQ(files.names(files.find("part-*.csv").train), (Names{"part-1.csv", "part-2.csv"}));
  const Files test({"test-1.csv", "test-2.csv"});
  EXPECT_EQ(test.names(test.find("test-?.csv").train), (Names{"test-1.csv", "test-2.csv"}));
}

TEST(DataFiles, OfAGlobOverPartsStayApart) {
  const Files files({"train-a.csv", "test-a.csv", "test-b.csv"});
  const DataFiles found = files.find("*-a.csv");
  EXPECT_EQ(files.names(found.train), (Names{"train-a.csv"}));
  EXPECT_EQ(files.names(found.test), (Names{"test-a.csv"}));
}

TEST(DataFiles, NameWhatIsThereWhenNothingFits) {
  const Files texts({"notes.txt"});
  expect_user_error("found: notes.txt", [&] { texts.find(); });
  const Files files({"notes.txt", "reviews.csv"});
  expect_user_error(
      "no file of that name in " + files.path().string() + "; there are: notes.txt, reviews.csv",
      [&] { files.find("*.parquet"); });
  expect_user_error("no such folder", [&] { files.find("no/*.csv"); });
  expect_user_error("no such file or folder; expected a folder", [&] { files.find("no.csv"); });
  expect_user_error("did you mean '" + (files.path() / "reviews.csv").string() + "'?",
                    [&] { files.find("reveiws.csv"); });
  const Files none({});
  expect_user_error("found: nothing", [&] { none.find(); });
}

/// Returns the splits of a folder of these files, as "train: a.csv b.csv; test: c.csv".
std::string splits_of(const Names& names, const std::string& split = "") {
  const Files files(names);
  const DataFiles found = find_data_files(files.path().string(), split);
  std::string text;
  const auto add = [&](const char* role, const std::vector<fs::path>& paths) {
    if (paths.empty()) return;
    text += fmt::format("{}{}:", text.empty() ? "" : "; ", role);
    for (const std::string& name : files.names(paths)) text += ' ' + name;
  };
  add("train", found.train);
  add("validation", found.validation);
  add("test", found.test);
  return text;
}

// The expected values are those of `datasets` 5.2 for the same files (get_data_patterns).
TEST(DataFiles, AreSortedByTheKeywordsOfDatasets) {
  const std::pair<Names, std::string> cases[] = {
      {{"training.csv", "valid.csv", "testing.csv"},
       "train: training.csv; validation: valid.csv; test: testing.csv"},
      {{"train.csv", "val.csv", "evaluation.csv"},
       "train: train.csv; validation: val.csv; test: evaluation.csv"},
      {{"train.csv", "dev.csv", "eval.csv"},
       "train: train.csv; validation: dev.csv; test: eval.csv"},
      {{"imdb_train.csv", "imdb_test.csv"}, "train: imdb_train.csv; test: imdb_test.csv"},
      {{"train_set.csv", "dev_set.csv", "test_set.csv"},
       "train: train_set.csv; validation: dev_set.csv; test: test_set.csv"},
      {{"my train.csv", "2020test.csv"}, "train: my train.csv; test: 2020test.csv"},
      {{"train.csv", "contest.csv", "testset.csv", "latest.csv"}, "train: train.csv"},
      {{"train_1.csv", "train_2.csv", "test.csv"},
       "train: train_1.csv train_2.csv; test: test.csv"},
      {{"data/train/part.csv", "data/test/part.csv"},
       "train: data/train/part.csv; test: data/test/part.csv"},
      {{"default/train/0000.parquet", "default/test/0000.parquet"},
       "train: default/train/0000.parquet; test: default/test/0000.parquet"},
      {{"train/eval.csv", "test/train.csv"}, "train: train/eval.csv; test: test/train.csv"},
      {{"train/a/b.csv", "train/c.csv", "test.csv"}, "train: train/a/b.csv train/c.csv"},
      {{"train.csv", "test.csv", "sample_submission.csv"}, "train: train.csv; test: test.csv"},
      {{"train.csv", "validation_matched.csv", "validation_mismatched.csv"},
       "train: train.csv; validation: validation_matched.csv validation_mismatched.csv"},
      {{"reviews.csv", "README.md", "dataset_info.json"}, "train: reviews.csv"},
      {{"a.csv", "b.csv"}, "train: a.csv b.csv"},
      {{"__old/train.csv", ".cache/train.csv", "train.csv"}, "train: train.csv"}};
  for (const auto& [names, expected] : cases) EXPECT_EQ(splits_of(names), expected);
}

TEST(DataFiles, WithCapitalsAreSortedToo) {
  EXPECT_EQ(splits_of({"Train.csv", "TEST.csv"}), "train: Train.csv; test: TEST.csv");
}

TEST(DataFiles, OfTheHubsDataFolderHaveSplitsOfTheirOwnNames) {
  const Names names = {
      "data/test_matched-00000-of-00001.parquet", "data/train-00000-of-00001.parquet",
      "data/unsupervised-00000-of-00001.parquet", "data/validation_matched-00000-of-00001.parquet",
      "data/validation_mismatched-00000-of-00001.parquet"};
  const auto without = [&](std::size_t validation) {
    return fmt::format("train: {}; validation: {}; test: {}", names[1], names[validation],
                       names[0]);
  };
  EXPECT_EQ(splits_of(names), without(3));
  EXPECT_EQ(splits_of(names, "validation_mismatched"), without(4));
  EXPECT_EQ(splits_of(names, "unsupervised"),
            fmt::format("train: {}; validation: {}; test: {}", names[1], names[3], names[2]));
  const DataFiles found = find_data_files(Files(names).path().string(), "validation_mismatched");
  EXPECT_EQ(found.requested->first, "validation_mismatched");
  EXPECT_EQ(found.requested->second, SplitRole::validation);
  const auto notes = [&](const std::string& split) {
    std::string text;
    for (const std::string& note : find_data_files(Files(names).path().string(), split).notes)
      text += note + '\n';
    return text;
  };
  const std::string_view taken =
      "validation: the split validation_matched of "
      "validation_matched, validation_mismatched";
  EXPECT_NE(notes("").find(taken), std::string::npos) << notes("");
  EXPECT_NE(notes("").find("left out: the splits unsupervised"), std::string::npos) << notes("");
  EXPECT_EQ(notes("validation_mismatched").find(taken), std::string::npos);
  EXPECT_EQ(notes("unsupervised").find("left out"), std::string::npos);
}

TEST(DataFiles, OfOneRoleAreChosenByTheirOwnName) {
  const Names names = {"train.csv", "validation_matched.csv", "validation_mismatched.csv"};
  EXPECT_EQ(splits_of(names, "validation_mismatched"),
            "train: train.csv; validation: validation_mismatched.csv");
  expect_user_error(
      "train, validation_matched, validation_mismatched, got 'validation_matchd'; "
      "did you mean 'validation_matched'?",
      [&] { splits_of(names, "validation_matchd"); });
}

// The expected values are those of load_dataset of `datasets` on the same folders.
TEST(DataFiles, OfSeveralFoldersAreJoinedInTheOrderOfTheirPaths) {
  const std::pair<Names, std::string> cases[] = {
      {{"first/train.csv", "second/test.csv"}, "train: first/train.csv; test: second/test.csv"},
      {{"train/b/x.csv", "train/a/y.csv", "train/a/x.csv", "test/q/1.csv"},
       "train: train/a/x.csv train/a/y.csv train/b/x.csv; test: test/q/1.csv"},
      {{"mnli/train.csv", "sst2/train.csv", "sst2/test.csv"},
       "train: mnli/train.csv sst2/train.csv; test: sst2/test.csv"},
      {{"train.csv", "old/train.csv", "data/train.csv"},
       "train: data/train.csv old/train.csv train.csv"},
      {{"data/train/1.csv", "train/2.csv", "data/train-00000-of-00001.csv"},
       "train: data/train-00000-of-00001.csv"},
      {{"b/1.csv", "a/2.csv", "c.csv"}, "train: a/2.csv b/1.csv c.csv"},
      {{"train/10.csv", "train/9.csv", "train/sub/0.csv", "train_more/5.csv", "x/train/1.csv"},
       "train: train/10.csv train/9.csv train/sub/0.csv x/train/1.csv train_more/5.csv"},
      {{"data/en/train-00000-of-00001.csv", "data/de/train-00000-of-00001.csv"},
       "train: data/de/train-00000-of-00001.csv data/en/train-00000-of-00001.csv"},
      {{"en/train/0.csv", "en/test.csv", "de/train/0.csv"}, "train: de/train/0.csv en/train/0.csv"},
      {{"B/train.csv", "a/train.csv", "a-b/train.csv", "a/b/train.csv", "a.csv/train.csv"},
       "train: B/train.csv a-b/train.csv a.csv/train.csv a/b/train.csv a/train.csv"}};
  for (const auto& [names, expected] : cases) EXPECT_EQ(splits_of(names), expected);
  const Files files({"mnli/train.csv", "sst2/train.csv", "train.csv", "test.csv"});
  EXPECT_EQ(files.find().notes,
            (Names{"files of one split in several folders are joined: ., mnli, sst2; name one of "
                   "them to read it alone"}));
}

}  // namespace
}  // namespace hone
