#include "hone/jobs/allocation/allocation_sentences.h"

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/metrics/regression.h"
#include "hone/search/isotonic.h"

namespace hone {
namespace {

constexpr double kWellRanked = 0.8;  // Spearman's r below which layers cannot be told apart

// Losses of the figure by rising prediction.
void fit_losses(const std::vector<MeasuredPoint>& points, double figure, PredictionCheck& check) {
  std::vector<const MeasuredPoint*> front;
  for (const MeasuredPoint& point : points)
    if (point.kind == PointKind::front) front.push_back(&point);
  std::ranges::stable_sort(front, {}, &MeasuredPoint::predicted);
  for (const MeasuredPoint* point : front) check.lost.push_back(figure - point->figure);
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
    return "One point of the front was measured, which says nothing of how well sums over layers "
           "predict.";
  std::string text = fmt::format(
      "Sums over layers, each measured alone on {} of these texts, against {} measured points of "
      "the "
      "front: rank correlation {:.3f}",
      grouped(f.sampled), check.points, check.rank_correlation);
  if (check.interval.low > -1 && check.interval.low < check.interval.high)
    text += fmt::format(" (95% CI {:.3f} to {:.3f})", check.interval.low, check.interval.high);
  text += fmt::format("; farthest off is trial {}, by {:+.3g}.", check.worst_trial,
                      check.worst_residual);
  const FigureName& figure = f.subject.parent_measured->evaluation.figure;
  const auto loss = [&](double lost) {
    return figure.may_be_negative ? fmt::format("{:+.3g}", lost) : points_text(lost) + " points";
  };
  text += fmt::format(
      " Of {}, {} is lost where losses that rise with the prediction are fitted "
      "(isotonic); farthest from that is trial {}, by {}.",
      figure.text,
      check.fitted.back() > 0 ? "at most " + loss(check.fitted.back()) : std::string("nothing"),
      check.misfit_trial, loss(check.worst_misfit));
  return text;
}

// Where predictions rank badly: the search that looks at whole models alone, from here on.
std::string search_text(const AllocationFindings& f, const PredictionCheck& check) {
  if (check.points < 2 || check.rank_correlation >= kWellRanked) return "";
  return fmt::format(
      "Sums rank whole models badly, for layers act on each other. A search that looks at whole "
      "models alone, and begins with the points of the front: `hone search {} --recipe "
      "{}/search.toml --data '{}' --trials 100 -o {}-search`.",
      f.job.model, f.job.output.folder, f.job.data.options.source, f.job.output.folder);
}

std::string correction_text(const AllocationFindings& f) {
  const auto [before, after] = f.correction;
  const auto is_swap = [](const MeasuredPoint& point) { return point.kind == PointKind::swap; };
  const auto swaps = std::ranges::count_if(f.points, is_swap);
  if (f.job.swaps == 0) return "";
  if (swaps == 0)
    return "No two changes around the best of the front promise less within the budget, so no swap "
           "was measured.";
  const MeasuredPoint &front = f.points[before], &best = f.points[after];
  if (before == after)
    return fmt::format("Of {} swaps around trial {}, the best of the front, none did better.",
                       swaps, front.trial);
  return fmt::format(
      "Swaps corrected it: divergence {:.3g} of trial {}, the best of the front, {:.3g} of trial "
      "{}, the best of {} swaps around it.",
      front.divergence.mean, front.trial, best.divergence.mean, best.trial, swaps);
}

std::string cheaper_text(const AllocationFindings& f) {
  const std::optional<std::size_t> other =
      cheaper_alike(f.points, f.chosen, [&](const MeasuredPoint& point) {
        return within(f.costs, f.job.request.budgets, point.allocation)
                   ? f.costs.figure(f.solved.figure, point.allocation)
                   : HUGE_VAL;
      });
  if (!other) return "";
  const MeasuredPoint& point = f.points[*other];
  return fmt::format(
      "Trial {} is within noise of the chosen one and costs less: {:.3f} bits of a weight, {} "
      "packed; divergence {}.",
      point.trial, point.average_bits, display_text(bytes(point.packed_bytes)),
      divergence_text(point.divergence));
}

// What packing makes of zeros, where a budget is of bytes.
std::string zeros_text(const AllocationFindings& f) {
  const bool prunes = std::ranges::any_of(
      f.job.request.options, [](const LayerOption& option) { return option.sparsity > 0; });
  return prunes ? "Bits of pruned layers are those of the weights that stay, and one for each that "
                  "tells which. `hone pack` stores zeros as any numbers: packed bytes and times do "
                  "not fall with them."
                : "";
}

std::string store_text(const AllocationFindings& f) {
  return f.from_store == 0 ? ""
                           : fmt::format("{} of {} whole models were known from earlier runs.",
                                         f.from_store, std::ssize(f.points));
}

// Of a front that was too large to be had whole.
std::string costs_text(const AllocationFindings& f) {
  const AllocationFront& front = f.solved.front;
  const AllocationPoint& best = front.points[f.solved.best];
  const std::string text = fmt::format(
      "With these budgets the front is too large to be solved whole; it was solved for {} costs, "
      "and "
      "has {} points. ",
      front.solved_costs, front.points.size());
  if (best.bound >= best.damage)
    return text + "Within the budgets no sum over layers is below that of its best point.";
  return text +
         fmt::format(
             "Within the budgets the sum of its best point is {:.3g}, and none is below {:.3g}.",
             best.damage, best.bound);
}

// What costs of the front's points may be too high, in the figure's own unit.
std::string size_text(const AllocationFindings& f) {
  if (f.solved.front.solved_costs > 0) return costs_text(f);
  const std::string points = grouped(std::ssize(f.solved.front.points));
  if (f.solved.figure == BudgetFigure::latency_ms) {
    // Each layer's and the rest's were rounded up to whole pieces.
    const auto pieces = f.solved.front.cost_error + std::ssize(f.costs.layers) + 1;
    return fmt::format("The front has {} points, each within {:.2g} ms of an exact one's cost.",
                       points, static_cast<double>(pieces) * f.costs.piece_ms);
  }
  return fmt::format("The front has {} points{}.", points,
                     f.solved.front.cost_error == 0
                         ? ", exactly"
                         : fmt::format(", each within {} bits of an exact one's cost",
                                       grouped(f.solved.front.cost_error)));
}

// What layers' times added up to, and what the whole took.
std::string latency_text(const AllocationFindings& f) {
  if (!f.timed) return "";
  const BatchSize& batch = f.costs.latency.batch;
  const TimesInTurn& times = f.timed->times;
  const auto budget =
      std::ranges::find(f.job.request.budgets, BudgetFigure::latency_ms, &AllocationBudget::figure);
  return fmt::format(
      "Latency: {:.4f} ms for a text as its layers add up, {:.4f} measured of the whole model, "
      "packed (median of {} rounds), {:.4f} of the model as it is; {}. {} of {} tokens at a time. "
      "{}"
      "Times are of this machine and moment.",
      f.best().latency_ms, times.after.median_ms, kTimedRounds, times.before.median_ms,
      speedup_text(times), batch.texts == 1 ? "One text" : fmt::format("{} texts", batch.texts),
      batch.tokens,
      times.after.median_ms > budget->most
          ? fmt::format("Measured whole it is beyond the budget of {}: give a lower one. ",
                        budget->text)
          : "");
}

}  // namespace

std::string divergence_text(const Divergence& d) {
  return fmt::format("{:.3g} (95% CI {:.3g} to {:.3g})", d.mean, d.low, d.high);
}

std::optional<std::size_t> cheaper_alike(const std::vector<MeasuredPoint>& points,
                                         std::size_t chosen,
                                         const std::function<double(const MeasuredPoint&)>& cost) {
  std::optional<std::size_t> cheapest;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (points[i].divergence.mean <= points[chosen].divergence.high &&
        cost(points[i]) < cost(points[cheapest.value_or(chosen)]))
      cheapest = i;
  return cheapest;
}

PredictionCheck check_prediction(const std::vector<MeasuredPoint>& points, double figure) {
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
  fit_losses(points, figure, check);
  return check;
}

std::vector<std::string> sentences_of(const AllocationFindings& f) {
  const PredictionCheck check = checked(f);
  std::vector<std::string> sentences = {
      prediction_text(f, check), size_text(f),          correction_text(f), cheaper_text(f),
      latency_text(f),           search_text(f, check), zeros_text(f),      store_text(f)};
  std::erase(sentences, "");
  return sentences;
}

PredictionCheck checked(const AllocationFindings& f) {
  return check_prediction(f.points, f.subject.parent_measured->evaluation.value);
}

}  // namespace hone
