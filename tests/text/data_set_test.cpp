#include "hone/text/data_set.h"

#include <gtest/gtest.h>

#include "tests/text/temporary_folder.h"
#include "tests/text/user_error.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

std::vector<std::string> texts(const std::vector<Example>& examples) {
  std::vector<std::string> result;
  for (const Example& example : examples) result.push_back(example.text);
  return result;
}

std::vector<std::int32_t> labels(const std::vector<Example>& examples) {
  std::vector<std::int32_t> result;
  for (const Example& example : examples) result.push_back(example.label);
  return result;
}

DataSet load(const fs::path& path) { return load_data_set({.source = path.string()}); }

TEST(ReviewFolder, ReadsNegativeThenPositiveByFileName) {
  TemporaryFolder folder;
  folder.write("train/pos/2_9.txt", "good<br />film");
  folder.write("train/neg/1_2.txt", "bad");
  folder.write("train/neg/0_1.txt", "awful");
  folder.write("train/neg/urls.html", "no review");
  folder.write("test/neg/0_1.txt", "worse");
  folder.write("test/pos/0_8.txt", "better");
  const DataSet data = load(folder.path());
  EXPECT_EQ(texts(data.train), (Names{"awful", "bad", "good<br />film"}));
  EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{0, 0, 1}));
  EXPECT_EQ(texts(data.test), (Names{"worse", "better"}));
  EXPECT_EQ(labels(data.test), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(data.label_names, (Names{"neg", "pos"}));
}

TEST(ReviewFolder, NamesWhatIsMissing) {
  TemporaryFolder folder;
  expect_user_error([&] { load(folder.path()); },
                    "train/neg: no such folder; expected the layout of aclImdb");
  fs::create_directories(folder.path() / "train/neg");
  fs::create_directories(folder.path() / "train/pos");
  expect_user_error([&] { load(folder.path()); }, "no .txt files in train/neg and train/pos");
}

TEST(LabelledFile, ReadsCsvIntoTrain) {
  TemporaryFolder folder;
  const DataSet data = load(folder.write("d.csv", "id,text,label\n1,\"a, b\",1\n2,c,0\n"));
  EXPECT_EQ(texts(data.train), (Names{"a, b", "c"}));
  EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{1, 0}));
  EXPECT_TRUE(data.test.empty());
  EXPECT_EQ(data.label_names, (Names{"0", "1"}));
}

TEST(LabelledFile, ReadsTsvWithOtherColumns) {
  TemporaryFolder folder;
  const fs::path path = folder.write("d.tsv", "sentence\tclass\na, b\tyes\nc\tno\n");
  const DataSet data =
      load_data_set({.source = path.string(), .text_column = "sentence", .label_column = "class"});
  EXPECT_EQ(texts(data.train), (Names{"a, b", "c"}));
  EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{1, 0}));
  EXPECT_EQ(data.label_names, (Names{"no", "yes"}));
}

TEST(LabelledFile, ReadsJsonLines) {
  TemporaryFolder folder;
  const DataSet data = load(folder.write(
      "d.jsonl", "{\"text\": \"a\\nb\", \"label\": 1}\n\n{\"label\": 0, \"text\": \"c\"}"));
  EXPECT_EQ(texts(data.train), (Names{"a\nb", "c"}));
  EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{1, 0}));
}

TEST(LabelledFile, NumbersLabelsByKind) {
  struct Case {
    Names cells;
    std::vector<std::int32_t> labels;
    Names names;
  };
  const Case cases[] = {
      {{"2", "0"}, {2, 0}, {"0", "1", "2"}},            // indices, one class without an example
      {{"1", "1"}, {1, 1}, {"0", "1"}},                 // all positive
      {{"0", "0"}, {0, 0}, {"0", "1"}},                 // all negative
      {{"-1", "1", "-1"}, {0, 1, 0}, {"-1", "1"}},      // numbered by value
      {{"10", "9", "1"}, {2, 1, 0}, {"1", "9", "10"}},  // by value, not by spelling
      {{"b", "a", "0"}, {2, 1, 0}, {"0", "a", "b"}},    // by name as soon as one is no integer
  };
  for (const Case& c : cases) {
    TemporaryFolder folder;
    std::string file = "text,label\n";
    for (const std::string& cell : c.cells) file += "t," + cell + "\n";
    const DataSet data = load(folder.write("d.csv", file));
    EXPECT_EQ(labels(data.train), c.labels) << file;
    EXPECT_EQ(data.label_names, c.names) << file;
  }
}

TEST(LabelledFile, UsesTheNamesAModelKnows) {
  TemporaryFolder folder;
  const fs::path path = folder.write("d.csv", "text,label\na,pos\nb,0\n");
  const DataSet data = load_data_set({.source = path.string(), .label_names = {"neg", "pos"}});
  EXPECT_EQ(labels(data.train), (std::vector<std::int32_t>{1, 0}));
  expect_user_error(
      [&] {
        load_data_set({.source = path.string(), .label_names = {"bad", "good"}});
      },
      "d.csv: line 2: unknown label 'pos'; expected one of: bad, good");
}

TEST(LabelledFile, NamesTheRecordAtFault) {
  TemporaryFolder folder;
  const auto refuses = [&](const char* name, const char* text, const std::string& message) {
    const fs::path path = folder.write(name, text);
    expect_user_error([&] { load(path); }, path.string() + ": " + message);
  };
  refuses("d.csv", "", "the file is empty; expected a header line");
  refuses("d.csv", "text,label\n", "the file holds no examples");
  refuses("d.csv", "texts,label\na,1\n",
          "no column 'text'; did you mean 'texts'?; the columns are: texts, label");
  refuses("d.csv", "text,label\na,1\nb,c,0\n", "line 3: expected 2 fields as in the header, got 3");
  refuses("d.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"}\n",
          "line 2: no key 'label'; the keys are: text");
  refuses("d.jsonl", "[1]\n", "line 1: expected a JSON object, got [1]");
  refuses("d.jsonl", "{\"text\": 3, \"label\": 1}\n", "line 1: 'text' is no string: 3");
  refuses("d.jsonl", "{\"text\": \"a\", \"label\": 0.5}\n",
          "line 1: 'label' is neither integer nor string: 0.5");
  refuses("d.jsonl", "{\"text\": \n", "line 1: malformed JSON");
}

TEST(LabelledFile, RefusesAColumnThatIsNoLabel) {
  TemporaryFolder folder;
  std::string file = "text,label\n";
  for (int i = 0; i < 1001; ++i) file += fmt::format("t,name{}\n", i);
  const fs::path path = folder.write("d.csv", file);
  expect_user_error([&] { load(path); }, "the label column has 1001 different values");
}

TEST(DataSet, RefusesSourcesItDoesNotKnow) {
  TemporaryFolder folder;
  expect_user_error([] { load("no/such.csv"); }, "data 'no/such.csv': no such file or folder");
  const fs::path path = folder.write("d.parquet", "");
  expect_user_error([&] { load(path); }, "expected a .csv, .tsv or .jsonl file");
}

}  // namespace
}  // namespace hone
