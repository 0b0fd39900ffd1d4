#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/format_comparison.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"

namespace hone {

/// On which model formats are to be compared, and which.
struct CompareFormatsJob {
  std::string model;                       ///< as `open_model` takes it; not quantized
  std::vector<FormatChoice> choices = {};  ///< none: `usual_choices`
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the part on which what was chosen is measured once
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};       ///< of a report; no folder: none is written
  Invocation invocation = {};  ///< for the report
};

struct CompareFormatsResult {
  FormatStudy study;
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people, with a table of every layer in every choice where it is wanted.
  std::function<std::string(const TextStyle&, bool layers)> text = {};
};

/// Quantizes a model to each choice of formats by rounding alone, and says which keep its accuracy in the fewest bits.
/// Throws `UserError`, as `load_encoded` and `compare_formats` of a model do.
CompareFormatsResult compare_formats(const CompareFormatsJob& job, Context& context);

}  // namespace hone
