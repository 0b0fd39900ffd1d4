#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/report/table.h"

namespace hone {
namespace {

struct Arguments {
  std::string model;
  DataArguments data;
  std::string split;
  std::int64_t batch_size = 32;
  RunArguments run;
};

void evaluate_model(const Arguments& a) {
  Context context = make_context(a.run);
  const TextModel source = open_model(a.model, context, a.run.seed);
  const Splits splits = load_splits(a.data, a.run.seed, known_labels(a.model));
  std::vector<std::string> warnings = source.model.warnings;
  const EncodedSet data =
      encode_splits(source, {}, {}, part(splits, a.split), a.data.max_seq_length, context, warnings)
          .test;
  print_warnings(warnings);
  const Measurement measured =
      measure(source.model, data, source.tokenizer.pad_id(), a.batch_size, context, "evaluate");
  const auto& labels = source.model.config.labels;
  Json result = to_json(measured, labels);
  result["arithmetic"] =
      source.model.quantization ? "simulated " + summary(source.model.quantization->plan) : "fp32";
  if (a.run.json) return fmt::print("{}\n", to_line(result));

  const Evaluation& e = measured.evaluation;
  Table table({{"figure", "Figure"}, {"value", "Value"}});
  table.add_row({"examples", grouped(e.examples)});
  table.add_row(
      {"accuracy", fmt::format("{:.2f} % (95 %: {:.2f} to {:.2f})", 100 * e.accuracy,
                               100 * e.accuracy_interval.low, 100 * e.accuracy_interval.high)});
  table.add_row({"loss", fmt::format("{:.4f}", e.loss)});
  for (std::size_t i = 0; i < e.recall.size(); ++i)
    table.add_row({"recall of " + labels[i], display_text(percent(e.recall[i]))});
  table.add_row({"arithmetic", result["arithmetic"].get<std::string>()});
  table.add_row({"time", fmt::format("{:.2f} s, {:.0f} texts/s", measured.seconds,
                                     static_cast<double>(e.examples) / measured.seconds)});
  fmt::print("{}", to_text(table));
}

}  // namespace

Command eval_command() {
  return {"eval", "measure a model on a data set",
          "hone eval my-model --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<Arguments>();
            app.add_option("MODEL", a->model, "model folder")->required();
            declare(app, a->data, /*required=*/true);
            app.add_option("--split", a->split,
                           "train, validation or test; by default test, or all of a single file");
            app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->batch_size,
                           "texts per batch")
                ->check(number_from(1));
            declare(app, a->run);
            return [a] {
              // A single file is one part: nothing is set aside from what is to be measured.
              if (a->split.empty()) a->data.validation_split = 0;
              evaluate_model(*a);
            };
          }};
}

}  // namespace hone
