#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/search/engine/trial_table.h"

/// The studies of a pipeline whose stages search: all of them in one storage, each by the name of its stage.
namespace hone {

/// A study as a stage has left it.
struct StageStudy {
  Study study;
  TrialTable trials = {};
};
/// By the names of their stages.
using StageStudies = std::map<std::string, StageStudy>;

/// The studies in the folders of stages; of those that have given theirs up before (`give_up_studies`) what study.db in `folder` has.
StageStudies read_stage_studies(const Pipeline& pipeline, const fs::path& folder);

/// Writes them to study.db in `folder`, in the order of the stages: it appears whole and closed. None: no file.
void write_studies(const Pipeline& pipeline, const StageStudies& studies, const fs::path& folder);

/// Removes the studies from the folders of the stages, once they stand together.
void give_up_studies(const Pipeline& pipeline, const fs::path& folder);

/// What the objective of the study is, where that is a single figure: "accuracy"; "" where it is a formula of more.
std::string objective_figure(const StageStudy& study);

/// A finished trial of a study, and the best one up to it, by the first objective.
struct TrialOnTheWay {
  const Trial* trial;
  const Trial* best;  ///< null: none is complete and feasible yet
};
/// By number, without those that repeat others with another seed, and those that were interrupted and run again: how many they are does
/// not depend on where a search was killed.
std::vector<TrialOnTheWay> trials_on_the_way(const StageStudy& study);

/// "value": the first objective of a trial; else a figure of the trial. NaN: it has none.
double trial_value(const Trial& trial, const std::string& name);

/// How many trials it took until the best so far lay no further than `within` from `best`. None: it never did.
std::optional<std::int64_t> trials_until(const StageStudy& study, double best, double within);

}  // namespace hone
