#pragma once

#include <string>
#include <vector>

#include "hone/base/file.h"
#include "hone/base/json.h"

namespace hone {

/// Draws a training log: loss against epochs, and accuracy on the validation part against epochs
/// where it was evaluated, `stem`.svg and `stem`.png. `lines` are those of training_log.jsonl; fewer
/// than two with a loss make no curve and no figure. Returns a warning when the figure could not be
/// drawn (gnuplot is missing), else "".
std::string draw_learning_curve(const std::vector<Json>& lines, const std::string& title,
                                const fs::path& stem);

}  // namespace hone
