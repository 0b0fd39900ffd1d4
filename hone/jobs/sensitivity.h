#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/report/text_layout.h"
#include "hone/study/layer_sensitivity.h"

namespace hone {

/// Of which model layers are to be changed, and how.
struct SensitivityJob {
  std::string model;                 ///< as `open_model` takes it; not quantized
  std::vector<LayerChange> changes;  ///< at least one
  CalibrationRun calibration = {.batch_size = 32};
  VariantRuns runs = {};
  std::string split =
      "validation";  ///< the part that is looked at; of test and all a warning says so
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

struct SensitivityResult {
  SensitivityStudy study;
  Json fields;                                             ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text = {};  ///< the same for people
};

/// Changes each linear layer of a model alone in every way, measures on the part what that does to its
/// answers (`measure_sensitivity`), and writes table, figure and report into `output`. Throws `UserError`, as `load_encoded` does.
SensitivityResult measure_sensitivity(const SensitivityJob& job, Context& context);

}  // namespace hone
