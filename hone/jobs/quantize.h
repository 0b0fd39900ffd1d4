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
  bool row_hashes = true;  ///< the model remembers what it learned from, by fingerprints of rows
  JobOutput output;
  Invocation invocation = {};  ///< for the report, the card and the record of the run
};

/// What all its results begin with.
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
/// The saved model as `transformers` computes it.
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
/// What a model card says of it and its evaluation.
CardFacts card_facts(const QuantizedResult& quantized, const BeforeAndAfterResult& both,
                     std::uint64_t seed);
const Fields& fields_of(const TransformersEvaluation*);
const Fields& fields_of(const QuantizeFields*);
const Fields& fields_of(const QuantizeSeedsFields*);

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
