#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/format_comparison.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"

namespace hone {

/// A comparison of number formats on one model.
struct CompareFormatsJob {
  std::string model;                       ///< see `open_model`; must not be quantized
  std::vector<FormatChoice> choices = {};  ///< empty: `default_format_choices`
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< for the final result; choices are made on validation
  JobData data = {};
  bool layers = false;  ///< also show every layer with every choice on a terminal
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: no report
  Invocation invocation = {};  ///< for the report
};

/// The JSON result.
struct CompareFormatsFields {
  SubjectResult subject;
  std::vector<FormatChoiceResult> formats = {};
  std::optional<std::string> chosen = {};
  ChoiceResult choice = {};
  std::vector<FormatLayerResult> layers = {};
};
const Fields& fields_of(const CompareFormatsFields*);

struct CompareFormatsResult : JobResult {
  FormatStudy study;
};

/// Quantizes a model to each choice of formats by rounding alone, and finds the one with the fewest bits within the
/// limit. Throws `UserError` like `load_encoded` and `compare_formats` of a model.
CompareFormatsResult compare_formats(const CompareFormatsJob& job, Context& context);

}  // namespace hone
