#include "hone/jobs/candidate_curve.h"

#include "hone/metrics/verdict.h"

namespace hone {
namespace {

Point figure_point(const CurvePoint& at) {
  const TaskEvaluation& e = at.model->measurement.evaluation;
  return {at.x, 100 * e.value, 100 * e.interval.low, 100 * e.interval.high};
}

// Flips in percent, or the mean shift for regression.
Point difference_point(const CurvePoint& at) {
  const TaskComparison& c = *at.model->comparison;
  return {at.x, c.counted ? 100 * c.counted->flip_share : c.mean_shift};
}

std::vector<Point> points_of(const CandidateCurve& curve, Point (*point)(const CurvePoint&)) {
  std::vector<Point> points;
  for (const CurvePoint& at : curve.points) points.push_back(point(at));
  return points;
}

}  // namespace

void SequentialSelection::consider(std::size_t index, Model candidate,
                                   const ComparedModel& measured) {
  all_within_limit = all_within_limit && verdict(measured.comparison->change).within_limit();
  if (!all_within_limit) return;
  kept = index;
  model = std::move(candidate);
}

void judge_in_sequence(const std::vector<ComparedModel*>& candidates) {
  std::vector<MetricChange> changes;
  for (const ComparedModel* candidate : candidates)
    changes.push_back(candidate->comparison->change);
  const std::vector<Verdict> verdicts = verdicts_in_sequence(changes);
  for (std::size_t i = 0; i < candidates.size(); ++i) candidates[i]->verdict = verdicts[i];
}

Figure candidate_figure(const std::string& title, const Choice& choice, const std::string& baseline,
                        const Axis& x, const std::vector<CandidateCurve>& curves) {
  const TaskEvaluation& before = choice.baseline.evaluation;
  const std::string figure = metric_title(before.metric);
  const bool flips = before.metric != kR2;
  Panel figures{.title = figure,
                .x = x,
                .y = {.label = fmt::format("{}, {} (%)", figure, choice.split)},
                .references = {{100 * before.value, baseline}}};
  Panel differences{.title = (flips ? "Flips against " : "Mean shift against ") + baseline,
                    .x = x,
                    .y = {.label = flips ? "Flips (%)" : "Mean shift", .logarithmic = true}};
  for (const CandidateCurve& curve : curves) {
    figures.series.push_back(
        {.label = curve.label, .points = points_of(curve, figure_point), .spread = Spread::bars});
    differences.series.push_back(
        {.label = curve.label, .points = points_of(curve, difference_point)});
  }
  return {.title = title, .panels = {figures, differences}, .width = 1000};
}

std::string candidate_figure_title(const Choice& choice) {
  const MetricName& figure = choice.baseline.evaluation.metric;
  return metric_title(figure) + (figure == kR2 ? " and shifts" : " and flips");
}

PageTable candidate_page_table(const Table& table, const Choice& choice,
                               const std::string& baseline, const std::string& order) {
  return {table,
          fmt::format("{}. {}Within limit: the whole 95% interval of the change is above -{:.2f} "
                      "points. Candidates are tested {}, up to the first that is not within it.",
                      candidates_caption(choice),
                      choice.baseline.evaluation.metric == kAccuracy
                          ? fmt::format("Flips: predictions that differ from {}'s; McNemar's test "
                                        "compares correct → wrong with wrong → correct. ",
                                        baseline)
                          : "",
                      100 * kDefaultMargin, order)};
}

void finish_study(const Choice& choice, const Table& table,
                  const std::vector<ComparedModel>& models, const Json& fields,
                  const std::vector<std::string>& labels,
                  const std::vector<std::string>& figure_notes, JobResult& result,
                  const Invocation& invocation, OutputFolder& output, const Context& context) {
  write_file(output.path() / "results.csv", to_csv(with_split_columns(table, choice)));
  result.fields.update(fields);
  std::vector<std::string> doubts = concerns(models, labels);
  doubts.insert(doubts.end(), figure_notes.begin(), figure_notes.end());
  std::vector<std::string>& notes = result.document.notes;
  notes.insert(notes.end(), doubts.begin(), doubts.end());
  print_warnings(context, doubts);
  write_report(result, invocation, output.path(), context);
  output.commit();
}

}  // namespace hone
