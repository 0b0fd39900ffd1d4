#include "hone/jobs/search/study.h"

#include <unistd.h>

#include <iostream>

#include "hone/cli/arguments.h"
#include "hone/cli/settings.h"
#include "hone/cli/terminal_output.h"

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
  if (a.job.storage.empty() && a.job.others.empty())
    throw UsageError("hone study: name a storage, such as my-search/study.db");
  // People are asked to confirm; programs must pass --yes.
  if (a.job.remove && !a.yes && ::isatty(STDIN_FILENO) == 0)
    throw UsageError("hone study: --delete removes a study with all its trials; give --yes too");
  if (!a.yes) a.job.confirm_removal = is_meant;
  print("study", manage_studies(a.job, make_context(a.run)), a.run);
}

Options options_of(const StudyArguments*) {
  using A = StudyArguments;
  return {
      argument<&A::job, &StudyJob::storage>("STORAGE", "SQLite file or postgresql:// address")
          .takes(kStorageValue),
      argument<&A::job, &StudyJob::studies>("STUDIES", "studies to show or compare; by default all")
          .shown("STUDY"),
      option<&A::job, &StudyJob::others>("beside", "more storages to compare").takes(kStorageValue),
      option<&A::job, &StudyJob::export_file>("export", "write all trials to a .csv or .json file")
          .takes(kWrittenFileValue),
      option<&A::job, &StudyJob::for_optuna_3_1>("for_optuna_3_1",
                                                 "copy an SQLite file for Optuna 3.0 and 3.1")
          .takes(kWrittenFileValue)
          .rare(),
      option<&A::job, &StudyJob::remove>("delete", "delete the study and all its trials"),
      option<&A::yes>("yes", "delete without asking"),
      group<&A::job, &StudyJob::output>(report_output()),
      group<&A::run>(output_options())};
}

}  // namespace

Command study_command() {
  return {.name = "study",
          .summary = "Show, compare or export the stored trials of searches",
          .example = "hone study search/study.db search",
          .run = runs<StudyArguments, study>()};
}

}  // namespace hone
