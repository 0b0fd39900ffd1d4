#include "hone/study/comparison_table.h"

#include <cmath>

namespace hone {

Cell accuracy_cell(const Evaluation& e) {
  return percent_within(e.accuracy, e.accuracy_interval.low, e.accuracy_interval.high);
}

std::string accuracy_sentence(const Evaluation& e) {
  return sentence_text({e.accuracy, e.accuracy_interval.low, e.accuracy_interval.high});
}

Cell change_cell(const Comparison& c) {
  const Interval interval = accuracy_change_interval(c);
  return points_within(c.accuracy_change(), interval.low, interval.high);
}

std::string change_sentence(const Comparison& c) {
  const Interval change = accuracy_change_interval(c), &flips = c.flip_interval;
  return fmt::format(
      "{} points, 95 %: {} to {}; {} flips, 95 %: {} to {}", points_text(c.accuracy_change()),
      points_text(change.low), points_text(change.high), flip_share_text(c.flip_share),
      percent_number(flips.low, kDifferenceDigits), percent_number(flips.high, kDifferenceDigits));
}

Cell flip_cell(const Comparison& c) {
  return flips_within(c.flip_share, c.flip_interval.low, c.flip_interval.high);
}

Cell verdict_cell(const Verdict& verdict) {
  const Tone tone = verdict.kept()                              ? Tone::good
                    : verdict.conclusion == Conclusion::unclear ? Tone::unclear
                                                                : Tone::bad;
  return toned(to_string(verdict.conclusion), tone);
}

Table comparison_table(const std::vector<ComparedModel>& models) {
  Table table({{"model", "Model"},
               {"accuracy", "Accuracy"},
               {"accuracy_change", "Change"},
               {"flips", "Flips"},
               {"mcnemar_p", "McNemar p"},
               {"verdict", "Verdict"},
               {"loss", "Loss"},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"average_bits", "Bits"},
               {"arithmetic", "Arithmetic"}});
  for (const ComparedModel& model : models) {
    const Evaluation& e = model.measurement.evaluation;
    const auto& c = model.comparison;
    table.add_row({model.label, accuracy_cell(e), c ? change_cell(*c) : Cell(absent),
                   c ? flip_cell(*c) : Cell(absent), c ? p_value(c->mcnemar_p) : Cell(absent),
                   model.verdict ? verdict_cell(*model.verdict) : Cell(absent), real(e.loss, 4),
                   c ? real(c->margin_snr_db, 1) : Cell(absent), bits(model.average_weight_bits),
                   model.quantized ? "simulated" : "fp32"});
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

Json to_json(const ComparedModel& model, const std::vector<std::string>& labels) {
  Json json = {{"model", model.label},
               {"average_weight_bits", model.average_weight_bits},
               {"arithmetic", model.quantized ? "simulated" : "fp32"}};
  json.update(to_json(model.measurement, labels));
  if (model.comparison)
    json["comparison"] =
        to_json(*model.comparison, model.verdict ? *model.verdict : verdict(*model.comparison));
  return json;
}

Tone tone_of(const Verdict& verdict) {
  if (verdict.conclusion == Conclusion::kept) return Tone::good;
  return verdict.conclusion == Conclusion::lost ? Tone::bad : Tone::unclear;
}

}  // namespace hone
