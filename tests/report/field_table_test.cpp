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

struct Gain {
  double speedup = 1;
  std::optional<Ends> speedup_interval = {};
};
const Fields& fields_of(const Gain*) {
  using G = Gain;
  static const Fields fields =
      describe<G>("gain", "After.", field<&G::speedup>("speedup", Unit::ratio, "Of it.", "Speedup"),
                  field<&G::speedup_interval>("speedup_interval", "Its interval."));
  return fields;
}

struct Shown {
  std::string name;
  double accuracy = 0;
  Ends accuracy_interval = {};
  double change = 0;
  double cut = 0;
  std::int64_t size = 0;
  double ms = 0;
  std::optional<double> snr = {};
  std::optional<Gain> gain = {};
  bool chosen = false;
  std::vector<std::string> reasons = {};
  std::vector<std::int64_t> shape = {};
  std::string without_header = {};
};
const Fields& fields_of(const Shown*) {
  using S = Shown;
  static const Fields fields =
      describe<S>("shown", "One.", field<&S::name>("name", "Its name.", "Model"),
                  field<&S::accuracy>("accuracy", Unit::share, "Of it.", "Accuracy"),
                  field<&S::accuracy_interval>("accuracy_interval", "Its interval."),
                  field<&S::change>("change", Unit::difference, "Of it.", "Change"),
                  field<&S::cut>("cut", Unit::share, "Of it.", "Cut"),
                  field<&S::size>("size", Unit::bytes, "Of it.", "Size"),
                  field<&S::ms>("ms", Unit::milliseconds, "Of it.", "Latency (ms)"),
                  field<&S::snr>("snr", Unit::decibels, "Of it.", "SNR (dB)"), inlined<&S::gain>(),
                  field<&S::chosen>("chosen", "Whether.", "Chosen"),
                  field<&S::reasons>("reasons", "Why.", "Reasons"),
                  field<&S::shape>("shape", "Its sizes.", "Shape"),
                  field<&S::without_header>("without_header", "Its own."));
  return fields;
}

std::vector<std::string> texts_of(const std::vector<Cell>& row) {
  std::vector<std::string> texts;
  for (const Cell& cell : row) texts.push_back(display_text(cell));
  return texts;
}

TEST(HeadedTable, ShowsFieldsThatHaveAHeaderByTheirUnit) {
  const Table table = headed_table(std::vector<Shown>{
      {.name = "first",
       .accuracy = 0.9,
       .accuracy_interval = {0.8, 0.95},
       .change = -0.0023,
       .cut = 0.25,
       .size = 3 << 20,
       .ms = 12.345,
       .snr = 20.25,
       .gain = Gain{1.8449, Ends{1.75, 1.95}},
       .chosen = true,
       .reasons = {"fast", "small"},
       .shape = {8, 128}},
      {.name = "second", .accuracy_interval = {std::nan(""), std::nan("")}, .gain = Gain{2}}});
  std::vector<std::string> keys, headers;
  for (const Column& column : table.columns()) {
    keys.push_back(column.key);
    headers.push_back(column.header);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"name", "accuracy", "change", "cut", "size", "ms",
                                            "snr", "speedup", "chosen", "reasons", "shape"}));
  EXPECT_EQ(headers,
            (std::vector<std::string>{"Model", "Accuracy", "Change", "Cut", "Size", "Latency (ms)",
                                      "SNR (dB)", "Speedup", "Chosen", "Reasons", "Shape"}));
  EXPECT_EQ(
      texts_of(table.rows()[0]),
      (std::vector<std::string>{"first", "90.0% (80.0 to 95.0)", "-0.23", "25.0%", "3 MiB", "12.3",
                                "20.3", "1.84 (1.75 to 1.95)", "yes", "fast, small", "[8, 128]"}));
  EXPECT_EQ(texts_of(table.rows()[1]),
            (std::vector<std::string>{"second", "0.0%", "+0.00", "0.0%", "0 B", "0", "–", "2.00",
                                      "no", "–", "[]"}));
}

TEST(HeadedTable, ShowsSmallSharesWithTheDecimalsOfADifference) {
  const Table table =
      headed_table(std::vector<Shown>{{.name = "", .cut = 0.0002}, {.name = "", .cut = 0.25}});
  EXPECT_EQ(display_text(table.rows()[0][3]), "0.02%");
  EXPECT_EQ(display_text(table.rows()[1][3]), "25.00%");
  EXPECT_TRUE(table.rows()[0][7].is_absent());
}

}  // namespace
}  // namespace hone
