#include "hone/app/comparison_table.h"

#include <cmath>

namespace hone {

Table comparison_table(const std::vector<ComparedModel>& models) {
  Table table({{"model", "Model"},
               {"accuracy", "Accuracy"},
               {"accuracy_low", "95 % from"},
               {"accuracy_high", "to"},
               {"loss", "Loss"},
               {"flips", "Flips"},
               {"mcnemar_p", "McNemar p"},
               {"margin_snr_db", "Margin SNR (dB)"},
               {"average_bits", "Bits"},
               {"arithmetic", "Arithmetic"}});
  for (const ComparedModel& model : models) {
    const Evaluation& e = model.measurement.evaluation;
    const double weight_bits = model.average_weight_bits;
    const auto& c = model.comparison;
    table.add_row({model.label, percent(e.accuracy, 2), percent(e.accuracy_interval.low, 2),
                   percent(e.accuracy_interval.high, 2), real(e.loss, 4),
                   c ? percent(c->flip_share, 2) : Cell(absent),
                   c ? real(c->mcnemar_p, 3) : Cell(absent),
                   c ? real(c->margin_snr_db, 1) : Cell(absent),
                   real(weight_bits, weight_bits == std::round(weight_bits) ? 0 : 2),
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
  if (model.comparison) json["comparison"] = to_json(*model.comparison, verdict(*model.comparison));
  return json;
}

}  // namespace hone
