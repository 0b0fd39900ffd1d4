#include "hone/jobs/search/study.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "hone/base/interrupt.h"
#include "hone/base/output_folder.h"
#include "hone/base/text.h"
#include "hone/jobs/search/read_study.h"
#include "hone/jobs/search/study_comparison.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/report/crowded_figure.h"
#include "hone/report/document.h"
#include "hone/search/storage/optuna_export.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kShownParameters = 20;

// Names the study of search/tpe-1/study.db "search/tpe-1", followed by its own name if the file contains several.
void name_by_folder(std::vector<LoadedStudy>& studies, const std::string& storage) {
  const std::string folder = fs::path(storage).parent_path().string();
  for (LoadedStudy& study : studies) {
    std::string& name = study.shown.view.name;
    if (studies.size() > 1 || folder.empty())
      name = (fs::path(folder) / name).string();
    else
      name = folder;
    study.study.name = name;
  }
}

// Returns the name for titles.
std::string title_name(const StudyJob& job) {
  return job.storage.empty() ? job.others.front() : job.storage;
}

std::vector<LoadedStudy> read_all_storages(const StudyJob& job) {
  std::vector<LoadedStudy> read;
  std::vector<std::string> files = job.others;
  if (!job.storage.empty()) files.insert(files.begin(), job.storage);
  for (const std::string& file : files) {
    const auto storage = open_storage(current_storage_path(file), /*must_exist=*/true);
    std::vector<LoadedStudy> own = read_studies(
        *storage, file, file == job.storage ? job.studies : std::vector<std::string>{});
    storage->close();
    name_by_folder(own, file);
    std::ranges::move(own, std::back_inserter(read));
  }
  return read;
}

// "maximize accuracy"
std::string objective_text(const LoadedStudy& study) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < study.study.directions.size(); ++i)
    parts.push_back(
        fmt::format("{} {}", enum_name(study.study.directions[i]), study.shown.objectives[i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string first_time(const LoadedStudy& study) {
  std::string first;
  for (const auto& trial : study.trials)
    if (!trial->start.empty() && (first.empty() || trial->start < first)) first = trial->start;
  return first;
}

// "2026-11-25 03:00"
std::string to_minute(const std::string& time) { return time.substr(0, 16); }

std::optional<std::string> time_or_nothing(const std::string& time) {
  return time.empty() ? std::nullopt : std::optional(time);
}

StudyResult study_result(const LoadedStudy& study) {
  StudyResult result{.study = study.study.name,
                     .objectives = objective_results(study.shown),
                     .trials = count_trials(study.shown.view),
                     .start = time_or_nothing(first_time(study)),
                     .last_activity = time_or_nothing(last_time(study)),
                     .front = numbers_of(pareto_front(study.shown.view)),
                     .importances = study.shown.importances};
  if (const Trial* best = best_of_single_objective(study.shown.view))
    result.best = {best->number, best->values[0], shown_values(study.shown, *best)};
  return result;
}

/// A trial in an exported file.
struct ExportedTrial {
  std::int64_t number = -1;
  TrialState state = TrialState::complete;
  std::vector<double> values = {};
  Json parameters = {};
  std::optional<std::string> start = {}, end = {};
  std::map<std::string, Json> user_attributes = {}, system_attributes = {};
};
const Fields& fields_of(const ExportedTrial*) {
  using E = ExportedTrial;
  static const Fields fields = describe<E>(
      "exported_trial", "A trial of an exported study.",
      field<&E::number>("number", "Its number, from 0."), field<&E::state>("state", "Its state."),
      field<&E::values>("values", "Of the objectives; none unless it is complete."),
      field<&E::parameters>("parameters", "Its values by parameter."),
      field<&E::start>("start", Unit::utc, "When it began; null: it has not."),
      field<&E::end>("end", Unit::utc, "When it ended; null: it has not."),
      field<&E::user_attributes>("user_attributes", "As Optuna stores them."),
      field<&E::system_attributes>("system_attributes", "As Optuna stores them."));
  return fields;
}

/// An exported file.
struct ExportedStudy {
  StudyResult study;
  std::vector<ExportedTrial> all_trials = {};
};
const Fields& fields_of(const ExportedStudy*) {
  using E = ExportedStudy;
  static const Fields fields =
      describe<E>("exported_study", "A study with all its trials.", inlined<&E::study>(),
                  field<&E::all_trials>("all_trials", "By number."));
  return fields;
}

Cell best_cell(const LoadedStudy& study) {
  const Trial* best = best_of_single_objective(study.shown.view);
  return best == nullptr ? Cell(absent) : Cell(real(best->values[0], kObjectiveDigits));
}

double seconds_of(const LoadedStudy& study) {
  double seconds = 0;
  for (const auto& trial : study.trials)
    if (const double one = seconds_of(*trial); std::isfinite(one)) seconds += one;
  return seconds;
}

Table table_of(const std::vector<LoadedStudy>& studies) {
  Table table({{"study", "Study"},
               {"aim", "Aim"},
               {"best", "Best"},
               {"best_trial", "Best trial"},
               {"trials", "Trials"},
               {"complete", "Complete"},
               {"cached", "From cache"},
               {"pruned", "Stopped early"},
               {"failed", "Failed"},
               {"running", "Running"},
               {"waiting", "Waiting"},
               {"seconds", "Seconds"},
               {"last_activity", "Last activity (UTC)"}});
  for (const LoadedStudy& study : studies) {
    const TrialCounts counts = count_trials(study.shown.view);
    const Trial* best = best_of_single_objective(study.shown.view);
    table.add_row({study.study.name, objective_text(study), best_cell(study),
                   best == nullptr ? Cell(absent) : Cell(shown_number(best->number)),
                   counts.distinct(), counts.complete, counts.cached, counts.pruned,
                   counts.failed - counts.run_again, counts.running, counts.waiting,
                   real(seconds_of(study), 1), to_minute(last_time(study))});
  }
  return table;
}

Table importance_table(const LoadedStudy& study) {
  Table table({{"parameter", "Parameter"}, {"importance", "Importance"}});
  for (const ParameterImportance& importance : study.shown.importances) {
    if (table.rows().size() >= kShownParameters) break;
    table.add_row({importance.name, percent(importance.share, kRoughShareDigits)});
  }
  return table;
}

// The study chose by these values, so they are optimistic.
constexpr std::string_view kOptimistic =
    "Values are those that the study optimizes, so the best of many trials is partly lucky.";

std::string optimism_text(const LoadedStudy& study) {
  return fmt::format("{} {}", kOptimistic, certainty_text(study.shown));
}

// Says what the importances measure, and whether there are enough trials.
std::string importance_text(const LoadedStudy& study) {
  const std::int64_t trials = count_trials(study.shown.view).complete, best = (trials + 9) / 10;
  constexpr std::int64_t kEnough = 5;  // from Optuna's documentation of PED-ANOVA
  return fmt::format(
      "Importance for being among the best 10% of {} complete trials (PED-ANOVA): {} trial{}.{}",
      grouped(trials), grouped(best), best == 1 ? "" : "s",
      best < kEnough ? fmt::format(" With fewer than {} it is unreliable.", kEnough) : "");
}

void check_comparable(const std::vector<LoadedStudy>& studies) {
  for (const LoadedStudy& study : studies)
    user_check(
        !study.shown.view.has_several_objectives() && study.direction() == studies[0].direction(),
        "studies are compared by the best value so far: '{}' is to {}, '{}' to {}; name studies "
        "with one objective and the same direction",
        studies[0].study.name, objective_text(studies[0]), study.study.name, objective_text(study));
}

void export_trials(const LoadedStudy& study, const std::string& file) {
  if (file.ends_with(".csv")) return write_file(file, to_csv(all_trials(study.shown)));
  ExportedStudy exported{.study = study_result(study)};
  for (const auto& trial : study.trials)
    exported.all_trials.push_back({.number = trial->number,
                                   .state = trial->state,
                                   .values = trial->values,
                                   .parameters = shown_values(study.shown, *trial),
                                   .start = time_or_nothing(trial->start),
                                   .end = time_or_nothing(trial->end),
                                   .user_attributes = trial->user_attributes,
                                   .system_attributes = trial->system_attributes});
  write_file(file, to_document(to_json(exported)));
}

std::vector<DescribedStudy> shown_of(const std::vector<LoadedStudy>& studies) {
  std::vector<DescribedStudy> shown;
  for (const LoadedStudy& study : studies) shown.push_back(study.shown);
  return shown;
}

constexpr const char* kReach =
    "Studies that differ only in their seed share a row: the median (smallest to largest). There "
    "are no confidence intervals: seeds are few, and the best of a study is its luckiest trial.";

// Returns the candidates of `hone shrink`; else the best trials, or all complete ones if none is within the limits.
PageTable trials_of(const DescribedStudy& shown) {
  if (const std::vector<const Trial*> candidates = shrink_candidates(shown); !candidates.empty())
    return {trials_table(shown, candidates),
            "All candidates. Within limits: shown by all gates, corrected for all evaluations."};
  Table best = best_trials(shown);
  if (best.rows().empty())
    return {trials_table(shown, complete_trials(shown)),
            "Complete trials; none is shown to be within the limits."};
  return {std::move(best),
          shown.view.has_several_objectives() ? "The Pareto front." : "The best trials."};
}

// Describes one study: its best trials, and the importance of its parameters.
void describe_study(const LoadedStudy& study, Document& document) {
  const DescribedStudy& shown = study.shown;
  const TrialCounts counts = count_trials(shown.view);
  document.title = study.study.name;
  document.headline = headline_of(shown);
  document.key_figures = {{"Objective", objective_text(study)}, {"Trials", to_text(counts)}};
  if (const Trial* best = best_of_single_objective(shown.view))
    document.key_figures.push_back({"Best parameters", values_text(shown, *best)});
  document.evidence = optimism_text(study);
  if (counts.complete == 0) return;
  document.sections = {{"", {trials_of(shown)}}};
  constexpr std::int64_t kFewestForImportance = 10;  // fewer trials have no best 10%
  if (counts.complete >= kFewestForImportance && !shown.importances.empty())
    document.sections.push_back(
        {"Importance of parameters", {PageTable{importance_table(study), importance_text(study)}}});
}

// Describes several studies; with families, how soon each found good trials.
void describe_studies(const std::vector<LoadedStudy>& studies,
                      const std::vector<StudyFamily>& families,
                      const std::optional<StudyLeader>& leader, const std::string& title,
                      Document& document) {
  document.title = title;
  document.headline =
      fmt::format("{} stud{} in {}", studies.size(), studies.size() == 1 ? "y" : "ies", title);
  if (families.empty()) {
    document.sections = {{"", {PageTable{table_of(studies)}}}};
    return;
  }
  document.evidence = std::string(kOptimistic);
  if (leader) {
    const std::size_t caution = leader->summary.rfind(". ") + 2;
    document.headline = leader->summary.substr(0, caution - 2);
    document.evidence = fmt::format("{} {}", leader->summary.substr(caution), kOptimistic);
  }
  document.sections = {{"", {PageTable{comparison_table(families), kReach}}},
                       {"Each study", {PageTable{table_of(studies)}}}};
}

// Adds figures to the document, and writes it with them and a table of trials or studies.
void write_study_report(const StudyJob& job, const std::vector<LoadedStudy>& studies,
                        const std::vector<StudyFamily>& families, Document& document,
                        const Context& context) {
  OutputFolder folder(job.output.folder, job.output.options());
  std::vector<std::string> figure_notes;
  Section figures{"Figures", {}};
  const auto add = [&](const Figure& drawn, const std::string& name, std::string description) {
    figures.blocks.push_back(figure_block(drawn, folder.path() / name, description, figure_notes));
  };
  if (families.empty()) {
    for (const StudyFigure& figure : study_figures(studies[0].shown))
      add(figure.figure, std::string(figure.name), std::string(figure.description));
    write_file(folder.path() / "trials.csv", to_csv(all_trials(studies[0].shown)));
  } else {
    const Figure figure = compared_histories(families);
    add(figure, "optimization_history", "The best value so far of each study.");
    if (const std::optional<Figure> zoomed = zoomed_to_crowd(figure))
      add(*zoomed, "optimization_history_zoom", "The best value so far of each study.");
    write_file(folder.path() / "studies.csv", to_csv(table_of(studies)));
  }
  document.sections.push_back(std::move(figures));
  write_file(folder.path() / "report.html", to_html(document));
  folder.commit();
  print_warnings(context, figure_notes);
  document.output = job.output.folder;
}

void check_outputs(const StudyJob& job) {
  if (!job.export_file.empty()) {
    user_check(job.export_file.ends_with(".csv") || job.export_file.ends_with(".json"),
               "{}: expected a .csv or .json file", job.export_file);
    user_check(!fs::exists(job.storage) || !fs::exists(job.export_file) ||
                   !fs::equivalent(job.storage, job.export_file),
               "{}: is the storage itself", job.export_file);
    check_output_file(job.export_file, job.output.overwrite);
  }
  const bool acts = job.remove || !job.export_file.empty() || !job.for_optuna_3_1.empty();
  user_check(!acts || job.others.empty(),
             "studies are exported, copied and deleted from one storage; leave out `beside`");
  const bool one = job.studies.size() == 1;
  user_check(one || job.export_file.empty(), "{}: name the one study to export", job.export_file);
  user_check(one || !job.remove, "name the one study to delete");
}

// Returns sentences about what was exported, copied and deleted.
std::vector<std::string> done_sentences(const StudyJob& job, bool removed) {
  std::vector<std::string> sentences;
  if (!job.export_file.empty())
    sentences.push_back(fmt::format("Trials written to {}", job.export_file));
  if (!job.for_optuna_3_1.empty())
    sentences.push_back(
        fmt::format("Copy for Optuna 3.0 and 3.1 written to {}", job.for_optuna_3_1));
  if (job.remove)
    sentences.push_back(removed ? fmt::format("Study '{}' with its trials deleted from {}",
                                              job.studies[0], job.storage)
                                : fmt::format("Study '{}' was not deleted", job.studies[0]));
  return sentences;
}

bool confirm_removal(const StudyJob& job, const LoadedStudy& study) {
  return !job.confirm_removal ||
         job.confirm_removal(fmt::format("Delete study '{}' with its {} trials from {}?",
                                         study.study.name, grouped(std::ssize(study.trials)),
                                         job.storage));
}

}  // namespace

const Fields& fields_of(const StudyBest*) {
  using S = StudyBest;
  static const Fields fields =
      describe<S>("study_best", "The best trial of a study.",
                  field<&S::number>("number", "Number of the trial, from 0."),
                  field<&S::value>("value", "Of the objective."),
                  field<&S::parameters>("parameters", "Its values by parameter."));
  return fields;
}

const Fields& fields_of(const StudyResult*) {
  using S = StudyResult;
  static const Fields fields = describe<S>(
      "study_row", "A study in a storage.", field<&S::study>("study", "Its name."),
      field<&S::objectives>("objectives", "What it minimizes or maximizes."),
      field<&S::trials>("trials", "Trials by state."),
      field<&S::start>("start", Unit::utc, "When its first trial began; null: none has."),
      field<&S::last_activity>("last_activity", Unit::utc,
                               "When a trial last began or ended; null: none has."),
      field<&S::best>("best",
                      "The best complete and feasible trial; null: none, or several objectives."),
      field<&S::front>("front", "Trials that no other dominates."),
      field<&S::importances>("importances",
                             "Importance of the parameters for reaching the best 10% of the trials "
                             "(PED-ANOVA), largest first; none with fewer than two complete "
                             "trials."));
  return fields;
}

const Fields& fields_of(const StudyFields*) {
  using S = StudyFields;
  static const Fields fields = describe<S>(
      "study", "Studies in a storage.", field<&S::storage>("storage", "As it was given."),
      field<&S::studies>("studies", "The studies that were named, or all."),
      field<&S::deleted>("deleted", "Whether the study was deleted after it was read."),
      field<&S::families>("families",
                          "The studies grouped: those that differ only in their seed are one "
                          "family; null: studies were not compared."),
      field<&S::leader>("leader",
                        "The first family within 0.005 of the best value of all; null: studies "
                        "were not compared, or none has a best trial."));
  return fields;
}

JobResult manage_studies(const StudyJob& job, const Context& context) {
  check_outputs(job);
  std::unique_ptr<StudyStorage> storage;
  if (job.others.empty())
    storage = open_storage(current_storage_path(job.storage), /*must_exist=*/true);
  std::vector<LoadedStudy> studies =
      storage ? read_studies(*storage, job.storage, job.studies) : read_all_storages(job);
  for (LoadedStudy& study : studies) find_importances(study.shown);
  const bool compared =
      !job.others.empty() ||
      (studies.size() > 1 && (!job.studies.empty() || !job.output.folder.empty()));
  if (compared) check_comparable(studies);
  user_check(!studies.empty() || (job.output.folder.empty() && !compared),
             "{}: there is no study to report", title_name(job));
  const std::vector<DescribedStudy> shown = shown_of(studies);
  const std::vector<StudyFamily> families =
      compared ? families_of(shown) : std::vector<StudyFamily>();
  const std::optional<StudyLeader> leader =
      compared ? leader_of(families) : std::optional<StudyLeader>();
  JobResult result;
  Document& document = result.document;
  const bool shows_one =
      !compared && studies.size() == 1 && (!job.studies.empty() || !job.output.folder.empty());
  const bool only_acts = job.output.folder.empty() &&
                         (job.remove || !job.export_file.empty() || !job.for_optuna_3_1.empty());
  if (only_acts)
    document.title = title_name(job);
  else if (shows_one)
    describe_study(studies[0], document);
  else
    describe_studies(studies, families, leader, title_name(job), document);
  if (!job.output.folder.empty()) write_study_report(job, studies, families, document, context);
  if (!job.export_file.empty()) export_trials(studies[0], job.export_file);
  const bool removes = job.remove && confirm_removal(job, studies[0]);
  if (removes) storage->delete_study(studies[0].study.id);
  if (storage) storage->close();
  if (!job.for_optuna_3_1.empty())
    export_for_optuna_3_1(current_storage_path(job.storage), job.for_optuna_3_1);
  StudyFields fields{.storage = title_name(job), .deleted = removes, .leader = leader};
  for (const LoadedStudy& study : studies) fields.studies.push_back(study_result(study));
  if (compared) fields.families = family_results(families);
  result.fields = to_json(fields);
  const std::vector<std::string> done = done_sentences(job, removes);
  if (only_acts)
    document.headline = fmt::format("{}", fmt::join(done, "; "));
  else
    for (const std::string& sentence : done)
      document.sections.push_back({"", {Paragraph{sentence + "."}}});
  return result;
}

}  // namespace hone
