#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/pipeline/pipeline_formulas.h"

/// The sentences of a pipeline's report, with values from its stages.
namespace hone {

/// "84.2% (95% CI 82.5 to 85.7)", "+1.9 points (95% CI 0.4 to 3.3)", "8"; none if there is no such value.
std::optional<std::string> value_text(const ValueFormula& formula, const ValueSource& source,
                                      StatementText::Form form, const PipelineFindings& found);

/// Returns the text with its values; none if one of them is missing.
std::optional<std::string> filled(const StatementText& text, const PipelineFindings& found);

/// Returns the texts of the statements, given the judged `claims`; leaves out statements without a text.
std::vector<std::string> statement_texts(const std::vector<PipelineStatement>& statements,
                                         const std::vector<ClaimResult>& claims,
                                         const PipelineFindings& found);

}  // namespace hone
