#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/metrics/classification.h"
#include "hone/report/table.h"
#include "hone/train/predictor.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  std::string text;
  std::string text_pair;
  bool pair = false;  // whether text_pair was given
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
  Example example;
  std::vector<std::int32_t> input_ids;
  std::span<const float> logits;
  std::vector<double> probabilities;
  std::optional<std::string> label;  ///< none where a logit is no number
};

Json to_json(const Prediction& p) {
  Json json = {{"text", p.example.text},
               {"input_ids", p.input_ids},
               {"logits", std::vector<float>(p.logits.begin(), p.logits.end())},
               {"probabilities", p.probabilities},
               {"label", p.label ? Json(*p.label) : Json()}};
  if (p.example.text_pair) json["text_pair"] = *p.example.text_pair;
  return json;
}

std::vector<Example> texts_to_predict(const Arguments& a, Context& context) {
  if (a.data.options.source.empty())
    return {{a.text, 0, a.pair ? std::optional(a.text_pair) : std::nullopt}};
  DataOptions options = a.data.options;
  options.labelled = false;
  const Splits splits{load_data_set(options, context.pool)};
  print_notes(splits.source.notes, context);
  print_warnings(splits.source.warnings);
  return part(splits, a.split);
}

void predict(const Arguments& a) {
  RunArguments run = a.run;
  run.quiet |= a.data.options.source.empty();  // one text is no progress
  Context context = make_context(run);
  const TextModel source = open_model(a.model, context, a.run.seed);
  const std::vector<Example> texts = texts_to_predict(a, context);
  std::vector<std::string> warnings = source.model.warnings;
  const EncodedSet data =
      encode_part(source, texts, "data", a.data.max_seq_length, context, warnings);
  print_warnings(warnings);
  Predictor predictor(model_graph(source.model, context, {}), source.model.parameters,
                      context.library, context.pool);
  Progress progress("predict", data.size(), {.unit = "texts", .output = context.progress});
  const std::vector<float> logits =
      predictor.logits(data, a.batch_size, source.tokenizer.pad_id(),
                       [&](std::int64_t done) { progress.update(done); });
  progress.finish();
  const auto classes = static_cast<std::size_t>(predictor.classes());
  const bool pairs = !data.second_begins.empty();
  std::vector<Column> columns = {
      {"label", "Label"}, {"probability", "Probability"}, {"text", "Text"}};
  if (pairs) columns.push_back({"text_pair", "Second text"});
  Table table(columns);
  std::int64_t without = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::span<const float> row = std::span(logits).subspan(i * classes, classes);
    const std::int32_t best = prediction(row);
    const std::string label = prediction_name(best, source.model.config.labels);
    const bool predicted = best != kNoPrediction;
    without += predicted ? 0 : 1;
    const Prediction said{texts[i], data.ids[i], row, softmax(row),
                          predicted ? std::optional(label) : std::nullopt};
    if (a.run.json) {
      fmt::print("{}\n", to_line(to_json(said)));
    } else {
      std::vector<Cell> cells = {
          label,
          predicted ? percent(said.probabilities[static_cast<std::size_t>(best)]) : Cell(absent),
          texts[i].text};
      if (pairs) cells.emplace_back(texts[i].text_pair.value_or(""));
      table.add_row(std::move(cells));
    }
  }
  if (!a.run.json) print_text(a.run, to_text(table, text_style(a.run)));
  if (without > 0) print_warnings({without_prediction_text(without, data.size())});
}

}  // namespace

Command predict_command() {
  return {"predict", "classify one text, or many",
          "hone predict my-model \"a film that is not bad\" --json",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            app.add_option("MODEL", a->model, "model folder")->required();
            auto* text = app.add_option("TEXT", a->text, "the text to classify");
            auto* data = app.add_option("--data", a->data.options.source,
                                        fmt::format("texts to classify instead: {}", kDataSources));
            data->excludes(text);
            auto* pair = app.add_option("--text_pair", a->text_pair, "the second text of a pair");
            pair->needs(text);
            declare_texts(app, a->data);
            app.add_option(
                "--split", a->split,
                "part of the data: train, validation or test; by default test, or all of a "
                "single file");
            app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->batch_size,
                           "texts per batch")
                ->check(number_from(1));
            declare(app, a->run);
            return [a, text, pair, data] {
              a->pair = !pair->empty();
              if (text->empty() && data->empty())
                throw UsageError("hone predict: give a text or --data; see `hone predict --help`");
              predict(*a);
            };
          }};
}

}  // namespace hone
