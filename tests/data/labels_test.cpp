#include "hone/data/labels.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;

std::vector<WrittenLabel> written(const Names& texts) {
  std::vector<WrittenLabel> labels;
  for (const std::string& text : texts)
    labels.push_back({text, "d.csv: line " + std::to_string(labels.size() + 2)});
  return labels;
}

struct Found {
  LabelClasses classes;
  Names notes;
};
Found find(const Names& texts, const KnownClasses& known = {}) {
  Found found;
  found.classes = find_classes(written(texts), known, found.notes);
  return found;
}

TEST(LabelTable, NumbersLabelsAsTheyCome) {
  LabelTable table;
  int places = 0;
  const auto where = [&] { return "place " + std::to_string(++places); };
  EXPECT_EQ(table.number_of("b", where), 0);
  EXPECT_EQ(table.number_of("a", where), 1);
  EXPECT_EQ(table.number_of("b", where), 0);
  ASSERT_EQ(table.labels().size(), 2u);
  EXPECT_EQ(table.labels()[1].text, "a");
  EXPECT_EQ(table.labels()[1].where, "place 2");
}

TEST(LabelTable, TakesWholeFloatsForIntegers) {
  LabelTable table;
  const auto where = [] { return std::string("here"); };
  EXPECT_EQ(table.number_of("1.0", where), table.number_of("1", where));
  EXPECT_EQ(table.number_of("-1.000", where), table.number_of("-1", where));
  for (const char* other : {"1.", "1.5", ".0", "a.0", "1.0.0"}) table.number_of(other, where);
  EXPECT_EQ(table.labels().size(), 7u);
}

TEST(LabelTable, RefusesEmptyLabels) {
  LabelTable table;
  expect_user_error("a.csv: line 7: the label is empty",
                    [&] { table.number_of("", [] { return std::string("a.csv: line 7"); }); });
}

TEST(FindClasses, NumbersLabelsByKind) {
  struct Case {
    Names labels;
    Classes class_of;
    Names names;
  };
  const Case cases[] = {
      {{"2", "0"}, {2, 0}, {"0", "1", "2"}},            // indices, one class without an example
      {{"1"}, {1}, {"0", "1"}},                         // all positive
      {{"0"}, {0}, {"0", "1"}},                         // all negative
      {{"-1", "1"}, {0, 1}, {"-1", "1"}},               // numbered by value
      {{"10", "9", "1"}, {2, 1, 0}, {"1", "9", "10"}},  // by value, not by spelling
      {{"b", "a", "0"}, {2, 1, 0}, {"0", "a", "b"}},    // by name as soon as one is no integer
      {{"true", "false"}, {1, 0}, {"false", "true"}},
  };
  for (const Case& c : cases) {
    const Found found = find(c.labels);
    EXPECT_EQ(found.classes.class_of, c.class_of);
    EXPECT_EQ(found.classes.names, c.names);
    EXPECT_TRUE(found.notes.empty());
  }
}

TEST(FindClasses, TakesTheNamesOfTheData) {
  const Found found = find({"1", "0"}, {.of_data = {"neg", "neutral", "pos"}});
  EXPECT_EQ(found.classes.names, (Names{"neg", "neutral", "pos"}));
  EXPECT_EQ(found.classes.class_of, (Classes{1, 0}));
  expect_user_error("d.csv: line 3: label '3' is none of the data's classes: neg, pos", [] {
    find({"0", "3"}, {.of_data = {"neg", "pos"}});
  });
}

TEST(FindClasses, LooksTheNamesOfTheDataUpInTheModel) {
  const Found found = find({"0", "1"}, {.of_data = {"neg", "pos"}, .of_model = {"pos", "neg"}});
  EXPECT_EQ(found.classes.names, (Names{"pos", "neg"}));
  EXPECT_EQ(found.classes.class_of, (Classes{1, 0}));
  EXPECT_TRUE(found.notes.empty());
}

TEST(FindClasses, OfAModelAreNamesOrIndices) {
  const KnownClasses known{.of_model = {"bad", "good"}};
  EXPECT_EQ(find({"good", "0", "bad", "true"}, known).classes.class_of, (Classes{1, 0, 0, 1}));
  for (const char* stranger : {"Good", "2", "-1", "1.5"})
    expect_user_error(std::string("d.csv: line 2: label '") + stranger +
                          "' is none of the model's classes: bad, good",
                      [&] { find({stranger}, known); });
}

TEST(FindClasses, OfAModelThatAreNumbersAreNoIndices) {
  EXPECT_EQ(find({"5", "1"}, {.of_model = {"1", "5"}}).classes.class_of, (Classes{1, 0}));
  expect_user_error("label '0' is none of the model's classes: 1, 5", [] {
    find({"0"}, {.of_model = {"1", "5"}});
  });
}

TEST(FindClasses, SayHowModelsWithoutNamesAreUnderstood) {
  const Found found = find({"good", "bad"}, {.most = 2});
  EXPECT_EQ(found.classes.class_of, (Classes{1, 0}));
  EXPECT_EQ(found.notes, (Names{"the model does not name its classes; they are taken to be, in "
                                "order: bad, good"}));
  EXPECT_TRUE(find({"1", "0"}, {.most = 2}).notes.empty());
  expect_user_error("d.csv: line 3: label 'c' is class 2, but the model has only 2 classes", [] {
    find({"b", "c", "a"}, {.most = 2});
  });
}

TEST(LabelTable, TellsHowTooManyLabelsAreNumbers) {
  const auto fill = [](const std::string& other) {
    LabelTable table;
    for (std::size_t i = 0; i <= LabelTable::kMostLabels; ++i)
      table.number_of(i == 4 ? other : std::to_string(i),
                      [&] { return fmt::format("d.csv: line {}", i + 2); });
  };
  const std::string what =
      "d.csv: line 1002: the label column has more than 1000 different values; is it the right "
      "column? `problem_type` regression takes them as numbers to estimate";
  expect_user_error(what, [&] { fill("4.5"); });
  expect_user_error(what + "; d.csv: line 6: 'n/a' is none, mend it before", [&] { fill("n/a"); });
}

}  // namespace
}  // namespace hone
