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

/// What every job that changes a model shows: the model as it was beside what was made of it, on the part that is reported.
namespace hone {

/// The model that a job begins with, measured on `data.test`. What is doubtful about its figures is told, and added to
/// `notes`; `change` is what the job does to it.
Measurement measure_before(const TextModel& parent, const EncodedSplits& data,
                           std::int64_t batch_size, Context& context,
                           std::vector<std::string>& notes, std::string_view change = "quantizing");

/// What was made of it, beside it.
struct BeforeAndAfter {
  Measurement before;
  Measurement after;
  TaskComparison comparison;
  Verdict
      verdict;  ///< on the metric by which the task is judged: that of its gate, if there is one
  JudgedGates gates = {};                ///< empty where none were asked for
  std::vector<LostClass> lost = {};      ///< classes that lost significantly, whatever the gates
  std::vector<std::string> labels = {};  ///< names of the classes

  /// The gates are shown to be failed; without gates, a loss of more than `kUsualMargin` is significant.
  bool clearly_lost() const;
};

/// The gates of these options for this model. Throws `UserError` as `gates_for`, and where there is no head whose answers could be
/// held to them.
std::vector<Gate> gates_of(const GateOptions& options, const Model& model, const std::string& name);

/// `evaluations`: how many candidates were evaluated on the same examples; verdicts are corrected for them (`judge`). `title` names the
/// progress line; empty: "compressed, test".
BeforeAndAfter measure_after(const Model& model, const Measurement& before,
                             const EncodedSplits& data, std::int64_t batch_size,
                             const std::vector<Gate>& gates, Context& context,
                             const std::string& title = "", std::int64_t evaluations = 1);

/// Makes the gates inconclusive that are in `missed`, as they were typed, and are not shown to exceed their limit: something else decides,
/// `why` says what of each verdict (`overruled`). What more of these examples would show is of no use then, and not said.
void overrule(BeforeAndAfter& both, const std::vector<std::string>& missed,
              const std::function<std::string(const Verdict& verdict)>& why);

/// What to do with the model in `folder`: use it, measure it on more examples, or leave it; where no limit was given, how to test one.
std::string use_sentence(const JudgedGates& gates, const std::string& folder);
/// The command that compares the models in two folders and tests a drop of one point.
NextCommand command_to_test_limit(const std::string& before, const std::string& after,
                                  const std::string& data);

/// Sets the headline, key figures and evidence of a document: how the metric changed on `part`, and which classes lost. `label`
/// names what was made or gained, and `joint` stands between both in the headline, which begins with the change where it is clearly a
/// loss.
void describe_change(Document& document, const std::string& label, const BeforeAndAfter& both,
                     const MeasuredPart& part, std::string_view joint = ": ");
/// The same of a job repeated with seeds, from their `results`; `verdict` is on their `changes`, and `part` the name and size of the
/// split.
void describe_seeds(Document& document, const std::string& label, const std::vector<Json>& results,
                    const SeedChanges& changes, const Verdict& verdict, const JudgedGates& gates,
                    const std::string& part);

/// The same in results.
struct BeforeAndAfterResult {
  EvaluationResult before = {}, after = {};
  ComparisonResult comparison = {};
  std::vector<LostClassResult> lost_classes = {};
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
/// All of them together.
struct ChangeSeedsResult {
  std::int64_t seeds = 0;
  std::vector<ChangeRunResult> runs = {};
  SeedSpreads spreads = {};
  SeedChangeResult change = {};
  std::optional<GateResult> gate = {};
};
const Fields& fields_of(const ChangeRunResult*);
const Fields& fields_of(const ChangeSeedsResult*);
/// From the results of the seeds; `verdict` is on their `changes`.
ChangeSeedsResult change_seeds_result(const std::vector<Json>& results, const SeedChanges& changes,
                                      const Verdict& verdict, const JudgedGates& gates);

/// What has to be known before the figures after a `change` ("quantizing") are looked at: see `concerns` of an evaluation.
std::vector<std::string> concerns(const BeforeAndAfter& both,
                                  const std::vector<std::string>& labels, std::string_view change);

/// What is measured, with its names: "baseline, test" and "compressed, test", or `after` in place of "compressed".
std::vector<NamedFigures> before_and_after_figures(const EncodedSplits& data,
                                                   std::string_view after = "compressed");
/// The same with what was measured.
std::vector<NamedEvaluation> named_evaluations(const BeforeAndAfter& both,
                                               const EncodedSplits& data,
                                               std::string_view after = "compressed");

/// What the figures of a model whose files have no head are worth, and of what was made of it; `trained`: after its head was
/// drawn. Empty where it has one.
std::string headless_remark(const Model& parent, bool trained);

/// That a change after so many steps of training includes what training does, beside what was `done` ("quantizing"), for no baseline was
/// trained as long. Empty where there were no steps.
std::string training_caveat(std::int64_t least_steps, std::int64_t most_steps,
                            std::string_view done);

/// The same of several seeds, from the `steps` of their results.
std::string training_caveat(const std::vector<Json>& results, std::string_view done);

/// "On test, n = 2,000; the most frequent class alone makes 50.1%. …": what table and page say of the figures; `remarks` are
/// sentences, empty ones left out.
std::string figures_caption(const Measurement& before, const EncodedSplits& data,
                            const std::vector<std::string>& remarks);

}  // namespace hone
