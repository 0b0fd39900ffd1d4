#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "hone/jobs/job_result.h"

/// What a command was asked to do, read from its parsed arguments.
namespace hone {

/// Whether an option takes no value.
bool is_flag(const CLI::Option& option);

/// Whether an option asks for help.
bool is_help(const CLI::App& app, const CLI::Option& option);

/// "learning_rate": the first of an option's long names; a positional's name.
std::string argument_name(const CLI::Option& option);

/// Every argument with its value, given or default, under the first of its long names. Numbers are numbers, flags
/// whether they were given.
Json settings_of(const CLI::App& app);

/// Of the command, without a subcommand: "train", "lora".
std::string command_name(const CLI::App& app);

/// A line for a shell that asks for the same again: the arguments that were given, in the order of the help.
std::string command_line(const CLI::App& app);

/// The words that give again what was given, of arguments that `keeps` keeps (by `argument_name`).
std::vector<std::string> words_of(const CLI::App& app,
                                  const std::function<bool(const std::string& name)>& keeps);

/// Both, begun now, with the defaults. `app` must outlive it.
Invocation invocation_of(const CLI::App& app);

}  // namespace hone
