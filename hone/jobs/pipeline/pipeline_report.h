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

/// Where the result of a stage comes from.
enum class StageState {
  computed,     ///< in this run
  done_before,  ///< by the interrupted run that this one goes on with
  stored,       ///< by another run, from the store
};
std::span<const EnumWord> enum_words(StageState state);

/// What a stage has come to.
struct StageOutcome {
  std::string key = {};
  std::string command_line = {};  ///< as it was run, in the pipeline's folder
  int code = 0;                   ///< exit code; 3: its gate did not pass
  std::string failure = {};       ///< its message
  Json result = nullptr;          ///< what its command printed
  double seconds = 0;             ///< when it was computed
  std::int64_t peak_bytes = 0;    ///< most resident memory then
  /// The most that it predicted to hold before it did; 0: it predicted nothing.
  std::int64_t predicted_bytes = 0;
  std::vector<std::string> warnings = {};  ///< that its command told people then
  std::string computed = {};               ///< when, in UTC
  StageState state = StageState::computed;
  std::string stands_for = {};      ///< the stage whose folder it is to others
  std::string stands_for_key = {};  ///< that one's key
};

/// What is kept of a stage that is done.
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
  std::string stands_for = {};
  StageRecord record = {};
};

/// An option whose value is what a stage has found, and the stages that took it.
struct TakenFinding {
  std::string option, value, from, path;
  bool is_found = true;  ///< otherwise the value is the one that the pipeline has for that case
  std::string why = {};  ///< what the stage says of it; empty: nothing
  std::vector<std::string> stages = {};

  std::string sentence() const;
};

/// The result of a pipeline for programs.
struct PipelineFields {
  std::string pipeline, title;
  std::string question = {};  ///< what the report answers; empty: the file asks nothing
  std::string summary = {};
  std::map<std::string, std::string> settings = {};
  std::vector<std::string> why = {};  ///< paragraphs that explain the result
  std::vector<ClaimResult> claims = {};
  std::vector<std::pair<std::string, std::vector<Json>>> tables = {};
  std::vector<PipelineStageResult> stages = {};
  std::vector<std::string> failed_gates = {};
  std::vector<TakenFinding> taken = {};
  std::vector<std::string> notes = {};

  /// The stages whose gates did not pass, with these gates: "pruned: recall(tech)>=-1 failed".
  std::string failed_gates_text() const;
};
const Fields& fields_of(const StageRecord*);
const Fields& fields_of(const PipelineStageResult*);
const Fields& fields_of(const TakenFinding*);
const Fields& fields_of(const PipelineFields*);

/// Draws the figures, judges the claims and writes the report of a pipeline whose stages are done into `folder`, which contains
/// their studies.
JobResult write_pipeline_report(const PipelineJob& job, const std::vector<StageOutcome>& outcomes,
                                const StageStudies& studies, const fs::path& folder,
                                const Context& context);

}  // namespace hone
