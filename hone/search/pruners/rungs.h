#pragma once

#include "hone/search/trial.h"

/// Rungs of successive halving: trials store their values at rungs, so that a rung can be evaluated from the table of
/// trials.
namespace hone {

/// Returns the attribute for the value at a rung, "completed_rung_2" as in Optuna.
std::string rung_key(std::int64_t rung);

/// Returns the value of a trial at a rung; none if it did not reach it.
std::optional<double> rung_value(const Trial& trial, std::int64_t rung);

/// Returns the number of consecutive rungs from 0 that a trial has reached.
std::int64_t rungs_reached(const Trial& trial);

}  // namespace hone
