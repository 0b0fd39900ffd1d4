#include "hone/data/raw_labels.h"

#include <gtest/gtest.h>

#include "hone/data/data_set.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

DataSet load_answers(const fs::path& path, DataOptions options = {}) {
  static ThreadPool pool(2);
  options.source = path.string();
  return load_data_set(options, pool);
}

RawLabel one(const std::string& value) { return {.value = value}; }
RawLabel list(const Names& values) { return {.values = values, .many = true}; }

std::string csv_line(std::size_t row) { return fmt::format("d.csv: line {}", row + 2); }

Task found(const std::vector<RawLabel>& answers) {
  Names notes;
  return find_task(answers, csv_line, notes);
}

const std::string kNumbersNote =
    "the labels are numbers, not all of them integers, so the task is regression; `problem_type` "
    "single_label_classification reads them as class names";
const std::string kListsNote = "the labels are lists, so the task is multi_label_classification";

TEST(FindTask, TakesNumbersForARegressionWhereOneIsNotWhole) {
  EXPECT_EQ(found({one("1"), one("2.5"), one("-3e1")}), Task::regression);
  EXPECT_EQ(found({one("1"), one(""), one("2.5")}), Task::regression) << "a missing one";
  EXPECT_EQ(found({one("1.0"), one("2"), one("3.000")}), Task::single_label);
  EXPECT_EQ(found({one("1"), one("2.5"), one("good")}), Task::single_label);
  EXPECT_EQ(found({one("1"), one("nan")}), Task::single_label);
  EXPECT_EQ(found({one("")}), Task::single_label);
  EXPECT_EQ(found({list({"0.5", "1"}), list({"2", "3"})}), Task::regression);
}

TEST(FindTask, TakesListsForSetsOfLabels) {
  EXPECT_EQ(found({list({"a", "b"}), list({})}), Task::multi_label);
  EXPECT_EQ(found({list({"0", "2"})}), Task::multi_label);
  EXPECT_EQ(found({list({})}), Task::multi_label);
}

TEST(FindTask, SaysWhatItIsIfNotClasses) {
  Names notes;
  find_task(std::vector<RawLabel>{one("a"), one("1.5")}, csv_line, notes);
  EXPECT_EQ(notes, Names{});
  find_task(std::vector<RawLabel>{one("1.5")}, csv_line, notes);
  find_task(std::vector<RawLabel>{list({"a"})}, csv_line, notes);
  find_task(std::vector<RawLabel>{list({"0", "2"})}, csv_line, notes);
  EXPECT_EQ(notes, (Names{kNumbersNote, kListsNote,
                          kListsNote + "; `problem_type` regression reads them as numbers"}));
}

TEST(FindTask, RefusesAWordAmongFractions) {
  std::vector<RawLabel> answers(39, one("1.5"));
  answers[7] = one("2");
  answers.insert(answers.begin() + 20, one("n/a"));
  expect_user_error(
      "d.csv: line 22: the label 'n/a' is not a number, but 39 of 40 are, not all of them "
      "integers; for regression (`problem_type` regression), fix it or remove the row; "
      "`problem_type` single_label_classification reads them as class names",
      [&] { found(answers); });
  answers.insert(answers.end(), 2, one("none"));
  EXPECT_EQ(found(answers), Task::single_label) << "more than one of twenty";
  std::vector<RawLabel> whole(39, one("3"));
  whole.push_back(one("n/a"));
  EXPECT_EQ(found(whole), Task::single_label);
}

TEST(FindTask, TakesCellsThatAreAllArraysForLists) {
  EXPECT_EQ(found({one("['love', 'war']"), one("nan"), one("set()")}), Task::multi_label);
  EXPECT_EQ(found({one("[1 0]"), one("[0 1]")}), Task::multi_label);
  EXPECT_EQ(found({one("[\"love\", \"war\"]"), one(""), one("[]")}), Task::multi_label);
  EXPECT_EQ(found({one("[0.5, 1]"), one("[2, 3]")}), Task::regression);
  Names notes;
  EXPECT_EQ(find_task(std::vector<RawLabel>{one("[\"a\"]"), one("b")}, csv_line, notes),
            Task::single_label);
  EXPECT_EQ(notes, Names{"1 of the labels are lists, but not all, so they are read as class names; "
                         "`problem_type` multi_label_classification reads them as sets of labels"});
  EXPECT_EQ(found({one("[x"), one("[y")}), Task::single_label);
}

TEST(LoadDataSet, TakesArraysInCellsForSetsOfLabels) {
  TemporaryFolder folder;
  const DataSet data = load_answers(folder.file(
      "a.csv", "text,labels\na,\"[\"\"war\"\", \"\"love\"\"]\"\nb,\"[\"\"love\"\"]\"\n"));
  EXPECT_EQ(data.task, Task::multi_label);
  EXPECT_EQ(data.label_names, (Names{"love", "war"}));
  EXPECT_EQ(data.train[1].targets, (std::vector<float>{1, 0}));
  EXPECT_EQ(data.notes, (Names{"the label is column 'labels'", kListsNote}));
}

TEST(LoadDataSet, NamesTheCellThatIsNoNumber) {
  TemporaryFolder folder;
  std::string rows = "text,label\n";
  for (int i = 0; i < 30; ++i) rows += fmt::format("a,{}.5\n", i);
  folder.file("train.csv", rows);
  folder.file("test.csv", "text,label\na,0.5\nb,oops\n");
  expect_user_error("test.csv: line 3: the label 'oops' is not a number, but 31 of 32 are",
                    [&] { load_answers(folder.path()); });
  EXPECT_EQ(load_answers(folder.path(), {.task = Task::single_label}).label_names.size(), 31u);
}

TEST(LoadDataSet, TakesMissingListsForNoLabel) {
  TemporaryFolder folder;
  const DataSet data = load_answers(folder.file(
      "a.csv", "text,labels\na,\"['war', 'love']\"\nb,nan\nc,[]\nd,None\ne,['love']\n"));
  EXPECT_EQ(data.task, Task::multi_label);
  EXPECT_EQ(data.label_names, (Names{"love", "war"}));
  for (const std::size_t row : {1u, 2u, 3u})
    EXPECT_EQ(data.train[row].targets, (std::vector<float>{0, 0})) << row;
}

TEST(LoadDataSet, SaysWhereFractionsAreNoNamesOfClasses) {
  TemporaryFolder folder;
  const DataSet data = load_answers(folder.file("a.jsonl", "{\"text\": \"a\", \"label\": 0.5}\n"));
  EXPECT_EQ(data.notes, Names{"the labels are numbers, not all of them integers, so the task is "
                              "regression; if they are class names, write them as strings and set "
                              "`problem_type` to single_label_classification"});
}

TEST(WrittenNumber, MayHaveAPlus) {
  EXPECT_EQ(parse_decimal("+3"), 3);
  EXPECT_EQ(parse_decimal(" +.5 "), 0.5);
  for (const char* other : {"+", "+-3", "++3", "", "3 4"})
    EXPECT_EQ(parse_decimal(other), std::nullopt) << other;
}

TEST(LoadDataSet, ReadsNumbersAsARegression) {
  TemporaryFolder folder;
  const DataSet data = load_answers(folder.file("a.csv", "text,stars\na,2.5\nb,4\nc,-1e-1\n"));
  EXPECT_EQ(data.task, Task::regression);
  EXPECT_EQ(data.label_names, Names{"stars"});
  ASSERT_EQ(data.train.size(), 3u);
  EXPECT_EQ(data.train[0].targets, std::vector<float>{2.5F});
  EXPECT_EQ(data.train[1].targets, std::vector<float>{4.0F});
  EXPECT_EQ(data.train[2].targets, std::vector<float>{-0.1F});
  EXPECT_EQ(data.train[2].label, 0);
  EXPECT_EQ(data.notes, (Names{"the label is column 'stars'", kNumbersNote}));
}

TEST(LoadDataSet, ReadsListsAsSetsOfLabels) {
  TemporaryFolder folder;
  const DataSet data =
      load_answers(folder.file("a.jsonl",
                               "{\"text\": \"a\", \"labels\": [\"rude\", \"angry\"]}\n"
                               "{\"text\": \"b\", \"labels\": []}\n"
                               "{\"text\": \"c\", \"labels\": [\"rude\"]}\n"));
  EXPECT_EQ(data.task, Task::multi_label);
  EXPECT_EQ(data.label_names, (Names{"angry", "rude"}));
  EXPECT_EQ(data.train[0].targets, (std::vector<float>{1, 1}));
  EXPECT_EQ(data.train[1].targets, (std::vector<float>{0, 0}));
  EXPECT_EQ(data.train[2].targets, (std::vector<float>{0, 1}));
  EXPECT_EQ(data.label_places[1], folder.path().string() + "/a.jsonl: line 1");
  EXPECT_EQ(data.notes, (Names{"the label is column 'labels'", kListsNote}));
}

TEST(LoadDataSet, ReadsSeveralColumnsAsSetsOfLabels) {
  TemporaryFolder folder;
  const fs::path file = folder.file("a.csv", "text,rude,threat\na,1,0\nb,False,True\nc,0.0,0\n");
  const DataSet data = load_answers(file, {.label_column = "rude, threat"});
  EXPECT_EQ(data.task, Task::multi_label);
  EXPECT_EQ(data.label_names, (Names{"rude", "threat"}));
  EXPECT_EQ(data.train[0].targets, (std::vector<float>{1, 0}));
  EXPECT_EQ(data.train[1].targets, (std::vector<float>{0, 1}));
  EXPECT_EQ(data.train[2].targets, (std::vector<float>{0, 0}));
  // Training remembers the columns in this form.
  EXPECT_EQ(load_answers(file, {.remembered = {"", "", "rude,threat"}}).hash, data.hash);
  expect_user_error("; did you mean 'threat'?",
                    [&] { load_answers(file, {.label_column = "rude,thread"}); });
  expect_user_error("no column 'rude,threat'; the columns are: 'text', 'rude', 'threat'", [&] {
    load_answers(file, {.label_column = "rude,threat", .task = Task::single_label});
  });
}

// Two texts, one with the labels love and music and one with love, in every supported form.
TEST(LoadDataSet, ReadsSetsOfLabelsInEveryForm) {
  TemporaryFolder folder;
  const std::pair<const char*, const char*> files[] = {
      {"semicolon.csv", "text,labels\na,music;love\nb,love\n"},
      {"comma.csv", "text,labels\na,\"music, love\"\nb,love\n"},
      {"bar.tsv", "text\tlabels\na\tmusic|love\nb\tlove\n"},
      {"array.csv", "text,labels\na,\"[\"\"music\"\", \"\"love\"\"]\"\nb,\"[\"\"love\"\"]\"\n"},
      {"python.csv", "text,labels\na,\"['music', 'love']\"\nb,\"('love',)\"\n"},
      {"numpy.csv", "text,labels\na,['music' 'love']\nb,\"array(['love'], dtype=object)\"\n"},
      {"mixed.csv", "text,labels\na,\"[\"\"music\"\", \"\"love\"\"]\"\nb,love\n"},
      {"list.jsonl",
       "{\"text\": \"a\", \"labels\": [\"music\", \"love\"]}\n"
       "{\"text\": \"b\", \"labels\": [\"love\"]}\n"},
      {"string.jsonl",
       "{\"text\": \"a\", \"labels\": \"music;love\"}\n{\"text\": \"b\", \"labels\": \"love\"}\n"}};
  for (const auto& [name, text] : files) {
    const DataSet data = load_answers(folder.file(name, text), {.task = Task::multi_label});
    EXPECT_EQ(data.label_names, (Names{"love", "music"})) << name;
    ASSERT_EQ(data.train.size(), 2u) << name;
    EXPECT_EQ(data.train[0].targets, (std::vector<float>{1, 1})) << name;
    EXPECT_EQ(data.train[1].targets, (std::vector<float>{1, 0})) << name;
  }
}

TEST(LoadDataSet, NamesThePlaceOfASetThatItCannotRead) {
  TemporaryFolder folder;
  const auto refuse = [&](const std::string& name, const std::string& text,
                          const std::string& message) {
    const fs::path file = folder.file(name, text);
    expect_user_error(name + ": " + message,
                      [&] { load_answers(file, {.task = Task::multi_label}); });
  };
  refuse(
      "numbers.csv", "text,labels\na,1\nb,0\n",
      "line 2: the labels are lists of 1 value, 0 or 1, which may be the numbers of labels, or a "
      "yes or no of each of them");
  refuse("separators.csv", "text,labels\na,love;war\nb,love|war\n",
         "line 3: the label 'love|war' has a '|', that of ");
  refuse("empty.csv", "text,labels\na,love\nb,love;;war\n",
         "line 3: 'love;;war' has an empty label next to a ';'; remove it");
  refuse("mixed.jsonl",
         "{\"text\": \"a\", \"labels\": [\"love\"]}\n{\"text\": \"b\", \"labels\": \"war\"}\n",
         "line 2: expected a list of labels as in ");
  refuse("none.csv", "text,labels\na,\nb,\n",
         "line 2: neither this text nor any other has a label");
}

TEST(LoadDataSet, ReadsSeveralColumnsOfNumbers) {
  TemporaryFolder folder;
  const std::string rows =
      "[{\"text\": \"a\", \"joy\": 0.5, \"fear\": 1}, {\"text\": \"b\", \"joy\": 2, \"fear\": 0}]";
  const DataSet data = load_answers(folder.file("a.json", rows), {.label_column = "joy,fear"});
  EXPECT_EQ(data.task, Task::regression);
  EXPECT_EQ(data.label_names, (Names{"joy", "fear"}));
  EXPECT_EQ(data.train[0].targets, (std::vector<float>{0.5, 1}));
  EXPECT_EQ(data.train[1].targets, (std::vector<float>{2, 0}));
}

// With an explicit task, fractions in text are class names. Fractional JSON numbers never are.
TEST(LoadDataSet, ReadsClassesWhereThatIsTheTask) {
  TemporaryFolder folder;
  const fs::path csv = folder.file("a.csv", "text,label\na,0.5\nb,1.5\n");
  const DataSet data = load_answers(csv, {.task = Task::single_label});
  EXPECT_EQ(data.task, Task::single_label);
  EXPECT_EQ(data.label_names, (Names{"0.5", "1.5"}));
  EXPECT_EQ(data.train[1].label, 1);
  EXPECT_TRUE(data.train[1].targets.empty());
  EXPECT_EQ(data.notes, Names{});
  const fs::path json = folder.file(
      "a.jsonl", "{\"text\": \"a\", \"label\": \"x\"}\n{\"text\": \"a\", \"label\": 0.5}\n");
  expect_user_error("a.jsonl: line 2: 'label' is neither a whole number nor a string: 0.5",
                    [&] { load_answers(json); });
  const fs::path lists = folder.file("b.jsonl", "{\"text\": \"a\", \"label\": [1]}\n");
  expect_user_error(
      "b.jsonl: line 1: 'label' is neither a whole number nor a string: [1]; the task is "
      "single_label_classification, one class for each text, and lists are for "
      "multi_label_classification",
      [&] { load_answers(lists, {.task = Task::single_label}); });
}

TEST(LoadDataSet, SaysWhatALabelIsNot) {
  TemporaryFolder folder;
  const auto refuse = [&](Task task, const std::string& label, const std::string& message) {
    const fs::path file = folder.file("a.jsonl", "{\"text\": \"a\", \"label\": " + label + "}\n");
    expect_user_error("a.jsonl: line 1: " + message, [&] { load_answers(file, {.task = task}); });
  };
  refuse(Task::regression, "null",
         "'label' is neither a number nor a list of numbers: null; leave rows without a label out");
  refuse(Task::multi_label, "null",
         "'label' is not a list of names or numbers: null; write [] for no label");
  refuse(Task::single_label, "-2.97",
         "'label' is neither a whole number nor a string: -2.97; the task is "
         "single_label_classification: write names of classes as strings");
  refuse(Task::multi_label, "{}", "'label' is not a list of names or numbers: {}");
  refuse(Task::multi_label, "[[1]]", "'label' is not a list of names or numbers: [[1]]");
  const fs::path columns = folder.file("b.jsonl", "{\"text\": \"a\", \"x\": [1], \"y\": 0}\n");
  expect_user_error("b.jsonl: line 1: 'x' is neither a number nor a string: [1]",
                    [&] { load_answers(columns, {.label_column = "x,y"}); });
}

TEST(LoadDataSet, LeavesOutPartsWithoutAnswersOfEveryTask) {
  TemporaryFolder folder;
  folder.file("train.csv", "text,label\na,0.5\n");
  folder.file("test.csv", "text,label\na,-1.0\nb,-1\n");
  const DataSet data = load_answers(folder.path());
  EXPECT_EQ(data.task, Task::regression);
  EXPECT_TRUE(data.test.empty());
  EXPECT_EQ(data.notes.front(), "left out: the test split, because all labels are -1");
  TemporaryFolder sets;
  sets.file("train.csv", "text,a,b\nx,1,0\n");
  sets.file("test.csv", "text,a,b\nx,-1,-1\n");
  EXPECT_TRUE(load_answers(sets.path(), {.label_column = "a,b"}).test.empty());
}

TEST(LoadDataSet, FingerprintsAnswersWhateverTheModelCallsThem) {
  TemporaryFolder folder;
  const auto hash = [&](const std::string& rows, DataOptions options = {}) {
    return load_answers(folder.file("a.jsonl", rows), options).hash;
  };
  const std::string row = "{\"text\": \"a\", \"labels\": [\"rude\", \"angry\"]}\n";
  const std::string first = hash(row);
  EXPECT_EQ(first, hash(row, {.label_names = {"rude", "calm", "angry"}}));
  EXPECT_EQ(first, hash("{\"text\": \"a\", \"labels\": [\"angry\", \"rude\"]}\n"));
  EXPECT_NE(first, hash("{\"text\": \"a\", \"labels\": [\"angry\", \"rued\"]}\n"));
  EXPECT_NE(first, hash("{\"text\": \"a\", \"labels\": [\"angry\"]}\n"));
  const auto number = [&](const std::string& text) {
    return load_answers(folder.file("a.csv", "text,label\na," + text + "\nb,0.5\n")).hash;
  };
  EXPECT_EQ(number("2.50"), number("2.5"));
  EXPECT_NE(number("2.5"), number("2.6"));
}

TEST(LoadDataSet, OfReviewsInFoldersHasClassesOnly) {
  TemporaryFolder folder;
  folder.file("train/pos/0.txt", "good");
  folder.file("train/neg/0.txt", "bad");
  expect_user_error(
      "reviews in folders have the classes neg and pos, and cannot be used for regression; use a "
      "table with such labels, or another `problem_type`",
      [&] { load_answers(folder.path(), {.task = Task::regression}); });
}

TEST(LoadDataSet, OfMadeTextsHasTheirTaskOnly) {
  expect_user_error(
      "data 'synth:tail?n=10': its labels are for single_label_classification, but the task is "
      "multi_label_classification; use other data, or another `problem_type`",
      [] { load_answers("synth:tail?n=10", {.task = Task::multi_label}); });
}

TEST(AnswerText, IsInTheWordsOfTheData) {
  const Example example{.text = "", .label = 1, .targets = {1, 0, 1}};
  EXPECT_EQ(label_text(example, {.names = {"a", "b"}}), "b");
  EXPECT_EQ(label_text(example, {Task::multi_label, {"z", "b", "a"}}), "[\"a\",\"z\"]");
  EXPECT_EQ(label_text({.text = "", .targets = {0.1F, 2}}, {Task::regression, {"x", "y"}}),
            "0.1 2");
}

}  // namespace
}  // namespace hone
