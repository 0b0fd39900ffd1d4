#include "hone/jobs/allocation/allocation_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/models/model_size.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/format_search.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// As many decimals as tell the smallest from each other, six at least: of 8 bits and more divergences are of millionths.
int digits_for(const std::vector<double>& values) {
  constexpr int kLeast = 6, kMost = 12;
  int digits = kLeast;
  for (const double value : values)
    if (std::isfinite(value) && value != 0)
      digits = std::max(digits, 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::min(digits, kMost);
}

std::string made_on(const AllocationFindings& f) {
  return name_and_size(f.subject.data.measured_choice());
}

bool is_timed(const AllocationFindings& f) { return !f.costs.latency_pieces.empty(); }

/// Another option of a layer, beside the one that it has.
struct Neighbour {
  std::size_t option = 0;
  double bits = 0;        // more than it has
  double divergence = 0;  // the same
};

// Of the options that cost less, or do less damage, the nearest in bits; among equals the one that does the least damage.
std::optional<Neighbour> neighbour(const AllocationFindings& f, std::size_t layer, bool cheaper) {
  const std::size_t own = f.best().allocation[layer];
  std::optional<Neighbour> nearest;
  for (const std::size_t option : f.solved.numbers[layer]) {
    const Neighbour other{option,
                          f.costs.average_bits(layer, option) - f.costs.average_bits(layer, own),
                          f.alone[layer][option].mean - f.alone[layer][own].mean};
    if (cheaper ? other.bits >= 0 : other.bits <= 0 || other.divergence >= 0) continue;
    const auto rank = [](const Neighbour& n) { return std::pair(std::abs(n.bits), n.divergence); };
    if (!nearest || rank(other) < rank(*nearest)) nearest = other;
  }
  return nearest;
}

// The format of every layer, and the cost of its neighbours in bits.
Table layer_table(const AllocationFindings& f) {
  std::vector<double> shown;
  for (std::size_t i = 0; i < f.costs.layers.size(); ++i)
    shown.push_back(f.alone[i][f.best().allocation[i]].mean);
  const int digits = digits_for(shown);
  Table table({{"layer", "Layer"},
               {"format", "Format"},
               {"sparsity", "Pruned"},
               {"bits", "Bits per weight"},
               {"divergence", "Divergence"},
               {"cheaper", "Next smaller"},
               {"cheaper_bits", "Change in bits"},
               {"cheaper_divergence", "Added divergence"},
               {"better", "Next better"},
               {"better_bits", "Added bits"},
               {"better_divergence", "Saved divergence"}});
  for (std::size_t i = 0; i < f.costs.layers.size(); ++i) {
    const std::size_t own = f.best().allocation[i];
    std::vector<Cell> row = {
        f.costs.layers[i], f.job.request.options[own].text,
        f.job.request.options[own].sparsity == 0 ? Cell(absent)
                                                 : percent(f.job.request.options[own].sparsity),
        bits(f.costs.average_bits(i, own)), real(f.alone[i][own].mean, digits)};
    for (const bool cheaper : {true, false}) {
      const std::optional<Neighbour> other = neighbour(f, i, cheaper);
      row.push_back(other ? Cell(f.job.request.options[other->option].label()) : Cell(absent));
      row.push_back(other ? bits(other->bits) : Cell(absent));
      row.push_back(other ? real(cheaper ? other->divergence : -other->divergence, digits)
                          : Cell(absent));
    }
    table.add_row(std::move(row));
  }
  return table;
}

Cell figure_of_point(const MeasuredPoint& point, const FigureName& figure) {
  const auto [low, high] = point.figure_interval;
  return figure.may_be_negative ? number_within(point.figure, low, high)
                                : percent_within(point.figure, low, high);
}

// All that were measured, by their bits.
Table point_table(const AllocationFindings& f) {
  const FigureName& figure = f.subject.parent_measured->evaluation.figure;
  std::vector<double> shown;
  for (const MeasuredPoint& point : f.points)
    shown.insert(shown.end(), {point.predicted, point.divergence.mean});
  const int digits = digits_for(shown);
  Table table({{"trial", "Trial"},
               {"kind", "Kind"},
               {"average_bits", "Bits per weight"},
               {"packed_bytes", "Size when packed"},
               {"latency_ms", "Latency (ms)"},
               {"predicted", "Predicted"},
               {"divergence", "Divergence"},
               {"divergence_low", "CI from"},
               {"divergence_high", "CI to"},
               {"metric", figure_title(figure)},
               {"within", "Within budget"},
               {"chosen", "Chosen"}});
  std::vector<const MeasuredPoint*> sorted;
  for (const MeasuredPoint& point : f.points) sorted.push_back(&point);
  std::ranges::stable_sort(sorted, {}, [&](const MeasuredPoint* point) {
    return f.costs.figure(f.solved.figure, point->allocation);
  });
  for (const MeasuredPoint* point : sorted)
    table.add_row({point->trial, to_string(point->kind), real(point->average_bits, 3),
                   bytes(point->packed_bytes),
                   is_timed(f) ? real(point->latency_ms, 4) : Cell(absent),
                   real(point->predicted, digits), real(point->divergence.mean, digits),
                   real(point->divergence.low, digits), real(point->divergence.high, digits),
                   figure_of_point(*point, figure),
                   within(f.costs, f.job.request.budgets, point->allocation) ? "yes" : "no",
                   point == &f.best() ? "yes" : "no"});
  return table;
}

std::string_view axis_text(BudgetFigure figure) {
  switch (figure) {
    case BudgetFigure::average_bits:
      return "Bits per weight";
    case BudgetFigure::packed_bytes:
      return "Size when packed (bytes)";
    case BudgetFigure::latency_ms:
      return "Latency, sum over layers (ms)";
  }
  return "";
}

// The predicted front, what was measured of it, the swaps, and what was chosen.
Figure front_figure(const AllocationFindings& f, const std::string& title) {
  const auto x_of = [&](const Allocation& allocation) {
    return f.costs.figure(f.solved.figure, allocation);
  };
  Series predicted{.label = "predicted (sum over layers)", .points = {}, .draw = Draw::line};
  constexpr std::size_t kDrawn = 400;
  const auto& points = f.solved.front.points;
  const std::size_t step = std::max<std::size_t>(1, points.size() / kDrawn);
  for (std::size_t i = 0; i < points.size(); i += step)
    predicted.points.push_back({f.solved.value(f.costs, points[i].cost), points[i].damage});
  Series measured{.label = "measured", .points = {}, .draw = Draw::points, .spread = Spread::bars},
      swaps{.label = "measured, two layers swapped",
            .points = {},
            .draw = Draw::points,
            .spread = Spread::bars},
      chosen{.label = "chosen", .points = {}, .draw = Draw::points, .spread = Spread::bars};
  for (const MeasuredPoint& point : f.points) {
    Series& series = &point == &f.best()              ? chosen
                     : point.kind == PointKind::front ? measured
                                                      : swaps;
    series.points.push_back({x_of(point.allocation), point.divergence.mean, point.divergence.low,
                             point.divergence.high, fmt::format("trial {}", point.trial)});
  }
  Panel panel{.x = {.label = std::string(axis_text(f.solved.figure))},
              .y = {.label = "Divergence from the baseline", .logarithmic = true}};
  panel.series = {predicted, measured};
  if (!swaps.points.empty()) panel.series.push_back(swaps);
  panel.series.push_back(chosen);
  return {.title = title, .panels = {panel}};
}

// Headline, key figures and evidence.
void describe_allocation(const AllocationFindings& f, const BeforeAndAfter& both,
                         Document& document) {
  const std::string packed = short_bytes(static_cast<double>(f.best().packed_bytes));
  describe_change(document, fmt::format("{:.3g} bits per weight", f.best().average_bits), both,
                  f.subject.data.measured);
  document.key_figures.push_back({"Weights", fmt::format("{:.3f} bits per weight, {} when packed",
                                                         f.best().average_bits, packed)});
  if (f.timed) {
    const TimesInTurn& times = f.timed->times;
    document.key_figures.push_back(
        {fmt::format("Latency at batch size {}", f.costs.latency.batch.texts),
         fmt::format("{} → {} ms ({:.4f} predicted)", three_digits(times.before.median_ms),
                     three_digits(times.after.median_ms), f.best().latency_ms)});
  }
  document.key_figures.push_back(
      {"Divergence", fmt::format("{} on {}, {:.3g} predicted", divergence_text(f.best().divergence),
                                 made_on(f), f.best().predicted)});
  if (const std::string flatters = same_part_warning(f.subject.data); !flatters.empty())
    document.evidence += " " + flatters;
}

Json to_json(const PredictionCheck& check) {
  return {{"points", check.points},
          {"rank_correlation", check.rank_correlation},
          {"rank_correlation_interval", {check.interval.low, check.interval.high}},
          {"worst_residual", check.worst_residual},
          {"worst_trial", check.worst_trial},
          {"fitted_losses", check.fitted},
          {"worst_misfit", check.worst_misfit},
          {"misfit_trial", check.misfit_trial}};
}

Json fields_of(const AllocationFindings& f, const TrialModel& made, const BeforeAndAfter& both,
               const Table& layers, const Table& points, const fs::path& folder) {
  const std::vector<std::string>& labels = made.model.facts.labels;
  Json json = subject_of(f.job.model, f.subject.data.identity, f.subject.data.measured);
  Json options = Json::array(), budgets = Json::array();
  for (const LayerOption& option : f.job.request.options) options.push_back(option.label());
  for (const AllocationBudget& budget : f.job.request.budgets)
    budgets.push_back({{"quantity", to_string(budget.figure)}, {"most", budget.most}});
  json.update({{"options", options},
               {"budgets", budgets},
               {"seed", f.job.seed},
               {"seeds", 1},
               {"chosen_on", to_json(f.subject.data.measured_choice())},
               {"sensitivity_texts", f.sampled},
               {"front_points", f.solved.front.points.size()},
               {"front_cost_error", f.solved.front.cost_error},
               {"front_costs", f.solved.front.solved_costs},
               {"least_predicted", f.solved.front.points[f.solved.best].bound},
               {"prediction", to_json(checked(f))},
               {"trial", f.best().trial},
               {"average_bits", f.best().average_bits},
               {"packed_bytes", f.best().packed_bytes},
               {"divergence", f.best().divergence.mean},
               {"predicted", f.best().predicted},
               {"corrected_from", f.points[f.correction.before].divergence.mean},
               {"from_store", f.from_store},
               {"layers", to_json(layers)},
               {"points", to_json(points)},
               {"validation", to_json(made.measurement, labels)},
               {"size", to_json(model_size(made.model, folder / "best"))}});
  if (f.timed) {
    json["latency"] = to_json(f.timed->times, "before", "after");
    json["latency"].update({{"predicted_ms", f.best().latency_ms},
                            {"texts_at_a_time", f.costs.latency.batch.texts},
                            {"tokens", f.costs.latency.batch.tokens},
                            {"rest_ms", f.costs.latency.rest_ms},
                            {"cost_error_ms", static_cast<double>(std::ssize(f.costs.layers) + 1) *
                                                  f.costs.piece_ms}});
  }
  json.update(to_json(both, labels));
  return json;
}

std::vector<NextCommand> commands_after_allocation(const AllocationFindings& f) {
  const std::string& folder = f.job.output.folder;
  if (ranks_badly(checked(f)))
    return {{"Search by whole models, starting from the front",
             fmt::format("hone search {} --recipe {} --data {} --trials 100 -o {}",
                         shell_word(f.job.model), shell_word(folder + "/search.toml"),
                         shell_word(f.job.data.options.source), shell_word(folder + "-search"))}};
  return {{"Store the weights in their bits",
           fmt::format("hone pack {} -o {}", shell_word(folder + "/best"),
                       shell_word(folder + "-packed"))}};
}

}  // namespace

JobResult report_allocation(const AllocationFindings& f, const TrialModel& made, Document document,
                            OutputFolder& output, Context& context) {
  const fs::path& folder = output.path();
  const std::int64_t batch = f.job.calibration.batch_size;
  JobResult result{.document = std::move(document)};
  Document& page = result.document;
  const Measurement before =
      measure_before(f.subject.parent, f.subject.data, batch, context, page.notes, "allocating");
  const BeforeAndAfter both =
      measure_after(made.model, before, f.subject.data, batch, /*gates=*/{}, context, "chosen");
  const Table layers = layer_table(f), points = point_table(f);
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Allocation& chosen = f.best().allocation;
  const std::string recipe =
      to_recipe(allocated_plan(f.costs, f.job.request.options, chosen),
                plain_graph(f.subject.parent.model)) +
      to_recipe(allocated_sparsities(f.costs, f.job.request.options, chosen));
  result.fields = fields_of(f, made, both, layers, points, folder);
  result.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  describe_allocation(f, both, page);
  std::vector<std::string> undrawn;
  std::vector<Block> findings;
  for (const std::string& sentence : sentences_of(f)) findings.emplace_back(Paragraph{sentence});
  findings.emplace_back(Paragraph{to_text(model_size(made.model, folder / "best"))});
  page.sections = {
      {"",
       {PageTable{layers, fmt::format("The chosen format of each layer. Divergences are of the "
                                      "layer alone, on {} examples of {}; its neighbours in bits "
                                      "are beside it.",
                                      grouped(f.sampled), made_on(f))}}},
      {"Front",
       {figure_block(front_figure(f, fmt::format("Formats of each layer, on {}", made_on(f))),
                     folder / "allocation",
                     "The predicted front, and the divergence of whole models.", undrawn)}},
      {"Candidates",
       {PageTable{points, fmt::format("Whole models on {}. The smallest divergence within the "
                                      "budget is chosen.",
                                      made_on(f))}},
       /*folded=*/true},
      {"Details of the search", std::move(findings), /*folded=*/true},
      details_section(named_evaluations(both, f.subject.data), labels),
      {"Recipe", {Preformatted{recipe}}, /*folded=*/true}};
  page.output = f.job.output.folder;
  page.next = commands_after_allocation(f);
  const std::vector<std::string> doubts = concerns(both.after.evaluation, labels);
  for (const auto& lines : {doubts, undrawn}) {
    page.notes.insert(page.notes.end(), lines.begin(), lines.end());
    tell_warnings(context, lines);
  }
  write_file(folder / "allocation.csv", to_csv(layers));
  write_file(folder / "points.csv", to_csv(points));
  write_file(folder / "recipe.toml", recipe);
  write_file(folder / "search.toml", f.search);
  write_report(result, f.job.invocation, folder, context);
  return result;
}

}  // namespace hone
