#include "hone/jobs/list_runs.h"

#include <fmt/ranges.h>

#include "hone/jobs/job_output.h"
#include "hone/jobs/runs_figure.h"
#include "hone/report/figure_layout.h"
#include "hone/report/document.h"

namespace hone {
namespace {

Json to_json(const RankedRuns& ranked, const Runs& runs) {
  Json groups = Json::array(), skipped = Json::array();
  const auto known = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
  for (std::size_t i = 0; i < ranked.groups.size(); ++i) {
    const RunGroup& g = ranked.groups[i];
    groups.push_back({{"group", i + 1},
                      {"data", known(g.data)},
                      {"data_hash", known(g.data_hash)},
                      {"part", known(g.part)},
                      {"n", g.n == 0 ? Json() : Json(g.n)},
                      {"texts_hash", known(g.texts_hash)}});
  }
  for (const SkippedPath& one : runs.skipped)
    skipped.push_back({{"path", one.path}, {"reason", one.reason}});
  return {{"runs", ranked.rows}, {"groups", groups}, {"skipped", skipped}};
}

// Drawn into the page alone. Where it cannot be drawn the page goes without.
void add_curves(const Figure& figure, const Context& context, Section& section) {
  if (figure.panels.empty()) return;
  Figure wide = figure;
  wide.title.clear();  // the caption says it
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

Document runs_page(const RunsJob& job, const RunsResult& result, const Figure& figure,
               std::size_t left_out, const Context& context) {
  Document page{.title = job.title,
            .headline = fmt::format("{} runs", result.table.rows().size()),
            .sections = {}};
  Section rows{"Runs", {}}, curves{"Trainings", {}};
  for (const std::string& line : result.lines) rows.blocks.push_back(Paragraph{line});
  rows.blocks.push_back(PageTable{result.table});
  add_curves(figure, context, curves);
  if (left_out > 0)
    curves.blocks.push_back(Paragraph{fmt::format(
        "{} more are left out, for want of colours to tell them apart; name fewer folders.",
        left_out)});
  page.sections = {rows, curves};
  return page;
}

// One file, or a folder that has the table and the figure as files too.
void write_page(const RunsJob& job, const RunsResult& result, const Runs& runs,
                const Context& context) {
  std::size_t left_out = 0;
  const Figure figure = runs_figure(runs, left_out);
  const Document page = runs_page(job, result, figure, left_out, context);
  if (job.html.ends_with(".html")) {
    check_output_file(job.html, job.overwrite);
    return write_file(job.html, to_html(page));
  }
  OutputFolder folder(job.html, JobOutput{job.html, job.overwrite}.options());
  write_file(folder.path() / "runs.csv", to_csv(result.table));
  write_file(folder.path() / "report.html", to_html(page));
  if (!figure.panels.empty()) write_figure(figure, folder.path() / "runs");
  folder.commit();
}

}  // namespace

RunsResult list_runs(const RunsJob& job, const Context& context) {
  const Runs runs = read_runs(job.folders);
  RankedRuns ranked = rank_runs(runs, job.sort, job.reverse);
  for (const SkippedPath& one : runs.skipped)
    tell_warnings(context, {fmt::format("skipped {}: {}", one.path, one.reason)});
  user_check(!ranked.rows.empty(), "there is no output folder among them");
  std::vector<std::string> common, lines;
  Table table = runs_table(ranked, job.columns, common);
  if (!common.empty())
    lines.push_back(fmt::format("The same in all: {}.", fmt::join(common, "; ")));
  if (const std::string note = groups_note(ranked); !note.empty()) lines.push_back(note);
  RunsResult result{std::move(ranked), std::move(lines), std::move(table), {}, {}};
  if (!job.html.empty()) write_page(job, result, runs, context);
  result.fields = to_json(result.ranked, runs);
  result.text = [lines = result.lines, table = result.table,
                 html = job.html](const TextStyle& style) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n\n";
    text += to_text(table, style);
    if (!html.empty()) text += fmt::format("\nwritten to {}\n", html);
    return text;
  };
  return result;
}

}  // namespace hone
