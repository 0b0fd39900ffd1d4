#include "hone/study/measure.h"

#include <chrono>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/metric.h"
#include "hone/report/table.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json interval(const Interval& i) { return Json::array({i.low, i.high}); }

Json to_json(const ClassFigures& one) {
  return {{"precision", number(one.figures.precision)},
          {"precision_interval", interval(one.precision_interval)},
          {"recall", number(one.figures.recall)},
          {"recall_interval", interval(one.recall_interval)},
          {"f1", number(one.figures.f1)},
          {"support", one.support},
          {"predicted", one.predicted}};
}

// A row per label, in the order of the classes; a column per prediction.
Json confusion_rows(const Evaluation& e) {
  Json rows = Json::array();
  const auto width = static_cast<std::ptrdiff_t>(e.of_class.size());
  for (auto at = e.confusion.begin(); at != e.confusion.end(); at += width)
    rows.push_back(std::vector<std::int64_t>(at, at + width));
  return rows;
}

}  // namespace

Measurement measure(const Model& model, const EncodedSet& data, std::int64_t batch_size,
                    Context& context, const std::string& title, ProgressEnd end) {
  const auto start = std::chrono::steady_clock::now();
  Graph graph = forward_graph(model);
  const std::int64_t texts = std::min(batch_size, data.size()), tokens = longest_text(data);
  check_memory(graph, {{'B', texts}, {'S', tokens}}, context.session(),
               fmt::format("a batch of {} texts of up to {} tokens", texts, tokens));
  Predictor predictor(std::move(graph), model.parameters, context.session());
  Progress progress(title, data.size(), {.unit = "texts", .end = end, .output = context.progress});
  Measurement measured;
  measured.logits = predictor.rows(text_examples(data), batch_size,
                                   [&](std::int64_t done) { progress.update(done); });
  measured.classes = predictor.width();
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured.evaluation = evaluate(measured.view(), data.labels, data.text_numbers);
  return measured;
}

std::string accuracy_headline(const std::string& measured_on, const Evaluation& e) {
  return fmt::format("Accuracy on {}: {}; {}.", measured_on,
                     sentence_text({e.accuracy, e.accuracy_interval.low, e.accuracy_interval.high}),
                     majority_text(e));
}

std::string majority_text(const Evaluation& e) {
  return "the most frequent class alone makes " + share_text(e.majority_share);
}

Json to_json(const Measurement& measurement, const std::vector<std::string>& labels) {
  const Evaluation& e = measurement.evaluation;
  Json json = Json::object();
  for (const Metric& metric : metrics()) {
    if (metric.of_two_classes && e.of_class.size() != 2) continue;
    const std::string key = fmt::format("eval_{}", metric.name);
    json[key] = number(metric.value(e));
    if (metric.name == "accuracy") json[key + "_interval"] = interval(e.accuracy_interval);
    if (metric.name == "auc") json[key + "_interval"] = interval(e.auc.interval);
  }
  json["eval_majority_share"] = number(e.majority_share);
  Json classes = Json::object();
  for (std::size_t c = 0; c < e.of_class.size(); ++c) classes[labels[c]] = to_json(e.of_class[c]);
  json["eval_classes"] = classes;
  json["eval_confusion"] = confusion_rows(e);
  const std::optional<std::int32_t> only = only_predicted_class(e);
  json["eval_only_predicts"] = only ? Json(labels[static_cast<std::size_t>(*only)]) : Json();
  json["eval_without_prediction"] = e.without_prediction;
  json["eval_samples"] = e.examples;
  json["eval_effective_samples"] = effective_examples(e.examples, e.evidence);
  json["eval_runtime"] = measurement.seconds;
  json["eval_samples_per_second"] = static_cast<double>(e.examples) / measurement.seconds;
  return json;
}

Json to_json(const Verdict& v) {
  Json json = {
      {"verdict", to_string(v.conclusion)},
      {"margin", v.margin},
      {"accuracy_change", number(v.change)},
      {"accuracy_change_interval", v.change_interval ? interval(*v.change_interval) : Json()},
      {"p_value", number(v.p_value)},
      {"candidates", v.candidates},
      {"examples_needed", v.examples_needed ? Json(*v.examples_needed) : Json()},
      {"summary", v.summary}};
  if (v.grounds) json["grounds"] = to_string(*v.grounds);
  if (v.seeds_needed) json["seeds_needed"] = *v.seeds_needed;
  return json;
}

Json to_json(const Comparison& c, const Verdict& v) {
  Json json = {{"flips", c.flips},
               {"flip_share", number(c.flip_share)},
               {"flip_interval", interval(c.flip_interval)},
               {"only_parent_right", c.only_parent},
               {"only_candidate_right", c.only_candidate},
               {"mcnemar_p", c.mcnemar_p},
               {"margin_snr_db", number(c.margin_snr_db)}};
  json.update(to_json(v));
  return json;
}

Json gate_json(const Verdict& v) {
  Json json = to_json(v);
  json["passed"] = v.kept();
  return json;
}

std::string gate_text(const Verdict& v, const std::string& measured_on) {
  return fmt::format("Gate on {} ({:.2f} points may be lost): {}.", measured_on, 100 * v.margin,
                     v.kept() ? "passed" : "failed");
}

}  // namespace hone
