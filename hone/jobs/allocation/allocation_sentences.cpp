#include "hone/jobs/allocation/allocation_sentences.h"

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/metrics/regression.h"
#include "hone/search/isotonic.h"

namespace hone {
namespace {

constexpr double kWellRanked = 0.8;  // least Spearman correlation that counts as a good ranking

// Fits the drop of the metric by rising prediction.
void fit_losses(const std::vector<MeasuredPoint>& points, double baseline_metric,
                PredictionCheck& check) {
  std::vector<const MeasuredPoint*> front;
  for (const MeasuredPoint& point : points)
    if (point.kind == PointKind::front) front.push_back(&point);
  std::ranges::stable_sort(front, {}, &MeasuredPoint::predicted);
  for (const MeasuredPoint* point : front) check.lost.push_back(baseline_metric - point->metric);
  check.fitted = isotonic_fit(check.lost);
  for (std::size_t i = 0; i < front.size(); ++i) {
    const double misfit = check.lost[i] - check.fitted[i];
    if (i > 0 && std::abs(misfit) <= std::abs(check.worst_misfit)) continue;
    check.worst_misfit = misfit;
    check.misfit_trial = front[i]->trial;
  }
}

std::string prediction_text(const AllocationFindings& f, const PredictionCheck& check) {
  if (check.points < 2)
    return "Prediction: only one point of the front was evaluated, which does not show how well "
           "sums over layers predict.";
  std::string text = fmt::format(
      "Prediction: sums over layers, each measured alone on {} examples, against {} evaluated "
      "points "
      "of the front. Rank correlation {:.3f}",
      grouped(f.sampled), check.points, check.rank_correlation);
  if (check.interval.low > -1 && check.interval.low < check.interval.high)
    text += fmt::format(" (95% CI {:.3f} to {:.3f})", check.interval.low, check.interval.high);
  text += fmt::format("; the largest error is {1:+.3g}, of trial {0}.",
                      shown_number(check.worst_trial), check.worst_residual);
  const MetricName& figure = f.subject.baseline_measured->evaluation.metric;
  const auto loss = [&](double lost) {
    return figure.may_be_negative ? fmt::format("{:+.3g}", lost) : points_text(lost) + " points";
  };
  text += fmt::format(
      " An isotonic fit of the loss in {} by the prediction loses {}; the largest residual is {} "
      "of "
      "trial {}.",
      figure.text,
      check.fitted.back() > 0 ? "at most " + loss(check.fitted.back()) : std::string("nothing"),
      loss(check.worst_misfit), shown_number(check.misfit_trial));
  return text;
}

std::string ranking_text(const PredictionCheck& check) {
  return ranks_badly(check)
             ? "Sums over layers rank whole models badly, because layers interact. A "
               "search evaluates whole models only; search.toml starts one from the "
               "points of the front."
             : "";
}

std::string correction_text(const AllocationFindings& f) {
  const auto [before, after] = f.correction;
  const auto is_swap = [](const MeasuredPoint& point) { return point.kind == PointKind::swap; };
  const auto swaps = std::ranges::count_if(f.points, is_swap);
  if (f.job.swaps == 0) return "";
  if (swaps == 0)
    return "Swaps: none was evaluated, because no swap around the best of the front is predicted "
           "to lower the divergence within the budget.";
  const MeasuredPoint &front = f.points[before], &best = f.points[after];
  if (before == after)
    return fmt::format("Swaps: none of {} around trial {}, the best of the front, was better.",
                       swaps, shown_number(front.trial));
  return fmt::format(
      "Swaps: divergence {:.3g} of trial {}, the best of the front, fell to {:.3g} of trial {}, "
      "the "
      "best of {} swaps around it.",
      front.divergence.mean, shown_number(front.trial), best.divergence.mean,
      shown_number(best.trial), swaps);
}

std::string cheaper_text(const AllocationFindings& f) {
  const std::optional<std::size_t> other =
      cheaper_equivalent(f.points, f.chosen, [&](const MeasuredPoint& point) {
        return within(f.costs, f.job.request.budgets, point.allocation)
                   ? f.costs.total(f.solved.quantity, point.allocation)
                   : HUGE_VAL;
      });
  if (!other) return "";
  const MeasuredPoint& point = f.points[*other];
  return fmt::format(
      "Cheaper: trial {} is within the confidence interval of the chosen one, with {:.3f} bits per "
      "weight, {} when packed (predicted), and divergence {}.",
      shown_number(point.trial), point.average_bits, display_text(bytes(point.packed_bytes)),
      divergence_text(point.divergence));
}

std::string zeros_text(const AllocationFindings& f) {
  return prunes(f.job.request.options)
             ? "Pruning: the bits of pruned layers count the remaining weights and one bit per "
               "block "
               "for their positions. The packed size is that of the file that `hone pack` writes, "
               "which leaves out zeros where that makes it smaller. Latencies are those of sparse "
               "kernels where they are faster."
             : "";
}

std::string store_text(const AllocationFindings& f) {
  return f.from_store == 0
             ? ""
             : fmt::format("Cache: the results of {} of {} whole models come from earlier runs.",
                           f.from_store, std::ssize(f.points));
}

// Describes a front that was too large to solve completely.
std::string costs_text(const AllocationFindings& f) {
  const AllocationFront& front = f.solved.front;
  const AllocationPoint& best = front.points[f.solved.best];
  const std::string text = fmt::format(
      "Front: too large to solve completely with these budgets; it was solved for {} costs and has "
      "{} points. ",
      front.solved_costs, front.points.size());
  if (best.bound >= best.damage)
    return text + "Within the budgets no sum over layers is smaller than that of its best point.";
  return text +
         fmt::format(
             "Within the budgets the sum of its best point is {:.3g}, and none is below {:.3g}.",
             best.damage, best.bound);
}

// Reports the size of the front and its cost error, in the unit of the budget.
std::string size_text(const AllocationFindings& f) {
  if (f.solved.front.solved_costs > 0) return costs_text(f);
  const std::string points = grouped(std::ssize(f.solved.front.points));
  if (f.solved.quantity == BudgetQuantity::latency_ms) {
    // The latency of each layer and of the rest was rounded up to whole pieces.
    const auto pieces = f.solved.front.cost_error + std::ssize(f.costs.layers) + 1;
    return fmt::format("Front: {} points, each within {:.2g} ms of the cost of an exact one.",
                       points, static_cast<double>(pieces) * f.costs.unit_ms);
  }
  return fmt::format("Front: {} points{}.", points,
                     f.solved.front.cost_error == 0
                         ? ", exactly"
                         : fmt::format(", each within {} bits of the cost of an exact one",
                                       grouped(f.solved.front.cost_error)));
}

// Compares the predicted latency with the measured one.
std::string latency_text(const AllocationFindings& f) {
  if (!f.timed) return "";
  const BatchSize& batch = f.costs.latency.batch;
  const TimesInTurn& times = f.timed->times;
  const auto budget = std::ranges::find(f.job.request.budgets, BudgetQuantity::latency_ms,
                                        &AllocationBudget::quantity);
  return fmt::format(
      "Latency: {:.4f} ms per example predicted as the sum over layers, {:.4f} measured of the "
      "packed "
      "model (median of {} rounds), {:.4f} of the baseline; {}. Batch: {} of {} tokens. "
      "{}Latencies were measured on {}.",
      f.best().latency_ms, times.after.median_ms, f.timed->rounds, times.before.median_ms,
      paired_speedup_text(times.ratio()),
      batch.texts == 1 ? "one text" : fmt::format("{} texts", batch.texts), batch.tokens,
      times.after.median_ms > budget->limit
          ? fmt::format("The whole model exceeds the budget of {}: give a lower one. ",
                        budget->text)
          : "",
      f.timed->device == to_string(cpu()) ? "this CPU" : f.timed->device);
}

}  // namespace

bool ranks_badly(const PredictionCheck& check) {
  return check.points >= 2 && check.rank_correlation < kWellRanked;
}

std::string divergence_text(const Divergence& d) {
  return fmt::format("{:.3g} (95% CI {:.3g} to {:.3g})", d.mean, d.low, d.high);
}

std::optional<std::size_t> cheaper_equivalent(
    const std::vector<MeasuredPoint>& points, std::size_t chosen,
    const std::function<double(const MeasuredPoint&)>& cost) {
  std::optional<std::size_t> cheapest;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].divergence.mean <= points[chosen].divergence.high &&
        cost(points[i]) < cost(points[cheapest.value_or(chosen)]))
      cheapest = i;
  return cheapest;
}

const Fields& fields_of(const PredictionCheck*) {
  using P = PredictionCheck;
  static const Fields fields = describe<P>(
      "allocation_prediction",
      "Sums over layers against whole models, over the evaluated points of the front.",
      field<&P::points>("points", "Evaluated points of the front."),
      field<&P::rank_correlation>("rank_correlation", "Spearman's; null: nothing varies.")
          .or_null(),
      field<&P::interval>("rank_correlation_interval", "Its 95% interval."),
      field<&P::worst_residual>("worst_residual",
                                "Measured minus predicted divergence, the one farthest from 0."),
      field<&P::worst_trial>("worst_trial", "Its trial."), omitted<&P::lost>(),
      field<&P::fitted>("fitted_losses",
                        "Isotonic regression of the drop of the metric on the prediction, at each "
                        "point by rising prediction."),
      field<&P::worst_misfit>("worst_misfit", "Drop minus fit, the one farthest from 0."),
      field<&P::misfit_trial>("misfit_trial", "Its trial."));
  return fields;
}

PredictionCheck check_prediction(const std::vector<MeasuredPoint>& points, double baseline_metric) {
  std::vector<double> predicted, measured;
  PredictionCheck check;
  for (const MeasuredPoint& point : points) {
    if (point.kind != PointKind::front) continue;
    predicted.push_back(point.predicted);
    measured.push_back(point.divergence.mean);
    const double residual = point.divergence.mean - point.predicted;
    if (check.points++ > 0 && std::abs(residual) <= std::abs(check.worst_residual)) continue;
    check.worst_residual = residual;
    check.worst_trial = point.trial;
  }
  check.rank_correlation = pearson_correlation(ranks_of(predicted), ranks_of(measured));
  check.interval =
      spearman_interval(check.rank_correlation, static_cast<std::int64_t>(check.points));
  fit_losses(points, baseline_metric, check);
  return check;
}

std::vector<std::string> sentences_of(const AllocationFindings& f) {
  const PredictionCheck check = prediction_check_of(f);
  std::vector<std::string> sentences = {
      prediction_text(f, check), size_text(f),        correction_text(f), cheaper_text(f),
      latency_text(f),           ranking_text(check), zeros_text(f),      store_text(f)};
  std::erase(sentences, "");
  return sentences;
}

PredictionCheck prediction_check_of(const AllocationFindings& f) {
  return check_prediction(f.points, f.subject.baseline_measured->evaluation.value);
}

}  // namespace hone
