#include "hone/jobs/list_runs.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/jobs/job_output.h"
#include "hone/jobs/runs_figure.h"
#include "hone/report/document.h"
#include "hone/report/figure_layout.h"

namespace hone {
namespace {

// Explains columns whose content is not obvious.
std::string columns_note(const Table& table) {
  const auto shows = [&](std::string_view key) {
    return std::ranges::find(table.columns(), key, &Column::key) != table.columns().end();
  };
  return fmt::format("{}{}For more columns, use `--columns`; `--json` prints all.",
                     shows("size") ? "File size: the weights as stored; a model that is not packed "
                                     "gets smaller by `hone pack`. "
                                   : "",
                     shows("latency")
                         ? "Latency: median per example at batch size 1, measured "
                           "by each run on its own; to rank latencies, run `hone bench` "
                           "on all models. "
                         : "");
}

// The page does without a figure that cannot be drawn.
void add_curves(const Figure& figure, const Context& context, Section& section) {
  Figure wide = figure;
  wide.title.clear();  // repeated in the caption
  const fs::path folder = fs::temp_directory_path();
  try {
    const std::optional<Figure> narrow = narrow_figure(wide);
    section.blocks.push_back(
        PageFigure{draw_svg(wide, folder), narrow ? draw_svg(*narrow, folder) : "",
                   "Loss and validation metric of the runs against epochs", figure.title});
  } catch (const UserError& error) {
    section.blocks.push_back(Paragraph{fmt::format("The figure was not drawn: {}", error.what())});
    print_warnings(context, {fmt::format("the figure was not drawn: {}", error.what())});
  }
}

Section curves_section(const std::vector<Figure>& figures, std::size_t left_out,
                       const Context& context) {
  Section curves{"Training", {}};
  for (const Figure& figure : figures) add_curves(figure, context, curves);
  if (left_out > 0)
    curves.blocks.push_back(Paragraph{fmt::format(
        "{} more runs are left out, because there are no more colours; name fewer folders.",
        left_out)});
  return curves;
}

// Writes one file, or a folder that also has the table and the figures as files.
void write_page(const RunsJob& job, const Table& table, Document page, const Runs& runs,
                const Context& context) {
  std::size_t left_out = 0;
  const std::vector<Figure> figures = runs_figures(runs, left_out);
  page.sections.push_back(curves_section(figures, left_out, context));
  if (job.html.ends_with(".html")) {
    check_output_file(job.html, job.overwrite);
    return write_file(job.html, to_html(page));
  }
  OutputFolder folder(job.html, JobOutput{job.html, job.overwrite}.options());
  write_file(folder.path() / "runs.csv", to_csv(table));
  write_file(folder.path() / "report.html", to_html(page));
  for (std::size_t i = 0; i < figures.size(); ++i)
    write_figure(figures[i],
                 folder.path() / (figures.size() == 1 ? "runs" : fmt::format("runs-{}", i + 1)));
  folder.commit();
}

}  // namespace

const Fields& fields_of(const RunsFields*) {
  using R = RunsFields;
  static const Fields fields = describe<R>(
      "runs", "Output folders of earlier jobs.",
      field<&R::runs>("runs", "Every model that was measured, in the order of the table."),
      field<&R::groups>("groups", "Which runs can be ranked."),
      field<&R::skipped>("skipped", "Paths that are not output folders."));
  return fields;
}

JobResult list_runs(const RunsJob& job, const Context& context) {
  const Runs runs = read_runs(job.folders);
  RankedRuns ranked = rank_runs(runs, job.sort, job.reverse);
  for (const SkippedPath& one : runs.skipped)
    print_warnings(context, {fmt::format("skipped {}: {}", one.path, one.reason)});
  user_check(!ranked.rows.empty(), "there is no output folder among them");
  std::vector<std::string> common;
  const Table table = runs_table(ranked, job.columns, common);
  JobResult result;
  Document& document = result.document;
  document.title = job.title;
  const std::size_t count = table.rows().size();
  document.headline = fmt::format("{} run{}", count, count == 1 ? "" : "s");
  document.evidence = groups_note(ranked);
  const std::string cautions = cautions_note(ranked);
  result.fields =
      to_json(RunsFields{std::move(ranked.rows), std::move(ranked.groups), runs.skipped});
  Section rows{"", {}};
  if (!common.empty())
    rows.blocks.push_back(
        Paragraph{fmt::format("The same in all runs: {}.", fmt::join(common, "; "))});
  rows.blocks.push_back(PageTable{table, job.columns.empty() ? columns_note(table) : ""});
  if (!cautions.empty()) rows.blocks.push_back(Paragraph{cautions});
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
