#include "hone/jobs/format_verdicts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/jobs/format_comparison.h"
#include "hone/models/transform.h"

namespace hone {
namespace {

constexpr double kKeptSnrDb = 20;
constexpr const char* kKept = "kept";

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

// "all 12 kept", "9 of 12 kept, 2 coarse, 1 clipped".
std::string verdicts_text(const std::vector<OperandNoise>& noise) {
  std::map<std::string, int> counts;
  for (const OperandNoise& one : noise) ++counts[verdict_of(one.noise)];
  std::vector<std::string> parts;
  for (const auto& [verdict, count] : counts)
    if (static_cast<std::size_t>(count) == noise.size())
      return count == 1 ? verdict : fmt::format("all {} {}", count, verdict);
    else
      parts.push_back(fmt::format("{} {}", count, verdict));
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

bool is_lossy(const Noise& noise) { return shown_snr(noise) < kKeptSnrDb; }

// Only the lossy ones.
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
  for (const Suggestion& found :
       suggest(plain, lossy, training_texts, run, /*most_bits=*/0, context)) {
    if (found.after == found.before) continue;
    const auto own = std::ranges::find_if(verdicts.operands, [&](const OperandVerdict& one) {
      return one.noise.layer == found.layer && one.noise.operand == found.operand;
    });
    own->better = found.after;
    own->noise_with_better = found.noise_after;
  }
  return verdicts;
}

std::string verdict_of(const Noise& noise) {
  constexpr double kManyClipped = 1e-3, kManyFlushed = 1e-2;
  if (shown_snr(noise) == INFINITY) return "exact";
  if (!is_lossy(noise)) return kKept;
  if (noise.clipped_share() >= kManyClipped && noise.clipped_share() > noise.flushed_share())
    return "clipped";
  return noise.flushed_share() >= kManyFlushed ? "flushed to zero" : "coarse";
}

Table formats_taken(const FormatVerdicts& verdicts) {
  Table table({{"format", "Format"},
               {"layers", "Layers"},
               {"operand", "Operand"},
               {"snr_db", "Mean SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "Flushed"},
               {"verdict", "Verdict"}});
  std::vector<std::pair<std::string, std::vector<std::string>>> takers;  // by format, most first
  for (const std::string& layer : verdicts.layers) {
    const LayerFormats* formats = formats_of(verdicts.plan, layer);
    const std::string text = formats_text(formats == nullptr ? LayerFormats{} : *formats);
    auto row = std::ranges::find(takers, text, &decltype(takers)::value_type::first);
    if (row == takers.end()) row = takers.insert(row, {text, {}});
    row->second.push_back(layer);
  }
  std::ranges::stable_sort(takers, std::ranges::greater{},
                           [](const auto& taker) { return taker.second.size(); });
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
      table.add_row({format, std::ssize(layers), name, snr_or_none(mean_snr_db(own, operand)),
                     percent(all.clipped_share(), 2), percent(all.flushed_share(), 2),
                     verdicts_text(own)});
    }
    if (!any)
      table.add_row({format, std::ssize(layers), absent, absent, absent, absent, "not rounded"});
  }
  return table;
}

Table operand_verdicts(const FormatVerdicts& verdicts, std::size_t most_rows) {
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
         one.has_zero ? "has a code" : "no code", verdict_of(noise),
         one.better ? Cell(to_string(*one.better)) : Cell(absent),
         one.better ? snr_or_none(one.noise_with_better.snr_db()) : Cell(absent)});
  }
  return table;
}

Json to_json(const FormatVerdicts& verdicts) {
  Json operands = Json::array();
  for (const OperandVerdict& one : verdicts.operands) {
    const auto& [layer, operand, format, noise] = one.noise;
    operands.push_back(
        {{"layer", layer},
         {"operand", to_string(operand)},
         {"format", to_string(format)},
         {"snr_db", noise.snr_db()},
         {"clipped", noise.clipped_share()},
         {"flushed", noise.flushed_share()},
         {"smallest_step", noise.smallest_step},
         {"standard_deviation", noise.standard_deviation()},
         {"zero_code", one.has_zero},
         {"verdict", verdict_of(noise)},
         {"better", one.better ? Json(to_string(*one.better)) : Json()},
         {"better_snr_db", one.better ? Json(one.noise_with_better.snr_db()) : Json()}});
  }
  return {{"formats", to_json(formats_taken(verdicts))}, {"operands", operands}};
}

}  // namespace hone
