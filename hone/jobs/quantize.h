#pragma once

#include <optional>
#include <string>

#include "hone/jobs/compress.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/recipe.h"
#include "hone/metrics/verdict.h"
#include "hone/study/gates.h"

namespace hone {

/// How a model is to be quantized.
struct QuantizeJob {
  std::string model;  ///< as `open_model` takes it
  Recipe recipe = {};
  bool qat = false;        ///< trained with the quantizers in place
  bool explain = false;    ///< say where accuracy is lost even where little is
  GateOptions gates = {};  ///< what may be lost
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< the part to measure on, see `measured_texts`
  JobData data = {};
  FineTuneOptions training =
      {};  ///< of `qat`; its seed, checkpoints and `save_steps` come from what follows
  DistillJob distill = {};         ///< of `qat`: what it learns from beside the labels
  std::string report_to = "none";  ///< or "tensorboard"
  JobResume resume = {};
  std::int64_t seeds = 1;  ///< of `qat`: the job is repeated with so many, from `seed` on
  std::uint64_t seed = 42;
  bool row_hashes = true;  ///< the model remembers what it has learnt from, by fingerprints of rows
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

struct QuantizeResult : JobResult {
  Verdict verdict = {};
};

/// Makes a quantized copy of a model, by rounding alone or by training through quantizers, measures it beside the model it
/// was made of, and writes it with its report into `output`. Whoever sets `gates` looks at `gate`.
///
/// Throws `UserError`, as `load_encoded`, `compress` and `begin_run` do, `UsageError` for seeds without training, and
/// `Interrupted`.
QuantizeResult quantize_job(const QuantizeJob& job, Context& context);

}  // namespace hone
