#pragma once

#include <optional>
#include <string>

#include "hone/jobs/pipeline/shown_file.h"

/// References to values of stages and picks, in texts, formulas and conditions.
namespace hone {

/// The number of a pick that was read before.
std::optional<std::size_t> pick_named(const ShownFile& f, const std::string& name);

/// Of "rounded to {narrow.width} bits, {narrow.after.eval_accuracy:value}": settings are put in, values are left to be.
StatementText statement_text(const ShownFile& f, const toml::node& node, std::string_view key);

/// A path, or a formula of paths and of values such as {STAGE.PATH}.
ValueFormula formula_at(const ShownFile& f, const toml::node& node, std::string_view key);

/// A comparison of two of them, of a list `where` at `node`.
ValueCondition condition_of(const ShownFile& f, const std::string& text, const toml::node& node);

}  // namespace hone
