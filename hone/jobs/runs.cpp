#include "hone/jobs/runs.h"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/metrics/seeds.h"
#include "hone/study/gates.h"
#include "hone/study/result.h"
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

// Reads the value of a key. Values of other types are not from hone, and are ignored.
void take(std::optional<std::string>& to, const Json& from, const char* key) {
  if (const Json& value = value_at(from, key); value.is_string() && value != "")
    to = value.get<std::string>();
}
void take(std::optional<std::int64_t>& to, const Json& from, const char* key) {
  if (const Json& value = value_at(from, key); value.is_number_integer())
    to = value.get<std::int64_t>();
}
void take(std::optional<double>& to, const Json& from, const char* key) {
  if (const Json& value = value_at(from, key); value.is_number()) to = value.get<double>();
}

// Reads the measured split and the cautions about its metrics.
void take_split(RunRow& row, const Json& from) {
  take(row.split, from, "split");
  take(row.n, from, "n");
  take(row.examples_hash, from, "examples_hash");
  take(row.effective_n, from, "effective_n");
  take(row.trained_on_rows, from, "trained_on_rows");
  take(row.chosen_on_rows, from, "chosen_on_rows");
  take(row.calibrated_on_rows, from, "calibrated_on_rows");
  take(row.duplicate_rows, from, "duplicate_rows");
  take(row.validation_duplicate_rows, from, "validation_duplicate_rows");
  take(row.repeated_rows, from, "repeated_rows");
  if (std::vector<std::string> words = cautions_of(from); !words.empty())
    row.cautions = std::move(words);
}

// Reads the arithmetic of the model.
void take_arithmetic(RunRow& row, const Json& from) {
  take(row.arithmetic, from, "arithmetic");
  take(row.average_weight_bits, from, "average_weight_bits");
}

bool is_measured(const Json& value) { return value_at(value, "eval_metric").is_string(); }

void take_measurement(RunRow& row, const Json& measurement) {
  if (!is_measured(measurement)) return;
  row.measured = from_json<EvaluationResult>(measurement);
  row.n = row.measured->samples;
}

void take_comparison(RunRow& row, const Json& comparison) {
  if (!value_at(comparison, "verdict").is_null())
    row.comparison = from_json<ComparisonResult>(comparison);
}

// Combines the measurements called `key` of all seeds into one, with the mean of the metric.
EvaluationResult mean_measurement(const Json& runs, const std::string& key,
                                  const SeedSpread& spread) {
  std::vector<EvaluationResult> all;
  for (const Json& run : runs) all.push_back(from_json<EvaluationResult>(run.at(key)));
  const EvaluationResult& first = all.front();
  EvaluationResult mean{.metric = first.metric,
                        .metrics = {{first.metric.key, spread.mean}},
                        .constant_baseline = first.constant_baseline,
                        .majority_share = first.majority_share,
                        .baseline_rmse = first.baseline_rmse,
                        .samples = first.samples,
                        .effective_samples = first.effective_samples,
                        .runtime = std::nan(""),
                        .samples_per_second = std::nan("")};
  if (spread.interval) mean.intervals = {{first.metric.key, *spread.interval}};
  for (const EvaluationResult& one : all)
    mean.without_prediction = std::max(mean.without_prediction, one.without_prediction);
  return mean;
}

// Reads the result of several seeds.
void take_seeds(RunRow& row, const Json& result) {
  const Json &spreads = value_at(result, "metric_spread"), &runs = result.at("runs");
  if (!spreads.is_object() || runs.empty()) return;
  std::string key;
  for (const std::string& name : {row.split.value_or(""), std::string("b"), std::string("after"),
                                  std::string("test"), std::string("validation")})
    if (key.empty() && spreads.contains(name)) key = name;
  if (key.empty()) return;
  const auto spread = from_json<SeedSpread>(spreads[key]);
  take_split(row, value_at(runs[0], key));  // the same for all seeds
  if (key == "test" || key == "validation") row.split = key;
  row.measured = mean_measurement(runs, key, spread);
  row.n = row.measured->samples;
  row.metric_values = spread.values;
  if (spread.interval) row.cautions.emplace_back("interval: other seeds, the same texts");
  const Json& change = value_at(result, "change");
  if (value_at(change, "verdict").is_null()) return;
  row.comparison = {.margin_snr_db = std::nan(""), .verdict = from_json<Verdict>(change)};
  std::vector<double> flips;
  for (const Json& run : runs)
    if (const Json& share = value_at(value_at(run, "comparison"), "flip_share"); share.is_number())
      flips.push_back(share.get<double>());
  if (flips.empty()) return;
  row.comparison->flip_share =
      std::accumulate(flips.begin(), flips.end(), 0.0) / static_cast<double>(flips.size());
  row.flip_share_values = std::move(flips);
}

// Reads the result of one seed.
void take_result(RunRow& row, const Json& result) {
  std::string judged;
  const auto look_for = [&](const char* key) {
    if (judged.empty() && value_at(result, key).is_object()) judged = key;
  };
  look_for("b");
  look_for("after");
  if (!is_measured(result)) {
    look_for("test");
    look_for("validation");
  }
  const Json& measurement = judged.empty() ? result : result[judged];
  take_measurement(row, measurement);
  take_split(row, measurement);
  take_arithmetic(row, measurement);
  if (judged == "test" || judged == "validation") row.split = judged;
  take_comparison(row, value_at(result, "comparison"));
}

// Reads the stored bytes of the weights, and those of the baseline if the job changed a model.
void take_size(RunRow& row, const Json& result) {
  take(row.size, value_at(result, "size"), "stored_bytes");
  take(row.size_before, value_at(result, "size_before"), "stored_bytes");
  if (row.size.value_or(0) > 0 && row.size_before)
    row.compression_ratio = static_cast<double>(*row.size_before) / static_cast<double>(*row.size);
}

// Reads the latency at batch size 1, which every job with latencies measures. "times" of other jobs has other keys.
void take_latency(RunRow& row, const Json& result) {
  const Json& times = value_at(result, "times");
  if (!times.is_array()) return;
  const auto one = std::ranges::find_if(times, [](const Json& entry) {
    return value_at(entry, "batch_size") == 1 && value_at(entry, "tokens_before").is_number();
  });
  if (one == times.end()) return;
  take(row.latency, value_at(*one, "after"), "median_ms");
  take(row.latency_before, value_at(*one, "before"), "median_ms");
  take(row.speedup, *one, "speedup");
  if (const Json& ends = value_at(*one, "speedup_interval");
      ends.is_array() && ends.size() == 2 && ends[0].is_number() && ends[1].is_number())
    row.speedup_interval = Interval{ends[0].get<double>(), ends[1].get<double>()};
}

// Reads the limits given to the job. Without them, its verdict uses a default margin that nobody asked for.
void take_limit(RunRow& row, const Json& result) {
  const Json& gates = value_at(value_at(result, "gate"), "gates");
  if (!gates.is_array()) return;
  std::vector<std::string> texts;
  for (const Json& gate : gates)
    if (const Json& text = value_at(gate, "gate"); text.is_string())
      texts.push_back(text.get<std::string>());
  if (!texts.empty()) row.limit = fmt::format("{}", fmt::join(texts, ", "));
}

// Reads the recipe chosen by a search for the smallest model, whose layers have several formats.
void take_recipe(RunRow& row, const Json& result) {
  const Json &candidates = value_at(result, "candidates"), &chosen = value_at(result, "candidate");
  if (!candidates.is_array() || !chosen.is_number_integer()) return;
  for (const Json& candidate : candidates)
    if (value_at(candidate, "candidate") == chosen) take(row.format, candidate, "recipe");
}

RunRow model_row(const RunRow& row, const Json& model) {
  RunRow own = row;
  take_arithmetic(own, model);
  take(own.packed_bytes, model, "packed_bytes");
  take(own.variant, model, "model");
  take(own.variant, model, "format");
  take_measurement(own, model);
  take_comparison(own, value_at(model, "comparison"));
  return own;
}

/// Returns a row for each measured model.
std::vector<RunRow> measured_rows(const RunRow& row, const Json& result) {
  std::vector<RunRow> rows;
  for (const char* key : {"models", "formats"})
    if (value_at(result, key).is_array())
      for (const Json& model : result[key])
        if (is_measured(model)) rows.push_back(model_row(row, model));
  if (!rows.empty()) return rows;

  RunRow own = row;
  if (value_at(result, "runs").is_array())
    take_seeds(own, result);
  else
    take_result(own, result);
  // The verdict on all gates takes precedence over that on the metric alone.
  if (const Json& gate = value_at(result, "gate"); gate.is_object() && own.comparison)
    own.comparison->verdict.conclusion = from_json<GateResult>(gate).verdict;
  if (own.measured) rows.push_back(std::move(own));
  return rows;
}

// Returns the name of the command in a line that begins with "hone". Otherwise the first word: a program without
// commands, or "".
std::string command_in(const Json& line) {
  if (!line.is_string()) return "";
  const std::vector<std::string> words = split(line.get<std::string>(), ' ');
  if (words.empty()) return "";
  return words.size() >= 2 && words[0] == "hone" ? words[1] : words[0];
}

/// Reads the facts of a job from its settings and results.
RunRow job_row(const fs::path& folder, const Json& settings_file, const Json& result) {
  RunRow row{.folder = folder.string()};
  if (std::string command = command_in(value_at(settings_file, "command")); !command.empty())
    row.command = std::move(command);
  take(row.start, settings_file, "start");
  take(row.seconds, settings_file, "seconds");
  const Json& settings = value_at(settings_file, "settings");
  for (const char* key : {"MODEL", "B", "compare", "suggest"})
    if (!row.model) take(row.model, settings, key);
  take(row.data, settings, "data");
  take(row.split, settings, "split");
  take(row.command, result, "command");
  take(row.model, result, "model");
  take_split(row, result);
  take(row.format, result, "format");
  take(row.method, result, "method");
  take_arithmetic(row, result);
  take_size(row, result);
  take_latency(row, result);
  take_limit(row, result);
  take_recipe(row, result);
  take(row.seed, result, "seed");
  take(row.seeds, result, "seeds");
  take(row.steps, result, "steps");
  take(row.weights_of_step, result, "weights_of_step");
  take(row.protocol, result, "protocol");
  const Json& data = value_at(result, "data");
  take(row.data, data, "source");
  take(row.data_hash, data, "hash");
  if (settings.is_object())
    for (const auto& [key, value] : settings.items()) row.settings.emplace_back(key, value);
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

/// Reads the progress of an interrupted job.
RunFolder unfinished(const fs::path& folder) {
  RunRow row{.folder = folder.string(), .state = RunState::unfinished};
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
        break;  // the job is running, or stopped in the middle of a line
      }
      if (value_at(line, "step").is_number_integer())
        step = std::max(step, line["step"].get<std::int64_t>());
      if (!is_measured(line)) continue;
      take_measurement(row, line);
      row.split = "validation";
    }
  }
  const Json record = read_if_there(folder / "record.json");
  if (const Json& job = value_at(record, "job"); job.is_object()) {
    take(row.command, job, "command");
    for (const auto& [key, value] : job.items())
      if (key != "command" && !key.starts_with("the "))  // fingerprints
        row.settings.emplace_back(key, value);
  }
  if (step > 0) row.step = step;
  return {folder, {std::move(row)}};
}

// The folder's name alone proves nothing, since other programs can use it.
bool is_interrupted(const fs::path& folder) {
  if (is_file(folder / "results.json") || is_file(folder / "settings.json")) return false;
  const bool trained = is_file(folder / "training_log.jsonl") || newest_checkpoint(folder) > 0;
  return value_at(read_if_there(folder / "record.json"), "finished") == false ||
         (folder.filename().string().ends_with(kPartial) && trained);
}

/// Reads a folder. It is not an output folder of hone if it has no rows. Throws `UserError` for unreadable files.
RunFolder read_folder(const fs::path& folder) {
  if (is_interrupted(folder)) return unfinished(folder);
  const Json settings = read_if_there(folder / "settings.json");
  const Json result = read_if_there(folder / "results.json");
  RunFolder run{folder, {}};
  const bool ours =
      value_at(settings, "settings").is_object() || value_at(result, "schema_version").is_number();
  const RunRow row = job_row(folder, settings, result);
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

/// Reads paths one by one.
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

  // Adds a folder or, if it is not an output folder, the folders in it.
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
           "not an output folder: neither it nor the folders in it contain the results and "
           "settings of a job");
  }

  std::map<fs::path, fs::path> seen_;  // folders as they were named, by canonical path
};

}  // namespace

std::span<const EnumName> enum_names(RunState) {
  static constexpr EnumName kWords[] = {{static_cast<int>(RunState::finished), "finished"},
                                        {static_cast<int>(RunState::unfinished), "unfinished"}};
  return kWords;
}

const Fields& fields_of(const RunRow*) {
  using R = RunRow;
  static const Fields fields = describe<R>(
      "run_row", "A run, or one of the models that it measured. Null: not recorded in its folder.",
      field<&R::folder>("folder", "The output folder."),
      field<&R::state>("state", "unfinished: interrupted, diverged, or still running."),
      field<&R::group>("group", "Number of its group; only runs of one group can be ranked."),
      field<&R::settings>("settings",
                          "Arguments of its command; of unfinished runs those that decide on the "
                          "result."),
      field<&R::step>("step", Unit::steps,
                      "Last step that was saved; null: finished, or none was saved."),
      field<&R::command>("command", "The command."),
      field<&R::model>("model", "The model as it was named."),
      field<&R::variant>("variant", "The model among several; null: the only one."),
      field<&R::data>("data", "The data as it was named."),
      field<&R::data_hash>("data_hash", "`hash` of the data."),
      field<&R::split>("split", "The measured split: train, validation, test or all."),
      field<&R::n>("n", Unit::examples, "Its number of examples."),
      field<&R::examples_hash>("examples_hash", "Fingerprint of these examples."),
      field<&R::effective_n>("effective_n", Unit::examples,
                             "Number of distinct examples with as much evidence."),
      field<&R::trained_on_rows>("trained_on_rows", Unit::examples,
                                 "Examples that the model was trained on."),
      field<&R::chosen_on_rows>("chosen_on_rows", Unit::examples,
                                "Examples that training set aside for choices."),
      field<&R::calibrated_on_rows>("calibrated_on_rows", Unit::examples,
                                    "Examples that quantizers were calibrated on."),
      field<&R::duplicate_rows>("duplicate_rows", Unit::examples,
                                "Examples that are in the training split, too."),
      field<&R::validation_duplicate_rows>(
          "validation_duplicate_rows", Unit::examples,
          "Examples of the test split that are in the validation split, too."),
      field<&R::repeated_rows>("repeated_rows", Unit::examples,
                               "Examples that repeat an earlier one of the split."),
      field<&R::cautions>("cautions", "Cautions about the metrics, a few words each."),
      field<&R::protocol>("protocol", "honest or original."),
      field<&R::start>("start", Unit::utc, "When it began, ISO 8601; null: unfinished."),
      field<&R::seconds>("seconds", Unit::seconds, "Duration; null: unfinished."),
      field<&R::seed>("seed", "Its random seed; null: several."),
      field<&R::seeds>("seeds", Unit::seeds, "Number of seeds; of several, metrics are means."),
      field<&R::metric_values>("metric_values",
                               "The metric by which the task is judged with each seed; null: one "
                               "seed."),
      field<&R::flip_share_values>("flip_share_values", Unit::share,
                                   "Predictions changed with each seed; null: one seed, or "
                                   "not compared."),
      field<&R::steps>("steps", Unit::steps, "Training steps; null: not a training."),
      field<&R::weights_of_step>("weights_of_step",
                                 "Step after which the weights were taken; null: not a training."),
      field<&R::format>("format",
                        "Of the layers, or the recipe that a search chose; null: not quantized."),
      field<&R::method>("method", "How the model was compressed, as ptq or qat."),
      field<&R::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&R::average_weight_bits>("average_weight_bits", Unit::bits, kWeightBitsMeaning),
      field<&R::packed_bytes>("packed_bytes", Unit::bytes, "Size of all parameters when packed."),
      field<&R::size>("size", Unit::bytes,
                      "Size of the weights in the model's file, as in reports."),
      field<&R::size_before>("size_before", Unit::bytes,
                             "The same of the baseline; null: there is none."),
      field<&R::compression_ratio>("compression_ratio", Unit::ratio,
                                   "`size_before` divided by `size`; above 1: smaller."),
      field<&R::latency>("latency", Unit::milliseconds,
                         "Median latency of one example at batch size 1."),
      field<&R::latency_before>("latency_before", Unit::milliseconds, "The same of the baseline."),
      field<&R::speedup>("speedup", Unit::ratio,
                         "Median ratio of the two in paired rounds; above 1: faster."),
      field<&R::speedup_interval>("speedup_interval", Unit::ratio, "Its interval of at least 95%."),
      field<&R::limit>("limit",
                       "The gates that were set, as accuracy>=-0.5; null: none, and `verdict` is "
                       "for the usual margin."),
      inlined<&R::comparison>(), inlined<&R::measured>());
  return fields;
}

const Fields& fields_of(const SkippedPath*) {
  static const Fields fields =
      describe<SkippedPath>("skipped_path", "A path that is not an output folder.",
                            field<&SkippedPath::path>("path", "The path."),
                            field<&SkippedPath::reason>("reason", "Why it was skipped."));
  return fields;
}

Runs read_runs(const std::vector<std::string>& paths) {
  Reader reader;
  for (const std::string& path : paths) reader.add(path);
  return std::move(reader.runs);
}

}  // namespace hone
