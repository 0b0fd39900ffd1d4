#include "hone/jobs/runs_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/proportion.h"
#include "hone/study/seeds.h"

namespace hone {
namespace {

/// A column with its header.
struct RunColumn {
  std::string_view key;
  std::string_view header;
  enum Kind { plain, share, flips, points, number, bits } kind = plain;
  int digits = 2;
};

// In the order of the table. Intervals follow their metric.
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
    {"margin", "Margin (points)", RunColumn::points},
    {"verdict", "Verdict"},
    {"flip_share", "Predictions changed", RunColumn::flips},
    {"margin_snr_db", "Margin SNR (dB)", RunColumn::number, 1},
    {"average_weight_bits", "Bits quantized", RunColumn::bits},
    {"cautions", "Caution"},
    {"arithmetic", "Arithmetic"},
};

// Shown by default if rows differ in them. The others are shown by --columns.
constexpr std::string_view kUnasked[] = {"folder",
                                         "group",
                                         "state",
                                         "step",
                                         "command",
                                         "model",
                                         "variant",
                                         "format",
                                         "data",
                                         "split",
                                         "n",
                                         "seeds",
                                         "eval_accuracy",
                                         "eval_r2",
                                         "eval_f1_micro",
                                         "eval_majority_share",
                                         "eval_loss",
                                         "margin",
                                         "verdict",
                                         "flip_share",
                                         "change",
                                         "average_weight_bits",
                                         "protocol",
                                         "cautions"};

// Settings of where something is written or how it is shown, or that have a column of their own.
constexpr std::string_view kNoDifference[] = {
    "MODEL",      "A",          "B",      "data",      "compare",
    "suggest",    "output_dir", "output", "overwrite", "overwrite_output_dir",
    "resume",     "threads",    "json",   "quiet",     "split",
    "seeds",      "seed",       "format", "color",     "show_passes",
    "dump_passes"};

template <typename Words>
bool among(const Words& words, std::string_view word) {
  return std::ranges::find(words, word) != std::end(words);
}

const RunColumn* known_column(std::string_view key) {
  const auto found = std::ranges::find(kColumns, key, &RunColumn::key);
  return found == std::end(kColumns) ? nullptr : &*found;
}

Json value_of(const Json& row, const std::string& key) {
  if (row.contains(key)) return row[key];
  const Json& settings = row["settings"];
  return settings.contains(key) ? settings[key] : Json();
}

std::vector<std::string> keys_of(const std::vector<Json>& rows) {
  std::vector<std::string> keys;
  const auto add = [&](const std::string& key) {
    if (!among(keys, key)) keys.push_back(key);
  };
  for (const RunColumn& column : kColumns)
    for (const Json& row : rows)
      if (row.contains(column.key)) add(std::string(column.key));
  for (const Json& row : rows) {
    for (const auto& [key, value] : row.items())
      if (key != "settings") add(key);
    for (const auto& [key, value] : row["settings"].items()) add(key);
  }
  return keys;
}

// The key that a name stands for.
std::string resolve_key(const std::string& name, const std::vector<Json>& rows) {
  const std::vector<std::string> keys = keys_of(rows);
  for (const std::string& key : {name, "eval_" + name})
    if (among(keys, key)) return key;
  throw UsageError(fmt::format("hone runs: no run has '{}'; there are {}{}", name,
                               fmt::join(keys, ", "), did_you_mean(name, keys)));
}

RunGroup group_of(const Json& row) {
  const Json majority = row.contains("eval_majority_share") ? row["eval_majority_share"] : Json();
  return {
      row.value("data", ""),          row.value("data_hash", ""),
      row.value("split", ""),         row.value("n", std::int64_t{0}),
      row.value("examples_hash", ""), majority.is_number() ? majority.get<double>() : std::nan("")};
}

// Examples and data are identified by their fingerprints, wherever they are stored.
bool same(const RunGroup& a, const RunGroup& b) {
  if (!a.texts_hash.empty() || !b.texts_hash.empty()) return a.texts_hash == b.texts_hash;
  const bool data =
      a.data_hash.empty() && b.data_hash.empty() ? a.data == b.data : a.data_hash == b.data_hash;
  return data && a.part == b.part && a.n == b.n;
}

bool less(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() < b.get<double>();
  const auto text = [](const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  return text(a) < text(b);
}

// The ends of a metric's interval, NaN if it has none.
Interval interval_of(const Json& row, const std::string& key) {
  const std::string name = key == "flip_share" ? "flip_interval" : key + "_interval";
  if (!row.contains(name)) return {std::nan(""), std::nan("")};
  return {row[name][0].get<double>(), row[name][1].get<double>()};
}

Cell cell_of(const Json& row, const std::string& key) {
  const RunColumn* column = known_column(key);
  const Json value = value_of(row, key);
  if (value.is_null()) return absent;
  if (key == "cautions") return fmt::format("{}", fmt::join(value, "; "));
  // For a few seeds, show no mean and no spread.
  if (const Json values = row.value(key + "_values", Json::array());
      !values.empty() && std::ssize(values) < kFewestSeeds)
    return PerRun{values.get<std::vector<double>>(),
                  column->kind == RunColumn::flips ? Quantity::flips : Quantity::share};
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number()) return value.is_string() ? value.get<std::string>() : to_line(value);
  const double number = value.get<double>();
  if (column == nullptr) return fmt::format("{:.6g}", number);  // a setting, as it was given
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
    default:
      return real(number, column->digits);
  }
}

std::string header_of(const std::string& key) {
  const RunColumn* column = known_column(key);
  return column == nullptr ? key : std::string(column->header);
}

// Whether all rows have the same value.
bool is_constant(const std::vector<Json>& rows, const std::string& key) {
  return std::ranges::all_of(
      rows, [&](const Json& row) { return value_of(row, key) == value_of(rows.front(), key); });
}

// Whether all rows of a group have the same value, as for facts of the examples.
bool is_constant_in_groups(const std::vector<Json>& rows, const std::string& key) {
  std::map<Json, Json> value_of_group;
  return std::ranges::all_of(rows, [&](const Json& row) {
    return value_of_group.emplace(row.at("group"), value_of(row, key)).first->second ==
           value_of(row, key);
  });
}

// Settings of different commands cannot be compared. An interrupted run does not record its command.
bool are_of_one_command(const std::vector<Json>& rows) {
  std::set<std::string> commands;
  for (const Json& row : rows)
    if (row.contains("command")) commands.insert(row["command"].get<std::string>());
  return commands.size() <= 1;
}

// The columns in which rows differ, and always the folder and the metrics. Of the settings of one command only those that
// every run has: a version may lack some.
std::vector<std::string> telling_columns(const std::vector<Json>& rows,
                                         std::vector<std::string>& common) {
  std::vector<std::string> chosen;
  // Metrics by which tasks are judged are shown wherever they were measured.
  constexpr std::string_view kFigures[] = {"eval_accuracy", "eval_r2", "eval_f1_micro"};
  // `groups_note` has these.
  constexpr std::string_view kOfGroups[] = {"data", "split", "n", "eval_majority_share"};
  const auto consider = [&](const std::string& key) {
    if (!is_constant(rows, "group") && among(kOfGroups, key) && is_constant_in_groups(rows, key))
      return;
    const bool is_figure = among(kFigures, key) && std::ranges::any_of(rows, [&](const Json& row) {
                             return row.contains(key);
                           });
    if (key == "folder" || is_figure || !is_constant(rows, key)) {
      chosen.push_back(key);
    } else if (const Json value = value_of(rows.front(), key);
               !value.is_null() && key != "group" && value != "finished") {
      common.push_back(
          fmt::format("{}: {}", header_of(key), display_text(cell_of(rows.front(), key))));
    }
  };
  for (const RunColumn& column : kColumns)
    if (among(kUnasked, column.key)) consider(std::string(column.key));
  if (!are_of_one_command(rows)) return chosen;
  for (const std::string& key : keys_of(rows))
    if (known_column(key) == nullptr && !rows.front().contains(key) && !among(kNoDifference, key) &&
        std::ranges::all_of(rows, [&](const Json& row) { return row["settings"].contains(key); }) &&
        !is_constant(rows, key))
      chosen.push_back(key);
  return chosen;
}

}  // namespace

RankedRuns rank_runs(const Runs& runs, const std::string& sort_key, bool reverse) {
  RankedRuns ranked;
  for (const RunFolder& folder : runs.folders)
    ranked.rows.insert(ranked.rows.end(), folder.rows.begin(), folder.rows.end());
  for (Json& row : ranked.rows) {
    const RunGroup group = group_of(row);
    const auto found = std::ranges::find_if(
        ranked.groups, [&](const RunGroup& other) { return same(group, other); });
    row["group"] = found - ranked.groups.begin() + 1;
    if (found == ranked.groups.end()) ranked.groups.push_back(group);
  }
  if (sort_key.empty() || ranked.rows.empty()) {
    if (reverse) std::ranges::reverse(ranked.rows);
    return ranked;
  }
  const std::string key = resolve_key(sort_key, ranked.rows);
  std::ranges::stable_sort(ranked.rows, [&](const Json& a, const Json& b) {
    if (a["group"] != b["group"]) return a["group"] < b["group"];
    const Json left = value_of(a, key), right = value_of(b, key);
    if (left.is_null() || right.is_null()) return !left.is_null() && right.is_null();
    return reverse ? less(right, left) : less(left, right);
  });
  return ranked;
}

Table runs_table(const RankedRuns& runs, const std::vector<std::string>& columns,
                 std::vector<std::string>& common) {
  std::vector<std::string> keys;
  for (const std::string& name : columns) keys.push_back(resolve_key(name, runs.rows));
  if (keys.empty()) keys = telling_columns(runs.rows, common);
  std::vector<Column> shown;
  for (const std::string& key : keys) shown.push_back({key, header_of(key)});
  Table table(shown);
  for (const Json& row : runs.rows) {
    std::vector<Cell> cells;
    for (const std::string& key : keys) cells.push_back(cell_of(row, key));
    table.add_row(std::move(cells));
  }
  return table;
}

std::string groups_note(const RankedRuns& runs) {
  if (runs.groups.size() < 2) return "";
  std::string note =
      "The runs were measured on different examples, so they cannot be ranked across groups:";
  std::vector<std::string> told;
  for (std::size_t i = 0; i < runs.groups.size(); ++i) {
    const RunGroup& g = runs.groups[i];
    const std::string texts =
        fmt::format("{} of {}{}", g.part.empty() ? "an unknown split" : g.part,
                    g.data.empty() ? "unknown data" : g.data,
                    g.n == 0 ? "" : fmt::format(", n = {}", grouped(g.n)));
    const auto alike = std::ranges::find(told, texts);
    note += fmt::format("{} group {} is {}", i == 0 ? "" : ";", i + 1, texts);
    if (!std::isnan(g.majority_share))
      note += fmt::format(", most frequent class {}", share_text(g.majority_share));
    if (g.texts_hash.empty()) {
      note += " (the examples were not recorded)";
    } else if (alike != told.end()) {
      note += fmt::format(" (other examples than group {})", alike - told.begin() + 1);
    }
    told.push_back(texts);
  }
  return note + ".";
}

}  // namespace hone
