#include "hone/jobs/train.h"

#include <cmath>
#include <functional>
#include <utility>

#include "hone/base/text.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/train_report.h"
#include "hone/jobs/train_start.h"
#include "hone/models/unrounded_weights.h"
#include "hone/study/learning_check.h"

namespace hone {
namespace {

/// The state that all seeds of a job share.
struct TrainRun {
  const TrainJob& job;
  const EncodedSplits& data;
  std::optional<TrainedOn> trained_on;  ///< training data of the trained models; empty: not stored
  const std::optional<LearnedVocabulary>& vocabulary;
  OutputFolder& output;
  Context& context;

  FineTuneOptions training;  ///< the job's options, with the teacher's logits

  /// The test split judges the job, or the validation split if there is no test split.
  bool has_test() const { return data.test.size() > 0; }
  const EncodedSet& judging() const { return has_test() ? data.test : data.validation; }
  const MeasuredSplit& judged() const {
    return has_test() ? data.measured : data.measured_validation;
  }
  SubjectResult subject() const { return subject_result(job.model, data.identity, judged()); }
};

// Fresh adapters change no predictions, so this measures the base, on the split that judges the training.
void measure_before_training(const TrainRun& run, const Model& adapted, TrainFields& fields) {
  if (run.judging().size() == 0) return;
  const Measurement before = measure(adapted, run.judging(), run.training.eval_batch_size,
                                     run.context, "before training", ProgressEnd::vanishes);
  fields.before = SplitEvaluationResult{evaluation_result(before, adapted.facts.labels),
                                        measured_split_result(run.judged())};
  fields.before_fresh_head = adapted.has_untrained_head();
}

// Makes checkpoints store the adapter alone. All arguments must outlive them.
void keep_adapters(const TextModel& source, const AdapterOrigin& origin,
                   CheckpointOptions& checkpoints) {
  checkpoints.write_model = [&](const Model& model, const fs::path& to) {
    TextModel now = source;
    now.model = model;
    write_adapter(now, origin, to);
  };
  checkpoints.read_model = [](const fs::path& from) { return read_adapter(from).tensors; };
}

// `known`: the measurement of these weights on the validation split, if an evaluation during training made it.
void measure_splits(const TrainRun& run, const Model& model, std::optional<Measurement> known,
                    TrainOutcome& trained) {
  const bool honest = run.data.protocol == Protocol::honest;
  std::vector<Proportion> right;
  const auto add = [&](const char* split, const EncodedSet& set, const MeasuredSplit& measured,
                       std::optional<SplitEvaluationResult>& result) {
    if (set.size() == 0) return;
    if (!known) known = measure(model, set, run.training.eval_batch_size, run.context, split);
    result = SplitEvaluationResult{evaluation_result(*known, trained.labels),
                                   measured_split_result(measured)};
    if (const Evaluation* e = known->evaluation.classes())
      right.push_back({e->correct, e->examples, e->evidence});
    trained.measured.push_back({split, known->evaluation, first_caution(measured)});
    trained.judged_on = name_and_size(measured);
  };
  TrainFields& fields = trained.fields;
  add("validation", run.data.validation, run.data.measured_validation, fields.validation);
  // Under the original protocol both splits have the same examples.
  if (honest) known.reset();
  add("test", run.data.test, run.data.measured, fields.test);
  if (right.size() < 2 || !honest) return;
  fields.validation_test_gap = right[0].share() - right[1].share();
  fields.validation_test_gap_interval = difference_interval(right[0], right[1]);
}

// Other programs read the weights as rounded values.
void write_rounded(TextModel& source, const fs::path& folder, Context& context) {
  if (source.model.quantization) {
    const Model unrounded = source.model;
    source.model = round_weights(unrounded, context);
    write_unrounded(unrounded, source.model, folder);
  }
  write_model(source, folder);
}

TrainOutcome train_once(const TrainRun& run, TrainStart start, std::uint64_t seed,
                        const fs::path& folder) {
  const TrainJob& job = run.job;
  TextModel& source = start.model;
  TrainOutcome trained{.fields = {.subject = run.subject(),
                                  .train_samples = run.data.train.size(),
                                  .protocol = to_string(run.data.protocol),
                                  .seed = seed,
                                  .distill = distillation_result(job.distill)},
                       .measured = {},
                       .labels = source.model.facts.labels,
                       .log = training_log_in(folder, job.report_to),
                       .curve = {},
                       .notes = {}};
  TrainFields& fields = trained.fields;
  FineTuneOptions options = run.training;
  options.training.seed = seed;
  options.training.save_steps = job.resume.save_steps;
  if (job.seeds > 1) options.title = fmt::format("train seed {}", seed);
  source.trained_on = run.trained_on;
  options.checkpoints = checkpoints_in(folder, job.resume, source, run.output);
  AdapterOrigin origin;
  if (job.lora) {
    measure_before_training(run, source.model, fields);
    origin = adapter_origin(source.model, *start.adapters, job.model, run.context.session());
    keep_adapters(source, origin, options.checkpoints);
  }
  FineTuneResult tuned = fine_tune(source.model, run.data, options, trained.log, run.context);
  const TrainingResult& t = tuned.training;
  fields.train_loss = t.steps > 0 ? t.mean_loss : std::nan("");
  fields.train_runtime = t.seconds;
  trained.seconds_before = t.seconds_before;
  fields.train_samples_per_second = static_cast<double>(t.examples) / t.seconds;
  fields.train_steps_per_second = static_cast<double>(t.steps) / t.seconds;
  fields.steps = t.steps;
  fields.loss_fell = loss_fell(trained.log.steps());
  fields.ended_early = t.end == TrainingEnd::early;
  fields.weights_of_step = tuned.weights_of_step;
  if (tuned.selection.best_step > 0) {
    fields.best_step = tuned.selection.best_step;
    fields.best_value = tuned.selection.best_value;
  }
  trained.better = tuned.better;
  if (run.vocabulary)
    fields.vocabulary = learned_vocabulary_result(*run.vocabulary, run.data.train);
  if (!tuned.class_weights.empty()) {
    fields.class_weights.emplace();
    for (std::size_t c = 0; c < trained.labels.size(); ++c)
      fields.class_weights->emplace_back(trained.labels[c], tuned.class_weights[c]);
  }
  measure_splits(run, source.model, std::move(tuned.validation), trained);
  trained.curve = learning_curve_section(trained.log, job.model + " trained; one seed",
                                         folder / "learning_curve", trained.notes);
  if (job.lora) {
    write_adapter(source, origin, folder);
    fields.lora = adapter_size(source.model, folder);
  } else {
    write_rounded(source, folder, run.context);
  }
  fields.size = model_size(source.model, folder);
  write_results("train", to_json(fields), folder);
  write_model_card({job.output.name_of(folder, run.output.path()),
                    job.invocation.command,
                    card_facts(fields),
                    {weights_text(fields)},
                    job.data.cut.max_seq_length},
                   source.model, folder);
  return trained;
}

// Returns the results of all seeds, including those of an earlier run.
std::vector<Json> results_of_seeds(const TrainRun& run,
                                   const std::function<TrainStart(std::uint64_t)>& open) {
  const TrainJob& job = run.job;
  std::vector<Json> results;
  for (const auto& [seed, folder, done] : seed_folders(run.output.path(), job.seed, job.seeds)) {
    if (!done) {
      std::vector<std::string> notes = train_once(run, open(seed), seed, folder).notes;
      for (std::string& note : notes) note = fmt::format("seed {}: {}", seed, note);
      print_warnings(run.context, notes);
    }
    results.push_back(read_json(folder / "results.json"));
  }
  return results;
}

// Suggests commands for the trained model. An adapter is used with its base model.
std::vector<NextCommand> commands_after_training(const TrainJob& job) {
  const std::string &folder = job.output.folder, data = shell_word(job.data.options.source);
  if (job.lora && job.seeds == 1)
    return {{"Merge the adapter into its model",
             fmt::format("hone lora merge {} --adapter {} -o {}", shell_word(job.model),
                         shell_word(folder), shell_word(folder + "-merged"))}};
  if (job.lora) return {};
  const std::string model = shell_word(
      job.seeds == 1 ? folder : (fs::path(folder) / fmt::format("seed-{}", job.seed)).string());
  return {
      {"Evaluate it", fmt::format("hone eval {} --data {}", model, data)},
      {"Make it smaller and faster",
       fmt::format("hone shrink {} --data {} -o {}", model, data, shell_word(folder + "-small"))},
      {"Quantize it", fmt::format("hone quantize {} --native 'int(bits=8,per=row)' --data {} -o {}",
                                  model, data, shell_word(folder + "-int8"))}};
}

}  // namespace

JobResult train_model(const TrainJob& job, Context& context) {
  JobResult result;
  std::vector<std::string>& notes = result.document.notes;
  result.document.title = fmt::format("{} trained on {}", job.model, job.data.options.source);
  result.document.output = job.output.folder;
  user_check(!job.lora || !is_new_model(job.model),
             "`lora`: {} has fresh weights, and adapters need a trained base model; train without "
             "`lora` first",
             job.model);
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  const std::optional<TrainedOn> before = record_with_teacher(known_record(job.model), job.distill);
  const Splits splits = splits_to_train_on(job, before, context);
  check_trainable(splits);
  const bool learns = total_steps(job.training.training, std::ssize(splits.source.train)) > 0;
  const std::optional<LearnedVocabulary> vocabulary =
      learn_vocabulary({job.model, job.data.options.source, job.vocabulary,
                        job.resume.resume ? output.path() : fs::path()},
                       splits.source.train, context);
  TrainStart start = open_for_training(job, vocabulary, splits, job.seed, context);
  const TextModel& source = start.model;
  notes = source.model.warnings;
  TrainedOn after =
      learns ? after_training(before, splits.identity.hash, row_hashes(splits.source.train),
                              row_hashes(splits.source.validation))
             : source.trained_on.value_or(TrainedOn{.complete = false});
  if (!learns) notes.emplace_back("the training has no steps, so the weights do not change");
  remember_columns(after, splits.identity.columns);
  // If nothing is chosen on the validation split, its metrics are unbiased, so it does not count as seen.
  const TrainedOn seen =
      learns && !job.training.selects_checkpoint()
          ? after_training(before, splits.identity.hash, row_hashes(splits.source.train), {})
          : after;
  const EvaluationExamples test =
      splits.source.test.empty() ? EvaluationExamples{} : evaluation_examples(splits, "test", seen);
  if (std::string warning = truncation_warning(job.data.cut); !warning.empty())
    notes.push_back(std::move(warning));
  const EncodedSplits data =
      encode_splits(source, splits, test, seen, job.data.cut, context, notes);
  std::optional<Teacher> teacher =
      open_teacher(job.distill, source.model, splits.source, job.data.cut, context, notes);
  print_warnings(context, notes);
  const std::vector<std::string> messages =
      start_notes(job, splits, source, vocabulary, data, learns);
  print_notes(context, messages);
  for (const auto& lines : {splits.source.notes, splits.source.warnings, messages})
    notes.insert(notes.end(), lines.begin(), lines.end());
  if (!begin_run(job.invocation, source.model.parameters, data, output,
                 teacher ? &*teacher : nullptr))
    return finished<JobResult>(output, job.output);
  result.basis =
      basis_of(job.data.options.source, data,
               std::string(arithmetic_of_run(forward_graph(source.model), context.session())));
  TrainRun run{job,         data,   job.row_hashes ? std::optional(after) : without_rows(after),
               vocabulary,  output, context,
               job.training};
  if (teacher)
    add_teacher_logits(*std::exchange(teacher, std::nullopt), data.train, job.distill, job.seed,
                       job.seeds, run.training, context);
  const std::string& guessed = splits.source.guessed;
  std::vector<std::string> warnings;
  if (job.seeds == 1) {
    // Moved: training would copy parameters that are held twice.
    TrainOutcome trained = train_once(run, std::move(start), job.seed, output.path());
    result.fields = to_json(trained.fields);
    result.seconds_before = trained.seconds_before;
    warnings = report_training(job, std::move(trained), guessed, result.document);
  } else {
    const std::vector<Json> results = results_of_seeds(run, [&](std::uint64_t seed) {
      return open_for_training(job, vocabulary, splits, seed, context);
    });
    result.fields = to_json(train_seeds_fields(run.subject(), results));
    result.basis.seeds = job.seeds;
    warnings = report_training(job, results, guessed, output.path(), result.document);
  }
  print_warnings(context, warnings);
  notes.insert(notes.end(), warnings.begin(), warnings.end());
  result.document.next = commands_after_training(job);
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
