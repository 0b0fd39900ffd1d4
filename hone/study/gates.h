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

/// What a compressed model may lose against its parent: `--max_drop` and `--gate` of every command that has a parent to
/// compare with.
namespace hone {

/// As they are given.
struct GateOptions {
  std::optional<double> max_drop_points = {};  ///< of the metric by which the task is judged
  std::vector<std::string> gates = {};         ///< as `parse_gate` takes them: "recall(legal)>=-2"
  std::optional<double> usual_drop_points =
      {};  ///< of that metric, where neither of them limits it

  bool any() const { return max_drop_points || !gates.empty(); }
};

/// `--max_drop` and `--gate`.
Options options_of(const GateOptions*);
/// The same with a remark on `--max_drop`: "allowed drop of accuracy, R2 or F1; native: needs a test split".
Options gate_options(std::string_view remark);

/// The gates of these options for a model that says this: that of `max_drop_points` first. Throws `UserError`, as `parse_gate` does,
/// and for two limits on one metric.
std::vector<Gate> gates_for(const GateOptions& options, const LabelScheme& scheme);

/// What of the metric by which a task is judged may be lost: the margin of the gate on it, else `kUsualMargin`.
double margin_for(const std::vector<Gate>& gates, const MetricName& figure);

/// The gate that is the hardest to pass: of the greatest p-value. There is one at least.
const Verdict& hardest(const GateVerdict& verdict);

/// Gates, and how they were judged on one part. Without gates there is no verdict.
struct JudgedGates {
  std::vector<Gate> gates = {};
  std::vector<MetricChange> changes = {};  ///< of each gate; over seeds empty
  GateVerdict verdict = {};
  /// The same on `Truth::unseen`, where that has rows.
  std::optional<GateVerdict> unseen = {};

  bool any() const { return !gates.empty(); }
};

/// The gates by what two models say of the same examples. Verdicts are corrected for `evaluations`: how many candidates are judged
/// in all.
JudgedGates judge(const std::vector<Gate>& gates, const Logits& parent, const Logits& candidate,
                  const Truth& truth, std::int64_t evaluations = 1);

/// How many different examples of the same kind would show that the gates hold that are not shown to, power 80%, of `effective` at hand:
/// as many as the gate needs that needs most, whose class is as frequent among them as here. Nothing where all gates are decided, and
/// where more examples would not show it of one of them: it exceeds its limit, or is too close to it.
std::optional<std::int64_t> examples_needed(const JudgedGates& judged, std::int64_t effective);

/// What the gates that allow a loss say of the parent beside itself: where they are not shown to be passed, no candidate can be
/// expected to pass. A gate that asks for a gain, or allows no loss, is not for the parent to pass; and of a metric of numbers, such as
/// R², the parent beside itself says nothing: a candidate whose numbers move little has a narrow interval.
struct ParentJudged {
  bool passes = true;
  Verdict hardest = {};      ///< the gate that is the hardest to pass
  std::string counted = {};  ///< what its `examples_needed` are: "examples of legal"
  std::optional<std::int64_t> examples_needed = {};  ///< see there
  std::int64_t evaluations_that_show =
      0;  ///< so many, fewer than those asked for, would show it; 0: not even one
  /// The least limit of that gate, in half points, that the parent is shown to pass; none: above 10 points, or another gate is not
  /// passed either.
  std::optional<double> points_that_show = {};
};
/// There is one gate at least.
ParentJudged judge_parent(const std::vector<Gate>& gates, const Logits& parent, const Truth& truth,
                          std::int64_t evaluations);
/// What would show it, where it does not pass: "about 1,400 examples for accuracy, or --trials 3"; `option` is what limits evaluations.
std::string needed_text(const ParentJudged& judged, const std::string& option);
/// "Too few examples: on validation, n = 300, not even the baseline compared with itself would be shown to be within the limit in 10
/// evaluations.", with `evaluations` as "10 evaluations"; "" where it passes.
std::string too_few_sentence(const ParentJudged& judged, const std::string& measured_on,
                             const std::string& evaluations);

/// The same of candidates of which one is to be chosen: verdicts are corrected for all gates of all candidates (Holm). `gates`,
/// `changes`: of each candidate.
std::vector<JudgedGates> judge_choice(const std::vector<std::vector<Gate>>& gates,
                                      const std::vector<std::vector<MetricChange>>& changes);

/// A gate in results. Counts are those of one seed, null over seeds.
struct GatedChangeResult {
  std::string gate;  ///< as it was typed
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
/// The same where there are gates.
std::optional<GateResult> gate_result_if_any(const JudgedGates& judged);

/// The gates over the seeds of a repeated job, from the `gate` of each result.
JudgedGates judge_seeds(const std::vector<Gate>& gates, const std::vector<Json>& results);

/// A row for each gate: which examples it counts, how many there are and how many they count for, the metric before and after, the change
/// with its interval, the verdict, and how many examples would tell.
Table gate_table(const JudgedGates& judged);
/// "passed", "failed" or "inconclusive".
Cell gates_cell(const JudgedGates& judged);
/// "Gates on test, n = 200: passed; …". Of a single gate on the metric of the headline the word alone.
std::string gate_text(const JudgedGates& judged, const std::string& measured_on);
/// The same with the table, for a document; nothing without gates.
std::vector<Block> gate_blocks(const JudgedGates& judged, const std::string& measured_on);

/// How the gates ended, for a headline. Of one gate: "recall of legal within 2 points (81.2% → 80.9%)". Of several those that decide: "1 of 2
/// gates failed: macro F1 dropped by more than 0.5 points (89.7% → 88.0%)". There is one gate at least.
std::string gate_headline(const JudgedGates& judged);
Tone tone_of(const JudgedGates& judged);
/// The verdict to show of the metric by which the task is judged: that of the gate on it. Nothing without one: nobody asked for a limit.
std::optional<Verdict> shown_verdict(const JudgedGates& judged, const MetricName& figure);
/// How sure the change of that metric is, with the verdict that is shown: its summary, else the change alone. `notes` follow that;
/// `differs`: an exact test finds a change too.
std::string change_evidence(const JudgedGates& judged, const Verdict& usual, bool differs,
                            const std::string& notes);
/// The same on `Truth::unseen`, a sentence with a space in front: " Without the 203 examples seen in training or used for choices, n =
/// 2,414: accuracy changed by …"; empty where that has no rows.
std::string unseen_change_sentence(const JudgedGates& judged, const TaskComparison& comparison);

/// The work is done, and its result does not pass a gate. The program then ends with `kGateFailed`, for scripts.
class GateFailure : public Error {
  using Error::Error;
};
inline constexpr int kGateFailed = 3;

/// Whether a job's result passed its gates.
struct GateOutcome {
  bool passed = true;
  std::string summary = {};  ///< a clause
};
/// Nothing where there are no gates.
std::optional<GateOutcome> outcome_of(const JudgedGates& judged);

/// A class, or label, whose recall fell significantly.
struct LostClassResult {
  std::string name;
  std::int64_t examples = 0;
  double recall_change = 0;
  Interval recall_change_interval = {};
  double p_value = 1;
};
const Fields& fields_of(const LostClassResult*);
std::vector<LostClassResult> lost_class_results(const std::vector<LostClass>& lost,
                                                const std::vector<std::string>& labels);
/// A row for each of them: its examples, the change of its recall, and p.
Table lost_class_table(const std::vector<LostClass>& lost, const std::vector<std::string>& labels);
/// A clause on the first two and the number of the rest, without its full stop: "recall of 'tech' fell by 4.09 points (…), of 'art' by 3.20
/// points (…), and of 6 others (see the report); p: McNemar's test, …". There is one at least.
std::string lost_class_text(const std::vector<LostClass>& lost,
                            const std::vector<std::string>& labels);

}  // namespace hone
