#include "hone/report/field_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

namespace hone {
namespace {

struct Guess {
  double chance = 0;
};
const Fields& fields_of(const Guess*) {
  static const Fields fields =
      describe<Guess>("guess", "Before.", field<&Guess::chance>("chance", Unit::share, "Of it."));
  return fields;
}

struct Ends {
  double low = 0, high = 0;
};
struct Finding {
  double change = 0;
  Ends change_interval = {};
};
const Fields& fields_of(const Finding*) {
  using F = Finding;
  static const Fields fields =
      describe<F>("finding", "After.", field<&F::change>("change", "Of it.").or_null(),
                  field<&F::change_interval>("change_interval", "Its interval."));
  return fields;
}

struct Attempt {
  std::string name;
  Guess guess = {};
  std::optional<Finding> finding = {};
  bool chosen = false;
  std::vector<std::int64_t> shape = {};
};
const Fields& fields_of(const Attempt*) {
  using A = Attempt;
  static const Fields fields =
      describe<A>("attempt", "One.", field<&A::name>("name", "Its name."),
                  field<&A::guess>("guess", "Before."), inlined<&A::finding>(),
                  field<&A::chosen>("chosen", "Whether."), field<&A::shape>("shape", "Its sizes."));
  return fields;
}

TEST(FieldTable, HasAColumnForEveryField) {
  const std::vector<Attempt> attempts = {{.name = "first, of two",
                                          .guess = {0.25},
                                          .finding = Finding{-0.5, {-0.75, std::nan("")}},
                                          .chosen = true,
                                          .shape = {8, 128}},
                                         {.name = "second", .guess = {1}}};
  EXPECT_EQ(to_csv(field_table(attempts)),
            "name,guess_chance,change,change_low,change_high,chosen,shape\r\n"
            "\"first, of two\",0.25,-0.5,-0.75,,true,\"[8,128]\"\r\n"
            "second,1,,,,false,[]\r\n");
}

}  // namespace
}  // namespace hone
