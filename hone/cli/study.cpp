#include "hone/jobs/search/study.h"

#include <unistd.h>

#include <iostream>

#include "hone/cli/arguments.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct StudyArguments {
  StudyJob job;
  bool yes = false;
  RunArguments run;
};

bool is_meant(const std::string& question) {
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

void study(StudyArguments& a) {
  if (a.job.storage.empty() && a.job.beside.empty())
    throw UsageError("hone study: name a storage, such as my-search/study.db");
  // A person is asked; a program must confirm with --yes.
  if (a.job.remove && !a.yes && ::isatty(STDIN_FILENO) == 0)
    throw UsageError("hone study: --delete removes a study with all its trials; give --yes too");
  if (!a.yes) a.job.may_remove = is_meant;
  print("study", tell_studies(a.job, make_context(a.run)), a.run);
}

}  // namespace

Command study_command() {
  return {"study", "Show, compare or export studies of a search",
          "hone study search/study.db search", [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<StudyArguments>();
            app.add_option("STORAGE", a->job.storage, "SQLite file or postgresql:// address");
            app.add_option("STUDIES", a->job.studies, "studies to show or compare; by default all");
            app.add_option("--beside", a->job.beside, "more storages to compare");
            app.add_option("--export", a->job.export_file,
                           "write all trials to a .csv or .json file");
            app.add_option("--for_optuna_3_1", a->job.for_optuna_3_1,
                           "copy an SQLite file for Optuna 3.0 and 3.1");
            app.add_flag("--delete", a->job.remove, "delete the study and all its trials");
            app.add_flag("--yes", a->yes, "delete without asking");
            declare(app, a->job.output, /*required=*/false);
            declare_screen(app, a->run);
            return [a] { study(*a); };
          }};
}

}  // namespace hone
