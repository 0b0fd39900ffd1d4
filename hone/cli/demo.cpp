#include "hone/app/width_study.h"
#include "hone/cli/arguments.h"
#include "hone/cli/json_lines.h"
#include "hone/text/bag_of_words.h"

namespace hone {
namespace {

struct Arguments {
  DataArguments data;
  std::int64_t steps = 7000;
  std::int64_t qat_steps = 300;
  OutputArguments output;
  RunArguments run;
};

constexpr std::int64_t kBatch = 32;
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
  options.training.group_by_length = true;
  options.training.logging_steps = 50;
  options.training.eval_steps = steps;
  options.eval_batch_size = kBatch;
  return options;
}

void demo(const Arguments& a) {
  Context context = make_context(a.run);
  OutputFolder output(a.output.folder, a.output.overwrite);
  const auto say = [&](const std::string& text) {
    if (!a.run.quiet) fmt::print(stderr, "{}\n", text);
  };
  Splits splits = load_splits(a.data, a.run.seed, {});
  say(fmt::format(
      "data: {}; \"{}\" is {}", splits.source.description, splits.source.train[0].text,
      splits.source.label_names[static_cast<std::size_t>(splits.source.train[0].label)]));
  splits.source.test.resize(std::min(splits.source.test.size(), kTestTexts));
  TextModel source = open_model("tiny", context, a.run.seed, splits.source.label_names);
  // Every text is seen once: there is nothing that dropout could keep from being learnt by heart.
  source.model.config.hidden_dropout_prob = source.model.config.attention_probs_dropout_prob = 0;
  std::vector<std::string> warnings;
  const EncodedSplits data =
      encode_splits(source, splits.source.train, splits.validation, part(splits, "test"),
                    a.data.max_seq_length, context, warnings);
  print_warnings(warnings);
  const std::int32_t pad_id = source.tokenizer.pad_id();
  const auto classes = static_cast<std::int32_t>(splits.source.label_names.size());
  const double baseline = bag_of_words_accuracy(splits.source.train, splits.source.test, classes);
  say(fmt::format("bag of words: {:.1f} % on the test part", 100 * baseline));

  JsonLines log(output.path() / "training_log.jsonl");
  fine_tune(
      source.model, data, pad_id, training(a, a.steps, 4e-4, a.steps / 20),
      [&](const Json& line) { log.write(line); }, context);
  const Measurement parent = measure(source.model, data.test, pad_id, kBatch, context, "test");
  const std::vector<WidthResult> results = study_widths(
      source.model, parent, data, pad_id, {.qat = training(a, a.qat_steps, 2e-4, 0)}, context);

  const Table table = width_table(results, parent);
  fs::create_directory(output.path() / "model");
  write_model(source, output.path() / "model");
  write_file(output.path() / "results.txt", to_text(table));
  write_table(table, output.path() / "results");
  draw_width_study(results, parent, output.path() / "fixed_point");
  output.commit();
  if (a.run.json) {
    const Json result = {
        {"bag_of_words_accuracy", baseline}, {"seeds", 1}, {"results", to_json(table)}};
    return fmt::print("{}\n", to_line(result));
  }
  fmt::print(
      "{}\nA bag of words reaches {:.1f} %. One seed. In {}: model/, results.txt, .csv, .json, "
      "fixed_point.svg, .png\n",
      to_text(table), 100 * baseline, a.output.folder);
}

}  // namespace

Command demo_command() {
  return {"demo", "the whole way on built-in data: train, quantize to many widths, compare",
          "hone demo -o demo", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            a->data.options.source = "synth:negation?seed=7&n=240000";
            a->data.validation_split = 0.01;
            declare(app, a->data, /*required=*/false);
            app.add_option("--max_steps", a->steps, "training steps of 32 texts")
                ->check(number_from(1));
            app.add_option("--qat_steps", a->qat_steps, "training steps of each quantized model")
                ->check(number_from(1));
            declare(app, a->output);
            declare(app, a->run);
            return [a] { demo(*a); };
          }};
}

}  // namespace hone
