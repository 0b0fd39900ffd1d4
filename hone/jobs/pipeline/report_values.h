#pragma once

#include <optional>
#include <string>

#include "hone/jobs/pipeline/report_config.h"

/// Parsers for references to values of stages and picks, in texts, formulas and conditions.
namespace hone {

/// Returns the index of a pick that was read already.
std::optional<std::size_t> pick_named(const ReportConfig& f, const std::string& name);

/// Parses "rounded to {narrow.width} bits, {narrow.after.eval_accuracy:value}". Inserts settings, not values.
StatementText statement_text(const ReportConfig& f, const toml::node& node, std::string_view key);

/// Parses a path, or a formula of paths and of values such as {STAGE.PATH}.
ValueFormula formula_at(const ReportConfig& f, const toml::node& node, std::string_view key);

/// Parses a comparison of two of them, from a list `where` at `node`.
ValueCondition condition_of(const ReportConfig& f, const std::string& text, const toml::node& node);

}  // namespace hone
