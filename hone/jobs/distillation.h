#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/base/options.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/job_data.h"
#include "hone/passes/distill.h"

/// Training from the predictions of another model, the teacher; see `distill` for the loss.
namespace hone {

/// Options of knowledge distillation.
struct DistillJob {
  std::string teacher = {};  ///< model folder of any size, format and tokenizer; empty: none
  Distillation options = {};
};
Options options_of(const DistillJob*);

/// The teacher, and the training texts in its encoding.
struct Teacher {
  std::string name;
  TextModel model;
  EncodedSet texts;
  /// The teacher's class index for each of the student's classes; empty: the same.
  std::vector<std::int32_t> classes = {};
};

/// Opens the teacher of `student`, if there is one, and encodes `data.train` for it. Doubts go to `warnings`. Throws
/// `UserError` if the task is not single_label_classification, the teacher has no head, or its classes are not the
/// student's (`class_order`).
std::optional<Teacher> open_teacher(const DistillJob& job, const Model& student,
                                    const DataSet& data, const TextCut& cut, Context& context,
                                    std::vector<std::string>& warnings);

/// Returns the training data of student and teacher together, since the student learns indirectly from the teacher's
/// texts.
std::optional<TrainedOn> record_with_teacher(const std::optional<TrainedOn>& student,
                                             const DistillJob& job);

/// The teacher's logits computed so far; trainings that share it compute those of each text once.
struct TeacherLogits {
  Tensor logits = {};            ///< f32 (texts, classes of the student); undefined if empty
  std::vector<bool> known = {};  ///< for each text
};

/// Adds to `training` the teacher's logits of every text that any of the `seeds` reads. `own` are the training texts as
/// the student reads them. The logits are computed once, before the training, as for predictions. They do not depend on
/// interruptions or on what `cache` contains, and the teacher is freed afterwards. `cache`, if given, must be for this
/// teacher and these texts, and the new logits are added to it.
void add_teacher_logits(Teacher teacher, const EncodedSet& own, const DistillJob& job,
                        std::uint64_t seed, std::int64_t seeds, FineTuneOptions& training,
                        Context& context, TeacherLogits* cache = nullptr);

/// The distillation in results.
struct DistillationResult {
  std::string teacher;
  double temperature = 0, alpha = 0;
};
const Fields& fields_of(const DistillationResult*);
inline constexpr const char* kDistillMeaning = "Teacher of the training; null without --distill.";
/// Empty without distillation.
std::optional<DistillationResult> distillation_result(const DistillJob& job);
/// Describes the effect on the training loss; empty without distillation.
std::string to_text(const DistillJob& job);

}  // namespace hone
