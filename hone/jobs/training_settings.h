#pragma once

#include <string>
#include <vector>

#include "hone/jobs/fine_tune.h"

namespace hone {

/// The names of the settings of a training, those of the options of `hone train`: "learning_rate", "lr".
std::vector<std::string> training_setting_names();
/// Whether both name one setting.
bool same_training_setting(const std::string& a, const std::string& b);

/// Sets one. Throws `UserError` for an unknown name, and for a value that it cannot have.
void set_training_setting(FineTuneOptions& options, const std::string& name, const Json& value);

}  // namespace hone
