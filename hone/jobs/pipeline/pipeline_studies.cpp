#include "hone/jobs/pipeline/pipeline_studies.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hone/base/folder_record.h"
#include "hone/jobs/search/study_tables.h"

namespace hone {
namespace {

constexpr const char* kStudies = "study.db";

StageStudy read_study(StudyStorage& storage, Study study) {
  StageStudy read{.study = std::move(study)};
  storage.read_trials(read.study.id, read.trials);
  return read;
}

void copy_study(const StageStudy& from, const std::string& name, StudyStorage& to) {
  const Study study = to.create_study(name, from.study.directions);
  for (const auto& [key, value] : from.study.user_attributes)
    to.set_study_attribute(study.id, AttributeOwner::user, key, value);
  for (const auto& [key, value] : from.study.system_attributes)
    to.set_study_attribute(study.id, AttributeOwner::system, key, value);
  for (const auto& trial : from.trials) to.create_trial(study.id, *trial);
}

}  // namespace

StageStudies read_stage_studies(const Pipeline& pipeline, const fs::path& folder) {
  StageStudies studies;
  std::unique_ptr<StudyStorage> together;
  const auto joined = [&]() -> StudyStorage* {
    if (!together && path_exists(folder / kStudies))
      together = open_storage((folder / kStudies).string(), /*must_exist=*/true);
    return together.get();
  };
  for (const PipelineStage& stage : pipeline.stages) {
    const fs::path own = folder / stage.name / kStudies;
    if (path_exists(own)) {
      const auto storage = open_storage(own.string(), /*must_exist=*/true);
      std::vector<Study> all = storage->studies();
      // A stage's command makes one; the name of another would be nobody's.
      if (all.size() == 1)
        studies.emplace(stage.name, read_study(*storage, std::move(all.front())));
      storage->close();
    } else if (has_study(stage) && joined() != nullptr) {
      if (std::optional<Study> kept = joined()->find_study(stage.name))
        studies.emplace(stage.name, read_study(*joined(), std::move(*kept)));
    }
  }
  return studies;
}

void write_studies(const Pipeline& pipeline, const StageStudies& studies, const fs::path& folder) {
  if (studies.empty()) return;
  const ScratchFolder scratch(folder / kStudies);
  const fs::path file = scratch.path() / kStudies;
  const auto storage = open_storage(file.string());
  for (const PipelineStage& stage : pipeline.stages)
    if (const auto study = studies.find(stage.name); study != studies.end())
      copy_study(study->second, stage.name, *storage);
  storage->close();
  fs::rename(file, folder / kStudies);
}

void give_up_studies(const Pipeline& pipeline, const fs::path& folder) {
  if (!path_exists(folder / kStudies)) return;
  for (const PipelineStage& stage : pipeline.stages) {
    const fs::path own = folder / stage.name;
    std::optional<FolderRecord> record = read_record(own);
    if (!record) continue;
    const bool has_it = record->files.erase(kStudies) > 0;
    if (has_it) write_record(*record, own);
    // A kill in between leaves a file that the record does not name.
    if (has_it || has_study(stage)) fs::remove(own / kStudies);
  }
}

std::string objective_figure(const StageStudy& study) {
  const auto names = study.study.system_attributes.find(kMetricNamesAttribute);
  if (names == study.study.system_attributes.end() || !names->second.is_array() ||
      names->second.empty() || !names->second.front().is_string())
    return "";
  const std::string name = names->second.front().get<std::string>();
  return name.find_first_of(" +-*/(") == std::string::npos ? name : "";
}

std::vector<TrialOnTheWay> trials_on_the_way(const StageStudy& study) {
  std::vector<TrialOnTheWay> way;
  std::set<std::int64_t> run_again;
  for (const auto& trial : study.trials)
    if (const auto number = number_in(trial->system_attributes, "failed_trial"))
      run_again.insert(*number);
  const Direction direction = study.study.directions.front();
  const Trial* best = nullptr;
  for (const auto& trial : study.trials) {
    if (!is_finished(trial->state) || is_repetition(*trial)) continue;
    if (trial->state == TrialState::fail && run_again.contains(trial->number)) continue;
    const bool counts = trial->state == TrialState::complete && trial->violation() <= 0;
    if (counts && (best == nullptr || loss_of(trial->values.front(), direction) <
                                          loss_of(best->values.front(), direction)))
      best = trial.get();
    way.push_back({trial.get(), best});
  }
  return way;
}

double trial_value(const Trial& trial, const std::string& name) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (name == "value") return trial.values.empty() ? kNone : trial.values.front();
  const auto figures = trial.user_attributes.find(kFiguresAttribute);
  if (figures == trial.user_attributes.end()) return kNone;
  const Json& figure = value_at(figures->second, name);
  return figure.is_number() ? figure.get<double>() : kNone;
}

std::optional<std::int64_t> trials_until(const StageStudy& study, double best, double within) {
  // As far as rounding allows: 0.85 - 0.845 is more than 0.005 in doubles.
  const double margin = within + 1e-9 * std::max(1.0, std::abs(best));
  std::int64_t count = 0;
  for (const TrialOnTheWay& one : trials_on_the_way(study)) {
    ++count;
    if (one.best != nullptr && std::abs(one.best->values.front() - best) <= margin) return count;
  }
  return std::nullopt;
}

}  // namespace hone
