#include "hone/jobs/pipeline/pipeline_statements.h"

#include <fmt/format.h>

#include <cmath>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_values.h"

namespace hone {
namespace {

std::string interval_text(const Estimate& estimate) {
  if (is_percentage(estimate.of)) return sentence_text(estimate);
  if (estimate.of == Quantity::points)
    return fmt::format("{} points (95% CI {} to {})", points_text(estimate.value),
                       points_text(estimate.low), points_text(estimate.high));
  return fmt::format("{} (95% CI {} to {})", three_digits(estimate.value),
                     three_digits(estimate.low), three_digits(estimate.high));
}

// Returns the value of a reference in a text.
std::optional<std::string> piece_value(const StatementText::Piece& piece,
                                       const PipelineFindings& found) {
  const ValueReference& value = *piece.value;
  if (piece.form == StatementText::Form::count) {
    const PickCount count = count_of(found.pipeline.picks[*value.from.pick], found);
    if (count.all == 0) return std::nullopt;
    return fmt::format("{} of {}", grouped(count.fulfilling), grouped(count.all));
  }
  const std::optional<ValueSource> source = source_of(value.from, found);
  if (!source) return std::nullopt;
  return value_text(value.path.empty() ? found.pipeline.picks[*value.from.pick].by
                                       : ValueFormula{.path = value.path},
                    *source, piece.form, found);
}

}  // namespace

std::optional<std::string> value_text(const ValueFormula& formula, const ValueSource& source,
                                      StatementText::Form form, const PipelineFindings& found) {
  const std::string* variable = variable_of(found.pipeline.stages[source.stage], formula.path);
  if (variable != nullptr && !source.row) return *variable;
  const Cell cell = formula_cell(formula, source, found);
  if (cell.is_absent()) return std::nullopt;
  if (const auto* estimate = std::get_if<Estimate>(&cell.value());
      estimate != nullptr && !std::isnan(estimate->low)) {
    if (form == StatementText::Form::whole) return interval_text(*estimate);
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
    if (!piece.value) continue;
    const std::optional<std::string> value = piece_value(piece, found);
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
    const std::size_t list =
        statement.claim ? static_cast<std::size_t>(claims[*statement.claim].conclusion) : 0;
    for (const StatementText& said : statement.texts[list])
      if (std::optional<std::string> text = filled(said, found)) {
        texts.push_back(std::move(*text));
        break;
      }
  }
  return texts;
}

}  // namespace hone
