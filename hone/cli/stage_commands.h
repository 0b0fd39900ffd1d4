#pragma once

#include "hone/cli/arguments.h"
#include "hone/jobs/pipeline/pipeline.h"

namespace hone {

/// Returns the properties of all commands that pipelines need, as their records declare them.
const StageKinds& stage_kinds();

/// Returns the commands as stages of pipelines. Their options, and the paths that these read and write, are those that
/// they declare (hone/jobs/value_kinds.h). Relative paths refer to the current folder.
StageCommands stage_commands();

/// Passes the options of `rows` on the command line to every stage that `takes` accepts (empty: all). They override the
/// pipeline's [common] options, but not a stage's own. Commands without such an option ignore it.
void forward_options(
    Pipeline& pipeline, const Options& rows, const CLI::App& app,
    const std::function<bool(const PipelineStage& stage, const std::string& option)>& takes = {});

/// Returns the words for threads and output that every stage's command gets.
std::vector<std::string> stage_arguments(const RunArguments& arguments);

}  // namespace hone
