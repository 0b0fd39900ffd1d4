#include "hone/study/comparison_table.h"

#include <algorithm>
#include <cmath>

namespace hone {

Cell metric_cell(const TaskEvaluation& e) {
  return percent_within(e.value, e.interval.low, e.interval.high);
}

std::string metric_sentence(const TaskEvaluation& e) {
  return sentence_text({e.value, e.interval.low, e.interval.high});
}

namespace {

// Returns "0.00% flips, 95%: 0.00 to 0.38", or "predictions move by 0.02 on average".
std::string difference_sentence(const TaskComparison& c) {
  if (!c.counted) return fmt::format("predictions move by {:.3g} on average", c.mean_shift);
  const Interval& flips = c.counted->flip_interval;
  return fmt::format("{} flips, 95%: {} to {}", flip_share_text(c.counted->flip_share),
                     percent_number(flips.low, kDifferenceDigits),
                     percent_number(flips.high, kDifferenceDigits));
}

}  // namespace

Cell change_cell(const MetricChange& c) {
  if (!c.interval) return absent;
  return points_within(c.change, c.interval->low, c.interval->high);
}

std::string change_sentence(const TaskComparison& c) {
  if (!c.change.interval) return fmt::format("{} is not defined", c.change.metric.text);
  return fmt::format("{} points, 95%: {} to {}; {}", points_text(c.change.change),
                     points_text(c.change.interval->low), points_text(c.change.interval->high),
                     difference_sentence(c));
}

Cell difference_cell(const TaskComparison& c) {
  if (!c.counted) return real(c.mean_shift, 4);
  return flips_within(c.counted->flip_share, c.counted->flip_interval.low,
                      c.counted->flip_interval.high);
}

Column difference_column(const MetricName& metric) {
  if (metric == kR2) return {"mean_shift", "Mean shift"};
  return {"flips", "Predictions changed"};
}

Cell verdict_cell(const Verdict& verdict) {
  const Tone tone = verdict.within_limit()                           ? Tone::good
                    : verdict.conclusion == Conclusion::inconclusive ? Tone::unclear
                                                                     : Tone::bad;
  return toned(to_string(verdict.conclusion), tone);
}

std::vector<Column> metric_columns(const MetricName& metric) {
  std::vector<Column> columns = {
      {metric.key, metric_title(metric)}, {"change", "Change (points)"}, difference_column(metric)};
  if (metric == kAccuracy) columns.push_back({"mcnemar_p", "McNemar p"});
  columns.push_back({"verdict", "Result"});
  columns.push_back({"loss", "Loss"});
  columns.push_back({"margin_snr_db", metric == kAccuracy ? "Margin SNR (dB)" : "Output SNR (dB)"});
  return columns;
}

std::vector<Cell> metric_cells(const ComparedModel& model) {
  const TaskEvaluation& e = model.measurement.evaluation;
  const auto& c = model.comparison;
  std::vector<Cell> cells = {metric_cell(e), c ? change_cell(c->change) : Cell(absent),
                             c ? difference_cell(*c) : Cell(absent)};
  if (e.metric == kAccuracy) cells.push_back(c ? p_value(c->counted->mcnemar_p) : Cell(absent));
  cells.push_back(model.verdict ? verdict_cell(*model.verdict) : Cell(absent));
  cells.push_back(real(e.loss, 4));
  cells.push_back(c ? real(c->snr_db, 1) : Cell(absent));
  return cells;
}

Table comparison_table(const std::vector<ComparedModel>& models) {
  const MetricName& metric = models.front().measurement.evaluation.metric;
  const bool judged = std::ranges::any_of(
      models, [](const ComparedModel& model) { return model.verdict.has_value(); });
  std::vector<Column> columns = {{"model", "Model"},
                                 {metric.key, metric_title(metric)},
                                 {"change", "Change (points)"},
                                 difference_column(metric)};
  if (judged) columns.push_back({"verdict", "Result"});
  columns.insert(
      columns.end(),
      {{"loss", "Loss"}, {"average_bits", "Bits per weight"}, {"arithmetic", "Arithmetic"}});
  Table table(std::move(columns));
  for (const ComparedModel& model : models) {
    const TaskEvaluation& e = model.measurement.evaluation;
    const auto& c = model.comparison;
    std::vector<Cell> row = {model.label, metric_cell(e), c ? change_cell(c->change) : Cell(absent),
                             c ? difference_cell(*c) : Cell(absent)};
    if (judged) row.push_back(model.verdict ? verdict_cell(*model.verdict) : Cell(absent));
    row.insert(row.end(),
               {real(e.loss, 4), bits(model.average_weight_bits), std::string(model.arithmetic)});
    table.add_row(std::move(row));
  }
  return table;
}

Table statistics_table(const std::vector<ComparedModel>& models) {
  const bool classes = models.front().measurement.evaluation.metric == kAccuracy;
  std::vector<Column> columns = {{"model", "Model"}};
  if (classes) columns.push_back({"mcnemar_p", "McNemar p"});
  columns.push_back({"margin_snr_db", classes ? "Margin SNR (dB)" : "Output SNR (dB)"});
  Table table(std::move(columns));
  for (const ComparedModel& model : models) {
    if (!model.comparison) continue;
    std::vector<Cell> row = {model.label};
    if (classes) row.push_back(p_value(model.comparison->counted->mcnemar_p));
    row.push_back(real(model.comparison->snr_db, 1));
    table.add_row(std::move(row));
  }
  return table;
}

std::vector<std::string> concerns(const std::vector<ComparedModel>& models,
                                  const std::vector<std::string>& labels) {
  std::vector<std::string> sentences;
  for (const ComparedModel& model : models)
    for (const std::string& concern : concerns(model.measurement.evaluation, labels))
      sentences.push_back(fmt::format("{}: {}", model.label, concern));
  return sentences;
}

const Fields& fields_of(const NamedMetrics*) {
  using N = NamedMetrics;
  static const Fields fields = describe<N>(
      "named_metrics", "A model and its metrics.",
      field<&N::model>("model", "Its name, or how it was made."),
      field<&N::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&N::arithmetic>("arithmetic", kArithmeticMeaning), inlined<&N::measured>());
  return fields;
}

NamedMetrics named_metrics(const ComparedModel& model, const std::vector<std::string>& labels) {
  return {model.label, model.average_weight_bits, std::string(model.arithmetic),
          evaluation_result(model.measurement, labels)};
}

const Fields& fields_of(const MeasuredModelResult*) {
  using M = MeasuredModelResult;
  static const Fields fields = describe<M>(
      "measured_model", "A model among several that were made from one.", inlined<&M::metrics>(),
      field<&M::comparison>("comparison",
                            "Comparison with the baseline; null: it is the baseline."));
  return fields;
}

MeasuredModelResult measured_model(const ComparedModel& model,
                                   const std::vector<std::string>& labels) {
  MeasuredModelResult result{.metrics = named_metrics(model, labels)};
  if (model.comparison)
    result.comparison = comparison_result(
        *model.comparison, model.verdict ? *model.verdict : verdict(model.comparison->change));
  return result;
}

std::vector<MeasuredModelResult> measured_models(const std::vector<ComparedModel>& models,
                                                 const std::vector<std::string>& labels) {
  std::vector<MeasuredModelResult> results;
  for (const ComparedModel& model : models) results.push_back(measured_model(model, labels));
  return results;
}

Tone tone_of(const Verdict& verdict) {
  if (verdict.conclusion == Conclusion::within_limit) return Tone::good;
  return verdict.conclusion == Conclusion::exceeds_limit ? Tone::bad : Tone::unclear;
}

}  // namespace hone
