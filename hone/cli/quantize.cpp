#include "hone/app/comparison_table.h"
#include "hone/app/compress.h"
#include "hone/app/diagnosis.h"
#include "hone/app/learning_curve.h"
#include "hone/cli/arguments.h"
#include "hone/cli/json_lines.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  FormatArguments formats;
  bool qat = false;
  bool explain = false;
  CalibrationArguments calibration;
  std::string split;
  DataArguments data;
  TrainingArguments training;
  OutputArguments output;
  RunArguments run;
};

constexpr double kQuietSnrDb = 20;  // operands above it are not to blame
constexpr std::size_t kShownOperands = 12;
constexpr double kEveryOperand = std::numeric_limits<double>::infinity();
constexpr std::size_t kEveryRow = std::numeric_limits<std::size_t>::max();

std::string explanation(const Diagnosis& diagnosis) {
  const Table table = diagnosis_table(diagnosis, kQuietSnrDb, kShownOperands);
  if (table.rows().empty())
    return fmt::format("Every operand alone keeps {} dB or more.\n", kQuietSnrDb);
  return fmt::format(
      "Where it is lost: each operand alone, the noisiest first, before any training\n\n{}\n"
      "Step: the smallest magnitude that is not zero. Better: parameters of the same format at no "
      "more bits.\nAll of them together, after training: accuracy {}, flips {}, margin SNR {} dB\n",
      to_text(table), display_text(percent(diagnosis.improved.measurement.evaluation.accuracy, 2)),
      display_text(percent(diagnosis.improved.comparison->flip_share, 2)),
      display_text(real(diagnosis.improved.comparison->margin_snr_db, 1)));
}

Json to_json(const Diagnosis& diagnosis, const QuantizationPlan& plan, const Graph& graph) {
  return {{"operands", to_json(diagnosis_table(diagnosis, kEveryOperand, kEveryRow))},
          {"with_better_parameters", to_json(*diagnosis.improved.comparison)},
          {"recipe", to_recipe(with_suggestions(plan, diagnosis.operands), graph)}};
}

// Quantized after training, or trained with a log and a learning curve in the output folder.
Model quantized_copy(const Arguments& a, const Model& parent, const EncodedSplits& data,
                     std::int32_t pad_id, const CompressOptions& options,
                     const OutputFolder& output, Context& context) {
  if (!a.qat)
    return compress(
        parent, data, pad_id, options, [](const Json&) {}, context);
  JsonLines log(output.path() / "training_log.jsonl");
  Model model = compress(
      parent, data, pad_id, options, [&](const Json& line) { log.write(line); }, context);
  const std::string title = fmt::format("QAT {}, simulated; one seed", summary(options.plan));
  print_warnings({draw_learning_curve(log.lines(), title, output.path() / "learning_curve")});
  return model;
}

void quantize_model(Arguments& a) {
  Context context = make_context(a.run);
  const Recipe recipe = recipe_from(a.formats, context.library.formats);
  CompressOptions options{
      .qat = a.qat, .fine_tune = a.training.options, .calibration = a.calibration.parsed()};
  options.fine_tune.training.seed = a.run.seed;
  options.fine_tune.title = "train quantized";
  OutputFolder output(a.output.folder, a.output.overwrite);
  TextModel source = open_model(a.model, context, a.run.seed);
  check_unquantized(source.model);
  options.plan = resolve(recipe, build_graph(source.model, context.library.ops, {}));
  const EncodedSplits data = load_encoded(source, a.model, a.data, a.split, a.run.seed, context);

  const std::int32_t pad_id = source.tokenizer.pad_id();
  const std::int64_t batch = a.training.options.eval_batch_size;
  const Measurement before = measure(source.model, data.test, pad_id, batch, context, "before");
  const Model parent = source.model;
  source.model =
      round_weights(quantized_copy(a, parent, data, pad_id, options, output, context), context);
  const Measurement after = measure(source.model, data.test, pad_id, batch, context, "after");
  const Comparison comparison = compare(before.view(), after.view(), data.test.labels);
  std::optional<Diagnosis> diagnosis;
  if (a.explain || failed(comparison))
    diagnosis = diagnose(parent, before, data, pad_id, options, context);

  const auto& labels = source.model.config.labels;
  const std::string formats = summary(options.plan);
  const double weight_bits = average_weight_bits(source.model, context);
  Json result = {{"format", formats},
                 {"method", a.qat ? "qat" : "ptq"},
                 {"arithmetic", "simulated"},
                 {"average_weight_bits", weight_bits},
                 {"quantized_modules", options.plan.size()},
                 {"before", to_json(before, labels)},
                 {"after", to_json(after, labels)},
                 {"comparison", to_json(comparison)},
                 {"seeds", 1}};
  if (diagnosis) {
    result["diagnosis"] =
        to_json(*diagnosis, options.plan, build_graph(parent, context.library.ops, {}));
  }
  write_model(source, output.path());
  write_file(output.path() / "results.json", to_document(result));
  output.commit();
  if (a.run.json) return fmt::print("{}\n", to_line(result));
  const std::string label = fmt::format("{} {}", a.qat ? "QAT" : "PTQ", formats);
  fmt::print("{}\n{}\n{} operations quantized; one seed; written to {}\n",
             to_text(comparison_table(
                 {{"before", 32, before, std::nullopt}, {label, weight_bits, after, comparison}})),
             verdict(comparison), options.plan.size(), a.output.folder);
  if (diagnosis) fmt::print("\n{}", explanation(*diagnosis));
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
        app.add_flag("--explain", a->explain,
                     "say where the accuracy is lost and what would do better; without it only "
                     "when half a point or more is lost");
        app.add_flag("--qat", a->qat, "train with the quantizers in place");
        declare(app, a->calibration);
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
