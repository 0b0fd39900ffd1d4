#include <algorithm>
#include <cmath>

#include "hone/cli/arguments.h"
#include "hone/report/table.h"
#include "hone/train/predictor.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  std::string text;
  std::string split;
  std::int64_t batch_size = 32;
  DataArguments data;
  RunArguments run;
};

std::vector<double> softmax(std::span<const float> logits) {
  const double top = static_cast<double>(std::ranges::max(logits));
  std::vector<double> probabilities;
  double sum = 0;
  for (const float logit : logits)
    sum += probabilities.emplace_back(std::exp(static_cast<double>(logit) - top));
  for (double& p : probabilities) p /= sum;
  return probabilities;
}

struct Prediction {
  std::string text;
  std::vector<std::int32_t> input_ids;
  std::span<const float> logits;
  std::vector<double> probabilities;
  std::string label;
};

Json to_json(const Prediction& p) {
  return {{"text", p.text},
          {"input_ids", p.input_ids},
          {"logits", std::vector<float>(p.logits.begin(), p.logits.end())},
          {"probabilities", p.probabilities},
          {"label", p.label}};
}

std::vector<Example> texts_to_predict(const Arguments& a) {
  if (a.data.options.source.empty()) return {{a.text, 0}};
  DataOptions options = a.data.options;
  options.label_column.clear();
  const Splits splits{load_data_set(options), {}};
  return part(splits, a.split);
}

void predict(const Arguments& a) {
  RunArguments run = a.run;
  run.quiet |= a.data.options.source.empty();  // one text is no progress
  Context context = make_context(run);
  const TextModel source = open_model(a.model, context, a.run.seed);
  const std::vector<Example> texts = texts_to_predict(a);
  std::vector<std::string> warnings = source.model.warnings;
  const EncodedSet data =
      encode_splits(source, {}, {}, texts, a.data.max_seq_length, context, warnings).test;
  print_warnings(warnings);
  Predictor predictor(model_graph(source.model, context, {}), source.model.parameters,
                      context.library, context.pool);
  Progress progress("predict", data.size(), {.unit = "texts", .output = context.progress});
  const std::vector<float> logits =
      predictor.logits(data, a.batch_size, source.tokenizer.pad_id(),
                       [&](std::int64_t done) { progress.update(done); });
  progress.finish();
  const auto classes = static_cast<std::size_t>(predictor.classes());
  Table table({{"label", "Label"}, {"probability", "Probability"}, {"text", "Text"}});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::span<const float> row = std::span(logits).subspan(i * classes, classes);
    const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    const Prediction prediction{texts[i].text, data.ids[i], row, softmax(row),
                                source.model.config.labels[best]};
    if (a.run.json) {
      fmt::print("{}\n", to_line(to_json(prediction)));
    } else {
      table.add_row({prediction.label, percent(prediction.probabilities[best]), prediction.text});
    }
  }
  if (!a.run.json) fmt::print("{}", to_text(table));
}

}  // namespace

Command predict_command() {
  return {
      "predict", "classify one text, or many",
      "hone predict my-model \"a film that is not bad\" --json",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<Arguments>();
        app.add_option("MODEL", a->model, "model folder")->required();
        auto* text = app.add_option("TEXT", a->text, "the text to classify");
        auto* data = app.add_option("--data", a->data.options.source,
                                    "texts to classify instead: a .csv, .tsv or .jsonl file, "
                                    "an aclImdb folder, or synth:NAME");
        data->excludes(text);
        app.add_option("--text_column", a->data.options.text_column, "column or key of the text");
        app.add_option("--split", a->split,
                       "part of the data: train or test; by default test, or all of a single file");
        app.add_option("--max_seq_length", a->data.max_seq_length,
                       "most tokens of a text; 0: 512, or the model's positions if fewer")
            ->check(number_from(0));
        app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->batch_size,
                       "texts per batch")
            ->check(number_from(1));
        declare(app, a->run);
        return [a, text, data] {
          if (text->empty() && data->empty())
            throw UsageError("hone predict: give a text or --data; see `hone predict --help`");
          predict(*a);
        };
      }};
}

}  // namespace hone
