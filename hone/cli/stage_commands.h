#pragma once

#include "hone/cli/arguments.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// What pipelines must know of the program's commands, as their records say it.
const StageKinds& stage_kinds();

/// The commands of the program as stages of pipelines: what options they have and what these read and write is what they
/// declare (value_kind.h). Paths that a person gives are taken from the current folder.
StageCommands stage_commands();

/// Hands the options of `rows` that were given on the command line to every stage that `takes` them (none: to all), as the pipeline's
/// [common] options would be: they replace those, a stage's own option stays, and commands that do not have them go without.
void hand_on(
    Pipeline& pipeline, const Options& rows, const CLI::App& app,
    const std::function<bool(const PipelineStage& stage, const std::string& option)>& takes = {});

/// The words that every stage's command gets to compute and to show as `arguments` want it.
std::vector<std::string> words_for_stages(const RunArguments& arguments);

}  // namespace hone
