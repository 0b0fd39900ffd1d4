#include "hone/jobs/shrink/shrink.h"

#include "hone/base/cache_folder.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"
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
  Options data = group<&A::job, &ShrinkJob::data>(training_data());
  data.at("validation_split").meaning = "for new data: validation fraction";
  return {
      model_argument<&A::job, &ShrinkJob::model>("trained model folder, not quantized"),
      gates,
      option<&A::goal>("goal", "what to minimize").one_of({"both", "size", "latency"}),
      option<&A::budget>("budget", "time limit for planning and candidates: 90s, 2h").shown("TIME"),
      option<&A::job, &ShrinkJob::max_evaluations>("max_evaluations",
                                                   "candidates to evaluate, at most")
          .from(1, 1000),
      option<&A::job, &ShrinkJob::only>(
          "only", "allowed steps: trim,prune,sparsify,quantize,allocate,train")
          .one_of(shrink_methods())
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
      split_option<&A::job, &ShrinkJob::split>("split to measure the result on; by default test"),
      data,
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
      .summary = "Make a model smaller and faster within an accuracy limit",
      .example = "hone shrink my-model --data 'synth:negation?seed=7&n=30000' --budget 5m -o small",
      .details =
          "Chooses among candidates on the validation split, and measures the result once. Exit "
          "code 3: the measured split does not show that the limits hold. If not even validation "
          "shows it, the result is in FOLDER/unproven instead of FOLDER/model. On data that MODEL "
          "was trained on, --validation_split has no effect: shrink uses the examples that "
          "training set aside.",
      .run = runs<ShrinkArguments, shrink>(),
      .stage = {.writes_model = true}};
}

}  // namespace hone
