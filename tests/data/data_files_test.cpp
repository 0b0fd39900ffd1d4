#include "hone/data/data_files.h"

#include <gtest/gtest.h>

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
  // Paths below the folder.
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
            (Names{"left out, for they are named neither train, validation nor test: "
                   "unsupervised-00000-of-00001.parquet"}));
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

TEST(DataFiles, AskWhichOfSeveralFoldersIsMeant) {
  const Files files({"mnli/train.csv", "sst2/train.csv"});
  expect_user_error("several folders in it have data: mnli, sst2; name one of them, e.g. " +
                        (files.path() / "mnli").string(),
                    [&] { files.find(); });
}

TEST(DataFiles, AskWhichOfTwoKindsIsMeant) {
  const Files files({"train.csv", "train.jsonl"});
  expect_user_error("two kinds of files for one part: train.csv and train.jsonl; leave one",
                    [&] { files.find(); });
}

TEST(DataFiles, NameTheShardThatIsMissing) {
  const Files files({"train-00000-of-00003.csv", "train-00002-of-00003.csv"});
  expect_user_error("shard 1 of 3 is missing beside train-00000-of-00003.csv",
                    [&] { files.find(); });
  const Files mixed({"train-00000-of-00001.csv", "train.csv"});
  expect_user_error("some files of a part are numbered shards and some are not",
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
  const Files files({"notes.txt", "reviews.csv"});
  expect_user_error("found: notes.txt, reviews.csv", [&] { files.find(); });
  expect_user_error(
      "no file of that name in " + files.path().string() + "; there are: notes.txt, reviews.csv",
      [&] { files.find("*.parquet"); });
  expect_user_error("no such folder", [&] { files.find("no/*.csv"); });
  expect_user_error("no such file or folder", [&] { files.find("no.csv"); });
  const Files none({});
  expect_user_error("found: nothing", [&] { none.find(); });
}

}  // namespace
}  // namespace hone
