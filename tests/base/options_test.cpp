#include "hone/base/options.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone::testing {
namespace {

enum class Paint { red, green };
std::span<const EnumName> enum_names(Paint) {
  static constexpr EnumName words[] = {{0, "red"}, {1, "green"}};
  return words;
}

struct Inner {
  std::int64_t count = 3;
  bool shuffle = true;
};
Options options_of(const Inner*) {
  return {Heading::training,
          {option<&Inner::count>("count,n", "how many").from(1),
           option<&Inner::shuffle>("no_shuffle", "keep the order").inverted().rare()}};
}

struct Outer {
  Inner inner;
  std::vector<double> rates = {0.5};
  std::optional<bool> lowercase;
  Paint colour = Paint::red;
  std::uint64_t seed = 42;
  std::string name, folder;
};
Options options_of(const Outer*) {
  return {argument<&Outer::name>("NAME", "a name").required(),
          group<&Outer::inner>(),
          option<&Outer::rates>("rates", "several rates").separated().above_zero(1),
          option<&Outer::lowercase>("lowercase", "lower-case text"),
          option<&Outer::colour>("colour", "a colour"),
          option<&Outer::seed>("seed", "random seed").under(Heading::execution),
          option<&Outer::folder>("folder", "a folder")
              .takes({.shown = "FOLDER", .access = Access::writes})
              .replaced([](const std::string& text) { return text.substr(0, text.find('/')); })};
}

const OptionDef& row(std::string_view name) {
  static const Options rows = options<Outer>();
  return *find_option(rows, name);
}

Outer with(std::string_view name, const Json& value) {
  Outer object;
  set_option(row(name), &object, value);
  return object;
}

TEST(Options, SetMembersOfEveryType) {
  EXPECT_EQ(with("count", 7).inner.count, 7);
  EXPECT_EQ(with("n", "8").inner.count, 8);
  EXPECT_FALSE(with("no_shuffle", true).inner.shuffle);
  EXPECT_TRUE(with("no_shuffle", false).inner.shuffle);
  EXPECT_EQ(with("rates", "0.25,1").rates, (std::vector<double>{0.25, 1}));
  EXPECT_EQ(with("rates", 0.1).rates, std::vector<double>{0.1});
  EXPECT_EQ(with("lowercase", "false").lowercase, std::optional(false));
  EXPECT_EQ(with("colour", "green").colour, Paint::green);
  EXPECT_EQ(with("seed", 18446744073709551615U).seed, 18446744073709551615U);
}

TEST(Options, RefuseValuesOutsideOfWhatTheyTake) {
  expect_user_error("expected a number of at least 1, got 0", [] { with("count", 0); });
  expect_user_error("expected a whole number, got 1.5", [] { with("count", 1.5); });
  expect_user_error("expected a number above 0 and at most 1, got 2",
                    [] { with("rates", "0.5,2"); });
  expect_user_error("expected red or green, got 'gren'; did you mean 'green'?",
                    [] { with("colour", "gren"); });
  expect_user_error("expected true or false, got 1", [] { with("no_shuffle", 1); });
  expect_user_error("expected a whole number of at least 0, got -1", [] { with("seed", -1); });
}

TEST(Options, AreCheckedAfterTextsAreReplaced) {
  EXPECT_EQ(with("folder", "out/").folder, "out");
  expect_user_error("expected FOLDER, got ''", [] { with("folder", "/"); });
}

TEST(Options, KeepTheHeadingOfTheirOwnTable) {
  EXPECT_EQ(row("count").heading, Heading::training);
  EXPECT_EQ(row("seed").heading, Heading::execution);
  EXPECT_EQ(row("rates").heading, Heading::options);
}

TEST(Options, ShowTheirDefaults) {
  Outer object;
  const auto text = [&](std::string_view name) {
    return row(name).type->text(row(name).at(&object));
  };
  EXPECT_EQ(text("count"), "3");
  EXPECT_EQ(text("rates"), "[0.5]");
  EXPECT_EQ(text("lowercase"), "");
  EXPECT_EQ(text("colour"), "red");
}

TEST(Options, AreNamedByTheirFirstLongName) {
  EXPECT_EQ(row("n").name(), "count");
  EXPECT_EQ(find_option(options<Outer>(), "nothing"), nullptr);
}

}  // namespace
}  // namespace hone::testing
