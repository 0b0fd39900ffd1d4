#include "hone/jobs/format_comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

using testing::builtin;
using testing::choice_splits;
using testing::format_called;
using testing::quiet_context;
using testing::tiny_model;

FormatChoice choice(std::string_view text) {
  return parse_choice(text, quiet_context().library.formats);
}

FormatStudy study_of(const std::vector<FormatChoice>& choices,
                     const EncodedSplits& data = choice_splits()) {
  return compare_formats(tiny_model(), data, choices,
                         {.calibration = {.batch_size = 8, .batch_count = 2}}, quiet_context());
}

std::vector<FormatResult> compared(const std::vector<FormatChoice>& choices) {
  return study_of(choices).results;
}

TEST(ParseChoice, GivesOneFormatToAllThatIsRead) {
  const Format format = format_called("mxint(bits=8)");
  const FormatChoice all = choice("mxint(bits=8)");
  EXPECT_EQ(all.label, "mxint(bits=8)");
  EXPECT_EQ(all.formats, (LayerFormats{format, format, format, std::nullopt}));
}

TEST(ParseChoice, GivesWeightsAndInputsOneEach) {
  EXPECT_EQ(choice("ternary/bf16").formats,
            (LayerFormats{.input = format_called("bf16"), .weight = format_called("ternary")}));
  EXPECT_EQ(choice("ternary/none").formats, (LayerFormats{.weight = format_called("ternary")}));
  EXPECT_EQ(choice("none/bf16").formats, (LayerFormats{.input = format_called("bf16")}));
  EXPECT_EQ(choice("none/bf16").label, "none/bf16");
}

TEST(ParseChoice, RefusesWhatIsNoFormat) {
  expect_user_error("unknown format 'ternari'; did you mean 'ternary'?",
                    [] { choice("ternari/none"); });
  expect_user_error("unknown format 'bf61'", [] { choice("none/bf61"); });
  expect_user_error("unknown format 'none'", [] { choice("none"); });
  expect_user_error("unknown format ''", [] { choice("bf16/"); });
  expect_user_error("unknown format", [] { choice("bf16/bf16/bf16"); });
}

OperandNoise noise(std::string layer, Operand operand, double signal, double noise) {
  OperandNoise one{std::move(layer), operand, {}, {}};
  one.noise.signal = signal;
  one.noise.noise = noise;
  return one;
}

// Noise shares of 0.01 and 0.25: -10 log10(0.13).
TEST(MeanSnr, IsThatOfTheMeanNoiseShare) {
  const std::vector<OperandNoise> all = {
      noise("a", Operand::weight, 100, 1), noise("b", Operand::weight, 4, 1),
      noise("c", Operand::weight, 0, 0),  // zeros have no ratio
      noise("a", Operand::bias, 1, 1), noise("a", Operand::input, 5, 0)};
  EXPECT_NEAR(mean_snr_db(all, Operand::weight), 8.860566, 1e-6);
  EXPECT_EQ(mean_snr_db(all, Operand::bias), 0);
  EXPECT_EQ(mean_snr_db(all, Operand::input), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(mean_snr_db(all, Operand::output)));
}

// Four bits fewer cost 24 dB for blocks of 32 normal values.
TEST(CompareFormats, FindsEightBitsBetterThanFour) {
  const std::vector<FormatResult> results =
      compared({choice("mxint(bits=8)"), choice("mxint(bits=4)")});
  ASSERT_EQ(results.size(), 2u);
  for (const Operand operand : {Operand::weight, Operand::input, Operand::output}) {
    SCOPED_TRACE(to_string(operand));
    EXPECT_NEAR(mean_snr_db(results[0].noise, operand) - mean_snr_db(results[1].noise, operand), 24,
                3);
  }
  EXPECT_GT(results[0].model.comparison->snr_db, results[1].model.comparison->snr_db + 12);
}

// The study measures the loss of unsuitable formats, too.
TEST(CompareFormats, TriesWhatAFormatObjectsTo) {
  const FormatResult result =
      compared({choice("minifloat_ieee(width=8,exponent_width=4,exponent_bias=27)")})[0];
  EXPECT_LT(result.model.comparison->snr_db, 1);
}

// The linears have rows of 32 or 64 and biases of 32, 64 or 2, which are not padded to blocks of 32: 8 bits per value
// and a byte per block.
TEST(CompareFormats, CountsTheBytesOfAllParameters) {
  const Model model = tiny_model();
  std::int64_t all = 0, linears = 0, blocks = 0, weights = 0, weight_blocks = 0;
  for (const auto& [name, tensor] : model.parameters.tensors()) {
    all += tensor.count();
    const bool linear = name == "classifier.weight" || name == "classifier.bias" ||
                        name.find("pooler") != std::string::npos ||
                        name.find(".self.") != std::string::npos ||
                        name.find("dense") != std::string::npos;
    if (!linear) continue;
    linears += tensor.count();
    blocks += (tensor.count() + 31) / 32;
    if (!name.ends_with(".weight")) continue;
    weights += tensor.count();
    weight_blocks += (tensor.count() + 31) / 32;
  }
  const FormatResult result = compared({choice("mxint(bits=8,block=32)")})[0];
  EXPECT_DOUBLE_EQ(result.bytes, static_cast<double>(4 * (all - linears) + linears + blocks));
  EXPECT_DOUBLE_EQ(result.model.average_weight_bits,
                   8 + 8.0 * static_cast<double>(weight_blocks) / static_cast<double>(weights));
}

std::string cell(const Table& table, std::size_t row, std::string_view key) {
  for (std::size_t i = 0; i < table.columns().size(); ++i)
    if (table.columns()[i].key == key) return display_text(table.rows()[row][i]);
  ADD_FAILURE() << "no column " << key;
  return "";
}

TEST(ChoiceTable, HasARowForFp32AndEveryChoice) {
  const FormatStudy study = study_of({choice("mxint(bits=8)"), choice("ternary/none")});
  const Table table = choice_table(study);
  ASSERT_EQ(table.rows().size(), 3u);
  EXPECT_EQ(cell(table, 0, "format"), "fp32");
  EXPECT_EQ(cell(table, 0, "arithmetic"), "fp32");
  EXPECT_EQ(cell(table, 0, "verdict"), "–");
  EXPECT_EQ(cell(table, 1, "format"), "mxint(bits=8)");
  EXPECT_EQ(cell(table, 1, "arithmetic"), "simulated");
  EXPECT_NEAR(std::stod(cell(table, 1, "weight_snr_db")),
              mean_snr_db(study.results[0].noise, Operand::weight), 0.05);
  EXPECT_EQ(cell(table, 2, "format"), "ternary/none");
  EXPECT_EQ(cell(table, 2, "input_snr_db"), "–");
  EXPECT_NE(cell(table, 2, "weight_snr_db"), "–");
  // 40 texts cannot show half a point.
  EXPECT_EQ(cell(table, 1, "verdict"), "inconclusive");
}

TEST(CompareFormats, ChoosesOnValidationAndReportsTest) {
  const FormatStudy study = study_of({choice("mxint(bits=8)")});
  EXPECT_EQ(study.choice.split, "validation");
  EXPECT_EQ(study.choice.baseline.evaluation.examples, 40);
  EXPECT_EQ(study.results[0].model.measurement.evaluation.examples, 40);
  // Nothing is shown to be within the limit, so only the baseline is evaluated on test.
  EXPECT_FALSE(study.chosen);
  ASSERT_EQ(study.choice.reported.size(), 1u);
  EXPECT_EQ(study.choice.reported[0].measurement.evaluation.examples, 24);
  EXPECT_TRUE(choice_verdict(study).ends_with("; on validation, n = 40.")) << choice_verdict(study);
  ASSERT_EQ(choice_findings(study).size(), 1u);
  EXPECT_TRUE(choice_findings(study)[0].starts_with(
      "mxint(bits=8), validation, n = 40: accuracy changed by "))
      << choice_findings(study)[0];
}

TEST(CompareFormats, OfTooFewTextsCrownsNone) {
  const FormatStudy study = study_of({choice("fp16"), choice("mxint(bits=8)")});
  EXPECT_FALSE(study.chosen) << "no prediction differs, which 40 texts show of little";
  EXPECT_NE(choice_verdict(study).find("none is shown to keep"), std::string::npos);
  EXPECT_NE(choice_verdict(study).find("Holm's correction for 2"), std::string::npos);
}

// Neither of two equal formats is called the better one.
TEST(CompareFormats, SaysATieAsATie) {
  const FormatStudy study = study_of({choice("fp16"), choice("integer(width=24,frac=16)")});
  ASSERT_EQ(study.results[0].model.comparison->counted->flips, 0);
  ASSERT_EQ(study.results[1].model.comparison->counted->flips, 0);
  EXPECT_NE(
      choice_verdict(study).find("; 2 of them share the highest lower end of the 95% interval, "
                                 "-8.76 points, with 0.00% of predictions changed "
                                 "(integer(width=24,frac=16), fp16); on validation, n = 40"),
      std::string::npos)
      << choice_verdict(study);
  EXPECT_TRUE(choice_findings(study)[0].starts_with(
      "The least noisy of them, integer(width=24,frac=16), validation, n = 40: "))
      << choice_findings(study)[0];
}

// On 2000 texts neither fp16 nor bf16 loses anything, so both are within the limit. They have the same bits, and fp16
// keeps more of the margins.
TEST(CompareFormats, ChoosesTheFewestBitsAndThenTheWidestMargins) {
  EncodedSplits data = choice_splits();
  data.validation = testing::tiny_texts(2000, 2);
  const FormatStudy study =
      study_of({choice("bf16"), choice("fp16"), choice("integer(width=24,frac=16)")}, data);
  for (const FormatResult& result : study.results) {
    SCOPED_TRACE(result.choice.label);
    ASSERT_LE(result.model.comparison->counted->flips, 1);
    EXPECT_TRUE(result.model.verdict->within_limit());
  }
  EXPECT_EQ(study.chosen, 1u);
  ASSERT_EQ(study.choice.reported.size(), 2u);
  EXPECT_EQ(study.choice.reported[1].label, "fp16");
  EXPECT_EQ(study.choice.reported[1].measurement.evaluation.examples, 24);
  EXPECT_EQ(study.choice.split, "validation");
  EXPECT_EQ(study.choice.baseline.evaluation.examples, 2000);
  const ChoiceResult shown = choice_result(study.choice, {"negative", "positive"},
                                           choice_verdict(study), choice_findings(study));
  EXPECT_EQ(shown.reported_split, "test");
  EXPECT_EQ(shown.reported.size(), 2u);
}

TEST(LayerTable, HasARowForEveryLayerAndChoice) {
  const std::vector<FormatResult> results =
      compared({choice("mxint(bits=8)"), choice("none/bf16")});
  const Table table = layer_table(results);
  ASSERT_EQ(table.rows().size(), 14u * 2);
  std::set<std::pair<std::string, std::string>> rows;
  for (std::size_t i = 0; i < table.rows().size(); ++i)
    rows.emplace(cell(table, i, "layer"), cell(table, i, "format"));
  EXPECT_EQ(rows.size(), 14u * 2);
  EXPECT_EQ(cell(table, 0, "layer"), cell(table, 1, "layer"));
  const OperandNoise& first = results[0].noise[1];
  ASSERT_EQ(first.operand, Operand::weight);
  EXPECT_NEAR(std::stod(cell(table, 0, "weight_snr_db")), first.noise.snr_db(), 0.05);
  EXPECT_EQ(cell(table, 1, "weight_snr_db"), "–");
}

TEST(UsualChoices, RunOnAModelAndKeepItsOrder) {
  const std::vector<FormatChoice> choices = default_format_choices(quiet_context().library.formats);
  std::set<std::string_view> kinds;
  for (const FormatChoice& one : choices)
    for (const Operand operand : kOperands)
      if (one.formats[operand]) kinds.insert(one.formats[operand]->def->name);
  for (const auto& [name, def] : builtin().formats) EXPECT_TRUE(kinds.contains(name)) << name;
  const std::vector<FormatResult> results = compared(choices);
  ASSERT_EQ(results.size(), choices.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    SCOPED_TRACE(choices[i].label);
    EXPECT_EQ(results[i].choice.label, choices[i].label);
    EXPECT_FALSE(std::isnan(mean_snr_db(results[i].noise, Operand::output)));
    EXPECT_GT(results[i].bytes, 0);
    for (const float logit : results[i].model.measurement.logits) ASSERT_TRUE(std::isfinite(logit));
  }
}

// Of the formats with 4 bits the better one is on the front. The one with 8 bits is no better than that.
TEST(ChoiceSection, DrawsBitsAgainstMarginSnrWithTheParetoFront) {
  FormatStudy study = study_of({choice("ternary/none"), choice("mxint(bits=4)"),
                                choice("int(bits=4)"), choice("int(bits=8)"), choice("fp16")});
  const std::pair<double, double> places[] = {
      {2, 5}, {4, 20}, {4, 10}, {8, 20}, {16, std::numeric_limits<double>::infinity()}};
  for (std::size_t i = 0; i < std::size(places); ++i) {
    study.results[i].model.average_weight_bits = places[i].first;
    study.results[i].model.comparison->snr_db = places[i].second;
  }
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  const Section section = choice_section(study, folder.path() / "formats", notes);
  EXPECT_TRUE(notes.empty());
  const std::string data = read_file(folder.path() / "formats.tsv");
  EXPECT_NE(data.find("1\tPareto front\t2\t5\tnan\tnan\t2\t5\tternary/none\n"
                      "1\tPareto front\t4\t20\tnan\tnan\t4\t20\tmxint(bits=4)\n\n"),
            std::string::npos)
      << data;
  EXPECT_EQ(data.find("fp16"), std::string::npos);
  const auto says = [&](const std::string& text) {
    return std::ranges::any_of(section.blocks, [&](const Block& block) {
      const auto* paragraph = std::get_if<Paragraph>(&block);
      return paragraph != nullptr && paragraph->text.find(text) != std::string::npos;
    });
  };
  EXPECT_TRUE(says("Not in the figure")) << "infinite";
  EXPECT_TRUE(says("fp16"));
}

TEST(ChoiceSection, OfOneFormatHasNoFigure) {
  const TemporaryFolder folder;
  std::vector<std::string> notes;
  choice_section(study_of({choice("mxint(bits=8)")}), folder.path() / "formats", notes);
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

}  // namespace
}  // namespace hone
