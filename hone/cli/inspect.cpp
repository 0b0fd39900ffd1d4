#include <fmt/ranges.h>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/ir/print.h"
#include "hone/models/text_limit.h"
#include "hone/passes/freeze.h"
#include "hone/report/table.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

struct InspectArguments {
  std::string model;
  std::int64_t batch = 8;
  std::int64_t tokens = 0;
  std::vector<std::string> freeze;
  bool no_graph = false;
  RunArguments run;
};

Table parameter_table(const std::vector<ModuleParameters>& modules) {
  Table table({{"module", "Module"},
               {"parameters", "Parameters"},
               {"trainable", "Trainable"},
               {"frozen", "Frozen"}});
  for (const ModuleParameters& m : modules)
    table.add_row({m.module, m.trainable + m.frozen, m.trainable, m.frozen});
  return table;
}

// Lines that are broken go on further in. A name that is longer than a line stays whole, to be copied.
std::string graph_text(const std::string& graph, std::size_t columns) {
  constexpr std::size_t kFurtherIn = 4;
  if (columns <= 2 * kFurtherIn) return graph;
  std::vector<std::string> lines;
  for (const std::string& line : split(graph, '\n'))
    lines.push_back(fmt::format("{}", fmt::join(broken_line(line, columns - kFurtherIn),
                                                "\n" + std::string(kFurtherIn, ' '))));
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// The classes that the model tells apart; none without a head of its own.
std::vector<std::string> labels_of(const Model& model) {
  return model.fresh_head ? std::vector<std::string>() : model.facts.labels;
}

// "bert, tells 2 classes apart: bad, good; texts of up to 512 tokens, pairs too, of a vocabulary of 30 522."
std::string facts_text(const Model& model) {
  const ModelFacts& facts = model.facts;
  std::vector<std::string> labels;
  for (const std::string& label : labels_of(model)) labels.push_back(shown_name(label));
  const std::string classes =
      labels.empty()
          ? "has no classification head (the one below is drawn at random); "
          : fmt::format("tells {} classes apart: {}; ", labels.size(), fmt::join(labels, ", "));
  return fmt::format("{}{}, {}texts of up to {} tokens{}, of a vocabulary of {}.",
                     facts.architecture, facts.task ? ", " + *facts.task : "", classes,
                     grouped(facts.limits.tokens), facts.limits.pairs() ? ", pairs too" : "",
                     grouped(facts.limits.vocabulary));
}

std::string history_text(const History& history) {
  const std::string unknown =
      history.complete ? ""
                       : "What was done to its graph first is not known: the version of hone that "
                         "did it kept no history.";
  if (history.passes.empty())
    return history.complete ? "Its graph is the one that its config builds." : unknown;
  std::string text = history.complete
                         ? "Its graph is the one that its config builds after these passes:"
                         : unknown + " Then these passes:";
  for (const std::string& pass : history.passes) text += "\n  " + printable(pass);
  return text;
}

void inspect(const InspectArguments& a) {
  Context context = make_context(a.run);
  const TextModel source = open_model(a.model, context, a.run.seed);
  tell_warnings(context, source.model.warnings);
  const ModelFacts& facts = source.model.facts;
  Graph training = source.model.graph;
  freeze(training, a.freeze);
  Graph inference = forward_graph(source.model);
  ParameterStore parameters = source.model.parameters;
  run_passes(inference, parameters, context.session(), {"remove_dropout", "remove_dead_code"});
  const std::int64_t tokens = tokens_of_run(a.tokens, facts.limits);
  const Bindings bindings = {{'B', a.batch}, {'S', tokens}};
  const std::vector<ModuleParameters> modules = parameters_by_module(training);
  const ParameterTotals totals = total_parameters(training);
  const Cost forward = cost(inference, bindings);
  const std::string text = to_string(training);
  if (totals.trainable > 0) add_training_step(training, {});
  const Cost step = cost(training, bindings);

  if (a.run.json) {
    const Json result = {{"model", a.model},
                         {"architecture", facts.architecture},
                         {"labels", labels_of(source.model)},
                         {"task", facts.task ? Json(*facts.task) : Json()},
                         {"limits",
                          {{"tokens", facts.limits.tokens},
                           {"vocabulary", facts.limits.vocabulary},
                           {"token_types", facts.limits.token_types}}},
                         {"history", facts.history.passes},
                         {"history_complete", facts.history.complete},
                         {"graph", text},
                         {"parameters_by_module", to_json(parameter_table(modules))},
                         {"parameters", totals.all()},
                         {"trainable_parameters", totals.trainable},
                         {"frozen_parameters", totals.frozen},
                         {"batch", a.batch},
                         {"tokens", tokens},
                         {"inference_flops", forward.flops},
                         {"training_step_flops", step.flops},
                         {"parameter_bytes", forward.parameter_bytes},
                         {"inference_peak_value_bytes", forward.peak_value_bytes},
                         {"training_parameter_bytes", step.parameter_bytes},
                         {"training_peak_value_bytes", step.peak_value_bytes}};
    return print_result("inspect", result);
  }
  if (!a.no_graph) fmt::print("{}\n", graph_text(text, text_style(a.run).columns));
  Table costs({{"run", "One run at " + fmt::format("{} x {} tokens", a.batch, tokens)},
               {"gflop", "GFLOP"},
               {"parameter_bytes", "Parameters"},
               {"peak_value_bytes", "Values at most"}});
  costs.add_row({"inference", real(forward.flops / 1e9, 3), bytes(forward.parameter_bytes),
                 bytes(forward.peak_value_bytes)});
  if (totals.trainable > 0)
    costs.add_row({"training step with AdamW", real(step.flops / 1e9, 3),
                   bytes(step.parameter_bytes), bytes(step.peak_value_bytes)});
  Table counts = parameter_table(modules);
  counts.add_row({"all", totals.all(), totals.trainable, totals.frozen});
  print_text(a.run, "{}\n{}\n\n{}\n{}", facts_text(source.model), history_text(facts.history),
             to_text(counts, text_style(a.run)), to_text(costs, text_style(a.run)));
}

}  // namespace

Command inspect_command() {
  return {
      "inspect", "show a model's graph, parameters, operations and memory",
      "hone inspect my-model --freeze 'bert.embeddings.*'",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<InspectArguments>();
        app.add_option("MODEL", a->model, "model folder, or tiny, base or a config.json")
            ->required();
        app.add_option("--batch", a->batch, "texts per run, for the costs")->check(number_from(1));
        app.add_option(
               "--tokens", a->tokens,
               "tokens per text, for the costs; by default 128, or the model's positions if fewer")
            ->check(number_from(1));
        declare_freeze(app, a->freeze);
        app.add_flag("--no_graph", a->no_graph, "leave the graph text out");
        declare(app, a->run);
        return [a] { inspect(*a); };
      }};
}

}  // namespace hone
