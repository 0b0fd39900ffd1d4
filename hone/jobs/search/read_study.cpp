#include "hone/jobs/search/read_study.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/output_folder.h"
#include "hone/base/text.h"

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

void read_trials(StudyStorage& storage, LoadedStudy& read) {
  storage.read_trials(read.study.id, read.trials);
  read.shown.view.trials.clear();
  for (const auto& trial : read.trials) read.shown.view.trials.push_back(trial.get());
}

LoadedStudy read_study(StudyStorage& storage, Study study) {
  LoadedStudy read{.study = std::move(study)};
  read.shown.view = {.name = read.study.name, .directions = read.study.directions, .trials = {}};
  read_trials(storage, read);
  read.shown.objectives = objective_names(read.study);
  const auto read_attribute = [&](const char* key, Json& value) {
    const auto found = read.study.user_attributes.find(key);
    if (found != read.study.user_attributes.end()) value = found->second;
  };
  read_attribute(kIndexValuesAttribute, read.shown.index_values);
  read_attribute(kMeasuredOnAttribute, read.shown.measured_on);
  read_attribute(kBaselineAttribute, read.shown.baseline);
  read_attribute(kFamilyAttribute, read.shown.family);
  read.shown.seed = number_in(read.study.user_attributes, kSeedAttribute);
  return read;
}

std::vector<LoadedStudy> read_studies(StudyStorage& storage, const std::string& where,
                                      const std::vector<std::string>& names) {
  std::vector<Study> all = storage.studies();
  std::vector<std::string> known;
  for (const Study& study : all) known.push_back(study.name);
  std::vector<LoadedStudy> read;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(all, name, &Study::name);
    user_check(found != all.end(), "{}: has no study '{}'; it has {}{}", where, name,
               known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")),
               did_you_mean(name, known));
    read.push_back(read_study(storage, *found));
  }
  if (names.empty())
    for (Study& study : all) read.push_back(read_study(storage, std::move(study)));
  return read;
}

std::string last_time(const LoadedStudy& study) {
  std::string last;
  for (const auto& trial : study.trials) last = std::max({last, trial->start, trial->end});
  return last;
}

// The output folder of a running search has another name until it is done.
std::string current_storage_path(const std::string& storage) {
  const fs::path file = storage;
  const bool is_address = storage.find("://") != std::string::npos;
  if (is_address || path_exists(file) || !file.has_parent_path()) return storage;
  const fs::path running = partial_folder(file.parent_path()) / file.filename();
  return path_exists(running) ? running.string() : storage;
}

}  // namespace hone
