#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"
#include "hone/jobs/pipeline/pipeline_file.h"

/// What the stages of a pipeline have found, by the paths that its file names.
namespace hone {

/// A number with its interval, where it has one. NaN: there is none.
struct Measured {
  double value = std::numeric_limits<double>::quiet_NaN();
  double low = value, high = value;
};

/// The member of nested objects and lists: "test.eval_accuracy", "models.0.loss". Null: there is none.
const Json& value_at_path(const Json& json, const std::string& path);

/// The number there, with the interval that stands beside it ("loss_interval").
Measured measured_at(const Json& json, const std::string& path);

/// The lines that a training in the folder has logged that have the numbers `x` and `y`, in order.
std::vector<Json> logged(const fs::path& stage, std::string_view x, const std::string& y);

/// What a stage's results, or the log of its training, have at a path: "log.highest.loss" and "log.last.loss" are of what was
/// logged.
Measured measured_of(const Json& result, const fs::path& stage, const std::string& path);

/// A variable of the stage's `each`; null: it has none of that name.
const std::string* variable_of(const PipelineStage& stage, const std::string& name);

/// What stands for a value that is of what a stage has found: the text or number at its path, else what is to stand there otherwise.
std::string found_at(const Json& result, const StageValue& value);

/// NaN: the text does not begin with a number.
double number_in_text(const std::string& text);

}  // namespace hone
