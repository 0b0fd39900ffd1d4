#include "hone/jobs/runs_table.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/proportion.h"
#include "hone/metrics/seeds.h"
#include "hone/study/result.h"

namespace hone {
namespace {

/// A column with its header.
struct RunColumn {
  std::string_view key;
  std::string_view header;
  enum Kind { plain, share, flips, points, number, bits, bytes, ratio } kind = plain;
  int digits = 2;
};

// In the order of the table. Intervals are shown with their metric.
constexpr RunColumn kColumns[] = {
    {"folder", "Folder"},
    {"group", "Group"},
    {"state", "State"},
    {"step", "Step"},
    {"command", "Command"},
    {"model", "Model"},
    {"variant", "Variant"},
    {"format", "Format"},
    {"method", "Method"},
    {"data", "Data"},
    {"data_hash", "Data hash"},
    {"protocol", "Protocol"},
    {"start", "Start (UTC)"},
    {"split", "Split"},
    {"n", "n"},
    {"examples_hash", "Examples hash"},
    {"seeds", "Seeds"},
    {"seed", "Seed"},
    {"steps", "Steps"},
    {"eval_accuracy", "Accuracy", RunColumn::share},
    {"eval_r2", "R²", RunColumn::share},
    {"eval_f1_micro", "Micro F1", RunColumn::share},
    {"eval_majority_share", "Majority", RunColumn::share},
    {"eval_loss", "Loss", RunColumn::number, 4},
    {"change", "Change (points)", RunColumn::points},
    {"limit", "Limit"},
    {"margin", "Margin (points)", RunColumn::points},
    {"verdict", "Drop"},
    {"flip_share", "Predictions changed", RunColumn::flips},
    {"margin_snr_db", "Margin SNR (dB)", RunColumn::number, 1},
    {"size", "File size", RunColumn::bytes},
    {"size_before", "File size of the baseline", RunColumn::bytes},
    {"compression_ratio", "Times smaller, file", RunColumn::ratio},
    {"latency", "Latency (ms)", RunColumn::ratio},
    {"latency_before", "Latency per example of the baseline (ms)", RunColumn::ratio},
    {"speedup", "Speedup", RunColumn::ratio},
    {"average_weight_bits", "Bits per weight", RunColumn::bits},
    {"cautions", "Caution"},
    {"arithmetic", "Arithmetic"},
};

// Shown by default if rows differ in them, few enough for a terminal. Others need --columns.
constexpr std::string_view kUnasked[] = {"folder",  "group",         "state",   "step",
                                         "command", "variant",       "format",  "protocol",
                                         "start",   "eval_accuracy", "eval_r2", "eval_f1_micro",
                                         "seeds",   "size",          "latency"};

// Settings about output and display, and those that have their own column.
constexpr std::string_view kNoDifference[] = {
    "MODEL",      "A",          "B",      "data",      "compare",
    "suggest",    "output_dir", "output", "overwrite", "overwrite_output_dir",
    "resume",     "threads",    "json",   "quiet",     "split",
    "seeds",      "seed",       "format", "color",     "show_passes",
    "dump_passes"};

template <typename Words>
bool is_in(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

const RunColumn* known_column(std::string_view key) {
  const auto found = std::ranges::find(kColumns, key, &RunColumn::key);
  return found == std::end(kColumns) ? nullptr : &*found;
}

// Null if the row does not have it. Without a limit there is no verdict.
const Json& member(const Json& row, std::string_view key) {
  static const Json none;
  constexpr std::string_view kOfLimit[] = {"margin", "verdict"};
  if (is_in(kOfLimit, key) && row.at("limit").is_null()) return none;
  const Json& value = value_at(row, std::string(key));
  return value.is_array() && value.empty() ? none : value;
}

// A value of a row or of its settings; an empty setting counts as missing.
const Json& value_of(const Json& row, const std::string& key) {
  static const Json none;
  const Json& value = member(row, key);
  if (!value.is_null()) return value;
  const Json& setting = value_at(row.at("settings"), key);
  return setting == "" ? none : setting;
}

std::vector<std::string> keys_of(const Json& rows) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (!is_in(keys, key)) keys.push_back(key);
  };
  for (const RunColumn& column : kColumns)
    for (const Json& row : rows)
      if (!member(row, column.key).is_null()) add(std::string(column.key));
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items())
      if (key != "settings" && !member(row, key).is_null()) add(key);
    for (const auto& [key, value] : row.at("settings").items()) add(key);
  }
  return keys;
}

// Returns the key that a name refers to.
std::string resolve_key(const std::string& name, const Json& rows) {
  const std::vector<std::string> keys = keys_of(rows);
  for (const std::string& key : {name, "eval_" + name})
    if (is_in(keys, key)) return key;
  constexpr std::size_t kMostNear = 8;
  std::vector<std::string> near;
  for (const std::string& key : keys)
    if (near.size() < kMostNear && key.find(name) != std::string::npos) near.push_back(key);
  const std::string meant = did_you_mean(name, keys);
  throw UsageError(
      fmt::format("hone runs: no run has '{}'{}; `hone runs --json` prints all names{}", name,
                  near.empty() ? "" : fmt::format(", but {}", fmt::join(near, ", ")), meant));
}

RunGroup group_of(const RunRow& row) {
  RunGroup group{.data = row.data,
                 .data_hash = row.data_hash,
                 .split = row.split,
                 .n = row.n,
                 .examples_hash = row.examples_hash};
  if (row.measured) group.majority_share = row.measured->majority_share;
  return group;
}

// Examples and data are identified by their fingerprints, wherever they are stored.
bool same(const RunGroup& a, const RunGroup& b) {
  if (a.examples_hash || b.examples_hash) return a.examples_hash == b.examples_hash;
  const bool data = a.data_hash || b.data_hash ? a.data_hash == b.data_hash : a.data == b.data;
  return data && a.split == b.split && a.n == b.n;
}

bool less(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  return text(a) < text(b);
}

// Returns the ends of a metric's interval, NaN if it has none.
Interval interval_of(const Json& row, const std::string& key) {
  const Json& ends = member(row, key == "flip_share" ? "flip_interval" : key + "_interval");
  if (ends.is_null()) return {std::nan(""), std::nan("")};
  return {number_or_nan(ends.at(0)), number_or_nan(ends.at(1))};
}

// Returns the values for each seed; null for other keys, and for one seed.
const Json& values_of(const Json& row, const std::string& key) {
  if (key == "flip_share") return member(row, "flip_share_values");
  const Json& metric = member(row, "eval_metric");
  const bool judged = metric.is_string() && key == "eval_" + metric.get<std::string>();
  return member(row, judged ? "metric_values" : "");
}

Cell cell_of(const Json& row, const std::string& key) {
  const RunColumn* column = known_column(key);
  const Json& value = value_of(row, key);
  if (value.is_null()) return absent;
  if (key == "start" && value.is_string()) {  // to the minute
    constexpr std::size_t kDay = 10, kMinute = 16;
    const auto time = value.get<std::string>();
    return time.size() < kMinute
               ? time
               : time.substr(0, kDay) + " " + time.substr(kDay + 1, kMinute - kDay - 1);
  }
  if (key == "cautions") return fmt::format("{}", fmt::join(value, "; "));
  // With few seeds, show neither mean nor spread.
  if (const Json& values = values_of(row, key);
      !values.is_null() && std::ssize(values) < kFewestSeeds)
    return PerRun{values.get<std::vector<double>>(),
                  column->kind == RunColumn::flips ? Quantity::flips : Quantity::share};
  if (value.is_number_integer() && column != nullptr && column->kind == RunColumn::bytes)
    return bytes(value.get<std::int64_t>());
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : to_line(value);
  const double number = value.get<double>();
  if (column == nullptr) return fmt::format("{:.6g}", number);  // a setting
  const Interval interval = interval_of(row, key);
  switch (column->kind) {
    case RunColumn::share:
      return percent_within(number, interval.low, interval.high);
    case RunColumn::flips:
      return flips_within(number, interval.low, interval.high);
    case RunColumn::points:
      return points_within(number, interval.low, interval.high);
    case RunColumn::bits:
      return bits(number);
    case RunColumn::ratio:
      return std::isnan(interval.low) ? significant(number)
                                      : number_within(number, interval.low, interval.high);
    default:
      return real(number, column->digits);
  }
}

std::string header_of(const std::string& key) {
  const RunColumn* column = known_column(key);
  return column == nullptr ? key : std::string(column->header);
}

// Whether all rows have the same value.
bool is_constant(const Json& rows, const std::string& key) {
  return std::ranges::all_of(
      rows, [&](const Json& row) { return value_of(row, key) == value_of(rows.front(), key); });
}

// Shortens the steps of a recipe to "neurons -75% and 2 more". Commas of a format are inside parentheses.
std::string short_recipe(const std::string& recipe) {
  const std::size_t end = recipe.find(", ");
  if (end == std::string::npos) return recipe;
  std::int64_t more = 0;
  for (std::size_t at = end; at != std::string::npos; at = recipe.find(", ", at + 1)) ++more;
  return fmt::format("{} and {} more", recipe.substr(0, end), more);
}

// Returns the groups that have metrics.
std::vector<RunGroup> measured_groups(const RankedRuns& runs) {
  std::vector<RunGroup> measured;
  for (const RunGroup& group : runs.groups)
    if (std::ranges::any_of(runs.rows, [&](const RunRow& row) {
          return row.group == group.group && row.measured.has_value();
        }))
      measured.push_back(group);
  return measured;
}

// Settings of different commands are not comparable. An interrupted run does not record its command.
bool have_one_command(const std::vector<RunRow>& rows) {
  std::set<std::string> commands;
  for (const RunRow& row : rows)
    if (row.command) commands.insert(*row.command);
  return commands.size() <= 1;
}

// Returns the columns in which rows differ, and always the folder and the metrics. Formats and settings are compared
// only within one command, and settings only if every run has them, because an interrupted run records fewer.
std::vector<std::string> differing_columns(const Json& rows, bool of_one_command,
                                           std::vector<std::string>& common) {
  std::vector<std::string> chosen;
  // The tasks' metrics are shown wherever they were measured.
  constexpr std::string_view kFigures[] = {"eval_accuracy", "eval_r2", "eval_f1_micro"};
  const auto says_something = [&](const std::string& key) {
    return std::ranges::any_of(rows, [&](const Json& row) {
      const Json& value = value_of(row, key);
      // Default values are not worth a column.
      const bool is_usual =
          value == "finished" || value == "honest" || (key == "seeds" && value == 1);
      return !value.is_null() && !is_usual;
    });
  };
  const auto consider = [&](const std::string& key) {
    if (!says_something(key) || (key == "format" && !of_one_command)) return;
    // A single run shows all its values.
    const bool is_listed = is_in(kFigures, key) || (rows.size() == 1 && key != "group");
    if (key == "folder" || is_listed || !is_constant(rows, key)) {
      chosen.push_back(key);
    } else if (key != "group") {
      common.push_back(
          fmt::format("{}: {}", header_of(key), display_text(cell_of(rows.front(), key))));
    }
  };
  for (const RunColumn& column : kColumns)
    if (is_in(kUnasked, column.key)) consider(std::string(column.key));
  if (!of_one_command) return chosen;
  for (const std::string& key : keys_of(rows))
    if (known_column(key) == nullptr && member(rows.front(), key).is_null() &&
        !is_in(kNoDifference, key) &&
        std::ranges::all_of(rows,
                            [&](const Json& row) { return row.at("settings").contains(key); }) &&
        !is_constant(rows, key))
      chosen.push_back(key);
  return chosen;
}

}  // namespace

const Fields& fields_of(const RunGroup*) {
  using R = RunGroup;
  static const Fields fields = describe<R>(
      "run_group", "Runs that were measured on the same examples; only these can be ranked.",
      field<&R::group>("group", "Its number, from 1."),
      field<&R::data>("data", "The data as it was named; null: unknown."),
      field<&R::data_hash>("data_hash", "`hash` of the data; null: unknown."),
      field<&R::split>("split", "The split: train, validation, test or all; null: unknown."),
      field<&R::n>("n", Unit::examples, "Number of examples; null: unknown."),
      field<&R::examples_hash>("examples_hash",
                               "Fingerprint of the examples; null: unknown, and the data, split "
                               "and number identify them."),
      field<&R::majority_share>("majority_share", Unit::share,
                                "Share of the most frequent class; null: unknown, or another "
                                "task."));
  return fields;
}

RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse) {
  RankedRuns ranked;
  for (const RunFolder& folder : runs.folders)
    ranked.rows.insert(ranked.rows.end(), folder.rows.begin(), folder.rows.end());
  std::vector<RunRow*> in_order;  // runs without metrics last: their group is not shown
  for (RunRow& row : ranked.rows) in_order.push_back(&row);
  std::ranges::stable_partition(in_order,
                                [](const RunRow* row) { return row->measured.has_value(); });
  for (RunRow* one : in_order) {
    RunRow& row = *one;
    RunGroup group = group_of(row);
    const auto found = std::ranges::find_if(
        ranked.groups, [&](const RunGroup& other) { return same(group, other); });
    row.group = group.group = found - ranked.groups.begin() + 1;
    if (found == ranked.groups.end()) ranked.groups.push_back(std::move(group));
  }
  if (sort_key.empty() || ranked.rows.empty()) {
    if (reverse) std::ranges::reverse(ranked.rows);
    return ranked;
  }
  const Json rows = to_json(ranked.rows);
  const std::string key = resolve_key(sort_key, rows);
  std::vector<std::pair<Json, RunRow>> keyed;  // with sort keys
  for (std::size_t i = 0; i < rows.size(); ++i)
    keyed.emplace_back(value_of(rows[i], key), std::move(ranked.rows[i]));
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) {
    if (a.second.group != b.second.group) return a.second.group < b.second.group;
    if (a.first.is_null() || b.first.is_null()) return !a.first.is_null() && b.first.is_null();
    return reverse ? less(b.first, a.first) : less(a.first, b.first);
  });
  for (std::size_t i = 0; i < keyed.size(); ++i) ranked.rows[i] = std::move(keyed[i].second);
  return ranked;
}

Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common) {
  Json rows = to_json(runs.rows);
  std::vector<std::string> keys;
  for (const std::string& name : columns) keys.push_back(resolve_key(name, rows));
  if (keys.empty()) {
    for (std::size_t i = 0; i < runs.rows.size(); ++i) {
      if (!runs.rows[i].measured) rows[i]["group"] = nullptr;
      if (runs.rows[i].format) rows[i]["format"] = short_recipe(*runs.rows[i].format);
    }
    if (measured_groups(runs).size() < 2)
      for (Json& row : rows) row["group"] = nullptr;
    keys = differing_columns(rows, have_one_command(runs.rows), common);
  }
  std::vector<Column> shown;
  for (const std::string& key : keys) shown.push_back({key, header_of(key)});
  Table table(shown);
  for (const Json& row : rows) {
    std::vector<Cell> cells;
    for (const std::string& key : keys) cells.push_back(cell_of(row, key));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string groups_note(const RankedRuns& runs) {
  const std::vector<RunGroup> groups = measured_groups(runs);
  if (groups.empty()) return "";
  std::string note =
      groups.size() == 1
          ? "Measured on"
          : "The runs were measured on different examples, so they cannot be ranked across groups:";
  std::vector<std::string> named;
  for (const RunGroup& g : groups) {
    const std::string data = g.data.value_or("examples without a name");
    const std::string texts =
        fmt::format("{}{}", g.split ? fmt::format("{} of {}", *g.split, data) : data,
                    g.n ? fmt::format(", n = {}", grouped(*g.n)) : "");
    const auto alike = std::ranges::find(named, texts);
    if (groups.size() > 1)
      note += fmt::format("{} group {} is", g.group == groups.front().group ? "" : ";", g.group);
    note += " " + texts;
    if (g.majority_share)
      note += fmt::format(", most frequent class {}", share_text(*g.majority_share));
    if (!g.examples_hash) {
      note += " (the examples were not recorded)";
    } else if (alike != named.end()) {
      note += fmt::format(" (other examples than group {})",
                          groups[static_cast<std::size_t>(alike - named.begin())].group);
    }
    named.push_back(texts);
  }
  return note + ".";
}

std::string cautions_note(const RankedRuns& runs) {
  std::vector<std::pair<std::string, std::vector<std::string>>> folders;  // by caution
  for (const RunRow& row : runs.rows) {
    if (!row.measured || row.cautions.empty()) continue;
    const std::string text =
        fmt::format("{}{}", row.n ? fmt::format("n = {}, ", grouped(*row.n)) : "",
                    fmt::join(row.cautions, ", "));
    auto found =
        std::ranges::find(folders, text, &std::pair<std::string, std::vector<std::string>>::first);
    if (found == folders.end()) found = folders.insert(found, {text, {}});
    if (!is_in(found->second, row.folder)) found->second.push_back(row.folder);
  }
  std::string note;
  for (const auto& [text, names] : folders)
    note +=
        fmt::format("{}{} ({})", note.empty() ? "Cautions: " : "; ", fmt::join(names, ", "), text);
  return note.empty() ? "" : note + ".";
}

}  // namespace hone
