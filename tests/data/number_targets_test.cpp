#include "hone/data/number_targets.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using TargetRows = std::vector<std::vector<float>>;

std::string line(std::size_t row) { return "d.csv: line " + std::to_string(row + 2); }

Targets numbers_of(const Names& values, const KnownClasses& known = {},
                   const Names& columns = {"score"}) {
  std::vector<RawLabel> answers;
  for (const std::string& value : values) answers.push_back({.value = value});
  Names notes;
  return read_numbers(answers, columns, known, line, notes);
}

Targets numbers_of(const std::vector<Names>& lists, const Names& columns,
                   const KnownClasses& known = {}, Names* told = nullptr) {
  std::vector<RawLabel> answers;
  for (const Names& values : lists) answers.push_back({.values = values, .many = true});
  Names notes;
  return read_numbers(answers, columns, known, line, told == nullptr ? notes : *told);
}

TEST(ReadNumbers, TakesThoseOfAColumn) {
  const Targets targets = numbers_of({" 2.50", "-1", "1e-3"});
  EXPECT_EQ(targets.names, Names{"score"});
  EXPECT_EQ(targets.rows, (TargetRows{{2.5F}, {-1}, {0.001F}}));
  EXPECT_EQ(targets.written, (Names{"2.5", "-1", "0.001"}));
}

TEST(ReadNumbers, TakesThoseOfSeveralColumnsAndOfLists) {
  EXPECT_EQ(numbers_of({{"1", "2"}, {"3", "4"}}, {"joy", "fear"}).names, (Names{"joy", "fear"}));
  const Targets lists = numbers_of({{"1", "0.5"}, {"3", "4"}}, {"score"});
  EXPECT_EQ(lists.names, (Names{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(lists.rows, (TargetRows{{1, 0.5F}, {3, 4}}));
  EXPECT_EQ(lists.written, (Names{"1 0.5", "3 4"}));
  EXPECT_EQ(numbers_of({{"1"}, {"3"}}, {"score"}).names, Names{"score"});
  EXPECT_EQ(numbers_of({"[1, 0.5]", "[3, 4]"}).rows, lists.rows) << "arrays in cells";
}

TEST(ReadNumbers, OfColumnsAreTheOutputsOfTheirNames) {
  Names notes;
  const KnownClasses model = {.of_model = {"good", "bad"}};
  const Targets targets = numbers_of({{"1", "2"}, {"3", "4"}}, {"bad", "good"}, model, &notes);
  EXPECT_EQ(targets.names, (Names{"good", "bad"}));
  EXPECT_EQ(targets.rows, (TargetRows{{2, 1}, {4, 3}}));
  numbers_of({{"1", "2"}}, {"score"}, model, &notes);
  numbers_of({{"1"}}, {"score"}, {.of_model = {"stars"}}, &notes);
  EXPECT_EQ(notes, Names{});
  expect_user_error(
      "the numbers are not those that the model names: good, bad; the data's are: "
      "fine, worse; map them with `label_map`",
      [&] {
        numbers_of({{"1", "2"}}, {"worse", "fine"}, model);
      });
  const KnownClasses unnamed = {.of_model = {"LABEL_0", "LABEL_1"}};
  EXPECT_EQ(numbers_of({{"1", "2"}}, {"worse", "fine"}, unnamed, &notes).rows,
            (TargetRows{{1, 2}}));
  EXPECT_EQ(notes.size(), 1u) << "in their order";
}

TEST(ReadNumbers, AreCalledAsByTheModel) {
  EXPECT_EQ(numbers_of({"1"}, {.of_model = {"stars"}}).names, Names{"stars"});
  EXPECT_EQ(numbers_of({"1"}, {.of_model = {"LABEL_0"}}).names, Names{"score"});
  const auto mismatch = [](const auto& body) {
    try {
      body();
    } catch (const LabelMismatch& error) {
      return std::string(error.what());
    }
    return std::string("nothing was thrown");
  };
  EXPECT_EQ(mismatch([] {
              numbers_of({"1"}, {.of_model = {"joy", "fear"}});
            }),
            "the data has 1 number for a text (score), the model gives 2 (joy, fear); name as many "
            "label columns, or train another head");
  EXPECT_EQ(mismatch([] {
              numbers_of({"[1, 2]"}, {.of_model = {"a", "b", "c"}});
            }),
            "the data has 2 numbers for a text (LABEL_0, LABEL_1), the model gives 3 (a, b, c); "
            "name as many label columns, or train another head");
}

TEST(ReadNumbers, NamesWhatIsNone) {
  const std::string what =
      "; write one, leave the row out, or choose another `problem_type` or label column";
  for (const char* other : {"", "good", "1,5", "0x1", "nan", "inf", "1e40", "3 stars"})
    expect_user_error(
        fmt::format("d.csv: line 3: 'score': expected a number, got '{}'", other) + what, [&] {
          numbers_of({"1", other});
        });
  expect_user_error("d.csv: line 2: 'fear': expected a number, got 'x'", [] {
    numbers_of({{"1", "x"}}, {"joy", "fear"});
  });
  expect_user_error("d.csv: line 3: expected 2 numbers as in d.csv: line 2, got 1", [] {
    numbers_of({{"1", "2"}, {"3"}}, {"score"});
  });
  expect_user_error("d.csv: line 3: the list of numbers is empty; leave the row out", [] {
    numbers_of({{"1"}, {}}, {"score"});
  });
}

}  // namespace
}  // namespace hone
