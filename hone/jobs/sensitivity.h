#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/layer_sensitivity.h"
#include "hone/study/result.h"

namespace hone {

/// A job that measures how sensitive a model is to changes of each layer.
struct SensitivityJob {
  std::string model;                 ///< see `open_model`; must not be quantized
  std::vector<LayerChange> changes;  ///< at least one
  CalibrationRun calibration = {.batch_size = 32};
  VariantRuns runs = {};
  std::string split = "validation";  ///< to measure on; a warning is given for test and all
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

/// The JSON result.
struct SensitivityFields {
  SubjectResult subject;
  std::vector<LayerSensitivityResult> layers = {};
  std::int64_t groups = 0, stored_bytes = 0;
  double computed_flops = 0, separate_computed_flops = 0;
};
const Fields& fields_of(const SensitivityFields*);

struct SensitivityResult : JobResult {
  SensitivityStudy study;
};

/// Applies every change to each linear layer alone, measures how the predictions change (`measure_sensitivity`), and
/// writes table, figure and report into `output`. Throws `UserError` like `load_encoded`.
SensitivityResult measure_sensitivity(const SensitivityJob& job, Context& context);

}  // namespace hone
