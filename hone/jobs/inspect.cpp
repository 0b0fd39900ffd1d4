#include "hone/jobs/inspect.h"

#include <fmt/ranges.h>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/models/model_source.h"
#include "hone/passes/freeze.h"
#include "hone/report/table.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

Table parameter_table(const std::vector<ModuleParameters>& modules) {
  Table table({{"module", "Module"},
               {"parameters", "Parameters"},
               {"trainable", "Trainable"},
               {"frozen", "Frozen"}});
  for (const ModuleParameters& m : modules)
    table.add_row({m.module, m.trainable + m.frozen, m.trainable, m.frozen});
  return table;
}

// "bert, tells 2 classes apart: bad, good; texts of up to 512 tokens, pairs too, of a vocabulary of 30 522."
std::string facts_text(const ModelFacts& facts) {
  std::vector<std::string> labels;
  for (const std::string& label : facts.labels) labels.push_back(shown_name(label));
  return fmt::format(
      "{}{}, tells {} classes apart: {}; texts of up to {} tokens{}, of a vocabulary of {}.",
      facts.architecture, facts.problem_type ? ", " + to_string(*facts.problem_type) : "", labels.size(),
      fmt::join(labels, ", "), grouped(facts.limits.tokens),
      facts.limits.pairs() ? ", pairs too" : "", grouped(facts.limits.vocabulary));
}

std::string graph_history_text(const History& history) {
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

Table cost_table(const InspectResult& result, const InspectJob& job) {
  Table costs({{"run", "One run at " + fmt::format("{} x {} tokens", job.batch, job.tokens)},
               {"gflop", "GFLOP"},
               {"parameter_bytes", "Parameters"},
               {"peak_value_bytes", "Values at most"}});
  const auto add = [&](const char* run, const Cost& cost) {
    costs.add_row({run, real(cost.flops / 1e9, 3), bytes(cost.parameter_bytes),
                   bytes(cost.peak_value_bytes)});
  };
  add("inference", result.inference);
  if (result.totals.trainable > 0) add("training step with AdamW", result.training_step);
  return costs;
}

Json to_json(const InspectResult& result, const InspectJob& job, const ModelFacts& facts) {
  return {{"model", job.model},
          {"architecture", facts.architecture},
          {"labels", facts.labels},
          {"task", facts.problem_type ? Json(to_string(*facts.problem_type)) : Json()},
          {"limits",
           {{"tokens", facts.limits.tokens},
            {"vocabulary", facts.limits.vocabulary},
            {"token_types", facts.limits.token_types}}},
          {"history", facts.history.passes},
          {"history_complete", facts.history.complete},
          {"graph", result.graph},
          {"parameters_by_module", to_json(parameter_table(result.modules))},
          {"parameters", result.totals.all()},
          {"trainable_parameters", result.totals.trainable},
          {"frozen_parameters", result.totals.frozen},
          {"batch", job.batch},
          {"tokens", job.tokens},
          {"inference_flops", result.inference.flops},
          {"training_step_flops", result.training_step.flops},
          {"parameter_bytes", result.inference.parameter_bytes},
          {"inference_peak_value_bytes", result.inference.peak_value_bytes},
          {"training_parameter_bytes", result.training_step.parameter_bytes},
          {"training_peak_value_bytes", result.training_step.peak_value_bytes}};
}

}  // namespace

InspectResult inspect_model(const InspectJob& job, Context& context) {
  const TextModel source = open_model(job.model, context, job.seed);
  tell_warnings(context, source.model.warnings);
  const ModelFacts& facts = source.model.facts;
  Graph training = source.model.graph;
  freeze(training, job.freeze);
  Graph inference = forward_graph(source.model);
  ParameterStore parameters = source.model.parameters;
  run_passes(inference, parameters, context.session(), {"remove_dropout", "remove_dead_code"});
  const Bindings bindings = {{'B', job.batch}, {'S', job.tokens}};
  InspectResult result;
  result.graph = to_string(training);
  result.modules = parameters_by_module(training);
  result.totals = total_parameters(training);
  result.inference = cost(inference, bindings);
  if (result.totals.trainable > 0) add_training_step(training, {});
  result.training_step = cost(training, bindings);
  result.fields = to_json(result, job, facts);
  Table counts = parameter_table(result.modules);
  counts.add_row({"all", result.totals.all(), result.totals.trainable, result.totals.frozen});
  result.text = [about = facts_text(facts), history = graph_history_text(facts.history), counts,
                 costs = cost_table(result, job)](const TextStyle& style) {
    return fmt::format("{}\n{}\n\n{}\n{}", about, history, to_text(counts, style),
                       to_text(costs, style));
  };
  return result;
}

}  // namespace hone
