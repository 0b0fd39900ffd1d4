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

/// The arguments of commands that are no job's.
namespace hone {

/// What `read` makes of the words that follow `flag`, which need the tables: where it throws `UserError` for them, the
/// command line is at fault.
template <typename Read>
auto value_of_flag(std::string_view flag, Read&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const UserError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

/// Of every command.
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
/// Those of commands whose graphs run on any device: `host_options` and `device_options`.
Options options_of(const RunArguments*);
/// Those of commands with a job that runs no graph, or runs it on the CPU only.
Options host_options();
/// `--json` and `--quiet`, of commands without threads and color.
Options json_and_quiet();
Options seed_option();
Options plugin_option();
/// `--threads`, `--json`, `--quiet` and `--color`: of commands whose results depend on nothing else.
Options screen_options();
/// `--device`, of commands whose graphs may run on a GPU.
Options device_option();
/// The same and `--precision`.
Options device_options();
/// `--precision`, of what runs on the processor alone.
Options processor_precision();
Options executor_option();

/// The devices that processes of one command share: every GPU for `cuda`, otherwise the given device.
std::vector<std::string> devices_of(const RunArguments& arguments);

/// What the command's jobs work with. Throws `UserError`.
Context make_context(const RunArguments& arguments);

/// What calibration looks at.
struct CalibrationArguments {
  CalibrationRun run = {.batch_size = 32};
  std::string rule = "minmax";
  /// The run with the rule and the seed of its sample in it. Throws `UserError` for an unknown rule.
  CalibrationRun parsed(std::uint64_t seed) const;
};
Options options_of(const CalibrationArguments*);

/// Which formats a command quantizes to.
struct FormatArguments {
  std::string recipe;  ///< path
  std::string format;
  std::string input_format, weight_format, bias_format, output_format;
  std::vector<std::string> rules;  ///< TOML inline tables
};
Options options_of(const FormatArguments*);
/// Whether any of them was given.
bool given(const FormatArguments& arguments);

/// The recipe with the flags over it: formats given by flags replace those of its default, rules
/// given by flags follow its own. Throws `UserError`; `UsageError` when nothing is given.
Recipe recipe_from(const FormatArguments& arguments, const FormatTable& formats);

/// Of a job whose result stood in its folder already: says so, with `json` as the `results` it has. Throws `GateFailure`
/// when the job did not pass its gate.
void print_finished(const JobOutput& output, const Json& results, bool json);

}  // namespace hone
