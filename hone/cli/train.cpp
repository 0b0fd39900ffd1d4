#include "hone/app/learning_curve.h"
#include "hone/cli/arguments.h"
#include "hone/cli/json_lines.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  DataArguments data;
  TrainingArguments training;
  OutputArguments output;
  RunArguments run;
};

Table results_table(const std::vector<std::pair<std::string, Measurement>>& parts) {
  Table table({{"split", "Split"},
               {"examples", "Examples"},
               {"accuracy", "Accuracy"},
               {"low", "95 % from"},
               {"high", "to"},
               {"loss", "Loss"}});
  for (const auto& [name, measured] : parts) {
    const Evaluation& e = measured.evaluation;
    table.add_row({name, e.examples, percent(e.accuracy), percent(e.accuracy_interval.low),
                   percent(e.accuracy_interval.high), real(e.loss, 4)});
  }
  return table;
}

void train_model(Arguments& a) {
  Context context = make_context(a.run);
  OutputFolder output(a.output.folder, a.output.overwrite);
  const Splits splits = load_splits(a.data, a.run.seed, known_labels(a.model));
  TextModel source = open_model(a.model, context, a.run.seed, splits.source.label_names);
  std::vector<std::string> warnings = source.model.warnings;
  const EncodedSplits data =
      encode_splits(source, splits.source.train, splits.validation, splits.source.test,
                    a.data.max_seq_length, context, warnings);
  print_warnings(warnings);

  JsonLines log(output.path() / "training_log.jsonl");
  const std::int32_t pad_id = source.tokenizer.pad_id();
  a.training.options.training.seed = a.run.seed;
  const TrainingResult trained = fine_tune(
      source.model, data, pad_id, a.training.options, [&](const Json& line) { log.write(line); },
      context);
  std::vector<std::pair<std::string, Measurement>> parts;
  for (const auto& [name, set] :
       {std::pair{"validation", &data.validation}, std::pair{"test", &data.test}}) {
    if (set->size() == 0) continue;
    parts.emplace_back(name, measure(source.model, *set, pad_id, a.training.options.eval_batch_size,
                                     context, name));
  }

  Json result = {
      {"train_loss", trained.mean_loss},
      {"train_runtime", trained.seconds},
      {"train_samples_per_second", static_cast<double>(trained.examples) / trained.seconds},
      {"train_steps_per_second", static_cast<double>(trained.steps) / trained.seconds},
      {"train_samples", data.train.size()},
      {"steps", trained.steps},
      {"seeds", 1}};
  for (const auto& [name, measured] : parts)
    result[name] = to_json(measured, source.model.config.labels);
  print_warnings({draw_learning_curve(log.lines(), a.model + " trained; one seed",
                                      output.path() / "learning_curve")});
  write_model(source, output.path());
  write_file(output.path() / "results.json", to_document(result));
  output.commit();
  if (a.run.json) return fmt::print("{}\n", to_line(result));
  if (!parts.empty()) fmt::print("{}\n", to_text(results_table(parts)));
  fmt::print("{} steps in {}, {} texts/s, mean loss {:.4f}; one seed; written to {}\n",
             trained.steps, clock_text(trained.seconds),
             static_cast<long long>(static_cast<double>(trained.examples) / trained.seconds),
             trained.mean_loss, a.output.folder);
}

}  // namespace

Command train_command() {
  return {"train", "fine-tune a model on a data set",
          "hone train tiny --data 'synth:negation?seed=7&n=30000' --epochs 3 --batch 64 --lr 5e-4 "
          "-o my-model",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            app.add_option("MODEL", a->model, "model folder, or tiny or base for fresh weights")
                ->required();
            declare(app, a->data, /*required=*/true);
            declare(app, a->training);
            declare(app, a->output);
            declare(app, a->run);
            return [a] { train_model(*a); };
          }};
}

}  // namespace hone
