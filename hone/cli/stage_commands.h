#pragma once

#include "hone/cli/arguments.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// What pipelines must know of the program's commands, as their records say it.
const StageKinds& stage_kinds();

/// The commands of the program as stages of pipelines: what options they have and what these read and write is what they
/// declare (value_kind.h). Paths that a person gives are taken from the current folder.
StageCommands stage_commands();

/// The words that every stage's command gets to compute and to show as `arguments` want it.
std::vector<std::string> words_for_stages(const RunArguments& arguments);

}  // namespace hone
