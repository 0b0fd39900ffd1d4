#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hone/metrics/gate.h"
#include "hone/metrics/seed_verdict.h"
#include "hone/metrics/verdict.h"

/// How the metrics that gates name change from a parent to a candidate, and whether the gates hold.
///
///     std::vector<MetricChange> changes;
///     for (const Gate& gate : gates) changes.push_back(gated_change(gate, parent, candidate, truth));
///     judge_gates(gates, changes).summary  // "all 2 gates hold: …"
namespace hone {

/// How a gate's metric of the candidate differs from that of the parent on the same examples.
///
/// Accuracy, subset accuracy and the recall of a class, which stands on the examples of that class alone, by Tango's score
/// (`accuracy_change`); R², micro F1 and correlations linearised, areas by what each example adds (`paired_change`, `Metric::parts`). All others are
/// computed from counts: what a text adds is seen by leaving it out (jackknife: Efron & Stein 1981, Annals of Statistics
/// 9:586, whose variance is not too small on average), and that goes to `paired_change` as well. Of the precision of a class
/// the examples are those that one of the models takes for the class; of its F1 those that are of the class, too.
///
/// Not defined, with a note that says why, where the metric is not: without examples of the class, for instance.
MetricChange gated_change(const Gate& gate, const Logits& parent, const Logits& candidate,
                          const Truth& truth);
/// The same of several gates, for which both models are evaluated once.
std::vector<MetricChange> gated_changes(std::span<const Gate> gates, const Logits& parent,
                                        const Logits& candidate, const Truth& truth);

/// What a gate counts: "examples", "examples of legal", "examples predicted as legal".
std::string gated_examples(const Gate& gate);

/// All gates together.
struct GateVerdict {
  std::vector<Verdict> gates;  ///< one per gate, in their order
  Conclusion conclusion =
      Conclusion::inconclusive;  ///< kept: all gates are; lost: one is lost; else unclear
  std::string summary = {};      ///< one sentence, without its full stop

  bool kept() const { return conclusion == Conclusion::within_limit; }
};

/// Each gate by `verdict_of_look`, at a level corrected for `evaluations` times the number of gates: what is claimed of any gate
/// in any evaluation holds together with all other claims. With one gate and one evaluation this is `verdict`.
/// Throws `InternalError` unless there is a change per gate.
GateVerdict judge_gates(std::span<const Gate> gates, std::span<const MetricChange> changes,
                        std::int64_t evaluations = 1);

/// The same for candidates of which one is to be chosen, by Holm's correction over all gates of all candidates. `gates`, `candidates`:
/// those that each has to pass, and its changes. Without gates a candidate is kept.
std::vector<GateVerdict> judge_gates_of_choice(
    std::span<const std::vector<Gate>> gates,
    std::span<const std::vector<MetricChange>> candidates);

/// The same over seeds, by `verdict_of_seeds`. `changes`: one per gate. Levels are not corrected: that all gates are kept is
/// false as soon as one is not, so that the chance of claiming it falsely is that of one gate (intersection-union test: Berger
/// 1982, Technometrics 24:295). A gate that is called lost falsely only refuses a model that might have passed.
GateVerdict judge_gates_of_seeds(std::span<const Gate> gates, std::span<const SeedChanges> changes);

/// A class, or a label, on which the candidate is right less often.
struct LostClass {
  std::int64_t index = 0;
  std::int64_t examples = 0;  ///< of the class
  double change = 0;          ///< of its recall
  Interval interval;          ///< of that, 95%, of this class alone
  double p_value = 1;         ///< of McNemar's exact test, corrected
};

/// The classes, or labels, whose recall falls, by McNemar's exact two-sided test on the examples of each at a level of 5%, after
/// Holm's correction over all classes with examples, and Bonferroni's over `comparisons` of the candidate with others. The
/// largest fall first; empty for regression.
std::vector<LostClass> lost_classes(const Logits& parent, const Logits& candidate,
                                    const Truth& truth, std::int64_t comparisons = 1);

}  // namespace hone
