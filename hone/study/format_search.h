#pragma once

#include "hone/study/sensitivity.h"

namespace hone {

/// Returns the bits per element of a 768 x 768 matrix: what the format costs, not what the one scale of a bias of two
/// values costs.
double bits_of_format(const Format& format);

/// Returns whether 0 stays 0 among other values: whether the format has a code for it.
bool has_zero(const Format& format, Context& context);

/// Returns the noise of quantizing the values, after calibration on them.
Noise format_noise(const Format& format, const Tensor& values, Context& context);

/// Returns the format with the parameters (width, fraction, bias, block …; never words) that lose least of these
/// values, with at most `most_bits` bits per element (`bits_of_format`). Searches along one parameter at a time, from
/// the given ones, and measures the loss. Returns the format itself if none is better. If it has more bits than
/// allowed, returns one within the limit, or as near as its parameters can get.
Format best_parameters(const Format& start, const Tensor& values, double most_bits,
                       Context& context);

struct Suggestion {
  std::string layer;
  Operand operand;
  Format before;
  Format after;
  Noise noise_before;
  Noise noise_after;
};

/// Returns the best parameters for every operand of the plan, each with at most `most_bits` bits per element; 0: at
/// most the bits it has. Measures weights and a sample of inputs, without training.
std::vector<Suggestion> suggest(const Model& model, const QuantizationPlan& plan,
                                const EncodedSet& data, const CalibrationRun& run, double most_bits,
                                Context& context);

/// The rounding error of one operand of a layer, in results.
struct OperandResult {
  std::string layer;
  Operand operand = Operand::weight;
  std::string format;
  double snr_db = 0, clipped = 0, flushed = 0, smallest_step = 0, standard_deviation = 0;
  std::optional<std::string> better = {};
  std::optional<double> better_snr_db = {};
};
const Fields& fields_of(const OperandResult*);
/// `better`: the same format with better parameters, if any, and its noise.
OperandResult operand_result(const OperandNoise& noise, const std::optional<Format>& better,
                             const Noise& noise_with_better);

/// Returns the plan with the suggested formats.
QuantizationPlan with_suggestions(QuantizationPlan plan,
                                  const std::vector<Suggestion>& suggestions);

/// Returns the plan with these operands in full precision, without layers that are no longer quantized.
QuantizationPlan without_operands(QuantizationPlan plan, std::span<const Suggestion> operands);

/// Returns the plan of a graph as a recipe with one rule for each layer.
std::string to_recipe(const QuantizationPlan& plan, const Graph& graph);

}  // namespace hone
