#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/models/encoding.h"
#include "hone/report/document.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/gates.h"
#include "hone/study/measure.h"
#include "hone/study/seeds.h"

/// Comparison of a model before and after a job changes it, on the reported split.
namespace hone {

/// Measures the model that a job begins with on `data.test`. Concerns about its metrics are printed and added to
/// `notes`. `change` names the job.
Measurement measure_before(const TextModel& baseline, const EncodedSplits& data,
                           std::int64_t batch_size, Context& context,
                           std::vector<std::string>& notes, std::string_view change = "quantizing");

/// The measurements before and after, and their comparison.
struct BeforeAndAfter {
  Measurement before;
  Measurement after;
  TaskComparison comparison;
  Verdict verdict;         ///< on the metric by which the task is judged: that of its gate, if any
  JudgedGates gates = {};  ///< empty if none were given
  std::vector<DegradedClass> lost =
      {};  ///< classes that lost significantly, whatever the gates say
  std::vector<std::string> labels = {};  ///< class names

  /// Returns whether the gates are shown to be exceeded or, without gates, whether the loss is significant and above
  /// `kDefaultMargin`.
  bool is_clearly_worse() const;
};

/// Returns the gates of these options for this model. Throws `UserError` like `gates_for`, and if the model has no
/// classification head whose predictions could be judged.
std::vector<Gate> gates_of(const GateOptions& options, const Model& model, const std::string& name);

/// Measures the compressed model and judges the change. `evaluations`: how many candidates were evaluated on the same
/// examples; verdicts are corrected for them (`judge`). `title` names the progress line; empty: "compressed, test".
BeforeAndAfter measure_after(const Model& model, const Measurement& before,
                             const EncodedSplits& data, std::int64_t batch_size,
                             const std::vector<Gate>& gates, Context& context,
                             const std::string& title = "", std::int64_t evaluations = 1);

/// Makes gates in `missed` (as typed) inconclusive unless they are shown to exceed their limit. `why` gives the reason
/// for a verdict (`overruled`). Their estimate of the examples needed is dropped, since more examples would not help.
void overrule(BeforeAndAfter& both, const std::vector<std::string>& missed,
              const std::function<std::string(const Verdict& verdict)>& why);

/// Advises what to do with the model in `folder`: use it, measure it on more examples, or leave it; without gates, how
/// to test a limit.
std::string usage_advice(const JudgedGates& gates, const std::string& folder);
/// Returns the command that compares two model folders and tests a drop of one point.
NextCommand command_to_test_limit(const std::string& before, const std::string& after,
                                  const std::string& data);

/// Sets the headline, key figures and evidence of a document: how the metric changed on `split`, and which classes
/// lost. `label` names the result or the gain. `separator` separates it from the change in the headline, which puts the
/// change first if it is clearly a loss.
void describe_change(Document& document, const std::string& label, const BeforeAndAfter& both,
                     const MeasuredSplit& split, std::string_view separator = ": ");
/// Does the same for a job repeated with seeds, from their `results`. `verdict` is on their `changes`; `split` is the
/// name and size of the split.
void describe_seeds(Document& document, const std::string& label, const std::vector<Json>& results,
                    const SeedChanges& changes, const Verdict& verdict, const JudgedGates& gates,
                    const std::string& split);

/// `BeforeAndAfter` in results.
struct BeforeAndAfterResult {
  EvaluationResult before = {}, after = {};
  ComparisonResult comparison = {};
  std::vector<DegradedClassResult> degraded_classes = {};
};
const Fields& fields_of(const BeforeAndAfterResult*);
BeforeAndAfterResult before_and_after_result(const BeforeAndAfter& both,
                                             const std::vector<std::string>& labels);
/// One seed of a job that changes a model.
struct ChangeRunResult {
  std::uint64_t seed = 0;
  BeforeAndAfterResult both = {};
  std::optional<GateResult> gate = {};
};
/// All seeds of a job that changes a model.
struct ChangeSeedsResult {
  std::int64_t seeds = 0;
  std::vector<ChangeRunResult> runs = {};
  SeedSpreads spreads = {};
  SeedChangeResult change = {};
  std::optional<GateResult> gate = {};
};
const Fields& fields_of(const ChangeRunResult*);
const Fields& fields_of(const ChangeSeedsResult*);
/// Summarizes the results of the seeds; `verdict` is on their `changes`.
ChangeSeedsResult change_seeds_result(const std::vector<Json>& results, const SeedChanges& changes,
                                      const Verdict& verdict, const JudgedGates& gates);

/// Returns cautions about the metrics after a `change` ("quantizing"): see `concerns` of an evaluation.
std::vector<std::string> concerns(const BeforeAndAfter& both,
                                  const std::vector<std::string>& labels, std::string_view change);

/// Names the two measurements: "baseline, test" and "compressed, test", or `after` in place of "compressed".
std::vector<MetricsKey> before_and_after_names(const EncodedSplits& data,
                                               std::string_view after = "compressed");
/// Pairs these names with the evaluations.
std::vector<NamedEvaluation> named_evaluations(const BeforeAndAfter& both,
                                               const EncodedSplits& data,
                                               std::string_view after = "compressed");

/// Returns a remark on the numbers of a model whose files have no head, otherwise "". `trained`: its random head has
/// been trained since.
std::string headless_remark(const Model& baseline, bool trained);

/// Says that the change includes the effect of this many training steps besides what was `done` ("quantizing"), since
/// no baseline was trained as long. Empty without steps.
std::string training_caveat(std::int64_t least_steps, std::int64_t most_steps,
                            std::string_view done);

/// Says the same of several seeds, from the `steps` of their results.
std::string training_caveat(const std::vector<Json>& results, std::string_view done);

/// Returns the caption of tables and pages: "On test, n = 2,000; the most frequent class alone makes 50.1%. …". Appends
/// the sentences in `remarks` that are not empty.
std::string metrics_caption(const Measurement& before, const EncodedSplits& data,
                            const std::vector<std::string>& remarks);

}  // namespace hone
