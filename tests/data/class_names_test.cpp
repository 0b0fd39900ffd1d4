#include "hone/data/class_names.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Classes = std::vector<std::int32_t>;

constexpr std::int32_t kNone = ClassMatch::kNone;
const Names kStars = {"1 star", "2 stars", "3 stars", "4 stars", "5 stars"};
const Names kUnnamed = {"LABEL_0", "LABEL_1", "LABEL_2"};

TEST(ClassNames, AreFoldedByCaseBlanksAndMarksBetweenWords) {
  for (const char* name :
       {"very good", "Very_Good", " VERY-GOOD ", "very \t good", "very\u00a0good"})
    EXPECT_EQ(folded_name(name), "very good") << name;
  EXPECT_EQ(folded_name("ÄRGER"), "ärger");
  EXPECT_EQ(folded_name("A\u0308RGER"), folded_name("\u00c4rger")) << "NFD and NFC";
  EXPECT_EQ(folded_name("-1"), "-1") << "a sign separates no words";
  EXPECT_EQ(folded_name("A-"), "a-");
  EXPECT_EQ(folded_name("_x"), "_x");
  EXPECT_EQ(folded_name(" - "), "-");
}

TEST(ClassNames, AreNumbersInTheirShortestFormOnly) {
  EXPECT_EQ(parse_integer("-12"), -12);
  for (const char* other : {"01", "+1", "1.0", "-0", "", "1 ", "99999999999999999999"})
    EXPECT_EQ(parse_integer(other), std::nullopt) << other;
  EXPECT_EQ(class_number("LABEL_12"), 12);
  EXPECT_EQ(class_number("label_0"), 0);
  EXPECT_EQ(class_number("True"), 1);
  EXPECT_EQ(class_number("FALSE"), 0);
  for (const char* other : {"LABEL_", "LABEL_01", "LABELS1", "yes", "truth"})
    EXPECT_EQ(class_number(other), std::nullopt) << other;
}

TEST(ClassNames, AreNoneWhereTheyRepeatTheNumbers) {
  EXPECT_TRUE(names_are_indices(kUnnamed));
  EXPECT_TRUE(names_are_indices(Names{"0", "1"}));
  EXPECT_TRUE(names_are_indices(Names{}));
  EXPECT_FALSE(names_are_indices(Names{"1", "0"}));
  EXPECT_FALSE(names_are_indices(Names{"1", "2"}));
  EXPECT_FALSE(names_are_indices(Names{"false", "true"}));
  EXPECT_FALSE(names_are_indices(Names{"LABEL_0", "good"}));
}

TEST(ClassNames, OfTwoModelsAreFoundInEachOther) {
  EXPECT_EQ(class_order(Names{"neg", "pos"}, Names{"NEG", " pos"}), (Classes{0, 1}));
  EXPECT_EQ(class_order(kUnnamed, Names{"0", "1", "2"}), (Classes{0, 1, 2}));
  EXPECT_EQ(class_order(Names{"a", "b", "c"}, kUnnamed), (Classes{0, 1, 2}));
  EXPECT_EQ(class_order(Names{"a", "b", "c"}, Names{"C", "a", "b"}), (Classes{1, 2, 0}));
  EXPECT_EQ(class_order(Names{"a", "b"}, kUnnamed), std::nullopt);
  EXPECT_EQ(class_order(Names{"a", "b"}, Names{"a", "c"}), std::nullopt);
  EXPECT_EQ(class_order(Names{"a", "b"}, Names{"b", "B"}), std::nullopt) << "two are alike";
  EXPECT_EQ(class_order(Names{"a", "A"}, Names{"b", "a"}), std::nullopt);
}

TEST(ClassNames, MoveColumnsOfRows) {
  EXPECT_EQ(permute_columns(std::vector<float>{1, 2, 3, 4, 5, 6}, Classes{1, 2, 0}),
            (std::vector<float>{2, 3, 1, 5, 6, 4}));
}

TEST(MatchClasses, FindsNamesWhateverTheirCase) {
  const Names nli = {"CONTRADICTION", "NEUTRAL", "ENTAILMENT"};
  const ClassMatch match = match_classes(Names{"entailment", "neutral"}, nli);
  EXPECT_EQ(match.class_of, (Classes{2, 1}));
  EXPECT_FALSE(match.how.empty());
  EXPECT_EQ(match_classes(Names{"NEUTRAL"}, nli).how, "") << "equal names need no word";
}

TEST(MatchClasses, PrefersTheEqualNameAndRefusesTwoThatAreAlike) {
  EXPECT_EQ(match_classes(Names{"b", "B"}, Names{"B", "b"}).class_of, (Classes{1, 0}));
  EXPECT_EQ(match_classes(Names{" b"}, Names{"B", "b"}).class_of, Classes{kNone});
  const ClassMatch twice = match_classes(Names{"a"}, Names{"a", "a", "b"});
  EXPECT_FALSE(twice.complete());
  EXPECT_NE(twice.why_not, "");
}

TEST(MatchClasses, NeverMatchesOtherNamesByNumber) {
  const ClassMatch match = match_classes(Names{"neg", "pos"}, Names{"bad", "good"});
  EXPECT_EQ(match.class_of, (Classes{kNone, kNone}));
  EXPECT_EQ(match_classes(Names{"yes", "bad"}, Names{"bad", "good"}).class_of, (Classes{kNone, 0}));
}

TEST(MatchClasses, FindsTheNumberInAName) {
  for (const Names& labels : {Names{"1", "4"}, Names{"1 star", "4 star"}, Names{"01", "4 STARS"}}) {
    const ClassMatch match = match_classes(labels, kStars);
    EXPECT_EQ(match.class_of, (Classes{0, 3})) << labels[0];
    EXPECT_FALSE(match.how.empty());
  }
  EXPECT_EQ(match_classes(Names{"1", "2"}, Names{"01", "02", "03"}).class_of, (Classes{0, 1}));
  EXPECT_FALSE(match_classes(Names{"1", "6"}, kStars).complete());
  EXPECT_FALSE(match_classes(Names{"-1", "1"}, kStars).complete());
  EXPECT_FALSE(match_classes(Names{"group 1"}, kStars).complete()) << "other words";
}

TEST(MatchClasses, BelievesNumbersOfNamedClassesWhereAllOccur) {
  const Names emotions = {"joy", "fear", "rage"};
  const ClassMatch all = match_classes(Names{"2", "0", "1", "0"}, emotions);
  EXPECT_EQ(all.class_of, (Classes{2, 0, 1, 0}));
  EXPECT_FALSE(all.how.empty());
  const ClassMatch some = match_classes(Names{"0", "1"}, emotions);
  EXPECT_EQ(some.class_of, (Classes{kNone, kNone}));
  EXPECT_NE(some.why_not, "");
  EXPECT_FALSE(match_classes(Names{"0", "1", "3"}, emotions).complete());
  EXPECT_EQ(match_classes(Names{"1"}, Names{"bad", "good"}).class_of, Classes{1}) << "of two";
  EXPECT_EQ(match_classes(Names{"True", "False"}, Names{"bad", "good"}).class_of, (Classes{1, 0}));
  EXPECT_EQ(match_classes(Names{"0", "1", "2", "3", "4"}, kStars).class_of,
            (Classes{0, 1, 2, 3, 4}));
  EXPECT_FALSE(match_classes(Names{"0", "1"}, Names{"1", "5"}).complete())
      << "names that are numbers leave no room for class numbers";
}

TEST(MatchClasses, OfAModelWithoutNamesAreNumbersAlone) {
  EXPECT_EQ(match_classes(Names{"2", "0"}, kUnnamed).class_of, (Classes{2, 0}));
  EXPECT_EQ(match_classes(Names{"2", "0"}, kUnnamed).how, "");
  EXPECT_EQ(match_classes(Names{"LABEL_2"}, Names{"0", "1", "2"}).class_of, Classes{2});
  const ClassMatch values = match_classes(Names{"10", "9", "-1"}, kUnnamed);
  EXPECT_EQ(values.class_of, (Classes{2, 1, 0}));
  EXPECT_TRUE(values.in_order);
  EXPECT_FALSE(values.how.empty());
  const ClassMatch named = match_classes(Names{"c", "a", "b"}, kUnnamed);
  EXPECT_FALSE(named.complete()) << "their order is not known";
  EXPECT_NE(named.why_not, "");
  EXPECT_FALSE(match_classes(Names{"1", "3"}, kUnnamed).complete());
  EXPECT_EQ(match_classes(Names{"1", "2", "3"}, kUnnamed).class_of, (Classes{0, 1, 2}));
  EXPECT_FALSE(match_classes(Names{"1", "2", "3"}, Names{"0", "1", "2"}).complete())
      << "classes that are numbers have their values";
}

}  // namespace
}  // namespace hone
