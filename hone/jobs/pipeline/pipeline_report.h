#pragma once

#include "hone/jobs/pipeline/pipeline.h"
#include "hone/jobs/pipeline/pipeline_studies.h"
#include "hone/study/gates.h"

namespace hone {

/// Where the result of a stage comes from.
enum class StageState {
  computed,     ///< in this run
  done_before,  ///< by the interrupted run that this one goes on with
  stored,       ///< by another run, from the store
};
std::string to_string(StageState state);

/// What a stage has come to.
struct StageOutcome {
  std::string key = {};
  std::string command_line = {};  ///< as it was run, in the pipeline's folder
  int code = 0;                   ///< exit code; 3: its gate did not pass
  std::string failure = {};       ///< its message
  Json result = nullptr;          ///< what its command printed
  double seconds = 0;             ///< when it was computed
  std::int64_t peak_bytes = 0;    ///< most resident memory then
  /// The most that it foretold to hold before it did; 0: it foretold nothing.
  std::int64_t foretold_bytes = 0;
  std::vector<std::string> warnings = {};  ///< that its command told people then
  std::string computed = {};               ///< when, in UTC
  StageState state = StageState::computed;
  std::string stands_for = {};      ///< the stage whose folder it is to others
  std::string stands_for_key = {};  ///< that one's key
};

/// Draws the figures, judges the claims and writes the report of a pipeline whose stages are done into `folder`, where their studies
/// stand together.
PipelineResult write_pipeline_report(const PipelineJob& job,
                                     const std::vector<StageOutcome>& outcomes,
                                     const StageStudies& studies, const fs::path& folder,
                                     const Context& context);

}  // namespace hone
