#include "hone/jobs/search/search.h"

#include <algorithm>

#include "hone/base/cache_folder.h"
#include "hone/cli/arguments.h"
#include "hone/cli/gate_arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct SearchArguments {
  SearchJob job;
  std::string profile = "optuna-5";
  bool no_cache = false;
  CalibrationArguments calibration;
  RunArguments run;
};

// What a command that joins is to be called with: the same search, in one process, told to us.
std::vector<std::string> words_to_join(const CLI::App& app, const std::string& storage,
                                       int threads) {
  constexpr std::string_view kOwn[] = {"output_dir", "overwrite_output_dir",
                                       "resume",     "storage",
                                       "threads",    "json",
                                       "quiet",      "join",
                                       "color",      "workers",
                                       "concurrency"};
  std::vector<std::string> words = {"search"};
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = argument_name(*option);
    if (option->count() == 0 || std::ranges::find(kOwn, name) != std::end(kOwn)) continue;
    if (is_flag(*option)) words.push_back("--" + name);
    for (const std::string& value : option->results()) {
      if (is_flag(*option)) break;
      words.push_back(option->get_positional() ? value : fmt::format("--{}={}", name, value));
    }
  }
  for (const std::string& word :
       {std::string("--join"), "--storage=" + storage, fmt::format("--threads={}", threads),
        std::string("--json"), std::string("--quiet")})
    words.push_back(word);
  return words;
}

void check(const SearchArguments& a) {
  if (a.job.recipe.empty() == a.job.space.empty())
    throw UsageError("hone search: give what is searched by --recipe FILE or by --space TEXT");
  if (a.job.join && a.job.storage.empty())
    throw UsageError(
        "hone search: --join works on a study that --storage contains; give --storage");
  if (a.job.join && !a.job.output.folder.empty())
    throw UsageError(
        "hone search: --join writes no folder (the command that started the study does); leave "
        "--output_dir out");
  if (!a.job.join && a.job.output.folder.empty())
    throw UsageError("hone search: --output_dir is required");
  if (a.job.concurrency != 0 && a.job.concurrency < a.job.workers)
    throw UsageError(fmt::format(
        "hone search: a --concurrency of {} leaves some of {} workers without work; give as many "
        "or more",
        a.job.concurrency, a.job.workers));
}

void search(SearchArguments& a, const CLI::App& app) {
  check(a);
  Context context = make_context(a.run);
  a.job.profile = find_tpe_profile(a.profile);
  if (a.job.budget.trials == 0 && a.job.budget.seconds == 0 && a.job.budget.patience == 0)
    a.job.budget.trials = 20;
  if (a.job.gates.any() && a.job.budget.trials == 0)
    throw UsageError(
        "hone search: gates are tested at a level corrected for the number of trials; give "
        "--trials as well");
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  if (a.run.executor != "interpreter") a.job.executor = a.run.executor;
  a.job.training.eval_batch_size = a.job.calibration.batch_size;
  a.job.invocation = invocation_of(app);
  a.job.join_words = [&app](const std::string& storage, int threads) {
    return words_to_join(app, storage, threads);
  };
  print("search", search_models(a.job, context), a.run);
}

void declare_budget(CLI::App& app, SearchOptions& budget) {
  app.add_option("--trials", budget.trials, "number of trials; by default 20")
      ->check(number_from(0));
  app.add_option("--timeout", budget.seconds, "start no trial after this, in seconds")
      ->check(number_from(0));
  app.add_option("--patience", budget.patience,
                 "stop after this many trials without improvement (0: never)")
      ->check(number_from(0));
}

void declare_study(CLI::App& app, SearchArguments& a) {
  app.add_option("--study", a.job.study, "name of the study in the storage");
  app.add_option("--storage", a.job.storage, "SQLite file or postgresql://; by default study.db");
  app.add_flag("--join", a.job.join, "run trials of a study started elsewhere; write no folder");
  app.add_option("--workers", a.job.workers, "processes that run trials")->check(number_from(1));
  app.add_option("--concurrency", a.job.concurrency,
                 "trials at once over all machines (0: --workers)")
      ->check(number_from(0));
  app.add_flag("--async", a.job.budget.asynchronous,
               "do not wait for other workers; results depend on their speed");
}

void declare_sampling(CLI::App& app, SearchArguments& a) {
  app.add_option("--sampler", a.job.sampler, "how to choose the next trial")
      ->check(one_of(sampler_names()));
  app.add_option("--sampler_seed", a.job.sampler_seed,
                 "random seed of the sampler; by default --seed")
      ->check(number_to(0, 4294967295));
  app.add_option("--optuna", a.profile, "version of Optuna whose TPE rules to follow")
      ->check(one_of(tpe_profile_names()));
  app.add_option("--pruner", a.job.pruner, "how to stop trials early")
      ->check(one_of(pruner_names()));
  app.add_option("--promote", a.job.budget.promote_by,
                 "asha: resume a pruned trial among the best 1/N of its rung (0: never)")
      ->check(number_from(0));
  app.add_option("--repeats", a.job.budget.repeats, "reruns of the best trials, new seeds")
      ->check(number_from(0));
}

}  // namespace

Command search_command() {
  return {
      "search",
      "Search architectures, formats and training settings",
      "hone search my-model --recipe space.toml --data 'synth:negation?seed=7&n=30000' "
      "--trials 20 -o search",
      [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<SearchArguments>();
        app.add_option("MODEL", a->job.model, "model folder; new: tiny, base or a config.json")
            ->required();
        app.add_option("--recipe", a->job.recipe, "TOML file with the search space and objective");
        app.add_option("--space", a->job.space, "the same as text instead of a file");
        declare_sampling(app, *a);
        declare_budget(app, a->job.budget);
        declare(app, a->job.gates);
        declare_study(app, *a);
        declare_split(app, a->job.split, "split to report on; choices are made on validation");
        declare(app, a->job.data, /*required=*/true);
        declare_train_samples(app, a->job.data);
        declare(app, a->job.vocabulary);
        declare(app, a->calibration);
        app.add_flag("--resume", a->job.resume, "continue an interrupted run, or start a new one");
        app.add_flag("--no_cache", a->no_cache, "do not use or update the store of earlier runs");
        declare_row_hashes(app, a->job.row_hashes);
        declare(app, a->job.output, /*required=*/false);
        declare(app, a->run);
        declare_executor(app, a->run);
        return [a, &app] { search(*a, app); };
      },
      {.searches = true, .leaves_model = true, .trains_plainly = true}};
}

}  // namespace hone
