#include "hone/jobs/pipeline/pipeline_statements.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_tables.h"
#include "hone/jobs/pipeline/pipeline_values.h"

namespace hone {
namespace {

// A variable of `each` as a number, or a number in the results; NaN: neither.
double number_of(std::size_t stage, const std::string& path, const PipelineFindings& found) {
  if (const std::string* variable = variable_of(found.pipeline.stages[stage], path))
    return number_in_text(*variable);
  return estimate_in(stage, path, found).value;
}

bool fulfils(std::size_t stage, const std::vector<FormulaConstraint>& where,
             const PipelineFindings& found) {
  for (const FormulaConstraint& constraint : where) {
    std::map<std::string, double> values;
    for (const MetricFormula* formula : {&constraint.left, &constraint.right})
      for (const std::string& name : formula->names()) values[name] = number_of(stage, name, found);
    if (!(constraint.violation(values) <= 0)) return false;  // NaN: a value is missing
  }
  return true;
}

std::string interval_text(const Estimate& estimate) {
  if (estimate.of == Quantity::share || estimate.of == Quantity::flips)
    return sentence_text(estimate);
  if (estimate.of == Quantity::points)
    return fmt::format("{} points (95% CI {} to {})", points_text(estimate.value),
                       points_text(estimate.low), points_text(estimate.high));
  return fmt::format("{} (95% CI {} to {})", three_digits(estimate.value),
                     three_digits(estimate.low), three_digits(estimate.high));
}

}  // namespace

std::optional<std::size_t> stage_of(const StageReference& reference,
                                    const PipelineFindings& found) {
  if (!reference.pick) return reference.stage;
  const PipelinePick& pick = found.pipeline.picks[*reference.pick];
  std::optional<std::size_t> best;
  double best_value = kNoValue;
  for (const std::size_t stage : pick.stages) {
    const double value = number_of(stage, pick.by, found);
    if (std::isnan(value) || !fulfils(stage, pick.where, found)) continue;
    if (best && (pick.highest ? value <= best_value : value >= best_value)) continue;
    best = stage;
    best_value = value;
  }
  return best;
}

std::optional<std::string> value_text(const StageReference& from, const std::string& path,
                                      bool without_interval, const PipelineFindings& found) {
  const std::optional<std::size_t> stage = stage_of(from, found);
  if (!stage) return std::nullopt;
  if (const std::string* variable = variable_of(found.pipeline.stages[*stage], path))
    return *variable;
  const Cell cell = stage_cell(*stage, path, found);
  if (cell.is_absent()) return std::nullopt;
  if (const auto* estimate = std::get_if<Estimate>(&cell.value());
      estimate != nullptr && !std::isnan(estimate->low)) {
    if (!without_interval) return interval_text(*estimate);
    if (estimate->of == Quantity::points) return points_text(estimate->value) + " points";
    return display_text(estimate->of == Quantity::number
                            ? significant(estimate->value)
                            : percent(estimate->value, decimals_of(estimate->of)));
  }
  return display_text(cell);
}

std::optional<std::string> filled(const StatementText& text, const PipelineFindings& found) {
  std::string result;
  for (const StatementText::Piece& piece : text.pieces) {
    result += piece.text;
    if (piece.path.empty()) continue;
    const std::optional<std::string> value =
        value_text(piece.from, piece.path, piece.without_interval, found);
    if (!value) return std::nullopt;
    result += *value;
  }
  return result;
}

std::vector<std::string> statement_texts(const std::vector<PipelineStatement>& statements,
                                         const std::vector<ClaimResult>& claims,
                                         const PipelineFindings& found) {
  std::vector<std::string> texts;
  for (const PipelineStatement& statement : statements) {
    const StatementText& said =
        statement.claim
            ? statement.by_conclusion[static_cast<std::size_t>(claims[*statement.claim].conclusion)]
            : statement.says;
    if (const std::optional<std::string> text = filled(said, found); text && !text->empty())
      texts.push_back(*text);
  }
  return texts;
}

}  // namespace hone
