#include "hone/jobs/distillation.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hone/base/printable.h"
#include "hone/data/class_names.h"
#include "hone/jobs/value_kinds.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Returns the teacher's class index for each of the student's classes.
std::vector<std::int32_t> classes_of(const Teacher& teacher, const Model& student) {
  const ModelFacts &theirs = teacher.model.model.facts, &own = student.facts;
  const auto order = class_order(own.labels, theirs.labels);
  user_check(theirs.task() == own.task() && order,
             "`distill`: the teacher {} has the labels {} ({}), the student has {} ({}); the "
             "teacher must have the same labels",
             teacher.name, fmt::join(theirs.labels, ", "), to_string(theirs.task()),
             fmt::join(own.labels, ", "), to_string(own.task()));
  return *order;
}

// Returns the rows that any of the seeds reads, in ascending order. Their order in training can depend on `own`, the
// texts as the student reads them.
std::vector<std::int64_t> rows_of_seeds(const EncodedSet& own, TrainingOptions training,
                                        std::uint64_t seed, std::int64_t seeds) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < seeds; ++i) {
    training.seed = seed + static_cast<std::uint64_t>(i);
    const std::vector<std::int64_t> rows = rows_read_by(training, text_examples(own));
    std::vector<std::int64_t> both;
    std::ranges::set_union(all, rows, std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

// Selects rows of the examples, which must outlive the result.
ExampleSource some_of(const ExampleSource& all, const std::vector<std::int64_t>& rows) {
  ExampleSource some{.lengths = lengths_of(all, rows)};
  some.batch = [&all, &rows](std::span<const std::int64_t> batch, std::int64_t least_length) {
    std::vector<std::int64_t> own;
    for (const std::int64_t i : batch) own.push_back(rows[static_cast<std::size_t>(i)]);
    return all.batch(own, least_length);
  };
  return some;
}

// Logits of these rows of the teacher's texts, (rows, classes of the student).
std::vector<float> logits_of(const Teacher& teacher, const std::vector<std::int64_t>& rows,
                             std::int64_t batch_size, Context& context) {
  const ExampleSource all = text_examples(teacher.texts), some = some_of(all, rows);
  if (rows.empty()) return {};
  Predictor predictor(forward_graph(teacher.model.model), teacher.model.model.parameters,
                      context.session());
  check_batches(predictor.graph(), some.lengths, batch_size, context.session(),
                predictor.parameters(), fmt::format(" for {}", teacher.name));
  Progress progress("predictions of the teacher", some.size(),
                    {.unit = std::string(teacher.texts.noun()), .output = context.progress});
  std::vector<float> logits =
      predictor.rows(some, batch_size, [&](std::int64_t done) { progress.update(done); });
  return teacher.classes.empty() ? logits : permute_columns(logits, teacher.classes);
}

}  // namespace

std::optional<Teacher> open_teacher(const DistillJob& job, const Model& student,
                                    const DataSet& data, const TextCut& cut, Context& context,
                                    std::vector<std::string>& warnings) {
  if (job.teacher.empty()) return std::nullopt;
  user_check(
      student.facts.task() == Task::single_label,
      "`distill` supports single_label_classification only, and the task is {}; leave it out",
      to_string(student.facts.task()));
  user_check(!is_new_model(job.teacher),
             "`distill`: the teacher {} has fresh weights; train it first", job.teacher);
  Teacher teacher{job.teacher, open_model(job.teacher, context, /*seed=*/0), {}};
  check_has_head(teacher.model, job.teacher);
  teacher.classes = classes_of(teacher, student);
  if (teacher.model.model.facts.has_default_labels() != student.facts.has_default_labels())
    warnings.push_back(
        fmt::format("the classes of the teacher {} and of the student are matched by number, "
                    "because one of the two does not name them",
                    job.teacher));
  for (const std::string& warning : teacher.model.model.warnings)
    warnings.push_back(fmt::format("{}: {}", job.teacher, warning));
  teacher.texts =
      encode_split(teacher.model, data.train, fmt::format("train, as {} reads it", job.teacher),
                   cut, context, warnings);
  return teacher;
}

std::optional<TrainedOn> record_with_teacher(const std::optional<TrainedOn>& student,
                                             const DistillJob& job) {
  return job.teacher.empty() ? student : united(student, known_record(job.teacher));
}

void add_teacher_logits(Teacher teacher, const EncodedSet& own, const DistillJob& job,
                        std::uint64_t seed, std::int64_t seeds, FineTuneOptions& training,
                        Context& context, TeacherLogits* cache) {
  const std::int64_t classes = teacher.model.model.facts.class_count();
  TeacherLogits now;
  TeacherLogits& all = cache == nullptr ? now : *cache;
  if (all.known.empty())
    all = {Tensor::zeros(DType::f32, {own.size(), classes}),
           std::vector<bool>(static_cast<std::size_t>(own.size()))};
  std::vector<std::int64_t> rows = rows_of_seeds(own, training.training, seed, seeds);
  std::erase_if(rows, [&](std::int64_t row) { return all.known[static_cast<std::size_t>(row)]; });
  const std::vector<float> some = logits_of(teacher, rows, training.eval_batch_size, context);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(some.begin() + static_cast<std::ptrdiff_t>(i) * classes, classes,
                all.logits.data<float>() + rows[i] * classes);
    all.known[static_cast<std::size_t>(rows[i])] = true;
  }
  training.training.distillation = job.options;
  training.teacher_logits = all.logits;
}

const Fields& fields_of(const DistillationResult*) {
  using D = DistillationResult;
  static const Fields fields =
      describe<D>("distillation", "Knowledge distillation from a teacher.",
                  field<&D::teacher>("teacher", "The teacher as it was named."),
                  field<&D::temperature>("temperature", "Divisor of the logits."),
                  field<&D::alpha>("alpha", Unit::share, "Weight of the loss of the labels."));
  return fields;
}

std::optional<DistillationResult> distillation_result(const DistillJob& job) {
  if (job.teacher.empty()) return std::nullopt;
  return DistillationResult{job.teacher, job.options.temperature, job.options.alpha};
}

std::string to_text(const DistillJob& job) {
  if (job.teacher.empty()) return "";
  return fmt::format(
      "the training loss is {:g} × label loss + {:g} × T² × KL divergence from {} at T = {:g}; "
      "evaluations use the label loss only",
      job.options.alpha, 1 - job.options.alpha, job.teacher, job.options.temperature);
}

Options options_of(const DistillJob*) {
  return {Heading::training,
          {option<&DistillJob::teacher>("distill", "teacher model folder to distil from")
               .takes(kModelValue),
           option<&DistillJob::options, &Distillation::temperature>("distill_temperature",
                                                                    "distillation temperature")
               .above_zero()
               .needing("distill")
               .rare(),
           option<&DistillJob::options, &Distillation::alpha>(
               "distill_alpha", "weight of the label loss (0: the teacher's predictions only)")
               .from(0, 1)
               .needing("distill")
               .rare()}};
}

}  // namespace hone
