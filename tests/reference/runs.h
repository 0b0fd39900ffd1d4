#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "hone/base/file.h"

/// Runs of the program whose results are recorded in runs.tsv.
namespace hone::testing {

/// Command lines, and which of their results are recorded. They run in a folder with copies of the inputs.
struct ReferenceRun {
  std::string name;
  /// One command per line; `kAbbreviations` are replaced.
  std::string commands;
  /// Model folders: their tensors, graph and predictions.
  std::vector<std::string> models = {"out"};
  /// Names in `value_places()` of numbers that the last command prints.
  std::vector<std::string> values = {};
  std::string study = {};        ///< a storage whose trials are recorded
  std::string data = "reviews";  ///< the dataset for the predictions
  /// If set, the last command is also killed as soon as this path exists, and resumed.
  std::string killed_at = {};
  std::size_t killed_at_trials = 0;  ///< if it is a storage: and contains this many complete trials

  friend void PrintTo(const ReferenceRun& run, std::ostream* out) { *out << run.name; }
};

const std::vector<ReferenceRun>& reference_runs();

/// Returns the path of one or several numbers in the JSON output of commands: keys, and `[]` for each element of a
/// list. `hone schema` describes the output of each command.
const std::string& value_place(const std::string& name);

/// Writes the inputs of all runs to `folder`, except the model trained by `kBaseModel`.
void write_inputs(const fs::path& folder);

/// Trains the model that most runs start from.
extern const char* const kBaseModel;

}  // namespace hone::testing
