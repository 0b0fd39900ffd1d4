#include "hone/jobs/runs.h"

#include <glob.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/verdict.h"
#include "hone/train/checkpoints.h"

namespace hone {
namespace {

constexpr std::string_view kPartial = ".partial";

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_link(const fs::path& path) {
  std::error_code error;
  return fs::is_symlink(path, error);
}

Json read_if_there(const fs::path& file) { return path_exists(file) ? read_json(file) : Json(); }

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    entries.push_back(entry.path());
  std::ranges::sort(entries);
  return entries;
}

// Those of the keys that are there and have a value.
void take(Json& row, const Json& from, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (!value_at(from, key).is_null()) row[key] = from[key];
}

void take_measurement(Json& row, const Json& measurement) {
  if (!measurement.is_object()) return;
  for (const auto& [key, value] : measurement.items())
    if (key.starts_with("eval_") && !value.is_null()) row[key] = value;
  if (!value_at(measurement, "eval_samples").is_null()) row["n"] = measurement["eval_samples"];
}

void take_comparison(Json& row, const Json& comparison) {
  take(row, comparison,
       {"flips",
        "flip_share",
        "flip_interval",
        "only_baseline_right",
        "only_candidate_right",
        "answer_flip_share",
        "mean_shift",
        "distinct_examples",
        "differing_examples",
        "change_half_width",
        "metric",
        "change",
        "change_interval",
        "mcnemar_p",
        "margin_snr_db",
        "margin",
        "p_value",
        "grounds",
        "candidates",
        "examples_needed",
        "seeds_needed",
        "summary",
        "verdict"});
}

// What its figures are to be read with.
void take_cautions(Json& row, const Json& figures) {
  take(row, figures,
       {"effective_n", "trained_on_rows", "chosen_on_rows", "calibrated_on_rows", "duplicate_rows",
        "validation_duplicate_rows", "repeated_rows"});
  if (const std::vector<std::string> words = cautions_of(figures); !words.empty())
    row["cautions"] = words;
}

// The key of the metric by which a measurement is judged; "" where nothing was measured.
std::string figure_key(const Json& measurement) {
  const Json& name = value_at(measurement, "eval_metric");
  return name.is_string() ? "eval_" + name.get<std::string>() : "";
}

bool is_measured(const Json& value) {
  return value.is_object() && value_at(value, figure_key(value)).is_number();
}

// The mean over seeds stands where a single run has its figure, called `key`. Of a few seeds no interval can be told.
void take_spread(Json& row, const std::string& key, const Json& spread) {
  constexpr double kFewestSeeds = 5;
  if (value_at(spread, "mean").is_number()) row[key] = spread["mean"];
  if (!value_at(spread, "seeds").is_number() || spread["seeds"] < kFewestSeeds) return;
  const Json& interval = value_at(spread, "mean_interval");
  if (interval.is_array() && interval.size() == 2 && interval[0].is_number() &&
      interval[1].is_number()) {
    row[key + "_interval"] = interval;
    row["cautions"].push_back("interval: other seeds, the same texts");
  }
}

double mean_of(const Json& numbers) {
  double sum = 0;
  for (const Json& number : numbers) sum += number.get<double>();
  return sum / static_cast<double>(numbers.size());
}

// "test", or where that was not measured "validation".
std::string judged_part(const Json& result) {
  for (const char* part : {"test", "validation"})
    if (value_at(result, part).is_object()) return part;
  return "";
}

Json model_row(const Json& row, const Json& model) {
  Json own = row;
  take(own, model, {"average_weight_bits", "arithmetic", "packed_bytes"});
  const Json& label = value_at(model, model.contains("format") ? "format" : "model");
  if (label.is_string()) own["variant"] = label;
  take_measurement(own, model);
  take_comparison(own, value_at(model, "comparison"));
  return own;
}

/// What was measured; none: nothing.
std::vector<Json> measured_rows(const Json& row, const Json& result) {
  std::vector<Json> rows;
  for (const char* key : {"models", "formats"})
    if (value_at(result, key).is_array())
      for (const Json& model : result[key])
        if (model.is_object() && model.contains(figure_key(model)))
          rows.push_back(model_row(row, model));
  if (!rows.empty()) return rows;

  Json own = row;
  const std::string part = judged_part(result);
  const bool repeated = value_at(result, "runs").is_array();
  const std::string judged = value_at(result, "b").is_object()                ? "b"
                             : value_at(result, "after").is_object()          ? "after"
                             : value_at(result, "method").is_string()         ? "after"
                             : value_at(result, figure_key(result)).is_null() ? part
                                                                              : "";
  if (repeated) {
    const Json& spreads = value_at(result, "metric_spread");
    std::string key = judged;
    for (const char* name : {"validation", "test"})
      if (key.empty() && spreads.is_object() && spreads.contains(name)) key = name;
    const std::string measured = value_at(own, "split").is_string() ? own["split"] : Json(key);
    if (spreads.is_object() && spreads.contains(measured)) key = measured;
    take_comparison(own, value_at(result, "change"));
    // What all seeds were measured on.
    const Json& first = result["runs"].empty() ? Json() : result["runs"][0];
    if (!value_at(value_at(first, key), "eval_samples").is_null())
      own["n"] = first[key]["eval_samples"];
    take_cautions(own, value_at(first, key));
    const std::string figure = figure_key(value_at(first, key));
    take_spread(own, figure, value_at(spreads, key));
    take(own, value_at(first, key), {"eval_metric", "eval_majority_share", "eval_baseline"});
    for (const Json& run : result["runs"]) {
      if (is_measured(value_at(run, key))) own[figure + "_values"].push_back(run[key][figure]);
      if (value_at(value_at(run, "comparison"), "flip_share").is_number())
        own["flip_share_values"].push_back(run["comparison"]["flip_share"]);
    }
    if (own.contains("flip_share_values")) own["flip_share"] = mean_of(own["flip_share_values"]);
    if (key == "test" || key == "validation") own["split"] = key;
  } else {
    const Json& measurement = judged.empty() ? result : value_at(result, judged);
    take_measurement(own, measurement);
    take_cautions(own, measurement);
    if (measurement.is_object()) take(own, measurement, {"average_weight_bits", "arithmetic"});
    if (judged == "test" || judged == "validation") own["split"] = judged;
    take_comparison(own, value_at(result, "comparison"));
  }
  // What all gates say together goes before what the metric says alone.
  const Json& gated = value_at(value_at(result, "gate"), "verdict");
  if (!gated.is_null()) own["verdict"] = gated;
  if (own.contains(figure_key(own))) rows.push_back(own);
  return rows;
}

// The name of the command in a line that begins with "hone"; none in an empty one, of a program that has no commands.
std::string command_in(const Json& line) {
  if (!line.is_string()) return "";
  const std::vector<std::string> words = split(line.get<std::string>(), ' ');
  if (words.empty()) return "";
  return words.size() >= 2 && words[0] == "hone" ? words[1] : words[0];
}

/// What the job was, from its settings.
Json job_row(const fs::path& folder, const Json& settings_file, const Json& result) {
  Json row = {{"folder", folder.string()}, {"state", "finished"}};
  const std::string command = command_in(value_at(settings_file, "command"));
  if (!command.empty()) row["command"] = command;
  take(row, settings_file, {"start", "seconds"});
  const Json& settings = value_at(settings_file, "settings");
  for (const char* key : {"MODEL", "B", "compare", "suggest"})
    if (value_at(settings, key).is_string() && settings[key] != "" && !row.contains("model"))
      row["model"] = settings[key];
  if (value_at(settings, "data").is_string() && settings["data"] != "")
    row["data"] = settings["data"];
  if (value_at(settings, "split").is_string() && settings["split"] != "")
    row["split"] = settings["split"];
  take(row, result,
       {"command", "model", "split", "n", "examples_hash", "format", "method", "arithmetic",
        "average_weight_bits", "seed", "seeds", "steps", "weights_of_step", "protocol"});
  take_cautions(row, result);
  // Of both models of a comparison; the second is the one it is about.
  for (const char* key : {"arithmetic", "average_weight_bits"})
    if (value_at(row, key).is_array()) row[key] = Json(row[key].empty() ? Json() : row[key].back());
  const Json& data = value_at(result, "data");
  if (value_at(data, "source").is_string()) row["data"] = data["source"];
  if (value_at(data, "hash").is_string()) row["data_hash"] = data["hash"];
  row["settings"] = settings.is_object() ? settings : Json::object();
  return row;
}

std::int64_t newest_checkpoint(const fs::path& folder) {
  std::int64_t newest = 0;
  for (const std::int64_t step : checkpoint_steps(folder)) newest = std::max(newest, step);
  for (const fs::path& entry : sorted_entries(folder))
    if (is_folder(entry) && !entry.filename().string().starts_with("checkpoint-"))
      newest = std::max(newest, newest_checkpoint(entry));
  return newest;
}

/// What an interrupted job has got to.
RunFolder unfinished(const fs::path& folder) {
  Json row = {{"folder", folder.string()}, {"state", "unfinished"}, {"settings", Json::object()}};
  const fs::path file = folder / "training_log.jsonl";
  std::int64_t step = newest_checkpoint(folder);
  if (is_file(file)) {
    const std::vector<std::string> lines = split(read_file(file), '\n');
    for (const std::string& text : lines) {
      if (trim(text).empty()) continue;
      Json line;
      try {
        line = parse_json(text, file.string());
      } catch (const UserError&) {
        break;  // the job is at it, or was stopped in the middle of a line
      }
      if (value_at(line, "step").is_number_integer())
        step = std::max(step, line["step"].get<std::int64_t>());
      if (!is_measured(line)) continue;
      take_measurement(row, line);
      row["split"] = "validation";
    }
  }
  for (const char* name : {"resume.json", "record.json"}) {
    const Json job = read_if_there(folder / name);
    const Json& settings = value_at(job, "job").is_object() ? job["job"] : job;
    if (!settings.is_object() || row["settings"] != Json::object()) continue;
    for (const auto& [key, value] : settings.items())
      if (!key.starts_with("the ")) row["settings"][key] = value;  // fingerprints
  }
  row["step"] = step;
  return {folder, {row}};
}

// Anybody's folder may be called so.
bool is_interrupted(const fs::path& folder) {
  if (is_file(folder / "results.json") || is_file(folder / "settings.json")) return false;
  const bool trained = is_file(folder / "training_log.jsonl") || newest_checkpoint(folder) > 0;
  return is_file(folder / "resume.json") ||
         value_at(read_if_there(folder / "record.json"), "finished") == false ||
         (folder.filename().string().ends_with(kPartial) && trained);
}

/// What the folder says. Without rows it is not one of ours; throws `UserError` for files that cannot be read.
RunFolder read_folder(const fs::path& folder) {
  if (is_interrupted(folder)) return unfinished(folder);
  const Json settings = read_if_there(folder / "settings.json");
  const Json result = read_if_there(folder / "results.json");
  RunFolder run{folder, {}};
  const bool ours =
      value_at(settings, "settings").is_object() || value_at(result, "schema_version").is_number();
  const Json row = job_row(folder, settings, result);
  run.rows = measured_rows(row, result);
  if (run.rows.empty() && ours) run.rows.push_back(row);
  return run;
}

std::vector<fs::path> matches(const std::string& pattern) {
  glob_t found{};
  std::vector<fs::path> paths;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return paths;
}

/// Reads paths one after the other.
class Reader {
 public:
  void add(const std::string& path) {
    std::error_code error;
    const fs::path partial = path + std::string(kPartial);
    if (fs::exists(path, error)) return add_path(path, /*given=*/true);
    if (is_folder(partial)) return add_path(partial, /*given=*/true);
    const std::vector<fs::path> found = matches(path);
    user_check(!found.empty(), "{}: no such folder, and nothing that matches it as a glob", path);
    for (const fs::path& one : found) add_path(one, /*given=*/true);
  }

  Runs runs;

 private:
  void skip(const fs::path& path, const std::string& reason) {
    runs.skipped.push_back({path.string(), reason});
  }

  // Of a folder that is none itself, those in it.
  void add_path(const fs::path& path, bool given) {
    if (!is_folder(path)) {
      if (given) skip(path, "not a folder");
      return;
    }
    std::error_code error;
    const auto [seen, is_new] = seen_.emplace(fs::canonical(path, error), path);
    if (!is_new) return skip(path, "the same folder as " + seen->second.string());
    RunFolder run{path, {}};
    try {
      run = read_folder(path);
    } catch (const UserError& error) {
      return skip(path, error.what());
    }
    if (!run.rows.empty()) return runs.folders.push_back(std::move(run));
    if (!given) return;
    const std::size_t before = runs.folders.size() + runs.skipped.size();
    std::vector<fs::path> entries = sorted_entries(path);
    std::stable_partition(entries.begin(), entries.end(),
                          [](const fs::path& entry) { return !is_link(entry); });
    for (const fs::path& entry : entries) add_path(entry, /*given=*/false);
    if (runs.folders.size() + runs.skipped.size() == before)
      skip(path,
           "no output folder: there are no results and settings of a job in it, nor in the folders "
           "in it");
  }

  std::map<fs::path, fs::path> seen_;  // folders as they were named, by where they are
};

}  // namespace

Runs read_runs(const std::vector<std::string>& paths) {
  Reader reader;
  for (const std::string& path : paths) reader.add(path);
  return std::move(reader.runs);
}

}  // namespace hone
