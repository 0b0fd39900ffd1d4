#include "hone/jobs/model_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "hone/base/error.h"
#include "hone/data/class_names.h"
#include "hone/data/row_hash.h"
#include "hone/jobs/compress.h"
#include "hone/study/prediction_text.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Returns the number of wrong predictions for a text, or the sum of the errors of its numbers.
double error_of_example(const LabelScheme& scheme, const Example& example,
                        std::span<const float> outputs) {
  if (scheme.task == Task::single_label) return prediction(outputs) != example.label;
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    sum += scheme.task == Task::regression
               ? std::abs(static_cast<double>(outputs[i]) - example.targets[i])
               : predicts_label(outputs[i]) != (example.targets[i] != 0);
  return sum;
}

double swing_of(Task task, std::span<const float> first, std::span<const float> second) {
  const std::int32_t before = prediction(first), after = prediction(second);
  if (before == kNoPrediction || after == kNoPrediction) return 0;
  if (task == Task::single_label) {
    const auto margin = [&](std::span<const float> logits) {
      return static_cast<double>(logits[static_cast<std::size_t>(after)]) -
             logits[static_cast<std::size_t>(before)];
    };
    return margin(second) - margin(first);
  }
  double most = 0;
  for (std::size_t i = 0; i < first.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(second[i]) - first[i]));
  return most;
}

// Predicted classes and labels are compared by name, numbers exactly.
bool differ(const LabelScheme& scheme, std::span<const float> a, std::span<const float> b) {
  return scheme.task == Task::regression ? !std::ranges::equal(a, b)
                                         : prediction_text(scheme, a) != prediction_text(scheme, b);
}

// Interleaves the classes among flips of equal loss. Classes with the largest share of changed examples come first.
void interleave(std::span<Flip> flips, const std::vector<Example>& examples,
                const std::map<std::int32_t, std::int64_t>& class_sizes) {
  const auto class_of = [&](const Flip& flip) {
    return examples[static_cast<std::size_t>(flip.example)].label;
  };
  std::map<std::int32_t, double> shares;
  for (const Flip& flip : flips)
    shares[class_of(flip)] += 1.0 / static_cast<double>(class_sizes.at(class_of(flip)));
  std::map<std::int32_t, std::int64_t> taken;
  std::vector<std::pair<std::int64_t, Flip>> with_turns;
  for (Flip& flip : flips) {
    const std::int64_t turn = taken[class_of(flip)]++;
    with_turns.emplace_back(turn, std::move(flip));
  }
  std::ranges::stable_sort(with_turns, [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return shares.at(class_of(a.second)) > shares.at(class_of(b.second));
  });
  for (std::size_t i = 0; i < flips.size(); ++i) flips[i] = std::move(with_turns[i].second);
}

// Returns losses first and gains last, interleaved so that all classes appear.
std::vector<Flip> find_flips(const LabelScheme& scheme, const Logits& first, const Logits& second,
                             const std::vector<Example>& examples) {
  std::vector<Flip> flips;
  for (std::size_t i = 0; i < examples.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    const std::span<const float> a = first.row(row), b = second.row(row);
    if (!differ(scheme, a, b)) continue;
    flips.push_back(
        {row, truth_text(scheme, examples[i]), prediction_text(scheme, a),
         prediction_text(scheme, b),
         error_of_example(scheme, examples[i], b) - error_of_example(scheme, examples[i], a),
         swing_of(scheme.task, a, b)});
  }
  std::ranges::stable_sort(flips, [](const Flip& a, const Flip& b) {
    return a.loss != b.loss ? a.loss > b.loss : a.swing > b.swing;
  });
  if (scheme.task != Task::single_label) return flips;
  std::map<std::int32_t, std::int64_t> class_sizes;
  for (const Example& example : examples) ++class_sizes[example.label];
  for (auto begin = flips.begin(); begin != flips.end();) {
    const auto end = std::find_if(begin, flips.end(),
                                  [&](const Flip& flip) { return flip.loss != begin->loss; });
    interleave({begin, end}, examples, class_sizes);
    begin = end;
  }
  return flips;
}

}  // namespace

ExampleLabels example_labels(Task task, const std::vector<Example>& examples) {
  ExampleLabels right{
      .task = task, .texts = text_numbers(row_hashes(examples)), .unseen = unseen_rows(examples)};
  for (const Example& example : examples) {
    right.classes.push_back(example.label);
    right.targets.insert(right.targets.end(), example.targets.begin(), example.targets.end());
  }
  return right;
}

ModelFacts common_facts(const ModelFacts& first, const ModelFacts& second,
                        std::vector<std::string>& notes) {
  user_check(first.task() == second.task(), "the models have different tasks: {} and {}",
             to_string(first.task()), to_string(second.task()));
  user_check(class_order(first.labels, second.labels).has_value(),
             "the models have different classes: {} and {}; measure each by `hone eval`",
             listed_names(first.labels), listed_names(second.labels));
  ModelFacts common = first;
  if (first.has_default_labels() == second.has_default_labels()) return common;
  if (first.has_default_labels()) common.labels = second.labels;
  const std::string note = fmt::format(
      "one of the models does not name its classes; they are assumed to be, in order: {}",
      listed_names(common.labels));
  if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  return common;
}

ComparedModel measured(const TextModel& source, const std::string& label,
                       const std::vector<Example>& examples, const TextCut& cut,
                       std::int64_t batch_size, const LabelScheme& scheme, Context& context,
                       std::vector<std::string>& warnings) {
  const EncodedSet data = encode_split(source, examples, label, cut, context, warnings);
  Measurement measurement = measure(source.model, data, batch_size, context, label);
  const auto order = class_order(scheme.names, source.model.facts.labels);
  if (order && !std::ranges::is_sorted(*order)) {
    measurement.logits = permute_columns(measurement.logits, *order);
    measurement.evaluation = evaluate(measurement.view(), truth_of(data));
  }
  return {label, average_weight_bits(source.model), std::move(measurement), std::nullopt,
          arithmetic_of_run(forward_graph(source.model), context.session())};
}

TaskComparison compare_measured(const ComparedModel& first, const ComparedModel& second, Task task,
                                const std::vector<Example>& examples) {
  return compare(first.measurement.view(), second.measurement.view(),
                 example_labels(task, examples).truth());
}

ModelComparison compare_models(const LabelledModel& first, const LabelledModel& second,
                               const std::vector<Example>& examples, const TextCut& cut,
                               std::int64_t batch_size, Context& context,
                               std::vector<std::string>& warnings) {
  const LabelScheme scheme =
      common_facts(first.model.model.facts, second.model.model.facts, warnings).scheme();
  const auto measure_one = [&](const LabelledModel& one) {
    return measured(one.model, one.label, examples, cut, batch_size, scheme, context, warnings);
  };
  ModelComparison result{measure_one(first), measure_one(second), {}, {}, scheme.names};
  result.comparison = compare_measured(result.first, result.second, scheme.task, examples);
  result.second.comparison = result.comparison;
  result.flips = find_flips(scheme, result.first.measurement.view(),
                            result.second.measurement.view(), examples);
  return result;
}

ChangedTexts changed_texts(const ModelComparison& comparison, const std::vector<Example>& examples,
                           std::size_t count) {
  ChangedTexts texts;
  for (const Flip& flip : comparison.flips) {
    if (texts.rows.size() == count) break;
    const Example& example = examples[static_cast<std::size_t>(flip.example)];
    const std::string text =
        example.text_pair ? example.text + " | " + *example.text_pair : example.text;
    texts.rows.push_back({text, flip.label, flip.first, flip.second});
  }
  return texts;
}

}  // namespace hone
