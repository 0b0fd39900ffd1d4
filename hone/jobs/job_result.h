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

/// What a job returns and leaves in its output folder:
///
///     results.json    the result for programs
///     report.html     the result for people, a page that needs no other file
///     report.md       the same as Markdown
///     settings.json   the command line, every setting with its value, start and duration
///     machine.json    CPU, memory, system, versions
///     run.log         warnings and notes
///
///     JobResult result{.fields = …, .document = {.title = "my-model in 8 bits", .headline = …}};
///     write_report(result, job.invocation, output.path(), context);      // before output.commit()
///     return result;
namespace hone {

/// How a job was asked for.
struct Invocation {
  std::string name;                ///< of the command: "train"
  std::string command;             ///< a line for the shell that asks for the same again
  Json settings = Json::object();  ///< every option of the command with its value
  Json defaults = Json::object();  ///< the values they have when they are not given
  std::chrono::system_clock::time_point start = std::chrono::system_clock::now();
  /// A line for the shell that asks for the same with these settings instead, an empty one left out. Null: there is no shell
  /// to ask.
  std::function<std::string(const std::map<std::string, std::string>& instead)> command_with = {};

  /// A setting as whoever asked for the job types it: "--qat" on a command line, else "`qat`".
  std::string setting(std::string_view name) const {
    return fmt::format(fmt::runtime(command_with ? "--{}" : "`{}`"), name);
  }
};

/// The heading of that part of a page.
inline constexpr const char* kConditions = "Conditions";

/// How a result was measured; every report says all of it but what is empty.
struct Basis {
  std::string arithmetic = {};  ///< "fp32", "simulated integer(width=8,frac=4)"
  std::int64_t seeds = 1;       ///< 0: nothing was drawn at random; negative: said elsewhere
  std::string data = {};        ///< where the texts come from
  std::string splits =
      {};  ///< how many are in which part, and where the validation part comes from
  std::string protocol = {};  ///< where choices were made
};

/// "reviews.csv; 2,000 texts, fingerprint 99aa06d3014798d86001c324468d497f"
std::string data_text(const std::string& source, const DataIdentity& identity);

/// The basis of a job on `data`, read from `source`.
Basis basis_of(const std::string& source, const EncodedSplits& data, std::string arithmetic,
               std::int64_t seeds = 1);

/// That of a job that reads no examples.
Basis basis_without_texts(std::string_view arithmetic);

/// One result, for programs and for people.
struct JobResult {
  Json fields = {};        ///< for programs, see `result_of`
  Document document = {};  ///< for people
  Basis basis = {};
  std::optional<GateOutcome> gate = {};  ///< nothing where no gates were asked for
  /// The output folder already held the results of the same job, which `fields` are; nothing was done, and `document` has its folder alone.
  bool was_finished = false;
  /// Somebody asked to stop, and some of the work is missing: the command prints it and ends as interrupted.
  bool was_interrupted = false;
  double seconds_before = 0;  ///< what interrupted runs took that this one went on with
};

/// The result of a job whose output folder already holds it.
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

/// Writes the files above into an existing folder. Throws `UserError` when one cannot be written.
void write_report(const JobResult& result, const Invocation& invocation, const fs::path& folder,
                  const Context& context);

/// Draws `stem`.svg, .png, .tsv and .gp, and returns the figure for a page. Where it cannot be drawn
/// (gnuplot is missing) the job's result is not lost for it: the block is a sentence that says so, and
/// `notes` gets it too.
Block figure_block(const Figure& figure, const fs::path& stem, const std::string& description,
                   std::vector<std::string>& notes);

}  // namespace hone
