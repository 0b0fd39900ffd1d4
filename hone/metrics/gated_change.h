#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/gate.h"
#include "hone/metrics/seed_verdict.h"
#include "hone/metrics/verdict.h"

/// Changes of gated metrics from a baseline to a candidate, and verdicts on the gates.
///
///     std::vector<MetricChange> changes;
///     for (const Gate& gate : gates) changes.push_back(gated_change(gate, baseline, candidate, truth));
///     judge_gates(gates, changes).summary  // "all 2 gates hold, in points: …"
namespace hone {

/// Returns the change of a gate's metric from the baseline to the candidate on the same examples.
///
/// Accuracy, subset accuracy and the recall of a class, on the examples of that class, use Tango's score
/// (`accuracy_change`). R², micro F1 and correlations are linearised, and AUCs use the contribution of each example
/// (`paired_change`, `Metric::contributions`). All other metrics are computed from counts: leaving out a text shows its
/// contribution (jackknife: Efron & Stein 1981, Annals of Statistics 9:586, whose variance is not too small on
/// average), and these contributions go to `paired_change` as well. For the precision of a class, the examples are
/// those that either model predicts as the class; for its F1, also those of the class.
///
/// Not defined, with a note that says why, if the metric is not: without examples of the class, for instance.
MetricChange gated_change(const Gate& gate, const Logits& baseline, const Logits& candidate,
                          const Truth& truth);
/// The same for several gates; evaluates both models once.
std::vector<MetricChange> gated_changes(std::span<const Gate> gates, const Logits& baseline,
                                        const Logits& candidate, const Truth& truth);

/// Returns what a gate counts: "examples", "examples of legal", "examples predicted as legal".
std::string gated_examples(const Gate& gate);

/// The verdict on all gates together.
struct GateVerdict {
  std::vector<Verdict> gates;  ///< one per gate, in their order
  Conclusion conclusion = Conclusion::
      inconclusive;  ///< within limit: all gates are; exceeds limit: one does; else inconclusive
  std::string summary = {};  ///< one sentence, without a full stop

  bool within_limit() const { return conclusion == Conclusion::within_limit; }
};

/// Judges each gate by `verdict_of_evaluation`, at a level corrected for `evaluations` times the number of gates: all
/// conclusions on any gate in any evaluation hold together at that level. With one gate and one evaluation this is
/// `verdict`. Throws `InternalError` unless there is a change per gate.
GateVerdict judge_gates(std::span<const Gate> gates, std::span<const MetricChange> changes,
                        std::int64_t evaluations = 1);

/// The same for candidates to choose one from, with Holm's correction over all gates of all candidates. `gates`,
/// `candidates`: the gates of each candidate, and its changes. A candidate without gates is within the limit.
std::vector<GateVerdict> judge_gates_of_choice(
    std::span<const std::vector<Gate>> gates,
    std::span<const std::vector<MetricChange>> candidates);

/// The same over seeds, by `verdict_of_seeds`. `changes`: one per gate. Levels are not corrected: the conclusion that
/// all gates hold is false as soon as one does not, so a false conclusion is as likely as for one gate
/// (intersection-union test: Berger 1982, Technometrics 24:295). Falsely judging that a gate fails only rejects a model
/// that might have passed.
GateVerdict judge_gates_of_seeds(std::span<const Gate> gates, std::span<const SeedChanges> changes);

/// A class, or a label, on which the candidate is right less often.
struct DegradedClass {
  std::int64_t index = 0;
  std::int64_t examples = 0;  ///< of the class
  double change = 0;          ///< of its recall
  Interval interval;          ///< of the change, 95%, for this class alone
  double p_value = 1;         ///< of McNemar's exact test, corrected
};

/// Returns the classes, or labels, whose recall falls, by McNemar's exact two-sided test on the examples of each at a
/// level of 5%, after Holm's correction over all classes with examples, and Bonferroni's for the number of
/// `comparisons` of the candidate. The largest fall comes first; empty for regression.
std::vector<DegradedClass> degraded_classes(const Logits& baseline, const Logits& candidate,
                                            const Truth& truth, std::int64_t comparisons = 1);

}  // namespace hone
