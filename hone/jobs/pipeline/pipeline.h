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

/// Runs pipelines. Each stage is a command of the program in a process of its own, in the pipeline's folder, with the paths of
/// other stages as they are in it. What a stage has left is kept in a store, by what it was made from.
namespace hone {

/// An option of a stage with its values, as its command gets them.
struct CallOption {
  std::string name;
  int line = 0;
  std::optional<bool> flag = {};
  struct Value {
    std::string text;
    std::string identity = {};  ///< of what another stage has left; empty: the text is a person's
  };
  std::vector<Value> values = {};
  bool is_common = false;  ///< left out where the command has no such option
};

/// A command with its options, understood.
struct StageCall {
  std::vector<std::string> words;  ///< behind `hone`, where it writes among them
  std::string command_line;        ///< the same for a shell
  /// What decides on its result: settings, and fingerprints of all that it reads.
  Json identity = Json::object();
  bool leaves_folder =
      false;             ///< it writes a folder of a job; otherwise the files that its options name
  bool resumes = false;  ///< it can go on where it was interrupted
  std::vector<std::string> common = {};  ///< options of all stages that it has
};

/// What the program's commands are to a pipeline.
struct StageCommands {
  /// Understands a command whose result is to be `folder`. Throws `StageError`: no such command, or none for a stage, an
  /// option that it has not, a value that it refuses, a model or data that are not there.
  std::function<StageCall(const std::vector<std::string>& command,
                          const std::vector<CallOption>& options, const std::string& folder)>
      understand;
  /// Runs `hone WORDS` in `folder`.
  std::function<CommandEnding(const std::vector<std::string>& words, const fs::path& folder)> run;
};

/// What is wrong with a stage, and in which line of the file; 0: that of the stage.
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
  fs::path store;                       ///< folder; empty: nothing is kept or taken
  std::vector<std::string> words = {};  ///< for every command: {"--threads=2"}
  Invocation invocation = {};
  std::string command = "run";  ///< whose results these are
  /// Writes its results; null: `to_json`.
  std::function<Json(const PipelineFields&)> results = {};
  /// Looks at model and data, and says what stages will take; asked before the work where stages are left. It, or what it
  /// gives, may be null: nobody can tell.
  std::function<StageCosts(Context&)> estimate = {};
};

/// A stage before it runs, as far as that can be told.
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

/// Understands all stages, without running any, and lists them in their order. Throws `UserError` with file and line.
std::vector<PlannedStage> plan_pipeline(const Pipeline& pipeline, const StageCommands& commands);

/// Plans the pipeline, and runs every stage whose result is neither in the folder of an interrupted run, with `resume`, nor in the
/// store. Failed gates of stages are listed in `failed_gates` of the fields. Throws `UserError` with file and line of a stage that
/// fails, and keeps the results so far; `Interrupted`.
JobResult run_pipeline(const PipelineJob& job, const StageCommands& commands, Context& context);

}  // namespace hone
