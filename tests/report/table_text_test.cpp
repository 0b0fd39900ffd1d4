#include <gtest/gtest.h>

#include <fmt/format.h>

#include "hone/base/text.h"
#include "hone/report/table.h"

namespace hone {
namespace {

// Returns a table like that of a comparison: long names, many values, headers of several words.
Table comparison() {
  Table table({{"model", "Model"},
               {"accuracy", "Accuracy"},
               {"loss", "Loss"},
               {"flips", "Flips"},
               {"mcnemar_p", "McNemar p"},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"verdict", "Verdict"}});
  table.add_row({"before", percent(0.903), real(0.2389, 4), absent, absent, absent, absent});
  table.add_row({"PTQ integer(width=24,frac=12)", percent(0.903), real(0.2389, 4), percent(0),
                 p_value(1), real(61.5, 1), toned("kept", Tone::good)});
  table.add_row({"PTQ integer(width=4,frac=2)", percent(0.506), real(0.6931, 4), percent(0.4942),
                 p_value(0), real(0, 1), toned("lost", Tone::bad)});
  return table;
}

Table layers() {
  Table table({{"layer", "Layer"}, {"snr_db", "Signal to noise (dB)"}});
  for (int layer : {0, 1, 11})
    table.add_row({fmt::format("bert.encoder.layer.{}.attention.output.dense", layer),
                   real(31.4 + layer, 1)});
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  EXPECT_FALSE(lines.empty());
  if (!lines.empty()) lines.pop_back();
  return lines;
}

TEST(TableLayout, FitsEveryWidth) {
  for (const Table& table : {comparison(), layers()}) {
    for (std::size_t columns = 24; columns <= 200; ++columns) {
      for (const std::string& line : lines_of(to_text(table, {.columns = columns}))) {
        EXPECT_LE(display_width(line), columns) << line;
        EXPECT_FALSE(line.ends_with(' ')) << line;
      }
    }
  }
}

TEST(TableLayout, BreaksNoWordAndLosesNone) {
  for (std::size_t columns = 40; columns <= 200; ++columns) {
    const std::string text = to_text(comparison(), {.columns = columns});
    for (const char* word : {"Accuracy", "McNemar", "Margin", "(dB)", "90.3%", "50.6%", "61.5",
                             "< 1e-300", "kept", "lost"})
      EXPECT_NE(text.find(word), std::string::npos) << columns << " columns: " << word << "\n"
                                                    << text;
  }
}

TEST(TableLayout, AtAnyLengthIsOneLineForEachRow) {
  EXPECT_EQ(
      to_text(comparison()),
      "Model                          Accuracy    Loss  Flips  McNemar p  Margin SNR (dB)  "
      "Verdict\n"
      "─────────────────────────────  ────────  ──────  ─────  ─────────  ───────────────  "
      "───────\n"
      "before                            90.3%  0.2389      –          –                –  –\n"
      "PTQ integer(width=24,frac=12)     90.3%  0.2389   0.0%      1.000             61.5  "
      "kept\n"
      "PTQ integer(width=4,frac=2)       50.6%  0.6931  49.4%   < 1e-300              0.0  "
      "lost\n");
}

TEST(TableLayout, BreaksNoHeader) {
  for (std::size_t columns = 40; columns <= 200; ++columns) {
    const std::string text = to_text(comparison(), {.columns = columns});
    for (const char* header : {"McNemar p", "Margin SNR (dB)"})
      EXPECT_NE(text.find(header), std::string::npos) << columns << " columns\n" << text;
  }
}

TEST(TableLayout, ThenPutsNamesAbove) {
  EXPECT_EQ(to_text(comparison(), {.columns = 80}),
            "Model\n"
            "  Accuracy    Loss  Flips  McNemar p  Margin SNR (dB)  Verdict\n"
            "  ────────  ──────  ─────  ─────────  ───────────────  ───────\n"
            "before\n"
            "     90.3%  0.2389      –          –                –  –\n"
            "PTQ integer(width=24,frac=12)\n"
            "     90.3%  0.2389   0.0%      1.000             61.5  kept\n"
            "PTQ integer(width=4,frac=2)\n"
            "     50.6%  0.6931  49.4%   < 1e-300              0.0  lost\n");
}

TEST(TableLayout, ThenPutsFiguresOnSeveralLines) {
  EXPECT_EQ(to_text(comparison(), {.columns = 44}),
            "Model\n"
            "   Accuracy             Loss    Flips\n"
            "  McNemar p  Margin SNR (dB)  Verdict\n"
            "  ─────────  ───────────────  ───────\n"
            "before\n"
            "      90.3%           0.2389        –\n"
            "          –                –  –\n"
            "PTQ integer(width=24,frac=12)\n"
            "      90.3%           0.2389     0.0%\n"
            "      1.000             61.5  kept\n"
            "PTQ integer(width=4,frac=2)\n"
            "      50.6%           0.6931    49.4%\n"
            "   < 1e-300              0.0  lost\n");
}

TEST(TableLayout, LeavesNoColumnOutAtAnyWidth) {
  Table table({{"name", "Name"}, {"a", "First"}, {"b", "Second"}, {"c", "Third"}});
  table.add_row({"x", 100000, 200000, 300000});
  table.add_row({"y", 100001, 200001, 300001});
  for (std::size_t columns = 12; columns <= 60; ++columns) {
    const std::string text = to_text(table, {.columns = columns});
    for (const char* figure : {"First", "200,000", "Third", "300,001"})
      EXPECT_NE(text.find(figure), std::string::npos) << columns << "\n" << text;
  }
}

// Shortening removes the common part of format names, not the part that differs.
TEST(TableLayout, KeepsNamesApartInEveryColumn) {
  Table table({{"folder", "Folder"}, {"variant", "Variant"}, {"accuracy", "Accuracy"}});
  for (const int bits : {8, 4})
    table.add_row({fmt::format("runs/{}", bits),
                   fmt::format("PTQint(bits={},per=row,scale=dynamic)", bits),
                   percent_within(0.9027, 0.8949, 0.9099)});
  for (std::size_t columns = 30; columns <= 80; ++columns) {
    const std::string text = to_text(table, {.columns = columns});
    for (const char* name : {"(bits=8", "(bits=4"})
      EXPECT_NE(text.find(name), std::string::npos) << columns << "\n" << text;
  }
}

// Returns values measured on few texts, which have long intervals.
Table unsure() {
  Table table({{"model", "Model"},
               {"variant", "A variant of it"},
               {"accuracy", "Accuracy"},
               {"change", "Change"},
               {"flips", "Flips"}});
  for (const int bits : {8, 4})
    table.add_row({fmt::format("run {}", bits),
                   fmt::format("int(bits={},per=row,scale=dynamic)", bits),
                   percent_within(1, 0.904, 1), points_within(-0.001, -0.0049, 0.0031),
                   bits == 8 ? Cell(absent) : flips_within(0, 0, 0.0038)});
  return table;
}

TEST(TableLayout, ThenMakesRecords) {
  EXPECT_EQ(to_text(unsure(), {.columns = 41}),
            "run 8\n"
            "  A variant of it\n"
            "    int(bits=8,per=row,scale=dynamic)\n"
            "  Accuracy         100.0% (90.4 to 100.0)\n"
            "  Change           -0.10 (-0.49 to +0.31)\n"
            "run 4\n"
            "  A variant of it\n"
            "    int(bits=4,per=row,scale=dynamic)\n"
            "  Accuracy         100.0% (90.4 to 100.0)\n"
            "  Change           -0.10 (-0.49 to +0.31)\n"
            "  Flips            0.00% (0.00 to 0.38)\n");
}

TEST(TableLayout, BreaksInRecordsWhatHasSeveralWords) {
  Table table({{"model", "Model"}, {"caution", "Caution"}, {"flips", "Flips"}});
  table.add_row({"after int(bits=4,per=row,scale=dynamic)",
                 "all used for choices; interval: other seeds, the same texts",
                 flips_within(0, 0, 0.0038)});
  table.add_row({"before", "none", absent});
  EXPECT_EQ(to_text(table, {.columns = 32}),
            "after\n"
            "int(bits=4…er=row,scale=dynamic)\n"
            "  Caution  all used for choices;\n"
            "           interval: other\n"
            "           seeds, the same texts\n"
            "  Flips    0.00% (0.00 to 0.38)\n"
            "before\n"
            "  Caution  none\n");
}

TEST(TableLayout, IsOneOfTablesThatAreCompared) {
  const Table wide = unsure();
  Table narrow(wide.columns());
  narrow.add_row({"run 8", "int", percent(1), points_within(0, -0.1, 0.1), absent});
  ASSERT_EQ(to_text(narrow, {.columns = 66}).find("run 8\n"), std::string::npos);
  const std::vector<std::string> texts = to_texts({narrow, wide}, {.columns = 66});
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_EQ(texts[1], to_text(wide, {.columns = 66}));
  for (const std::string& text : texts)
    EXPECT_NE(text.find("run 8\n"), std::string::npos) << "a name on a line of its own in\n"
                                                       << text;
  EXPECT_TRUE(to_texts({}).empty());
}

TEST(TableLayout, ShortensNamesAsLongAsTheyDiffer) {
  EXPECT_EQ(to_text(layers(), {.columns = 60}),
            "Layer                                   Signal to noise (dB)\n"
            "──────────────────────────────────────  ────────────────────\n"
            "bert.encoder….0.attention.output.dense                  31.4\n"
            "bert.encoder….1.attention.output.dense                  32.4\n"
            "bert.encoder…11.attention.output.dense                  42.4\n");
  // At 40 columns layer 0 and layer 1 must remain distinguishable.
  const std::string narrow = to_text(layers(), {.columns = 40});
  for (const char* number : {".0.", ".1.", "11."})
    EXPECT_NE(narrow.find(number), std::string::npos) << narrow;
}

TEST(TableLayout, BreaksWhatIsSaidOfANameIntoLines) {
  Table table({{"figure", "Figure"}, {"value", "Value"}});
  table.add_row({"examples", "1,000"});
  table.add_row({"arithmetic", "simulated integer(width=8,frac=4) in 14 of 14 linears"});
  EXPECT_EQ(to_text(table, {.columns = 40}),
            "Figure      Value\n"
            "──────────  ────────────────────────────\n"
            "examples    1,000\n"
            "arithmetic  simulated\n"
            "            integer(width=8,frac=4) in\n"
            "            14 of 14 linears\n");
}

TEST(TableLayout, BreaksProseIntoLinesInEveryColumn) {
  Table table({{"lab", "Lab"}, {"title", "Experiment"}, {"costs", "Cost"}});
  const std::string title = "draw a graph, count and erase operations by passes",
                    costs = "quick: half a minute; paper and full: minutes";
  table.add_row({"0.1", title, "seconds"});
  table.add_row({"4.2", "naive and fused attention", costs});
  EXPECT_EQ(to_text(table, {.columns = 70}),
            "Lab  Experiment                       Cost\n"
            "───  ───────────────────────────────  ────────────────────────────────\n"
            "0.1  draw a graph, count and erase    seconds\n"
            "     operations by passes\n"
            "4.2  naive and fused attention        quick: half a minute; paper and\n"
            "                                      full: minutes\n");
  for (std::size_t columns = 40; columns <= 110; ++columns) {
    const std::string text = to_text(table, {.columns = columns});
    EXPECT_EQ(text.find("…"), std::string::npos) << text;
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(line), columns) << line;
    for (const std::string& sentence : {title, costs})
      for (const std::string& word : split(sentence, ' '))
        EXPECT_NE(text.find(word), std::string::npos) << word << "\n" << text;
  }
}

TEST(TableLayout, ColoursChangeNoWidth) {
  const std::string plain = to_text(comparison(), {.columns = 100}),
                    coloured = to_text(comparison(), {.columns = 100, .colour = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[32mkept\x1b[0m"), std::string::npos) << coloured;
  EXPECT_NE(coloured.find("\x1b[31mlost\x1b[0m"), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[2mAccuracy\x1b[0m"), std::string::npos);
  const std::vector<std::string> expected = lines_of(plain), lines = lines_of(coloured);
  ASSERT_EQ(lines.size(), expected.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(display_width(lines[i]), display_width(expected[i])) << lines[i];
}

TEST(TableLayout, CountsWideCharacters) {
  Table table({{"label", "Label"}, {"text", "Text"}, {"n", "n"}});
  table.add_row({"a", std::string("模型") + std::string(60, 'x') + "尾巴", 1});
  table.add_row({"b", "短", 2});
  for (std::size_t columns = 45; columns < 80; ++columns)
    for (const std::string& line : lines_of(to_text(table, {.columns = columns})))
      EXPECT_LE(display_width(line), columns) << line;
}

// Equal values in all rows are a result, too, such as three samplers with the same best value.
TEST(TableLayout, KeepsColumnsThatAreTheSameInAllRows) {
  Table table({{"sampler", "Sampler"}, {"best", "Best"}, {"way", "Way"}});
  for (const char* sampler : {"grid", "random", "tpe"})
    table.add_row({sampler, percent(0.741), "simulated"});
  EXPECT_EQ(to_text(table),
            "Sampler   Best  Way\n"
            "───────  ─────  ─────────\n"
            "grid     74.1%  simulated\n"
            "random   74.1%  simulated\n"
            "tpe      74.1%  simulated\n");
}

}  // namespace
}  // namespace hone
