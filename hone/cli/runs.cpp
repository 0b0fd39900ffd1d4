#include "hone/jobs/list_runs.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

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
  const RunArguments run;  // of the flags of all commands it has --json alone
  const RunsResult result = list_runs(a.job, make_context(run));
  if (a.json) return print_result("runs", result.fields);
  print_text(run, "{}", result.text(text_style(run)));
}

}  // namespace

Command runs_command() {
  return {"runs", "lay the results of many runs beside each other",
          "hone runs my-model my-model-int8 --sort accuracy --reverse",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<RunsArguments>();
            app.add_option("FOLDERS", a->job.folders,
                           "output folders, folders of them, or globs; unfinished ones too")
                ->required();
            app.add_option("--sort", a->sort,
                           "column or setting to sort by, within runs that may be compared; with a "
                           "minus in front, as -accuracy, the highest first");
            app.add_flag("--reverse", a->job.reverse, "the other way round: the highest first");
            app.add_option("--columns", a->columns,
                           "columns and settings to show, by comma; by default those that differ");
            app.add_option("--html", a->job.html,
                           "page to write, with the trainings laid over each other: a file .html, "
                           "or a folder");
            app.add_flag("--overwrite", a->job.overwrite, "replace what --html names");
            app.add_flag("--json", a->json, "print the result as JSON");
            return [a, &app] { show_runs(*a, app); };
          }};
}

}  // namespace hone
