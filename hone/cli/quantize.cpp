#include "hone/app/comparison_table.h"
#include "hone/app/compress.h"
#include "hone/cli/arguments.h"
#include "hone/cli/json_lines.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  FormatArguments formats;
  bool qat = false;
  std::int64_t calibration_batches = 32;
  std::string calibration = "minmax";
  double percentile = CalibrationOptions{}.percentile;
  std::string split;
  DataArguments data;
  TrainingArguments training;
  OutputArguments output;
  RunArguments run;
};

void quantize_model(Arguments& a) {
  Context context(a.run.threads, a.run.quiet);
  const Recipe recipe = recipe_from(a.formats, context.library.formats);
  CompressOptions options{.qat = a.qat,
                          .fine_tune = a.training.options,
                          .calibration_batches = a.calibration_batches,
                          .calibration = {parse_range_rule(a.calibration), a.percentile}};
  options.fine_tune.training.seed = a.run.seed;
  options.fine_tune.title = "train quantized";
  OutputFolder output(a.output.folder, a.output.overwrite);
  TextModel source = open_model(a.model, context, a.run.seed);
  check_unquantized(source.model);
  options.plan = resolve(recipe, build_graph(source.model, context.library.ops, {}));
  const Splits splits = load_splits(a.data, a.run.seed, known_labels(a.model));
  std::vector<std::string> warnings = source.model.warnings;
  const EncodedSplits data =
      encode_splits(source, splits.source.train, splits.validation, part(splits, a.split),
                    a.data.max_seq_length, context, warnings);
  print_warnings(warnings);

  const std::int32_t pad_id = source.tokenizer.pad_id();
  const std::int64_t batch = a.training.options.eval_batch_size;
  const Measurement before = measure(source.model, data.test, pad_id, batch, context, "before");
  std::unique_ptr<JsonLines> log;
  if (a.qat) log = std::make_unique<JsonLines>(output.path() / "training_log.jsonl");
  const Model quantized = compress(
      source.model, data, pad_id, options, [&](const Json& line) { log->write(line); }, context);
  source.model = round_weights(quantized, context);
  const Measurement after = measure(source.model, data.test, pad_id, batch, context, "after");
  const Comparison comparison = compare(before.view(), after.view(), data.test.labels);

  const auto& labels = source.model.config.labels;
  const std::string formats = summary(options.plan);
  const double weight_bits = average_weight_bits(source.model, context);
  const Json result = {{"format", formats},
                       {"method", a.qat ? "qat" : "ptq"},
                       {"arithmetic", "simulated"},
                       {"average_weight_bits", weight_bits},
                       {"quantized_modules", options.plan.size()},
                       {"before", to_json(before, labels)},
                       {"after", to_json(after, labels)},
                       {"comparison", to_json(comparison)},
                       {"seeds", 1}};
  write_model(source, output.path());
  write_file(output.path() / "results.json", to_document(result));
  output.commit();
  if (a.run.json) return fmt::print("{}\n", to_line(result));
  const std::string label = fmt::format("{} {}", a.qat ? "QAT" : "PTQ", formats);
  fmt::print("{}\n{}\n{} operations quantized; one seed; written to {}\n",
             to_text(comparison_table(
                 {{"before", 32, before, std::nullopt}, {label, weight_bits, after, comparison}})),
             verdict(comparison), options.plan.size(), a.output.folder);
}

}  // namespace

Command quantize_command() {
  return {
      "quantize", "quantize a model after (or with --qat, during) training, and say what was lost",
      "hone quantize my-model --format 'integer(width=8,frac=4)' --data "
      "'synth:negation?seed=7&n=30000' -o my-model-int8",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<Arguments>();
        app.add_option("MODEL", a->model, "model folder")->required();
        declare(app, a->formats);
        app.add_flag("--qat", a->qat, "train with the quantizers in place");
        app.add_option("--calibration_batches", a->calibration_batches,
                       "batches of training texts that calibration looks at")
            ->check(number_from(1));
        app.add_option("--calibration", a->calibration,
                       "range a calibrated format should hold: minmax (all that was seen), "
                       "percentile, or mse (least mean-squared error)");
        app.add_option("--percentile", a->percentile,
                       "for --calibration percentile: share of the values inside the range, in %");
        app.add_option("--split", a->split,
                       "part to measure on: train, validation or test; by default test, or what "
                       "--validation_split sets aside");
        declare(app, a->data, /*required=*/true);
        declare(app, a->training);
        declare(app, a->output);
        declare(app, a->run);
        return [a] { quantize_model(*a); };
      }};
}

}  // namespace hone
