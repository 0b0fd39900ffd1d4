#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/width_study.h"
#include "hone/report/text_layout.h"

namespace hone {

/// Of which model the widths of fixed point are to be studied, and which.
struct WidthsJob {
  std::string model;                         ///< as `open_model` takes it; not quantized
  std::vector<FixedPointWidth> widths = {};  ///< none: the usual ones of `WidthStudyOptions`
  std::string split = {};                    ///< the part on which what was chosen is measured once
  JobData data = {};
  FineTuneOptions training =
      {};  ///< of each width; its seed, checkpoints and `save_steps` come from what follows
  JobResume resume = {};
  std::uint64_t seed = 42;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the run
};

struct WidthsResult {
  /// The folder holds what the same job has left before, and nothing was done; `fields` are its results.
  bool was_finished = false;
  Json fields = {};                      ///< what programs read, see `result_of`
  std::optional<WidthStudy> study = {};  ///< where something was done
  /// The same for people; null where nothing was done.
  std::function<std::string(const TextStyle&)> text = {};
};

/// Studies from which width on fixed point keeps a model's accuracy, by rounding alone and with training, and writes tables,
/// figure and report into `output`. Throws `UserError`, as `load_encoded`, `study_widths` and `begin_run` do;
/// `Interrupted`.
WidthsResult study_widths(const WidthsJob& job, Context& context);

}  // namespace hone
