#pragma once

#include <map>
#include <string>

#include "hone/base/file.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/search/read_study.h"

/// The studies of a pipeline's search stages, collected in one storage, each named after its stage.
namespace hone {

/// Studies by the name of their stage.
using StageStudies = std::map<std::string, LoadedStudy>;

/// Reads the studies in the folders of stages, or from study.db in `folder` after `remove_stage_studies`.
StageStudies read_stage_studies(const Pipeline& pipeline, const fs::path& folder);

/// Writes them to study.db in `folder`, in the order of the stages. The file appears complete, or not at all.
void write_studies(const Pipeline& pipeline, const StageStudies& studies, const fs::path& folder);

/// Removes the studies from the folders of the stages, after `write_studies`.
void remove_stage_studies(const Pipeline& pipeline, const fs::path& folder);

/// Returns the objective of the study if it is a single metric, "accuracy"; "" if it is a formula.
std::string objective_metric(const LoadedStudy& study);

}  // namespace hone
