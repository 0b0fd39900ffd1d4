#pragma once

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/study/format_search.h"

namespace hone {

/// A plan that could lose less than another.
struct Remedy {
  /// The same formats with better parameters at no more bits. If there are none, the plan with the noisiest quarter of
  /// its operands in full precision; empty if that is all of them.
  QuantizationPlan plan;
  bool better_parameters = false;
};

/// The noise of a plan by layer and operand, with better parameters at no more bits. These are tried on each operand,
/// and all together on the whole model.
struct Diagnosis {
  std::vector<Suggestion> operands;  ///< the noisiest first, biases after all others
  Remedy remedy;
  /// The whole model with the remedy, by rounding alone, compared with its baseline on the validation split; empty if
  /// that is missing. The reported split is not used, so that its numbers stay unbiased if the remedy is adopted.
  std::optional<ComparedModel> improved;
  std::string split;  ///< the split it was measured on
};

/// Returns whether a loss needs an explanation: half a point or more, significant or not, or an undefined metric.
bool worth_explaining(const MetricChange& change);

/// Diagnoses the losses of the options' plan. `before` is the baseline on `data.test`; it is not measured again if that
/// split decides.
Diagnosis diagnose(const Model& baseline, const Measurement& before, const EncodedSplits& data,
                   const CompressOptions& options, Context& context);

/// Returns signal-to-noise ratio, shares clipped and flushed to zero, smallest step against the spread of the values,
/// and the better format, for the first `most_rows` operands below `most_snr_db`.
Table diagnosis_table(const Diagnosis& diagnosis, double most_snr_db, std::size_t most_rows);
/// The same for all operands, in results.
std::vector<OperandResult> operand_results(const Diagnosis& diagnosis);

}  // namespace hone
