#include "hone/jobs/sensitivity.h"

#include <algorithm>
#include <map>

#include "hone/base/text.h"
#include "hone/metrics/evidence.h"
#include "hone/passes/quantize.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// A bar of every way for each layer, the first layer at the top.
Figure sensitivity_figure(const std::string& title, const SensitivityStudy& study) {
  Panel panel{.x = {.label = "Divergence from the model as it is"}, .y = {.label = ""}};
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

std::string headline_of(const SensitivityStudy& study, const std::string& part) {
  const LayerSensitivity* worst = nullptr;
  for (const LayerSensitivity& one : study.layers)
    if (worst == nullptr || !(one.divergence.mean <= worst->divergence.mean)) worst = &one;
  return fmt::format(
      "Most sensitive on {}: {} in {}, divergence {:.3g} (95% CI {:.3g} to {:.3g}); {}.", part,
      worst->layer, worst->change, worst->divergence.mean, worst->divergence.low,
      worst->divergence.high, change_sentence(worst->comparison));
}

// A file is read without what stands beside it: its rows say which texts they were measured on.
Table with_part(const Table& table, const MeasuredPart& measured, std::int64_t n) {
  std::vector<Column> columns = table.columns();
  columns.push_back({"part", "Part"});
  columns.push_back({"n", "n"});
  Table whole(columns);
  for (std::vector<Cell> row : table.rows()) {
    row.emplace_back(measured.facts.part);
    row.emplace_back(n);
    whole.add_row(std::move(row));
  }
  return whole;
}

std::string cost_text(const VariantRows& cost) {
  return fmt::format(
      "Values before changed layers took {} at most, in {} group{} of layers; {} times the "
      "operations of running each apart.",
      display_text(bytes(static_cast<std::int64_t>(cost.kept_bytes))), cost.groups,
      cost.groups == 1 ? "" : "s", three_digits(cost.flops / cost.apart_flops));
}

}  // namespace

SensitivityResult measure_sensitivity(const SensitivityJob& job, Context& context) {
  RunReport report;
  report.invocation = job.invocation;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  check_not_packed(source.model, job.model);
  check_unquantized(source.model, job.model);
  const EncodedSplits data = load_encoded(source, job.model, job.data, job.split, job.seed,
                                          FiguresOf::one_model, context, report.notes);
  if (data.measured.facts.part == "test" || data.measured.facts.part == "all") {
    report.notes.push_back(
        "these figures look at the test part: what is chosen by them profits from it");
    tell_warnings(context, {report.notes.back()});
  }
  SensitivityResult result{
      .study = measure_sensitivity(source.model, job.changes, data.test, data.train,
                                   job.calibration, job.runs, context),
      .fields = {}};
  const SensitivityStudy& study = result.study;
  const Table table = sensitivity_table(study);
  const std::string measured_on =
      part_text(data.measured.facts.part, study.model, cautions(data.measured));
  result.fields = subject_of(job.model, data.identity, data.measured);
  result.fields["layers"] = to_json(table);
  result.fields["groups"] = study.cost.groups;
  result.fields["kept_bytes"] = static_cast<std::int64_t>(study.cost.kept_bytes);
  result.fields["computed_flops"] = study.cost.flops;
  result.fields["apart_computed_flops"] = study.cost.apart_flops;
  const std::string headline = headline_of(study, measured_on), cost = cost_text(study.cost);
  result.text = [table, headline, cost, measured_on](const TextStyle& style) {
    return fmt::format("Each layer alone, on {}:\n\n{}\n{}\n{}\n", measured_on,
                       to_text(table, style), headline, cost);
  };
  write_file(output.path() / "sensitivity.csv",
             to_csv(with_part(table, data.measured, data.test.size())));
  report.results = result.fields;
  report.title = fmt::format("Layers of {}, each alone in {} way{}", job.model, job.changes.size(),
                             job.changes.size() == 1 ? "" : "s");
  report.headline = headline;
  const bool rounds = std::ranges::any_of(
      job.changes, [](const LayerChange& change) { return change.formats.has_value(); });
  report.basis = basis_of(job.data.options.source, data, std::string(rounds ? kSimulated : kFloat));
  std::vector<std::string> undrawn;
  report.sections = {
      {"Layers",
       {figure_block(sensitivity_figure(report.title, study), output.path() / "sensitivity",
                     "Divergence of every layer in every way", undrawn),
        PageTable{table, fmt::format("On {}", measured_on)}, Paragraph{cost}}}};
  report.notes.insert(report.notes.end(), undrawn.begin(), undrawn.end());
  tell_warnings(context, undrawn);
  write_run_report(report, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
