#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/data/bag_of_words.h"
#include "hone/data/synthetic_words.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/width_study.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct DemoArguments {
  JobData data;
  std::int64_t steps = 7000;
  std::int64_t qat_steps = 300;
  JobResume resume;
  JobOutput output;
  RunArguments run;
};

constexpr std::int64_t kBatch = 32;
constexpr const char* kTrainings = "trainings";  // their checkpoints, until all are done
// So many that formats which flip a few of a hundred predictions can be shown to keep the accuracy.
constexpr std::size_t kTestTexts = 12000;
constexpr double kValidationSplit = 0.05;  // as many of 240 000

FineTuneOptions training(const DemoArguments& a, std::int64_t steps, double learning_rate,
                         std::int64_t warmup_steps) {
  FineTuneOptions options;
  options.training.max_steps = steps;
  options.training.warmup_steps = warmup_steps;
  options.training.batch_size = kBatch;
  options.training.optimizer.learning_rate = learning_rate;
  options.training.optimizer.beta2 = 0.98;  // usual where training starts from nothing
  options.training.seed = a.run.seed;
  options.training.save_steps = a.resume.save_steps;
  options.training.group_by_length = true;
  options.training.logging_steps = 50;
  options.training.eval_steps = steps;
  options.eval_batch_size = kBatch;
  return options;
}

// "Of the test texts, n = 12 000, a bag of words gets 55.6 % right, the trained model 90.3 % (95 %: 89.7 to 90.8)."
std::string against_baseline(const WidthStudy& study, double baseline) {
  const Choice& choice = study.choice;
  const TaskEvaluation& e = choice.reported.empty()
                                ? choice.parent.evaluation
                                : choice.reported.front().measurement.evaluation;
  return fmt::format(
      "Of the test texts, n = {}, a bag of words gets {} right, the trained model {}.",
      grouped(e.examples), share_text(baseline), figure_sentence(e));
}

void demo(const DemoArguments& a, const CLI::App& app) {
  RunReport report{.title = "Fixed point on " + a.data.options.source,
                   .invocation = invocation_of(app)};
  Context context = make_context(a.run);
  OutputFolder output(a.output.folder, a.output.resumable(a.resume));
  const auto say = [&](const std::string& text) {
    if (!a.run.quiet) print_message(text);
  };
  Splits splits =
      load_splits(a.data, a.run.seed, KnownLabels{}, TrainedOn{}, DataUse::training, context);
  say(fmt::format(
      "data: {}; \"{}\" is {}", splits.source.description, splits.source.train[0].text,
      splits.source.label_names[static_cast<std::size_t>(splits.source.train[0].label)]));
  splits.source.test.resize(std::min(splits.source.test.size(), kTestTexts));
  splits.identity.parts.back() =
      part_facts("test", splits.source.test, row_hashes(splits.source.test), splits.source.scheme(),
                 row_set(row_hashes(splits.source.train)));
  // Every text is seen once: there is nothing that dropout could keep from being learnt by heart.
  TextModel source =
      make_model("tiny", synthetic_tokenizer(), context, a.run.seed, splits.source.scheme(),
                 {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}});
  source.trained_on =
      after_training(TrainedOn{}, splits.identity.hash, row_hashes(splits.source.train),
                     row_hashes(splits.source.validation));
  std::vector<std::string> warnings = splits.source.warnings;
  const EncodedSplits data =
      encode_splits(source, splits, measured_texts(splits, "test", source.trained_on),
                    source.trained_on, a.data.max_seq_length, context, warnings);
  tell_warnings(context, warnings);
  const auto classes = static_cast<std::int32_t>(splits.source.label_names.size());
  const double baseline = bag_of_words_accuracy(splits.source.train, splits.source.test, classes);
  say(fmt::format("bag of words: {} on the test part", share_text(baseline)));

  if (!begin_run(report.invocation, source.model.parameters, data, output))
    return print_finished(a.output, finished_results(output), a.run.json);
  TrainingLog log(output.path() / "training_log.jsonl");
  const auto checkpoints_of = [&](const std::string& name) {
    return checkpoints_in(output.path() / kTrainings / name, a.resume, source, output);
  };
  FineTuneOptions full = training(a, a.steps, 4e-4, a.steps / 20);
  full.checkpoints = checkpoints_of("fp32");
  EncodedSplits learnt_from = data;
  learnt_from.validation = {};  // the study measures the trained model there
  fine_tune(source.model, learnt_from, full, log, context);
  const WidthStudy study = study_widths(
      source.model, data,
      {.qat = training(a, a.qat_steps, 2e-4, 0), .checkpoints_of = checkpoints_of}, context);

  fs::create_directory(output.path() / "model");
  write_model(source, output.path() / "model");
  Json trained = subject_of("tiny", data.identity, data.measured);
  if (!study.choice.reported.empty())
    trained["test"] = to_json(study.choice.reported.front().measurement, source.model.facts.labels);
  trained.update({{"seed", a.run.seed}, {"steps", a.steps}, {"weights_of_step", a.steps}});
  write_model_card({fs::path(a.output.folder).filename().string() + "/model",
                    report.invocation.command, result_of("train", trained)},
                   source.model, output.path() / "model");
  write_file(output.path() / "results.txt", to_text(study));
  write_file(output.path() / "results.csv", to_csv(with_part(width_table(study), study.choice)));
  report.results = subject_of("tiny", data.identity, data.measured_choice());
  report.results["bag_of_words_accuracy"] = baseline;
  report.results.update(to_json(study, source.model.facts.labels));
  std::vector<std::string> undrawn;
  report.headline = width_verdict(study);
  report.basis = basis_of(a.data.options.source, data, "simulated fixed point");
  const std::string words = against_baseline(study, baseline);
  report.sections = {width_section(study, output.path() / "fixed_point", undrawn),
                     learning_curve_section(log, "tiny trained; one seed",
                                            output.path() / "learning_curve", undrawn)};
  report.sections[0].blocks.insert(report.sections[0].blocks.begin(), Paragraph{words});
  std::vector<std::string> doubts = concerns(compared_models(study), source.model.facts.labels);
  doubts.insert(doubts.end(), undrawn.begin(), undrawn.end());
  report.notes = warnings;
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  tell_warnings(context, doubts);
  write_run_report(report, output.path(), context);
  output.commit();
  if (a.run.json) return print_result("demo", report.results);
  print_text(a.run, "{}{} One seed. In {}: report.html, model/, results.txt\n",
             to_text(study, text_style(a.run)), words, a.output.folder);
}

}  // namespace

Command demo_command() {
  return {"demo", "the whole way on built-in data: train, quantize, look", "hone demo -o demo",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<DemoArguments>();
            a->data.options.source = "synth:negation?seed=7&n=240000";
            a->data.validation_split = kValidationSplit;
            declare(app, a->data, /*required=*/false);
            app.add_option("--max_steps", a->steps, "training steps of 32 texts")
                ->check(number_from(1));
            app.add_option("--qat_steps", a->qat_steps, "training steps of each quantized model")
                ->check(number_from(1));
            declare(app, a->resume);
            declare(app, a->output);
            declare(app, a->run);
            return [a, &app] { demo(*a, app); };
          }};
}

}  // namespace hone
