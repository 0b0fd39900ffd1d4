#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_figures.h"

/// The sentences of a pipeline's report, with the values that its stages have found.
namespace hone {

/// The stage that is meant. None: it was left out, or no stage of the pick has the value and fulfils its conditions.
std::optional<std::size_t> stage_of(const StageReference& reference, const PipelineFindings& found);

/// "84.2% (95% CI 82.5 to 85.7)", "+1.9 points (95% CI 0.4 to 3.3)", "8"; none: there is no such value.
std::optional<std::string> value_text(const StageReference& from, const std::string& path,
                                      bool without_interval, const PipelineFindings& found);

/// The text with its values; none: one of them is missing.
std::optional<std::string> filled(const StatementText& text, const PipelineFindings& found);

/// What the statements say, `claims` being judged, without those that have nothing to say here.
std::vector<std::string> statement_texts(const std::vector<PipelineStatement>& statements,
                                         const std::vector<ClaimResult>& claims,
                                         const PipelineFindings& found);

}  // namespace hone
