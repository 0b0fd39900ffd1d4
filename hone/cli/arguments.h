#pragma once

#include <string>
#include <vector>

#include "hone/cli/command.h"
#include "hone/cli/pass_watch.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_options.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/recipe.h"
#include "hone/runtime/context.h"

/// Command-line arguments that are not part of a job.
namespace hone {

/// Returns `read()`, which parses the value of `flag` with the tables of the context. Rethrows its `UserError` as a
/// `UsageError` that names the flag.
template <typename Read>
auto value_of_flag(std::string_view flag, Read&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const UserError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

/// Arguments of the run itself, shared by the commands.
struct RunArguments {
  int threads = available_processors();
  bool json = false;
  bool quiet = false;
  std::string colour = "auto";
  std::uint64_t seed = 42;
  std::vector<std::string> plugins;  ///< paths
  PassArguments passes;
  std::string device = "cpu";
  std::string precision = "fp32";
  std::string executor = "interpreter";
};
/// Options of commands whose graphs run on any device: `host_options` and `device_options`.
Options options_of(const RunArguments*);
/// Options of commands with a job that runs no graph, or runs it on the CPU only.
Options host_options();
/// `--json` and `--quiet`, for commands without threads and color.
Options json_and_quiet();
Options seed_option();
Options plugin_option();
/// `--threads`, `--json`, `--quiet` and `--color`, for commands whose results depend on nothing else.
Options output_options();
/// `--device`, for commands whose graphs may run on a GPU.
Options device_option();
/// `--device` and `--precision`.
Options device_options();
/// `--precision`, for graphs that run on the CPU only.
Options cpu_precision_option();
Options executor_option();

/// The devices that processes of one command share: every GPU for `cuda`, otherwise the given device.
std::vector<std::string> devices_of(const RunArguments& arguments);

/// Returns the context of the command's jobs. Throws `UserError`.
Context make_context(const RunArguments& arguments);

struct CalibrationArguments {
  CalibrationRun run = {.batch_size = 32};
  std::string rule = "minmax";
  /// Returns `run` with the rule and the seed of its sample. Throws `UserError` for an unknown rule.
  CalibrationRun parsed(std::uint64_t seed) const;
};
Options options_of(const CalibrationArguments*);

/// The formats that a command quantizes to.
struct FormatArguments {
  std::string recipe;  ///< path
  std::string format;
  std::string input_format, weight_format, bias_format, output_format;
  std::vector<std::string> rules;  ///< TOML inline tables
};
Options options_of(const FormatArguments*);
/// Whether any of them was given.
bool any_given(const FormatArguments& arguments);

/// Returns the recipe with the flags applied: their formats replace its defaults, their rules follow its own. Throws
/// `UserError`; `UsageError` if nothing is given.
Recipe recipe_from(const FormatArguments& arguments, const FormatTable& formats);

/// Reports that the job's folder already contains its result; with `json`, prints those `results`. Throws `GateFailure`
/// if the job did not pass its gate.
void print_finished(const JobOutput& output, const Json& results, bool json);

}  // namespace hone
