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

std::vector<OperandNoise> noise_in(const std::vector<OperandNoise>& noise, Operand operand,
                                   const std::vector<std::string>& layers) {
  std::vector<OperandNoise> own;
  for (const OperandNoise& one : noise)
    if (one.operand == operand && std::ranges::find(layers, one.layer) != layers.end())
      own.push_back(one);
  return own;
}

}  // namespace

FormatVerdicts judge_formats(const Model& unrounded, std::vector<std::string> layers,
                             const QuantizationPlan& plan, const EncodedSet& training_texts,
                             const CalibrationRun& run, Context& context) {
  FormatVerdicts verdicts{.layers = std::move(layers), .plan = plan};
  if (plan.empty()) return verdicts;
  verdicts.noise = measure_noise(without_quantizers(unrounded, context.session()), plan,
                                 training_texts, run, context);
  std::erase_if(verdicts.noise, [](const OperandNoise& one) {
    return one.operand != Operand::weight && one.operand != Operand::input;
  });
  std::ranges::stable_sort(verdicts.noise, {},
                           [](const OperandNoise& one) { return shown_snr(one.noise); });
  return verdicts;
}

std::string verdict_of(const Noise& noise) {
  constexpr double kManyClipped = 1e-3, kManyFlushed = 1e-2;
  if (shown_snr(noise) == INFINITY) return "exact";
  if (shown_snr(noise) >= kKeptSnrDb) return kKept;
  if (noise.clipped_share() >= kManyClipped && noise.clipped_share() > noise.flushed_share())
    return "clipped";
  return noise.flushed_share() >= kManyFlushed ? "flushed to zero" : "coarse";
}

Table formats_taken(const FormatVerdicts& verdicts) {
  Table table({{"format", "Format", false},
               {"layers", "Layers"},
               {"operand", "Of their"},
               {"snr_db", "Mean SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "To zero"},
               {"verdict", "Verdict", false}});
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
      const std::vector<OperandNoise> own = noise_in(verdicts.noise, operand, layers);
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
  Table table({{"layer", "Layer", false},
               {"operand", "Operand", false},
               {"format", "Format", false},
               {"snr_db", "SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "To zero"},
               {"step_to_spread", "Step / spread"},
               {"verdict", "Verdict", false}});
  for (const OperandNoise& one : verdicts.noise) {
    if (most_rows > 0 && table.rows().size() == most_rows) break;
    const double spread = one.noise.standard_deviation();
    table.add_row(
        {one.layer, std::string(to_string(one.operand)), to_string(one.format),
         snr_or_none(one.noise.snr_db()), percent(one.noise.clipped_share(), 2),
         percent(one.noise.flushed_share(), 2),
         spread > 0 ? real(static_cast<double>(one.noise.smallest_step) / spread, 3) : Cell(absent),
         verdict_of(one.noise)});
  }
  return table;
}

}  // namespace hone
