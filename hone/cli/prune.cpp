#include "hone/jobs/prune/prune.h"

#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/prune/prune_shapes.h"

namespace hone {
namespace {

struct PruneArguments {
  PruneJob job;
  std::string method = "l1", scope = "local", mode = "exact", structure = "weights";
  std::string schedule = "one_shot";
  RunArguments run;
};

constexpr const char* kMethodHelp =
    "which weights go first: l1, the smallest magnitudes; or random; of heads and neurons l1 or "
    "l2, by their norm, or first_order, by the loss";

// Of single weights the first two, of heads and neurons all but the second.
std::vector<std::string> methods() { return {"l1", "random", "l2", "first_order"}; }

// Flags that say something of single weights, and methods of the other kind.
void check_shapes(const PruneArguments& a, const ShapeStructure& structure, const CLI::App& app) {
  for (const char* flag :
       {"--mode", "--target", "--activations", "--calibration_batches", "--schedule", "--rise"})
    if (app.count(flag) > 0)
      throw UsageError(
          fmt::format("hone prune: {} is of single weights, --structure {} lets whole ones go",
                      flag, a.structure));
  if (a.method == "random")
    throw UsageError(fmt::format("hone prune: --structure {} takes --method l1, l2 or first_order",
                                 a.structure));
  if (!structure.kinds.empty()) return;
  for (const char* flag : {"--method", "--scope"})
    if (app.count(flag) > 0)
      throw UsageError(fmt::format(
          "hone prune: {} chooses heads and neurons; layers that stay are spaced evenly", flag));
}

PruneResult prune_shapes(PruneArguments& a, const ShapeStructure& structure, Context& context,
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

PruneResult prune_weights(PruneArguments& a, Context& context, const CLI::App& app) {
  if (a.method != "l1" && a.method != "random")
    throw UsageError(fmt::format(
        "hone prune: --method {} chooses heads and neurons; single weights take l1 or random",
        a.method));
  PruneRule& rule = a.job.how.pruning.rule;
  rule.method = parse_prune_method(a.method);
  rule.scope = parse_prune_scope(a.scope);
  rule.mode = parse_prune_mode(a.mode);
  rule.pattern = value_of_flag("--structure", [&] { return parse_structure(a.structure); });
  if (rule.pattern && app.count("--sparsity") > 0)
    throw UsageError(fmt::format(
        "hone prune: --structure {} says how many weights go; leave out --sparsity", a.structure));
  a.job.how.cubic = a.schedule == "cubic";
  if (!a.job.how.cubic && app.count("--rise") > 0)
    throw UsageError("hone prune: --rise is of --schedule cubic");
  if (!a.job.how.activations && app.count("--calibration_batches") > 0)
    throw UsageError("hone prune: --calibration_batches is of --activations");
  return prune_job(a.job, context);
}

void prune_model(PruneArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.how.trains = app.count("--epochs") + app.count("--max_steps") > 0;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  const std::optional<ShapeStructure> shapes =
      value_of_flag("--structure", [&] { return parse_shape_structure(a.structure); });
  const PruneResult result =
      shapes ? prune_shapes(a, *shapes, context, app) : prune_weights(a, context, app);
  if (result.was_finished) return print_finished(a.job.output, result.fields, a.run.json);
  print_judged("prune", result, a.run);
}

}  // namespace

Command prune_command() {
  return {"prune", "make a pruned copy of a model, and say what was lost",
          "hone prune my-model --sparsity 0.5 --data 'synth:negation?seed=7&n=30000' -o "
          "my-model-pruned",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<PruneArguments>();
            app.add_option("MODEL", a->job.model,
                           "model folder; of one that is quantized the formats stay, and of one "
                           "that is pruned what is gone stays gone")
                ->required();
            app.add_option("--sparsity", a->job.how.pruning.rule.sparsity,
                           "share of the weights that go")
                ->check(number_to(0, 1));
            app.add_option("--method", a->method, kMethodHelp)->check(one_of(methods()));
            app.add_option("--scope", a->scope,
                           "local: that share of every weight tensor; global: of all together, "
                           "under one threshold")
                ->check(one_of({"local", "global"}));
            app.add_option("--mode", a->mode,
                           "exact: round(sparsity n) of n weights, as torch; mase: all magnitudes "
                           "up to their quantile, as MASE")
                ->check(one_of({"exact", "mase"}));
            app.add_option("--structure", a->structure,
                           "weights: any of them; N:M, such as 2:4: N are kept of every M that "
                           "follow each other in a row; heads, neurons, layers, apart by commas: "
                           "whole ones go, and shapes shrink");
            app.add_option("--target", a->job.how.pruning.target,
                           "globs of operations whose weights are pruned, by commas; by default "
                           "all linears but the classifier")
                ->allow_extra_args(false)
                ->delimiter(',');
            app.add_option("--activations", a->job.how.activations,
                           "share of what these layers read that goes, the smallest magnitudes: "
                           "below a threshold for each, calibrated once on training texts")
                ->check(number_from(0, 1));
            app.add_option("--calibration_batches", a->job.how.calibration.batch_count,
                           "for --activations: so many times 8 training texts, drawn by --seed")
                ->check(number_from(1));
            app.add_option("--schedule", a->schedule,
                           "one_shot: prune, then train if --epochs or --max_steps say so; cubic: "
                           "sparsity rises while it trains (Zhu and Gupta, 2017)")
                ->check(one_of({"one_shot", "cubic"}));
            app.add_option("--rise", a->job.how.rise,
                           "for --schedule cubic: share of the training, from its start, over "
                           "which sparsity rises")
                ->check(above_zero(1));
            declare(app, a->job.gates);
            declare_split(app, a->job.split,
                          "part to measure on: train, validation, test or all; by default test, or "
                          "what was set aside when the model was trained on this data, or what "
                          "--validation_split sets aside");
            declare(app, a->job.data, /*required=*/true);
            declare_train_samples(app, a->job.data);
            declare(app, a->job.how.fine_tune);
            declare_report_to(app, a->job.report_to);
            declare(app, a->job.resume);
            declare_row_hashes(app, a->job.row_hashes);
            declare_seeds(app, a->job.seeds);
            declare(app, a->job.output);
            declare(app, a->run);
            return [a, &app] { prune_model(*a, app); };
          }};
}

}  // namespace hone
