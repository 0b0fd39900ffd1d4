#pragma once

#include <limits>
#include <string>
#include <vector>

#include "hone/base/output_folder.h"
#include "hone/cli/command.h"
#include "hone/cli/pass_watch.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/recipe.h"
#include "hone/models/encoding.h"
#include "hone/runtime/context.h"

/// The arguments that several commands share, declared once. Flags carry the names of Hugging Face's
/// scripts where one exists; `-` and `_` are the same in them.
namespace hone {

/// Accepts numbers of at least `least` and below `below`.
CLI::Validator number_from(double least, double below = std::numeric_limits<double>::infinity());

/// Makes every option of `app` that takes a number refuse words that are none, or not a whole one where it takes those.
void check_numbers(CLI::App& app);

/// Of every command.
struct RunArguments {
  int threads = available_processors();
  bool json = false;
  bool quiet = false;
  std::string colour = "auto";
  std::uint64_t seed = 42;
  std::vector<std::string> plugins;  ///< paths
  PassArguments passes;
};
void declare(CLI::App& app, RunArguments& arguments);

/// What the command's jobs work with. Throws `UserError`.
Context make_context(const RunArguments& arguments);

/// The data a command reads.
struct DataArguments {
  DataOptions options;
  double validation_split = 0.1;
  std::string protocol = "honest";
  std::int64_t max_seq_length = 0;
  std::int64_t max_train_samples = 0, max_eval_samples = 0;
};
void declare(CLI::App& app, DataArguments& arguments, bool required);
/// `--max_train_samples`, of commands that learn from the training part or look at it.
void declare_train_samples(CLI::App& app, DataArguments& arguments);
/// Those of them that say how texts are read.
void declare_texts(CLI::App& app, DataArguments& arguments);
/// What `--data` takes, for help.
inline constexpr const char* kDataSources =
    "a .csv, .tsv, .jsonl, .json (also .gz) or .parquet file, a folder of them with train.*, "
    "validation.*, test.*, an aclImdb folder, or synth:NAME?seed=7&n=30000";

/// How a command trains.
void declare(CLI::App& app, FineTuneOptions& options);

/// `--report_to`, of commands that keep the log of a training.
void declare_report_to(CLI::App& app, std::string& report_to);
/// The log of a training in `folder`, reported where `report_to` says.
TrainingLog training_log_in(const fs::path& folder, const std::string& report_to);

/// How a job with training is kept safe.
struct ResumeArguments {
  bool resume = false;
  std::int64_t save_steps = 0;
  std::int64_t save_total_limit = 2;
  bool save_optimizer_state = false;
};
void declare(CLI::App& app, ResumeArguments& arguments);

/// `--vocab_size`, of commands that make fresh weights for data.
void declare_vocab_size(CLI::App& app, std::int64_t& vocab_size);

/// `--seeds`, of jobs that can be repeated.
void declare_seeds(CLI::App& app, std::int64_t& seeds);

/// Checkpoints in `folder`, a part of `output`, that are models with the tokenizer and the record of what was learnt from
/// of `source`; both must outlive them.
/// A training that diverges gives `output` up.
CheckpointOptions checkpoints_in(const fs::path& folder, const ResumeArguments& arguments,
                                 const TextModel& source, OutputFolder& output);

/// What calibration looks at.
struct CalibrationArguments {
  CalibrationRun run = {.batch_size = 32};
  std::string rule = "minmax";
  /// The run with the rule and the seed of its sample in it. Throws `UserError` for an unknown rule.
  CalibrationRun parsed(std::uint64_t seed) const;
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
  OutputFolderOptions options() const;
  /// What the model is called that is written into `part`, `temporary` or a folder in it, which will be `folder`.
  std::string name_of(const fs::path& part, const fs::path& temporary) const;
  OutputFolderOptions resumable(const ResumeArguments& arguments) const;
};
void declare(CLI::App& app, OutputArguments& arguments, bool required = true);

/// Instead of a job whose result stands already (see `begin_run`): says so, with `json` as the result it has. Throws
/// `GateFailure` when the job did not pass its gate.
void print_finished(const OutputFolder& output, bool json);

/// Loads the data with the labels a trained model has (see `known_labels`) and sets the validation
/// part aside, with what is known of the model's earlier trainings (`SplitOptions::record`). Says on the standard error
/// stream what was chosen and left out.
Splits load_splits(const DataArguments& data, std::uint64_t seed,
                   const std::vector<std::string>& labels, const std::optional<TrainedOn>& record,
                   DataUse use, Context& context);
/// The same for a model whose classes the labels must be among.
Splits load_splits(const DataArguments& data, std::uint64_t seed, const ModelFacts& facts,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context);

/// The part called `split` (see `measured_texts`) of data that is only measured, by a model with this record.
MeasuredTexts load_measured(const DataArguments& data, const std::string& split, std::uint64_t seed,
                            const ModelFacts& facts, const std::optional<TrainedOn>& record,
                            Context& context, DataIdentity& identity);

/// What the figures of a job are of, and so which part they stand on.
enum class FiguresOf {
  one_model,  ///< on the part that is measured
  candidates  ///< on the part that choices are made on; on the other what is chosen, once
};

/// The data encoded for the compression of a model called `name`, with the part called `split` (see `measured_texts`) as
/// its test part; fresh weights get the classes of the data first, as for training. Prints notes and warnings, the model's
/// and the data's, and adds them to `notes` for a report.
EncodedSplits load_encoded(TextModel& source, const std::string& name, const DataArguments& data,
                           const std::string& split, std::uint64_t seed, FiguresOf figures,
                           Context& context, std::vector<std::string>& notes);

/// What the part is, on the standard error stream, and what is `unknown` about it (see `unknown_texts`). Adds both to
/// `notes`.
void tell_measured(const MeasuredPart& part, const std::vector<std::string>& unknown,
                   const Context& context, std::vector<std::string>& notes);

/// `--no_row_hashes`, of commands that write models.
void declare_row_hashes(CLI::App& app, bool& row_hashes);

/// What the model called so has learnt from, if that is known.
std::optional<TrainedOn> known_record(const std::string& model);

/// The class names in the config of the model called so, when somebody chose them; else none.
std::vector<std::string> known_labels(const std::string& model);

/// "note: …" on the standard error stream, one line each, unless progress is not wanted either.
void print_notes(const std::vector<std::string>& notes, const Context& context);

/// "warning: …" on the standard error stream, one line each; empty ones are left out.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace hone
