#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "hone/study/gates.h"

namespace hone {

/// `--max_drop` and `--gate`, of commands that compare a model with its parent. `consequence` goes into
/// the help: what else they decide.
void declare(CLI::App& app, GateOptions& gates, const std::string& consequence = "");

}  // namespace hone
