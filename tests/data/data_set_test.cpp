#include "hone/data/data_set.h"

#include <gtest/gtest.h>

#include <fstream>

#include "hone/base/hash.h"
#include "hone/data/row_hash.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Labels = std::vector<std::int32_t>;

Names texts(const std::vector<Example>& examples) {
  Names result;
  for (const Example& example : examples) result.push_back(example.text);
  return result;
}

Labels labels(const std::vector<Example>& examples) {
  Labels result;
  for (const Example& example : examples) result.push_back(example.label);
  return result;
}

DataSet load(DataOptions options) {
  static ThreadPool pool(2);
  return load_data_set(options, pool);
}
DataSet load(const fs::path& path) { return load(DataOptions{.source = path.string()}); }

TEST(ReviewFolder, ReadsNegativeThenPositiveByFileName) {
  TemporaryFolder folder;
  folder.file("train/pos/2_9.txt", "good<br />film");
  folder.file("train/neg/1_2.txt", "bad");
  folder.file("train/neg/0_1.txt", "awful");
  folder.file("train/neg/urls.html", "no review");
  folder.file("train/unsup/0_0.txt", "who knows");
  folder.file("test/neg/0_1.txt", "worse");
  folder.file("test/pos/0_8.txt", "better");
  const DataSet data = load(folder.path());
  EXPECT_EQ(texts(data.train), (Names{"awful", "bad", "good<br />film"}));
  EXPECT_EQ(labels(data.train), (Labels{0, 0, 1}));
  EXPECT_EQ(texts(data.test), (Names{"worse", "better"}));
  EXPECT_EQ(labels(data.test), (Labels{0, 1}));
  EXPECT_EQ(data.label_names, (Names{"neg", "pos"}));
  EXPECT_EQ(data.description, folder.path().string() + ": 3 train, 2 test");
  EXPECT_EQ(data.notes, (Names{"left out: train/unsup, reviews without labels"}));
}

TEST(ReviewFolder, ReadsManyFilesInOrder) {
  TemporaryFolder folder;
  folder.file("train/pos/0.txt", "good");
  folder.file("train/neg/000.txt", "0");
  for (int i = 1; i < 300; ++i)
    std::ofstream(folder.path() / fmt::format("train/neg/{:03}.txt", i)) << i;
  const DataSet data = load(folder.path());
  ASSERT_EQ(data.train.size(), 301u);
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(data.train[i].text, std::to_string(i));
}

TEST(ReviewFolder, MatchesTheClassesOfAModel) {
  TemporaryFolder folder;
  folder.file("train/pos/0.txt", "good");
  folder.file("train/neg/0.txt", "bad");
  DataOptions options{.source = folder.path().string(), .label_names = {"pos", "neg"}};
  EXPECT_EQ(labels(load(options).train), (Labels{1, 0}));
  options.label_names = {"NEGATIVE", "POSITIVE"};
  expect_user_error("label 'neg' is not one of the model's classes: NEGATIVE, POSITIVE",
                    [&] { load(options); });
  options.label_map = "neg=NEGATIVE,pos=POSITIVE";
  const DataSet data = load(options);
  EXPECT_EQ(labels(data.train), (Labels{0, 1}));
  EXPECT_EQ(data.label_names, options.label_names);
}

TEST(ReviewFolder, NamesWhatIsMissing) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "train/neg");
  expect_user_error("train/pos: No such file or directory; expected the layout of aclImdb",
                    [&] { load(folder.path()); });
  fs::create_directories(folder.path() / "train/pos");
  expect_user_error("train: no .txt files in neg and pos", [&] { load(folder.path()); });
}

TEST(ReviewFolder, UnderStrictNamesTheFileThatIsNotUtf8) {
  TemporaryFolder folder;
  folder.file("train/pos/0.txt", "caf\xe9");
  folder.file("train/neg/0.txt", "bad");
  EXPECT_EQ(load(folder.path()).train[1].text, "caf\xe9");
  expect_user_error("train/pos/0.txt: the text is not UTF-8; name its encoding",
                    [&] { load({.source = folder.path().string(), .strict = true}); });
}

TEST(LabelledFile, IsAllTrain) {
  TemporaryFolder folder;
  const DataSet data = load(folder.file("test.csv", "id,text,label\n1,\"a, b\",1\n2,c,0\n"));
  EXPECT_EQ(texts(data.train), (Names{"a, b", "c"}));
  EXPECT_EQ(labels(data.train), (Labels{1, 0}));
  EXPECT_TRUE(data.validation.empty());
  EXPECT_TRUE(data.test.empty());
  EXPECT_EQ(data.label_names, (Names{"0", "1"}));
  EXPECT_TRUE(data.notes.empty());
  EXPECT_TRUE(data.warnings.empty());
}

TEST(LabelledFile, ReadsTsvWithOtherColumns) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.tsv", "body\tclass\tmood\na, b\tyes\tx\nc\tno\ty\n");
  const DataSet data =
      load({.source = path.string(), .text_column = "body", .label_column = "mood"});
  EXPECT_EQ(texts(data.train), (Names{"a, b", "c"}));
  EXPECT_EQ(data.label_names, (Names{"x", "y"}));
}

TEST(LabelledFile, SaysWhichColumnsItTook) {
  TemporaryFolder folder;
  const DataSet data = load(folder.file("d.csv", "Review,stars\nfine,5\nbad,1\n"));
  EXPECT_EQ(texts(data.train), (Names{"fine", "bad"}));
  EXPECT_EQ(labels(data.train), (Labels{1, 0}));
  EXPECT_EQ(data.label_names, (Names{"1", "5"}));
  EXPECT_EQ(data.notes, (Names{"the text is column 'Review'", "the label is column 'stars'"}));
}

TEST(LabelledFile, ReadsPairs) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", "premise,hypothesis,label\na,b,0\nc,,1\n");
  const DataSet data = load({.source = path.string(), .text_pair_column = "hypothesis"});
  EXPECT_EQ(texts(data.train), (Names{"a", "c"}));
  EXPECT_EQ(data.train[0].text_pair, "b");
  EXPECT_EQ(data.train[1].text_pair, "");
}

TEST(LabelledFile, CanBeReadWithoutLabels) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", "text,label\na,-1\nb,-1\n");
  const DataSet data = load({.source = path.string(), .labelled = false});
  EXPECT_EQ(texts(data.train), (Names{"a", "b"}));
  EXPECT_EQ(labels(data.train), (Labels{0, 0}));
  EXPECT_TRUE(data.label_names.empty());
}

TEST(LabelledFile, UsesTheNamesAModelKnows) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", "text,label\na,pos \nb,Neg\n");
  EXPECT_EQ(labels(load({.source = path.string(), .label_names = {"neg", "pos"}}).train),
            (Labels{1, 0}));
  expect_user_error(
      path.string() + ": line 2: label 'pos' is not one of the model's classes: bad, good", [&] {
        load({.source = path.string(), .label_names = {"bad", "good"}});
      });
}

TEST(LabelledFile, HasNoMoreClassesThanTheModel) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", "text,label\na,1\nb,0\nc,2\n");
  expect_user_error(
      path.string() + ": line 4: label '2' is not one of the model's classes: LABEL_0, LABEL_1",
      [&] {
        load({.source = path.string(), .label_names = {"LABEL_0", "LABEL_1"}});
      });
}

TEST(LoadDataSet, MatchesMadeClassesWithThoseOfAModel) {
  const DataSet own = load(DataOptions{.source = "synth:tail?n=10"});
  const DataSet other =
      load({.source = "synth:tail?n=10", .label_names = {"Positive", "NEGATIVE"}});
  EXPECT_EQ(own.label_names, (Names{"negative", "positive"}));
  EXPECT_EQ(own.hash, other.hash);
  for (std::size_t i = 0; i < own.train.size(); ++i)
    EXPECT_EQ(own.train[i].label, 1 - other.train[i].label);
  expect_user_error(
      "synth:tail?n=10: label 'negative' is not one of the model's classes: bad, good", [] {
        load({.source = "synth:tail?n=10", .label_names = {"bad", "good"}});
      });
}

TEST(LabelledFile, MayHaveMinusOneAsAClass) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", "text,label\na,-1\nb,1\nc,-1\n");
  const DataSet data = load(path);
  EXPECT_EQ(data.label_names, (Names{"-1", "1"}));
  EXPECT_EQ(labels(data.train), (Labels{0, 1, 0}));
  EXPECT_EQ(labels(load({.source = path.string(), .label_names = {"1", "-1"}}).train),
            (Labels{1, 0, 1}));
}

TEST(LabelledFile, NamesTheRecordAtFault) {
  TemporaryFolder folder;
  const auto refuses = [&](const char* name, const char* text, const std::string& message) {
    const fs::path path = folder.file(name, text);
    expect_user_error(path.string() + ": " + message, [&] { load(path); });
  };
  refuses("d.csv", "", "the file is empty; expected a header line");
  refuses("d.csv", "text,label\n", "the file holds no examples");
  refuses("d.csv", "text,label\na,1\nb,\n", "line 3: the label is empty");
  refuses("d.csv", "text,label\na,\nb,1\nc,\n", "line 2: the label is empty, as in 2 of 3 rows");
  refuses("d.csv", "text,label\na,1\nb,c,0\n",
          "line 3: expected 2 fields as in the first row, got 3");
  refuses("d.csv", "text,label\na,-1\nb,-1\n", "all labels are -1, which means no label");
  refuses("d.jsonl", "", "the file holds no examples");
  refuses("d.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"}\n",
          "line 2: no key 'label'; the keys are: text");
}

TEST(LabelledFile, RefusesAColumnThatIsNoLabel) {
  TemporaryFolder folder;
  std::string file = "text,label\n";
  for (int i = 0; i < 1001; ++i) file += fmt::format("t,name{}\n", i);
  const fs::path path = folder.file("d.csv", file);
  expect_user_error("line 1002: the label column has more than 1000 different values",
                    [&] { load(path); });
}

TEST(LabelledFile, WarnsOfEmptyTexts) {
  TemporaryFolder folder;
  const DataSet data = load(folder.file("d.csv", "text,label\n,1\n \t,0\nc,0\n"));
  EXPECT_EQ(data.train.size(), 3u);
  EXPECT_EQ(data.warnings, (Names{"2 of 3 texts are empty"}));
}

TEST(LabelledFile, KeepsBytesThatAreNotUtf8UnlessStrict) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.csv", std::string("text,label\na\0b,1\ncaf\xe9,0\n", 24));
  EXPECT_EQ(texts(load(path).train), (Names{std::string("a\0b", 3), "caf\xe9"}));
  expect_user_error(
      path.string() + ": line 3: the text is not UTF-8; name its encoding by `encoding`",
      [&] { load({.source = path.string(), .strict = true}); });
}

TEST(LabelledFile, CountsWhatItReplacesInJson) {
  TemporaryFolder folder;
  const fs::path path = folder.file("d.jsonl", "{\"text\": \"caf\xe9\", \"label\": 1}\n");
  const DataSet data = load(path);
  EXPECT_EQ(texts(data.train), (Names{"caf\xef\xbf\xbd"}));
  ASSERT_EQ(data.warnings.size(), 1u);
  EXPECT_NE(data.warnings[0].find(path.string() + ": 1 ill-formed byte was"), std::string::npos);
  expect_user_error(path.string() + ": line 1: the text is not UTF-8; name its encoding",
                    [&] { load({.source = path.string(), .strict = true}); });
}

TEST(LabelledFile, IsDecoded) {
  TemporaryFolder folder;
  const fs::path latin = folder.file("latin.csv", "text,label\ncaf\xe9,0\n");
  EXPECT_EQ(texts(load({.source = latin.string(), .form = {.encoding = "latin-1"}}).train),
            Names{"café"});
  EXPECT_EQ(
      texts(
          load({.source = latin.string(), .remembered = {.form = {.encoding = "latin-1"}}}).train),
      Names{"café"})
      << "as when the model was trained";
  const fs::path utf8 = folder.file("utf8.csv", "text,label\ncafé,0\n");
  EXPECT_EQ(
      texts(load({.source = utf8.string(), .remembered = {.form = {.encoding = "latin-1"}}}).train),
      Names{"café"})
      << "what is UTF-8 is read as such";
  const std::string wide(
      "\xff\xfet\0e\0x\0t\0,\0l\0a\0b\0e\0l\0\n\0\xe9\0,\0"
      "1\0\n\0",
      32);
  const DataSet marked = load(folder.file("wide.csv", wide));
  EXPECT_EQ(texts(marked.train), Names{"é"});
  EXPECT_EQ(marked.notes, Names{"read as UTF-16, by its byte order mark"});
  const fs::path review = folder.file("r/train/pos/0.txt", "caf\xe9");
  folder.file("r/train/neg/0.txt", "b");
  EXPECT_EQ(
      texts(
          load({.source = (folder.path() / "r").string(), .form = {.encoding = "latin-1"}}).train),
      (Names{"b", "café"}));
}

TEST(LabelledFile, SaysWhichColumnsWereReadAndHow) {
  TemporaryFolder folder;
  const NamedColumns columns = load(folder.file("d.tsv", "fine\t1\nbad\t0\nso so\t1\n")).columns;
  EXPECT_EQ(columns, (NamedColumns{.text = "0", .label = "1", .form = {.no_header = true}}));
}

TEST(DataFolder, ReadsAllFilesWithTheHeaderOfTheFirst) {
  TemporaryFolder folder;
  folder.file("train.csv", "fine,1\nbad,0\nso so,1\n");
  folder.file("test.csv", "text,label\n");
  const DataSet data = load({.source = folder.path().string(), .labelled = false});
  EXPECT_EQ(texts(data.test), Names{"text"}) << "the first file has no header";
}

TEST(DataFolder, KeepsItsPartsApart) {
  TemporaryFolder folder;
  folder.file("train.csv", "text,label\na,b\nc,d\n");
  folder.file("dev.jsonl", "{\"text\": \"e\", \"label\": \"d\"}\n");
  folder.file("test.tsv", "text\tlabel\nf\tb\n");
  const DataSet data = load(folder.path());
  EXPECT_EQ(texts(data.train), (Names{"a", "c"}));
  EXPECT_EQ(texts(data.validation), (Names{"e"}));
  EXPECT_EQ(texts(data.test), (Names{"f"}));
  EXPECT_EQ(labels(data.train), (Labels{0, 1}));
  EXPECT_EQ(labels(data.validation), (Labels{1}));
  EXPECT_EQ(labels(data.test), (Labels{0}));
  EXPECT_EQ(data.label_names, (Names{"b", "d"}));
  EXPECT_EQ(data.description, folder.path().string() + ": 2 train, 1 validation, 1 test");
}

TEST(DataFolder, ReadsShardsInOrder) {
  TemporaryFolder folder;
  folder.file("train-00001-of-00002.csv", "text,label\nc,0\n");
  folder.file("train-00000-of-00002.csv", "text,label\na,1\nb,0\n");
  EXPECT_EQ(texts(load(folder.path()).train), (Names{"a", "b", "c"}));
}

TEST(DataFolder, NumbersTheLabelsOfAllParts) {
  TemporaryFolder folder;
  folder.file("train.csv", "text,label\na,x\nb,z\n");
  folder.file("test.csv", "text,label\nc,y\n");
  const DataSet data = load(folder.path());
  EXPECT_EQ(labels(data.train), (Labels{0, 2}));
  EXPECT_EQ(labels(data.test), (Labels{1}));
}

TEST(DataFolder, LeavesPartsWithoutLabelsOut) {
  TemporaryFolder folder;
  folder.file("train.csv", "text,label\na,0\nb,1\n");
  folder.file("validation.csv", "text\nc\n");
  folder.file("test.csv", "text,label\nd,-1\ne,-1\n");
  const DataSet data = load(folder.path());
  EXPECT_TRUE(data.validation.empty());
  EXPECT_TRUE(data.test.empty());
  EXPECT_EQ(data.label_names, (Names{"0", "1"}));
  EXPECT_EQ(data.notes, (Names{"left out: the validation split, because it has no labels",
                               "left out: the test split, because all labels are -1"}));
  EXPECT_EQ(texts(load({.source = folder.path().string(), .labelled = false}).test),
            (Names{"d", "e"}));
  folder.file("test.csv", "text,label\nd,\ne,\n");
  EXPECT_EQ(load(folder.path()).notes[1], "left out: the test split, because all labels are empty");
  fs::remove(folder.path() / "test.csv");
  folder.file("test.jsonl",
              "{\"text\": \"d\", \"label\": null}\n{\"text\": \"e\", \"label\": null}\n");
  EXPECT_EQ(load(folder.path()).notes[1], "left out: the test split, because it has no labels");
  folder.file("test.jsonl",
              "{\"text\": \"d\", \"label\": null}\n{\"text\": \"e\", \"label\": 1}\n");
  expect_user_error("line 1: 'label'", [&] { load(folder.path()); });
}

TEST(DataFolder, ReadsAllFilesByTheColumnsOfTheFirst) {
  TemporaryFolder folder;
  folder.file("train.csv", "review,label\na,0\n");
  const fs::path test = folder.file("test.csv", "text,label\nb,1\n");
  expect_user_error(test.string() + ": no column 'review'; the columns are: 'text', 'label'",
                    [&] { load(folder.path()); });
}

TEST(DataSet, HasTheFingerprintOfItsTextsAndLabels) {
  TemporaryFolder folder;
  const std::string rows = "text,label\ngood film,good\nbad film,bad\n";
  folder.file("reviews.csv", rows);
  folder.file("copy.csv", rows);
  folder.file("other_label.csv", "text,label\ngood film,good\nbad film,good\n");
  folder.file("other_text.csv", "text,label\ngood film,good\nbad plot,bad\n");
  folder.file("other_order.csv", "text,label\nbad film,bad\ngood film,good\n");
  const DataSet data = load(folder.path() / "reviews.csv");
  Fingerprint expected;
  expected.add("train 2\n");
  expected.add(fmt::format("{:016x} good\n", row_hash({"good film"})));
  expected.add(fmt::format("{:016x} bad\n", row_hash({"bad film"})));
  EXPECT_EQ(data.hash, expected.text());
  EXPECT_EQ(load(folder.path() / "copy.csv").hash, data.hash);
  for (const char* other : {"other_label.csv", "other_text.csv", "other_order.csv"})
    EXPECT_NE(load(folder.path() / other).hash, data.hash) << other;
}

TEST(DataSet, RefusesSourcesItDoesNotKnow) {
  TemporaryFolder folder;
  expect_user_error("data 'no/such.csv': no such file or folder", [] { load("no/such.csv"); });
  const fs::path path = folder.file("d.xlsx", "");
  expect_user_error(
      "d.xlsx': expected one of .csv, .tsv, .jsonl, .ndjson, .json, .parquet, .arrow, .csv.gz",
      [&] { load(path); });
}

TEST(TextsOf, HasBothTextsOfPairs) {
  const std::vector<Example> examples = {{"a", 0, "b"}, {"c"}};
  EXPECT_EQ(texts_of(examples), (std::vector<std::string_view>{"a", "b", "c"}));
}

}  // namespace
}  // namespace hone
