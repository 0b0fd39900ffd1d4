#include "hone/jobs/prune/sparsities.h"

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct SparsitiesArguments {
  SparsitiesJob job;
  std::vector<std::string> methods = {"l1", "random"};
  std::string scope = "local", structure = "weights";
  RunArguments run;
};

void study(SparsitiesArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.study.methods.clear();
  for (const std::string& method : a.methods)
    a.job.study.methods.push_back(
        value_of_flag("--methods", [&] { return parse_prune_method(method); }));
  PruneRule& rule = a.job.study.how.pruning.rule;
  rule.scope = parse_prune_scope(a.scope);
  rule.structure = value_of_flag("--structure", [&] { return parse_structure(a.structure); });
  a.job.study.how.trains = app.count("--epochs") + app.count("--max_steps") > 0;
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  print("sparsities", study_sparsities(a.job, context), a.run);
}

Options options_of(const SparsitiesArguments*) {
  using A = SparsitiesArguments;
  using Study = decltype(SparsitiesJob::study);
  Options training =
      group<&A::job, &SparsitiesJob::study, &Study::how, &SparsifyOptions::fine_tune>();
  training.at("num_train_epochs").default_text = "no training";
  return {
      model_argument<&A::job, &SparsitiesJob::model>("model folder; its formats are kept"),
      option<&A::job, &SparsitiesJob::study, &Study::sparsities>(
          "sparsities", "fractions to remove; by default 0.1 to 0.9")
          .separated()
          .shown("LIST")
          .above_zero()
          .from(0, 1),
      option<&A::methods>(
          "methods", "l1, wanda, first_order, movement, sparsegpt, random; by default l1,random")
          .separated()
          .shown("LIST"),
      option<&A::structure>("structure", "what to remove").one_of({"weights", "1x4", "4x1"}),
      option<&A::scope>("scope", "apply the sparsity to each tensor, or to all together")
          .one_of({"local", "global"})
          .rare(),
      option<&A::job, &SparsitiesJob::study, &Study::prune_activations>(
          "with_activations", "prune the layers' inputs by the same fraction")
          .rare(),
      option<&A::job, &SparsitiesJob::study, &Study::how, &SparsifyOptions::pruning,
             &PruneOptions::target>(
          "target", "operations to prune, as globs; by default all linear layers but the head")
          .separated()
          .shown("GLOB")
          .rare(),
      split_option<&A::job, &SparsitiesJob::split>(
          "split to measure the result on; by default test"),
      group<&A::job, &SparsitiesJob::data>(training_data()),
      training,
      group<&A::job, &SparsitiesJob::resume>(),
      group<&A::job, &SparsitiesJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command sparsities_command() {
  return {.name = "sparsities",
          .summary = "Measure and plot accuracy at several sparsities",
          .example =
              "hone sparsities my-model --sparsities 0.3,0.6 --data "
              "'synth:negation?seed=7&n=30000' -o sparsities",
          .run = runs<SparsitiesArguments, study>()};
}

}  // namespace hone
