#pragma once

#include <string>
#include <vector>

#include "hone/jobs/fine_tune.h"

namespace hone {

/// The names of the settings of a training that are given as values, those of `hone train`.
std::vector<std::string> training_setting_names();

/// Sets one. Throws `UserError` for an unknown name, and for a value that it cannot have.
void set_training_setting(FineTuneOptions& options, const std::string& name, const Json& value);

}  // namespace hone
