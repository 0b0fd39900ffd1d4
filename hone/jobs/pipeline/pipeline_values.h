#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/jobs/pipeline/pipeline_file.h"
#include "hone/report/figure.h"
#include "hone/report/table.h"

/// What the stages of a pipeline have found, by the paths that its file names.
namespace hone {

/// The member of nested objects and lists: "test.eval_accuracy", "models.0.loss". A key may have dots, as the names of layers do. Null
/// if it is missing.
const Json& value_at_path(const Json& json, const std::string& path);

/// Returns what the number at a path is of, by its last key: "test.eval_accuracy" is a share, "comparison.change" is points.
Quantity quantity_at(const std::string& path);

/// Returns which end of an axis of such numbers is the better one, by the same key.
BetterEnd better_end_at(const std::string& path);

/// Returns the number there, with the interval ("loss_interval") and the number of examples ("eval_samples") that are beside it.
/// NaN: there is none.
Estimate estimate_at(const Json& json, const std::string& path);

/// Returns the cell of a number; absent where there is none. A cell without an interval has the kind of its quantity.
Cell cell_of(const Estimate& estimate);

/// Returns the text at a path as tables show it: a format that is "none" is "full precision".
std::string text_in_words(const std::string& text, const std::string& path);

/// Returns the number, text or truth value there as a cell; absent where there is none.
Cell cell_at(const Json& json, const std::string& path);

/// The lines that a training in the folder has logged that have the numbers `x` and `y`, in order.
std::vector<Json> logged(const fs::path& stage, std::string_view x, const std::string& y);

/// Returns the number that a stage's results, or the log of its training, have at a path: "log.first.loss", "log.highest.loss" and
/// "log.last.loss" are taken from the log.
Estimate estimate_of(const Json& result, const fs::path& stage, const std::string& path);

/// A variable of the stage's `each`; null: it has none of that name.
const std::string* variable_of(const PipelineStage& stage, const std::string& name);

/// What stands for a value that is of what a stage has found: the text or number at its path, else what is to stand there otherwise.
std::string found_at(const Json& result, const StageValue& value);

/// NaN: the text does not begin with a number.
double number_in_text(const std::string& text);

}  // namespace hone
