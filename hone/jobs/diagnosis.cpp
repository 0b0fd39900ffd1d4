#include "hone/jobs/diagnosis.h"

#include <algorithm>
#include <cmath>

namespace hone {
namespace {

// Tensors of zeros have no ratio and lose nothing.
double snr_of(const Suggestion& suggestion) {
  const double snr = suggestion.noise_before.snr_db();
  return std::isnan(snr) ? std::numeric_limits<double>::infinity() : snr;
}

// Biases last: they are few, and their noise is small compared with that of weights.
std::pair<bool, double> rank_of(const Suggestion& suggestion) {
  return {suggestion.operand == Operand::bias, snr_of(suggestion)};
}

Remedy remedy_of(const QuantizationPlan& plan, const std::vector<Suggestion>& operands) {
  QuantizationPlan better = with_suggestions(plan, operands);
  if (better != plan) return {std::move(better), /*better_parameters=*/true};
  const std::size_t freed = (operands.size() + 3) / 4;
  return {without_operands(plan, std::span(operands).first(freed)), /*better_parameters=*/false};
}

// Three significant digits, with trailing zeros: "0.0201", "1.00", "118".
Cell short_number(double value) {
  if (value == 0) return absent;
  std::string text = fmt::format("{:#.3g}", value);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

bool worth_explaining(const MetricChange& change) {
  return !(change.change > -kDefaultMargin);  // also if it is not defined
}

Diagnosis diagnose(const Model& baseline, const Measurement& before, const EncodedSplits& data,
                   const CompressOptions& options, Context& context) {
  Diagnosis diagnosis;
  diagnosis.operands = suggest(baseline, options.plan, data.train, options.calibration,
                               /*most_bits=*/0, context);
  std::ranges::stable_sort(diagnosis.operands, {}, rank_of);
  diagnosis.remedy = remedy_of(options.plan, diagnosis.operands);
  if (data.validation.size() == 0 || diagnosis.remedy.plan.empty()) return diagnosis;
  CompressOptions better = options;
  better.qat = false;
  better.calibration.check_objections = false;
  better.plan = diagnosis.remedy.plan;
  const ChoiceSplit split = choice_split(data);
  const std::int64_t batch_size = options.calibration.batch_size;
  const Model model = compress(baseline, data, better, context);
  const bool same_texts = split.name == data.measured.facts.split;
  const Measurement there = same_texts ? before
                                       : measure(baseline, split.examples, batch_size, context,
                                                 "baseline, " + split.name);
  diagnosis.improved =
      compared(model,
               diagnosis.remedy.better_parameters ? "PTQ with the better parameters"
                                                  : "PTQ, the noisiest in full precision",
               there, split.examples, batch_size, context);
  diagnosis.improved->verdict = verdict(diagnosis.improved->comparison->change);
  diagnosis.split = split.name;
  return diagnosis;
}

Table diagnosis_table(const Diagnosis& diagnosis, double most_snr_db, std::size_t most_rows) {
  Table table({{"layer", "Layer"},
               {"operand", "Operand"},
               {"snr_db", "SNR (dB)"},
               {"clipped", "Clipped"},
               {"flushed", "Flushed"},
               {"smallest_step", "Step"},
               {"standard_deviation", "Spread"},
               {"better", "Better"},
               {"better_snr_db", "SNR with better (dB)"}});
  for (const Suggestion& s : diagnosis.operands) {
    if (table.rows().size() == most_rows) break;
    if (snr_of(s) >= most_snr_db) continue;
    const bool same = s.before == s.after;
    table.add_row({s.layer, to_string(s.operand), real(s.noise_before.snr_db(), 1),
                   percent(s.noise_before.clipped_share(), 2),
                   percent(s.noise_before.flushed_share(), 2),
                   short_number(static_cast<double>(s.noise_before.smallest_step)),
                   short_number(s.noise_before.standard_deviation()),
                   same ? Cell(absent) : Cell(to_string(s.after)),
                   same ? Cell(absent) : real(s.noise_after.snr_db(), 1)});
  }
  return table;
}

std::vector<OperandResult> operand_results(const Diagnosis& diagnosis) {
  std::vector<OperandResult> rows;
  for (const Suggestion& s : diagnosis.operands)
    rows.push_back(operand_result({s.layer, s.operand, s.before, s.noise_before},
                                  s.before == s.after ? std::nullopt : std::optional(s.after),
                                  s.noise_after));
  return rows;
}

}  // namespace hone
