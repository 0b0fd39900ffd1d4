#include "hone/jobs/training_settings.h"

#include "hone/base/error.h"

namespace hone {
namespace {

const Options& training_options() {
  static const Options rows = options<FineTuneOptions>();
  return rows;
}

}  // namespace

std::vector<std::string> training_setting_names() {
  std::vector<std::string> names;
  for (const OptionDef& row : training_options().rows)
    names.insert(names.end(), row.names.begin(), row.names.end());
  return names;
}

bool same_training_setting(const std::string& a, const std::string& b) {
  return find_option(training_options(), a) == find_option(training_options(), b);
}

void set_training_setting(FineTuneOptions& options, const std::string& name, const Json& value) {
  const OptionDef* row = find_option(training_options(), name);
  user_check(row != nullptr, "no setting of a training is called '{}'", name);
  with_context(name, [&] { set_option(*row, &options, value); });
}

}  // namespace hone
