#include "hone/jobs/sensitivity.h"

#include <algorithm>
#include <map>

#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/passes/quantize.h"
#include "hone/study/change_headline.h"
#include "hone/study/measure.h"

namespace hone {
namespace {

// Draws a bar for each change of each layer, the first layer at the top.
Figure sensitivity_figure(const std::string& title, const SensitivityStudy& study) {
  Panel panel{.x = {.label = "Divergence from the baseline"}, .y = {.label = ""}};
  std::map<std::string, double> places;
  std::vector<std::string> layers;
  for (const LayerSensitivity& one : study.layers)
    if (places.emplace(one.layer, 0).second) layers.push_back(one.layer);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    places[layers[i]] = static_cast<double>(layers.size() - i);
    panel.y.ticks.push_back({places[layers[i]], layers[i]});
  }
  for (const LayerSensitivity& one : study.layers) {
    const auto found = std::ranges::find(panel.series, one.change, &Series::label);
    Series& series =
        found != panel.series.end()
            ? *found
            : panel.series.emplace_back(Series{.label = one.change, .draw = Draw::bars});
    series.points.push_back({.x = one.divergence.mean, .y = places[one.layer], .name = one.layer});
  }
  const int height = 160 + 14 * static_cast<int>(study.layers.size());
  return {.title = title, .panels = {panel}, .width = 900, .height = height};
}

const LayerSensitivity& most_sensitive(const SensitivityStudy& study) {
  const LayerSensitivity* worst = &study.layers.front();
  for (const LayerSensitivity& one : study.layers)
    if (!(one.divergence.mean <= worst->divergence.mean)) worst = &one;
  return *worst;
}

void fill_document(const SensitivityStudy& study, const std::string& measured_on,
                   Document& document) {
  const LayerSensitivity& worst = most_sensitive(study);
  document.headline = fmt::format("Most sensitive layer: {} with {}", worst.layer, worst.change);
  document.key_figures = {
      {"Divergence", fmt::format("{:.3g}", worst.divergence.mean)},
      {metric_title(worst.comparison.change.metric) + " change", points_change(worst.comparison)},
      flips_fact(worst.comparison)};
  document.evidence =
      fmt::format("{}: divergence 95% CI {:.3g} to {:.3g}, each layer changed alone.",
                  capitalized(measured_on), worst.divergence.low, worst.divergence.high);
}

// Adds the measured split and n to every row, so that the file can be read alone.
Table with_split_columns(const Table& table, const MeasuredSplit& measured, std::int64_t n) {
  std::vector<Column> columns = table.columns();
  columns.push_back({"split", "Split"});
  columns.push_back({"n", "n"});
  Table whole(columns);
  for (std::vector<Cell> row : table.rows()) {
    row.emplace_back(measured.facts.split);
    row.emplace_back(n);
    whole.add_row(std::move(row));
  }
  return whole;
}

std::string cost_text(const VariantRows& cost) {
  return fmt::format(
      "Layers were run in {2} group{3} with shared prefixes, which took {1} × the operations of "
      "separate runs and at most {0} for stored activations.",
      display_text(bytes(static_cast<std::int64_t>(cost.kept_bytes))),
      three_digits(cost.flops / cost.separate_flops), cost.groups, cost.groups == 1 ? "" : "s");
}

}  // namespace

const Fields& fields_of(const SensitivityFields*) {
  using S = SensitivityFields;
  static const Fields fields = describe<S>(
      "sensitivity", "How predictions change when one layer is rounded or pruned alone.",
      inlined<&S::subject>(),
      field<&S::layers>("layers", "Each linear layer with each change, the most sensitive first."),
      field<&S::groups>("groups", "Groups of layers that shared a run of the baseline."),
      field<&S::stored_bytes>("stored_bytes", Unit::bytes,
                              "Predicted peak of the stored activations before changed layers."),
      field<&S::computed_flops>("computed_flops", Unit::flop, "Of all operations of all runs."),
      field<&S::separate_computed_flops>("separate_computed_flops", Unit::flop,
                                         "The same without shared runs."));
  return fields;
}

SensitivityResult measure_sensitivity(const SensitivityJob& job, Context& context) {
  SensitivityResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          MetricsOf::one_model, context, document.notes);
  if (data.measured.facts.split == "test" || data.measured.facts.split == "all") {
    document.notes.emplace_back(
        "these numbers use the test split, so test results of choices based on them are "
        "optimistic");
    print_warnings(context, {document.notes.back()});
  }
  result.study = measure_sensitivity(source.model, job.changes, data.test, data.train,
                                     job.calibration, job.runs, context);
  const SensitivityStudy& study = result.study;
  const Table table = sensitivity_table(study);
  const std::string measured_on =
      split_text(data.measured.facts.split, study.model, first_caution(data.measured));
  result.fields =
      to_json(SensitivityFields{.subject = subject_result(job.model, data.identity, data.measured),
                                .layers = layer_sensitivity_results(study),
                                .groups = study.cost.groups,
                                .stored_bytes = static_cast<std::int64_t>(study.cost.kept_bytes),
                                .computed_flops = study.cost.flops,
                                .separate_computed_flops = study.cost.separate_flops});
  write_file(output.path() / "sensitivity.csv",
             to_csv(with_split_columns(table, data.measured, data.test.size())));
  document.title = fmt::format("Layers of {}, each alone with {} change{}", job.model,
                               job.changes.size(), job.changes.size() == 1 ? "" : "s");
  document.output = job.output.folder;
  fill_document(study, measured_on, document);
  const bool rounds = std::ranges::any_of(
      job.changes, [](const LayerChange& change) { return change.formats.has_value(); });
  result.basis = basis_of(job.data.options.source, data, std::string(rounds ? kSimulated : kFloat));
  std::vector<std::string> figure_notes;
  document.sections = {
      {"",
       {PageTable{table, fmt::format("Each layer alone, on {}.", measured_on)},
        figure_block(sensitivity_figure(document.title, study), output.path() / "sensitivity",
                     "Divergence of each layer with each change", figure_notes)}},
      {"Cost of this study", {Paragraph{cost_text(study.cost)}}, /*folded=*/true}};
  document.notes.insert(document.notes.end(), figure_notes.begin(), figure_notes.end());
  print_warnings(context, figure_notes);
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
