#pragma once

#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/study/layer_sensitivity.h"
#include "hone/study/result.h"

namespace hone {

/// A measurement of how each layer reacts to changes.
struct SensitivityJob {
  std::string model;                 ///< as `open_model` takes it; not quantized
  std::vector<LayerChange> changes;  ///< at least one
  CalibrationRun calibration = {.batch_size = 32};
  VariantRuns runs = {};
  std::string split = "validation";  ///< to measure on; a warning names test and all
  JobData data = {};
  std::uint64_t seed = 42;
  JobOutput output = {};
  Invocation invocation = {};
};

/// The result for programs.
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

/// Applies every change to each linear layer alone, measures how the predictions change (`measure_sensitivity`), and writes
/// table, figure and report into `output`. Throws `UserError`, as `load_encoded` does.
SensitivityResult measure_sensitivity(const SensitivityJob& job, Context& context);

}  // namespace hone
