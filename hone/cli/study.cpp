#include "hone/jobs/study.h"

#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"

namespace hone {
namespace {

struct StudyArguments {
  StudyJob job;
  RunArguments run;
};

void study(const StudyArguments& a) {
  const StudyResult result = tell_studies(a.job, make_context(a.run));
  if (a.run.json) return print_result("study", result.fields);
  print_text(a.run, "{}", result.text(text_style(a.run)));
}

}  // namespace

Command study_command() {
  return {
      "study", "list, show, compare, export and delete studies",
      "hone study search/study.db search", [](CLI::App& app) -> std::function<void()> {
        auto a = std::make_shared<StudyArguments>();
        app.add_option("STORAGE", a->job.storage,
                       "an SQLite file or postgresql://USER@HOST/DATABASE with studies in "
                       "Optuna's tables")
            ->required();
        app.add_option("STUDIES", a->job.studies,
                       "names: of one all is shown, several are laid beside each other; without "
                       "any, a row for each study");
        app.add_option("--export", a->job.export_file,
                       "write all trials of one study to this file, .csv or .json; one that is "
                       "there stays, unless --overwrite is given");
        app.add_option("--for_optuna_3_1", a->job.for_optuna_3_1,
                       "write a copy of an SQLite file that Optuna 3.0 and 3.1 open, which refuse "
                       "what later ones write");
        app.add_flag("--delete", a->job.remove, "delete the study, with all of its trials");
        declare(app, a->job.output, /*required=*/false);
        declare_screen(app, a->run);
        return [a] { study(*a); };
      }};
}

}  // namespace hone
