#pragma once

#include "hone/study/sensitivity.h"

namespace hone {

/// Bits per element of a matrix of 768 x 768, as formats are listed: what a format costs, not what
/// the one scale of a bias of two values costs.
double bits_of_format(const Format& format);

/// Whether 0 stays 0 among other values: whether the format has a code for it.
bool has_zero(const Format& format, Context& context);

/// What a format does to a tensor of values, after calibration on it.
Noise format_noise(const Format& format, const Tensor& values, Context& context);

/// The parameters of the format (width, fraction, bias, block …; never words) that lose least of
/// these values, measured, with at most `most_bits` bits per element (`bits_of_format`): a descent
/// along one parameter at a time from the given ones. The format itself when nothing is better; where
/// it has more bits than that, what comes down to them, or as near as the parameters can.
Format best_parameters(const Format& start, const Tensor& values, double most_bits,
                       Context& context);

/// A choice of `suggest`.
struct Suggestion {
  std::string layer;
  Operand operand;
  Format before;
  Format after;
  Noise noise_before;
  Noise noise_after;
};

/// The best parameters for every operand of the plan, each with at most `most_bits` bits per element,
/// or with as many as it has when that is 0. Chosen on weights and a sample of inputs; nothing is
/// trained.
std::vector<Suggestion> suggest(const Model& model, const QuantizationPlan& plan,
                                const EncodedSet& data, const CalibrationRun& run, double most_bits,
                                Context& context);

/// What rounding does to one operand of a layer, in results.
struct OperandResult {
  std::string layer;
  Operand operand = Operand::weight;
  std::string format;
  double snr_db = 0, clipped = 0, flushed = 0, smallest_step = 0, standard_deviation = 0;
  std::optional<std::string> better = {};
  std::optional<double> better_snr_db = {};
};
const Fields& fields_of(const OperandResult*);
/// `better`: the same format with better parameters, and its noise; none: there are none.
OperandResult operand_result(const OperandNoise& noise, const std::optional<Format>& better,
                             const Noise& noise_with_better);

/// The plan with the suggestions in it.
QuantizationPlan with_suggestions(QuantizationPlan plan,
                                  const std::vector<Suggestion>& suggestions);

/// The plan with these operands in full precision; layers of which none is quantized any more are left out.
QuantizationPlan without_operands(QuantizationPlan plan, std::span<const Suggestion> operands);

/// The plan of a graph as a recipe, one rule for each layer.
std::string to_recipe(const QuantizationPlan& plan, const Graph& graph);

}  // namespace hone
