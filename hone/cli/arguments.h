#pragma once

#include <limits>
#include <string>
#include <vector>

#include "hone/app/compress.h"
#include "hone/app/context.h"
#include "hone/app/data.h"
#include "hone/app/recipe.h"
#include "hone/cli/command.h"

/// The arguments that several commands share, declared once. Flags carry the names of Hugging Face's
/// scripts where one exists; `-` and `_` are the same in them.
namespace hone {

/// Accepts numbers of at least `least` and below `below`.
CLI::Validator number_from(double least, double below = std::numeric_limits<double>::infinity());

/// Of every command.
struct RunArguments {
  int threads = available_processors();
  bool json = false;
  bool quiet = false;
  std::uint64_t seed = 42;
  std::vector<std::string> plugins;  ///< paths
};
void declare(CLI::App& app, RunArguments& arguments);

/// What the command's jobs work with. Throws `UserError`.
Context make_context(const RunArguments& arguments);

/// The data a command reads.
struct DataArguments {
  DataOptions options;
  double validation_split = 0.1;
  std::int64_t max_seq_length = 0;
};
void declare(CLI::App& app, DataArguments& arguments, bool required);

/// How a command trains.
struct TrainingArguments {
  FineTuneOptions options;
};
void declare(CLI::App& app, TrainingArguments& arguments);

/// What calibration looks at.
struct CalibrationArguments {
  CalibrationRun run = {.batch_size = 32};
  std::string rule = "minmax";
  /// The run with the rule in it. Throws `UserError` for an unknown rule.
  CalibrationRun parsed() const;
};
void declare(CLI::App& app, CalibrationArguments& arguments);

/// `--freeze GLOB[,GLOB…]`, once or several times.
void declare_freeze(CLI::App& app, std::vector<std::string>& globs);

/// Which formats a command quantizes to.
struct FormatArguments {
  std::string recipe;  ///< path
  std::string format;
  std::string input_format, weight_format, bias_format, output_format;
  std::vector<std::string> rules;  ///< TOML inline tables
};
void declare(CLI::App& app, FormatArguments& arguments);

/// The recipe with the flags over it: formats given by flags replace those of its default, rules
/// given by flags follow its own. Throws `UserError`; `UsageError` when nothing is given.
Recipe recipe_from(const FormatArguments& arguments, const FormatTable& formats);

/// The folder a command writes.
struct OutputArguments {
  std::string folder;
  bool overwrite = false;
};
void declare(CLI::App& app, OutputArguments& arguments);

/// Loads the data with the labels a trained model has (see `known_labels`) and sets the validation
/// part aside.
Splits load_splits(const DataArguments& data, std::uint64_t seed,
                   const std::vector<std::string>& labels);

/// The data encoded for a model that was opened from `model`, with the part called `split` (see
/// `part`) as its test part. Prints warnings: the model's, and what was cut or replaced.
EncodedSplits load_encoded(const TextModel& source, const std::string& model,
                           const DataArguments& data, const std::string& split, std::uint64_t seed,
                           Context& context);

/// The class names in a model folder's config, when somebody chose them; else none.
std::vector<std::string> known_labels(const std::string& model);

/// "warning: …" on the standard error stream, one line each; empty ones are left out.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace hone
