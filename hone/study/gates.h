#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/fields.h"
#include "hone/base/json.h"
#include "hone/base/options.h"
#include "hone/metrics/gate.h"
#include "hone/metrics/gated_change.h"
#include "hone/report/document.h"
#include "hone/report/table.h"
#include "hone/report/text_layout.h"

/// Limits on the loss of a compressed model against its baseline: `--max_drop` and `--gate` of every command that
/// compares with a baseline.
namespace hone {

/// The limits on the command line.
struct GateOptions {
  std::optional<double> max_drop_points = {};  ///< of the task's main metric
  std::vector<std::string> gates = {};         ///< as `parse_gate` reads them: "recall(legal)>=-2"
  std::optional<double> default_drop_points =
      {};  ///< default for that metric, if neither option limits it

  bool any() const { return max_drop_points || !gates.empty(); }
};

/// `--max_drop` and `--gate`.
Options options_of(const GateOptions*);
/// The same with `remark` appended to the help of `--max_drop`.
Options gate_options(std::string_view remark);

/// Returns the gates for a model with this label scheme, that of `max_drop_points` first. Throws `UserError`, as
/// `parse_gate` does, and for two limits on one metric.
std::vector<Gate> gates_for(const GateOptions& options, const LabelScheme& scheme);

/// Returns the allowed loss of the task's main metric: the margin of the gate on it, else `kDefaultMargin`.
double margin_for(const std::vector<Gate>& gates, const MetricName& metric);

/// Returns the verdict with the greatest p-value. There is at least one gate.
const Verdict& hardest(const GateVerdict& verdict);

/// Gates and their verdicts on one split. Without gates there is no verdict.
struct JudgedGates {
  std::vector<Gate> gates = {};
  std::vector<MetricChange> changes = {};  ///< of each gate; empty over seeds
  GateVerdict verdict = {};
  /// The verdict on `Truth::unseen`, if that has rows.
  std::optional<GateVerdict> unseen = {};

  bool any() const { return !gates.empty(); }
};

/// Judges the gates by the predictions of two models for the same examples. Verdicts are corrected for `evaluations`,
/// the number of candidates judged in all.
JudgedGates judge(const std::vector<Gate>& gates, const Logits& baseline, const Logits& candidate,
                  const Truth& truth, std::int64_t evaluations = 1);

/// Returns how many different examples of the same kind would show with power 80% that the undecided gates hold, given
/// `effective` examples. It is the largest number that any gate needs, assuming that its class is as frequent as here.
/// None if all gates are decided, or if more examples would not help a gate: it exceeds its limit, or is too close to
/// it.
std::optional<std::int64_t> examples_needed(const JudgedGates& judged, std::int64_t effective);

/// The gates that allow a loss, judged for the baseline against itself: if they are not shown to pass, no candidate can
/// be expected to. Gates that require a gain or allow no loss are left out. So are metrics of numbers, such as R²: a
/// candidate whose numbers move little has a narrow interval.
struct BaselineVerdict {
  bool passes = true;
  Verdict hardest = {};      ///< the gate with the greatest p-value
  std::string counted = {};  ///< unit of its `examples_needed`: "examples of legal"
  std::optional<std::int64_t> examples_needed = {};  ///< see `hone::examples_needed`
  std::int64_t max_evaluations =
      0;  ///< the largest number of evaluations that would show it; 0: not even one
  /// The smallest limit of that gate, in half points, that the baseline is shown to pass; none: above 10 points, or
  /// another gate fails too.
  std::optional<double> min_limit_points = {};
};
/// There is at least one gate.
BaselineVerdict judge_baseline(const std::vector<Gate>& gates, const Logits& baseline,
                               const Truth& truth, std::int64_t evaluations);
/// Returns what would show that the gates hold: "about 1,400 examples for accuracy, or --trials 3"; `option` limits
/// evaluations.
std::string needed_text(const BaselineVerdict& judged, const std::string& option);
/// Returns "Too few examples: on validation, n = 300, not even the baseline compared with itself would be shown to be
/// within the limit in 10 evaluations.", with "10 evaluations" from `evaluations`; "" if it passes.
std::string too_few_sentence(const BaselineVerdict& judged, const std::string& measured_on,
                             const std::string& evaluations);

/// Judges candidates to choose one from. Verdicts are corrected for all gates of all candidates (Holm). `gates`,
/// `changes`: of each candidate.
std::vector<JudgedGates> judge_choice(const std::vector<std::vector<Gate>>& gates,
                                      const std::vector<std::vector<MetricChange>>& changes);

/// A gate in results. Counts are those of one seed, null over seeds.
struct GatedChangeResult {
  std::string gate;  ///< as on the command line
  std::optional<std::string> of_class = {};
  Verdict verdict = {};
  std::optional<std::int64_t> examples = {};
  std::optional<double> evidence = {}, before = {}, after = {};
  std::optional<std::string> unit = {};
  std::optional<std::int64_t> only_baseline_right = {}, only_candidate_right = {};
  std::optional<double> mcnemar_p = {};
  std::optional<std::int64_t> distinct_examples = {}, differing_examples = {};
  std::optional<double> change_half_width = {};
};
/// All gates in results.
struct GateResult {
  bool passed = true;
  Conclusion verdict = Conclusion::within_limit;
  std::string summary = {};
  std::vector<GatedChangeResult> gates = {};
};
const Fields& fields_of(const GatedChangeResult*);
const Fields& fields_of(const GateResult*);
GateResult gate_result(const JudgedGates& judged);
/// Returns the result of the gates, none if there are none.
std::optional<GateResult> gate_result_if_any(const JudgedGates& judged);

/// Judges the gates over the seeds of a repeated job, from the `gate` of each result.
JudgedGates judge_seeds(const std::vector<Gate>& gates, const std::vector<Json>& results);

/// Returns a row for each gate: the examples it counts, their number and effective number, the metric before and after,
/// the change with its interval, the verdict, and the number of examples needed.
Table gate_table(const JudgedGates& judged);
/// Returns "passed", "failed" or "inconclusive".
Cell gates_cell(const JudgedGates& judged);
/// Returns "Gates on test, n = 200: passed; …". For a single gate on the main metric, which the headline shows, returns
/// its limit and the outcome.
std::string gate_text(const JudgedGates& judged, const std::string& measured_on);
/// The same with the table, for a document; empty without gates.
std::vector<Block> gate_blocks(const JudgedGates& judged, const std::string& measured_on);

/// Returns the outcome of the gates for a headline. One gate: "recall of legal within 2 points (81.2% → 80.9%)".
/// Several: those that decide, "1 of 2 gates failed: macro F1 dropped by more than 0.5 points (89.7% → 88.0%)". There
/// is at least one gate.
std::string gate_headline(const JudgedGates& judged);
Tone tone_of(const JudgedGates& judged);
/// Returns the verdict of the gate on this metric; none without one.
std::optional<Verdict> shown_verdict(const JudgedGates& judged, const MetricName& metric);
/// Returns the evidence for the change of the main metric: the summary of its gate, else of the change without a limit.
/// `notes` are appended to the latter; `differs`: an exact test finds a change too.
std::string change_evidence(const JudgedGates& judged, const Verdict& usual, bool differs,
                            const std::string& notes);
/// The same on `Truth::unseen`, a sentence after a space: " Without the 203 examples seen in training or used for
/// choices, n = 2,414: accuracy changed by …"; "" if that has no rows.
std::string unseen_change_sentence(const JudgedGates& judged, const TaskComparison& comparison);

/// Thrown after a job whose result does not pass a gate. The program then exits with `kGateFailed`, for scripts.
class GateFailure : public Error {
  using Error::Error;
};
inline constexpr int kGateFailed = 3;

/// Whether a job's result passed its gates.
struct GateOutcome {
  bool passed = true;
  std::string summary = {};  ///< a clause
};
/// Returns none if there are no gates.
std::optional<GateOutcome> outcome_of(const JudgedGates& judged);

/// A class, or label, whose recall fell significantly.
struct DegradedClassResult {
  std::string name;
  std::int64_t examples = 0;
  double recall_change = 0;
  Interval recall_change_interval = {};
  double p_value = 1;
};
const Fields& fields_of(const DegradedClassResult*);
std::vector<DegradedClassResult> degraded_class_results(const std::vector<DegradedClass>& lost,
                                                        const std::vector<std::string>& labels);
/// Returns a row for each of them: its examples, the change of its recall, and p.
Table degraded_class_table(const std::vector<DegradedClass>& lost,
                           const std::vector<std::string>& labels);
/// Returns a clause about the first two and the number of the others, without a full stop: "recall of 'tech' fell by
/// 4.09 points (…), of 'art' by 3.20 points (…), and of 6 others, listed in the report; p: McNemar's test, …". There is
/// at least one.
std::string degraded_class_text(const std::vector<DegradedClass>& lost,
                                const std::vector<std::string>& labels);

}  // namespace hone
