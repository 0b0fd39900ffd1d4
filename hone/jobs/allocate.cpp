#include "hone/jobs/allocate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/jobs/allocation_report.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/search_subject.h"
#include "hone/models/unrounded.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

using Divergences = std::vector<std::vector<Divergence>>;  // (layers, options)

// What is searched, and how it is measured, as a search has it.
SearchJob search_of(const AllocateJob& job) {
  SearchJob search{.model = job.model, .recipe = {}, .output = {}};
  search.data = job.data;
  search.training.eval_batch_size = job.calibration.batch_size;
  search.calibration = job.calibration;
  search.split = job.split;
  search.seed = job.seed;
  search.row_hashes = job.row_hashes;
  return search;
}

Json to_json(const Divergences& all) {
  Json rows = Json::array();
  for (const std::vector<Divergence>& layer : all) {
    rows.push_back(Json::array());
    for (const Divergence& one : layer) rows.back().push_back({one.mean, one.low, one.high});
  }
  return rows;
}

Divergences divergences_in(const Json& rows) {
  const auto number = [](const Json& value) {
    return value.is_number() ? value.get<double>() : std::nan("");
  };
  Divergences all;
  for (const Json& row : rows) {
    all.emplace_back();
    for (const Json& one : row)
      all.back().push_back({number(one[0]), number(one[1]), number(one[2])});
  }
  return all;
}

std::optional<double> latency_budget(const AllocateJob& job) {
  for (const AllocationBudget& budget : job.budgets)
    if (budget.figure == BudgetFigure::latency_ms) return budget.most;
  return std::nullopt;
}

// Times, measured once for a study: what goes on with it goes on with the same.
void time_layers_into(LayerCosts& costs, const AllocateJob& job, const TrialSubject& subject,
                      AllocationTrials& trials, Context& context) {
  const std::optional<double> most = latency_budget(job);
  if (!most) return;
  Json table = trials.remembered("latency");
  if (table.is_null()) {
    BatchSize batch = job.timed;
    if (batch.tokens == 0) batch.tokens = mean_tokens(subject.data);
    table = to_json(measure_latency(subject.parent.model, costs.layers, job.options, subject.data,
                                    job.calibration, batch, context));
    trials.remember("latency", table);
  }
  take_latency(costs, latency_from(table), *most);
}

/// An allocation on its way.
class Allocating {
 public:
  Allocating(const AllocateJob& job, const TrialSubject& subject, const LayerCosts& costs,
             AllocationTrials& trials, Context& context)
      : job_(job), subject_(subject), costs_(costs), trials_(trials), context_(context) {
    const std::int64_t all = subject.data.validation.size(),
                       wanted = job.sensitivity_samples == 0 ? all : job.sensitivity_samples;
    sample_ = select_examples(
        subject.data.validation,
        calibration_rows(
            all, {.batch_size = 1, .batch_count = std::min(all, wanted), .seed = job.seed}));
  }

  AllocationFindings run() {
    AllocationFindings found{.job = job_,
                             .subject = subject_,
                             .costs = costs_,
                             .sampled = sample_.size(),
                             .alone = alone()};
    std::vector<std::vector<double>> damages;
    for (const std::vector<Divergence>& layer : found.alone) {
      damages.emplace_back();
      for (const Divergence& one : layer) damages.back().push_back(one.mean);
    }
    found.solved =
        solve_allocation(costs_, damages, job_.budgets, tied_layers(costs_.layers, job_.together));
    std::vector<WantedPoint> wanted;
    for (const std::size_t point :
         spread_points(found.solved.front, found.solved.best,
                       static_cast<std::size_t>(std::max<std::int64_t>(1, job_.points))))
      wanted.push_back({PointKind::front, found.solved.allocation(point),
                        found.solved.front.points[point].damage});
    found.points = trials_.measure(wanted);
    if (job_.swaps > 0) found.points = trials_.measure(best_swaps(found));
    found.chosen = best_of(found.points);
    return found;
  }

 private:
  // What each option does to each layer alone.
  Divergences alone() {
    if (const Json known = trials_.remembered("sensitivity"); !known.is_null())
      return divergences_in(known);
    std::vector<LayerChange> changes;
    for (const FormatOption& option : job_.options)
      if (option.formats) changes.push_back({.label = option.text, .formats = option.formats});
    const SensitivityStudy study =
        measure_sensitivity(subject_.parent.model, changes, sample_, subject_.data.train,
                            job_.calibration, job_.runs, context_);
    Divergences all;
    auto next = study.layers.begin();
    for (std::size_t i = 0; i < costs_.layers.size(); ++i) {
      all.emplace_back();
      for (const FormatOption& option : job_.options)
        all.back().push_back(option.formats ? (next++)->divergence : Divergence{});
    }
    trials_.remember("sensitivity", to_json(all));
    return all;
  }

  // The least divergence of those within the budgets; of equal ones the first.
  std::size_t best_of(const std::vector<MeasuredPoint>& points) const {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (within(costs_, job_.budgets, points[i].allocation) &&
          (!best || points[i].divergence.mean < points[*best].divergence.mean))
        best = i;
    user_check(
        best.has_value(),
        "none of the allocations within the budgets could be measured; the warnings say why");
    return *best;
  }

  /// Layers that take the same option, taking another one.
  struct Move {
    std::size_t group = 0;
    Allocation allocation;
    double gain = 0;  // of divergence, around the best
  };

  std::vector<Move> moves_from(const AllocationFindings& found, const Allocation& from) const {
    std::vector<Move> moves;
    const auto& groups = found.solved.front.groups;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::size_t option : found.solved.numbers[groups[g].front()]) {
        if (option == from[groups[g].front()]) continue;
        Move move{g, from};
        for (const std::size_t layer : groups[g]) move.allocation[layer] = option;
        moves.push_back(std::move(move));
      }
    return moves;
  }

  // Around the best: what each layer's other options do there, by which pairs of them are ranked.
  // Swaps that were measured before an interruption change nothing.
  std::vector<WantedPoint> best_swaps(const AllocationFindings& found) {
    std::vector<MeasuredPoint> front = found.points;
    std::erase_if(front, [](const MeasuredPoint& point) { return point.kind != PointKind::front; });
    const Allocation& from = front[best_of(front)].allocation;
    std::vector<Move> moves = moves_from(found, from);
    std::vector<Allocation> allocations = {from};
    for (const Move& move : moves) allocations.push_back(move.allocation);
    const std::vector<double> around = divergences_around(allocations);
    for (std::size_t i = 0; i < moves.size(); ++i) moves[i].gain = around[0] - around[i + 1];
    std::vector<std::pair<double, Allocation>> swaps;  // by their gain
    for (std::size_t i = 0; i < moves.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double gain = moves[i].gain + moves[j].gain;
        if (moves[i].group == moves[j].group || !(gain > 0)) continue;
        Allocation both = moves[i].allocation;
        for (const std::size_t layer : found.solved.front.groups[moves[j].group])
          both[layer] = moves[j].allocation[layer];
        if (within(costs_, job_.budgets, both)) swaps.emplace_back(gain, std::move(both));
      }
    std::ranges::stable_sort(swaps, std::greater(), &std::pair<double, Allocation>::first);
    std::set<Allocation> known;
    for (const MeasuredPoint& point : front) known.insert(point.allocation);
    std::vector<WantedPoint> wanted;
    for (const auto& [gain, allocation] : swaps)
      if (std::ssize(wanted) < job_.swaps && !known.contains(allocation))
        wanted.push_back({PointKind::swap, allocation, sum_alone(found, allocation)});
    return wanted;
  }

  std::vector<double> divergences_around(const std::vector<Allocation>& allocations) {
    std::vector<double> means;
    if (const Json known = trials_.remembered("around_best"); !known.is_null()) {
      for (const Json& one : known)
        means.push_back(one.is_number() ? one.get<double>() : std::nan(""));
      return means;
    }
    std::vector<std::optional<LayerFormats>> formats;
    for (const FormatOption& option : job_.options) formats.push_back(option.formats);
    for (const Divergence& one :
         measure_allocations(subject_.parent.model, costs_.layers, formats, allocations, sample_,
                             subject_.data.train, job_.calibration, job_.runs, context_))
      means.push_back(one.mean);
    trials_.remember("around_best", means);
    return means;
  }

  static double sum_alone(const AllocationFindings& found, const Allocation& allocation) {
    double sum = 0;
    for (std::size_t i = 0; i < allocation.size(); ++i) sum += found.alone[i][allocation[i]].mean;
    return sum;
  }

  const AllocateJob& job_;
  const TrialSubject& subject_;
  const LayerCosts& costs_;
  AllocationTrials& trials_;
  Context& context_;
  EncodedSet sample_;
};

// Throws `UserError` for an option that some layer cannot take.
void check_options_fit(const Model& model, const std::vector<FormatOption>& options) {
  for (const FormatOption& option : options) {
    if (!option.formats) continue;
    Graph graph = forward_graph(model);
    with_context(fmt::format("option {} (`operands` says what takes it)", option.text),
                 [&] { quantize(graph, uniform_plan(graph, *option.formats)); });
  }
}

void check_timed(const AllocateJob& job, const Model& model) {
  user_check(job.timed.tokens <= model.facts.limits.tokens,
             "`latency_tokens`: the model has {} positions, got {}", model.facts.limits.tokens,
             job.timed.tokens);
}

// Throws `UserError` for budgets that nothing meets.
void check_budgets(const AllocateJob& job, const LayerCosts& costs,
                   const std::vector<AllocationBudget>& budgets) {
  const std::vector<std::vector<double>> harmless(costs.layers.size(),
                                                  std::vector<double>(job.options.size(), 0));
  const auto tied = tied_layers(costs.layers, job.together);
  if (!budgets.empty()) solve_allocation(costs, harmless, budgets, tied);
}

void write_chosen(const SearchJob& search, const TrialSubject& subject, const TrialModel& made,
                  const fs::path& folder) {
  TextModel model = subject.parent;
  model.model = made.model;
  model.trained_on = record_of_trial(search, subject, {});
  fs::create_directories(folder);
  write_model(model, folder);
  write_unrounded(made.unrounded, made.model, folder);
}

}  // namespace

AllocateResult allocate_formats(const AllocateJob& job, Context& context) {
  user_check(!is_fresh(job.model),
             "{}: fresh weights say nothing of what formats cost; give a trained model", job.model);
  RunReport report{.title = fmt::format("{}: formats within {}", job.model, job.budgets[0].text),
                   .invocation = job.invocation};
  OutputFolder output(job.output.folder, job.output.resumable({.resume = job.resume}));
  const SearchJob search = search_of(job);
  const TrialSubject subject =
      open_subject(search, allocation_space(job.options), context, report.notes);
  check_unquantized(subject.parent.model, job.model);
  LayerCosts costs = layer_costs(plain_graph(subject.parent.model), job.options);
  // What cannot be met is told before anything is measured; of times, before damages are.
  check_options_fit(subject.parent.model, job.options);
  check_timed(job, subject.parent.model);
  std::vector<AllocationBudget> known = job.budgets;
  std::erase_if(known, [](const AllocationBudget& budget) {
    return budget.figure == BudgetFigure::latency_ms;
  });
  check_budgets(job, costs, known);
  if (!begin_run(job.invocation, subject.parent.model.parameters, subject.data, output))
    return {.was_finished = true, .fields = finished_results(output)};
  AllocationTrials trials(subject, costs, job.options, job.budgets, output.path() / "study.db",
                          context);
  time_layers_into(costs, job, subject, trials, context);
  check_budgets(job, costs, job.budgets);
  AllocationFindings found = Allocating(job, subject, costs, trials, context).run();
  const TrialModel made = trials.model_of(found.best().allocation);
  if (latency_budget(job))
    found.timed = time_whole(subject.parent.model, made.model, costs.latency.batch, context);
  trials.close();
  write_chosen(search, subject, made, output.path() / "best");
  AllocateResult result = report_allocation(found, made, std::move(report), output, context);
  output.commit();
  return result;
}

}  // namespace hone
