#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/fields.h"
#include "hone/base/own_process.h"
#include "hone/base/store.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/pipeline/pipeline_estimate.h"
#include "hone/jobs/pipeline/pipeline_file.h"

/// Runs pipelines. Each stage is a hone command in its own process, which runs in the pipeline's folder, so that paths
/// of other stages are relative to it. Results of stages are cached in a store, by their inputs.
namespace hone {

/// An option of a stage with the values that its command gets.
struct CallOption {
  std::string name;
  int line = 0;
  std::optional<bool> flag = {};
  struct Value {
    std::string text;
    std::string identity = {};  ///< key of another stage's result; empty: the text is literal
  };
  std::vector<Value> values = {};
  bool is_common = false;  ///< left out if the command has no such option
};

/// A parsed command with its options.
struct StageCall {
  std::vector<std::string> arguments;  ///< arguments after `hone`, with the output path
  std::string command_line;            ///< the same for a shell
  /// Everything that affects its result: settings, and fingerprints of all inputs.
  Json identity = Json::object();
  bool writes_folder =
      false;             ///< it writes a job's output folder; otherwise the files in its options
  bool resumes = false;  ///< it can resume after an interruption
  std::vector<std::string> common = {};  ///< options from [common] that it has
};

/// The program's commands, for pipelines.
struct StageCommands {
  /// Parses a command that writes its result to `folder`. Throws `StageError` for an unknown command, one that cannot
  /// be a stage, an unknown option, an invalid value, and a missing model or missing data.
  std::function<StageCall(const std::vector<std::string>& command,
                          const std::vector<CallOption>& options, const std::string& folder)>
      parse;
  /// Runs `hone WORDS` in `folder`.
  std::function<CommandResult(const std::vector<std::string>& arguments, const fs::path& folder)>
      run;
};

/// An error in a stage, with its line in the file; 0: the line of the stage.
class StageError : public UserError {
 public:
  StageError(const std::string& message, int line = 0) : UserError(message), line_(line) {}
  int line() const { return line_; }

 private:
  int line_;
};

struct PipelineFields;

struct PipelineJob {
  Pipeline pipeline;
  JobOutput output;
  bool resume = false;
  fs::path store;                           ///< folder; empty: no cache
  std::vector<std::string> arguments = {};  ///< arguments for every command: {"--threads=2"}
  Invocation invocation = {};
  std::string command = "run";  ///< the hone command that runs this pipeline
  /// Converts its results; null: `to_json`.
  std::function<Json(const PipelineFields&)> results = {};
  /// Inspects model and data, and returns cost estimates of stages. Called before the work, if stages remain. It, or
  /// its result, may be null: no estimates.
  std::function<StageCosts(Context&)> estimate = {};
};

/// A stage before it runs.
struct PlannedStage {
  std::string name;
  std::string command_line;
};
/// The result of `hone run --dry_run`.
struct PipelinePlanFields {
  std::vector<PlannedStage> planned;
};
const Fields& fields_of(const PlannedStage*);
const Fields& fields_of(const PipelinePlanFields*);

/// Parses all stages, without running any, and lists them in order. Throws `UserError` with file and line.
std::vector<PlannedStage> plan_pipeline(const Pipeline& pipeline, const StageCommands& commands);

/// Plans the pipeline, and runs every stage whose result is neither in the store nor, with `resume`, in the folder of
/// an interrupted run. Lists failed gates of stages in `failed_gates` of the fields. Throws `UserError` with file and
/// line of a stage that fails, and keeps the results so far; `Interrupted`.
JobResult run_pipeline(const PipelineJob& job, const StageCommands& commands, Context& context);

}  // namespace hone
