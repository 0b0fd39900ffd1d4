#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/metrics/proportion.h"
#include "hone/report/document.h"

/// Judges the claims of a pipeline by the results of its stages.
namespace hone {

struct PipelineFindings;

enum class ClaimConclusion : std::uint8_t { reproduced, contradicted, inconclusive };
std::span<const EnumName> enum_names(ClaimConclusion conclusion);

/// A claim and its conclusion.
struct ClaimResult {
  std::string claim, says;
  std::optional<std::string> source = {};
  std::string stage = {};
  ClaimConclusion conclusion = ClaimConclusion::inconclusive;
  std::optional<double> change = {};
  std::optional<Interval> change_interval = {};
  std::string sentence = {};
};
const Fields& fields_of(const ClaimResult*);

/// Judges a claim. Several comparisons are judged by their p-values with Holm's correction: the claim is reproduced if
/// it holds in at least half of them and the opposite in none.
ClaimResult judge(const PipelineClaim& claim, const PipelineFindings& found);

/// "2 of 3 claims reproduced, 1 inconclusive"
std::string claims_text(const std::vector<ClaimResult>& claims);

Section claims_section(const std::vector<ClaimResult>& claims);

}  // namespace hone
