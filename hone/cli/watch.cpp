#include "hone/base/progress.h"
#include "hone/base/terminal.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/terminal_output.h"
#include "hone/jobs/search/study_tables.h"
#include "hone/jobs/search/watch_study.h"

namespace hone {
namespace {

struct WatchArguments {
  WatchJob job;
  RunArguments run;
};

// Returns a line such as "   17  0.4817  best  0:03  batch 32, …". Shortens the values at the end to fit.
std::string line_of(const WatchedTrial& watched, std::size_t columns) {
  const Trial& trial = watched.trial;
  std::string line = fmt::format("{:>5}  ", shown_number(trial.number));
  if (trial.state == TrialState::complete)
    for (const double value : trial.values)
      line += fmt::format("{:>9}  ", rounded_text(value, kObjectiveDigits));
  else
    line += fmt::format("{:>9}  ", enum_name(trial.state));
  line += watched.is_best ? "best  " : "      ";
  if (const double seconds = seconds_of(trial); std::isfinite(seconds))
    line += clock_text(seconds) + "  ";
  const std::string values = values_text(watched.study, trial);
  if (columns == 0) return line + values;
  constexpr std::size_t kMin = 8;
  const std::size_t room = columns > display_width(line) ? columns - display_width(line) : 0;
  return room < kMin ? line : line + shortened(values, room);
}

void watch(WatchArguments& a) {
  const std::size_t columns = terminal_columns(stdout);
  const std::string sentence = watch_study(
      a.job,
      [&](const WatchedTrial& trial, Progress& progress) {
        if (a.run.json) {
          print_result("watch", to_json(watch_fields(trial)));
        } else if (columns > 0 && !a.run.quiet) {
          progress.print_above(
              line_of(trial, columns - 1));  // prints above the progress line of the same terminal
        } else {
          fmt::print("{}\n", line_of(trial, columns));
        }
        std::fflush(stdout);
      },
      make_context(a.run));
  if (!a.run.json) print_text(a.run, "{}\n", sentence);
}

Options options_of(const WatchArguments*) {
  using A = WatchArguments;
  return {
      argument<&A::job, &WatchJob::storage>("STORAGE", "SQLite file or postgresql:// address")
          .required()
          .takes(kStorageValue),
      argument<&A::job, &WatchJob::study>("STUDY",
                                          "study to follow; by default the most recent one")
          .shown("STUDY"),
      option<&A::job, &WatchJob::last>("last", "finished trials to show first").from(0),
      option<&A::job, &WatchJob::idle_seconds>("idle", "exit after so many idle seconds (0: never)")
          .from(0),
      group<&A::run>(output_options())};
}

}  // namespace

Command watch_command() {
  return {.name = "watch",
          .summary = "Follow a running search, trial by trial",
          .example = "hone watch search/study.db --idle 5",
          .run = runs<WatchArguments, watch>()};
}

}  // namespace hone
