#include "hone/data/labels.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;

std::vector<DistinctLabel> written(const Names& texts) {
  std::vector<DistinctLabel> labels;
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

TEST(LabelTable, LeavesBlanksAroundLabelsOut) {
  LabelTable table;
  const auto where = [] { return std::string("here"); };
  EXPECT_EQ(table.number_of("neg", where), 0);
  Names notes;
  table.note_blanks(notes);
  EXPECT_EQ(notes, Names{});
  EXPECT_EQ(table.number_of(" neg\t", where), 0);
  EXPECT_EQ(table.number_of("neg ", where), 0);
  table.note_blanks(notes);
  table.note_blanks(notes);
  EXPECT_EQ(notes.size(), 1u);
  EXPECT_EQ(table.number_of("01", where), 1) << "a number with zeros in front is a name";
  EXPECT_EQ(table.number_of("1", where), 2);
}

TEST(LabelTable, RefusesEmptyLabels) {
  LabelTable table;
  expect_user_error("a.csv: line 7: the label is empty",
                    [&] { table.number_of("", [] { return std::string("a.csv: line 7"); }); });
}

TEST(FindClasses, MapsTheRarerOfTwoAlikeNamesToTheOther) {
  for (const std::int64_t upper : {1, 9}) {
    Names notes;
    const std::vector<DistinctLabel> labels = {{"Science", "a.csv: line 2", upper},
                                               {"science", "a.csv: line 3", 5}};
    find_classes(labels, {}, notes);
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_NE(notes[0].find(upper < 5 ? "'Science=science'" : "'science=Science'"),
              std::string::npos)
        << notes[0];
  }
}

TEST(FindClasses, NotesOnlyNamesThatDiffer) {
  Names notes;
  const std::vector<DistinctLabel> labels = {{"doc", "a.csv: line 2"}, {"Games", "a.csv: line 3"}};
  find_classes(labels, {.of_model = {"doc", "games"}}, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("Games = games"), std::string::npos) << notes[0];
  EXPECT_EQ(notes[0].find("doc"), std::string::npos) << notes[0];
}

TEST(FindClasses, NumbersLabelsByKind) {
  struct Case {
    Names labels;
    Classes class_of;
    Names names;
  };
  const Case cases[] = {
      {{"2", "0"}, {2, 0}, {"0", "1", "2"}},            // indices; one class has no example
      {{"1"}, {1}, {"0", "1"}},                         // all positive
      {{"0"}, {0}, {"0", "1"}},                         // all negative
      {{"-1", "1"}, {0, 1}, {"-1", "1"}},               // numbered by value
      {{"10", "9", "1"}, {2, 1, 0}, {"1", "9", "10"}},  // by value, not by spelling
      {{"b", "a", "0"}, {2, 1, 0}, {"0", "a", "b"}},    // by name if any is not an integer
      {{"true", "false"}, {1, 0}, {"false", "true"}},
      {{"02", "01"}, {1, 0}, {"01", "02"}},  // by name, because of the leading zero
      {{"01", "1", "0"}, {1, 2, 0}, {"0", "01", "1"}},
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

TEST(FindClasses, OfAModelAreMatchedAsDocumented) {
  const KnownClasses known{.of_model = {"bad", "good"}};
  EXPECT_EQ(find({"good", "bad"}, known).classes.class_of, (Classes{1, 0}));
  EXPECT_TRUE(find({"good"}, known).notes.empty());
  const Found folded = find({"GOOD"}, known);
  EXPECT_EQ(folded.classes.names, known.of_model);
  ASSERT_EQ(folded.notes.size(), 1u);
  EXPECT_NE(folded.notes[0].find("GOOD = good"), std::string::npos) << folded.notes[0];
  EXPECT_EQ(find({"0", "1"}, known).notes.size(), 1u) << "class numbers are said";
}

TEST(FindClasses, ShowBothSidesOfAMismatch) {
  try {
    find({"good", "fine", "0"}, {.of_model = {"bad", "good"}});
    FAIL();
  } catch (const LabelMismatch& error) {
    const std::string what = error.what();
    EXPECT_TRUE(what.starts_with(
        "d.csv: line 3: label 'fine' is not one of the model's classes: bad, good"))
        << what;
    EXPECT_NE(what.find("the data's are: 0, fine, good"), std::string::npos) << what;
    EXPECT_TRUE(what.ends_with("`label_map` 0=CLASS,fine=CLASS")) << "good fits: " << what;
  }
  expect_user_error(
      "where each of 0 to 2 occurs; the data's are: 0, 1; map them with `label_map` "
      "0=CLASS,1=CLASS, or with `label_map` ids",
      [] {
        find({"0", "1"}, {.of_model = {"a", "b", "c"}});
      });
}

TEST(FindClasses, LookOnlyLabelsThatOccurUp) {
  const KnownClasses known{.of_data = {"pos", "neutral", "neg"}, .of_model = {"NEG", "POS"}};
  EXPECT_EQ(find({"0", "2"}, known).classes.class_of, (Classes{1, 0}));
  EXPECT_THROW(find({"0", "1"}, known), LabelMismatch) << "never by number";
}

TEST(FindClasses, OfAModelWithoutNamesAreThoseOfTheData) {
  EXPECT_THROW(find({"good", "bad"}, {.of_model = {"LABEL_0", "LABEL_1"}}), LabelMismatch)
      << "which is which is not known";
  const Found values = find({"1", "-1"}, {.of_model = {"LABEL_0", "LABEL_1"}});
  EXPECT_EQ(values.classes.names, (Names{"-1", "1"}));
  EXPECT_EQ(values.classes.class_of, (Classes{1, 0}));
  EXPECT_EQ(values.notes.size(), 1u);
  const Found named = find({"1"}, {.of_data = {"pos", "neg"}, .of_model = {"LABEL_0", "LABEL_1"}});
  EXPECT_EQ(named.classes.names, (Names{"pos", "neg"}));
  EXPECT_EQ(named.classes.class_of, Classes{1});
  const Found numbers = find({"1"}, {.of_model = {"LABEL_0", "LABEL_1", "LABEL_2"}});
  EXPECT_EQ(numbers.classes.names, (Names{"LABEL_0", "LABEL_1", "LABEL_2"}));
  EXPECT_TRUE(numbers.notes.empty());
  EXPECT_THROW(find({"1", "2"}, {.of_data = {"a", "b", "c"}, .of_model = {"LABEL_0", "LABEL_1"}}),
               LabelMismatch)
      << "the data names three";
}

TEST(FindClasses, FollowALabelMap) {
  const auto classes = [](const Names& labels, KnownClasses known, const char* map) {
    known.map = parse_label_map(map);
    return find(labels, known).classes;
  };
  const KnownClasses model{.of_model = {"NEGATIVE", "POSITIVE"}};
  EXPECT_EQ(classes({"pos", "neg"}, model, "neg=NEGATIVE,pos=positive").class_of, (Classes{1, 0}));
  EXPECT_EQ(classes({"pos", "neg"}, model, "neg=0,pos=1").class_of, (Classes{1, 0}));
  const KnownClasses named{.of_data = {"pos", "neg"}, .of_model = {"a", "b", "c"}};
  EXPECT_EQ(classes({"0", "1"}, named, "pos=c,neg=a").class_of, (Classes{2, 0}));
  EXPECT_EQ(classes({"0", "1"}, named, "ids").class_of, (Classes{0, 1}));
  EXPECT_THROW(classes({"3"}, named, "ids"), LabelMismatch);
  EXPECT_THROW(classes({"x"}, model, "ids"), LabelMismatch);
  const LabelClasses renamed = classes({"1", "2", "3"}, {}, "1=low,2=low,3=high");
  EXPECT_EQ(renamed.names, (Names{"high", "low"}));
  EXPECT_EQ(renamed.class_of, (Classes{1, 1, 0}));
}

TEST(FindClasses, NameClassesThatDifferOnlyInCase) {
  const Found found = find({"Neg", "pos", "neg"});
  EXPECT_EQ(found.classes.names, (Names{"Neg", "neg", "pos"}));
  ASSERT_EQ(found.notes.size(), 1u);
  EXPECT_NE(found.notes[0].find("'neg=Neg'"), std::string::npos) << found.notes[0];
}

TEST(LabelTable, TellsHowTooManyLabelsAreNumbers) {
  const auto fill = [](const std::string& other) {
    LabelTable table;
    for (std::size_t i = 0; i <= LabelTable::kMaxLabels; ++i)
      table.number_of(i == 4 ? other : std::to_string(i),
                      [&] { return fmt::format("d.csv: line {}", i + 2); });
  };
  const std::string what =
      "d.csv: line 1002: the label column has more than 1000 different values; is it the right "
      "column? `problem_type` regression reads them as numbers";
  expect_user_error(what, [&] { fill("4.5"); });
  expect_user_error(what + "; d.csv: line 6: 'n/a' is none, mend it before", [&] { fill("n/a"); });
}

}  // namespace
}  // namespace hone
