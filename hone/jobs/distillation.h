#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/job_data.h"
#include "hone/passes/distill.h"

/// Training with what another model, the parent, says of the same texts; see `distill` for the loss.
namespace hone {

/// Which parent, and how.
struct DistillJob {
  std::string parent = {};  ///< a model folder, of any size, format and tokenizer; empty: none
  Distillation options = {};
};
Options options_of(const DistillJob*);

/// The parent, and the training texts as it reads them.
struct Parent {
  std::string name;
  TextModel model;
  EncodedSet texts;
  /// For each of the student's classes, its number in the parent; empty: the same.
  std::vector<std::int32_t> classes = {};
};

/// Opens the parent of `student`, if one is asked for, and reads `data.train` as it does; what is doubtful goes to `warnings`.
/// Throws `UserError` where the task is no single_label_classification, the parent has no head, or its classes are not the
/// student's (`class_order`).
std::optional<Parent> open_parent(const DistillJob& job, const Model& student, const DataSet& data,
                                  const TextCut& cut, Context& context,
                                  std::vector<std::string>& warnings);

/// What student and parent have seen between them: where the parent has learned from texts, so does the student.
std::optional<TrainedOn> record_with_parent(const std::optional<TrainedOn>& student,
                                            const DistillJob& job);

/// What a parent says of training texts, as far as it was asked: trainings that share it ask for each text once.
struct ParentLogits {
  Tensor logits = {};            ///< f32 (texts, classes of the student); none: nothing was asked
  std::vector<bool> known = {};  ///< of each text
};

/// Gives the training the parent's logits of every text that one of the `seeds` reads; `own` are the training texts as the
/// model that is trained reads them. The logits are those of predictions, made once, before the training: the same bits
/// whatever interrupts it and whatever was asked before, some bytes for each text, and of the parent nothing is left.
/// `asked`, where given, is of this parent and these texts, and holds what is asked now, too.
void learn_from(Parent parent, const EncodedSet& own, const DistillJob& job, std::uint64_t seed,
                std::int64_t seeds, FineTuneOptions& training, Context& context,
                ParentLogits* asked = nullptr);

/// A distillation in results.
struct DistillationResult {
  std::string teacher;
  double temperature = 0, alpha = 0;
};
const Fields& fields_of(const DistillationResult*);
inline constexpr const char* kDistillMeaning = "Teacher of the training; null without --distill.";
/// Nothing where there is none.
std::optional<DistillationResult> distillation_result(const DistillJob& job);
/// What that does to the training loss; empty where there is none.
std::string to_text(const DistillJob& job);

}  // namespace hone
