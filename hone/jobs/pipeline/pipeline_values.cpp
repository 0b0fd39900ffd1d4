#include "hone/jobs/pipeline/pipeline_values.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hone/base/text.h"
#include "hone/formats/format.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kTrainingLog = "training_log.jsonl";
constexpr std::string_view kFirst = "log.first.", kHighest = "log.highest.", kLast = "log.last.";

// Keys of shares, besides those that end in "share" and those of metrics.
constexpr std::string_view kShares[] = {"sparsity", "activations", "zeros", "clipped", "flushed"};
// Keys of formats.
constexpr std::string_view kFormats[] = {"format", "input", "weight", "bias", "output"};
// Words in the names of metrics that are shares: "eval_f1_macro", "subset_accuracy".
constexpr std::string_view kMetrics[] = {"accuracy", "f1", "precision", "recall", "auc", "r2"};

// Returns the last key, and the path of the object that contains it.
std::pair<std::string, std::string> last_key(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return {path, ""};
  return {path.substr(dot + 1), path.substr(0, dot)};
}

bool is_share_metric(const std::string& key) {
  const std::vector<std::string> words = split(key, '_');
  return std::ranges::any_of(kMetrics, [&](std::string_view metric) {
    return std::ranges::find(words, metric) != words.end();
  });
}

// The interval of "flip_share" is "flip_interval".
std::string interval_key(const std::string& key) {
  constexpr std::string_view kFlipShare = "flip_share";
  const bool flips = key.ends_with(kFlipShare);
  return (flips ? key.substr(0, key.size() - std::string_view("_share").size()) : key) +
         "_interval";
}

const Json& member_at(const Json& json, const std::string& key) {
  static const Json none;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (!json.is_array() || error != std::errc() || end != key.data() + key.size())
    return value_at(json, key);
  return index < json.size() ? json[index] : none;
}

}  // namespace

const Json& value_at_path(const Json& json, const std::string& path) {
  for (std::size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
    const Json& member = member_at(json, path.substr(0, dot));
    if (dot == std::string::npos) return member;
    if (!member.is_structured()) continue;
    const Json& found = value_at_path(member, path.substr(dot + 1));
    if (!found.is_null()) return found;
  }
}

Quantity quantity_at(const std::string& path) {
  const std::string key = last_key(path).first;
  if (key.ends_with("flip_share")) return Quantity::flips;
  if (key == "change" || key.ends_with("_change")) return Quantity::points;
  if (key == "importance") return Quantity::rough_share;
  const bool is_share = is_share_metric(key) || key.ends_with("share") ||
                        std::ranges::find(kShares, key) != std::end(kShares);
  return is_share ? Quantity::share : Quantity::number;
}

BetterEnd better_end_at(const std::string& path) {
  const std::string key = last_key(path).first;
  if (is_share_metric(key)) return BetterEnd::high;
  return key.ends_with("loss") ? BetterEnd::low : BetterEnd::unknown;
}

std::string shown_text(const std::string& text, const std::string& path) {
  const bool is_format = std::ranges::find(kFormats, last_key(path).first) != std::end(kFormats);
  return is_format ? format_in_words(text) : text;
}

Estimate estimate_at(const Json& json, const std::string& path) {
  Estimate estimate{std::nan(""), std::nan(""), std::nan(""), quantity_at(path)};
  const Json& value = value_at_path(json, path);
  if (!value.is_number()) return estimate;
  estimate.value = value.get<double>();
  const auto [key, holder] = last_key(path);
  const Json& owner = holder.empty() ? json : value_at_path(json, holder);
  const Json& interval = value_at(owner, interval_key(key));
  if (interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
      interval[1].is_number()) {
    estimate.low = interval[0].get<double>();
    estimate.high = interval[1].get<double>();
  }
  if (const Json& n = value_at(owner, "eval_samples"); n.is_number_integer())
    estimate.n = n.get<std::int64_t>();
  return estimate;
}

Cell cell_at(const Json& json, const std::string& path) {
  const Json& value = value_at_path(json, path);
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string() && !value.get_ref<const std::string&>().empty())
    return shown_text(value.get<std::string>(), path);
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (value.is_array() && !value.empty() && std::ranges::all_of(value, is_text))
    return fmt::format("{}", fmt::join(value.get<std::vector<std::string>>(), ", "));
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.is_number() ? cell_of(estimate_at(json, path)) : Cell(absent);
}

Cell cell_of(const Estimate& estimate) {
  if (std::isnan(estimate.value)) return absent;
  if (!std::isnan(estimate.low)) return estimate;
  if (is_percentage(estimate.of)) return percent(estimate.value, decimals_of(estimate.of));
  return estimate.of == Quantity::points ? Cell(estimate) : significant(estimate.value);
}

std::vector<Json> logged_lines(const fs::path& stage, std::string_view x, const std::string& y) {
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

Estimate estimate_of(const Json& result, const fs::path& stage, const std::string& path) {
  const bool first = path.starts_with(kFirst), highest = path.starts_with(kHighest),
             last = path.starts_with(kLast);
  if (!first && !highest && !last) return estimate_at(result, path);
  const std::string y = path.substr((first ? kFirst : highest ? kHighest : kLast).size());
  Estimate found = estimate_at({}, y);
  for (const Json& line : logged_lines(stage, kEpochs, y)) {
    const Estimate one = estimate_at(line, y);
    if (last || std::isnan(found.value) || (highest && one.value > found.value)) found = one;
  }
  return found;
}

const std::string* variable_of(const PipelineStage& stage, const std::string& name) {
  for (const auto& [key, value] : stage.setting)
    if (key == name) return &value;
  return nullptr;
}

std::string resolved_text(const Json& result, const StageValue& value) {
  const Json& found = value_at_path(result, value.path);
  if (found.is_string()) return found.get<std::string>();
  return found.is_number() ? to_line(found) : value.fallback;
}

double number_in_text(const std::string& text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace hone
