#pragma once

#include "hone/app/comparison_table.h"
#include "hone/app/sensitivity.h"

namespace hone {

/// A choice of formats for all linears of a model.
struct FormatChoice {
  std::string label;
  LayerFormats formats;
};

/// "FORMAT": for inputs, weights and biases; "WEIGHTS/INPUTS": for weights and for inputs, biases in
/// full precision; either may be "none".
FormatChoice parse_choice(std::string_view text, const FormatTable& formats);

/// The choices that are compared when nobody names any: one of each kind, at 8 bits and below.
std::vector<FormatChoice> usual_choices(const FormatTable& formats);

struct FormatResult {
  FormatChoice choice;
  ComparedModel model;              ///< the whole model quantized after training
  double bytes = 0;                 ///< of all parameters, if packed
  std::vector<OperandNoise> noise;  ///< of every layer alone
};

/// Quantizes the model to each choice and measures it: every layer alone over the calibration
/// batches, the whole model on `data.test`.
std::vector<FormatResult> compare_formats(const Model& model, const Measurement& before,
                                          const EncodedSplits& data, std::int32_t pad_id,
                                          const std::vector<FormatChoice>& choices,
                                          const CompressOptions& options, Context& context);

/// The signal-to-noise ratio of the mean noise share of one operand over all layers, in dB; NaN when
/// no layer has it quantized.
double mean_snr_db(const std::vector<OperandNoise>& noise, Operand operand);

/// One row for each choice: bits, bytes, mean SNR of weights, inputs and outputs, accuracy, flips,
/// margin SNR.
Table choice_table(const std::vector<FormatResult>& results, const Measurement& before);
/// The same for programs, each with its measurement and comparison. `labels` are the names of the classes.
Json choices_json(const std::vector<FormatResult>& results, const Measurement& before,
                  const std::vector<std::string>& labels);
/// One row for each layer and choice: SNR of weights, inputs and outputs.
Table layer_table(const std::vector<FormatResult>& results);

}  // namespace hone
