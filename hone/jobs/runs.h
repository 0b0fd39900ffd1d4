#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hone/base/fields.h"
#include "hone/study/measure.h"

/// Reads output folders of earlier jobs to compare them.
namespace hone {

enum class RunState : std::uint8_t {
  finished,
  unfinished  ///< interrupted, diverged, or still running
};
std::span<const EnumName> enum_names(RunState);

/// A run, or one of the models that it measured. Members are empty if the folder does not have the information.
struct RunRow {
  std::string folder;
  RunState state = RunState::finished;
  std::int64_t group = 0;  ///< set by `rank_runs`
  std::vector<std::pair<std::string, Json>> settings = {};
  std::optional<std::int64_t> step = {};
  std::optional<std::string> command = {}, model = {}, variant = {};
  std::optional<std::string> data = {}, data_hash = {}, split = {};
  std::optional<std::int64_t> n = {};
  std::optional<std::string> examples_hash = {};
  std::optional<std::int64_t> effective_n = {};
  std::optional<std::int64_t> trained_on_rows = {}, chosen_on_rows = {}, calibrated_on_rows = {};
  std::optional<std::int64_t> duplicate_rows = {}, validation_duplicate_rows = {};
  std::optional<std::int64_t> repeated_rows = {};
  std::vector<std::string> cautions = {};
  std::optional<std::string> protocol = {}, start = {};
  std::optional<double> seconds = {};
  std::optional<std::int64_t> seed = {}, seeds = {};
  std::optional<std::vector<double>> metric_values = {}, flip_share_values = {};
  std::optional<std::int64_t> steps = {}, weights_of_step = {};
  std::optional<std::string> format = {}, method = {}, arithmetic = {};
  std::optional<double> average_weight_bits = {};
  std::optional<std::int64_t> packed_bytes = {};
  std::optional<std::int64_t> size = {}, size_before = {};
  std::optional<double> compression_ratio = {};
  std::optional<double> latency = {}, latency_before = {}, speedup = {};
  std::optional<Interval> speedup_interval = {};
  std::optional<std::string> limit = {};
  std::optional<ComparisonResult> comparison = {};
  std::optional<EvaluationResult> measured = {};
};
const Fields& fields_of(const RunRow*);

/// An output folder, with a row for each measured model.
struct RunFolder {
  fs::path path;
  std::vector<RunRow> rows;
};

/// A path that is not an output folder.
struct SkippedPath {
  std::string path;
  std::string reason;
};
const Fields& fields_of(const SkippedPath*);

struct Runs {
  std::vector<RunFolder> folders;
  std::vector<SkippedPath> skipped;
};

/// Reads the output folders among `paths`: finished ones and those of interrupted jobs (FOLDER.partial, also found as
/// FOLDER). A path can be a glob, or a folder of output folders. Unreadable folders are skipped with the reason. Throws
/// `UserError` for a path that does not exist.
Runs read_runs(const std::vector<std::string>& paths);

}  // namespace hone
