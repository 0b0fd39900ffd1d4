#include "hone/jobs/format_verdicts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/jobs/format_comparison.h"
#include "hone/models/transform.h"
#include "hone/report/field_table.h"

namespace hone {
namespace {

constexpr double kAccurateSnrDb = 20;

std::string formats_text(const std::optional<Format>& format) {
  return format ? to_string(*format) : "full precision";
}

// "int(bits=8)", "int(bits=4), inputs int(bits=8)", "full precision".
std::string formats_text(const LayerFormats& formats) {
  const std::string weights = formats_text(formats.weight), inputs = formats_text(formats.input);
  return weights == inputs ? weights : fmt::format("{}, inputs {}", weights, inputs);
}

const LayerFormats* formats_of(const QuantizationPlan& plan, const std::string& layer) {
  const auto found = std::ranges::find(plan, layer, &QuantizationPlan::value_type::first);
  return found == plan.end() ? nullptr : &found->second;
}

double shown_snr(const Noise& noise) {
  const double snr = noise.snr_db();
  return std::isnan(snr) ? INFINITY : snr;
}

Cell snr_or_none(double snr) { return std::isfinite(snr) ? real(snr, 1) : Cell(absent); }

// "all 12 accurate", "9 accurate, 2 coarse, 1 clipped".
std::string verdicts_text(const std::vector<OperandNoise>& noise) {
  std::map<NoiseVerdict, int> counts;
  for (const OperandNoise& one : noise) ++counts[verdict_of(one.noise)];
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts) {
    const std::string word(enum_name(verdict));
    if (static_cast<std::size_t>(count) == noise.size())
      return count == 1 ? word : fmt::format("all {} {}", count, word);
    parts.push_back(fmt::format("{} {}", count, word));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<OperandNoise> noise_in(const std::vector<OperandVerdict>& operands, Operand operand,
                                   const std::vector<std::string>& layers) {
  std::vector<OperandNoise> own;
  for (const OperandVerdict& one : operands)
    if (one.noise.operand == operand && std::ranges::find(layers, one.noise.layer) != layers.end())
      own.push_back(one.noise);
  return own;
}

bool is_lossy(const Noise& noise) { return shown_snr(noise) < kAccurateSnrDb; }

// Returns the plan of the lossy operands alone.
QuantizationPlan lossy_plan(const std::vector<OperandVerdict>& operands) {
  QuantizationPlan plan;
  for (const OperandVerdict& one : operands) {
    if (!is_lossy(one.noise.noise)) continue;
    auto layer = std::ranges::find(plan, one.noise.layer, &QuantizationPlan::value_type::first);
    if (layer == plan.end()) layer = plan.insert(plan.end(), {one.noise.layer, {}});
    layer->second[one.noise.operand] = one.noise.format;
  }
  return plan;
}

}  // namespace

FormatVerdicts judge_formats(const Model& unrounded, std::vector<std::string> layers,
                             const QuantizationPlan& plan, const EncodedSet& training_texts,
                             const CalibrationRun& run, Context& context) {
  FormatVerdicts verdicts{.layers = std::move(layers), .plan = plan};
  if (plan.empty()) return verdicts;
  const Model plain = without_quantizers(unrounded, context.session());
  for (OperandNoise& one : measure_noise(plain, plan, training_texts, run, context)) {
    if (one.operand != Operand::weight && one.operand != Operand::input) continue;
    const bool zero = has_zero(one.format, context);
    verdicts.operands.push_back({.noise = std::move(one), .has_zero = zero});
  }
  std::ranges::stable_sort(verdicts.operands, {},
                           [](const OperandVerdict& one) { return shown_snr(one.noise.noise); });
  const QuantizationPlan lossy = lossy_plan(verdicts.operands);
  if (lossy.empty()) return verdicts;
  std::vector<Suggestion> suggestions =
      suggest(plain, lossy, training_texts, run, /*most_bits=*/0, context);
  std::erase_if(suggestions, [](const Suggestion& one) { return one.after == one.before; });
  if (suggestions.empty()) return verdicts;
  // They were found on a sample of the inputs, so their gain is measured on the values that the verdicts are about.
  const QuantizationPlan better = with_suggestions(lossy, suggestions);
  for (const OperandNoise& one : measure_noise(plain, better, training_texts, run, context)) {
    const auto given = std::ranges::find_if(verdicts.operands, [&](const OperandVerdict& own) {
      return own.noise.layer == one.layer && own.noise.operand == one.operand;
    });
    if (given == verdicts.operands.end() || one.format == given->noise.format ||
        shown_snr(one.noise) <= shown_snr(given->noise.noise))
      continue;
    given->better = one.format;
    given->noise_with_better = one.noise;
  }
  return verdicts;
}

std::span<const EnumName> enum_names(NoiseVerdict) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(NoiseVerdict::exact), "exact"},
      {static_cast<int>(NoiseVerdict::accurate), "accurate"},
      {static_cast<int>(NoiseVerdict::clipped), "clipped"},
      {static_cast<int>(NoiseVerdict::flushed), "flushed to zero"},
      {static_cast<int>(NoiseVerdict::coarse), "coarse"}};
  return kWords;
}

NoiseVerdict verdict_of(const Noise& noise) {
  constexpr double kManyClipped = 1e-3, kManyFlushed = 1e-2;
  if (shown_snr(noise) == INFINITY) return NoiseVerdict::exact;
  if (!is_lossy(noise)) return NoiseVerdict::accurate;
  if (noise.clipped_share() >= kManyClipped && noise.clipped_share() > noise.flushed_share())
    return NoiseVerdict::clipped;
  return noise.flushed_share() >= kManyFlushed ? NoiseVerdict::flushed : NoiseVerdict::coarse;
}

const Fields& fields_of(const LayersInFormat*) {
  using L = LayersInFormat;
  static const Fields fields = describe<L>(
      "layers_in_format", "The layers with one format, and the errors of their weights or inputs.",
      field<&L::format>("format", "Of the layers; full precision: none.", "Format"),
      field<&L::layers>("layers", "Number of layers.", "Layers"),
      field<&L::operand>("operand", "weights or inputs; null: nothing is rounded.", "Operand"),
      field<&L::snr_db>("snr_db", Unit::decibels,
                        "Mean signal-to-noise ratio over the layers; null: nothing is lost.",
                        "Mean SNR (dB)"),
      field<&L::clipped>("clipped", Unit::share, "Values beyond the range; null: no values.",
                         "Clipped"),
      field<&L::flushed>("flushed", Unit::share, "Values that become zero; null: no values.",
                         "Flushed"),
      field<&L::verdict>("verdict", "Number of operands with each verdict.", "Verdict"));
  return fields;
}

const Fields& fields_of(const OperandVerdictResult*) {
  using O = OperandVerdictResult;
  static const Fields fields = describe<O>(
      "operand_verdict", "One operand of a layer in its format, judged.", inlined<&O::operand>(),
      field<&O::zero_code>("zero_code", "The format has a code for 0."),
      field<&O::verdict>("verdict",
                         "accurate: a signal-to-noise ratio of 20 dB or more; below that the main "
                         "cause of the error."));
  return fields;
}

const Fields& fields_of(const FormatVerdictsResult*) {
  using F = FormatVerdictsResult;
  static const Fields fields = describe<F>(
      "format_verdicts", "The errors of a model's formats, each operand alone.",
      field<&F::formats>("formats", "Layers by format."),
      field<&F::operands>("operands", "Weights and inputs of those layers, the noisiest first."));
  return fields;
}

namespace {

std::vector<LayersInFormat> layers_by_format(const FormatVerdicts& verdicts) {
  std::vector<std::pair<std::string, std::vector<std::string>>> takers;  // by format, largest first
  for (const std::string& layer : verdicts.layers) {
    const LayerFormats* formats = formats_of(verdicts.plan, layer);
    const std::string text = formats_text(formats == nullptr ? LayerFormats{} : *formats);
    auto row = std::ranges::find(takers, text, &decltype(takers)::value_type::first);
    if (row == takers.end()) row = takers.insert(row, {text, {}});
    row->second.push_back(layer);
  }
  std::ranges::stable_sort(takers, std::ranges::greater{},
                           [](const auto& taker) { return taker.second.size(); });
  std::vector<LayersInFormat> rows;
  for (const auto& [format, layers] : takers) {
    bool any = false;
    for (const auto& [operand, name] :
         {std::pair{Operand::weight, "weights"}, {Operand::input, "inputs"}}) {
      const std::vector<OperandNoise> own = noise_in(verdicts.operands, operand, layers);
      if (own.empty()) continue;
      any = true;
      Noise all;
      for (const OperandNoise& one : own) {
        all.count += one.noise.count;
        all.clipped += one.noise.clipped;
        all.flushed += one.noise.flushed;
      }
      rows.push_back({.format = format,
                      .layers = std::ssize(layers),
                      .operand = name,
                      .snr_db = mean_snr_db(own, operand),
                      .clipped = all.clipped_share(),
                      .flushed = all.flushed_share(),
                      .verdict = verdicts_text(own)});
    }
    if (!any)
      rows.push_back({.format = format, .layers = std::ssize(layers), .verdict = "not rounded"});
  }
  return rows;
}

}  // namespace

Table formats_table(const FormatVerdicts& verdicts) {
  return headed_table(layers_by_format(verdicts));
}

Table operand_verdict_table(const FormatVerdicts& verdicts, std::size_t most_rows) {
  Table table({{"layer", "Layer"},
               {"operand", "Operand"},
               {"format", "Format"},
               {"snr_db", "SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "Flushed"},
               {"step_to_spread", "Step / spread"},
               {"zero_code", "Zero"},
               {"verdict", "Verdict"},
               {"better", "Better"},
               {"better_snr_db", "Better SNR (dB)"}});
  for (const OperandVerdict& one : verdicts.operands) {
    if (most_rows > 0 && table.rows().size() == most_rows) break;
    const auto& [layer, operand, format, noise] = one.noise;
    const double spread = noise.standard_deviation();
    table.add_row(
        {layer, std::string(to_string(operand)), to_string(format), snr_or_none(noise.snr_db()),
         percent(noise.clipped_share(), 2), percent(noise.flushed_share(), 2),
         spread > 0 ? real(static_cast<double>(noise.smallest_step) / spread, 3) : Cell(absent),
         one.has_zero ? "has a code" : "no code", std::string(enum_name(verdict_of(noise))),
         one.better ? Cell(to_string(*one.better)) : Cell(absent),
         one.better ? snr_or_none(one.noise_with_better.snr_db()) : Cell(absent)});
  }
  return table;
}

FormatVerdictsResult format_verdicts_result(const FormatVerdicts& verdicts) {
  FormatVerdictsResult result{.formats = layers_by_format(verdicts)};
  for (const OperandVerdict& one : verdicts.operands)
    result.operands.push_back(
        {.operand = operand_result(one.noise, one.better, one.noise_with_better),
         .zero_code = one.has_zero,
         .verdict = verdict_of(one.noise.noise)});
  return result;
}

}  // namespace hone
