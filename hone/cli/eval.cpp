#include <cmath>
#include <optional>

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/models/model_size.h"
#include "hone/study/class_table.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

struct EvalArguments {
  std::string model;
  DataArguments data;
  std::string split;
  std::int64_t batch_size = 32;
  OutputArguments output;
  RunArguments run;
};

// "simulated integer(width=8,frac=4)"
std::string arithmetic_text(const Json& result) {
  std::string text = result["arithmetic"];
  if (result.contains("format")) text += " " + result["format"].get<std::string>();
  return text;
}

Table figures(const Measurement& measured, const MeasuredPart& part, const Json& result) {
  const Evaluation& e = measured.evaluation;
  Table table({{"figure", "Figure"}, {"value", "Value"}});
  table.add_row({"accuracy", accuracy_sentence(e)});
  table.add_row({fmt::format("always '{}'", part.majority_label), share_text(e.majority_share)});
  table.add_row({"loss", fmt::format("{:.4f}", e.loss)});
  table.add_row({"arithmetic", arithmetic_text(result)});
  table.add_row({"time", fmt::format("{:.2f} s, {} texts/s", measured.seconds,
                                     grouped(std::llround(static_cast<double>(e.examples) /
                                                          measured.seconds)))});
  return table;
}

void write_report(const EvalArguments& a, const Measurement& measured, const MeasuredPart& part,
                  const DataIdentity& data, const Json& result, const ModelSize& size,
                  const std::vector<std::string>& labels, RunReport report,
                  const OutputFolder& output, const Context& context) {
  const Evaluation& e = measured.evaluation;
  report.title = fmt::format("{} measured on {}", a.model, a.data.options.source);
  report.headline = accuracy_headline(name_and_size(part), e);
  report.basis = {arithmetic_text(result), 0, data_text(a.data.options.source, data),
                  describe(part), "nothing was chosen on these texts by this command"};
  report.sections = {
      {"Figures", {PageTable{figures(measured, part, result)}, Paragraph{to_text(size)}}},
      class_section({{part.facts.part, e, cautions(part)}}, labels)};
  report.results = result;
  write_run_report(report, output.path(), context);
}

void evaluate_model(const EvalArguments& a, const CLI::App& app) {
  RunReport report;
  report.invocation = invocation_of(app);
  Context context = make_context(a.run);
  std::optional<OutputFolder> output;
  if (!a.output.folder.empty()) output.emplace(a.output.folder, a.output.options());
  const TextModel source = open_model(a.model, context, a.run.seed);
  DataIdentity identity;
  const MeasuredTexts texts = load_measured(a.data, a.split, a.run.seed, source.model.facts,
                                            source.trained_on, context, identity);
  const MeasuredPart& part = texts.part;
  report.notes = source.model.warnings;
  report.notes.push_back(untrained_warning(source, a.model));
  const EncodedSet data = encode_part(source, texts.examples, part.facts.part,
                                      a.data.max_seq_length, context, report.notes);
  for (const std::string& warning : warnings_of(part, source.model.facts.labels))
    report.notes.push_back(warning);
  std::erase(report.notes, "");
  print_warnings(report.notes);
  tell_measured(part, {unknown_texts(a.model, source.trained_on)}, context, report.notes);
  const Measurement measured = measure(source.model, data, a.batch_size, context, "evaluate");
  const auto& labels = source.model.facts.labels;
  const std::vector<std::string> doubts = concerns(measured.evaluation, labels);
  print_warnings(doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  Json result = subject_of(a.model, identity, part);
  result["average_weight_bits"] = average_weight_bits(source.model);
  result["arithmetic"] = source.model.quantization ? "simulated" : "fp32";
  if (source.model.quantization) result["format"] = summary(source.model.quantization->plan);
  result.update(to_json(measured, labels));
  const ModelSize size = model_size(source.model, source.folder);
  result["size"] = to_json(size);
  if (output) {
    write_report(a, measured, part, identity, result, size, labels, std::move(report), *output,
                 context);
    output->commit();
  }
  if (a.run.json) return print_result("eval", result);
  print_text(a.run, "{}\n\n{}\n{}{}\n", accuracy_headline(name_and_size(part), measured.evaluation),
             to_text(figures(measured, part, result), text_style(a.run)),
             class_text({{part.facts.part, measured.evaluation, cautions(part)}}, labels,
                        text_style(a.run)),
             to_text(size));
}

}  // namespace

Command eval_command() {
  return {"eval", "measure a model on a data set",
          "hone eval my-model --data 'synth:negation?seed=7&n=30000'",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<EvalArguments>();
            app.add_option("MODEL", a->model, "model folder")->required();
            declare(app, a->data, /*required=*/true);
            app.add_option(
                "--split", a->split,
                "part to measure on: train, validation, test or all; by default test, or "
                "what was set aside when the model was trained on this data, or all of "
                "a single file");
            app.add_option("--per_device_eval_batch_size,--batch_size,--batch", a->batch_size,
                           "texts per batch")
                ->check(number_from(1));
            declare(app, a->output, /*required=*/false);
            declare(app, a->run);
            return [a, &app] { evaluate_model(*a, app); };
          }};
}

}  // namespace hone
