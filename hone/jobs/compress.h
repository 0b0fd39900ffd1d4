#pragma once

#include "hone/jobs/fine_tune.h"
#include "hone/jobs/recipe.h"
#include "hone/train/calibration.h"

namespace hone {

struct CompressOptions {
  QuantizationPlan plan = {};
  /// Layers that lose a share of their smallest weights first, each by itself.
  LayerSparsities sparsities = {};
  bool qat = false;  ///< train with the quantizers in place; otherwise quantize after training
  FineTuneOptions fine_tune = {};  ///< for `qat`
  /// What that training left before, the same parameters: it is not run again.
  std::optional<ParameterStore> trained = {};
  CalibrationRun calibration = {.batch_size = 32};
};

/// The plan that gives all inputs, weights and biases of the model's linears one format.
QuantizationPlan one_format(const Model& model, const Format& format);

/// The average bits of a model's weights, see `weight_bits`; 32 for an unquantized model.
double average_weight_bits(const Model& model);

/// What the copy of `parent` has formats for: what the parent has, if it is quantized already, and what `plan` adds. Throws
/// `UserError`, naming the layer, where both speak of the same operand.
QuantizationPlan whole_plan(const Model& parent, const QuantizationPlan& plan);

/// A quantized copy of `parent`, pruned where the options say: calibrated where the format has state, trained where asked for. The weights keep the
/// precision that they have; `round_weights` makes the copy that is saved. Quantizers that the parent has already stay as
/// they are, with their states, until something is trained. Throws `UserError` as `whole_plan`,
/// and before training as `round_weights`.
Model compress(const Model& parent, const EncodedSplits& data, const CompressOptions& options,
               TrainingLog& log, Context& context);
/// The same, with a log that nobody reads.
Model compress(const Model& parent, const EncodedSplits& data, const CompressOptions& options,
               Context& context);

/// The rows of `data.train` that `compress` takes ranges from: none where the formats need none.
std::vector<std::int64_t> calibration_rows(const Model& parent, const EncodedSplits& data,
                                           const CompressOptions& options);

/// What `parent` and its copy have learned from: the parent's record with these rows in it, and after training with the
/// training part.
std::optional<TrainedOn> record_of_copy(const TextModel& parent, const EncodedSplits& data,
                                        const CompressOptions& options);

/// The same model with every quantized weight replaced by its value in the format, and zeros where masks have them. Quantizing it again changes
/// nothing, so any program that loads the weights computes with those (and see frontends/huggingface/other_programs.h). Throws `UserError`
/// where a format has no zero for what is masked.
Model round_weights(const Model& quantized, Context& context);

}  // namespace hone
