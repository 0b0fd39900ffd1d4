#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// Reads values from the results of stages by path.
namespace hone {

/// Returns the member of nested objects and lists: "test.eval_accuracy", "models.0.loss". Keys may contain dots, as
/// names of layers do. Null if it is missing.
const Json& value_at_path(const Json& json, const std::string& path);

/// Returns the quantity by the last key of a path: "test.eval_accuracy" is a share, "comparison.change" is points.
Quantity quantity_at(const std::string& path);

/// Returns the better end of an axis of such numbers, by the same key.
BetterEnd better_end_at(const std::string& path);

/// Returns the number there, with the interval ("loss_interval") and the number of examples ("eval_samples") from the
/// same object. NaN if there is none.
Estimate estimate_at(const Json& json, const std::string& path);

/// Returns the cell of a number; absent if there is none. Without an interval the cell has the format of its quantity.
Cell cell_of(const Estimate& estimate);

/// Returns the text at a path as tables show it: the format "none" becomes "full precision".
std::string shown_text(const std::string& text, const std::string& path);

/// Returns the number, text or boolean there as a cell; absent if there is none.
Cell cell_at(const Json& json, const std::string& path);

/// Returns the lines of the training log in the folder that have the numbers `x` and `y`, in order.
std::vector<Json> logged_lines(const fs::path& stage, std::string_view x, const std::string& y);

/// Returns the number at a path into a stage's results, or into the log of its training: "log.first.loss",
/// "log.highest.loss" and "log.last.loss" come from the log.
Estimate estimate_of(const Json& result, const fs::path& stage, const std::string& path);

/// Returns a variable of the stage's `each`; null if it has none of that name.
const std::string* variable_of(const PipelineStage& stage, const std::string& name);

/// Returns the text or number at the value's path into the results, else its default.
std::string resolved_text(const Json& result, const StageValue& value);

/// Parses the number at the beginning of a text; NaN if there is none.
double number_in_text(const std::string& text);

}  // namespace hone
