#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "hone/models/encoding.h"
#include "hone/report/figure.h"
#include "hone/report/page.h"

/// What every job leaves in its output folder beside its result:
///
///     settings.json   the command line, every setting with its value, start and duration
///     machine.json    processor, memory, system, versions
///     results.json    the figures
///     report.html     all of it to read: one page that needs no other file
///     run.log         warnings and notes
///
///     RunReport report{.title = "my-model in 8 bits", .headline = verdict(comparison).summary, …};
///     report.sections.push_back({"Result", {PageTable{table}}});
///     write_run_report(report, output.path(), context);      // before output.commit()
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

/// On what a result stands; every report says all of it.
struct Basis {
  std::string arithmetic;  ///< "fp32", "simulated integer(width=8,frac=4)"
  std::int64_t seeds = 1;  ///< 0: nothing was drawn at random
  std::string data;        ///< where the texts come from
  std::string splits;      ///< how many are in which part, and where the validation part comes from
  std::string protocol;    ///< where choices were made
};

/// "reviews.csv; 2 000 texts, fingerprint 99aa06d3014798d86001c324468d497f"
std::string data_text(const std::string& source, const DataIdentity& identity);

/// The basis of a job on `data`, read from `source`.
Basis basis_of(const std::string& source, const EncodedSplits& data, std::string arithmetic,
               std::int64_t seeds = 1);

/// That of a job that reads no examples.
Basis basis_without_texts(std::string_view arithmetic);

struct RunReport {
  std::string title;
  std::string headline = {};  ///< the result in a sentence
  Invocation invocation = {};
  Basis basis = {};
  std::vector<Section> sections = {};
  Json results = nullptr;  ///< of results.json, see `write_results`; null: the job writes it itself
  std::vector<std::string> notes = {};  ///< warnings and what else is worth knowing, a line each
};

/// Writes the files above into an existing folder. Throws `UserError`.
void write_run_report(const RunReport& report, const fs::path& folder, const Context& context);

/// Draws `stem`.svg, .png, .tsv and .gp, and returns the figure for a page. Where it cannot be drawn
/// (gnuplot is missing) the job's result is not lost for it: the block is a sentence that says so, and
/// `notes` gets it too.
Block figure_block(const Figure& figure, const fs::path& stem, const std::string& description,
                   std::vector<std::string>& notes);

}  // namespace hone
