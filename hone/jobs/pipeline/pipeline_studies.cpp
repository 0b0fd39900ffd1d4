#include "hone/jobs/pipeline/pipeline_studies.h"

#include "hone/base/folder_record.h"
#include "hone/base/written_files.h"

namespace hone {
namespace {

constexpr const char* kStudies = "study.db";

void copy_study(const LoadedStudy& from, const std::string& name, StudyStorage& to) {
  StudyStart start{.user_attributes = from.study.user_attributes,
                   .system_attributes = from.study.system_attributes};
  for (const auto& trial : from.trials) start.trials.push_back(*trial);
  to.create_study(name, from.study.directions, start);
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
      // A stage's command creates one study; several could not all be named after the stage.
      if (all.size() == 1)
        studies.emplace(stage.name, read_study(*storage, std::move(all.front())));
      storage->close();
    } else if (stage.kind.searches && joined() != nullptr) {
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
  claim_file(folder / kStudies);
  fs::rename(file, folder / kStudies);
}

void remove_stage_studies(const Pipeline& pipeline, const fs::path& folder) {
  if (!path_exists(folder / kStudies)) return;
  for (const PipelineStage& stage : pipeline.stages) {
    const fs::path own = folder / stage.name;
    std::optional<FolderRecord> record = read_record(own);
    if (!record) continue;
    const bool has_it = record->files.erase(kStudies) > 0;
    if (has_it) write_record(*record, own);
    // If the process is killed in between, the record no longer lists the file.
    if (has_it || stage.kind.searches) fs::remove(own / kStudies);
  }
}

std::string objective_metric(const LoadedStudy& study) {
  const std::string& name = study.shown.objectives.front();
  return name.find_first_of(" +-*/(") == std::string::npos && name != "value" ? name : "";
}

}  // namespace hone
