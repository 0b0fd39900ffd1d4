#pragma once

#include "hone/jobs/choice.h"
#include "hone/jobs/compress.h"
#include "hone/study/format_search.h"

namespace hone {

/// What may lose less than a plan.
struct Remedy {
  /// With better parameters of the same formats at no more bits; where there are none, without the noisiest quarter of its
  /// operands, which stay in full precision; empty where that is all of them.
  QuantizationPlan plan;
  bool better_parameters = false;
};

/// Why a plan loses what it loses: operands by layer, and parameters that would do better at no more
/// bits, tried on the operand and, all together, on the whole model.
struct Diagnosis {
  std::vector<Suggestion> operands;  ///< the noisiest first, biases after all others
  Remedy remedy;
  /// The whole model with the remedy, by rounding alone, beside its parent on the validation part; nothing where
  /// there is none. Who takes it over chose it there, so the figures of the part that is reported stay honest.
  std::optional<ComparedModel> improved;
  std::string part;  ///< where it was measured
};

/// Whether people will want to know where the figure went: half a point or more of it is gone, be that shown to be more
/// than chance or not, or it is not defined any more.
bool worth_explaining(const FigureChange& change);

/// `before` is the parent on `data.test`, which is not measured again where the choice is made there.
Diagnosis diagnose(const Model& parent, const Measurement& before, const EncodedSplits& data,
                   const CompressOptions& options, Context& context);

/// Signal-to-noise ratio, share clipped, share flushed to zero, smallest step against the spread of
/// the values, and the better format, for the operands below `most_snr_db`; the first `most_rows`.
Table diagnosis_table(const Diagnosis& diagnosis, double most_snr_db, std::size_t most_rows);
/// The same of all operands, for programs.
Json operands_json(const Diagnosis& diagnosis);

}  // namespace hone
