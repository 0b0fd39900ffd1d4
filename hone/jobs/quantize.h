#pragma once

#include <optional>
#include <string>

#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/explanation.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/recipe.h"
#include "hone/metrics/verdict.h"
#include "hone/models/model_size.h"
#include "hone/study/gates.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"

namespace hone {

/// A model to quantize.
struct QuantizeJob {
  std::string model;  ///< see `open_model`
  Recipe recipe = {};
  bool qat = false;        ///< train with the quantizers in place
  bool explain = false;    ///< explain where accuracy is lost even if little is lost
  GateOptions gates = {};  ///< limits of what may be lost
  CalibrationRun calibration = {.batch_size = 32};
  std::string split = {};  ///< to measure on, see `evaluation_examples`
  JobData data = {};
  FineTuneOptions training =
      {};  ///< for `qat`; its seed, checkpoints and `save_steps` are set from the members below
  DistillJob distill = {};         ///< teacher for `qat`
  std::string report_to = "none";  ///< or "tensorboard"
  JobResume resume = {};
  std::int64_t seeds = 1;  ///< for `qat`: repeats the job with this many seeds, from `seed` on
  std::uint64_t seed = 42;
  bool row_hashes = true;  ///< store fingerprints of the training rows with the model
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the model card and the job record
};

/// The common part of all its results.
struct QuantizedResult {
  SubjectResult subject;
  std::string format;
  std::optional<std::string> baseline_format = {};
  std::string method, arithmetic;
  double average_weight_bits = 32;
  std::int64_t quantized_modules = 0;
  std::string protocol;
  std::int64_t calibration_examples = 0;
};
/// The saved model evaluated as `transformers` computes it.
struct TransformersEvaluation {
  EvaluationResult evaluation = {};
  ComparisonResult comparison = {};
};
/// The result of one seed.
struct QuantizeFields {
  QuantizedResult quantized;
  BeforeAndAfterResult both = {};
  std::uint64_t seed = 0;
  std::int64_t seeds = 1;
  std::optional<GateResult> gate = {};
  ModelSize size = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<DistillationResult> distill = {};
  std::optional<TransformersEvaluation> as_transformers = {};
  std::optional<std::int64_t> steps = {};
  std::optional<std::string> caveat = {};
  std::optional<DiagnosisResult> diagnosis = {};
};
/// The result of several seeds.
struct QuantizeSeedsFields {
  QuantizedResult quantized;
  ModelSize size = {};
  std::optional<EvaluationResult::ByName<double>> class_weights = {};
  std::optional<DistillationResult> distill = {};
  ChangeSeedsResult seeds = {};
  std::optional<std::string> caveat = {};
  std::optional<DiagnosisResult> diagnosis = {};
};
const Fields& fields_of(const QuantizedResult*);
/// Returns the facts for a model card with this evaluation.
CardFacts card_facts(const QuantizedResult& quantized, const BeforeAndAfterResult& both,
                     std::uint64_t seed);
const Fields& fields_of(const TransformersEvaluation*);
const Fields& fields_of(const QuantizeFields*);
const Fields& fields_of(const QuantizeSeedsFields*);

struct QuantizeResult : JobResult {
  Verdict verdict = {};
};

/// Makes a quantized copy of a model by rounding (PTQ) or quantization-aware training (QAT), compares it with its
/// baseline, and writes it with a report into `output`. Callers that set `gates` have to check `gate`.
///
/// Throws `UserError` like `load_encoded`, `compress` and `begin_run`, `UsageError` for seeds without training, and
/// `Interrupted`.
QuantizeResult quantize_job(const QuantizeJob& job, Context& context);

}  // namespace hone
