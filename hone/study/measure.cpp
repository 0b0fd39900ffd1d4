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

ClassResult class_result(const ClassMetrics& one) {
  return {one.scores.precision, one.precision_interval, one.scores.recall,
          one.recall_interval,  one.scores.f1,          one.support,
          one.predicted};
}

// A row per label, in the order of the classes; a column per prediction.
std::vector<std::vector<std::int64_t>> confusion_rows(const Evaluation& e) {
  std::vector<std::vector<std::int64_t>> rows;
  const auto width = static_cast<std::ptrdiff_t>(e.of_class.size());
  for (auto at = e.confusion.begin(); at != e.confusion.end(); at += width)
    rows.emplace_back(at, at + width);
  return rows;
}

void put(EvaluationResult& result, const Evaluation& e, const std::vector<std::string>& labels) {
  if (e.of_class.size() == 2) result.intervals.emplace_back("auc", e.auc.interval);
  result.majority_share = e.majority_share;
  result.classes.emplace();
  for (std::size_t c = 0; c < e.of_class.size(); ++c)
    result.classes->emplace_back(labels[c], class_result(e.of_class[c]));
  result.confusion = confusion_rows(e);
  if (const std::optional<std::int32_t> only = only_predicted_class(e))
    result.only_predicts = labels[static_cast<std::size_t>(*only)];
}

void put(EvaluationResult& result, const MultiLabelEvaluation& e,
         const std::vector<std::string>& labels) {
  result.intervals.emplace_back("subset_accuracy", e.subset_accuracy_interval);
  result.labels.emplace();
  for (std::size_t l = 0; l < e.of_label.size(); ++l)
    result.labels->emplace_back(labels[l],
                                LabelResult{class_result(e.of_label[l]), e.auc_of_label[l].value,
                                            e.auc_of_label[l].interval});
}

void put(EvaluationResult& result, const RegressionEvaluation& e,
         const std::vector<std::string>& labels) {
  if (e.of_output.size() == 1) {
    result.intervals.emplace_back("pearson", e.of_output[0].pearson.interval);
    result.intervals.emplace_back("spearman", e.of_output[0].spearman.interval);
  }
  result.baseline_rmse = e.constant_baseline.rmse;
  result.outputs.emplace();
  for (std::size_t o = 0; o < e.of_output.size(); ++o) {
    const auto& [errors, pearson, spearman] = e.of_output[o];
    result.outputs->emplace_back(
        labels[o], OutputResult{errors.r2, errors.rmse, errors.mae, pearson.value, pearson.interval,
                                spearman.value, spearman.interval});
  }
}

std::vector<std::string> metrics_with_intervals() {
  return {"accuracy", "r2", "f1_micro", "auc", "subset_accuracy", "pearson", "spearman"};
}

std::string key_of(const MetricName& metric) { return fmt::format("eval_{}", metric.key); }

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

std::string metric_title(const MetricName& metric) { return capitalized(std::string(metric.text)); }

std::string metric_headline(const std::string& measured_on, const TaskEvaluation& e) {
  return fmt::format("{} {} on {}; {}.", metric_title(e.metric),
                     sentence_text({e.value, e.interval.low, e.interval.high}), measured_on,
                     constant_baseline_text(e));
}

std::string unseen_text(std::int64_t seen, std::int64_t examples, double evidence) {
  return fmt::format("Without the {} example{} seen in training or used for choices, {}",
                     grouped(seen), seen == 1 ? "" : "s",
                     sample_size_text(examples, effective_examples(examples, evidence)));
}

std::string unseen_sentence(const TaskEvaluation& e) {
  if (!e.unseen) return "";
  const auto& [value, interval, examples, evidence] = *e.unseen;
  return fmt::format("{}: {} {}.", unseen_text(e.examples - examples, examples, evidence),
                     e.metric.text, sentence_text({value, interval.low, interval.high}));
}

MetricName main_metric_of(const Json& measurement) {
  return metric_name(measurement.at("eval_metric").get<std::string>());
}

Estimate metric_estimate(const Json& measurement) {
  const std::string key = key_of(main_metric_of(measurement));
  const Json& ends = measurement.at(key + "_interval");
  return {number_or_nan(measurement.at(key)), number_or_nan(ends.at(0)), number_or_nan(ends.at(1))};
}

double constant_baseline_of(const Json& measurement) {
  return number_or_nan(measurement.at("eval_baseline"));
}

std::string constant_baseline_text(const Json& measurement) {
  return constant_baseline_text(main_metric_of(measurement), constant_baseline_of(measurement));
}

const Fields& fields_of(const ClassResult*) {
  using C = ClassResult;
  static const Fields fields = describe<C>(
      "class_metrics", "Metrics of one class.",
      field<&C::precision>(
          "precision", Unit::share,
          "Share of the examples predicted as it that belong to it; null: none was predicted.")
          .or_null(),
      field<&C::precision_interval>("precision_interval", Unit::share, "Wilson's 95% interval."),
      field<&C::recall>("recall", Unit::share,
                        "Examples of it that were found; null: the class has no examples.")
          .or_null(),
      field<&C::recall_interval>("recall_interval", Unit::share, "Wilson's 95% interval."),
      field<&C::f1>("f1", Unit::share, "Harmonic mean of the two.").or_null(),
      field<&C::support>("support", Unit::examples, "Examples of the class."),
      field<&C::predicted>("predicted", Unit::examples, "Examples predicted as it."));
  return fields;
}

const Fields& fields_of(const LabelResult*) {
  using L = LabelResult;
  static const Fields fields = describe<L>(
      "label_metrics", "Metrics of one label.", inlined<&L::of_class>(),
      field<&L::auc>("auc", Unit::share,
                     "Area under the ROC curve; null where all examples have the label, or none.")
          .or_null(),
      field<&L::auc_interval>("auc_interval", Unit::share, "95% interval."));
  return fields;
}

const Fields& fields_of(const OutputResult*) {
  using O = OutputResult;
  static const Fields fields = describe<O>(
      "output_metrics", "Metrics of one number.",
      field<&O::r2>("r2", "Share of the variance that is explained.").or_null(),
      field<&O::rmse>("rmse", "Root mean squared error.").or_null(),
      field<&O::mae>("mae", "Mean absolute error.").or_null(),
      field<&O::pearson>("pearson", "Correlation with the targets.").or_null(),
      field<&O::pearson_interval>("pearson_interval", Unit::difference, "By Fisher's z."),
      field<&O::spearman>("spearman", "Rank correlation.").or_null(),
      field<&O::spearman_interval>("spearman_interval", Unit::difference, "By Fisher's z."));
  return fields;
}

const Fields& fields_of(const UnseenResult*) {
  using U = UnseenResult;
  static const Fields fields = describe<U>(
      "unseen_metric",
      "The metric by which the task is judged, without the examples that were seen in training or "
      "used for choices.",
      field<&U::samples>("samples", Unit::examples, "Examples without these."),
      field<&U::effective_samples>("effective_samples", Unit::examples,
                                   "Effective sample size of them."),
      field<&U::value>("value", "The metric; null: not defined.").or_null(),
      field<&U::interval>("interval", "Its 95% interval."));
  return fields;
}

const Fields& fields_of(const EvaluationResult*) {
  using E = EvaluationResult;
  static const Fields fields = describe<E>(
      "evaluation", "A model's metrics on labelled examples.",
      field<&E::metric>("eval_metric", "The metric by which the task is judged."),
      spread<&E::metrics>("eval_", metric_names, "", Unit::none,
                          "Metrics of the task; precision, recall and F1 with 0/0 as 0 in means. "
                          "The loss is that of training, without class weights. Null: not "
                          "defined.")
          .or_null(),
      spread<&E::intervals>("eval_", metrics_with_intervals, "_interval", Unit::none,
                            "95% interval of the metric by which the task is judged, and of "
                            "others that have one."),
      field<&E::constant_baseline>(
          "eval_baseline",
          "The metric of a constant prediction: the most frequent class, the "
          "mean, or the most frequent value of each label.")
          .or_null(),
      field<&E::majority_share>("eval_majority_share", Unit::share,
                                "Share of the most frequent class; null for other tasks."),
      field<&E::baseline_rmse>("eval_baseline_rmse",
                               "Root mean squared error of predicting the mean; null unless the "
                               "task is regression."),
      field<&E::classes>("eval_classes", "By class; null for other tasks."),
      field<&E::confusion>("eval_confusion", Unit::examples,
                           "A row for each label, a column for each prediction, in the order of "
                           "the classes; null for other tasks."),
      field<&E::only_predicts>("eval_only_predicts",
                               "The only class that is ever predicted; null: there are several."),
      field<&E::labels>("eval_labels", "By label; null unless the task is multi-label."),
      field<&E::outputs>("eval_outputs", "By number; null unless the task is regression."),
      field<&E::without_prediction>("eval_without_prediction", Unit::examples,
                                    "Examples with logits that are no finite numbers."),
      field<&E::samples>("eval_samples", Unit::examples, "Examples that were measured."),
      field<&E::effective_samples>("eval_effective_samples", Unit::examples,
                                   "Different examples that would say as much as these (Kish); "
                                   "the basis of intervals."),
      field<&E::unseen>("eval_unseen",
                        "The metric without the examples that were seen in training or used for "
                        "choices; null: they are fewer than 1%, or all."),
      field<&E::runtime>("eval_runtime", Unit::seconds, "Duration."),
      field<&E::samples_per_second>("eval_samples_per_second", Unit::examples_per_second,
                                    "Throughput."));
  return fields;
}

EvaluationResult evaluation_result(const Measurement& measurement,
                                   const std::vector<std::string>& labels) {
  const TaskEvaluation& e = measurement.evaluation;
  EvaluationResult result{
      .metric = e.metric,
      .constant_baseline = e.constant_baseline,
      .without_prediction = e.without_prediction,
      .samples = e.examples,
      .effective_samples = effective_examples(e.examples, e.evidence),
      .runtime = measurement.seconds,
      .samples_per_second = static_cast<double>(e.examples) / measurement.seconds};
  if (e.unseen)
    result.unseen = {e.unseen->examples, effective_examples(e.unseen->examples, e.unseen->evidence),
                     e.unseen->value, e.unseen->interval};
  for (const Metric& metric : metrics(e.task())) {
    if (metric.of_two_classes && measurement.outputs != 2) continue;
    result.metrics.emplace_back(metric.name, metric.value(e));
    if (metric.name == e.metric.key) result.intervals.emplace_back(metric.name, e.interval);
  }
  std::visit([&](const auto& own) { put(result, own, labels); }, e.details);
  return result;
}

const Fields& fields_of(const ComparisonResult*) {
  using C = ComparisonResult;
  static const Fields fields = describe<C>(
      "comparison", "A model compared with its baseline on the same examples.",
      field<&C::flips>("flips", Unit::examples,
                       "Predictions changed; multi-label: examples with any changed label. Null "
                       "for regression."),
      field<&C::flip_share>("flip_share", Unit::share, "The same as a share of the examples."),
      field<&C::flip_interval>("flip_interval", Unit::share, "Wilson's 95% interval."),
      field<&C::only_baseline_right>("only_baseline_right", Unit::examples,
                                     "Correct → wrong. Null for regression."),
      field<&C::only_candidate_right>("only_candidate_right", Unit::examples,
                                      "Wrong to correct. Null for regression."),
      field<&C::mcnemar_p>("mcnemar_p",
                           "Two-sided p-value of McNemar's exact test on these two. Null for "
                           "regression."),
      field<&C::label_flip_share>("answer_flip_share", Unit::share,
                                  "Labels that changed; null unless the task is multi-label."),
      field<&C::mean_shift>("mean_shift",
                            "Mean absolute change of predictions, in the unit of the targets; "
                            "null unless the task is regression."),
      field<&C::distinct_examples>("distinct_examples", Unit::examples,
                                   "Different ones, the basis of the interval of the change; null "
                                   "for accuracy."),
      field<&C::differing_examples>(
          "differing_examples", Unit::examples,
          "Different examples on which the models differ; null for accuracy."),
      field<&C::change_half_width>(
          "change_half_width",
          "Half of the interval of the change before it was limited to the "
          "possible range; null for accuracy."),
      field<&C::margin_snr_db>("margin_snr_db", Unit::decibels,
                               "Signal to noise of the margins between classes, of logits "
                               "(multi-label), or of numbers about their mean; null: nothing "
                               "differs, or a logit is no number.")
          .or_null(),
      inlined<&C::verdict>(),
      field<&C::unseen>("unseen",
                        "The change without the examples that were seen in training or used for "
                        "choices; null: they are fewer than 1%, or all."));
  return fields;
}

ComparisonResult comparison_result(const TaskComparison& c, const Verdict& v) {
  ComparisonResult result{.margin_snr_db = c.snr_db, .verdict = v};
  if (c.counted) {
    result.flips = c.counted->flips;
    result.flip_share = c.counted->flip_share;
    result.flip_interval = c.counted->flip_interval;
    result.only_baseline_right = c.counted->only_baseline;
    result.only_candidate_right = c.counted->only_candidate;
    result.mcnemar_p = c.counted->mcnemar_p;
  }
  if (c.unseen) result.unseen = verdict_of_evaluation(*c.unseen, v.candidates, v.margin);
  if (c.change.metric == kMicroF1) result.label_flip_share = c.label_flip_share;
  if (c.change.metric == kR2) result.mean_shift = c.mean_shift;
  if (!(c.change.metric == kAccuracy)) {
    result.distinct_examples = c.change.texts;
    result.differing_examples = c.change.differing_texts;
    result.change_half_width = c.change.half_width;
  }
  return result;
}

}  // namespace hone
