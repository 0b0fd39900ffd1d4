#include "hone/metrics/gated_change.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/metrics/metric.h"
#include "hone/metrics/p_value.h"
#include "hone/metrics/verdict_text.h"

namespace hone {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// A model's predictions for examples with classes or labels.
struct ModelPredictions {
  std::vector<std::int32_t> classes = {};  ///< for single labels: (examples)
  std::vector<std::vector<char>> labels =
      {};  ///< for multiple labels: `label_predictions` of each example

  ModelPredictions(const Logits& logits, const Truth& truth) {
    if (truth.task == Task::single_label) {
      classes = predictions(logits);
    } else {
      for (std::int64_t i = 0; i < logits.examples(); ++i)
        labels.push_back(label_predictions(logits.row(i)));
    }
  }
  bool predicts(std::size_t example, std::int64_t label) const {
    if (labels.empty()) return classes[example] == label;
    const std::vector<char>& of_example = labels[example];
    return !of_example.empty() && of_example[static_cast<std::size_t>(label)] != 0;
  }
  bool same(const ModelPredictions& other, std::size_t example) const {
    return labels.empty() ? classes[example] == other.classes[example]
                          : labels[example] == other.labels[example];
  }
};

/// The predictions of two models for the same examples.
struct ModelPair {
  Truth truth;
  std::int64_t outputs = 0;
  std::size_t examples = 0;
  ModelPredictions baseline, candidate;

  ModelPair(const Logits& before, const Logits& after, const Truth& of)
      : truth(of),
        outputs(before.classes),
        examples(static_cast<std::size_t>(before.examples())),
        baseline(before, of),
        candidate(after, of) {}

  std::span<const float> targets(std::size_t example) const {
    const auto width = static_cast<std::size_t>(outputs);
    return truth.targets.subspan(example * width, width);
  }
  bool is_of(std::size_t example, std::int64_t label) const {
    return truth.task == Task::single_label
               ? truth.classes[example] == label
               : targets(example)[static_cast<std::size_t>(label)] != 0;
  }
};

// Returns the texts of these rows, renumbered below their count, as `evidence` requires.
std::vector<std::int32_t> texts_of(std::span<const std::int32_t> texts,
                                   const std::vector<std::size_t>& rows) {
  std::vector<std::int32_t> own;
  if (texts.empty()) return own;
  std::vector<std::int32_t> numbers(texts.size(), -1);
  std::int32_t count = 0;
  for (const std::size_t row : rows) {
    std::int32_t& number = numbers[static_cast<std::size_t>(texts[row])];
    if (number < 0) number = count++;
    own.push_back(number);
  }
  return own;
}

// A model is right on an example of a class or label if it predicts it.
Comparison compare_on_class(const ModelPair& both, std::int64_t label) {
  std::vector<std::size_t> rows;
  std::vector<char> was_right, is_right, differ;
  for (std::size_t i = 0; i < both.examples; ++i) {
    if (!both.is_of(i, label)) continue;
    rows.push_back(i);
    was_right.push_back(both.baseline.predicts(i, label) ? 1 : 0);
    is_right.push_back(both.candidate.predicts(i, label) ? 1 : 0);
    const bool same = both.truth.task == Task::single_label ? both.baseline.same(both.candidate, i)
                                                            : was_right.back() == is_right.back();
    differ.push_back(same ? 0 : 1);
  }
  return compare_predictions(was_right, is_right, differ, texts_of(both.truth.texts, rows));
}

using Value = std::function<double(const TaskEvaluation&)>;

/// The part of a model's evaluation that follows from counts. Examples can be removed from it.
class Tally {
 public:
  virtual ~Tally() = default;
  virtual void add(std::size_t example, std::int64_t times) = 0;
  virtual const TaskEvaluation& evaluation() = 0;
  /// Returns approximately the largest change of `value` by one different prediction.
  virtual double greatest_step(const Value& value, bool of_one_class) = 0;
};

// Returns the size of a step; 0 if the value after it is not defined.
double step(double before, double after) {
  return std::isnan(after) ? 0 : std::abs(after - before);
}

class TallyOfClasses : public Tally {
 public:
  TallyOfClasses(const ModelPair& both, const ModelPredictions& model)
      : both_(both), model_(model) {
    own().of_class.resize(static_cast<std::size_t>(both.outputs));
    own().confusion.resize(static_cast<std::size_t>(both.outputs * both.outputs));
    for (std::size_t i = 0; i < both.examples; ++i) add(i, 1);
  }
  void add(std::size_t example, std::int64_t times) override {
    count_example(own(), both_.truth.classes[example], model_.classes[example], times);
  }
  const TaskEvaluation& evaluation() override {
    compute_from_counts(own());
    return evaluation_;
  }
  // A prediction that moves to another class is one less in the old class and one more in the new one.
  double greatest_step(const Value& value, bool of_one_class) override {
    const double now = value(evaluation());
    const auto moved = [&](std::int32_t label, std::int32_t from, std::int32_t to) {
      count_example(own(), label, from, -1);
      count_example(own(), label, to, 1);
      const double size = step(now, value(evaluation()));
      count_example(own(), label, from, 1);
      count_example(own(), label, to, -1);
      return size;
    };
    const auto classes = static_cast<std::size_t>(both_.outputs);
    std::vector<double> less(classes), more(classes);
    for (std::size_t c = 0; c < classes; ++c) {
      const ClassMetrics one = own().of_class[c];
      const auto label = static_cast<std::int32_t>(c);
      if (one.support > 0)
        less[c] =
            one.found > 0 ? moved(label, label, kNoPrediction) : moved(label, kNoPrediction, label);
      if (one.support + one.predicted > 0) more[c] = moved(c == 0 ? 1 : 0, kNoPrediction, label);
    }
    double greatest = 0;
    for (std::size_t from = 0; from < classes; ++from)
      for (std::size_t to = 0; to < classes; ++to)
        if (from != to)
          greatest = std::max(
              greatest, of_one_class ? std::max(less[from], more[from]) : less[from] + more[to]);
    return greatest;
  }

 private:
  Evaluation& own() { return std::get<Evaluation>(evaluation_.details); }

  const ModelPair& both_;
  const ModelPredictions& model_;
  TaskEvaluation evaluation_;
};

class TallyOfLabels : public Tally {
 public:
  TallyOfLabels(const ModelPair& both, const ModelPredictions& model)
      : both_(both), model_(model), tally_(both.outputs) {
    evaluation_.details = MultiLabelEvaluation();
    for (std::size_t i = 0; i < both.examples; ++i) add(i, 1);
  }
  void add(std::size_t example, std::int64_t times) override {
    tally_.add(both_.targets(example), model_.labels[example], times);
  }
  const TaskEvaluation& evaluation() override {
    tally_.compute(std::get<MultiLabelEvaluation>(evaluation_.details));
    return evaluation_;
  }
  // Flips, for each label, a prediction on an example that has the label, and one on an example that has not.
  double greatest_step(const Value& value, bool /*of_one_class*/) override {
    const double now = value(evaluation());
    double greatest = 0;
    for (std::int64_t l = 0; l < both_.outputs; ++l) {
      for (const bool has : {true, false}) {
        std::size_t i = 0;
        while (i < both_.examples && (both_.is_of(i, l) != has || model_.labels[i].empty())) ++i;
        if (i == both_.examples) continue;
        std::vector<char> other = model_.labels[i];
        char& answer = other[static_cast<std::size_t>(l)];
        answer = answer == 0 ? 1 : 0;
        add(i, -1);
        tally_.add(both_.targets(i), other);
        greatest = std::max(greatest, step(now, value(evaluation())));
        tally_.add(both_.targets(i), other, -1);
        add(i, 1);
      }
    }
    return greatest;
  }

 private:
  const ModelPair& both_;
  const ModelPredictions& model_;
  LabelTally tally_;
  TaskEvaluation evaluation_;
};

std::unique_ptr<Tally> tally_of(const ModelPair& both, const ModelPredictions& model) {
  if (both.truth.task == Task::single_label) return std::make_unique<TallyOfClasses>(both, model);
  return std::make_unique<TallyOfLabels>(both, model);
}

// Returns the rows of each text, as indices into `texts`.
std::vector<std::vector<std::size_t>> rows_by_text(std::span<const std::int32_t> texts,
                                                   std::size_t count) {
  std::vector<std::vector<std::size_t>> rows(count);
  for (std::size_t i = 0; i < count; ++i)
    rows[texts.empty() ? i : static_cast<std::size_t>(texts[i])].push_back(i);
  std::erase_if(rows, [](const std::vector<std::size_t>& one) { return one.empty(); });
  return rows;
}

// Returns the contribution of each text, found by leaving it out, at the text's first row.
std::vector<double> jackknife(Tally& tally, const Value& value,
                              const std::vector<std::size_t>& rows,
                              std::span<const std::int32_t> texts) {
  const double all = value(tally.evaluation());
  const std::vector<std::vector<std::size_t>> by_text = rows_by_text(texts, rows.size());
  const auto count = static_cast<double>(by_text.size());
  std::vector<double> contributions(rows.size());
  for (const std::vector<std::size_t>& places : by_text) {
    for (const std::size_t place : places) tally.add(rows[place], -1);
    contributions[places.front()] = (count - 1) / count * (all - value(tally.evaluation()));
    for (const std::size_t place : places) tally.add(rows[place], 1);
  }
  return contributions;
}

// Returns the examples on which a metric can change.
std::vector<std::size_t> rows_of(const ModelPair& both, const Gate& gate) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < both.examples; ++i) {
    if (!gate.of_class || both.baseline.predicts(i, *gate.of_class) ||
        both.candidate.predicts(i, *gate.of_class) ||
        (gate.base_metric == "f1" && both.is_of(i, *gate.of_class)))
      rows.push_back(i);
  }
  return rows;
}

std::string unit_of(const Gate& gate) {
  if (!gate.of_class) return "";
  const char* which = gate.base_metric == "recall"      ? "of"
                      : gate.base_metric == "precision" ? "predicted as"
                                                        : "of or predicted as";
  return fmt::format("examples {} {}", which, shown_name(gate.class_name));
}

// Returns the change; not defined if the metric is not defined without one of the texts, because it depends on that
// text alone.
MetricChange change_unless_it_rests_on_one(const Gate& gate, double change,
                                           const Contributions& contributions,
                                           std::span<const std::int32_t> texts) {
  const bool rests_on_one =
      std::ranges::any_of(contributions.values, [](double part) { return std::isnan(part); });
  MetricChange c =
      paired_change(gate.metric, rests_on_one ? kNotANumber : change, contributions, texts);
  if (rests_on_one && !std::isnan(change)) c.notes = "; it depends on a single example";
  return c;
}

MetricChange change_by_counts(const Gate& gate, const ModelPair& both) {
  const std::vector<std::size_t> rows = rows_of(both, gate);
  const std::vector<std::int32_t> texts = texts_of(both.truth.texts, rows);
  const Value value = [&](const TaskEvaluation& e) { return gated_value(gate, e); };
  const auto before = tally_of(both, both.baseline), after = tally_of(both, both.candidate);
  const double change = value(after->evaluation()) - value(before->evaluation());
  const std::vector<double> baseline = jackknife(*before, value, rows, texts);
  std::vector<double> contributions = jackknife(*after, value, rows, texts);
  std::vector<char> differ;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    contributions[i] -= baseline[i];
    const bool same = gate.of_class ? both.baseline.predicts(rows[i], *gate.of_class) ==
                                          both.candidate.predicts(rows[i], *gate.of_class)
                                    : both.baseline.same(both.candidate, rows[i]);
    differ.push_back(same ? 0 : 1);
  }
  MetricChange c = change_unless_it_rests_on_one(
      gate, change,
      {.values = contributions,
       .differ = differ,
       .is_discrete = true,
       .greatest = before->greatest_step(value, gate.of_class.has_value())},
      texts);
  if (c.interval)
    c.notes += differing_text(std::ranges::count_if(differ, [](char d) { return d != 0; }),
                              std::ssize(differ), "prediction");
  return c;
}

MetricChange change_by_contributions(const Gate& gate, const Metric& metric, const Logits& baseline,
                                     const Logits& candidate, const Truth& truth, double change) {
  std::vector<double> contributions = metric.contributions(candidate, truth);
  const std::vector<double> before = metric.contributions(baseline, truth);
  std::vector<char> differ;
  for (std::size_t i = 0; i < contributions.size(); ++i) {
    contributions[i] -= before[i];
    const auto row = static_cast<std::int64_t>(i);
    differ.push_back(std::ranges::equal(baseline.row(row), candidate.row(row)) ? 0 : 1);
  }
  const double least = 1 / static_cast<double>(std::max<std::size_t>(contributions.size(), 1));
  return change_unless_it_rests_on_one(
      gate, change, {.values = contributions, .differ = differ, .least = least, .is_unequal = true},
      truth.texts);
}

MetricChange change_of_recall(const Gate& gate, const ModelPair& both) {
  const Comparison comparison = compare_on_class(both, *gate.of_class);
  MetricChange c = accuracy_change(comparison);
  if (comparison.examples == 0) c = {.change = kNotANumber};
  return c;
}

std::string why_undefined(const Gate& gate, const TaskEvaluation& baseline,
                          const TaskEvaluation& candidate) {
  std::string why;
  for (const auto& [whose, e] :
       {std::pair("baseline", &baseline), std::pair("candidate", &candidate)}) {
    if (!std::isnan(gated_value(gate, *e))) continue;
    if (gate.base_metric == "precision" && gate.of_class)
      why += fmt::format("; the {} never predicts {}", whose, shown_name(gate.class_name));
    else if (e->without_prediction > 0)
      why += fmt::format("; {} of {} predictions of the {} are not finite",
                         grouped(e->without_prediction), grouped(e->examples), whose);
  }
  if (!why.empty()) return why;
  return gate.of_class ? fmt::format("; there is no example of {}", shown_name(gate.class_name))
                       : "; all labels, or all predictions of a model, are the same";
}

MetricChange change_of(const Gate& gate, const Logits& baseline, const Logits& candidate,
                       const Truth& truth, double change) {
  if (gate.of_class) {
    const ModelPair both(baseline, candidate, truth);
    return gate.base_metric == "recall" ? change_of_recall(gate, both)
                                        : change_by_counts(gate, both);
  }
  const Metric& metric = find_metric(truth.task, gate.base_metric);
  if (&metric == &metrics(truth.task).front()) return compare(baseline, candidate, truth).change;
  if (gate.metric == kSubsetAccuracy)
    return compare_multi_label(baseline, candidate, truth.targets, truth.texts).subset_accuracy;
  if (metric.contributions != nullptr)
    return change_by_contributions(gate, metric, baseline, candidate, truth, change);
  return change_by_counts(gate, ModelPair(baseline, candidate, truth));
}

}  // namespace

std::vector<MetricChange> gated_changes(std::span<const Gate> gates, const Logits& baseline,
                                        const Logits& candidate, const Truth& truth) {
  const TaskEvaluation before = evaluate(baseline, truth), after = evaluate(candidate, truth);
  std::vector<MetricChange> changes;
  for (const Gate& gate : gates) {
    const double was = gated_value(gate, before), is = gated_value(gate, after);
    MetricChange c = change_of(gate, baseline, candidate, truth, is - was);
    c.metric = gate.metric;
    c.unit = unit_of(gate);
    c.baseline = was;
    c.candidate = is;
    if (before.examples > 0 && std::isnan(is - was)) c.notes = why_undefined(gate, before, after);
    changes.push_back(std::move(c));
  }
  return changes;
}

std::string gated_examples(const Gate& gate) { return gate.of_class ? unit_of(gate) : "examples"; }

MetricChange gated_change(const Gate& gate, const Logits& baseline, const Logits& candidate,
                          const Truth& truth) {
  return gated_changes({&gate, 1}, baseline, candidate, truth).front();
}

namespace {

GateVerdict all_together(std::span<const Gate> gates, std::vector<Verdict> verdicts) {
  HONE_ASSERT(!gates.empty() && gates.size() == verdicts.size(), "{} gates, {} changes",
              gates.size(), verdicts.size());
  GateVerdict all{.gates = std::move(verdicts)};
  std::vector<std::string> lost, unclear, kept;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const Verdict& v = all.gates[i];
    std::string change = std::isnan(v.change)
                             ? fmt::format("{}, which is not defined", v.metric.text)
                             : fmt::format("{} {}", v.metric.text, points_text(v.change));
    if (v.examples_needed)
      change +=
          fmt::format(" ({} {} needed)", about_text(*v.examples_needed), gated_examples(gates[i]));
    (v.within_limit()                            ? kept
     : v.conclusion == Conclusion::exceeds_limit ? lost
                                                 : unclear)
        .push_back(change);
  }
  all.conclusion = !lost.empty()      ? Conclusion::exceeds_limit
                   : !unclear.empty() ? Conclusion::inconclusive
                                      : Conclusion::within_limit;
  if (all.gates.size() == 1) {
    all.summary = all.gates.front().summary;
  } else if (all.within_limit()) {
    all.summary =
        fmt::format("all {} gates hold, in points: {}", gates.size(), fmt::join(kept, ", "));
  } else if (!lost.empty()) {
    all.summary = fmt::format("{} of {} gates fail{}, in points: {}", lost.size(), gates.size(),
                              lost.size() == 1 ? "s" : "", fmt::join(lost, ", "));
  } else {
    all.summary =
        fmt::format("{} of {} gates {} inconclusive, in points: {}", unclear.size(), gates.size(),
                    unclear.size() == 1 ? "is" : "are", fmt::join(unclear, ", "));
  }
  return all;
}

}  // namespace

GateVerdict judge_gates(std::span<const Gate> gates, std::span<const MetricChange> changes,
                        std::int64_t evaluations) {
  HONE_ASSERT(gates.size() == changes.size(), "{} gates, {} changes", gates.size(), changes.size());
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < gates.size(); ++i)
    verdicts.push_back(
        verdict_of_evaluation(changes[i], evaluations * std::ssize(gates), gates[i].margin));
  return all_together(gates, std::move(verdicts));
}

std::vector<GateVerdict> judge_gates_of_choice(
    std::span<const std::vector<Gate>> gates,
    std::span<const std::vector<MetricChange>> candidates) {
  HONE_ASSERT(gates.size() == candidates.size(), "gates of {} candidates, changes of {}",
              gates.size(), candidates.size());
  std::vector<MetricChange> changes;
  std::vector<double> margins;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    HONE_ASSERT(gates[i].size() == candidates[i].size(), "{} gates, {} changes", gates[i].size(),
                candidates[i].size());
    changes.insert(changes.end(), candidates[i].begin(), candidates[i].end());
    for (const Gate& gate : gates[i]) margins.push_back(gate.margin);
  }
  const std::vector<Verdict> verdicts = verdicts_of_choice(changes, margins);
  std::vector<GateVerdict> all;
  auto at = verdicts.begin();
  for (const std::vector<Gate>& own : gates) {
    all.push_back(own.empty() ? GateVerdict{.gates = {}, .conclusion = Conclusion::within_limit}
                              : all_together(own, {at, at + std::ssize(own)}));
    at += std::ssize(own);
  }
  return all;
}

GateVerdict judge_gates_of_seeds(std::span<const Gate> gates,
                                 std::span<const SeedChanges> changes) {
  HONE_ASSERT(gates.size() == changes.size(), "{} gates, {} changes", gates.size(), changes.size());
  std::vector<Verdict> verdicts;
  for (std::size_t i = 0; i < gates.size(); ++i)
    verdicts.push_back(verdict_of_seeds(changes[i], gates[i].margin));
  return all_together(gates, std::move(verdicts));
}

std::vector<DegradedClass> degraded_classes(const Logits& baseline, const Logits& candidate,
                                            const Truth& truth, std::int64_t comparisons) {
  if (truth.task == Task::regression) return {};
  const ModelPair both(baseline, candidate, truth);
  std::vector<DegradedClass> tested;
  std::vector<double> p_values;
  for (std::int64_t c = 0; c < both.outputs; ++c) {
    const Comparison own = compare_on_class(both, c);
    if (own.examples == 0) continue;
    tested.push_back({c, own.examples, own.accuracy_change(), accuracy_change_interval(own)});
    p_values.push_back(own.mcnemar_p);
  }
  const std::vector<double> corrected = holm_adjusted(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i)
    tested[i].p_value = std::min(1.0, corrected[i] * static_cast<double>(comparisons));
  constexpr double kLevel = 0.05;
  std::erase_if(tested,
                [](const DegradedClass& one) { return one.p_value > kLevel || one.change >= 0; });
  std::ranges::stable_sort(tested, {}, &DegradedClass::change);
  return tested;
}

}  // namespace hone
