#include "hone/jobs/list_runs.h"

#include "hone/base/text.h"
#include "hone/cli/arguments.h"
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
  RunArguments run;  // of the flags of all commands it has --json alone
  run.json = a.json;
  print("runs", list_runs(a.job, make_context(run)), run);
}

}  // namespace

Command runs_command() {
  return {"runs",
          "Compare the results of many runs in one table",
          "hone runs my-model my-model-int8 --sort accuracy --reverse",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<RunsArguments>();
            app.add_option("FOLDERS", a->job.folders, "output folders, parents of such, or globs")
                ->required();
            app.add_option("--sort", a->sort, "column to sort by; -COLUMN: descending");
            app.add_flag("--reverse", a->job.reverse, "reverse the order");
            app.add_option("--columns", a->columns,
                           "columns to show; by default those that differ");
            app.add_option("--html", a->job.html, "write a page with all learning curves");
            app.add_flag("--overwrite", a->job.overwrite, "replace the files of --html");
            app.add_flag("--json", a->json, "print the result as JSON");
            return [a, &app] { show_runs(*a, app); };
          },
          {.allowed = false}};
}

}  // namespace hone
