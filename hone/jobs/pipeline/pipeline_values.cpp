#include "hone/jobs/pipeline/pipeline_values.h"

#include <charconv>
#include <cmath>

#include "hone/base/text.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kTrainingLog = "training_log.jsonl";
constexpr std::string_view kHighest = "log.highest.", kLast = "log.last.";

}  // namespace

const Json& value_at_path(const Json& json, const std::string& path) {
  const Json* at = &json;
  static const Json none;
  for (const std::string& key : split(path, '.')) {
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (at->is_array() && error == std::errc() && end == key.data() + key.size()) {
      at = index < at->size() ? &(*at)[index] : &none;
    } else {
      at = &value_at(*at, key);
    }
  }
  return *at;
}

Measured measured_at(const Json& json, const std::string& path) {
  const Json& value = value_at_path(json, path);
  if (!value.is_number()) return {};
  Measured measured{.value = value.get<double>()};
  const Json& interval = value_at_path(json, path + "_interval");
  if (interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
      interval[1].is_number()) {
    measured.low = interval[0].get<double>();
    measured.high = interval[1].get<double>();
  }
  return measured;
}

std::vector<Json> logged(const fs::path& stage, std::string_view x, const std::string& y) {
  std::vector<Json> lines;
  const fs::path log = stage / kTrainingLog;
  if (!path_exists(log)) return lines;
  for (const std::string& text : split(read_file(log), '\n')) {
    if (trim(text).empty()) continue;
    Json line = parse_json(text, log.string());
    if (value_at_path(line, y).is_number() && value_at(line, std::string(x)).is_number())
      lines.push_back(std::move(line));
  }
  return lines;
}

Measured measured_of(const Json& result, const fs::path& stage, const std::string& path) {
  const bool highest = path.starts_with(kHighest);
  if (!highest && !path.starts_with(kLast)) return measured_at(result, path);
  const std::string y = path.substr(highest ? kHighest.size() : kLast.size());
  Measured found;
  for (const Json& line : logged(stage, kEpochs, y)) {
    const Measured one = measured_at(line, y);
    if (!highest || std::isnan(found.value) || one.value > found.value) found = one;
  }
  return found;
}

const std::string* variable_of(const PipelineStage& stage, const std::string& name) {
  for (const auto& [key, value] : stage.setting)
    if (key == name) return &value;
  return nullptr;
}

std::string found_at(const Json& result, const StageValue& value) {
  const Json& found = value_at_path(result, value.path);
  if (found.is_string()) return found.get<std::string>();
  return found.is_number() ? to_line(found) : value.otherwise;
}

double number_in_text(const std::string& text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace hone
