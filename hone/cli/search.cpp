#include "hone/jobs/search/search.h"

#include "hone/base/cache_folder.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct SearchArguments {
  SearchJob job;
  std::string profile = "optuna-5";
  bool no_cache = false;
  CalibrationArguments calibration;
  RunArguments run;
};

// Options for the study's storage and the workers that run its trials.
Options sharing_options() {
  using A = SearchArguments;
  return {
      option<&A::job, &SearchJob::storage>("storage",
                                           "SQLite file or postgresql://; by default study.db")
          .takes({.shown = "FILE|ADDRESS", .files = true}),
      option<&A::job, &SearchJob::join>("join",
                                        "run trials of a study started elsewhere; write no folder")
          .rare(),
      option<&A::job, &SearchJob::workers>(
          "workers", "processes that run trials; by default 1, or one per GPU with --device cuda")
          .from(1),
      option<&A::job, &SearchJob::concurrency>("concurrency",
                                               "trials at once over all machines (0: --workers)")
          .from(0)
          .rare()};
}

Options options_of(const SearchArguments*);

// Returns the command line of a worker: the same search, joined by one process on one device.
std::vector<std::string> words_to_join(const CLI::App& app, const SearchArguments& a,
                                       const SearchWorker& worker, const std::string& device) {
  const Options all = options<SearchArguments>(), sharing = sharing_options();
  std::vector<std::string> words = given_arguments(app, [&](const std::string& name) {
    return !find_option(all, name)->is_for_caller && find_option(sharing, name) == nullptr &&
           name != "device";
  });
  words.insert(words.begin(), "search");
  words.insert(words.end(), {"--join", "--storage=" + worker.storage,
                             fmt::format("--threads={}", worker.threads), "--device=" + device,
                             "--json", "--quiet"});
  if (a.no_cache) words.emplace_back("--no_cache");
  return words;
}

void check(const SearchArguments& a) {
  if (a.job.recipe.empty() == a.job.space.empty())
    throw UsageError("hone search: give the search space by --recipe FILE or by --space TEXT");
  if (a.job.join && a.job.storage.empty())
    throw UsageError("hone search: --join needs --storage, which contains the study");
  if (a.job.join && !a.job.output.folder.empty())
    throw UsageError(
        "hone search: --join writes no folder (the command that started the study does); remove "
        "--output_dir");
  if (!a.job.join && a.job.output.folder.empty())
    throw UsageError("hone search: --output_dir is required");
  if (a.job.concurrency != 0 && a.job.concurrency < a.job.workers)
    throw UsageError(fmt::format(
        "hone search: --concurrency {} is below --workers {}, so some workers stay idle; raise it",
        a.job.concurrency, a.job.workers));
}

// Returns the default number of workers: one for each device, but no more than the trials that may run at once.
std::int64_t usual_workers(const SearchArguments& a, const std::vector<std::string>& devices) {
  return a.job.concurrency == 0 ? std::ssize(devices)
                                : std::min(std::ssize(devices), a.job.concurrency);
}

void search(SearchArguments& a, const CLI::App& app) {
  const std::vector<std::string> devices = devices_of(a.run);
  if (app.count("--workers") == 0) a.job.workers = usual_workers(a, devices);
  check(a);
  Context context = make_context(a.run);
  a.job.profile = find_tpe_profile(a.profile);
  if (a.job.budget.trials == 0 && a.job.budget.seconds == 0 && a.job.budget.patience == 0)
    a.job.budget.trials = 20;
  if (a.job.gates.any() && a.job.budget.trials == 0)
    throw UsageError(
        "hone search: gates need --trials, because their level is corrected for the number of "
        "trials");
  if (const fs::path cache = cache_folder(); !a.no_cache && !cache.empty())
    a.job.cache = cache / "trials";
  a.job.calibration = a.calibration.parsed(a.run.seed);
  a.job.seed = a.run.seed;
  a.job.training.eval_batch_size = a.job.calibration.batch_size;
  a.job.invocation = invocation_of(app);
  a.job.worker_arguments = [&](const SearchWorker& worker) {
    return words_to_join(app, a, worker, devices[worker.number % devices.size()]);
  };
  print("search", search_models(a.job, context), a.run);
}

Options options_of(const SearchArguments*) {
  using A = SearchArguments;
  Options run = group<&A::run>();
  run.at("device").meaning = "cpu, cuda (all GPUs) or cuda:N";
  return {
      model_argument<&A::job, &SearchJob::model>("model folder; new: tiny, base or a config.json"),
      option<&A::job, &SearchJob::recipe>("recipe", "TOML file with the search space and objective")
          .takes(kReadFileValue),
      option<&A::job, &SearchJob::space>("space", "the same as text instead of a file").rare(),
      option<&A::job, &SearchJob::sampler>("sampler", "how to choose the next trial")
          .one_of(sampler_names())
          .shown("SAMPLER"),
      option<&A::job, &SearchJob::sampler_seed>("sampler_seed",
                                                "random seed of the sampler; by default --seed")
          .from_to(0, 4294967295)
          .rare(),
      option<&A::profile>("optuna", "version of Optuna whose TPE rules to follow")
          .one_of(tpe_profile_names())
          .shown("VERSION")
          .rare(),
      option<&A::job, &SearchJob::pruner>("pruner", "how to stop trials early")
          .one_of(pruner_names())
          .shown("PRUNER"),
      option<&A::job, &SearchJob::budget, &SearchOptions::promote_by>(
          "promote", "asha: resume a pruned trial among the best 1/N of its rung (0: never)")
          .from(0)
          .rare(),
      option<&A::job, &SearchJob::budget, &SearchOptions::repeats>(
          "repeats", "reruns of the best trials, new seeds")
          .from(0),
      option<&A::job, &SearchJob::budget, &SearchOptions::trials>("trials",
                                                                  "number of trials; by default 20")
          .from(0),
      option<&A::job, &SearchJob::budget, &SearchOptions::seconds>(
          "timeout", "start no trial after this, in seconds")
          .from(0),
      option<&A::job, &SearchJob::budget, &SearchOptions::patience>(
          "patience", "stop after this many trials without improvement (0: never)")
          .from(0)
          .rare(),
      group<&A::job, &SearchJob::gates>(),
      option<&A::job, &SearchJob::study>("study", "name of the study in the storage").shown("NAME"),
      sharing_options(),
      option<&A::job, &SearchJob::budget, &SearchOptions::asynchronous>(
          "async", "do not wait for other workers; results depend on their speed")
          .rare(),
      split_option<&A::job, &SearchJob::split>("split to measure the result on; by default test"),
      group<&A::job, &SearchJob::data>(training_data()),
      group<&A::job, &SearchJob::vocabulary>(),
      group<&A::calibration>(),
      resume_option<&A::job, &SearchJob::resume>(),
      no_cache_option<&A::no_cache>(),
      row_hashes_option<&A::job, &SearchJob::row_hashes>(),
      group<&A::job, &SearchJob::output>(report_output()),
      run,
      group<&A::run>(executor_option())};
}

}  // namespace

Command search_command() {
  return {.name = "search",
          .summary = "Search architectures, formats and training settings",
          .example =
              "hone search my-model --recipe space.toml --data 'synth:negation?seed=7&n=30000' "
              "--trials 20 -o search",
          .run = runs<SearchArguments, search>(),
          .stage = {.searches = true, .writes_model = true, .trains_uncompressed = true}};
}

}  // namespace hone
