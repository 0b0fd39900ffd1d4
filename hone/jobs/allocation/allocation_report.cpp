#include "hone/jobs/allocation/allocation_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/formats/format.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/models/model_size.h"
#include "hone/report/field_table.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/format_search.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// Returns enough decimals to distinguish the smallest values, at least six: divergences at 8 bits are around 1e-6.
int digits_for(const std::vector<double>& values) {
  constexpr int kMin = 6, kMost = 12;
  int digits = kMin;
  for (const double value : values)
    if (std::isfinite(value) && value != 0)
      digits = std::max(digits, 1 - static_cast<int>(std::floor(std::log10(std::abs(value)))));
  return std::min(digits, kMost);
}

std::string made_on(const AllocationFindings& f) {
  return name_and_size(f.subject.data.measured_choice());
}

bool is_timed(const AllocationFindings& f) { return !f.costs.latency_units.empty(); }

/// Another option of a layer, relative to its own.
struct Neighbour {
  std::size_t option = 0;
  double bits = 0;        // difference to its own option
  double divergence = 0;  // difference to its own option
};

// Returns the option nearest in bits among those with fewer bits, or with more bits and less damage.
std::optional<Neighbour> neighbour(const AllocationFindings& f, std::size_t layer, bool cheaper) {
  const std::size_t own = f.best().allocation[layer];
  std::optional<Neighbour> nearest;
  for (const std::size_t option : f.solved.option_indices[layer]) {
    const Neighbour other{
        option, f.costs.average_bits(layer, option) - f.costs.average_bits(layer, own),
        f.layer_divergences[layer][option].mean - f.layer_divergences[layer][own].mean};
    if (cheaper ? other.bits >= 0 : other.bits <= 0 || other.divergence >= 0) continue;
    const auto rank = [](const Neighbour& n) { return std::pair(std::abs(n.bits), n.divergence); };
    if (!nearest || rank(other) < rank(*nearest)) nearest = other;
  }
  return nearest;
}

std::vector<AllocatedLayer> allocated_layers(const AllocationFindings& f) {
  std::vector<AllocatedLayer> rows;
  for (std::size_t i = 0; i < f.costs.layers.size(); ++i) {
    const std::size_t own = f.best().allocation[i];
    const LayerOption& option = f.job.request.options[own];
    AllocatedLayer row{.layer = f.costs.layers[i],
                       .format = option.text,
                       .bits = f.costs.average_bits(i, own),
                       .divergence = f.layer_divergences[i][own].mean};
    if (option.sparsity.share > 0) {
      row.sparsity = option.sparsity.share;
      row.structure = structure_text(option.sparsity.structure);
    }
    if (const std::optional<Neighbour> other = neighbour(f, i, /*cheaper=*/true)) {
      row.cheaper = f.job.request.options[other->option].label();
      row.cheaper_bits = other->bits;
      row.cheaper_divergence = other->divergence;
    }
    if (const std::optional<Neighbour> other = neighbour(f, i, /*cheaper=*/false)) {
      row.better = f.job.request.options[other->option].label();
      row.better_bits = other->bits;
      row.better_divergence = -other->divergence;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Turns "none, 50% pruned" into "full precision, 50% pruned".
std::string option_in_words(const std::string& option) {
  const std::size_t end = std::min(option.find(','), option.size());
  return format_in_words(option.substr(0, end)) + option.substr(end);
}

Table layer_table(std::vector<AllocatedLayer> layers) {
  for (AllocatedLayer& layer : layers) {
    layer.format = format_in_words(layer.format);
    for (std::optional<std::string>* other : {&layer.cheaper, &layer.better})
      if (*other) *other = option_in_words(**other);
  }
  return headed_table(layers);
}

// Returns all evaluated points by rising cost.
std::vector<EvaluatedAllocation> allocation_points(const AllocationFindings& f) {
  std::vector<const MeasuredPoint*> sorted;
  for (const MeasuredPoint& point : f.points) sorted.push_back(&point);
  std::ranges::stable_sort(sorted, {}, [&](const MeasuredPoint* point) {
    return f.costs.total(f.solved.quantity, point->allocation);
  });
  std::vector<EvaluatedAllocation> rows;
  for (const MeasuredPoint* point : sorted) {
    EvaluatedAllocation& row = rows.emplace_back(
        EvaluatedAllocation{.trial = point->trial,
                            .kind = point->kind,
                            .average_bits = point->average_bits,
                            .packed_bytes = point->packed_bytes,
                            .predicted = point->predicted,
                            .divergence = point->divergence.mean,
                            .divergence_low = point->divergence.low,
                            .divergence_high = point->divergence.high,
                            .metric = point->metric,
                            .metric_interval = point->metric_interval,
                            .within = within(f.costs, f.job.request.budgets, point->allocation),
                            .chosen = point == &f.best()});
    if (is_timed(f)) row.latency_ms = point->latency_ms;
  }
  return rows;
}

Table point_table(const std::vector<EvaluatedAllocation>& points, const MetricName& figure) {
  std::vector<double> shown;
  for (const EvaluatedAllocation& point : points)
    shown.insert(shown.end(), {point.predicted, point.divergence});
  const int digits = digits_for(shown);
  Table table({{"trial", "Trial"},
               {"kind", "Kind"},
               {"average_bits", "Bits per weight"},
               {"packed_bytes", "Size when packed (predicted)"},
               {"latency_ms", "Latency per example (ms)"},
               {"predicted", "Predicted"},
               {"divergence", "Divergence"},
               {"divergence_low", "CI from"},
               {"divergence_high", "CI to"},
               {"metric", metric_title(figure)},
               {"within", "Within budget"},
               {"chosen", "Chosen"}});
  for (const EvaluatedAllocation& point : points) {
    const auto [low, high] = point.metric_interval;
    table.add_row({shown_number(point.trial), to_string(point.kind), real(point.average_bits, 3),
                   bytes(point.packed_bytes),
                   point.latency_ms ? real(*point.latency_ms, 4) : Cell(absent),
                   real(point.predicted, digits), real(point.divergence, digits),
                   real(point.divergence_low, digits), real(point.divergence_high, digits),
                   figure.may_be_negative ? number_within(point.metric, low, high)
                                          : percent_within(point.metric, low, high),
                   point.within ? "yes" : "no", point.chosen ? "yes" : "no"});
  }
  return table;
}

std::string_view axis_text(BudgetQuantity quantity) {
  switch (quantity) {
    case BudgetQuantity::average_bits:
      return "Bits per weight";
    case BudgetQuantity::packed_bytes:
      return "Size when packed (predicted, bytes)";
    case BudgetQuantity::latency_ms:
      return "Latency per example, sum over layers (ms)";
  }
  return "";
}

// Plots the predicted front, its measured points, the swaps and the chosen point.
Figure front_figure(const AllocationFindings& f, const std::string& title) {
  const auto x_of = [&](const Allocation& allocation) {
    return f.costs.total(f.solved.quantity, allocation);
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
                             point.divergence.high,
                             fmt::format("trial {}", shown_number(point.trial))});
  }
  Panel panel{.x = {.label = std::string(axis_text(f.solved.quantity))},
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
  document.key_figures.push_back(
      {"Weights", fmt::format("{:.3f} bits per weight, {} when packed (predicted)",
                              f.best().average_bits, packed)});
  if (f.timed) {
    const TimesInTurn& times = f.timed->times;
    document.key_figures.push_back(
        {latency_title(*f.timed), fmt::format("{}; {} ms predicted", latency_change_text(times),
                                              three_digits(f.best().latency_ms))});
  }
  document.key_figures.push_back(
      {"Divergence", fmt::format("{} on {}, {:.3g} predicted", divergence_text(f.best().divergence),
                                 made_on(f), f.best().predicted)});
  if (const std::string flatters = same_split_warning(f.subject.data); !flatters.empty())
    document.evidence += " " + flatters;
}

AllocateFields fields_for(const AllocationFindings& f, const TrialModel& made,
                          const BeforeAndAfter& both, const fs::path& folder) {
  const std::vector<std::string>& labels = made.model.facts.labels;
  AllocateFields fields{
      .subject = subject_result(f.job.model, f.subject.data.identity, f.subject.data.measured),
      .budgets = f.job.request.budgets,
      .seed = f.job.seed,
      .chosen_on = measured_split_result(f.subject.data.measured_choice()),
      .sensitivity_examples = f.sampled,
      .front_points = std::ssize(f.solved.front.points),
      .front_cost_error = f.solved.front.cost_error,
      .front_costs = static_cast<std::int64_t>(f.solved.front.solved_costs),
      .min_predicted = f.solved.front.points[f.solved.best].bound,
      .prediction = prediction_check_of(f),
      .trial = f.best().trial,
      .average_bits = f.best().average_bits,
      .packed_bytes = f.best().packed_bytes,
      .divergence = f.best().divergence.mean,
      .predicted = f.best().predicted,
      .front_divergence = f.points[f.correction.before].divergence.mean,
      .from_store = f.from_store,
      .layers = allocated_layers(f),
      .points = allocation_points(f),
      .validation = evaluation_result(made.measurement, labels),
      .size = model_size(made.model, folder / "best"),
      .both = before_and_after_result(both, labels)};
  for (const LayerOption& option : f.job.request.options) fields.options.push_back(option.label());
  if (f.timed)
    fields.latency = AllocationLatency{
        .device = f.timed->device,
        .predicted_ms = f.best().latency_ms,
        .times = f.timed->times,
        .batch_size = f.costs.latency.batch.texts,
        .tokens = f.costs.latency.batch.tokens,
        .rest_ms = f.costs.latency.rest_ms,
        .cost_error_ms = static_cast<double>(std::ssize(f.costs.layers) + 1) * f.costs.unit_ms};
  return fields;
}

std::vector<NextCommand> commands_after_allocation(const AllocationFindings& f) {
  const std::string& folder = f.job.output.folder;
  if (ranks_badly(prediction_check_of(f)))
    return {{"Search by whole models, starting from the front",
             fmt::format("hone search {} --recipe {} --data {} --trials 100 -o {}",
                         shell_word(f.job.model), shell_word(folder + "/search.toml"),
                         shell_word(f.job.data.options.source), shell_word(folder + "-search"))}};
  return {{"Store the weights in their bits",
           fmt::format("hone pack {} -o {}", shell_word(folder + "/best"),
                       shell_word(folder + "-packed"))}};
}

}  // namespace

const Fields& fields_of(const AllocatedLayer*) {
  using A = AllocatedLayer;
  static const Fields fields = describe<A>(
      "allocated_layer", "The format of a layer, and its neighbours in bits.",
      field<&A::layer>("layer", "Name of the layer.", "Layer"),
      field<&A::format>("format", "Format of the layer; none: full precision.", "Format"),
      field<&A::sparsity>("sparsity", Unit::share,
                          "Of its weights that are pruned; null: it is not pruned.", "Pruned"),
      field<&A::structure>("structure",
                           "weights: single ones were pruned; else blocks of so many rows by "
                           "columns; null: it is not pruned.",
                           "Structure"),
      field<&A::bits>("bits", Unit::bits,
                      "Per weight, shared scales included; of a pruned layer those of the "
                      "remaining weights, and one for each block.",
                      "Bits per weight"),
      field<&A::divergence>("divergence",
                            "Divergence of the predictions with only this layer in its format; "
                            "null: an output is not finite.",
                            "Divergence")
          .or_null(),
      field<&A::cheaper>("cheaper", "The next option with fewer bits; null: none.", "Next smaller"),
      field<&A::cheaper_bits>("cheaper_bits", Unit::bits, "Its change in bits, below 0.",
                              "Change in bits"),
      field<&A::cheaper_divergence>("cheaper_divergence", "The divergence it adds.",
                                    "Added divergence"),
      field<&A::better>("better", "The next option with more bits and less divergence; null: none.",
                        "Next better"),
      field<&A::better_bits>("better_bits", Unit::bits, "The bits it adds.", "Added bits"),
      field<&A::better_divergence>("better_divergence", "The divergence it saves.",
                                   "Saved divergence"));
  return fields;
}

const Fields& fields_of(const EvaluatedAllocation*) {
  using A = EvaluatedAllocation;
  static const Fields fields = describe<A>(
      "allocation_point", "A whole model that was evaluated.",
      field<&A::trial>("trial", "Its number in the study."),
      field<&A::kind>("kind",
                      "front: a point of the front; swap: two layers changed around the best of "
                      "these."),
      field<&A::average_bits>("average_bits", Unit::bits,
                              "Per weight of linear layers, 32 in full precision."),
      field<&A::packed_bytes>("packed_bytes", Unit::bytes,
                              "Predicted of all weights in the file of `hone pack`."),
      field<&A::latency_ms>("latency_ms", Unit::milliseconds,
                            "Per example, the sum over layers; null: no budget limits it."),
      field<&A::predicted>("predicted",
                           "Predicted divergence: the sum over its layers, each measured alone.")
          .or_null(),
      field<&A::divergence>(
          "divergence",
          "Divergence of its predictions from the baseline; null: an output is not finite.")
          .or_null(),
      field<&A::divergence_low>("divergence_low",
                                "Lower end of its 95% interval; null: of fewer than two examples.")
          .or_null(),
      field<&A::divergence_high>("divergence_high", "Upper end.").or_null(),
      field<&A::metric>("metric", "The metric of the task; null: not defined.").or_null(),
      field<&A::metric_interval>("metric_interval", "Its 95% interval."),
      field<&A::within>("within", "It is within the budgets."),
      field<&A::chosen>("chosen", "It is the chosen one."));
  return fields;
}

const Fields& fields_of(const AllocationLatency*) {
  using A = AllocationLatency;
  static const Fields fields = describe<A>(
      "allocation_latency",
      "Latency of the chosen model, packed: the sum over layers, and measured whole.",
      field<&A::device>("device", "Device of all times, with settings that they depend on."),
      field<&A::predicted_ms>(
          "predicted_ms", Unit::milliseconds,
          "Predicted latency per example: its layers and the rest of the model."),
      inlined<&A::times>(),
      field<&A::batch_size>("batch_size", Unit::examples, "Examples in a timed batch."),
      field<&A::tokens>("tokens", Unit::tokens, "Per example."),
      field<&A::rest_ms>("rest_ms", Unit::milliseconds,
                         "Latency per example of the baseline without its linear layers; 0: these "
                         "took longer than the whole model, so their latencies are scaled to it."),
      field<&A::cost_error_ms>("cost_error_ms", Unit::milliseconds,
                               "Maximum by which the solver overestimates an allocation."));
  return fields;
}

const Fields& fields_of(const AllocateFields*) {
  using A = AllocateFields;
  static const Fields fields = describe<A>(
      "allocate", "A format for each linear layer of a model within a budget.",
      inlined<&A::subject>(),
      field<&A::options>("options", "The options of each linear layer; none: full precision."),
      field<&A::budgets>("budgets", "The limits on the chosen model."),
      field<&A::seed>("seed", "Seed of the samples."),
      field<&A::seeds>("seeds", Unit::seeds, "Random seeds of the measurements."),
      field<&A::chosen_on>("chosen_on", "Split on which choices are made."),
      field<&A::sensitivity_examples>(
          "sensitivity_examples", Unit::examples,
          "Examples of that split on which each layer was measured alone."),
      field<&A::front_points>("front_points", "Points of the front of sums over layers."),
      field<&A::front_cost_error>("front_cost_error",
                                  "Bits by which a point may exceed an exact one; 0: the front "
                                  "is exact."),
      field<&A::front_costs>("front_costs",
                             "Costs for which a very large front was solved; 0: for all."),
      field<&A::min_predicted>("min_predicted",
                               "Lower bound of all sums over layers within the budgets."),
      field<&A::prediction>("prediction", "Sums over layers against whole models."),
      field<&A::trial>("trial", "Number of the chosen trial, whose model is stored in `best`."),
      field<&A::average_bits>("average_bits", Unit::bits,
                              "Per weight of linear layers, 32 in full precision."),
      field<&A::packed_bytes>("packed_bytes", Unit::bytes,
                              "Predicted of its weights in the file of `hone pack`."),
      field<&A::divergence>("divergence", "Divergence of its predictions on that split."),
      field<&A::predicted>("predicted",
                           "Predicted divergence: the sum over its layers, each measured alone.")
          .or_null(),
      field<&A::latency>("latency", "Predicted and measured; null: no budget limits latency_ms."),
      field<&A::front_divergence>("front_divergence",
                                  "Divergence of the best point of the front, before swaps."),
      field<&A::from_store>("from_store", "Whole models whose results come from earlier runs."),
      field<&A::layers>("layers", "The format of each layer, in the order of the graph."),
      field<&A::points>("points", "All whole models that were evaluated, by their cost."),
      field<&A::validation>("validation", "The chosen model on that split."),
      field<&A::size>("size", "Size of its weights."), inlined<&A::both>());
  return fields;
}

JobResult report_allocation(const AllocationFindings& f, const TrialModel& made, Document document,
                            OutputFolder& output, Context& context) {
  const fs::path& folder = output.path();
  const std::int64_t batch = f.job.calibration.batch_size;
  JobResult result{.document = std::move(document)};
  Document& page = result.document;
  const Measurement before =
      measure_before(f.subject.baseline, f.subject.data, batch, context, page.notes, "allocating");
  const BeforeAndAfter both =
      measure_after(made.model, before, f.subject.data, batch, /*gates=*/{}, context, "chosen");
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Allocation& chosen = f.best().allocation;
  const std::string recipe =
      to_recipe(allocated_plan(f.costs, f.job.request.options, chosen),
                unquantized_graph(f.subject.baseline.model)) +
      to_recipe(allocated_sparsities(f.costs, f.job.request.options, chosen));
  const AllocateFields fields = fields_for(f, made, both, folder);
  result.fields = to_json(fields);
  const Table layers = layer_table(fields.layers),
              points = point_table(fields.points, f.subject.baseline_measured->evaluation.metric);
  result.basis =
      basis_of(f.job.data.options.source, f.subject.data,
               made.model.quantization ? "simulated " + summary(made.model.quantization->plan)
                                       : std::string(kFloat));
  describe_allocation(f, both, page);
  std::vector<std::string> figure_notes;
  std::vector<Block> findings;
  for (const std::string& sentence : sentences_of(f)) findings.emplace_back(Paragraph{sentence});
  findings.emplace_back(Paragraph{to_text(model_size(made.model, folder / "best"))});
  page.sections = {
      {"",
       {PageTable{
           layers,
           fmt::format("The chosen format of each layer and the next options in bits. Divergences "
                       "are measured with only that layer in the format, on {} examples of {}.",
                       grouped(f.sampled), made_on(f))}}},
      {"Front",
       {figure_block(front_figure(f, fmt::format("Formats of each layer, on {}", made_on(f))),
                     folder / "allocation",
                     "The predicted front, and the divergence of whole models.", figure_notes)}},
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
  const std::vector<std::string> metric_warnings = concerns(both.after.evaluation, labels);
  for (const auto& lines : {metric_warnings, figure_notes}) {
    page.notes.insert(page.notes.end(), lines.begin(), lines.end());
    print_warnings(context, lines);
  }
  write_file(folder / "allocation.csv", to_csv(layers));
  write_file(folder / "points.csv", to_csv(points));
  write_file(folder / "recipe.toml", recipe);
  write_file(folder / "search.toml", f.search);
  write_report(result, f.job.invocation, folder, context);
  return result;
}

}  // namespace hone
