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

// The first two prune single weights; all but the second prune heads and neurons.
std::vector<std::string> methods() { return {"l1", "random", "l2", "first_order"}; }

// Refuses flags and methods of single weights.
void check_shapes(const PruneArguments& a, const ShapeStructure& structure, const CLI::App& app) {
  for (const char* flag : {"--mode", "--target", "--activation_sparsity", "--calibration_batches",
                           "--schedule", "--ramp"})
    if (app.count(flag) > 0)
      throw UsageError(
          fmt::format("hone prune: {} is for single weights and does not go with --structure {}",
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
        "hone prune: --structure {} sets how many weights to remove; leave out --sparsity",
        a.structure));
  a.job.how.cubic = a.schedule == "cubic";
  if (!a.job.how.cubic && app.count("--ramp") > 0)
    throw UsageError("hone prune: --ramp needs --schedule cubic");
  if (!a.job.how.activations && app.count("--calibration_batches") > 0)
    throw UsageError("hone prune: --calibration_batches needs --activation_sparsity");
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

}  // namespace

Command prune_command() {
  return {
      "prune",
      "Remove weights, heads, neurons or layers",
      "hone prune my-model --sparsity 0.5 --data 'synth:negation?seed=7&n=30000' -o "
      "my-model-pruned",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<PruneArguments>();
        app.add_option("MODEL", a->job.model, "model folder; formats and earlier pruning are kept")
            ->required();
        app.add_option("--sparsity", a->job.how.pruning.rule.sparsity,
                       "fraction of weights to remove")
            ->check(number_to(0, 1));
        app.add_option("--method", a->method, "criterion for what to remove")
            ->check(one_of(methods()));
        app.add_option("--scope", a->scope, "apply the sparsity to each tensor, or to all together")
            ->check(one_of({"local", "global"}));
        app.add_option("--mode", a->mode, "exact: count like torch; mase: threshold by quantile")
            ->check(one_of({"exact", "mase"}));
        app.add_option("--structure", a->structure,
                       "N:M, heads, neurons, layers; by default weights");
        app.add_option("--target", a->job.how.pruning.target,
                       "operations to prune, as globs; by default all linears but the head")
            ->allow_extra_args(false)
            ->delimiter(',');
        app.add_option("--activation_sparsity", a->job.how.activations,
                       "fraction of the layers' inputs to set to zero")
            ->check(number_from(0, 1));
        app.add_option("--calibration_batches", a->job.how.calibration.batch_count,
                       "training batches of 8 to calibrate --activation_sparsity")
            ->check(number_from(1));
        app.add_option("--schedule", a->schedule, "when to prune")
            ->check(one_of({"one_shot", "cubic"}));
        app.add_option("--ramp", a->job.how.rise,
                       "fraction of the training over which a cubic schedule rises")
            ->check(above_zero(1));
        declare(app, a->job.gates);
        declare_split(app, a->job.split, "split to measure on; by default test");
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
      },
      {.evaluates = StageKind::Evaluates::before_and_after, .leaves_model = true}};
}

}  // namespace hone
