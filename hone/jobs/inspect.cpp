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
#include "hone/report/field_table.h"
#include "hone/report/table.h"
#include "hone/study/result.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// Returns the zeros of each module's parameters, by module name.
std::map<std::string, Zeros> zeros_by_module(const std::vector<Zeros>& parameters) {
  std::map<std::string, Zeros> modules;
  for (const Zeros& one : parameters) {
    Zeros& sum = modules[one.name.substr(0, one.name.rfind('.'))];
    sum.elements += one.elements;
    sum.zeros += one.zeros;
  }
  return modules;
}

std::vector<ModuleParametersResult> module_results(const InspectResult& result) {
  std::map<std::string, Zeros> zeros = zeros_by_module(result.zeros);
  std::vector<ModuleParametersResult> modules;
  for (const ModuleParameters& m : result.modules)
    modules.push_back(
        {m.module, m.trainable + m.frozen, m.trainable, m.frozen, zeros[m.module].share()});
  return modules;
}

// Returns the names of the model's outputs; empty without a head of its own.
std::vector<std::string> labels_of(const Model& model) {
  return model.has_untrained_head() ? std::vector<std::string>() : model.facts.labels;
}

// "2 classes: bad, good"
std::string head_text(const Model& model) {
  std::vector<std::string> labels;
  for (const std::string& label : labels_of(model)) labels.push_back(shown_name(label));
  if (labels.empty()) return "no classification head (the one below is random)";
  const std::string names = fmt::format("{}", fmt::join(labels, ", "));
  switch (model.facts.task()) {
    case Task::regression:
      return fmt::format("{} number{}: {}", labels.size(), labels.size() == 1 ? "" : "s", names);
    case Task::multi_label:
      return fmt::format("any of {} labels: {}", labels.size(), names);
    case Task::single_label:
      break;
  }
  return fmt::format("{} classes: {}", labels.size(), names);
}

// "bert, 2 classes: bad, good; texts of up to 512 tokens, pairs too; vocabulary of 30,522 tokens."
std::string facts_text(const TextModel& source) {
  const Model& model = source.model;
  const ModelFacts& facts = model.facts;
  const std::string what = fmt::format(
      "{}{}, {}", facts.architecture,
      facts.problem_type ? ", " + to_string(*facts.problem_type) : "", head_text(model));
  if (const std::optional<ImageSize>& image = facts.limits.image)
    return fmt::format("{}; images of {} channels, {} x {}.", what, image->channels, image->height,
                       image->width);
  return fmt::format("{}; texts of up to {} tokens{}{}; vocabulary of {} tokens.", what,
                     grouped(facts.limits.tokens),
                     kept_tokens_text(text_limit({}, source).truncation),
                     facts.limits.pairs() ? ", pairs too" : "", grouped(facts.limits.vocabulary));
}

std::string graph_history_text(const History& history) {
  const std::string unknown =
      history.complete
          ? ""
          : "The first changes to the graph are unknown: the version of hone that made "
            "them stored no history.";
  if (history.passes.empty())
    return history.complete ? "The graph is as the config builds it." : unknown;
  std::string text = history.complete ? "The graph is as the config builds it after these passes:"
                                      : unknown + " Then these passes:";
  for (const std::string& pass : history.passes) text += "\n  " + printable(pass);
  return text;
}

InputLimitsResult limits_of(const TextModel& source) {
  const InputLimits& limits = source.model.facts.limits;
  if (limits.image)
    return {.channels = limits.image->channels,
            .height = limits.image->height,
            .width = limits.image->width};
  return {.tokens = limits.tokens,
          .vocabulary = limits.vocabulary,
          .token_types = limits.token_types,
          .truncation = std::string(to_string(text_limit({}, source).truncation))};
}

Table cost_table(const InspectResult& result, const InspectJob& job, const InputLimits& limits,
                 std::int64_t tokens) {
  Table costs({{"run", "Run of " + run_size_text(job.batch, tokens, limits)},
               {"gflop", "GFLOP"},
               {"computed_gflop", "Computed"},
               {"parameter_bytes", "Parameters"},
               {"moment_bytes", "Optimizer"},
               {"gradient_bytes", "Gradients"},
               {"value_bytes", "Other values"},
               {"bytes", "Peak in all"}});
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

// "Average bits: weights of linear layers 8.25; all parameters 9.1, 98% of them in a format; operands of products 32."
std::string bits_text(const AverageBits& bits, BitCount count) {
  if (bits.quantized_parameters == 0 && bits.data == 32)
    return "Average bits: 32; nothing is quantized.";
  const std::string quantized =
      bits.quantized_parameters == 0
          ? ""
          : fmt::format(", {} of them in a format",
                        display_text(percent(static_cast<double>(bits.quantized_parameters) /
                                             static_cast<double>(bits.parameters))));
  return fmt::format(
      "Average bits{}: weights of linear layers {}; all parameters {}{}; operands of products {}.",
      count == BitCount::width_and_fraction ? " (width plus fraction, as MASE counts)" : "",
      display_text(hone::bits(bits.weights)), display_text(hone::bits(bits.all_parameters)),
      quantized, display_text(hone::bits(bits.data)));
}

InspectFields fields_for(const InspectResult& result, const InspectJob& job, std::int64_t tokens,
                         const TextModel& source) {
  const Model& model = source.model;
  const ModelFacts& facts = model.facts;
  InspectFields fields{.model = job.model,
                       .architecture = facts.architecture,
                       .labels = labels_of(model),
                       .limits = limits_of(source),
                       .history = facts.history.passes,
                       .history_complete = facts.history.complete,
                       .graph = result.graph,
                       .modules = module_results(result),
                       .parameters = result.totals.all(),
                       .trainable_parameters = result.totals.trainable,
                       .frozen_parameters = result.totals.frozen,
                       .zeros = total(result.zeros).zeros,
                       .bits = {job.bit_count, result.bits.weights, result.bits.all_parameters,
                                result.bits.quantized_parameters, result.bits.data},
                       .batch = job.batch,
                       .tokens = tokens,
                       .flops = result.flops,
                       .computed_flops = result.inference.flops,
                       .training_step_flops = result.training_flops,
                       .training_step_computed_flops = result.training_step.flops,
                       .parameter_bytes = result.inference.parameter_bytes,
                       .inference_peak_value_bytes = result.inference.peak_value_bytes,
                       .training_parameter_bytes = result.training_step.parameter_bytes,
                       .training_moment_bytes = result.training_step.moment_bytes,
                       .training_peak_gradient_bytes = result.training_step.peak_gradient_bytes,
                       .training_peak_value_bytes = result.training_step.peak_value_bytes};
  if (facts.problem_type) fields.task = to_string(*facts.problem_type);
  return fields;
}

// Returns the number of files in the folder's record, after comparing them. A shipped folder may lack the fingerprints
// of texts.
std::size_t verify_files(const std::string& folder) {
  const std::optional<FolderRecord> record = read_record(folder);
  user_check(record.has_value() && !record->files.empty(),
             "`verify`: {} has no record of its files; give an output folder of hone{}", folder,
             record_fault(folder).empty() ? "" : " (" + record_fault(folder) + ")");
  std::string list;
  std::vector<ChangedFile> changed = changed_files(folder, *record);
  const bool shipped =
      record->files.contains(kTrainedOnFile) && !path_exists(fs::path(folder) / kTrainedOnFile);
  if (shipped) std::erase_if(changed, [](const auto& file) { return file.path == kTrainedOnFile; });
  for (const ChangedFile& file : changed)
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", printable(file.path), file.change);
  user_check(changed.empty(),
             "{}: {} of {} files differ from their record: {}; restore the folder from an intact "
             "copy, or run the job again",
             folder, changed.size(), record->files.size(), list);
  return record->files.size() - (shipped ? 1 : 0);
}

}  // namespace

std::span<const EnumName> enum_names(BitCount) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(BitCount::stored), "stored"},
      {static_cast<int>(BitCount::width_and_fraction), "width_and_fraction"}};
  return kWords;
}

const Fields& fields_of(const ModuleParametersResult*) {
  using M = ModuleParametersResult;
  static const Fields fields = describe<M>(
      "module_parameters", "Parameters of one module.",
      field<&M::module>("module", "Its name.", "Module"),
      field<&M::parameters>("parameters", "Number of parameters.", "Parameters"),
      field<&M::trainable>("trainable", "Number of these that training changes.", "Trainable"),
      field<&M::frozen>("frozen", "Number of these that training does not change.", "Frozen"),
      field<&M::zero_share>("zero_share", Unit::share, "Zeros, packed parameters decoded.",
                            "Zeros"));
  return fields;
}

const Fields& fields_of(const InputLimitsResult*) {
  using L = InputLimitsResult;
  static const Fields fields = describe<L>(
      "input_limits", "Inputs of a model.",
      field<&L::tokens>("tokens", Unit::tokens,
                        "Maximum per text, special tokens included; null for images."),
      field<&L::vocabulary>("vocabulary", Unit::tokens,
                            "Rows of the embedding table; null for images."),
      field<&L::token_types>("token_types",
                             "Number of token types, 0 if none are read and 1 if pairs of texts "
                             "are not supported; null for images."),
      field<&L::truncation>(
          "truncation",
          "Tokens of longer texts that are kept: head, tail or head_tail; null for images."),
      field<&L::channels>("channels", "Channels of an image; null for texts."),
      field<&L::height>("height", "Height of an image; null for texts."),
      field<&L::width>("width", "Width of an image; null for texts."));
  return fields;
}

const Fields& fields_of(const AverageBitsResult*) {
  using B = AverageBitsResult;
  static const Fields fields = describe<B>(
      "average_bits", "Bits per element.",
      field<&B::counted>("counted",
                         "Stored bits, shared scales included, or width plus fraction with "
                         "--added_bits."),
      field<&B::weights>("weights", Unit::bits, kWeightBitsMeaning),
      field<&B::all_parameters>("all_parameters", Unit::bits,
                                "Of all parameters, biases, norms and embedding tables included."),
      field<&B::quantized_parameters>("quantized_parameters",
                                      "Number of parameters with a format."),
      field<&B::data>("data", Unit::bits, "Of all values that products read and compute."));
  return fields;
}

const Fields& fields_of(const InspectFields*) {
  using I = InspectFields;
  static const Fields fields = describe<I>(
      "inspect", "Structure and cost of a model.",
      field<&I::model>("model", "The model as it was named."),
      field<&I::architecture>("architecture", "The model_type of its config.json."),
      field<&I::labels>("labels", "The classes by their number; empty without a head."),
      field<&I::task>("task", "The problem_type of its config.json; null: it has none."),
      field<&I::limits>("limits", "Limits of its inputs."),
      field<&I::history>("history", "Passes that changed its graph, in order."),
      field<&I::history_complete>("history_complete", "False: passes before these are unknown."),
      field<&I::graph>("graph", "The training graph in its text form."),
      field<&I::modules>("parameters_by_module", "Each module."),
      field<&I::parameters>("parameters", "Number of parameters."),
      field<&I::trainable_parameters>("trainable_parameters",
                                      "Number of these that training changes."),
      field<&I::frozen_parameters>("frozen_parameters",
                                   "Number of these that training does not change."),
      field<&I::zeros>("zeros", "Number of parameters that are 0."),
      field<&I::bits>("bits", "Bits per element that are stored and read."),
      field<&I::batch>("batch", Unit::examples, "For the costs."),
      field<&I::tokens>("tokens", Unit::tokens, "Per text, for the costs."),
      field<&I::flops>("flops", Unit::flop,
                       "Products of one run, two operations per multiply-add."),
      field<&I::computed_flops>("computed_flops", Unit::flop,
                                "All operations of one run, prepared for inference."),
      field<&I::training_step_flops>("training_step_flops", Unit::flop,
                                     "Products of one training step."),
      field<&I::training_step_computed_flops>("training_step_computed_flops", Unit::flop,
                                              "All operations of one training step with AdamW."),
      field<&I::parameter_bytes>("parameter_bytes", Unit::bytes, "Parameters."),
      field<&I::inference_peak_value_bytes>("inference_peak_value_bytes", Unit::bytes,
                                            "Peak of the intermediate values of a run."),
      field<&I::training_parameter_bytes>("training_parameter_bytes", Unit::bytes,
                                          "Parameters and optimizer moments."),
      field<&I::training_moment_bytes>("training_moment_bytes", Unit::bytes,
                                       "The optimizer moments among these."),
      field<&I::training_peak_gradient_bytes>(
          "training_peak_gradient_bytes", Unit::bytes,
          "Gradients of parameters when intermediate values take most."),
      field<&I::training_peak_value_bytes>(
          "training_peak_value_bytes", Unit::bytes,
          "Peak of the intermediate values of a training step, gradients included."),
      field<&I::verified_files>("verified_files",
                                "Number of files that match their record; null without --verify."));
  return fields;
}

InspectResult inspect_model(const InspectJob& job, Context& context) {
  if (!job.csv.empty()) check_output_file(job.csv, job.overwrite);
  std::optional<std::int64_t> verified;
  if (job.verify) verified = static_cast<std::int64_t>(verify_files(job.model));
  const TextModel source = open_model(job.model, context, job.seed);
  print_warnings(context, source.model.warnings);
  const ModelFacts& facts = source.model.facts;
  const std::int64_t tokens = tokens_of_run(job.tokens, facts.limits);
  Graph training = source.model.graph;
  freeze(training, job.freeze);
  if (has_packed_weights(training)) freeze(training, {"*"});  // packed weights are not trained
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
  result.bits = average_bits(unquantized_graph(source.model), current_plan(source.model.graph),
                             bindings, job.bit_count);
  result.zeros = zeros_of(source.model, context.session());
  if (result.totals.trainable > 0) add_training_step(training, {}, context.session());
  result.training_step = cost(training, bindings);
  InspectFields fields = fields_for(result, job, tokens, source);
  fields.verified_files = verified;
  result.fields = to_json(fields);
  Table counts = headed_table(fields.modules);
  if (!job.csv.empty()) write_file(job.csv, to_csv(counts));
  counts.add_row({"all", result.totals.all(), result.totals.trainable, result.totals.frozen,
                  percent(total(result.zeros).share(), 2)});
  Document& document = result.document;
  document.title = job.model;
  document.notes = source.model.warnings;
  document.headline =
      fmt::format("{} parameters, {}, {} GFLOP for inference of {}", grouped(result.totals.all()),
                  human_bytes(static_cast<double>(result.inference.parameter_bytes)),
                  three_digits(result.flops / 1e9), run_size_text(job.batch, tokens, facts.limits));
  if (verified) document.evidence = fmt::format("All {} files match their record.", *verified);
  document.sections = {
      {"",
       {Paragraph{facts_text(source)}, Preformatted{graph_history_text(facts.history)},
        Paragraph{bits_text(result.bits, job.bit_count)}, PageTable{counts},
        PageTable{cost_table(result, job, facts.limits, tokens)}}}};
  return result;
}

}  // namespace hone
