#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "hone/study/gates.h"

namespace hone {

/// Declares `--max_drop` and `--gate`, for commands that compare a model with its baseline.
void declare(CLI::App& app, GateOptions& gates);

}  // namespace hone
