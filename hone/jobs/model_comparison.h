#pragma once

#include <string>
#include <vector>

#include "hone/jobs/run_report.h"
#include "hone/models/encoding.h"
#include "hone/study/comparison_table.h"

/// Two models on the same texts.
namespace hone {

/// A text on which the two predict different classes.
struct Flip {
  std::int64_t example = 0;  ///< index into the measured part
  std::int32_t label = 0, first = 0, second = 0;
  double swing =
      0;  ///< by how much the second model's logits moved from the first's class to its own
};

struct ModelComparison {
  ComparedModel first, second;
  Comparison comparison;
  std::vector<Flip>
      flips;  ///< what the second model lost before what it gained, the widest swing first
  std::vector<std::string> labels;
};

/// Measures both models on `examples`, each with its own tokenizer. Throws `UserError` when their classes differ.
ModelComparison compare_models(const TextModel& first, const TextModel& second,
                               const std::vector<Example>& examples, std::int64_t max_seq_length,
                               std::int64_t batch_size, Context& context,
                               std::vector<std::string>& warnings);

/// The first `count` of the flips with their texts and class names.
ChangedTexts changed_texts(const ModelComparison& comparison, const std::vector<Example>& examples,
                           std::size_t count);

}  // namespace hone
