#include "hone/study/measure.h"

#include <chrono>
#include <cmath>
#include <optional>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/metric.h"
#include "hone/report/table.h"
#include "hone/study/result.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

Json interval(const Interval& i) {
  return Json::array({finite_or_null(i.low), finite_or_null(i.high)});
}

Json to_json(const ClassFigures& one) {
  return {{"precision", finite_or_null(one.figures.precision)},
          {"precision_interval", interval(one.precision_interval)},
          {"recall", finite_or_null(one.figures.recall)},
          {"recall_interval", interval(one.recall_interval)},
          {"f1", finite_or_null(one.figures.f1)},
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

void put(Json& json, const Evaluation& e, const std::vector<std::string>& labels) {
  if (e.of_class.size() == 2) json["eval_auc_interval"] = interval(e.auc.interval);
  json["eval_majority_share"] = finite_or_null(e.majority_share);
  Json classes = Json::object();
  for (std::size_t c = 0; c < e.of_class.size(); ++c) classes[labels[c]] = to_json(e.of_class[c]);
  json["eval_classes"] = classes;
  json["eval_confusion"] = confusion_rows(e);
  const std::optional<std::int32_t> only = only_predicted_class(e);
  json["eval_only_predicts"] = only ? Json(labels[static_cast<std::size_t>(*only)]) : Json();
}

void put(Json& json, const MultiLabelEvaluation& e, const std::vector<std::string>& labels) {
  json["eval_subset_accuracy_interval"] = interval(e.subset_accuracy_interval);
  json["eval_labels"] = Json::object();
  for (std::size_t l = 0; l < e.of_label.size(); ++l) {
    Json& one = json["eval_labels"][labels[l]] = to_json(e.of_label[l]);
    one["auc"] = finite_or_null(e.auc_of_label[l].value);
    one["auc_interval"] = interval(e.auc_of_label[l].interval);
  }
}

void put(Json& json, const RegressionEvaluation& e, const std::vector<std::string>& labels) {
  if (e.of_output.size() == 1) {
    json["eval_pearson_interval"] = interval(e.of_output[0].pearson.interval);
    json["eval_spearman_interval"] = interval(e.of_output[0].spearman.interval);
  }
  json["eval_baseline_rmse"] = finite_or_null(e.baseline.rmse);
  json["eval_outputs"] = Json::object();
  for (std::size_t o = 0; o < e.of_output.size(); ++o) {
    const auto& [errors, pearson, spearman] = e.of_output[o];
    json["eval_outputs"][labels[o]] = {{"r2", finite_or_null(errors.r2)},
                                       {"rmse", finite_or_null(errors.rmse)},
                                       {"mae", finite_or_null(errors.mae)},
                                       {"pearson", finite_or_null(pearson.value)},
                                       {"pearson_interval", interval(pearson.interval)},
                                       {"spearman", finite_or_null(spearman.value)},
                                       {"spearman_interval", interval(spearman.interval)}};
  }
}

std::string key_of(const FigureName& figure) { return fmt::format("eval_{}", figure.key); }

}  // namespace

Measurement measure(const Model& model, const EncodedSet& data, std::int64_t batch_size,
                    Context& context, const std::string& title, ProgressEnd end) {
  const auto start = std::chrono::steady_clock::now();
  Predictor predictor(forward_graph(model), model.parameters, context.session());
  const ExampleSource source = text_examples(data);
  check_batches(predictor.graph(), source.lengths, batch_size, context.session(),
                predictor.parameters(), "");
  Progress progress(title, data.size(),
                    {.unit = std::string(data.noun()), .end = end, .output = context.progress});
  Measurement measured;
  measured.logits =
      predictor.rows(source, batch_size, [&](std::int64_t done) { progress.update(done); });
  measured.outputs = predictor.width();
  measured.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  measured.evaluation = evaluate(measured.view(), truth_of(data));
  return measured;
}

std::string figure_title(const FigureName& figure) { return capitalized(std::string(figure.text)); }

std::string figure_headline(const std::string& measured_on, const TaskEvaluation& e) {
  return fmt::format("{} on {}: {}; {}.", figure_title(e.figure), measured_on,
                     sentence_text({e.value, e.interval.low, e.interval.high}), baseline_text(e));
}

FigureName figure_of(const Json& measurement) {
  const Json& name = value_at(measurement, "eval_figure");
  return name.is_string() ? figure_name(name.get<std::string>()) : kAccuracy;
}

Estimate figure_estimate(const Json& measurement) {
  const std::string key = key_of(figure_of(measurement));
  const Json& ends = measurement.at(key + "_interval");
  return {number_or_nan(measurement.at(key)), number_or_nan(ends.at(0)), number_or_nan(ends.at(1))};
}

double baseline_of(const Json& measurement) {
  const char* key = measurement.contains("eval_baseline") ? "eval_baseline" : "eval_majority_share";
  const Json& baseline = measurement.at(key);
  return baseline.is_number() ? baseline.get<double>() : std::nan("");
}

std::string baseline_text(const Json& measurement) {
  return baseline_text(figure_of(measurement), baseline_of(measurement));
}

Json to_json(const Measurement& measurement, const std::vector<std::string>& labels) {
  const TaskEvaluation& e = measurement.evaluation;
  Json json = {{"eval_figure", e.figure.key}};
  for (const Metric& metric : metrics(e.task())) {
    if (metric.of_two_classes && measurement.outputs != 2) continue;
    const std::string key = fmt::format("eval_{}", metric.name);
    json[key] = finite_or_null(metric.value(e));
    if (metric.name == e.figure.key) json[key + "_interval"] = interval(e.interval);
  }
  json["eval_baseline"] = finite_or_null(e.baseline);
  std::visit([&](const auto& figures) { put(json, figures, labels); }, e.figures);
  json["eval_without_prediction"] = e.without_prediction;
  json["eval_samples"] = e.examples;
  json["eval_effective_samples"] = effective_examples(e.examples, e.evidence);
  json["eval_runtime"] = measurement.seconds;
  json["eval_samples_per_second"] = static_cast<double>(e.examples) / measurement.seconds;
  return json;
}

Json verdict_json(const Verdict& v, const std::string& change) {
  Json json = {{"verdict", to_string(v.conclusion)},
               {"margin", v.margin},
               {change, finite_or_null(v.change)},
               {change + "_interval", v.change_interval ? interval(*v.change_interval) : Json()},
               {"p_value", finite_or_null(v.p_value)},
               {"candidates", v.candidates},
               {"examples_needed", v.examples_needed ? Json(*v.examples_needed) : Json()},
               {"summary", v.summary}};
  if (v.grounds) json["grounds"] = to_string(*v.grounds);
  if (v.seeds_needed) json["seeds_needed"] = *v.seeds_needed;
  return json;
}

Json to_json(const Verdict& v) {
  Json json = {{"figure", v.figure.key}};
  json.update(verdict_json(v, fmt::format("{}_change", v.figure.key)));
  return json;
}

Json to_json(const TaskComparison& c, const Verdict& v) {
  Json json = Json::object();
  if (c.counted) {
    json = {{"flips", c.counted->flips},
            {"flip_share", finite_or_null(c.counted->flip_share)},
            {"flip_interval", interval(c.counted->flip_interval)},
            {"only_parent_right", c.counted->only_parent},
            {"only_candidate_right", c.counted->only_candidate},
            {"mcnemar_p", c.counted->mcnemar_p}};
  }
  if (c.change.figure == kMicroF1) json["answer_flip_share"] = finite_or_null(c.answer_flip_share);
  if (c.change.figure == kR2) json["mean_shift"] = finite_or_null(c.mean_shift);
  if (!(c.change.figure == kAccuracy)) {
    json["distinct_texts"] = c.change.texts;
    json["differing_texts"] = c.change.differing_texts;
    json["change_half_width"] = finite_or_null(c.change.half_width);
  }
  json["margin_snr_db"] = finite_or_null(c.snr_db);
  json.update(to_json(v));
  return json;
}

}  // namespace hone
