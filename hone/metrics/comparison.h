#pragma once

#include <cstdint>
#include <span>

#include "hone/metrics/classification.h"

/// Counts that compare a candidate (quantized, pruned, …) with its baseline on the same examples.
/// hone/metrics/verdict.h draws the conclusions.
///
///     Comparison c = compare(baseline_logits, candidate_logits, labels);
///     c.flip_share, c.margin_snr_db, c.mcnemar_p
namespace hone {

/// Returns the two-sided p-value of McNemar's test of whether two classifiers are right equally often, from the numbers
/// of examples on which only one is right. Exact for any numbers (binomial with probability ½, McNemar 1947).
double mcnemar_p(std::int64_t only_baseline, std::int64_t only_candidate);

struct Comparison {
  std::int64_t examples = 0;
  double evidence =
      1;  ///< of each example, below 1 if some repeat others (hone/metrics/evidence.h)
  std::int64_t flips = 0;  ///< predictions that differ, right or wrong
  double flip_share = 0;   ///< flips / examples; NaN without examples
  Interval flip_interval;  ///< Wilson, 95%
  std::int64_t both_right = 0;
  std::int64_t both_wrong = 0;
  std::int64_t only_baseline = 0;   ///< only the baseline is right
  std::int64_t only_candidate = 0;  ///< only the candidate is right
  double mcnemar_p = 1;             ///< see `mcnemar_p` and `compare`
  double margin_snr_db = 0;         ///< see `margin_snr_db`

  /// Returns the accuracy of the candidate minus that of the baseline.
  double accuracy_change() const {
    return static_cast<double>(only_candidate - only_baseline) / static_cast<double>(examples);
  }
};

/// Compares two models. Both logits and the labels describe the same examples in the same order. `texts`: as in
/// `evidence`. All examples are counted. The intervals use their evidence, and McNemar's test counts each text once:
/// for the model that alone is right on more of its rows. Throws `UserError` for a label that is not a class of the
/// logits.
Comparison compare(const Logits& baseline, const Logits& candidate,
                   std::span<const std::int32_t> labels, std::span<const std::int32_t> texts = {});

/// The same from flags for each example: whether the predictions of the baseline and the candidate are right, and
/// whether they differ, right or wrong. Leaves `margin_snr_db` NaN.
Comparison compare_predictions(std::span<const char> baseline_right,
                               std::span<const char> candidate_right, std::span<const char> differ,
                               std::span<const std::int32_t> texts = {});

/// Returns how well the candidate preserves the baseline's margins, in decibels:
///
///     10 log10( Σ parent_margin² / Σ (candidate_margin - baseline_margin)² )
///
/// The margin of an example is the logit of the baseline's first class minus that of its second, for the same two
/// classes in both models. With two classes that is logit 1 - logit 0 up to a sign, which squaring removes. Adding a
/// constant to all logits of a row changes nothing. Infinite if no margin differs, NaN if a logit is NaN.
double margin_snr_db(const Logits& baseline, const Logits& candidate);

/// Returns Tango's score (1998, Statistics in Medicine 17:891, section 2): by how many standard errors the observed
/// change exceeds `change`, under the hypothesis that the candidate is right `change` more often than the baseline.
/// `change` is within [-1, 1]; the score is 0 without examples. All counts are multiplied by the evidence.
double tango_score(const Comparison& comparison, double change);

/// Returns the 95% interval of the candidate's accuracy minus the baseline's, from paired examples: the changes for
/// which Tango's score is within 1.96 (section 3). It keeps its level for few examples too, and has a positive width if
/// nothing differs: no sample can exclude changes rarer than one in all its examples. [-1, 1] without examples.
Interval accuracy_change_interval(const Comparison& comparison);

}  // namespace hone
