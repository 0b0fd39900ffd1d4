#include <cmath>

#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/labs/mxint8_products.h"
#include "hone/study/comparison_table.h"

// What the stages have found, told.
namespace hone {
namespace {

std::string run_text(const Json& found) {
  return fmt::format("{} texts of {} tokens", found.at("batch").get<std::int64_t>(),
                     found.at("tokens").get<std::int64_t>());
}

double at_number(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_number() ? value.get<double>() : std::nan("");
}

Estimate interval_at(const Json& json, const std::string& key, Quantity of) {
  const Json& ends = json.at(key + "_interval");
  if (ends.is_null()) return {std::nan(""), std::nan(""), std::nan(""), of};
  return {at_number(json, key.c_str()), ends[0].is_number() ? ends[0].get<double>() : std::nan(""),
          ends[1].is_number() ? ends[1].get<double>() : std::nan(""), of};
}

Table answers_table(const Json& found) {
  const FigureName figure = figure_of(found.at("models")[0]);
  Table table({{"model", "Model"},
               {figure.key, figure_title(figure)},
               {"change", "Change"},
               {"flips", "Flips"},
               {"verdict", "Verdict"},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"max_error", "Logits: largest error"},
               {"rms_error", "RMS error"},
               {"rms", "RMS in fp32"},
               {"arithmetic", "Arithmetic"}});
  for (const Json& model : found.at("models")) {
    const Json& logits = model.at("logits");
    std::vector<Cell> row = {model.at("model").get<std::string>(), figure_estimate(model)};
    if (const Json& c = model.at("comparison"); !c.is_null()) {
      row.push_back(interval_at(c, "change", Quantity::points));
      row.push_back(!c.at("flip_share").is_null()
                        ? Cell(Estimate{at_number(c, "flip_share"), c["flip_interval"][0],
                                        c["flip_interval"][1], Quantity::flips})
                        : Cell(absent));
      row.push_back(c.at("verdict").get<std::string>());
      row.push_back(real(at_number(c, "margin_snr_db"), 1));
      row.push_back(real(at_number(logits, "max_error"), 4));
      row.push_back(real(at_number(logits, "rms_error"), 4));
    } else {
      for (int i = 0; i < 6; ++i) row.emplace_back(absent);
    }
    row.push_back(real(at_number(logits, "rms"), 3));
    row.push_back(model.at("arithmetic").get<std::string>());
    table.add_row(std::move(row));
  }
  return table;
}

// The speedup with its interval.
Cell speedup_cell(const Json& times, const std::string& key) {
  const Json& ends = times.at(key + "_interval");
  return number_within(times.at(key), ends[0], ends[1]);
}

Table work_table(const Json& found) {
  const auto millions = [](const Json& model, const char* key) {
    return real(1e-6 * model.at(key).get<double>(), 2);
  };
  Table table({{"model", "Model"},
               {"linears_fp32", "fp32 linears"},
               {"linears_w8a16", "W8A16 linears"},
               {"linears_w8a8", "W8A8 linears"},
               {"memory_bytes", "Weights"},
               {"moved_bytes", "Moved by linears"},
               {"integer_multiply_adds", "Integer multiply-adds (10^6)"},
               {"float_multiply_adds", "Float multiply-adds (10^6)"},
               {"scale_operations", "Scale operations (10^6)"},
               {"conversions", "Conversions (10^6)"},
               {"min_ms", "Minimum (ms)"},
               {"median_ms", "Median (ms)"},
               {"speedup", "Speedup against fp32"}});
  for (const Json& model : found.at("models")) {
    const Json& linears = model.at("linears");
    table.add_row({model.at("model").get<std::string>(), linears.at("fp32").get<std::int64_t>(),
                   linears.at("W8A16").get<std::int64_t>(), linears.at("W8A8").get<std::int64_t>(),
                   bytes(model.at("memory_bytes").get<std::int64_t>()),
                   bytes(static_cast<std::int64_t>(model.at("moved_bytes").get<double>())),
                   millions(model, "integer_multiply_adds"), millions(model, "float_multiply_adds"),
                   millions(model, "scale_operations"), millions(model, "conversions"),
                   real(model.at("min_ms").get<double>(), 3),
                   real(model.at("median_ms").get<double>(), 3), speedup_cell(model, "speedup")});
  }
  return table;
}

Table linears_table(const Json& sensitivity) {
  const LinearWays mixed = mixed_ways(sensitivity);
  Table table({{"layer", "Linear"},
               {"rows", "Rows"},
               {"outputs", "Outputs"},
               {"inputs", "Inputs"},
               {"margin_snr_db", "Margin SNR alone in W8A8 (dB)"},
               {"fp32_us", "fp32 (µs)"},
               {"w8a16_us", "W8A16 (µs)"},
               {"w8a8_us", "W8A8 (µs)"},
               {"w8a8_speedup", "W8A8 speedup against fp32"},
               {"mixed", "In the mixed model"}});
  for (const Json& layer : sensitivity.at("layers")) {
    const std::string name = layer.at("layer");
    const auto microseconds = [&](const char* key) {
      return real(1e3 * layer.at(key).get<double>(), 1);
    };
    table.add_row({name, layer.at("rows").get<std::int64_t>(),
                   layer.at("outputs").get<std::int64_t>(), layer.at("inputs").get<std::int64_t>(),
                   real(at_number(layer, "margin_snr_db"), 1), microseconds("fp32_ms"),
                   microseconds("w8a16_ms"), microseconds("w8a8_ms"),
                   speedup_cell(layer, "w8a8_speedup"), to_string(mixed.at(name))});
  }
  return table;
}

Figure work_figure(const Json& found, const LabRun& run) {
  constexpr int kHeight = 260;
  const Json& models = found.at("models");
  const auto panel = [&](const char* title, const char* label, auto&& value, int digits) {
    Panel bars{.title = title, .x = {.label = label}};
    Series series{.draw = Draw::bars, .with_names = true};
    double most = 0;
    for (std::size_t i = 0; i < models.size(); ++i) {
      const double x = value(models[i]);
      const double y = -static_cast<double>(i);
      bars.y.ticks.push_back({y, models[i].at("model")});
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
  return {
      .title = fmt::format(
          "{}, in fp32, packed and native; {}; one seed", run_text(found),
          fmt::format("{}, n = {}", run.subject->data.measured.facts.part, grouped(test.size()))),
      .panels = {panel(
                     "Latency", "Median (ms)",
                     [](const Json& m) { return m.at("median_ms").get<double>(); }, 2),
                 panel(
                     "Weights in memory", "MiB",
                     [](const Json& m) { return m.at("memory_bytes").get<double>() / 0x1p20; }, 2),
                 panel(
                     "Output against fp32", "Margin SNR (dB)",
                     [](const Json& m) {
                       const Json& c = m.at("comparison");
                       return c.is_null() ? std::nan("") : at_number(c, "margin_snr_db");
                     },
                     1)},
      .width = 1100,
      .height = kHeight};
}

std::string rule_text(const Json& sensitivity, const std::string& reported_part) {
  const auto part = sensitivity.at("split").get<std::string>();
  return fmt::format(
      "Mixed: each linear was evaluated alone in W8A8 on the first {} examples of {}. The linears "
      "with the largest errors of the margin, which make half of the sum, keep fp32 inputs "
      "(W8A16). "
      "A linear whose W8A8 product is slower than fp32 (95% CI of the ratio below 1) stays in "
      "fp32. "
      "All others are W8A8. {}",
      grouped(sensitivity.at("texts").get<std::int64_t>()), part,
      part == reported_part
          ? "These examples are among the reported ones, so the numbers flatter the mixed model."
          : "The reported split was not used for this.");
}

// Whether a model is shown to be faster than fp32, or slower: the interval lies on one side of 1.
bool shown_faster(const Json& model) { return model.at("speedup_interval")[0] > 1.0; }
bool shown_slower(const Json& model) { return model.at("speedup_interval")[1] < 1.0; }

// "W8A16 has 0.96× the speed of fp32 (95% CI 0.93 to 0.98), W8A8 1.25× (…)": a slower one is below 1.
std::string speed_sentence(const Json& found) {
  const Json& models = found.at("models");
  std::string text;
  for (std::size_t i = 1; i < models.size(); ++i) {
    const Json& ends = models[i].at("speedup_interval");
    text +=
        fmt::format(fmt::runtime(i == 1 ? "{} has {}× the speed of fp32 ({}{} to {}{})"
                                        : ", {} {}× ({}{} to {}{})"),
                    models[i].at("model").get<std::string>(), three_digits(models[i].at("speedup")),
                    i == 1 ? "95% CI " : "", three_digits(ends[0]), three_digits(ends[1]),
                    shown_faster(models[i]) || shown_slower(models[i]) ? "" : ", inconclusive");
  }
  return text;
}

// Warnings: fewer bits may be slower.
std::vector<std::string> slower_ones(const Json& found) {
  std::vector<std::string> lines;
  for (const Json& model : found.at("models"))
    if (shown_slower(model))
      lines.push_back(fmt::format("{} is slower than fp32 here: {}× the speed for {}",
                                  model.at("model").get<std::string>(),
                                  three_digits(model.at("speedup")), run_text(found)));
  return lines;
}

}  // namespace

LabPart product_part(const LabRun& run) {
  const Json &found = run.found.at(kProductsStage), &sensitivity = run.found.at(kSensitivityStage);
  const fs::path& folder = run.folder();
  LabPart part;
  const Table answers = answers_table(found), work = work_table(found),
              linears = linears_table(sensitivity);
  write_file(folder / "products.csv", to_csv(work));
  write_file(folder / "products_answers.csv", to_csv(answers));
  write_file(folder / "products_linears.csv", to_csv(linears));
  const std::string measured_on = describe(run.subject->data.measured);
  part.blocks = {
      figure_block(work_figure(found, run), folder / "products",
                   "Latency, size of the weights and output SNR, a bar for each model", part.notes),
      PageTable{answers, fmt::format("fp32, W8A16, W8A8, and mixed on {}.", measured_on)},
      PageTable{
          work,
          fmt::format("Latency of {} on {}, {} runs in turn, and operations of the linears.",
                      run_text(found), ran_on(found), found.at("timed_runs").get<std::int64_t>())}};
  part.sections.push_back(
      {"fp32, W8A16, W8A8, and mixed: how to read this",
       {Paragraph{
            "W8A16: packed weights and fp32 inputs (elsewhere A16 is bfloat16). W8A8: weights "
            "and inputs in MXINT8; products are of codes where the arithmetic is native, else "
            "of the values they encode."},
        Paragraph{fmt::format(
            "Speedup: the median of the ratios to fp32 in each turn, with its 95% confidence "
            "interval (sign test). Operations are counted for the linears of one run. Moved: every "
            "operand once. Scale operations: products with the scale of a block, of a decoded "
            "weight (W8A16) or of a sum over a block (W8A8). Conversions: elements from codes to "
            "floats (weights) or from floats to codes (inputs). All models add {:.1f} million "
            "float "
            "multiply-adds of attention and the rest. No energy was measured.",
            1e-6 * found.at("other_multiply_adds").get<double>())},
        Paragraph{rule_text(sensitivity, run.subject->data.measured.facts.part)}},
       /*folded=*/true});
  part.sections.push_back(
      {"Each linear alone",
       {PageTable{linears,
                  fmt::format("Products of {}: the median of {} runs in turn.", run_text(found),
                              found.at("timed_runs").get<std::int64_t>())}},
       true});
  part.results = {{"sensitivity", sensitivity}, {"products", found}};
  part.sentence = speed_sentence(found);
  for (std::string& line : slower_ones(found)) part.notes.push_back(std::move(line));
  return part;
}

}  // namespace hone
