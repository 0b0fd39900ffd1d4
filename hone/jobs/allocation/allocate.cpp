#include "hone/jobs/allocation/allocate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "hone/jobs/allocation/allocation_report.h"
#include "hone/jobs/allocation/best_allocation.h"
#include "hone/jobs/allocation/packed_copy.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/search/search_subject.h"
#include "hone/models/unrounded_weights.h"

namespace hone {
namespace {

// Returns the equivalent search job.
SearchJob search_of(const AllocateJob& job) {
  SearchJob search{.model = job.model, .recipe = {}, .output = {}};
  search.data = job.data;
  search.training.eval_batch_size = job.calibration.batch_size;
  search.calibration = job.calibration;
  // All variants of the model share one calibration run.
  search.calibration.observed = std::make_shared<ObservedValues>();
  search.split = job.split;
  search.seed = job.seed;
  search.row_hashes = job.row_hashes;
  return search;
}

Json to_json(const LayerDivergences& all) {
  Json rows = Json::array();
  for (const std::vector<Divergence>& layer : all) {
    rows.push_back(Json::array());
    for (const Divergence& one : layer) rows.back().push_back({one.mean, one.low, one.high});
  }
  return rows;
}

LayerDivergences divergences_in(const Json& rows) {
  const auto number = [](const Json& value) {
    return value.is_number() ? value.get<double>() : std::nan("");
  };
  LayerDivergences all;
  for (const Json& row : rows) {
    all.emplace_back();
    for (const Json& one : row)
      all.back().push_back({number(one[0]), number(one[1]), number(one[2])});
  }
  return all;
}

std::optional<double> latency_budget(const AllocateJob& job) {
  for (const AllocationBudget& budget : job.request.budgets)
    if (budget.quantity == BudgetQuantity::latency_ms) return budget.limit;
  return std::nullopt;
}

// Measures latencies once per study, so that a resumed run continues with the same ones.
void time_layers_into(LayerCosts& costs, const AllocateJob& job, const TrialSubject& subject,
                      AllocationTrials& trials, Context& context) {
  const std::optional<double> most = latency_budget(job);
  if (!most) return;
  Json table = trials.attribute("latency");
  if (table.is_null()) {
    BatchSize batch = job.timed;
    if (batch.tokens == 0) batch.tokens = mean_tokens(subject.data);
    table = to_json(measure_latency(subject.baseline.model, costs.layers, job.request.options,
                                    subject.data, subject.calibration, batch, context));
    trials.set_attribute("latency", table);
  }
  add_latency(costs, latency_from_json(table), *most);
}

/// An allocation run in progress.
class Allocating {
 public:
  Allocating(const AllocateJob& job, const TrialSubject& subject, const LayerCosts& costs,
             AllocationTrials& trials, Context& context)
      : job_(job), subject_(subject), costs_(costs), trials_(trials), context_(context) {
    sample_ = allocation_sample(subject.data.validation, job.request.sensitivity_samples, job.seed);
  }

  AllocationFindings run() {
    AllocationFindings found{.job = job_,
                             .subject = subject_,
                             .costs = costs_,
                             .sampled = sample_.size(),
                             .layer_divergences = layer_divergences()};
    found.solved =
        solve_allocation(costs_, damages_of(found.layer_divergences), job_.request.budgets,
                         tied_layers(costs_.layers, job_.request.tied));
    std::vector<PlannedPoint> wanted;
    for (const std::size_t point :
         spread_points(found.solved.front, found.solved.best,
                       static_cast<std::size_t>(std::max<std::int64_t>(1, job_.points))))
      wanted.push_back({PointKind::front, found.solved.allocation(point),
                        found.solved.front.points[point].damage});
    found.points = trials_.measure(wanted);
    const std::vector<MeasuredPoint> front = of_front(found.points);
    const std::int64_t before = front[best_of(front)].trial;
    if (job_.swaps > 0) found.points = trials_.measure(best_swaps(found));
    found.chosen = found.correction.after = best_of(found.points);
    found.correction.before = static_cast<std::size_t>(
        std::ranges::find(found.points, before, &MeasuredPoint::trial) - found.points.begin());
    return found;
  }

 private:
  LayerDivergences layer_divergences() {
    return divergences_in(
        trials_.find_or_compute("sensitivity", finding_of("sensitivity", {}), [&] {
          return to_json(measure_layer_divergences(subject_.baseline.model, job_.request.options,
                                                   sample_, subject_.data.train,
                                                   subject_.calibration, job_.runs, context_));
        }));
  }

  // The cache key of a finding on the sample: everything that affects it.
  Json finding_of(const char* what, const Json& around) const {
    Json of = request_json(job_.request);
    of.erase("budgets");
    of.erase("together");
    of["finding"] = what;
    of["seed"] = job_.seed;
    if (!around.is_null()) of["around"] = around;
    return of;
  }

  // Returns the point with the least divergence within the budgets; the first one on ties.
  std::size_t best_of(const std::vector<MeasuredPoint>& points) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (within(costs_, job_.request.budgets, points[i].allocation) &&
          (!best || points[i].divergence.mean < points[*best].divergence.mean))
        best = i;
    user_check(
        best.has_value(),
        "no allocation within the budgets could be evaluated; the warnings give the reasons");
    return *best;
  }

  // A resumed study may contain swaps already; this removes them.
  static std::vector<MeasuredPoint> of_front(std::vector<MeasuredPoint> points) {
    std::erase_if(points,
                  [](const MeasuredPoint& point) { return point.kind != PointKind::front; });
    return points;
  }

  /// A change of option for one group of tied layers.
  struct Move {
    std::size_t group = 0;
    Allocation allocation;
    double gain = 0;  // in divergence, around the best point
  };

  // Returns the Pareto-optimal options nearest in cost to the group's own, on both sides. Most formats cost too much
  // more or less for a swap, and measuring all of them would dominate the run time.
  std::vector<std::size_t> near_options(const AllocationFindings& found,
                                        const std::vector<std::size_t>& group,
                                        std::size_t own) const {
    constexpr std::ptrdiff_t kNear = 2;
    struct Option {
      double cost = 0, damage = 0;
      std::size_t number = 0;
    };
    std::vector<Option> sorted, kept;
    for (const std::size_t number : found.solved.option_indices[group.front()]) {
      sorted.push_back({.number = number});
      for (const std::size_t layer : group) {
        sorted.back().cost += costs_.cost(found.solved.quantity, layer, number);
        sorted.back().damage += found.layer_divergences[layer][number].mean;
      }
    }
    std::ranges::stable_sort(sorted, {},
                             [](const Option& one) { return std::pair(one.cost, one.damage); });
    double least = std::numeric_limits<double>::infinity();
    for (const Option& one : sorted) {
      if (one.damage < least || one.number == own) kept.push_back(one);
      least = std::min(least, one.damage);
    }
    const std::ptrdiff_t at = std::ranges::find(kept, own, &Option::number) - kept.begin();
    std::vector<std::size_t> near;
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, at - kNear);
         i <= std::min(std::ssize(kept) - 1, at + kNear); ++i)
      if (i != at) near.push_back(kept[static_cast<std::size_t>(i)].number);
    return near;
  }

  std::vector<Move> moves_from(const AllocationFindings& found, const Allocation& from) const {
    std::vector<Move> moves;
    const auto& groups = found.solved.front.groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::size_t option : near_options(found, groups[g], from[groups[g].front()])) {
        Move move{g, from};
        for (const std::size_t layer : groups[g]) move.allocation[layer] = option;
        moves.push_back(std::move(move));
      }
    return moves;
  }

  // Ranks pairs of moves by the sum of their gains, each measured around the best front point. Swaps that were measured
  // before an interruption do not affect the result.
  std::vector<PlannedPoint> best_swaps(const AllocationFindings& found) {
    const std::vector<MeasuredPoint> front = of_front(found.points);
    const Allocation& from = front[best_of(front)].allocation;
    std::vector<Move> moves = moves_from(found, from);
    std::vector<Allocation> allocations = {from};
    for (const Move& move : moves) allocations.push_back(move.allocation);
    const std::vector<double> around = divergences_around(allocations);
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i].gain = around[0] - around[i + 1];
    std::vector<std::pair<double, Allocation>> swaps;  // (gain, allocation)
    for (std::size_t i = 0; i < moves.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double gain = moves[i].gain + moves[j].gain;
        if (moves[i].group == moves[j].group || !(gain > 0)) continue;
        Allocation both = moves[i].allocation;
        for (const std::size_t layer : found.solved.front.groups[moves[j].group])
          both[layer] = moves[j].allocation[layer];
        if (within(costs_, job_.request.budgets, both)) swaps.emplace_back(gain, std::move(both));
      }
    std::ranges::stable_sort(swaps, std::greater(), &std::pair<double, Allocation>::first);
    std::set<Allocation> known;
    for (const MeasuredPoint& point : front) known.insert(point.allocation);
    std::vector<PlannedPoint> wanted;
    for (const auto& [gain, allocation] : swaps)
      if (std::ssize(wanted) < job_.swaps && !known.contains(allocation))
        wanted.push_back({PointKind::swap, allocation, sum_alone(found, allocation)});
    return wanted;
  }

  std::vector<double> divergences_around(const std::vector<Allocation>& allocations) {
    const Json found =
        trials_.find_or_compute("around_best", finding_of("around", allocations), [&] {
          std::vector<double> means;
          for (const Divergence& one :
               measure_allocations(subject_.baseline.model, costs_.layers,
                                   changes_of(job_.request.options), allocations, sample_,
                                   subject_.data.train, subject_.calibration, job_.runs, context_))
            means.push_back(one.mean);
          return Json(means);
        });
    std::vector<double> means;
    for (const Json& one : found)
      means.push_back(one.is_number() ? one.get<double>() : std::nan(""));
    return means;
  }

  static double sum_alone(const AllocationFindings& found, const Allocation& allocation) {
    double sum = 0;
    for (std::size_t i = 0; i < allocation.size(); ++i)
      sum += found.layer_divergences[i][allocation[i]].mean;
    return sum;
  }

  const AllocateJob& job_;
  const TrialSubject& subject_;
  const LayerCosts& costs_;
  AllocationTrials& trials_;
  Context& context_;
  EncodedSet sample_;
};

void check_timed(const AllocateJob& job, const Model& model) {
  user_check(job.timed.tokens <= model.facts.limits.tokens,
             "`latency_tokens`: the model has {} positions, got {}", model.facts.limits.tokens,
             job.timed.tokens);
}

// Rejects an unreachable budget before anything is measured.
LayerCosts checked_costs(const AllocateJob& job, Context& context) {
  const Model model = open_model(job.model, context, job.seed).model;
  check_reads_texts(model.facts, job.model, "an allocation");
  check_unquantized(model, job.model);
  check_timed(job, model);
  LayerCosts costs = layer_costs(unquantized_graph(model), job.request.options);
  check_request(model, job.request, costs);
  return costs;
}

void write_chosen(const SearchJob& search, const TrialSubject& subject, const TrialModel& made,
                  const fs::path& folder) {
  TextModel model = subject.baseline;
  model.model = made.model;
  model.trained_on = record_of_trial(search, subject, {});
  fs::create_directories(folder);
  write_model(model, folder);
  write_unrounded(made.unrounded, made.model, folder);
}

}  // namespace

JobResult allocate_formats(const AllocateJob& job, Context& context) {
  user_check(
      !is_new_model(job.model),
      "{}: the weights are fresh, so the cost of formats cannot be measured; give a trained model",
      job.model);
  Document document{
      .title = fmt::format("{}: formats within {}", job.model, job.request.budgets[0].text)};
  OutputFolder output(job.output.folder, job.output.resumable({.resume = job.resume}));
  const SearchJob search = search_of(job);
  // All trials keep the model's architecture and weights.
  const SearchRecipe nothing{.where = {}, .text = {}, .objectives = {}};
  LayerCosts costs = checked_costs(job, context);
  const TrialSubject subject = open_subject(search, nothing, context, document.notes);
  if (!begin_run(job.invocation, subject.baseline.model.parameters, subject.data, output))
    return finished<JobResult>(output, job.output);
  AllocationTrials trials(subject, costs, job.request,
                          allocation_space(job.request, costs.layers, context.library.formats),
                          output.path() / "study.db", job.cache, context);
  // The check below rejects unreachable byte and latency budgets before damages are measured.
  if (prunes(job.request.options))
    exclude_zeros(costs, job.request.options,
                  stored_bits(subject.baseline.model, costs.layers, job.request.options,
                              subject.data, subject.calibration, context));
  time_layers_into(costs, job, subject, trials, context);
  check_request(subject.baseline.model, job.request, costs);
  AllocationFindings found = Allocating(job, subject, costs, trials, context).run();
  found.from_store = trials.from_store();
  const TrialModel made = trials.model_of(found.best().allocation);
  if (latency_budget(job))
    found.timed =
        time_whole_models(subject.baseline.model, made.model, costs.latency.batch, context);
  found.search = trials.search_recipe();
  trials.close();
  write_chosen(search, subject, made, output.path() / "best");
  JobResult result = report_allocation(found, made, std::move(document), output, context);
  output.commit();
  return result;
}

}  // namespace hone
