#include "hone/jobs/prune/prune.h"

#include <algorithm>

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/prune/prune_shapes.h"

namespace hone {
namespace {

struct PruneArguments {
  PruneJob job;
  std::string method = "l1", scope = "local", mode = "exact", structure = "weights";
  std::string schedule = "one_shot";
  RunArguments run;
};

// The first two prune single weights; all but the second prune heads and neurons.
std::vector<std::string> structures() {
  return {"weights", "1x4", "4x1", "2:4", "heads", "neurons", "layers"};
}

std::vector<std::string> methods() {
  return {"l1", "wanda", "first_order", "movement", "sparsegpt", "random", "l2"};
}

// Whether the method chooses single weights and blocks.
bool chooses_weights(const std::string& method) {
  return std::ranges::any_of(enum_names(PruneMethod{}),
                             [&](const EnumName& choice) { return choice.name == method; });
}

// Rejects flags and methods that only apply to single weights.
void check_shapes(const PruneArguments& a, const ShapeStructure& structure, const CLI::App& app) {
  for (const char* flag : {"--mode", "--target", "--activation_sparsity", "--calibration_batches",
                           "--schedule", "--ramp"})
    if (app.count(flag) > 0)
      throw UsageError(fmt::format(
          "hone prune: {} prunes single weights and cannot be combined with --structure {}", flag,
          a.structure));
  if (a.method != "l1" && a.method != "l2" && a.method != "first_order")
    throw UsageError(fmt::format(
        "hone prune: --structure {} supports --method l1, l2 and first_order", a.structure));
  if (!structure.kinds.empty()) return;
  for (const char* flag : {"--method", "--scope"})
    if (app.count(flag) > 0)
      throw UsageError(
          fmt::format("hone prune: {} selects heads and neurons; layers are removed at equal "
                      "distances, so remove the option",
                      flag));
}

JobResult prune_shapes(PruneArguments& a, const ShapeStructure& structure, Context& context,
                       const CLI::App& app) {
  check_shapes(a, structure, app);
  return prune_shapes_job(
      {.common = a.job,
       .structure = {.kinds = structure.kinds,
                     .sparsity = a.job.how.pruning.rule.sparsity,
                     .method = a.method,
                     .scope = a.scope == "local" ? UnitScope::local : UnitScope::global},
       .layers = structure.layers},
      context);
}

JobResult prune_weights(PruneArguments& a, Context& context, const CLI::App& app) {
  if (!chooses_weights(a.method))
    throw UsageError(fmt::format(
        "hone prune: --method {} chooses heads and neurons; weights take l1, wanda, first_order, "
        "movement, sparsegpt or random",
        a.method));
  PruneRule& rule = a.job.how.pruning.rule;
  rule.method = parse_prune_method(a.method);
  rule.scope = parse_prune_scope(a.scope);
  rule.mode = parse_prune_mode(a.mode);
  rule.structure = value_of_flag("--structure", [&] { return parse_structure(a.structure); });
  if (rule.structure.pattern && app.count("--sparsity") > 0)
    throw UsageError(fmt::format(
        "hone prune: --structure {} sets how many weights to remove; leave out --sparsity",
        a.structure));
  a.job.how.cubic = a.schedule == "cubic";
  if (!a.job.how.cubic && app.count("--ramp") > 0)
    throw UsageError("hone prune: --ramp needs --schedule cubic");
  if (!a.job.how.activations && !needs_examples(rule.method) &&
      app.count("--calibration_batches") > 0)
    throw UsageError(
        "hone prune: --calibration_batches needs --activation_sparsity, or --method wanda, "
        "first_order or sparsegpt");
  return prune_job(a.job, context);
}

void prune_model(PruneArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.how.trains = app.count("--epochs") + app.count("--max_steps") > 0;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const std::optional<ShapeStructure> shapes =
      value_of_flag("--structure", [&] { return parse_shape_structure(a.structure); });
  print("prune", shapes ? prune_shapes(a, *shapes, context, app) : prune_weights(a, context, app),
        a.run);
}

Options options_of(const PruneArguments*) {
  using A = PruneArguments;
  using How = decltype(PruneJob::how);
  Options training = group<&A::job, &PruneJob::how, &How::fine_tune>();
  training.at("num_train_epochs").default_text = "no training";
  return {model_argument<&A::job, &PruneJob::model>(
              "model folder; formats and earlier pruning are kept"),
          option<&A::job, &PruneJob::how, &How::pruning, &PruneOptions::rule, &PruneRule::sparsity>(
              "sparsity", "fraction of weights to remove")
              .from_to(0, 1),
          option<&A::method>("method",
                             "criterion: l1, wanda, first_order, movement, sparsegpt or random")
              .one_of(methods()),
          option<&A::scope>("scope", "apply the sparsity to each tensor, or to all together")
              .one_of({"local", "global"})
              .rare(),
          option<&A::mode>("mode", "exact: count like torch; mase: threshold by quantile")
              .one_of({"exact", "mase"})
              .rare(),
          option<&A::structure>("structure",
                                "1x4, 4x1, N:M, heads, neurons, layers; by default weights")
              .takes({.shown = "STRUCTURE", .choices = structures}),
          option<&A::job, &PruneJob::how, &How::pruning, &PruneOptions::target>(
              "target", "operations to prune, as globs; by default all linear layers but the head")
              .separated()
              .shown("GLOB")
              .rare(),
          option<&A::job, &PruneJob::how, &How::activations>(
              "activation_sparsity", "fraction of the layers' inputs to set to zero")
              .from(0, 1)
              .rare(),
          option<&A::job, &PruneJob::how, &How::calibration, &CalibrationRun::batch_count>(
              "calibration_batches",
              "training batches of 8 that methods and --activation_sparsity read")
              .from(1)
              .under(Heading::calibration)
              .rare(),
          option<&A::schedule>("schedule", "when to prune").one_of({"one_shot", "cubic"}),
          option<&A::job, &PruneJob::how, &How::rise>(
              "ramp", "fraction of the training over which a cubic schedule rises")
              .above_zero(1)
              .rare(),
          group<&A::job, &PruneJob::gates>(),
          split_option<&A::job, &PruneJob::split>("split to measure on; by default test"),
          group<&A::job, &PruneJob::data>(training_data()),
          training,
          group<&A::job, &PruneJob::distill>(),
          report_to_option<&A::job, &PruneJob::report_to>(),
          group<&A::job, &PruneJob::resume>(),
          row_hashes_option<&A::job, &PruneJob::row_hashes>(),
          seeds_option<&A::job, &PruneJob::seeds>(),
          group<&A::job, &PruneJob::output>(),
          group<&A::run>()};
}

}  // namespace

Command prune_command() {
  return {.name = "prune",
          .summary = "Remove weights, heads, neurons or layers",
          .example =
              "hone prune my-model --sparsity 0.5 --data 'synth:negation?seed=7&n=30000' -o "
              "my-model-pruned",
          .run = runs<PruneArguments, prune_model>(),
          .stage = {.evaluates = StageKind::Evaluates::before_and_after, .writes_model = true}};
}

}  // namespace hone
