#include "hone/jobs/shrink/shrink.h"

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/shrink/shrink_space.h"

namespace hone {
namespace {

struct ShrinkArguments {
  ShrinkJob job;
  std::string goal = "both";
  std::string budget = "30m";
  std::string loadable;
  bool no_cache = false;
  RunArguments run;
};

void shrink(ShrinkArguments& a, const CLI::App& app) {
  Context context = make_context(a.run);
  a.job.goal = parse_shrink_goal(a.goal);
  a.job.budget_seconds = value_of_flag("--budget", [&] { return parse_duration(a.budget); });
  a.job.loadable = !a.loadable.empty();
  a.job.seed = a.run.seed;
  a.job.invocation = invocation_of(app);
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  print("shrink", shrink_model(a.job, context), a.run);
}

Options options_of(const ShrinkArguments*) {
  using A = ShrinkArguments;
  Options gates = group<&A::job, &ShrinkJob::gates>();
  gates.at("max_drop").default_text = "0.5";
  return {
      model_argument<&A::job, &ShrinkJob::model>("trained model folder, not quantized"),
      gates,
      option<&A::goal>("goal", "what to minimize").one_of({"both", "size", "latency"}),
      option<&A::budget>("budget", "start no new step after this time").shown("BUDGET"),
      option<&A::job, &ShrinkJob::looks>("max_evaluations", "candidates to evaluate on validation")
          .from(1, 1000),
      option<&A::job, &ShrinkJob::only>("only", "allowed steps: trim,prune,quantize,allocate,train")
          .one_of(shrink_means())
          .separated()
          .shown("LIST"),
      option<&A::job, &ShrinkJob::freeze>(
          "freeze", "parameters to leave unchanged, such as 'bert.embeddings.*'")
          .repeated()
          .shown("GLOB")
          .rare(),
      option<&A::loadable>("loadable", "also write an fp32 folder that transformers loads")
          .one_of({"transformers"}),
      option<&A::job, &ShrinkJob::recipe>("recipe", "TOML file with the search space")
          .takes(kReadFileValue),
      split_option<&A::job, &ShrinkJob::split>(
          "split to report on; choices are made on validation"),
      group<&A::job, &ShrinkJob::data>(training_data()),
      eval_batch_option<&A::job, &ShrinkJob::eval_batch_size>(),
      resume_option<&A::job, &ShrinkJob::resume>(),
      no_cache_option<&A::no_cache>(),
      row_hashes_option<&A::job, &ShrinkJob::row_hashes>(),
      group<&A::job, &ShrinkJob::output>(),
      group<&A::run>()};
}

}  // namespace

Command shrink_command() {
  return {
      .name = "shrink",
      .summary = "Make a model as small and fast as its accuracy allows",
      .example = "hone shrink my-model --data 'synth:negation?seed=7&n=30000' --budget 5m -o small",
      .run = runs<ShrinkArguments, shrink>(),
      .stage = {.leaves_model = true}};
}

}  // namespace hone
