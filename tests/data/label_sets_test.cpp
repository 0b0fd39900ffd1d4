#include "hone/data/label_sets.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using LabelRows = std::vector<std::vector<float>>;

struct FoundSets {
  Targets targets;
  Names notes;
};

FoundSets find_sets(const std::vector<RawLabel>& answers, const KnownClasses& known,
                    const Names& columns = {"labels"}) {
  FoundSets found;
  found.targets = read_label_sets(
      answers, columns, known,
      [](std::size_t row) { return "d.csv: line " + std::to_string(row + 2); }, found.notes);
  return found;
}

std::vector<RawLabel> rows_of(const std::vector<Names>& lists) {
  std::vector<RawLabel> answers;
  for (const Names& values : lists) answers.push_back({.values = values, .many = true});
  return answers;
}

FoundSets lists(const std::vector<Names>& rows, const KnownClasses& known = {}) {
  return find_sets(rows_of(rows), known);
}

FoundSets columns(const Names& names, const std::vector<Names>& rows,
                  const KnownClasses& known = {}) {
  return find_sets(rows_of(rows), known, names);
}

FoundSets cells(const Names& rows, const KnownClasses& known = {}) {
  std::vector<RawLabel> answers;
  for (const std::string& value : rows) answers.push_back({.value = value});
  return find_sets(answers, known);
}

std::string mismatch_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const LabelMismatch& error) {
    return error.what();
  }
  return "nothing was thrown";
}

const std::string kNumbersOfLabels = "the lists are taken to hold the numbers of their labels";
std::string flags_note(int width) {
  return fmt::format("lists of {} values 0 and 1 are taken as a yes or no of each label", width);
}

TEST(LabelLists, HoldNamesInSortedOrder) {
  const FoundSets found = lists({{"rude", "angry"}, {}, {"calm"}});
  EXPECT_EQ(found.targets.names, (Names{"angry", "calm", "rude"}));
  EXPECT_EQ(found.targets.rows, (LabelRows{{1, 0, 1}, {0, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(found.targets.written, (Names{"[\"angry\",\"rude\"]", "[]", "[\"calm\"]"}));
  EXPECT_EQ(found.notes, Names{});
}

TEST(LabelLists, HoldNumbersOfLabels) {
  const FoundSets plain = lists({{"0", "2"}, {"2.0"}, {}});
  EXPECT_EQ(plain.targets.names, (Names{"0", "1", "2"}));
  EXPECT_EQ(plain.targets.rows, (LabelRows{{1, 0, 1}, {0, 0, 1}, {0, 0, 0}}));
  EXPECT_EQ(plain.notes, Names{kNumbersOfLabels});
  const FoundSets named = lists({{"0", "2"}, {"2"}}, {.of_data = {"joy", "fear", "rage"}});
  EXPECT_EQ(named.targets.names, (Names{"joy", "fear", "rage"}));
  EXPECT_EQ(named.targets.rows, (LabelRows{{1, 0, 1}, {0, 0, 1}}));
  // Numbers refer to the data's names, which the model knows by name.
  const FoundSets model = lists({{"0", "2"}, {"2"}}, {.of_data = {"joy", "fear", "rage"},
                                                      .of_model = {"rage", "love", "joy", "fear"}});
  EXPECT_EQ(model.targets.rows, (LabelRows{{1, 0, 1, 0}, {1, 0, 0, 0}}));
  // One number per row, with more labels than that.
  EXPECT_EQ(lists({{"0"}, {"1"}, {"2"}}, {.of_model = {"a", "b", "c"}}).targets.rows,
            (LabelRows{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}));
  EXPECT_NE(mismatch_of([] {
              lists({{"0"}, {"1"}}, {.of_model = {"a", "b", "c"}});
            }).find("label '0' is not one of the model's classes: a, b, c"),
            std::string::npos)
      << "they may be the numbers of other labels";
}

TEST(LabelLists, OfAModelAreItsLabels) {
  EXPECT_EQ(lists({{"b"}}, {.of_model = {"a", "b"}}).targets.rows, (LabelRows{{0, 1}}));
  EXPECT_NE(mismatch_of([] {
              lists({{"b"}, {"c"}}, {.of_model = {"a", "b"}});
            }).find("d.csv: line 3: label 'c' is not one of the model's classes: a, b"),
            std::string::npos);
  EXPECT_EQ(lists({{}, {}}, {.of_model = {"a", "b"}}).targets.rows, (LabelRows{{0, 0}, {0, 0}}));
  const KnownClasses unnamed{.of_model = {"LABEL_0", "LABEL_1", "LABEL_2"}};
  EXPECT_NE(mismatch_of([&] {
              lists({{"x", "z"}, {"y"}}, unnamed);
            }).find("the model does not name its 3 classes"),
            std::string::npos);
}

TEST(LabelLists, OfZerosAndOnesForEveryLabelAreYesAndNo) {
  const FoundSets found = lists({{"0", "1", "1"}, {"0.0", "0.0", "1.0"}});
  EXPECT_EQ(found.targets.names, (Names{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(found.targets.rows, (LabelRows{{0, 1, 1}, {0, 0, 1}}));
  EXPECT_EQ(found.targets.written, (Names{"011", "001"}));
  EXPECT_EQ(found.notes, Names{flags_note(3)});
  EXPECT_EQ(lists({{"0", "1"}, {"1", "1"}}).targets.rows, (LabelRows{{0, 1}, {1, 1}}));
  EXPECT_EQ(lists({{"true"}, {"false"}}).targets.rows, (LabelRows{{1}, {0}}))
      << "words are no numbers";
  const FoundSets named = lists({{"0", "1", "1"}}, {.of_data = {"joy", "fear", "rage"}});
  EXPECT_EQ(named.targets.names, (Names{"joy", "fear", "rage"}));
  const FoundSets model = lists(
      {{"0", "1", "1"}}, {.of_data = {"joy", "fear", "rage"}, .of_model = {"rage", "joy", "fear"}});
  EXPECT_EQ(model.targets.rows, (LabelRows{{1, 0, 1}}));
}

TEST(LabelLists, ThatMayBeEitherAreRefused) {
  const std::string what =
      ", 0 or 1, which may be the numbers of labels, or a yes or no of each of them; write the "
      "names of the labels, or true and false";
  expect_user_error("d.csv: line 2: the labels are lists of 1 value" + what, [] {
    lists({{"0"}, {"1"}});
  });
  expect_user_error("d.csv: line 2: the labels are lists of 2 values" + what, [] {
    lists({{"0", "1"}, {"1", "0"}}, {.of_model = {"a", "b"}});
  });
}

TEST(LabelLists, OfAnotherLengthThanTheModelsAreRefused) {
  EXPECT_EQ(mismatch_of([] {
              lists({{"0", "0", "1"}}, {.of_model = {"a", "b"}});
            }),
            "d.csv: line 2: expected a yes or no of each of the model's 2 labels (a, b), got 3 of "
            "them");
}

TEST(LabelLists, NameALabelOnce) {
  expect_user_error(
      "d.csv: line 3: the label 'b' is there twice; a list names each of its labels "
      "once, and one of 0 and 1 has a value for every label, as many in every row",
      [] {
        lists({{"a"}, {"b", "c", "b"}});
      });
  expect_user_error("d.csv: line 2: the label '0' is there twice", [] {
    lists({{"0", "0", "1"}, {"0", "1"}});
  });
  expect_user_error("d.csv: line 2: the label is empty", [] { lists({{"a", ""}}); });
}

TEST(LabelLists, WithoutAnyLabelSayNothing) {
  expect_user_error("d.csv: line 2: neither this text nor any other has a label", [] {
    lists({{}, {}});
  });
}

TEST(LabelLists, AreNotMixedWithOthers) {
  std::vector<RawLabel> answers = rows_of({{"a"}});
  answers.push_back({.value = "b"});
  expect_user_error(
      "d.csv: line 3: expected a list of labels as in d.csv: line 2, got 'b'; write "
      "one label as a list of one",
      [&] { find_sets(answers, {}); });
}

TEST(LabelColumns, HaveAYesOrNoEach) {
  const FoundSets found =
      columns({"rude", "threat"}, {{"1", "0"}, {"False", "TRUE"}, {"0.0", "0"}});
  EXPECT_EQ(found.targets.names, (Names{"rude", "threat"}));
  EXPECT_EQ(found.targets.rows, (LabelRows{{1, 0}, {0, 1}, {0, 0}}));
  EXPECT_EQ(found.targets.written, (Names{"10", "01", "00"}));
  EXPECT_EQ(found.notes, Names{});
  for (const char* other : {"", "2", "yes", "-1"})
    expect_user_error(
        fmt::format("d.csv: line 2: 'threat': expected 0, 1, true or false, got '{}'", other), [&] {
          columns({"rude", "threat"}, {{"1", other}});
        });
}

TEST(LabelColumns, AreThoseOfTheModel) {
  EXPECT_EQ(
      columns({"rude", "threat"}, {{"1", "0"}}, {.of_model = {"threat", "rude"}}).targets.rows,
      (LabelRows{{0, 1}}));
  const KnownClasses others{.of_model = {"t", "r"}};
  const std::string refusal = mismatch_of([&] {
    columns({"rude", "threat"}, {{"1", "0"}}, others);
  });
  for (const char* both : {"rude, threat", "t, r", "label_map"})
    EXPECT_NE(refusal.find(both), std::string::npos) << refusal;
  const FoundSets mapped = columns({"rude", "threat"}, {{"1", "0"}},
                                   {{}, others.of_model, parse_label_map("rude=r,threat=t")});
  EXPECT_EQ(mapped.targets.names, (Names{"t", "r"}));
  EXPECT_EQ(mapped.targets.rows, (LabelRows{{0, 1}}));
  const FoundSets unnamed =
      columns({"rude", "threat"}, {{"1", "0"}}, {.of_model = {"LABEL_0", "LABEL_1"}});
  EXPECT_EQ(unnamed.targets.names, (Names{"rude", "threat"}));
  EXPECT_EQ(unnamed.targets.rows, (LabelRows{{1, 0}}));
  EXPECT_EQ(unnamed.notes.size(), 1u);
  EXPECT_EQ(mismatch_of([] {
              columns({"x", "y"}, {{"1", "0"}}, {.of_model = {"a", "b", "c"}});
            }),
            "d.csv: line 2: expected a yes or no of each of the model's 3 labels (a, b, c), got 2 "
            "of them (x, y)");
}

TEST(LabelCells, HoldNamesBetweenOneSeparator) {
  for (const char* separator : {",", ";", "|"}) {
    const FoundSets found = cells({fmt::format("rude{} angry", separator), "", " ", "calm"});
    EXPECT_EQ(found.targets.names, (Names{"angry", "calm", "rude"}));
    EXPECT_EQ(found.targets.rows, (LabelRows{{1, 0, 1}, {0, 0, 0}, {0, 0, 0}, {0, 1, 0}}));
    EXPECT_EQ(found.notes,
              Names{fmt::format("labels are taken to be separated by '{}'", separator)});
  }
  const FoundSets single = cells({"very rude", "calm"});
  EXPECT_EQ(single.targets.names, (Names{"calm", "very rude"}));
  EXPECT_EQ(single.notes, Names{});
}

TEST(LabelCells, HoldArrays) {
  const FoundSets found = cells({"[\"a, b\", \"c\"]", "[]", "[\"c\"]"});
  EXPECT_EQ(found.targets.names, (Names{"a, b", "c"}));
  EXPECT_EQ(found.targets.rows, (LabelRows{{1, 1}, {0, 0}, {0, 1}}));
  EXPECT_EQ(cells({"0,1,1", "0,0,1"}).targets.rows, (LabelRows{{0, 1, 1}, {0, 0, 1}}));
}

TEST(LabelCells, AreRefusedWhereNamesCannotBeTold) {
  expect_user_error(
      "d.csv: line 4: the label 'd, e' has a ',', that of d.csv: line 2 a ';', and "
      "only one of them can separate names; write JSON arrays such as [\"a\", "
      "\"b\"], or use one separator",
      [] {
        cells({"a;b", "c", "d, e"});
      });
  expect_user_error("d.csv: line 2: 'a;;b' has an empty label next to a ';'; remove it",
                    [] { cells({"a;;b"}); });
}

}  // namespace
}  // namespace hone
