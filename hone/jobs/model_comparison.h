#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_result.h"
#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"

/// Two models on the same texts.
namespace hone {

/// The right answers to examples.
struct RightAnswers {
  Task task;
  std::vector<std::int32_t> classes = {};
  std::vector<float> targets = {};
  std::vector<std::int32_t> texts = {};
  std::vector<std::int64_t> unseen = {};

  Truth truth() const {
    return {.task = task, .classes = classes, .targets = targets, .texts = texts, .unseen = unseen};
  }
};
RightAnswers right_answers(Task task, const std::vector<Example>& examples);

/// A text to which the two give different answers.
struct Flip {
  std::int64_t example = 0;          ///< index into the measured part
  std::string label, first, second;  ///< the right answer and theirs: `answer_text`
  /// What the second model lost: how many more answers it has wrong, or by how much farther from the truth its number is.
  double loss = 0;
  /// By how much the second model's outputs moved: of classes from the first's class to its own, of labels and numbers the
  /// most that one did.
  double swing = 0;
};

struct ModelComparison {
  ComparedModel first, second;
  TaskComparison comparison;
  std::vector<Flip>
      flips;  ///< what the second model lost before what it gained; classes in turn, the widest swing of each first
  std::vector<std::string> labels;
};

/// A model as it is called in tables and messages.
struct LabelledModel {
  const std::string& label;
  const TextModel& model;
};

/// Measures both models on `examples`, each with its own tokenizer. Throws `UserError` when their tasks or labels differ.
ModelComparison compare_models(const LabelledModel& first, const LabelledModel& second,
                               const std::vector<Example>& examples, const TextCut& cut,
                               std::int64_t batch_size, Context& context,
                               std::vector<std::string>& warnings);

/// The facts of the first model, with the second's labels where only that names them. Adds to `notes` that they are matched
/// by number then. Throws `UserError` when the answers of the two are not alike: other tasks, or other classes
/// (`class_order`).
ModelFacts common_facts(const ModelFacts& first, const ModelFacts& second,
                        std::vector<std::string>& notes);
/// Measures a model on `examples`, with its own tokenizer. Its outputs are reordered as in `scheme`.
ComparedModel measured(const TextModel& source, const std::string& label,
                       const std::vector<Example>& examples, const TextCut& cut,
                       std::int64_t batch_size, const LabelScheme& scheme, Context& context,
                       std::vector<std::string>& warnings);
/// What lies between two that were measured on `examples`, as answers of this task.
TaskComparison compare_measured(const ComparedModel& first, const ComparedModel& second, Task task,
                                const std::vector<Example>& examples);

/// The first `count` of the flips with their texts.
ChangedTexts changed_texts(const ModelComparison& comparison, const std::vector<Example>& examples,
                           std::size_t count);

}  // namespace hone
