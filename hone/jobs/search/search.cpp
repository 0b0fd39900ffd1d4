#include "hone/jobs/search/search.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "hone/base/cache_folder.h"
#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/search/recipe_checks.h"
#include "hone/jobs/search/search_objective.h"
#include "hone/jobs/search/search_report.h"
#include "hone/jobs/search/search_subject.h"
#include "hone/metrics/metric.h"
#include "hone/models/unrounded_weights.h"
#include "hone/passes/pack.h"
#include "hone/search/engine/trial_table.h"
#include "hone/study/result.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

struct NamedSampler {
  const char* name;
  std::unique_ptr<Sampler> (*make)(const SearchJob& job);
};
std::uint64_t sampler_seed(const SearchJob& job) { return job.sampler_seed.value_or(job.seed); }

const NamedSampler kSamplers[] = {
    {"tpe",
     [](const SearchJob& job) {
       return tpe_sampler({.seed = sampler_seed(job), .profile = job.profile});
     }},
    {"random", [](const SearchJob& job) { return random_sampler({.seed = sampler_seed(job)}); }},
    {"grid", [](const SearchJob& job) { return grid_sampler({.seed = sampler_seed(job)}); }},
};

struct NamedPruner {
  const char* name;
  std::unique_ptr<Pruner> (*make)();
};
// A step is an evaluation. Trials have few, so rungs begin with the first.
const NamedPruner kPruners[] = {
    {"none", [] { return no_pruner(); }},
    {"median", [] { return percentile_pruner({}); }},
    {"percentile", [] { return percentile_pruner({.percentile = 25}); }},
    {"asha", [] { return successive_halving_pruner({.min_resource = 1, .reduction_factor = 3}); }},
};

template <typename Named>
std::vector<std::string> names_in(const Named& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

template <typename Named>
const auto& find_named(const Named& table, const std::string& name, const char* setting) {
  for (const auto& row : table)
    if (row.name == name) return row;
  const std::vector<std::string> names = names_in(table);
  fail("`{}`: there is no {}; there are {}{}", setting, name, fmt::join(names, ", "),
       did_you_mean(name, names));
}

SearchRecipe read_search(const SearchJob& job, const Context& context) {
  if (!job.space.empty()) return parse_search_recipe(job.space, "`space`", context.library.formats);
  return parse_search_recipe(read_file(job.recipe), job.recipe, context.library.formats);
}

// The default objective is the task's metric.
void complete_objectives(SearchRecipe& recipe, const TrialSubject& subject) {
  if (!recipe.objectives.empty()) return;
  const Task task = subject.baseline.model.facts.task();
  recipe.objectives = {{parse_formula(metrics(task).front().name), Direction::maximize}};
}

// Pruners need metrics that are known during training.
void check_prunable(const SearchJob& job, const SearchRecipe& recipe, const TrialSubject& subject) {
  if (job.pruner == "none" && job.budget.promote_by == 0) return;
  user_check(recipe.objectives.size() == 1,
             "`pruner`: pruning supports only one objective; leave it out");
  for (const std::string& name : recipe.objectives.front().formula.names())
    user_check(is_known_during_training(name, recipe, subject),
               "`pruner`: {} of the objective is known only when a trial has ended; leave it out",
               name);
  user_check(recipe.training || recipe.train_on,
             "`pruner`: trials without [training] or [train_on] report no intermediate values; "
             "leave it out");
}

std::vector<Direction> directions_of(const SearchRecipe& recipe) {
  std::vector<Direction> directions;
  for (const ObjectiveFormula& objective : recipe.objectives)
    directions.push_back(objective.direction);
  return directions;
}

// Keys in the identity of a study. The sampler's seed is stored only if it differs from that of the search.
constexpr const char* kConcurrency = "concurrency";
constexpr const char* kSamplerSeed = "sampler_seed";

// Returns everything that affects which trials a study runs, and their results.
Json identity_of(const SearchJob& job, const SearchRecipe& recipe, const TrialSubject& subject) {
  Json identity = run_identity(Json::object(), subject.baseline.model.parameters, subject.data);
  identity["recipe"] = recipe.text;
  identity["sampler"] = job.sampler;
  identity["pruner"] = job.pruner;
  identity["seed"] = job.seed;
  if (sampler_seed(job) != job.seed) identity[kSamplerSeed] = sampler_seed(job);
  identity[kConcurrency] = job.concurrency == 0 ? job.workers : job.concurrency;
  identity["asynchronous"] = job.budget.asynchronous;
  if (!subject.computed_by.empty()) identity["computed by"] = subject.computed_by;
  if (!subject.gates.empty()) {
    for (const Gate& gate : subject.gates) identity["gates"].push_back(gate.text);
    identity["trials"] = job.budget.trials;  // verdicts are corrected for this number
  }
  return identity;
}

// Returns the identity of a study without its seed: the same for studies that differ only in the sampler's seed, or in
// the search's seed if none is given for the sampler.
Json family_of(const SearchJob& job, Json identity) {
  // Random weights and split texts depend on the seed.
  for (const char* key :
       {"the model", "the training texts", "the validation texts", "the test texts"})
    identity.erase(key);
  identity.erase(job.sampler_seed ? kSamplerSeed : kSeedAttribute);
  identity["model"] = job.model;
  identity["data"] = job.data.options.source;
  identity["profile"] = to_string(job.profile);
  return identity;
}

void check_same(const Study& study, const Json& identity, const std::string& where) {
  const auto kept = study.user_attributes.find(kIdentityAttribute);
  user_check(kept != study.user_attributes.end() && kept->second.is_object(),
             "{}: study '{}' was not made by `hone search`; give another name with `study`", where,
             study.name);
  std::set<std::string> keys;
  for (const Json* one : {&kept->second, &identity})
    for (const auto& [key, value] : one->items()) keys.insert(key);
  std::string lines;
  for (const std::string& key : keys) {
    const Json &then = value_at(kept->second, key), &now = value_at(identity, key);
    if (then != now)
      lines += fmt::format("\n  {}: {} then, {} now", key, to_line(then), to_line(now));
  }
  user_check(
      lines.empty(),
      "{}: study '{}' has other settings:{}\nGive the same settings, or another name with `study`",
      where, study.name, lines);
}

// Takes the concurrency of the joined study, unless the job gives one; `check_same` rejects a different one.
Json identity_to_join(Json identity, const Study& study, const SearchJob& job) {
  const auto kept = study.user_attributes.find(kIdentityAttribute);
  if (job.concurrency == 0 && kept != study.user_attributes.end() && kept->second.is_object())
    identity[kConcurrency] = value_at(kept->second, kConcurrency);
  return identity;
}

void check_has_work(const Study& study, const Json& identity, const SearchJob& job,
                    const std::string& where) {
  user_check(job.budget.asynchronous || identity.at(kConcurrency) != 1,
             "{}: study '{}' runs one trial at a time, so no process can join it; start it with a "
             "`concurrency` of the number of processes, or with `async`",
             where, study.name);
}

/// A search in progress.
class SearchRun {
 public:
  SearchRun(const SearchJob& job, const TrialSubject& subject, const TrialSpace& space,
            const std::string& where, const Json& identity, Context& context)
      : job_(job),
        subject_(subject),
        space_(space),
        where_(where),
        identity_(identity),
        context_(context),
        objective_(job, subject, space, machine_lock(), context) {}

  // Creates the study, or checks that an existing one is the same.
  void open(bool may_be_there) {
    storage_ = open_storage(where_, /*must_exist=*/job_.join);
    std::optional<Study> study = storage_->find_study(job_.study);
    user_check(!job_.join || study.has_value(), "{}: has no study '{}' to join", where_,
               job_.study);
    user_check(!study || may_be_there,
               "{}: study '{}' exists already; continue it with `resume`, join it with `join`, or "
               "give another name with `study`",
               where_, job_.study);
    if (study) {
      if (job_.join) identity_ = identity_to_join(std::move(identity_), *study, job_);
      check_same(*study, identity_, where_);
      if (job_.join) check_has_work(*study, identity_, job_, where_);
    } else {
      // Measured before the study is created and visible to others, because it takes time and can fail.
      if (!subject_.fresh) baseline_ = baseline();
      study = storage_->create_study(job_.study, directions_of(space_.recipe()), start_of_study());
    }
    study_ = *study;
    if (const auto kept = study_.user_attributes.find(kBaselineAttribute);
        kept != study_.user_attributes.end())
      baseline_ = kept->second;
    if (!job_.join && job_.budget.trials > 0)
      storage_->set_study_attribute(study_.id, AttributeOwner::user, kWantedTrialsAttribute,
                                    job_.budget.trials);
    read();
  }

  SearchEnd run() {
    SearchEnd end = job_.workers > 1 ? run_workers() : run_here();
    read();
    return end;
  }

  StudyView view() const {
    StudyView view{.name = study_.name, .directions = study_.directions, .trials = {}};
    for (const auto& trial : trials_) view.trials.push_back(trial.get());
    return view;
  }
  SearchObjective& objective() { return objective_; }
  /// As in `kBaselineAttribute`.
  const Json& known_baseline() const { return baseline_; }
  void close() { storage_->close(); }

 private:
  // All searches of this user share one lock file.
  static fs::path machine_lock() {
    const fs::path cache = cache_folder();
    if (!cache.empty()) return cache / "search.lock";
    return fs::temp_directory_path() / fmt::format("hone-search-{}.lock", ::getuid());
  }

  void read() { storage_->read_trials(study_.id, trials_); }

  StudyStart start_of_study() const {
    Json names = Json::array();
    for (const ObjectiveFormula& objective : space_.recipe().objectives)
      names.push_back(objective.formula.text());
    StudyStart start{
        .user_attributes = {{kIdentityAttribute, identity_},
                            {kIndexValuesAttribute, space_.index_values()},
                            {kMeasuredOnAttribute, measured_on(subject_.data.measured_choice())},
                            {kFamilyAttribute, family_of(job_, identity_)},
                            {kSeedAttribute, sampler_seed(job_)}},
        .system_attributes = {{kMetricNamesAttribute, names},
                              {"dashboard:objective_names", names}}};
    if (!subject_.fresh) start.user_attributes[kBaselineAttribute] = baseline_;
    for (const Json& point : space_.first_points())
      start.trials.push_back(
          {.state = TrialState::waiting, .system_attributes = {{"fixed_params", point}}});
    return start;
  }

  Json baseline() {
    std::map<std::string, double> metrics = baseline_metrics(subject_, context_);
    if (objective_.measures_latency())
      metrics[kLatencyMetric] = objective_.batch1_latency_ms(subject_.baseline.model);
    Json values = Json::array();
    for (const ObjectiveFormula& objective : space_.recipe().objectives) {
      const std::vector<std::string> names = objective.formula.names();
      values.push_back(std::ranges::all_of(
                           names, [&](const std::string& name) { return metrics.contains(name); })
                           ? Json(objective.formula.value(metrics))
                           : Json());
    }
    return {{"values", values}, {"metrics", Json(metrics)}};
  }

  std::int64_t finished() const { return count_trials(view()).finished(); }

  SearchOptions options() const {
    SearchOptions options = job_.budget;
    options.study = job_.study;
    options.directions = study_.directions;
    options.space = space_.space();
    options.concurrency = identity_[kConcurrency].get<std::int64_t>();
    return options;
  }

  // Estimates the remaining time once, after the first computed trial. `done` is the number of finished trials.
  void report_cost(const Trial& trial, std::int64_t done, Progress& progress) {
    const auto seconds = trial.user_attributes.find(kSecondsAttribute);
    if (cost_told_ || seconds == trial.user_attributes.end() || job_.budget.trials == 0) return;
    cost_told_ = true;
    const double one = seconds->second.get<double>();
    const std::int64_t left = job_.budget.trials - done;
    if (left > 0)
      progress.print_above(fmt::format(
          "a trial took {} s; {} more in {} process{} take about {}", rounded_text(one, 2),
          grouped(left), job_.workers, job_.workers == 1 ? "" : "es",
          clock_text(one * static_cast<double>(left) / static_cast<double>(job_.workers))));
  }

  SearchEnd run_here() {
    const auto sampler = find_named(kSamplers, job_.sampler, "sampler").make(job_);
    const auto pruner = find_named(kPruners, job_.pruner, "pruner").make();
    Progress progress("search", job_.budget.trials,
                      {.unit = "trials", .first = finished(), .output = context_.progress});
    SearchCallbacks callbacks;
    callbacks.on_trial = [&](const Trial& trial, const StudyView& study) {
      const std::int64_t done = count_trials(study).finished();
      report_cost(trial, done, progress);
      if (trial.state == TrialState::fail)
        print_warnings(context_, {fmt::format("trial {} failed: {}", shown_number(trial.number),
                                              failure_of(trial))});
      progress.update(done, best_text(study));
    };
    callbacks.on_warning = [&](const std::string& sentence) {
      print_warnings(context_, {sentence});
    };
    return run_search(
        *storage_, *sampler, *pruner, [&](TrialRun& run) { return objective_(run); }, options(),
        callbacks);
  }

  SearchEnd run_workers() {
    const int threads = std::max(1, context_.pool.threads() / static_cast<int>(job_.workers));
    std::vector<CommandResult> endings(static_cast<std::size_t>(job_.workers));
    std::vector<std::string> failures(endings.size());
    std::atomic<std::size_t> at_work = endings.size();
    std::vector<std::thread> threads_of_workers;
    for (std::size_t i = 0; i < endings.size(); ++i)
      threads_of_workers.emplace_back([&, i] {
        try {
          endings[i] = run_own_command(
              job_.worker_arguments({.number = i, .storage = where_, .threads = threads}),
              fs::current_path());
          if (endings[i].code != 0) failures[i] = endings[i].error;
        } catch (const Error& error) {
          failures[i] = error.what();
        }
        --at_work;
      });
    watch(at_work);
    for (std::thread& thread : threads_of_workers) thread.join();
    stop_if_interrupted();
    return end_of_workers(endings, failures);
  }

  void watch(const std::atomic<std::size_t>& at_work) {
    using namespace std::chrono_literals;
    Progress progress("search", job_.budget.trials,
                      {.unit = "trials", .first = finished(), .output = context_.progress});
    while (at_work > 0) {
      std::this_thread::sleep_for(200ms);
      read();
      const std::int64_t done = finished();
      for (const auto& trial : trials_)
        if (is_finished(trial->state)) report_cost(*trial, done, progress);
      progress.update(done, best_text(view()));
    }
  }

  // The search goes on if a worker dies, and fails if all have died.
  SearchEnd end_of_workers(const std::vector<CommandResult>& endings,
                           const std::vector<std::string>& failures) const {
    std::optional<SearchEnd> end;
    std::string failure;
    for (std::size_t i = 0; i < endings.size(); ++i) {
      if (endings[i].code == 0 && failures[i].empty()) {
        const auto result =
            from_json<JoinedSearchFields>(parse_json(endings[i].output, "the result of a worker"));
        end = {result.ended_by, (end ? end->trials : 0) + result.trials_run};
        continue;
      }
      failure =
          failures[i].empty() ? fmt::format("exited with code {}", endings[i].code) : failures[i];
      print_warnings(context_, {fmt::format("a worker has failed: {}", failure)});
    }
    user_check(end.has_value(), "every worker failed: {}", failure);
    return *end;
  }

  const SearchJob& job_;
  const TrialSubject& subject_;
  const TrialSpace& space_;
  std::string where_;
  Json identity_;
  Context& context_;
  SearchObjective objective_;
  std::unique_ptr<StudyStorage> storage_;
  Study study_;
  TrialTable trials_;
  Json baseline_ = nullptr;
  bool cost_told_ = false;
};

// Writes the model of the best trial as a model folder.
void write_winner(const SearchJob& job, const TrialSubject& subject, const TrialSpace& space,
                  const Trial& best, const TrialModel& made, const fs::path& folder) {
  TextModel model = subject.baseline;
  model.model = made.model;
  if (subject.fresh) model.sentence_folder.clear();
  model.trained_on =
      record_of_trial(job, subject, space.configuration_of(assignment_of(best.parameters)));
  fs::create_directories(folder);
  write_model(model, folder);
  // Packed weights cannot be trained further.
  if (!has_packed_weights(made.model.graph)) write_unrounded(made.unrounded, made.model, folder);
}

JobResult joined(const SearchEnd& end) {
  return {.fields = to_json(JoinedSearchFields{end.reason, end.trials}),
          .document = {.title = "Trials of a joined study",
                       .headline = fmt::format("{} trial{} run; ended by {}", grouped(end.trials),
                                               end.trials == 1 ? "" : "s", enum_name(end.reason))}};
}

}  // namespace

const Fields& fields_of(const FinishedSearch*) {
  using F = FinishedSearch;
  static const Fields fields = describe<F>(
      "finished_search", "A search over compressed versions of a model.", inlined<&F::subject>(),
      field<&F::study>("study", "Name of the study."),
      field<&F::sampler>("sampler", "The sampler that chose the trials."),
      field<&F::pruner>("pruner", "The pruner that stopped hopeless trials."),
      field<&F::seed>("seed", "Seed of the sampler and of every trial."),
      field<&F::seeds>("seeds", Unit::seeds, "Seeds of the result."),
      field<&F::workers>("workers", "Processes that ran trials at once."),
      field<&F::ended_by>("ended_by",
                          "Why the search ended; exhausted: the space has no other candidate."),
      field<&F::trials>("trials", "Trials by state."),
      field<&F::objectives>("objectives", "Objectives, the main one first."),
      field<&F::front>("front", "Trials that no other dominates."),
      field<&F::excluded_by_gates>("excluded_by_gates",
                                   "Complete trials that only the gates exclude, best first."),
      field<&F::dead_parameters>("dead_parameters", "Parameters that have no effect."),
      field<&F::chosen_on>("chosen_on", "The split that choices were made on."));
  return fields;
}

const Fields& fields_of(const SearchWinner*) {
  using S = SearchWinner;
  static const Fields fields = describe<S>(
      "search_winner", "The best trial of a study.",
      field<&S::number>("number", "Number of the trial, from 0."),
      field<&S::runs>("runs", "Runs of its configuration, each with its own seed."),
      field<&S::mean>("mean", "Mean of the first objective over these runs."),
      field<&S::values>("values", "Of the objectives, on the split that choices were made on."),
      field<&S::parameters>("parameters", "Its values by parameter."),
      field<&S::configuration>("configuration", "The full configuration of the trial."),
      field<&S::metrics>("metrics",
                         "Metrics that formulas may use, on the same split; average_bits: per "
                         "weight of linear layers, 32 in full precision; null: not finite."));
  return fields;
}

const Fields& fields_of(const SearchFields*) {
  using S = SearchFields;
  static const Fields fields = describe<S>(
      "search", "A search and its best model.", inlined<&S::search>(),
      field<&S::best>("best", "The trial whose model is in the folder `best`."),
      field<&S::validation>("validation", "Of the best model, on the split that chooses."),
      field<&S::size>("size", "Size of its weights."),
      field<&S::size_before>("size_before", "Size of the baseline's; null: it is not trained."),
      field<&S::times>("times",
                       "Latencies of batches, then of single examples, of the best model packed; "
                       "none: the baseline is not trained."),
      field<&S::threads>("threads", "Threads that were used."),
      field<&S::before>("before",
                        "Of the baseline, on the reported split; null: it is not trained."),
      field<&S::after>("after", "Of the best model, on the reported split."),
      field<&S::comparison>(
          "comparison",
          "The best model compared with the baseline; null: the baseline is not trained."),
      field<&S::degraded_classes>("lost_classes",
                                  "Classes or labels whose recall fell significantly."),
      field<&S::gate>("gate", "Whether the gates hold; null: no gates."),
      field<&S::verdicts>("verdicts", "The errors of its formats; null: it has none."));
  return fields;
}

const Fields& fields_of(const NoWinnerFields*) {
  using N = NoWinnerFields;
  static const Fields fields =
      describe<N>("search_without_winner", "A search in which no trial is shown to pass the gates.",
                  inlined<&N::search>(),
                  field<&N::gate>("gate", "That no trial is shown to pass; it lists no gates."));
  return fields;
}

const Fields& fields_of(const JoinedSearchFields*) {
  using J = JoinedSearchFields;
  static const Fields fields =
      describe<J>("joined_search", "The result of a process that joined a study.",
                  field<&J::ended_by>("ended_by", "Why it ran no more trials."),
                  field<&J::trials_run>("trials_run", "Trials that this process ran."));
  return fields;
}

std::vector<std::string> sampler_names() { return names_in(kSamplers); }
std::vector<std::string> pruner_names() { return names_in(kPruners); }

namespace {

// Says that no trial can be expected to pass the gates; "" if some may.
std::string too_few_trials_sentence(const SearchJob& job, const TrialSubject& subject) {
  if (subject.gates.empty()) return "";
  const BaselineVerdict judged =
      judge_baseline(subject.gates, subject.baseline_measured->view(),
                     truth_of(subject.data.validation), job.budget.trials);
  if (judged.passes) return "";
  return fmt::format("{} Needed: {}.",
                     too_few_sentence(judged, name_and_size(subject.data.measured_choice()),
                                      counted_text(job.budget.trials, "trial")),
                     needed_text(judged, "--trials"));
}

}  // namespace

JobResult search_models(const SearchJob& job, Context& context) {
  SearchRecipe recipe = read_search(job, context);
  Document document{.title = fmt::format("Search over {}", job.model)};
  std::optional<OutputFolder> output;
  if (!job.join) output.emplace(job.output.folder, job.output.resumable({.resume = job.resume}));
  const TrialSubject subject = open_subject(job, recipe, context, document.notes);
  check_recipe(recipe, subject);
  complete_objectives(recipe, subject);
  check_prunable(job, recipe, subject);
  const Json identity = identity_of(job, recipe, subject);
  TrialSpace space(std::move(recipe), [&](const Json& architecture) {
    return linears_of(subject, architecture, context);
  });
  space.set_objection(
      [&](const TrialConfiguration& configuration) { return objection(subject, configuration); });
  space.first_points();  // throws for invalid points before any work
  if (output) {
    Invocation request = job.invocation;
    request.settings.erase("space");
    request.settings["recipe"] = space.recipe().text;  // not its path, whose contents may change
    if (!begin_run(request, subject.baseline.model.parameters, subject.data, *output,
                   /*teacher=*/nullptr, /*bounds=*/{"trials", "timeout", "patience"}))
      return finished<JobResult>(*output, job.output);
  }
  const std::string where =
      job.storage.empty() ? (output->path() / "study.db").string() : job.storage;
  SearchRun run(job, subject, space, where, identity, context);
  run.open(/*may_be_there=*/job.resume || job.join);
  if (job.join) {
    const SearchEnd end = run.run();
    run.close();
    return joined(end);
  }
  SearchFindings findings{.job = job, .subject = subject, .space = space};
  findings.dead = dead_parameters(space, subject, context);
  for (const std::string& name : findings.dead)
    print_warnings(context, {fmt::format("{} has no effect on any model of the space", name)});
  // Warns before time is spent.
  const std::string too_few = too_few_trials_sentence(job, subject);
  if (!too_few.empty()) print_warnings(context, {too_few});
  findings.end = run.run();
  findings.view = run.view();
  findings.baseline = run.known_baseline();
  findings.winner = winner_of(findings.view, job.budget.repeats);
  const auto commit = [&](JobResult result) {
    run.close();
    if (job.storage.empty()) check_is_whole(where);
    output->commit();
    return result;
  };
  if (findings.winner.trial == nullptr && !excluded_by_gates(findings.view).empty())
    return commit(report_no_winner(findings, too_few, std::move(document), *output, context));
  user_check(findings.winner.trial != nullptr,
             "{}: none of {} trials is complete and feasible{}; the study is in {}", job.model,
             count_trials(findings.view).distinct(), first_failure(findings.view), where);
  const TrialModel made = run.objective().model_of(*findings.winner.trial);
  write_winner(job, subject, space, *findings.winner.trial, made, output->path() / "best");
  return commit(report_search(findings, made, std::move(document), *output, context));
}

}  // namespace hone
