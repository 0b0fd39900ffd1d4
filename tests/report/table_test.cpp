#include "hone/report/table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <limits>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(DisplayText, RoundsNumbers) {
  EXPECT_EQ(display_text("fp32"), "fp32");
  EXPECT_EQ(display_text(4386178), "4,386,178");
  EXPECT_EQ(display_text(std::size_t{12}), "12");
  EXPECT_EQ(display_text(real(0.4567, 2)), "0.46");
  EXPECT_EQ(display_text(percent(0.838)), "83.8%");
  EXPECT_EQ(display_text(percent(0.00123, 2)), "0.12%");
  EXPECT_EQ(display_text(bytes(17544712)), "16.73 MiB");
  EXPECT_EQ(display_text(absent), "–");
}

TEST(DisplayText, NeverShowsANumberAsZeroThatIsNot) {
  EXPECT_EQ(display_text(real(0.0004, 2)), "< 0.01");
  EXPECT_EQ(display_text(real(-3.4e-9, 2)), "> -0.01");
  EXPECT_EQ(display_text(percent(0.00002)), "< 0.1%");
  EXPECT_EQ(display_text(flips_within(0.0001, 0.00001, 0.0005)), "0.01% (< 0.01 to 0.05)");
  EXPECT_EQ(display_text(real(0, 2)), "0.00");
  EXPECT_EQ(display_text(real(0.005, 2)), "0.01") << "the double is above 5/1000";
}

TEST(DisplayText, NamesWhatIsNotFinite) {
  EXPECT_EQ(display_text(real(kInfinity, 1)), "∞");
  EXPECT_EQ(display_text(real(-kInfinity, 1)), "-∞");
  EXPECT_EQ(display_text(percent(kNaN)), "–");
}

TEST(DisplayText, GivesAShareWithBothEndsOfItsInterval) {
  EXPECT_EQ(display_text(percent_within(0.918, 0.8905, 0.9435)), "91.8% (89.1 to 94.4)");
  EXPECT_EQ(display_text(percent_within(1, 0.904, 1)), "100.0% (90.4 to 100.0)");
  EXPECT_EQ(display_text(flips_within(0, 0, 0.0038)), "0.00% (0.00 to 0.38)");
  EXPECT_EQ(display_text(points_within(-0.0023, -0.0064, 0.0018)), "-0.23 (-0.64 to +0.18)");
  EXPECT_EQ(display_text(percent_within(kNaN, 0, 1)), "–");
  EXPECT_EQ(display_text(percent_within(0.8, kNaN, kNaN)), "80.0%");
}

TEST(SentenceText, HasTheDecimalsOfACell) {
  EXPECT_EQ(sentence_text({0.918, 0.8905, 0.9435}), "91.8% (95% CI 89.1 to 94.4)");
  EXPECT_EQ(sentence_text({0.9027, 0.8949, 0.9099}), "90.3% (95% CI 89.5 to 91.0)");
}

TEST(DisplayText, NeverGivesAProbabilityOfZero) {
  EXPECT_EQ(display_text(p_value(0.3986)), "0.399");
  EXPECT_EQ(display_text(p_value(7.2e-10)), "7e-10");
  EXPECT_EQ(display_text(p_value(0)), "< 1e-300");
  EXPECT_EQ(display_text(p_value(kNaN)), "–");
}

// Equal values must not look different because one has a narrower interval.
TEST(DisplayText, HasOneNumberOfDecimalsHoweverSureAShareIs) {
  EXPECT_EQ(display_text(percent_within(0.5152, 0.3, 0.7)), "51.5% (30.0 to 70.0)");
  EXPECT_EQ(display_text(percent_within(0.5152, 0.5112, 0.5192)), "51.5% (51.1 to 51.9)");
  EXPECT_EQ(display_text(percent_within(0.54, kNaN, kNaN)), "54.0%");
}

TEST(DisplayColumn, HasDecimalsInAllRowsOrNone) {
  Table table({{"model", "Model"}, {"bits", "Bits"}, {"size", "Size"}});
  table.add_row({"a", bits(32), bytes(16 << 20)});
  table.add_row({"b", bits(8), bytes(812)});
  EXPECT_EQ(display_column(table, 1), (std::vector<std::string>{"32", "8"}));
  EXPECT_EQ(display_column(table, 2), (std::vector<std::string>{"16 MiB", "812 B"}));
  table.add_row({"c", bits(8.25), bytes(2952790)});
  EXPECT_EQ(display_column(table, 1), (std::vector<std::string>{"32.00", "8.00", "8.25"}));
  EXPECT_EQ(display_column(table, 2), (std::vector<std::string>{"16.00 MiB", "812 B", "2.82 MiB"}));
}

TEST(DisplayColumn, HasSizesInOneUnitUnlessSomeVanishInIt) {
  Table table({Column{"size", "Size"}});
  table.add_row({bytes(16 << 20)});
  table.add_row({bytes(2 << 20)});
  EXPECT_EQ(display_column(table, 0), (std::vector<std::string>{"16 MiB", "2 MiB"}));
  table.add_row({bytes(652 << 10)});
  EXPECT_EQ(display_column(table, 0),
            (std::vector<std::string>{"16.00 MiB", "2.00 MiB", "0.64 MiB"}));
  table.add_row({bytes(100 << 10)});
  EXPECT_EQ(display_column(table, 0),
            (std::vector<std::string>{"16 MiB", "2 MiB", "652 KiB", "100 KiB"}));
}

TEST(DisplayText, GivesTheSharesOfAFewSeeds) {
  EXPECT_EQ(display_text(PerRun{{0.531, 0.54, 0.5}}), "53.1, 54.0, 50.0%");
  EXPECT_EQ(display_text(PerRun{{0.00123, kNaN}, Quantity::flips}), "0.12, –%");
  EXPECT_FALSE(Cell(PerRun{{0.5}}).is_text());
  Table table({Column{"seeds", "Seeds"}});
  table.add_row({PerRun{{0.5, kNaN}}});
  EXPECT_EQ(to_json(table).dump(), R"([{"seeds":[0.5,null]}])");
}

TEST(DisplayText, CountsRunsThatNeverCameSoFar) {
  EXPECT_EQ(display_text(PerRun{{3, kInfinity, 1200}, Quantity::count}), "3, never, 1,200");
}

TEST(DisplayText, GivesRatiosSignificantDigits) {
  EXPECT_EQ(display_text(significant(0.0036)), "0.00360");
  EXPECT_EQ(display_text(number_within(0.0036, 0.00312, 0.0041)), "0.00360 (0.00312 to 0.00410)");
  EXPECT_EQ(display_text(number_within(1.8412, 1.79, 12.04)), "1.84 (1.79 to 12.0)");
}

TEST(DisplayText, SaysOfHowManyRunsAMeanIs) {
  EXPECT_EQ(display_text(Estimate{.value = 0.509, .low = 0.473, .high = 0.527, .runs = 3}),
            "50.9% (47.3 to 52.7, 3 runs)");
}

TEST(DisplayText, CutsNamesFromStrangersFiles) {
  EXPECT_LT(display_text(std::string(5000000, 'x')).size(), 600u);
}

// If they became spaces, two labels could look the same.
TEST(DisplayText, ShowsControlCharactersInOneLine) {
  EXPECT_EQ(display_text("a\nb\tc\x1b[2J"), "a\\nb\\tc\\x1b[2J");
  Table table({{"a\nb", "A\nB"}, {"same", "Same\nthing"}});
  table.add_row({"x\ny", "one\ntwo"});
  table.add_row({"z", "one\ntwo"});
  EXPECT_EQ(to_text(table),
            "A\\nB  Same\\nthing\n────  ───────────\nx\\ny  one\\ntwo\nz     one\\ntwo\n");
  EXPECT_EQ(to_json(table)[0]["a\nb"], "x\ny") << "programs get what there is";
}

Table example_table() {
  Table table(
      {{"format", "Format"}, {"accuracy", "Accuracy"}, {"flips", "Flips"}, {"size_bytes", "Size"}});
  table.add_row({"fp32", percent(0.8381), absent, bytes(17544712)});
  table.add_row({"mxint8", percent(0.8379), percent(0.0012, 2), bytes(16316424)});
  return table;
}

TEST(TableText, AlignsNumbersToTheRight) {
  EXPECT_EQ(to_text(example_table()),
            "Format  Accuracy  Flips       Size\n"
            "──────  ────────  ─────  ─────────\n"
            "fp32       83.8%      –  16.73 MiB\n"
            "mxint8     83.8%  0.12%  15.56 MiB\n");
}

TEST(TableText, CountsColumnsOfTheTerminalNotBytes) {
  Table table({{"name", "Name"}, {"n", "n"}});
  table.add_row({"é", 1});
  table.add_row({"模型", 22});     // two wide characters
  table.add_row({"e\u0301x", 3});  // a combining accent
  EXPECT_EQ(to_text(table),
            "Name   n\n"
            "────  ──\n"
            "é      1\n"
            "模型  22\n"
            "e\u0301x     3\n");
}

TEST(TableText, SurvivesBrokenUtf8) {
  Table table({{"a", "A"}, {"b", "B"}});
  table.add_row({"\xff\xfe", "x"});
  EXPECT_EQ(to_text(table), "A   B\n──  ─\n\xff\xfe  x\n");
}

TEST(TableText, LeavesNoSpacesAtTheEnd) {
  Table table({{"a", "A"}, {"b", "Long header"}});
  table.add_row({"x", "y"});
  EXPECT_EQ(to_text(table), "A  Long header\n─  ───────────\nx  y\n");
}

TEST(TableText, OfNoRowsIsTheHeader) { EXPECT_EQ(to_text(Table({Column{"a", "A"}})), "A\n─\n"); }

TEST(TableCsv, GivesRawNumbersUnderKeys) {
  EXPECT_EQ(to_csv(example_table()),
            "format,accuracy,flips,size_bytes\r\n"
            "fp32,0.8381,,17544712\r\n"
            "mxint8,0.8379,0.0012,16316424\r\n");
}

TEST(TableCsv, QuotesWhatWouldBreakIt) {
  Table table({{"a", ""}, {"b", ""}, {"c,d", ""}});
  table.add_row({"say \"no\"", "x,y", "two\r\nlines"});
  table.add_row({real(kInfinity, 1), real(kNaN, 1), real(0.1, 1)});
  EXPECT_EQ(to_csv(table),
            "a,b,\"c,d\"\r\n"
            "\"say \"\"no\"\"\",\"x,y\",\"two\r\nlines\"\r\n"
            "inf,nan,0.1\r\n");
}

TEST(TableJson, GivesRawNumbersUnderKeys) {
  EXPECT_EQ(to_line(to_json(example_table())),
            R"([{"format":"fp32","accuracy":0.8381,"flips":null,"size_bytes":17544712},)"
            R"({"format":"mxint8","accuracy":0.8379,"flips":0.0012,"size_bytes":16316424}])");
}

TEST(TableJson, GivesIntervalsBesideTheirShares) {
  Table table({{"model", "Model"}, {"accuracy", "Accuracy"}, {"p", "p"}});
  table.add_row({"a", percent_within(0.5, 0.25, 0.75), p_value(0)});
  table.add_row({"b", absent, absent});
  EXPECT_EQ(to_line(to_json(table)),
            R"([{"model":"a","accuracy":0.5,"accuracy_interval":[0.25,0.75],"p":0.0},)"
            R"({"model":"b","accuracy":null,"accuracy_interval":null,"p":null}])");
  EXPECT_EQ(to_csv(table),
            "model,accuracy,accuracy_low,accuracy_high,p\r\n"
            "a,0.5,0.25,0.75,0\r\n"
            "b,,,,\r\n");
}

// Each number has a column of its own, so that no text needs parsing.
TEST(TableCsv, HasAColumnForEachNumberOfACell) {
  Table table({{"width", "Width"}, {"accuracy", "Accuracy"}, {"trials", "Trials"}});
  table.add_row({8, Estimate{.value = 0.5, .low = 0.25, .high = 0.75, .n = 2000},
                 PerRun{{3, kInfinity}, Quantity::count}});
  table.add_row({16, Estimate{.value = 0.5, .low = 0.4, .high = 0.6, .runs = 3}, absent});
  EXPECT_EQ(to_csv(table),
            "width,accuracy,accuracy_low,accuracy_high,accuracy_n,accuracy_runs,"
            "trials,trials_1,trials_2\r\n"
            "8,0.5,0.25,0.75,2000,,inf,3,inf\r\n"
            "16,0.5,0.4,0.6,,3,,,\r\n");
}

TEST(TableCsv, HasAColumnForEachNameOfATally) {
  Table table({{"search", "Search"}, {"linears", "Linears"}});
  table.add_row({"a", Tally{{{"integer", 9}, {"none", 5}}}});
  table.add_row({"b", Tally{{{"log", 14}}}});
  EXPECT_EQ(to_csv(table),
            "search,linears,linears_integer,linears_none,linears_log\r\n"
            "a,14,9,5,\r\n"
            "b,14,,,14\r\n");
  EXPECT_EQ(to_json(table)[0]["linears"], (Json{{"integer", 9}, {"none", 5}}));
  EXPECT_EQ(display_column(table, 1), (std::vector<std::string>{"9 integer, 5 none", "14 log"}));
  EXPECT_EQ(display_text(Tally{}), "none");
}

TEST(TableJson, HasNullForWhatIsNotFinite) {
  Table table({Column{"snr", "SNR"}});
  table.add_row({real(kInfinity, 1)});
  EXPECT_TRUE(to_json(table)[0]["snr"].is_null());
}

TEST(Table, HasListsOfNumbers) {
  Table table({Column{"tensor", "Tensor"}, Column{"shape", "Shape"}});
  table.add_row({"weight", std::vector<std::int64_t>{8, 128}});
  EXPECT_EQ(display_text(table.rows()[0][1]), "[8, 128]");
  EXPECT_EQ(to_json(table)[0]["shape"], (Json{8, 128}));
  EXPECT_EQ(to_csv(table), "tensor,shape\r\nweight,\"[8,128]\"\r\n");
}

TEST(Table, RefusesRowsOfAnotherWidthAndKeysTwice) {
  Table table = example_table();
  EXPECT_THROW(table.add_row({"fp32"}), InternalError);
  EXPECT_THROW(Table(std::vector<Column>{{"a", "A"}, {"a", "B"}}), InternalError);
}

}  // namespace
}  // namespace hone
