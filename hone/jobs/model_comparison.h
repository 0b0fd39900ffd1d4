#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_result.h"
#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"

/// Comparison of two models on the same texts.
namespace hone {

/// The labels of examples.
struct ExampleLabels {
  Task task;
  std::vector<std::int32_t> classes = {};
  std::vector<float> targets = {};
  std::vector<std::int32_t> texts = {};
  std::vector<std::int64_t> unseen = {};

  Truth truth() const {
    return {.task = task, .classes = classes, .targets = targets, .texts = texts, .unseen = unseen};
  }
};
ExampleLabels example_labels(Task task, const std::vector<Example>& examples);

/// A text for which the two models give different predictions.
struct Flip {
  std::int64_t example = 0;          ///< index in the measured split
  std::string label, first, second;  ///< the label and both predictions: `prediction_text`
  /// How much worse the second model is: its additional wrong predictions, or the increase of its distance from the
  /// label.
  double loss = 0;
  /// How far the outputs moved: for classes the change of the margin between the two predicted classes, for labels and
  /// numbers the largest change of an output.
  double swing = 0;
};

struct ModelComparison {
  ComparedModel first, second;
  TaskComparison comparison;
  std::vector<Flip>
      flips;  ///< losses before gains; classes take turns, the largest swing of each first
  std::vector<std::string> labels;
};

/// A model with its name in tables and messages.
struct LabelledModel {
  const std::string& label;
  const TextModel& model;
};

/// Measures both models on `examples`, each with its own tokenizer. Throws `UserError` if their tasks or labels differ.
ModelComparison compare_models(const LabelledModel& first, const LabelledModel& second,
                               const std::vector<Example>& examples, const TextCut& cut,
                               std::int64_t batch_size, Context& context,
                               std::vector<std::string>& warnings);

/// Returns the facts of the first model, with the second model's labels if only that one names them. A note then says
/// that classes are matched by number. Throws `UserError` if the tasks or classes of the two differ (`class_order`).
ModelFacts common_facts(const ModelFacts& first, const ModelFacts& second,
                        std::vector<std::string>& notes);
/// Measures a model on `examples`, with its own tokenizer. Its outputs are reordered to match `scheme`.
ComparedModel measured(const TextModel& source, const std::string& label,
                       const std::vector<Example>& examples, const TextCut& cut,
                       std::int64_t batch_size, const LabelScheme& scheme, Context& context,
                       std::vector<std::string>& warnings);
/// Compares two models that were measured on `examples`, by this task.
TaskComparison compare_measured(const ComparedModel& first, const ComparedModel& second, Task task,
                                const std::vector<Example>& examples);

/// Returns the first `count` flips with their texts.
ChangedTexts changed_texts(const ModelComparison& comparison, const std::vector<Example>& examples,
                           std::size_t count);

}  // namespace hone
