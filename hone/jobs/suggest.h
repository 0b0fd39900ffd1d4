#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/suggestion_trial.h"

namespace hone {

/// A search for better parameters of a format.
struct SuggestJob {
  std::string model;  ///< see `open_model`; must not be quantized
  Format format;      ///< of inputs, weights and biases of all linear layers
  double bits = 0;    ///< maximum per value; 0: those of `format`
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< for the final result; choices are made on validation
  JobData data = {};
  std::uint64_t seed = 42;
  std::string recipe = {};  ///< file to write the suggestions to; empty: none
  bool overwrite = false;   ///< replace that file
};

/// Better parameters for one operand of a layer, in results.
struct SuggestionResult {
  std::string layer;
  Operand operand = Operand::weight;
  std::string before;
  double before_snr_db = 0;
  std::string after;
  double after_snr_db = 0, clipped = 0, flushed = 0, smallest_step = 0, standard_deviation = 0;
};
const Fields& fields_of(const SuggestionResult*);

/// The JSON result.
struct SuggestFields {
  SubjectResult subject;
  std::vector<SuggestionResult> suggestions = {};
  std::vector<MeasuredModelResult> models = {};
  ChoiceResult choice = {};
  std::string recipe;
};
const Fields& fields_of(const SuggestFields*);

struct SuggestResult : JobResult {
  SuggestionTrial trial;
  std::string recipe;  ///< the suggestions as a recipe (TOML)
};

/// Finds, layer by layer and without training, the parameters of a format that lose least, and compares the resulting
/// model with the format as given. Throws `UserError` like `load_encoded` and `try_suggestions`.
SuggestResult suggest_formats(const SuggestJob& job, Context& context);

}  // namespace hone
