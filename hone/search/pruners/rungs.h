#pragma once

#include "hone/search/trial.h"

/// Rungs of successive halving: trials write what they reported there, so that a rung can be counted from the table of trials.
namespace hone {

/// The attribute with the value of a rung, "completed_rung_2", as Optuna calls it.
std::string rung_key(std::int64_t rung);

/// The value that a trial has of a rung. None: it was not there.
std::optional<double> rung_value(const Trial& trial, std::int64_t rung);

/// How many rungs a trial has reached, one after the other from 0.
std::int64_t rungs_reached(const Trial& trial);

}  // namespace hone
