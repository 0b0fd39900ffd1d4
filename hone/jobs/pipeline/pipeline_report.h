#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hone/jobs/pipeline/pipeline.h"
#include "hone/jobs/pipeline/pipeline_claims.h"
#include "hone/jobs/pipeline/pipeline_studies.h"
#include "hone/study/gates.h"

namespace hone {

/// The origin of a stage's result.
enum class StageState {
  computed,     ///< in this run
  done_before,  ///< by the interrupted run that this one resumes
  stored,       ///< by another run, from the store
};
std::span<const EnumName> enum_names(StageState state);

/// The outcome of a stage.
struct StageOutcome {
  std::string key = {};
  std::string command_line = {};  ///< as it was run, in the pipeline's folder
  int code = 0;                   ///< exit code; 3: its gate did not pass
  std::string failure = {};       ///< its error message
  Json result = nullptr;          ///< output of its command
  double seconds = 0;             ///< duration of its computation
  std::int64_t peak_bytes = 0;    ///< peak of the resident memory
  /// Its own prediction of the peak; 0: none.
  std::int64_t predicted_bytes = 0;
  std::vector<std::string> warnings = {};  ///< printed by its command
  std::string computed = {};               ///< time of computation, in UTC
  StageState state = StageState::computed;
  std::string chosen_stage = {};  ///< the stage that references to it resolve to
  std::string chosen_key = {};    ///< the key of that stage
};

/// The stored state of a finished stage.
struct StageRecord {
  std::string key, command_line;
  int exit_code = 0;
  std::optional<std::string> failure = {};
  std::string computed = {};
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::optional<std::int64_t> predicted_bytes = {};
  std::vector<std::string> warnings = {};
  Json result = {};
};
StageRecord stage_record(const StageOutcome& outcome);

/// A stage in results.
struct PipelineStageResult {
  std::string stage, command;
  std::vector<std::pair<std::string, std::string>> setting = {};
  StageState state = StageState::computed;
  std::string chosen_stage = {};
  StageRecord record = {};
};

/// An option whose value is a result of a stage, and the stages that use it.
struct UsedFinding {
  std::string option, value, from, path;
  bool is_found = true;  ///< otherwise the value is the pipeline's default
  std::string why = {};  ///< the stage's explanation; may be empty
  std::vector<std::string> stages = {};

  std::string sentence() const;
};

/// The machine-readable result of a pipeline.
struct PipelineFields {
  std::string pipeline, title;
  std::string question = {};  ///< the question that the report answers; may be empty
  std::string summary = {};
  std::map<std::string, std::string> settings = {};
  std::vector<std::string> why = {};  ///< paragraphs that explain the result
  std::vector<ClaimResult> claims = {};
  std::vector<std::pair<std::string, std::vector<Json>>> tables = {};
  std::vector<PipelineStageResult> stages = {};
  std::vector<std::string> failed_gates = {};
  std::vector<UsedFinding> used_findings = {};
  std::vector<std::string> notes = {};

  /// Lists the stages whose gates did not pass, with these gates: "pruned: recall(tech)>=-1 failed".
  std::string failed_gates_text() const;
};
const Fields& fields_of(const StageRecord*);
const Fields& fields_of(const PipelineStageResult*);
const Fields& fields_of(const UsedFinding*);
const Fields& fields_of(const PipelineFields*);

/// Draws the figures, judges the claims and writes the report of a pipeline whose stages are done into `folder`, which
/// contains their studies.
JobResult write_pipeline_report(const PipelineJob& job, const std::vector<StageOutcome>& outcomes,
                                const StageStudies& studies, const fs::path& folder,
                                const Context& context);

}  // namespace hone
