#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/width_study.h"

namespace hone {

/// A study of fixed-point widths.
struct WidthsJob {
  std::string model;                         ///< see `open_model`; must not be quantized
  std::vector<FixedPointWidth> widths = {};  ///< empty: the defaults of `WidthStudyOptions`
  std::string split = {};  ///< for the final result; choices are made on validation
  JobData data = {};
  FineTuneOptions training =
      {};  ///< for each width; its seed, checkpoints and `save_steps` are set from the members below
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the job record
};

/// The JSON result.
struct WidthsFields {
  SubjectResult subject;
  std::vector<MeasuredModelResult> models = {};
  std::optional<std::string> narrowest_ptq = {}, narrowest_qat = {};
  ChoiceResult choice = {};
};
const Fields& fields_of(const WidthsFields*);

struct WidthsResult : JobResult {
  std::optional<WidthStudy> study = {};  ///< empty if the results existed already
};

/// Finds the width from which on fixed point keeps a model's accuracy within the limit, by PTQ and by QAT, and writes
/// tables, figure and report into `output`. Throws `UserError` like `load_encoded`, `study_widths` and `begin_run`;
/// `Interrupted`.
WidthsResult study_widths(const WidthsJob& job, Context& context);

}  // namespace hone
