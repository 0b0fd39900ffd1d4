#include "hone/jobs/search/read_study.h"

#include <fmt/format.h>

namespace hone {
namespace {

std::vector<std::string> objective_names(const Study& study) {
  std::vector<std::string> names;
  const auto kept = study.system_attributes.find(kMetricNamesAttribute);
  if (kept != study.system_attributes.end() && kept->second.is_array())
    for (const Json& name : kept->second)
      if (name.is_string()) names.push_back(name);
  if (names.size() == study.directions.size()) return names;
  names.clear();
  for (std::size_t i = 0; i < study.directions.size(); ++i)
    names.push_back(study.directions.size() == 1 ? "value" : fmt::format("value {}", i));
  return names;
}

}  // namespace

void read_trials(StudyStorage& storage, ReadStudy& read) {
  storage.read_trials(read.study.id, read.trials);
  read.shown.view.trials.clear();
  for (const auto& trial : read.trials) read.shown.view.trials.push_back(trial.get());
}

ReadStudy read_study(StudyStorage& storage, Study study) {
  ReadStudy read{.study = std::move(study)};
  read.shown.view = {.name = read.study.name, .directions = read.study.directions, .trials = {}};
  read_trials(storage, read);
  read.shown.objectives = objective_names(read.study);
  const auto told = [&](const char* key, Json& value) {
    const auto found = read.study.user_attributes.find(key);
    if (found != read.study.user_attributes.end()) value = found->second;
  };
  told(kIndexValuesAttribute, read.shown.index_values);
  told(kMeasuredOnAttribute, read.shown.measured_on);
  told(kFamilyAttribute, read.shown.family);
  read.shown.seed = number_in(read.study.user_attributes, kSeedAttribute);
  return read;
}

}  // namespace hone
