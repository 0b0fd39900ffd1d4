#include "hone/app/learning_curve.h"
#include "hone/app/run_identity.h"
#include "hone/app/width_study.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/text/bag_of_words.h"

namespace hone {
namespace {

struct Arguments {
  DataArguments data;
  std::int64_t steps = 7000;
  std::int64_t qat_steps = 300;
  ResumeArguments resume;
  OutputArguments output;
  RunArguments run;
};

constexpr std::int64_t kBatch = 32;
constexpr const char* kTrainings = "trainings";  // their checkpoints, until all are done
constexpr std::size_t kTestTexts = 6000;

FineTuneOptions training(const Arguments& a, std::int64_t steps, double learning_rate,
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

void demo(const Arguments& a, const CLI::App& app) {
  RunReport report{.title = "Fixed point on " + a.data.options.source,
                   .invocation = invocation_of(app)};
  Context context = make_context(a.run);
  OutputFolder output(a.output.folder, a.output.resumable(a.resume));
  const auto say = [&](const std::string& text) {
    if (!a.run.quiet) print_message(text);
  };
  Splits splits = load_splits(a.data, a.run.seed, {}, TrainedOn{}, DataUse::training, context);
  say(fmt::format(
      "data: {}; \"{}\" is {}", splits.source.description, splits.source.train[0].text,
      splits.source.label_names[static_cast<std::size_t>(splits.source.train[0].label)]));
  splits.source.test.resize(std::min(splits.source.test.size(), kTestTexts));
  splits.identity.parts.back() =
      part_facts("test", splits.source.test, splits.source.label_names.size(),
                 row_set(row_hashes(splits.source.train)));
  TextModel source = open_model("tiny", context, a.run.seed, splits.source.label_names);
  // Every text is seen once: there is nothing that dropout could keep from being learnt by heart.
  source.model.config.hidden_dropout_prob = source.model.config.attention_probs_dropout_prob = 0;
  source.trained_on =
      after_training(TrainedOn{}, splits.identity.hash, row_hashes(splits.source.train),
                     row_hashes(splits.source.validation));
  std::vector<std::string> warnings = splits.source.warnings;
  const EncodedSplits data =
      encode_splits(source, splits, measured_texts(splits, "test", source.trained_on),
                    source.trained_on, a.data.max_seq_length, context, warnings);
  print_warnings(warnings);
  const std::int32_t pad_id = source.tokenizer.pad_id();
  const auto classes = static_cast<std::int32_t>(splits.source.label_names.size());
  const double baseline = bag_of_words_accuracy(splits.source.train, splits.source.test, classes);
  say(fmt::format("bag of words: {:.1f} % on the test part", 100 * baseline));

  if (!begin_run(report.invocation, source.model.parameters, data, output))
    return print_finished(output, a.run.json);
  TrainingLog log(output.path() / "training_log.jsonl");
  const auto checkpoints_of = [&](const std::string& name) {
    return checkpoints_in(output.path() / kTrainings / name, a.resume, source, output);
  };
  FineTuneOptions full = training(a, a.steps, 4e-4, a.steps / 20);
  full.checkpoints = checkpoints_of("fp32");
  fine_tune(source.model, data, pad_id, full, log, context);
  const Measurement parent = measure(source.model, data.test, pad_id, kBatch, context, "test");
  const std::vector<WidthResult> results = study_widths(
      source.model, parent, data, pad_id,
      {.qat = training(a, a.qat_steps, 2e-4, 0), .checkpoints_of = checkpoints_of}, context);

  const Table table = width_table(results, parent);
  fs::create_directory(output.path() / "model");
  write_model(source, output.path() / "model");
  write_file(output.path() / "results.txt", to_text(table));
  write_table(table, output.path() / "results");
  std::vector<std::string> undrawn;
  report.headline = width_verdict(results);
  report.basis = basis_of(a.data.options.source, data, "simulated fixed point");
  const std::string words =
      fmt::format("A bag of words reaches {:.1f} % of these texts, the trained model {:.1f} %.",
                  100 * baseline, 100 * parent.evaluation.accuracy);
  report.sections = {width_section(results, parent, output.path() / "fixed_point", undrawn),
                     learning_curve_section(log, "tiny trained; one seed",
                                            output.path() / "learning_curve", undrawn)};
  report.sections[0].blocks.insert(report.sections[0].blocks.begin(), Paragraph{words});
  std::vector<std::string> doubts =
      concerns(compared_models(results, parent), source.model.config.labels);
  doubts.insert(doubts.end(), undrawn.begin(), undrawn.end());
  report.notes = warnings;
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  print_warnings(doubts);
  write_run_report(report, output.path(), context);
  output.commit();
  if (a.run.json) {
    const Json result = {
        {"bag_of_words_accuracy", baseline}, {"seeds", 1}, {"results", to_json(table)}};
    return fmt::print("{}\n", to_line(result));
  }
  print_text(a.run, "{} {} One seed.\n\n{}\nIn {}: report.html, model/, results.txt\n",
             report.headline, words, to_text(table, text_style(a.run)), a.output.folder);
}

}  // namespace

Command demo_command() {
  return {"demo", "the whole way on built-in data: train, quantize, compare", "hone demo -o demo",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            a->data.options.source = "synth:negation?seed=7&n=240000";
            a->data.validation_split = 0.01;
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
