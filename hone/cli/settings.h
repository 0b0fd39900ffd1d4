#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/job_result.h"

/// The settings of a command, read from its parsed arguments.
namespace hone {

/// Whether an option takes no value.
bool is_flag(const CLI::Option& option);

/// Whether an option asks for help.
bool is_help(const CLI::App& app, const CLI::Option& option);

/// Returns the first of an option's long names, such as "learning_rate"; a positional's name.
std::string argument_name(const CLI::Option& option);

/// Returns every argument's value, given or default, by the first of its long names. Numbers become JSON numbers; flags
/// become whether they were given.
Json settings_of(const CLI::App& app);

/// Returns the name of the command without a subcommand: "train", "lora".
std::string command_name(const CLI::App& app);

/// Returns a shell command that repeats the given arguments, in the order of the help.
std::string command_line(const CLI::App& app);

/// Returns the words that repeat the given arguments, of those that `keeps` accepts (by `argument_name`).
std::vector<std::string> given_arguments(const CLI::App& app,
                                         const std::function<bool(const std::string& name)>& keeps);

/// Returns the command line, the settings and the defaults, with the time of this call as the start. `app` must outlive
/// it.
Invocation invocation_of(const CLI::App& app);

}  // namespace hone
