#include "hone/jobs/demo.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/data/bag_of_words.h"
#include "hone/data/synthetic_words.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/native/quantize_native.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/widths.h"
#include "hone/study/answers.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kModel = "tiny";
constexpr std::int64_t kBatch = 32;
constexpr std::string_view kNativeFormat = "int(bits=8,per=row)";
// So many that formats which flip a few of a hundred predictions can be shown to keep the accuracy.
constexpr std::size_t kTestTexts = 12000;

void tell(const Context& context, const std::string& text) {
  if (context.say && !context.progress.quiet) context.say(text);
}

FineTuneOptions training(const DemoJob& job, std::int64_t steps, double learning_rate,
                         std::int64_t warmup_steps) {
  FineTuneOptions options;
  options.training.max_steps = steps;
  options.training.warmup_steps = warmup_steps;
  options.training.batch_size = kBatch;
  options.training.optimizer.learning_rate = learning_rate;
  options.training.optimizer.beta2 = 0.98;  // usual where training starts from nothing
  options.training.seed = job.seed;
  options.training.save_steps = job.resume.save_steps;
  options.training.group_by_length = true;
  options.training.logging_steps = 50;
  options.training.eval_steps = steps;
  options.eval_batch_size = kBatch;
  return options;
}

Splits demo_splits(const DemoJob& job, Context& context) {
  Splits splits =
      load_splits(job.data, job.seed, KnownLabels{}, TrainedOn{}, DataUse::training, context);
  tell(context,
       fmt::format("data: {}; \"{}\" is {}", splits.source.description, splits.source.train[0].text,
                   truth_text(splits.source.scheme(), splits.source.train[0])));
  splits.source.test.resize(std::min(splits.source.test.size(), kTestTexts));
  splits.identity.parts.back() =
      part_facts("test", splits.source.test, row_hashes(splits.source.test), splits.source.scheme(),
                 row_set(row_hashes(splits.source.train)));
  return splits;
}

// Every text is seen once: there is nothing that dropout could keep from being learnt by heart.
TextModel untrained_model(const DemoJob& job, const Splits& splits, Context& context) {
  TextModel source =
      make_model(kModel, synthetic_tokenizer(), context, job.seed, splits.source.scheme(),
                 {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}});
  source.trained_on =
      after_training(TrainedOn{}, splits.identity.hash, row_hashes(splits.source.train),
                     row_hashes(splits.source.validation));
  return source;
}

// What words alone tell of classes; of other tasks that is not known.
std::optional<double> bag_of_words(const DataSet& data) {
  if (data.task != Task::single_label) return std::nullopt;
  return bag_of_words_accuracy(data.train, data.test,
                               static_cast<std::int32_t>(data.label_names.size()));
}

// "Of the test texts, n = 12 000, a bag of words gets 55.6 % right, the trained model 90.3 % (95 %: 89.7 to 90.8)."
std::string against_baseline(const WidthStudy& study, const std::optional<double>& baseline) {
  const Choice& choice = study.choice;
  const TaskEvaluation& e = choice.reported.empty()
                                ? choice.parent.evaluation
                                : choice.reported.front().measurement.evaluation;
  if (!baseline)
    return fmt::format("Of the test texts, n = {}, the trained model has a {} of {}; {}.",
                       grouped(e.examples), e.figure.text, figure_sentence(e), baseline_text(e));
  return fmt::format(
      "Of the test texts, n = {}, a bag of words gets {} right, the trained model {}.",
      grouped(e.examples), share_text(*baseline), figure_sentence(e));
}

void write_trained(const DemoJob& job, const TextModel& source, const EncodedSplits& data,
                   const WidthStudy& study, const fs::path& folder) {
  fs::create_directory(folder / "model");
  write_model(source, folder / "model");
  Json trained = subject_of(kModel, data.identity, data.measured);
  if (!study.choice.reported.empty())
    trained["test"] = to_json(study.choice.reported.front().measurement, source.model.facts.labels);
  trained.update({{"seed", job.seed}, {"steps", job.steps}, {"weights_of_step", job.steps}});
  write_model_card({fs::path(job.output.folder).filename().string() + "/model",
                    job.invocation.command, result_of("train", trained)},
                   source.model, folder / "model");
}

// What people come for at last: the trained model, really small and really fast, beside itself in fp32.
NativeQuantized native_end(const DemoJob& job, const TextModel& source, const EncodedSplits& data,
                           const WidthStudy& study, const fs::path& folder, Context& context) {
  NativeQuantizeJob native{.model = kModel,
                           .weight = parse_format(kNativeFormat, context.library.formats),
                           .output = job.output,
                           .invocation = job.invocation};
  native.seed = job.seed;
  native.eval_batch_size = kBatch;
  fs::create_directory(folder / "native");
  const Measurement before = study.choice.reported.empty()
                                 ? measure(source.model, data.test, kBatch, context, "fp32")
                                 : study.choice.reported.front().measurement;
  return quantize_native(native, source, data, before, folder / "native", context);
}

}  // namespace

JobData demo_data() {
  JobData data;
  data.options.source = "synth:negation?seed=7&n=240000";
  data.validation_split = 0.05;  // as many of 240 000 as of the test part
  return data;
}

DemoResult run_demo(const DemoJob& job, Context& context) {
  RunReport report{.title = "Fixed point on " + job.data.options.source,
                   .invocation = job.invocation};
  OutputFolder output(job.output.folder, job.output.resumable(job.resume));
  const Splits splits = demo_splits(job, context);
  TextModel source = untrained_model(job, splits, context);
  std::vector<std::string> warnings = splits.source.warnings;
  const EncodedSplits data =
      encode_splits(source, splits, measured_texts(splits, "test", source.trained_on),
                    source.trained_on, job.data.max_seq_length, context, warnings);
  tell_warnings(context, warnings);
  const std::vector<std::string>& labels = source.model.facts.labels;
  const std::optional<double> baseline = bag_of_words(splits.source);
  if (baseline)
    tell(context, fmt::format("bag of words: {} on the test part", share_text(*baseline)));
  if (!begin_run(report.invocation, source.model.parameters, data, output))
    return {.was_finished = true, .fields = finished_results(output)};

  TrainingLog log(output.path() / "training_log.jsonl");
  const auto checkpoints_of = checkpoints_by_name(job.resume, source, output);
  FineTuneOptions full = training(job, job.steps, 4e-4, job.steps / 20);
  full.checkpoints = checkpoints_of("fp32");
  EncodedSplits learnt_from = data;
  learnt_from.validation = {};  // the study measures the trained model there
  fine_tune(source.model, learnt_from, full, log, context);
  const WidthStudy study = study_widths(
      source.model, data,
      {.qat = training(job, job.qat_steps, 2e-4, 0), .checkpoints_of = checkpoints_of}, context);

  write_trained(job, source, data, study, output.path());
  write_file(output.path() / "results.txt", to_text(study));
  report.results = subject_of(kModel, data.identity, data.measured_choice());
  if (baseline) report.results["bag_of_words_accuracy"] = *baseline;
  report.basis = basis_of(job.data.options.source, data, "simulated fixed point");
  const NativeQuantized native = native_end(job, source, data, study, output.path(), context);
  const std::string words = against_baseline(study, baseline);
  std::vector<std::string> undrawn;
  report.sections = {width_section(study, output.path() / "fixed_point", undrawn),
                     learning_curve_section(log, "tiny trained; one seed",
                                            output.path() / "learning_curve", undrawn)};
  report.sections[0].blocks.insert(report.sections[0].blocks.begin(), Paragraph{words});
  report.notes = warnings;
  for (const char* key : {"format", "arithmetic", "before", "after", "comparison", "size",
                          "size_before", "layers", "times", "threads"})
    report.results["native"][key] = native.fields[key];
  for (Section section : native.sections) {
    section.heading = fmt::format("Native: {}", section.heading);
    report.sections.push_back(std::move(section));
  }
  undrawn.insert(undrawn.end(), native.doubts.begin(), native.doubts.end());
  finish_width_report(study, labels, undrawn, report, output, context);
  DemoResult result{.fields = report.results, .study = study, .bag_of_words_accuracy = baseline};
  result.text = [study, words, native = native.text,
                 folder = job.output.folder](const TextStyle& style) {
    return fmt::format(
        "{}{} One seed.\n\n{}\nIn {}: report.html, model/, native/ (packed), results.txt\n",
        to_text(study, style), words, native(style), folder);
  };
  return result;
}

}  // namespace hone
