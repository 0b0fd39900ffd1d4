#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/jobs/runs_figure.h"
#include "hone/jobs/runs_table.h"
#include "hone/report/figure_layout.h"
#include "hone/report/page.h"

namespace hone {
namespace {

struct RunsArguments {
  std::vector<std::string> folders;
  std::string sort, columns, html;
  bool reverse = false;
  bool overwrite = false;
  bool json = false;
};

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

/// What is the same in all rows, the table, and whether its rows may be ranked.
struct Shown {
  Table table = Table(std::vector<Column>{});
  std::vector<std::string> lines;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (const std::string& word : split(list, ',')) words.emplace_back(trim(word));
  return words;
}

Shown shown(const RankedRuns& ranked, const std::string& columns) {
  Shown s;
  std::vector<std::string> common;
  s.table = runs_table(ranked, words_of(columns), common);
  if (!common.empty())
    s.lines.push_back(fmt::format("The same in all: {}.", fmt::join(common, "; ")));
  if (const std::string note = groups_note(ranked); !note.empty()) s.lines.push_back(note);
  return s;
}

// Drawn into the page alone. Where it cannot be drawn the page goes without.
void add_figure(const Figure& figure, Section& section) {
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
    print_message(fmt::format("warning: the figure was not drawn: {}", error.what()));
  }
}

Page page_of(const CLI::App& app, const Shown& s, const Figure& figure, std::size_t left_out) {
  Page page{.title = command_line(app),
            .headline = fmt::format("{} runs", s.table.rows().size()),
            .sections = {}};
  Section result{"Runs", {}}, curves{"Trainings", {}};
  for (const std::string& line : s.lines) result.blocks.push_back(Paragraph{line});
  result.blocks.push_back(PageTable{s.table});
  add_figure(figure, curves);
  if (left_out > 0)
    curves.blocks.push_back(Paragraph{fmt::format(
        "{} more are left out, for want of colours to tell them apart; name fewer folders.",
        left_out)});
  page.sections = {result, curves};
  return page;
}

// One file, or a folder that has the table and the figure as files too.
void write_page(const RunsArguments& a, const CLI::App& app, const Shown& s, const Runs& runs) {
  std::size_t left_out = 0;
  const Figure figure = runs_figure(runs, left_out);
  const Page page = page_of(app, s, figure, left_out);
  if (a.html.ends_with(".html")) {
    check_output_file(a.html, a.overwrite);
    return write_file(a.html, to_html(page));
  }
  OutputFolder folder(a.html, JobOutput{a.html, a.overwrite}.options());
  write_file(folder.path() / "runs.csv", to_csv(s.table));
  write_file(folder.path() / "report.html", to_html(page));
  if (!figure.panels.empty()) write_figure(figure, folder.path() / "runs");
  folder.commit();
}

void list_runs(const RunsArguments& a, const CLI::App& app) {
  const Runs runs = read_runs(a.folders);
  const bool falling = a.sort.starts_with('-');
  const RankedRuns ranked =
      rank_runs(runs, falling ? a.sort.substr(1) : a.sort, a.reverse != falling);
  for (const SkippedPath& one : runs.skipped)
    print_message(fmt::format("warning: skipped {}: {}", one.path, one.reason));
  user_check(!ranked.rows.empty(), "there is no output folder among them");
  const Shown s = shown(ranked, a.columns);
  if (!a.html.empty()) write_page(a, app, s, runs);
  if (a.json) return print_result("runs", to_json(ranked, runs));
  const RunArguments run;  // of the flags for printing it has --json alone
  for (const std::string& line : s.lines) print_text(run, "{}\n\n", line);
  print_text(run, to_text(s.table, text_style(run)));
  if (!a.html.empty()) print_text(run, "\nwritten to {}\n", a.html);
}

}  // namespace

Command runs_command() {
  return {"runs", "lay the results of many runs beside each other",
          "hone runs my-model my-model-int8 --sort accuracy --reverse",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<RunsArguments>();
            app.add_option("FOLDERS", a->folders,
                           "output folders, folders of them, or globs; unfinished ones too")
                ->required();
            app.add_option("--sort", a->sort,
                           "column or setting to sort by, within runs that may be compared; with a "
                           "minus in front, as -accuracy, the highest first");
            app.add_flag("--reverse", a->reverse, "the other way round: the highest first");
            app.add_option("--columns", a->columns,
                           "columns and settings to show, by comma; by default those that differ");
            app.add_option("--html", a->html,
                           "page to write, with the trainings laid over each other: a file .html, "
                           "or a folder");
            app.add_flag("--overwrite", a->overwrite, "replace what --html names");
            app.add_flag("--json", a->json, "print the result as JSON");
            return [a, &app] { list_runs(*a, app); };
          }};
}

}  // namespace hone
