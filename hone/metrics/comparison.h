#pragma once

#include <cstdint>
#include <span>

#include "hone/metrics/classification.h"

/// A candidate (quantized, pruned, …) against its parent on the same examples: what is counted. What follows from it is
/// said in hone/metrics/verdict.h.
///
///     Comparison c = compare(parent_logits, candidate_logits, labels);
///     c.flip_share, c.margin_snr_db, c.mcnemar_p
namespace hone {

/// McNemar's test of whether two classifiers are right equally often, from the examples on which only one is right: the
/// two-sided p-value, exact for any number of them (binomial with probability ½, McNemar 1947).
double mcnemar_p(std::int64_t only_parent, std::int64_t only_candidate);

struct Comparison {
  std::int64_t examples = 0;
  double evidence = 1;     ///< of each example, as some repeat others (hone/metrics/evidence.h)
  std::int64_t flips = 0;  ///< predictions that differ, right or wrong
  double flip_share = 0;   ///< flips / examples; NaN without examples
  Interval flip_interval;  ///< Wilson, 95%
  std::int64_t both_right = 0;
  std::int64_t both_wrong = 0;
  std::int64_t only_parent = 0;     ///< right in the parent, wrong in the candidate
  std::int64_t only_candidate = 0;  ///< wrong in the parent, right in the candidate
  double mcnemar_p = 1;             ///< see `mcnemar_p` and `compare`
  double margin_snr_db = 0;         ///< see `margin_snr_db`

  /// Accuracy of the candidate minus that of the parent.
  double accuracy_change() const {
    return static_cast<double>(only_candidate - only_parent) / static_cast<double>(examples);
  }
};

/// Both logits and the labels describe the same examples in the same order. `texts`: as in `evidence`. Examples are
/// counted as they are; the intervals rest on their evidence, and McNemar's test takes each text once: for the side on
/// which more of its rows are right alone.
/// Throws `UserError` for a label that is not a class of the logits.
Comparison compare(const Logits& parent, const Logits& candidate,
                   std::span<const std::int32_t> labels, std::span<const std::int32_t> texts = {});

/// The same from what each example's predictions are: whether the parent's and the candidate's are right, and whether they
/// differ, right or wrong. `margin_snr_db` is left NaN.
Comparison compare_answers(std::span<const char> parent_right,
                           std::span<const char> candidate_right, std::span<const char> differ,
                           std::span<const std::int32_t> texts = {});

/// How well the candidate keeps the parent's margins, in decibels:
///
///     10 log10( Σ parent_margin² / Σ (candidate_margin - parent_margin)² )
///
/// The margin of an example is the logit of the parent's first class minus that of its second, the
/// same two classes in both models. With two classes that is logit 1 - logit 0 up to a sign, which
/// the squares forget. A shift common to all logits of a row changes nothing. Infinite when no
/// margin differs, NaN when a logit is NaN.
double margin_snr_db(const Logits& parent, const Logits& candidate);

/// Tango's score (1998, Statistics in Medicine 17:891, section 2): how many standard errors, under the hypothesis that
/// the candidate is right `change` more often than the parent, the observed change lies above it. `change` is within
/// [-1, 1]; 0 without examples. All counts are taken times the evidence.
double tango_score(const Comparison& comparison, double change);

/// The 95% interval of the candidate's accuracy minus the parent's, from paired examples: where Tango's score is within
/// 1.96 (section 3). It holds its level for few examples too, and has a positive width where nothing differs: no example
/// can exclude what is rarer than one in all of them. [-1, 1] without examples.
Interval accuracy_change_interval(const Comparison& comparison);

}  // namespace hone
