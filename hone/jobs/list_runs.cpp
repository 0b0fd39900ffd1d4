#include "hone/jobs/list_runs.h"

#include <fmt/ranges.h>

#include "hone/jobs/job_output.h"
#include "hone/jobs/runs_figure.h"
#include "hone/report/document.h"
#include "hone/report/figure_layout.h"

namespace hone {
namespace {

RunsFields runs_fields(const RankedRuns& ranked, const Runs& runs) {
  RunsFields fields{.skipped = runs.skipped};
  const auto known = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional(text);
  };
  for (const RunGroup& group : ranked.groups)
    fields.groups.push_back({.group = fields.groups.size() + 1,
                             .data = known(group.data),
                             .data_hash = known(group.data_hash),
                             .split = known(group.part),
                             .n = group.n == 0 ? std::nullopt : std::optional(group.n),
                             .examples_hash = known(group.texts_hash)});
  return fields;
}

// Drawn into the page alone, which goes without it if it cannot be drawn.
void add_curves(const Figure& figure, const Context& context, Section& section) {
  if (figure.panels.empty()) return;
  Figure wide = figure;
  wide.title.clear();  // the caption has it
  const fs::path folder = fs::temp_directory_path();
  try {
    const std::optional<Figure> narrow = narrow_figure(wide);
    section.blocks.push_back(
        PageFigure{draw_svg(wide, folder), narrow ? draw_svg(*narrow, folder) : "",
                   "Loss and validation accuracy of the runs against epochs", figure.title});
  } catch (const UserError& error) {
    section.blocks.push_back(Paragraph{fmt::format("The figure was not drawn: {}", error.what())});
    tell_warnings(context, {fmt::format("the figure was not drawn: {}", error.what())});
  }
}

Section curves_section(const Figure& figure, std::size_t left_out, const Context& context) {
  Section curves{"Training", {}};
  add_curves(figure, context, curves);
  if (left_out > 0)
    curves.blocks.push_back(Paragraph{fmt::format(
        "{} more runs are left out, because there are no more colours; name fewer folders.",
        left_out)});
  return curves;
}

// One file, or a folder that also has the table and the figure as files.
void write_page(const RunsJob& job, const Table& table, Document page, const Runs& runs,
                const Context& context) {
  std::size_t left_out = 0;
  const Figure figure = runs_figure(runs, left_out);
  page.sections.push_back(curves_section(figure, left_out, context));
  if (job.html.ends_with(".html")) {
    check_output_file(job.html, job.overwrite);
    return write_file(job.html, to_html(page));
  }
  OutputFolder folder(job.html, JobOutput{job.html, job.overwrite}.options());
  write_file(folder.path() / "runs.csv", to_csv(table));
  write_file(folder.path() / "report.html", to_html(page));
  if (!figure.panels.empty()) write_figure(figure, folder.path() / "runs");
  folder.commit();
}

}  // namespace

const Fields& fields_of(const RunGroupResult*) {
  using R = RunGroupResult;
  static const Fields fields = describe<R>(
      "run_group", "Runs that were measured on the same examples; only these can be ranked.",
      field<&R::group>("group", "Its number, from 1."),
      field<&R::data>("data", "The data as it was named; null: unknown."),
      field<&R::data_hash>("data_hash", "`hash` of the data; null: unknown."),
      field<&R::split>("split", "The split: train, validation, test or all; null: unknown."),
      field<&R::n>("n", Unit::examples, "Number of examples; null: unknown."),
      field<&R::examples_hash>("examples_hash",
                               "Fingerprint of the examples; null: unknown, and the data, split "
                               "and number identify them."));
  return fields;
}

const Fields& fields_of(const SkippedPath*) {
  static const Fields fields =
      describe<SkippedPath>("skipped_path", "A path that is not an output folder.",
                            field<&SkippedPath::path>("path", "The path."),
                            field<&SkippedPath::reason>("reason", "Why it was skipped."));
  return fields;
}

const Fields& fields_of(const RunsFields*) {
  static const Fields fields = describe<RunsFields>(
      "runs", "Output folders of earlier jobs.",
      field<&RunsFields::groups>("groups", "Which runs can be ranked."),
      field<&RunsFields::skipped>("skipped", "Paths that are not output folders."));
  return fields;
}

RunsResult list_runs(const RunsJob& job, const Context& context) {
  const Runs runs = read_runs(job.folders);
  RunsResult result;
  result.ranked = rank_runs(runs, job.sort, job.reverse);
  for (const SkippedPath& one : runs.skipped)
    tell_warnings(context, {fmt::format("skipped {}: {}", one.path, one.reason)});
  user_check(!result.ranked.rows.empty(), "there is no output folder among them");
  std::vector<std::string> common;
  const Table table = runs_table(result.ranked, job.columns, common);
  result.fields = {{"runs", result.ranked.rows}};
  result.fields.update(to_json(runs_fields(result.ranked, runs)));
  Document& document = result.document;
  document.title = job.title;
  const std::size_t count = table.rows().size();
  document.headline = fmt::format("{} run{}", count, count == 1 ? "" : "s");
  document.evidence = groups_note(result.ranked);
  Section rows{"", {}};
  if (!common.empty())
    rows.blocks.push_back(Paragraph{fmt::format("The same in all: {}.", fmt::join(common, "; "))});
  rows.blocks.push_back(PageTable{table});
  document.sections.push_back(std::move(rows));
  if (job.html.empty()) return result;
  write_page(job, table, document, runs, context);
  if (job.html.ends_with(".html"))
    document.sections[0].blocks.push_back(Paragraph{fmt::format("Written to {}", job.html)});
  else
    document.output = job.html;
  return result;
}

}  // namespace hone
