#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_output.h"
#include "hone/models/encoding.h"
#include "hone/report/document.h"
#include "hone/report/figure.h"
#include "hone/study/gates.h"

/// The result of a job, and the files in its output folder:
///
///     results.json    the result as JSON
///     report.html     the report, a page that needs no other file
///     report.md       the same as Markdown
///     settings.json   the command line, every setting with its value, start and duration
///     machine.json    CPU, memory, system, versions
///     run.log         warnings and notes
///
///     JobResult result{.fields = …, .document = {.title = "my-model in 8 bits", .headline = …}};
///     write_report(result, job.invocation, output.path(), context);      // before output.commit()
///     return result;
namespace hone {

/// How a job was requested.
struct Invocation {
  std::string name;                ///< of the command: "train"
  std::string command;             ///< shell command that requests the same again
  Json settings = Json::object();  ///< every option of the command with its value
  Json defaults = Json::object();  ///< default values of these options
  std::chrono::system_clock::time_point start = std::chrono::system_clock::now();
  /// Returns a shell command with these settings changed; an empty one is left out. Null: the job has no command line.
  std::function<std::string(const std::map<std::string, std::string>& instead)> command_with = {};

  /// Returns a setting as users of this interface write it: "--qat" on a command line, otherwise "`qat`".
  std::string setting(std::string_view name) const {
    return fmt::format(fmt::runtime(command_with ? "--{}" : "`{}`"), name);
  }
};

/// Heading of the conditions in a report.
inline constexpr const char* kConditions = "Conditions";

/// How a result was measured. Reports list all fields but the empty ones.
struct Basis {
  std::string arithmetic = {};  ///< "fp32", "simulated integer(width=8,frac=4)"
  std::int64_t seeds = 1;       ///< 0: nothing is random; negative: reported elsewhere
  std::string data = {};        ///< source of the texts
  std::string splits = {};      ///< sizes of the splits, and the source of the validation split
  std::string protocol = {};    ///< on which split choices were made
};

/// Returns "reviews.csv; 2,000 texts, fingerprint 99aa06d3014798d86001c324468d497f".
std::string data_text(const std::string& source, const DataIdentity& identity);

/// Returns the basis of a job on `data`, read from `source`.
Basis basis_of(const std::string& source, const EncodedSplits& data, std::string arithmetic,
               std::int64_t seeds = 1);

/// Returns the basis of a job that reads no examples.
Basis basis_without_texts(std::string_view arithmetic);

/// One result, for programs and for people.
struct JobResult {
  Json fields = {};        ///< for programs, see `result_of`
  Document document = {};  ///< for people
  Basis basis = {};
  std::optional<GateOutcome> gate = {};  ///< empty if there were no gates
  /// The output folder already holds the results of the same job, which are in `fields`. Nothing was done, and
  /// `document` only has its folder.
  bool was_finished = false;
  /// The job was interrupted, and part of the work is missing. The command prints the result and exits as interrupted.
  bool was_interrupted = false;
  double seconds_before = 0;  ///< duration of the interrupted runs that this one resumed
};

/// Returns the result of a job that the output folder already holds.
template <typename Result>
Result finished(const OutputFolder& folder, const JobOutput& output) {
  Result result;
  result.was_finished = true;
  result.fields = finished_results(folder);
  result.document.output = output.folder;
  return result;
}

/// settings.json
struct SettingsFields {
  std::string command_line;
  Json settings = {};
  std::string device;
  std::string start;
  double seconds = 0;
};
const Fields& fields_of(const SettingsFields*);

/// Writes the files above into an existing folder. Throws `UserError` if one cannot be written.
void write_report(const JobResult& result, const Invocation& invocation, const fs::path& folder,
                  const Context& context);

/// Draws `stem`.svg, .png, .tsv and .gp, and returns the figure for a page. If it cannot be drawn (gnuplot is missing),
/// the job continues: the block is a sentence that says so, which is also added to `notes`.
Block figure_block(const Figure& figure, const fs::path& stem, const std::string& description,
                   std::vector<std::string>& notes);

}  // namespace hone
