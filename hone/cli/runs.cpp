#include "hone/jobs/list_runs.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

namespace hone {
namespace {

struct RunsArguments {
  RunsJob job;
  std::string sort, columns;
  bool json = false;
};

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words;
  if (list.empty()) return words;
  for (const std::string& word : split(list, ',')) words.emplace_back(trim(word));
  return words;
}

void show_runs(RunsArguments& a, const CLI::App& app) {
  const bool falling = a.sort.starts_with('-');
  a.job.sort = falling ? a.sort.substr(1) : a.sort;
  a.job.reverse = a.job.reverse != falling;
  a.job.columns = words_of(a.columns);
  a.job.title = command_line(app);
  RunArguments run;  // this command only has --json of the shared flags
  run.json = a.json;
  print("runs", list_runs(a.job, make_context(run)), run);
}

Options options_of(const RunsArguments*) {
  using A = RunsArguments;
  return {argument<&A::job, &RunsJob::folders>("FOLDERS",
                                               "output folders, their parent folders, or globs")
              .required()
              .takes({.shown = "FOLDER", .folders = true, .access = Access::reads_runs}),
          option<&A::sort>("sort", "column to sort by; -COLUMN: descending")
              .takes({.shown = "[-]COLUMN", .allows_leading_minus = true}),
          option<&A::job, &RunsJob::reverse>("reverse", "reverse the order"),
          option<&A::columns>("columns", "columns to show, by their names in --json").shown("LIST"),
          option<&A::job, &RunsJob::html>("html", "write a page with all learning curves")
              .takes({.shown = "FILE|FOLDER", .files = true, .access = Access::writes}),
          overwrite_option<&A::job, &RunsJob::overwrite>("replace the files of --html"),
          option<&A::json>("json", "print the result as JSON").under(Heading::output)};
}

}  // namespace

Command runs_command() {
  return {.name = "runs",
          .summary = "Compare the results of many runs in one table",
          .example = "hone runs my-model my-model-int8 --sort accuracy --reverse",
          .run = runs<RunsArguments, show_runs>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
