#pragma once

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_result.h"
#include "hone/study/sensitivity.h"

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
  ComparedModel model;  ///< the whole model quantized by rounding alone, with its verdict
  double bytes = 0;     ///< of all parameters, if packed
  std::vector<OperandNoise> noise;  ///< of every layer alone
};

/// Formats beside each other.
struct FormatStudy {
  Choice choice;
  std::vector<FormatResult> results;  ///< where the choice is made, in the order they were given
  /// Of those that are kept, the one of the fewest bits; among equals the one with the highest margin SNR.
  std::optional<std::size_t> chosen;
};

/// Quantizes the model to each choice and measures it: every layer alone over the calibration
/// batches, the whole model on the part that choices are made on. The verdicts are corrected for the number of choices
/// (`verdicts_of_choice`), and what is chosen by them is measured once on `data.test`.
/// Throws `UserError` when there is no part to choose on.
FormatStudy compare_formats(const Model& model, const EncodedSplits& data,
                            const std::vector<FormatChoice>& choices,
                            const CompressOptions& options, Context& context);

/// The signal-to-noise ratio of the mean noise share of one operand over all layers, in dB; NaN when
/// no layer has it quantized.
double mean_snr_db(const std::vector<OperandNoise>& noise, Operand operand);

/// One row for each choice: bits, bytes, accuracy, its change and flips with their 95% intervals, McNemar's p, verdict,
/// loss, margin SNR, mean SNR of weights, inputs and outputs.
Table choice_table(const FormatStudy& study);
/// The rows of that table: the model, then every choice.
std::vector<ComparedModel> compared_models(const FormatStudy& study);
/// The model and what was chosen (see `chosen_evaluations` of a choice).
std::vector<NamedEvaluation> chosen_evaluations(const FormatStudy& study);
/// Which format needs the fewest bits of those that are shown to keep the accuracy, or comes nearest to it, what it
/// changes, on which part and how many texts.
std::string choice_verdict(const FormatStudy& study);
/// What was measured once, of what was chosen; or why the nearest to it is not shown to be kept. Lines.
std::vector<std::string> choice_findings(const FormatStudy& study);
/// The same for programs, with the choice: `formats`, each with its measurement and comparison, `chosen` (a format, or
/// null), `summary`, `findings`. `labels` are the names of the classes.
Json to_json(const FormatStudy& study, const std::vector<std::string>& labels);
/// The same for people.
std::string to_text(const FormatStudy& study, const TextStyle& style = {});
/// With the figure that is drawn as `stem`.svg and .png: margin SNR against bits, and the front of those that no other
/// beats in both. A figure that could not be drawn is a line of `notes`.
Section choice_section(const FormatStudy& study, const fs::path& stem,
                       std::vector<std::string>& notes);
/// One row for each layer and choice: SNR of weights, inputs and outputs.
Table layer_table(const std::vector<FormatResult>& results);

}  // namespace hone
