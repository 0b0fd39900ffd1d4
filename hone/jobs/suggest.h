#pragma once

#include <functional>
#include <string>

#include "hone/jobs/job_data.h"
#include "hone/jobs/suggestion_trial.h"

namespace hone {

/// For which model better parameters of a format are to be found.
struct SuggestJob {
  std::string model;  ///< as `open_model` takes it; not quantized
  Format format;      ///< of inputs, weights and biases of all linears
  double bits = 0;    ///< at most so many per value; 0: as many as the format has
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the part on which the suggestions are measured once
  JobData data = {};
  std::uint64_t seed = 42;
  std::string recipe = {};  ///< file to write the suggestions to; empty: none
  bool overwrite = false;   ///< that file may be replaced
};

struct SuggestResult {
  SuggestionTrial trial;
  std::string recipe;  ///< the suggestions as a recipe (TOML)
  Json fields;         ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text = {};
};

/// Finds, layer by layer and without training, the parameters of a format that lose least, and measures the model with them
/// beside the format as it was given. Throws `UserError`, as `load_encoded` and `try_suggestions` do.
SuggestResult suggest_formats(const SuggestJob& job, Context& context);

}  // namespace hone
