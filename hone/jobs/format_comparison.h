#pragma once

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_result.h"
#include "hone/study/sensitivity.h"

namespace hone {

/// Formats for all linear layers of a model.
struct FormatChoice {
  std::string label;
  LayerFormats formats;
};

/// "FORMAT": for inputs, weights and biases; "WEIGHTS/INPUTS": for weights and for inputs, biases in
/// full precision; either may be "none".
FormatChoice parse_choice(std::string_view text, const FormatTable& formats);

/// The default choices: one of each kind, at 8 bits and below.
std::vector<FormatChoice> default_format_choices(const FormatTable& formats);

struct FormatResult {
  FormatChoice choice;
  ComparedModel model;  ///< the whole model quantized by rounding alone, with its verdict
  double bytes = 0;     ///< of all parameters when packed
  std::vector<OperandNoise> noise;  ///< of every layer alone
};

struct FormatStudy {
  Choice choice;
  std::vector<FormatResult> results;  ///< on the split that decides, in the given order
  /// The one with the fewest bits of those within the limit; ties go to the highest margin SNR.
  std::optional<std::size_t> chosen;
};

/// Quantizes the model to each choice and measures every layer alone over the calibration batches, and the whole model
/// on the split that decides. Verdicts are corrected for the number of choices (`verdicts_of_choice`). The chosen one
/// is measured once on `data.test`. Throws `UserError` if there is no split to choose on.
FormatStudy compare_formats(const Model& model, const EncodedSplits& data,
                            const std::vector<FormatChoice>& choices,
                            const CompressOptions& options, Context& context);

/// Returns the signal-to-noise ratio of the mean noise share of one operand over all layers, in dB; NaN if no layer has
/// it quantized.
double mean_snr_db(const std::vector<OperandNoise>& noise, Operand operand);

/// Returns one row for each choice: bits, bytes, accuracy, its change and flips with their 95% intervals, McNemar's p,
/// verdict, loss, margin SNR, mean SNR of weights, inputs and outputs.
Table choice_table(const FormatStudy& study);
/// Returns the rows of that table: the baseline, then every choice.
std::vector<ComparedModel> compared_models(const FormatStudy& study);
/// Returns the baseline and the chosen format (see `chosen_evaluations` of a choice).
std::vector<NamedEvaluation> chosen_evaluations(const FormatStudy& study);
/// Names the format with the fewest bits within the limit, or the nearest to it, with its change, the split and the
/// number of examples.
std::string choice_verdict(const FormatStudy& study);
/// Describes the result of the chosen format on the reported split, or why the nearest one is not within the limit.
std::vector<std::string> choice_findings(const FormatStudy& study);
/// A choice of formats in results.
struct FormatChoiceResult {
  std::string format;
  double average_weight_bits = 32;
  std::string arithmetic;
  EvaluationResult measured = {};
  std::optional<ComparisonResult> comparison = {};
  std::optional<std::int64_t> packed_bytes = {};
  double weight_snr_db = 0, input_snr_db = 0, output_snr_db = 0;
};
const Fields& fields_of(const FormatChoiceResult*);
/// Returns the baseline, then every choice. `labels` are the class names.
std::vector<FormatChoiceResult> format_choices(const FormatStudy& study,
                                               const std::vector<std::string>& labels);

/// A layer in a choice of formats, in results.
struct FormatLayerResult {
  std::string layer, format;
  double weight_snr_db = 0, input_snr_db = 0, output_snr_db = 0;
};
const Fields& fields_of(const FormatLayerResult*);
std::vector<FormatLayerResult> format_layers(const std::vector<FormatResult>& results);

/// Sets the headline, key figures and evidence.
void fill_document(const FormatStudy& study, Document& document);
/// Returns the tables and, with a `stem`, the figure `stem`.svg and .png: margin SNR against bits, with the Pareto
/// front. A figure that cannot be drawn adds a note to `notes`.
Section choice_section(const FormatStudy& study, const std::optional<fs::path>& stem,
                       std::vector<std::string>& notes);
/// Explains the columns in a folded section.
Section choice_reading(const FormatStudy& study);
Table layer_table(const std::vector<FormatResult>& results);

}  // namespace hone
