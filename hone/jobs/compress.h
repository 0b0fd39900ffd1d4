#pragma once

#include "hone/jobs/fine_tune.h"
#include "hone/jobs/recipe.h"
#include "hone/train/calibration.h"

namespace hone {

struct CompressOptions {
  QuantizationPlan plan = {};
  /// Share of the smallest weights to prune in each layer before quantization.
  LayerSparsities sparsities = {};
  bool qat = false;  ///< train with the quantizers in place; otherwise quantize after training
  FineTuneOptions fine_tune = {};  ///< for `qat`
  /// Parameters that this training produced earlier; it is not run again.
  std::optional<ParameterStore> trained = {};
  CalibrationRun calibration = {.batch_size = 32};
};

/// Returns a plan with one format for the inputs, weights and biases of all linears.
QuantizationPlan plan_with_format(const Model& model, const Format& format);

/// Returns the average bits of a model's weights (`weight_bits`); 32 for an unquantized model.
double average_weight_bits(const Model& model);

/// Returns the formats that `baseline` has already together with those of `plan`. Throws `UserError` with the layer's
/// name if both set the same operand.
QuantizationPlan combined_plan(const Model& baseline, const QuantizationPlan& plan);

/// Returns a quantized copy of `baseline`, pruned, calibrated where formats have state, and trained, as the options
/// ask. The weights keep their precision; `round_weights` makes the copy to save. Quantizers that `baseline` has
/// already keep their states unless the copy is trained. Throws `UserError` like `combined_plan` and, before training,
/// like `round_weights`.
Model compress(const Model& baseline, const EncodedSplits& data, const CompressOptions& options,
               TrainingLog& log, Context& context);
/// Discards the log.
Model compress(const Model& baseline, const EncodedSplits& data, const CompressOptions& options,
               Context& context);

/// Returns the rows of `data.train` from which `compress` calibrates; empty if the formats need no calibration.
std::vector<std::int64_t> calibration_rows(const Model& baseline, const EncodedSplits& data,
                                           const CompressOptions& options);

/// Returns the training data of the copy: that of `baseline`, the calibration rows and, after training, the training
/// split.
std::optional<TrainedOn> record_of_copy(const TextModel& baseline, const EncodedSplits& data,
                                        const CompressOptions& options);

/// Returns the model with every quantized weight replaced by its value in the format, and masked weights by zeros.
/// Quantizing it again changes nothing, so other programs that load the weights compute with the same values (see
/// frontends/huggingface/other_programs.h). Throws `UserError` if a format has no zero for masked weights.
Model round_weights(const Model& quantized, Context& context);

}  // namespace hone
