#include "hone/jobs/allocation/allocation_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/models/model_size.h"
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

// Of what costs less, or does less damage, the nearest in bits; of equal ones that of the least damage.
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

// What every layer takes, and why: what its neighbours would have cost.
Table layer_table(const AllocationFindings& f) {
  std::vector<double> shown;
  for (std::size_t i = 0; i < f.costs.layers.size(); ++i)
    shown.push_back(f.alone[i][f.best().allocation[i]].mean);
  const int digits = digits_for(shown);
  Table table({{"layer", "Layer"},
               {"format", "Format"},
               {"sparsity", "Pruned"},
               {"bits", "Bits"},
               {"divergence", "Divergence alone"},
               {"cheaper", "Next cheaper"},
               {"cheaper_bits", "bits"},
               {"cheaper_divergence", "adds"},
               {"better", "Next better"},
               {"better_bits", "more bits"},
               {"better_divergence", "saves"}});
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
               {"average_bits", "Bits"},
               {"packed_bytes", "Packed"},
               {"latency_ms", "Latency (ms)"},
               {"predicted", "Predicted"},
               {"divergence", "Divergence"},
               {"divergence_low", "95% from"},
               {"divergence_high", "to"},
               {"figure", figure_title(figure)},
               {"within", "Within"},
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
      return "Average bits of a weight";
    case BudgetFigure::packed_bytes:
      return "Packed bytes";
    case BudgetFigure::latency_ms:
      return "Milliseconds for a text, layers added up";
  }
  return "";
}

// The predicted front, what was measured of it, the swaps, and what was chosen.
Figure front_figure(const AllocationFindings& f, const std::string& title) {
  const auto x_of = [&](const Allocation& allocation) {
    return f.costs.figure(f.solved.figure, allocation);
  };
  Series predicted{.label = "predicted: the sum over layers", .points = {}, .draw = Draw::line};
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
              .y = {.label = "Divergence from the model as it is", .logarithmic = true}};
  panel.series = {predicted, measured};
  if (!swaps.points.empty()) panel.series.push_back(swaps);
  panel.series.push_back(chosen);
  return {.title = title, .panels = {panel}};
}

std::string headline_of(const AllocationFindings& f, const BeforeAndAfter& both) {
  std::vector<std::string> budgets;
  for (const AllocationBudget& budget : f.job.request.budgets) budgets.push_back(budget.text);
  const std::string flatters = same_part_warning(f.subject.data);
  return fmt::format(
      "Within {}: {:.3f} bits of a weight, {} packed; divergence {} on {}, {:.3g} predicted. {}On "
      "{}: {}.",
      fmt::join(budgets, ", "), f.best().average_bits, display_text(bytes(f.best().packed_bytes)),
      divergence_text(f.best().divergence), made_on(f), f.best().predicted,
      flatters.empty() ? "" : flatters + " ", name_and_size(f.subject.data.measured),
      both.verdict.summary);
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
    budgets.push_back({{"figure", to_string(budget.figure)}, {"most", budget.most}});
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

std::vector<Block> paragraphs(const std::vector<std::string>& sentences, const std::string& last) {
  std::vector<Block> blocks;
  for (const std::string& text : sentences) blocks.emplace_back(Paragraph{text});
  blocks.emplace_back(Paragraph{last});
  return blocks;
}

}  // namespace

AllocateResult report_allocation(const AllocationFindings& f, const TrialModel& made,
                                 RunReport report, OutputFolder& output, Context& context) {
  const fs::path& folder = output.path();
  const std::int64_t batch = f.job.calibration.batch_size;
  const Measurement before =
      measure_before(f.subject.parent, f.subject.data, batch, context, report.notes, "allocating");
  const BeforeAndAfter both =
      measure_after(made.model, before, f.subject.data, batch, /*gates=*/{}, context, "chosen");
  const Table layers = layer_table(f), points = point_table(f);
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Allocation& chosen = f.best().allocation;
  const std::string recipe =
      to_recipe(allocated_plan(f.costs, f.job.request.options, chosen),
                plain_graph(f.subject.parent.model)) +
      to_recipe(allocated_sparsities(f.costs, f.job.request.options, chosen));
  report.results = fields_of(f, made, both, layers, points, folder);
  report.headline = headline_of(f, both);
  report.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  const std::vector<std::string> sentences = sentences_of(f);
  const std::string
      caption = fmt::format(
          "What each layer takes; what it, and its neighbours in bits, did alone, on {} "
          "texts of {}.",
          grouped(f.sampled), made_on(f)),
      point_caption = fmt::format(
          "Whole models on {}, where the choice is made: the least divergence within "
          "the budget is chosen.",
          made_on(f));
  std::vector<std::string> undrawn;
  const std::vector<NamedEvaluation> measured = named_evaluations(both, f.subject.data);
  report.sections = {
      {"Result", paragraphs(sentences, to_text(model_size(made.model, folder / "best")))},
      {"Front",
       {figure_block(front_figure(f, fmt::format("Formats of each layer, on {}", made_on(f))),
                     folder / "allocation",
                     "The front of sums over layers, and what whole models did.", undrawn),
        PageTable{points, point_caption}}},
      {"Layers", {PageTable{layers, caption}}},
      details_section(measured, labels),
      {"Recipe", {Preformatted{recipe}}, /*folded=*/true}};
  const std::vector<std::string> doubts = concerns(both.after.evaluation, labels);
  for (const auto& lines : {doubts, undrawn}) {
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
    tell_warnings(context, lines);
  }
  write_file(folder / "allocation.csv", to_csv(layers));
  write_file(folder / "points.csv", to_csv(points));
  write_file(folder / "recipe.toml", recipe);
  write_file(folder / "search.toml", f.search);
  write_run_report(report, folder, context);
  AllocateResult result{.fields = report.results};
  result.text = [=, headline = report.headline,
                 destination = f.job.output.folder](const TextStyle& style) {
    return fmt::format(
        "{}\n\n{}\n{}\n\n{}\n{}\n{}\n{}The model is in {}/best, its recipe in "
        "{}/recipe.toml\n",
        headline, to_text(layers, style), caption, to_text(points, style), point_caption,
        fmt::join(sentences, "\n"), details_text(measured, labels, style), destination,
        destination);
  };
  return result;
}

}  // namespace hone
