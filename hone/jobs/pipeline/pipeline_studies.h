#pragma once

#include <map>
#include <string>

#include "hone/base/file.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/jobs/search/read_study.h"

/// The studies of a pipeline whose stages search: all of them in one storage, each by the name of its stage.
namespace hone {

/// By the names of their stages.
using StageStudies = std::map<std::string, ReadStudy>;

/// The studies in the folders of stages; of those that have given theirs up before (`give_up_studies`) what study.db in `folder` has.
StageStudies read_stage_studies(const Pipeline& pipeline, const fs::path& folder);

/// Writes them to study.db in `folder`, in the order of the stages: it appears whole and closed. None: no file.
void write_studies(const Pipeline& pipeline, const StageStudies& studies, const fs::path& folder);

/// Removes the studies from the folders of the stages, once they stand together.
void give_up_studies(const Pipeline& pipeline, const fs::path& folder);

/// What the objective of the study is, where that is a single figure: "accuracy"; "" where it is a formula of more.
std::string objective_figure(const ReadStudy& study);

}  // namespace hone
