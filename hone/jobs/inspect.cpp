#include "hone/jobs/inspect.h"

#include <fmt/ranges.h>

#include <map>

#include "hone/base/changed_files.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/ir/print.h"
#include "hone/jobs/bench_work.h"
#include "hone/models/model_source.h"
#include "hone/models/model_zeros.h"
#include "hone/models/text_limit.h"
#include "hone/passes/freeze.h"
#include "hone/passes/pack.h"
#include "hone/passes/quantize.h"
#include "hone/report/table.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// Zeros of the parameters of a module, by its name.
std::map<std::string, Zeros> zeros_by_module(const std::vector<Zeros>& parameters) {
  std::map<std::string, Zeros> modules;
  for (const Zeros& one : parameters) {
    Zeros& sum = modules[one.name.substr(0, one.name.rfind('.'))];
    sum.elements += one.elements;
    sum.zeros += one.zeros;
  }
  return modules;
}

Table parameter_table(const InspectResult& result) {
  Table table({{"module", "Module"},
               {"parameters", "Parameters"},
               {"trainable", "Trainable"},
               {"frozen", "Frozen"},
               {"zeros", "Zeros"}});
  std::map<std::string, Zeros> zeros = zeros_by_module(result.zeros);
  for (const ModuleParameters& m : result.modules)
    table.add_row({m.module, m.trainable + m.frozen, m.trainable, m.frozen,
                   percent(zeros[m.module].share(), 2)});
  return table;
}

// What the model says of texts, by name; nothing without a head of its own.
std::vector<std::string> labels_of(const Model& model) {
  return model.fresh_head() ? std::vector<std::string>() : model.facts.labels;
}

// "tells 2 classes apart: bad, good"
std::string head_text(const Model& model) {
  std::vector<std::string> labels;
  for (const std::string& label : labels_of(model)) labels.push_back(shown_name(label));
  if (labels.empty()) return "has no classification head (the one below is drawn at random)";
  const std::string names = fmt::format("{}", fmt::join(labels, ", "));
  switch (model.facts.task()) {
    case Task::regression:
      return fmt::format("gives {} number{}: {}", labels.size(), labels.size() == 1 ? "" : "s",
                         names);
    case Task::multi_label:
      return fmt::format("gives any number of {} labels: {}", labels.size(), names);
    case Task::single_label:
      break;
  }
  return fmt::format("tells {} classes apart: {}", labels.size(), names);
}

// "bert, tells 2 classes apart: bad, good; texts of up to 512 tokens, pairs too, of a vocabulary of 30 522."
std::string facts_text(const TextModel& source) {
  const Model& model = source.model;
  const ModelFacts& facts = model.facts;
  const std::string what = fmt::format(
      "{}{}, {}", facts.architecture,
      facts.problem_type ? ", " + to_string(*facts.problem_type) : "", head_text(model));
  if (const std::optional<ImageSize>& image = facts.limits.image)
    return fmt::format("{}; images of {} channels, {} x {}.", what, image->channels, image->height,
                       image->width);
  return fmt::format("{}; texts of up to {} tokens{}{}, of a vocabulary of {}.", what,
                     grouped(facts.limits.tokens),
                     kept_tokens_text(text_limit({}, source).truncation),
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

Json limits_of(const TextModel& source) {
  const InputLimits& limits = source.model.facts.limits;
  if (limits.image)
    return {{"channels", limits.image->channels},
            {"height", limits.image->height},
            {"width", limits.image->width}};
  return {{"tokens", limits.tokens},
          {"vocabulary", limits.vocabulary},
          {"token_types", limits.token_types},
          {"truncation", to_string(text_limit({}, source).truncation)}};
}

Table cost_table(const InspectResult& result, const InspectJob& job, const InputLimits& limits,
                 std::int64_t tokens) {
  Table costs({{"run", "One run of " + run_size_text(job.batch, tokens, limits)},
               {"gflop", "GFLOP"},
               {"computed_gflop", "Computed"},
               {"parameter_bytes", "Parameters"},
               {"moment_bytes", "Optimizer"},
               {"gradient_bytes", "Gradients"},
               {"value_bytes", "Other values"},
               {"bytes", "In all, at most"}});
  const auto add = [&](const char* run, double flops, const Cost& cost) {
    costs.add_row({run, real(flops / 1e9, 3), real(cost.flops / 1e9, 3),
                   bytes(cost.parameter_bytes - cost.moment_bytes), bytes(cost.moment_bytes),
                   bytes(cost.peak_gradient_bytes),
                   bytes(cost.peak_value_bytes - cost.peak_gradient_bytes),
                   bytes(cost.parameter_bytes + cost.peak_value_bytes)});
  };
  add("inference", result.flops, result.inference);
  if (result.totals.trainable > 0)
    add("training step with AdamW", result.training_flops, result.training_step);
  return costs;
}

// "Bits on average: weights of linears 8.25; all parameters 9.1, 98 % of them in a format; what products read 32."
std::string bits_text(const AverageBits& bits, BitCount count) {
  if (bits.quantized_parameters == 0 && bits.data == 32)
    return "Bits on average: 32, nothing is in a format of fewer.";
  const std::string quantized =
      bits.quantized_parameters == 0
          ? ""
          : fmt::format(", {} of them in a format",
                        display_text(percent(static_cast<double>(bits.quantized_parameters) /
                                             static_cast<double>(bits.parameters))));
  return fmt::format(
      "Bits on average{}: weights of linears {}; all parameters {}{}; what products read {}.",
      count == BitCount::width_and_fraction ? " (width and fraction added up, which nothing has)"
                                            : "",
      display_text(hone::bits(bits.weights)), display_text(hone::bits(bits.all_parameters)),
      quantized, display_text(hone::bits(bits.data)));
}

Json to_json(const AverageBits& bits, BitCount count) {
  return {{"counted", count == BitCount::stored ? "stored" : "width_and_fraction"},
          {"weights", bits.weights},
          {"all_parameters", bits.all_parameters},
          {"quantized_parameters", bits.quantized_parameters},
          {"data", bits.data}};
}

Json to_json(const InspectResult& result, const InspectJob& job, std::int64_t tokens,
             const TextModel& source) {
  const Model& model = source.model;
  const ModelFacts& facts = model.facts;
  return {{"model", job.model},
          {"architecture", facts.architecture},
          {"labels", labels_of(model)},
          {"task", facts.problem_type ? Json(to_string(*facts.problem_type)) : Json()},
          {"limits", limits_of(source)},
          {"history", facts.history.passes},
          {"history_complete", facts.history.complete},
          {"graph", result.graph},
          {"parameters_by_module", to_json(parameter_table(result))},
          {"parameters", result.totals.all()},
          {"trainable_parameters", result.totals.trainable},
          {"frozen_parameters", result.totals.frozen},
          {"zeros", total(result.zeros).zeros},
          {"bits", to_json(result.bits, job.bit_count)},
          {"batch", job.batch},
          {"tokens", tokens},
          {"flops", result.flops},
          {"computed_flops", result.inference.flops},
          {"training_step_flops", result.training_flops},
          {"training_step_computed_flops", result.training_step.flops},
          {"parameter_bytes", result.inference.parameter_bytes},
          {"inference_peak_value_bytes", result.inference.peak_value_bytes},
          {"training_parameter_bytes", result.training_step.parameter_bytes},
          {"training_moment_bytes", result.training_step.moment_bytes},
          {"training_peak_gradient_bytes", result.training_step.peak_gradient_bytes},
          {"training_peak_value_bytes", result.training_step.peak_value_bytes}};
}

// Returns how many files of the folder's record are there, as it lists them. The fingerprints of texts may be left out of a
// folder that is shipped.
std::size_t verify_files(const std::string& folder) {
  const std::optional<FolderRecord> record = read_record(folder);
  user_check(record.has_value() && !record->files.empty(),
             "`verify`: {} has no record of finished work that says which files were written; give "
             "a folder that hone made{}",
             folder, record_fault(folder).empty() ? "" : " (" + record_fault(folder) + ")");
  std::string list;
  std::vector<ChangedFile> changed = changed_files(folder, *record);
  const bool shipped =
      record->files.contains(kTrainedOnFile) && !path_exists(fs::path(folder) / kTrainedOnFile);
  if (shipped) std::erase_if(changed, [](const auto& file) { return file.path == kTrainedOnFile; });
  for (const ChangedFile& file : changed)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", printable(file.path), file.change);
  user_check(
      changed.empty(),
      "{}: {} of {} files are not as they were written: {}; copy the folder again from where "
      "it is whole, or make it again",
      folder, changed.size(), record->files.size(), list);
  return record->files.size() - (shipped ? 1 : 0);
}

}  // namespace

InspectResult inspect_model(const InspectJob& job, Context& context) {
  if (!job.csv.empty()) check_output_file(job.csv, job.overwrite);
  const std::size_t verified = job.verify ? verify_files(job.model) : 0;
  const TextModel source = open_model(job.model, context, job.seed);
  tell_warnings(context, source.model.warnings);
  const ModelFacts& facts = source.model.facts;
  const std::int64_t tokens = tokens_of_run(job.tokens, facts.limits);
  Graph training = source.model.graph;
  freeze(training, job.freeze);
  if (has_packed_weights(training)) freeze(training, {"*"});  // it is not trained as it is
  Graph inference = forward_graph(source.model);
  ParameterStore parameters = source.model.parameters;
  InspectResult result;
  const Bindings bindings = {{'B', job.batch}, {'S', tokens}};
  result.flops = product_flops(inference, bindings);
  result.training_flops = training_flops(training, bindings);
  fuse_for_inference(inference, parameters, context.session());
  result.graph = to_string(training);
  result.modules = parameters_by_module(training);
  result.totals = total_parameters(training);
  result.inference = cost(inference, bindings);
  result.bits = average_bits(plain_graph(source.model), standing_plan(source.model.graph), bindings,
                             job.bit_count);
  result.zeros = zeros_of(source.model, context.session());
  if (result.totals.trainable > 0) add_training_step(training, {}, context.session());
  result.training_step = cost(training, bindings);
  result.fields = to_json(result, job, tokens, source);
  if (job.verify) result.fields["verified_files"] = verified;
  Table counts = parameter_table(result);
  if (!job.csv.empty()) write_file(job.csv, to_csv(counts));
  counts.add_row({"all", result.totals.all(), result.totals.trainable, result.totals.frozen,
                  percent(total(result.zeros).share(), 2)});
  std::string about = facts_text(source);
  if (job.verify) about += fmt::format("\nAll of its {} files are as they were written.", verified);
  result.text = [about, history = graph_history_text(facts.history), counts,
                 bits = bits_text(result.bits, job.bit_count),
                 costs = cost_table(result, job, facts.limits, tokens)](const TextStyle& style) {
    return fmt::format("{}\n{}\n{}\n\n{}\n{}", about, history, fitted(bits, style.columns),
                       to_text(counts, style), to_text(costs, style));
  };
  return result;
}

}  // namespace hone
