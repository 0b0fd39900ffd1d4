#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/mxint8_memory.h"
#include "hone/labs/mxint8_products.h"

namespace hone {
namespace {

std::string run_text(const LabProductsResult& found) {
  return fmt::format("{} texts of {} tokens", found.batch, found.tokens);
}

// Returns the task's main metric.
Cell metric_cell(const EvaluationResult& e) {
  const auto of_metric = [&](const auto& values) {
    return std::ranges::find(values, e.metric.key, [](const auto& one) { return one.first; })
        ->second;
  };
  const Interval interval = of_metric(e.intervals);
  return percent_within(of_metric(e.metrics), interval.low, interval.high);
}

// Returns the changes of its predictions against fp32.
std::vector<Cell> change_cells(const LabProductModelResult& model) {
  if (!model.measured.comparison) return std::vector<Cell>(6, absent);
  const ComparisonResult& c = *model.measured.comparison;
  const auto& change = c.verdict.change_interval;
  return {change ? points_within(c.verdict.change, change->low, change->high) : Cell(absent),
          c.flip_share ? flips_within(*c.flip_share, c.flip_interval->low, c.flip_interval->high)
                       : Cell(absent),
          verdict_cell(c.verdict),
          real(c.margin_snr_db, 1),
          real(model.logits.max_error, 4),
          real(model.logits.rms_error, 4)};
}

Table answers_table(const LabProductsResult& found) {
  const MetricName& metric = found.models.front().measured.metrics.measured.metric;
  Table table({{"model", "Model"},
               {metric.key, metric_title(metric)},
               {"change", "Change"},
               {"flips", "Flips"},
               {"verdict", "Verdict"},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"max_error", "Logits: largest error"},
               {"rms_error", "RMS error"},
               {"rms", "RMS in fp32"},
               {"arithmetic", "Arithmetic"}});
  for (const LabProductModelResult& model : found.models) {
    std::vector<Cell> row = {model.name(), metric_cell(model.measured.metrics.measured)};
    std::ranges::move(change_cells(model), std::back_inserter(row));
    row.push_back(real(model.logits.rms, 3));
    row.emplace_back(model.measured.metrics.arithmetic);
    table.add_row(std::move(row));
  }
  return table;
}

Table work_table(const LabProductsResult& found) {
  const auto millions = [](std::int64_t count) {
    return real(1e-6 * static_cast<double>(count), 2);
  };
  Table table({{"model", "Model"},
               {"linear_layers_fp32", "fp32 layers"},
               {"linear_layers_w8a16", "W8A16 layers"},
               {"linear_layers_w8a8", "W8A8 layers"},
               {"memory_bytes", "Weights"},
               {"moved_bytes", "Moved by linear layers"},
               {"integer_multiply_adds", "Integer multiply-adds (10^6)"},
               {"float_multiply_adds", "Float multiply-adds (10^6)"},
               {"scale_operations", "Scale operations (10^6)"},
               {"conversions", "Conversions (10^6)"},
               {"median_ms", "Median (ms)"},
               {"speedup", "Speedup against fp32"}});
  for (const LabProductModelResult& model : found.models) {
    std::vector<Cell> row = {model.name()};
    for (const auto& [mode, layers] : model.linear_layers) row.emplace_back(layers);
    for (Cell& cell : std::vector<Cell>{
             bytes(model.memory_bytes), bytes(model.moved_bytes),
             millions(model.integer_multiply_adds), millions(model.float_multiply_adds),
             millions(model.scale_operations), millions(model.conversions),
             real(model.times.median_ms, 3), speedup_cell(model.speedup)})
      row.push_back(std::move(cell));
    table.add_row(std::move(row));
  }
  return table;
}

// Whether a difference in speed is claimed: paired rounds show it, and the printed medians agree.
bool is_claimed(const Speedup& speedup, double before_ms, double after_ms) {
  return (speedup.shown_faster() || speedup.shown_slower()) &&
         !speedup.contradicts(before_ms, after_ms) &&
         three_digits(before_ms) != three_digits(after_ms);
}

// `whole`: every row has the times of its shape and its speedup. Otherwise only the first row of a shape has times, and
// only claimed speedups are printed.
Table layers_table(const LabSensitivityResult& sensitivity, bool whole) {
  const LinearModes mixed = mixed_modes(sensitivity);
  Table table({{"layer", "Linear layer"},
               {"rows", "Rows"},
               {"outputs", "Outputs"},
               {"inputs", "Inputs"},
               {"margin_snr_db", "Margin SNR in W8A8 (dB)"},
               {"fp32_us", "fp32 (µs)"},
               {"w8a16_us", "W8A16 (µs)"},
               {"w8a8_us", "W8A8 (µs)"},
               {"w8a8_speedup", "W8A8 speedup against fp32"},
               {"mixed", "In the mixed model"}});
  const auto microseconds = [](double ms) { return real(1e3 * ms, 1); };
  std::set<std::vector<std::int64_t>> shapes;
  for (const LabLinearResult& one : sensitivity.layers) {
    const bool has_times = shapes.insert({one.rows, one.outputs, one.inputs}).second || whole;
    const auto timed = [&](Cell cell) { return has_times ? std::move(cell) : Cell(absent); };
    const Speedup speedup{one.w8a8_speedup, one.w8a8_speedup_interval};
    table.add_row(
        {one.layer, one.rows, one.outputs, one.inputs, real(one.margin_snr_db, 1),
         timed(microseconds(one.fp32_ms)), timed(microseconds(one.w8a16_ms)),
         timed(microseconds(one.w8a8_ms)),
         timed(whole || is_claimed(speedup, one.fp32_ms, one.w8a8_ms)
                   ? number_within(speedup.value, speedup.interval->low, speedup.interval->high)
                   : Cell("not shown")),
         to_string(mixed.at(one.layer))});
  }
  return table;
}

Figure work_figure(const LabProductsResult& found, const LabRun& run) {
  constexpr int kHeight = 260;
  const std::vector<LabProductModelResult>& models = found.models;
  const auto panel = [&](const char* title, const char* label, auto&& value, int digits) {
    Panel bars{.title = title, .x = {.label = label}};
    Series series{.draw = Draw::bars, .with_names = true};
    double most = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const double x = value(models[i]);
      const double y = -static_cast<double>(i);
      bars.y.ticks.push_back({y, models[i].name()});
      if (!std::isfinite(x)) continue;
      most = std::max(most, x);
      series.points.push_back({.x = x, .y = y, .name = fmt::format("{:.{}f}", x, digits)});
    }
    bars.x.range = Range{0, 1.25 * most};
    bars.y.range = Range{0.6 - static_cast<double>(models.size()), 0.6};
    bars.series.push_back(std::move(series));
    return bars;
  };
  const EncodedSet& test = run.subject->data.test;
  return {.title = fmt::format("{}, in fp32, packed and native; {}; one seed", run_text(found),
                               fmt::format("{}, n = {}", run.subject->data.measured.facts.split,
                                           grouped(test.size()))),
          .panels = {panel(
                         "Speedup", "Against fp32, paired runs",
                         [](const LabProductModelResult& m) { return m.speedup.value; }, 2),
                     panel(
                         "Weights in memory", "MiB",
                         [](const LabProductModelResult& m) {
                           return static_cast<double>(m.memory_bytes) / 0x1p20;
                         },
                         2),
                     panel(
                         "Output against fp32", "Margin SNR (dB)",
                         [](const LabProductModelResult& m) {
                           const auto& c = m.measured.comparison;
                           return c ? c->margin_snr_db : std::nan("");
                         },
                         1)},
          .width = 1100,
          .height = kHeight};
}

std::string rule_text(const LabSensitivityResult& sensitivity, const std::string& reported_split) {
  return fmt::format(
      "Mixed: each linear layer was evaluated separately in W8A8 on the first {} examples of {}. "
      "The "
      "layers with the largest errors of the margin, which make half of the sum, keep fp32 inputs "
      "(W8A16). A layer whose W8A8 product is slower than fp32 (95% CI of the ratio below 1) stays "
      "in fp32. All others are W8A8. {}",
      grouped(sensitivity.examples), sensitivity.split,
      sensitivity.split == reported_split
          ? "These examples are among the reported ones, so the numbers flatter the mixed model."
          : "The reported split was not used for this.");
}

// The models that the result compares.
const LabProductModelResult& fp32_of(const LabProductsResult& found) { return found.models[0]; }
const LabProductModelResult& w8a8_of(const LabProductsResult& found) { return found.models[2]; }

std::string count_text(std::int64_t count) {
  return three_digits(1e-6 * static_cast<double>(count)) + " million";
}

std::string size_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

bool is_claimed(const LabProductModelResult& model, const LabProductsResult& found) {
  return is_claimed(model.speedup, fp32_of(found).times.median_ms, model.times.median_ms);
}

// Returns "is 1.16× faster than fp32 (95% CI 1.04 to 1.27)" for W8A8, to follow its name.
std::string speed_clause(const LabProductsResult& found) {
  const Speedup& speedup = w8a8_of(found).speedup;
  const Interval& ends = speedup.interval.value();
  const std::string interval = speed_range_text(ends.low, ends.high);
  return is_claimed(w8a8_of(found), found)
             ? fmt::format("is {} than fp32 (95% CI {})", speed_text(speedup.value), interval)
             : fmt::format("has no measurable difference in speed from fp32 (95% CI {})", interval);
}

/// The operations of W8A8's linear layers, even if no kernel of the device multiplies codes.
struct CodeWork {
  std::int64_t multiply_adds = 0, scale_products = 0;
};
CodeWork code_work_of(const LabProductsResult& found) {
  const LabProductModelResult& codes = w8a8_of(found);
  if (codes.integer_multiply_adds > 0) return {codes.integer_multiply_adds, codes.scale_operations};
  // One for each block.
  return {codes.float_multiply_adds, codes.float_multiply_adds / kLabBlock};
}

// Returns two sentences, the last without a full stop.
std::string answer_sentence(const LabProductsResult& found) {
  const CodeWork work = code_work_of(found);
  return fmt::format(
      "With inputs and weights in MXINT8 (W8A8), linear layers need 8-bit integer multipliers and "
      "one scale product per group of {}: {} integer multiply-adds and {} scale products for {}{}. "
      "An element m of a group with scale E decodes to m · 2^(E − 133)",
      kLabBlock, count_text(work.multiply_adds), count_text(work.scale_products), run_text(found),
      w8a8_of(found).integer_multiply_adds > 0
          ? ""
          : " (computed, as no kernel of this device multiplies codes)");
}

std::vector<Fact> key_figures_of(const LabProductsResult& found) {
  const LabProductModelResult& codes = w8a8_of(found);
  std::vector<Fact> figures = {{"Speed of W8A8, paired runs", "W8A8 " + speed_clause(found)}};
  if (const auto& comparison = codes.measured.comparison)
    figures.push_back({"Predictions of W8A8", comparison->verdict.summary});
  return figures;
}

// Returns the bytes that linear layers move if only results are in fp32.
std::int64_t bytes_with_packed_inputs(const LabSensitivityResult& sensitivity) {
  std::int64_t bytes = 0;
  for (const LabLinearResult& one : sensitivity.layers)
    bytes += (one.rows + one.outputs) * (one.inputs + (one.inputs + kLabBlock - 1) / kLabBlock) +
             4 * one.rows * one.outputs;
  return bytes;
}

std::string hardware_text(const LabSensitivityResult& sensitivity, const LabProductsResult& found) {
  const LabProductModelResult &fp32 = fp32_of(found), &codes = w8a8_of(found);
  return fmt::format(
      "Custom hardware: a group of {} weights or inputs has one scale. Its products are integer "
      "multiply-adds, and one product with 2^(E_x + E_w − 266), which only adds to an exponent, "
      "scales their sum. So 8-bit multipliers replace float ones, and no decoded weights are "
      "stored. For {}, that is {} scale products. The linear layers move {} instead of {}; with "
      "inputs in MXINT8 as well, they would move {} (computed).",
      kLabBlock, run_text(found), count_text(code_work_of(found).scale_products),
      size_text(codes.moved_bytes), size_text(fp32.moved_bytes),
      size_text(bytes_with_packed_inputs(sensitivity)));
}

// Returns what the intervals of the speedups show: "Times vary between runs; shown to be faster than fp32: W8A8; no
// difference from fp32 is shown for W8A16, mixed."
std::string shown_text(const LabProductsResult& found) {
  std::vector<std::string> faster, slower, alike;
  for (const LabProductModelResult& model : found.models) {
    if (&model == &fp32_of(found)) continue;
    (!is_claimed(model, found)      ? alike
     : model.speedup.shown_faster() ? faster
                                    : slower)
        .push_back(model.name());
  }
  std::vector<std::string> parts;
  if (!faster.empty())
    parts.push_back(fmt::format("shown to be faster than fp32: {}", fmt::join(faster, ", ")));
  if (!slower.empty())
    parts.push_back(fmt::format("shown to be slower than fp32: {}", fmt::join(slower, ", ")));
  if (!alike.empty())
    parts.push_back(fmt::format("no difference from fp32 is shown for {}", fmt::join(alike, ", ")));
  return fmt::format("Times vary between runs; {}.", fmt::join(parts, "; "));
}

// Returns warnings about models that are slower in spite of fewer bits.
std::vector<std::string> slower_ones(const LabProductsResult& found) {
  std::vector<std::string> lines;
  for (const LabProductModelResult& model : found.models)
    if (model.speedup.shown_slower() && is_claimed(model, found))
      lines.push_back(fmt::format("{} is {} than fp32 in this process, for {}", model.name(),
                                  speed_text(model.speedup.value), run_text(found)));
  return lines;
}

}  // namespace

LabPart product_part(const LabSensitivityResult& sensitivity, const LabProductsResult& found,
                     const LabRun& run) {
  const fs::path& folder = run.folder();
  LabPart part;
  const Table answers = answers_table(found), work = work_table(found);
  write_file(folder / "products.csv", to_csv(work));
  write_file(folder / "products_answers.csv", to_csv(answers));
  write_file(folder / "products_layers.csv", to_csv(layers_table(sensitivity, /*whole=*/true)));
  const std::string measured_on = describe(run.subject->data.measured);
  part.sections.push_back(
      {"fp32, W8A16, W8A8, and mixed",
       {figure_block(work_figure(found, run), folder / "products",
                     "Speedup, size of the weights and output SNR, a bar for each model",
                     part.notes),
        PageTable{work,
                  fmt::format(
                      "Latency of {} on {}, {} runs in turn, and operations of the "
                      "linear layers. The speedup is the median ratio of paired runs with its 95% "
                      "confidence interval, which may differ from the ratio of the medians. {}",
                      run_text(found), processor_text(found.device, found.threads),
                      found.timed_runs, shown_text(found))},
        PageTable{answers, fmt::format("Predictions on {}.", measured_on)}}});
  part.sections.push_back(
      {"fp32, W8A16, W8A8, and mixed: how to read this",
       {Paragraph{
            "W8A16: packed weights and fp32 inputs (elsewhere A16 is bfloat16). W8A8: weights "
            "and inputs in MXINT8; products are of codes where the arithmetic is native, else "
            "of the values they encode."},
        Paragraph{fmt::format(
            "Speedup: the median of the ratios to fp32 in each turn, with its 95% confidence "
            "interval (sign test). Operations are counted for the linear layers of one run. Moved: "
            "every operand once, inputs and results as fp32; in MXINT8 an element takes 8.25 bits "
            "instead of 32. Scale operations: products with the scale of a block, of a decoded "
            "weight (W8A16) or of a sum over a block (W8A8). Conversions: elements from codes to "
            "floats (weights) or from floats to codes (inputs). All models add {:.1f} million "
            "float "
            "multiply-adds of attention and the rest. No energy was measured.",
            1e-6 * static_cast<double>(found.other_multiply_adds))},
        Paragraph{rule_text(sensitivity, run.subject->data.measured.facts.split)}},
       /*folded=*/true});
  part.sections.push_back(
      {"Each linear layer separately",
       {PageTable{
           layers_table(sensitivity, /*whole=*/false),
           fmt::format(
               "Products of {}: the median of {} runs in turn. Layers of one shape share one "
               "measurement, printed at the first of them. Not shown: the 95% confidence "
               "interval contains equal speed, or the medians are equal as printed or point "
               "the other way.",
               run_text(found), found.timed_runs)}},
       true});
  part.sentence = answer_sentence(found);
  part.key_figures = key_figures_of(found);
  part.why = {hardware_text(sensitivity, found)};
  for (std::string& line : slower_ones(found)) part.notes.push_back(std::move(line));
  return part;
}

}  // namespace hone
