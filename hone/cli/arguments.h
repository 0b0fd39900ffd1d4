#pragma once

#include <limits>
#include <string>
#include <vector>

#include "hone/cli/command.h"
#include "hone/cli/pass_watch.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/distillation.h"
#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/model_change.h"
#include "hone/jobs/recipe.h"
#include "hone/models/vocabulary.h"
#include "hone/runtime/context.h"

/// The arguments that several commands share, declared once. Flags carry the names of Hugging Face's
/// scripts where one exists; `-` and `_` are the same in them.
namespace hone {

/// Accepts numbers of at least `least` and below `below`.
CLI::Validator number_from(double least, double below = std::numeric_limits<double>::infinity());
/// That it is a number above 0, and at most `most`.
CLI::Validator above_zero(double most = std::numeric_limits<double>::infinity());
/// That it is a number from `least` to `most`, both among them.
CLI::Validator number_to(double least, double most);

/// Accepts these words.
CLI::Validator one_of(std::vector<std::string> words);

/// Accepts words that `read` throws no `UserError` for, whose message says what is wrong.
template <typename Read>
CLI::Validator accepted_by(Read read) {
  return CLI::Validator(
      [read](const std::string& word) -> std::string {
        try {
          read(word);
          return "";
        } catch (const UserError& error) {
          return error.what();
        }
      },
      "");
}

/// What `read` makes of the words that follow `flag`, which need the tables: where it throws `UserError` for them, the
/// command line is at fault.
template <typename Read>
auto value_of_flag(std::string_view flag, Read&& read) -> decltype(read()) {
  try {
    return read();
  } catch (const UserError& error) {
    throw UsageError(fmt::format("{}: {}", flag, error.what()));
  }
}

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
  std::string device = "cpu";
  std::string precision = "fp32";
  std::string executor = "interpreter";
};
void declare(CLI::App& app, RunArguments& arguments);
/// `--device` and `--precision`, of commands whose graphs may be run elsewhere.
void declare_device(CLI::App& app, RunArguments& arguments);
/// `--precision` alone, of what is of the processor only.
void declare_precision_of_processor(CLI::App& app, RunArguments& arguments);
void declare_executor(CLI::App& app, RunArguments& arguments);
/// `--device`, `--precision` and `--executor`.
void declare_device_and_executor(CLI::App& app, RunArguments& arguments);
/// Those of them that say how it computes and what it shows, without what its result could depend on.
void declare_screen(CLI::App& app, RunArguments& arguments);

/// What the command's jobs work with. Throws `UserError`.
Context make_context(const RunArguments& arguments);

void declare(CLI::App& app, JobData& arguments, bool required);
/// `--max_train_samples`, of commands that learn from the training part or look at it.
void declare_train_samples(CLI::App& app, JobData& arguments);
/// `--split`, the part of the data that `help` tells of.
CLI::Option* declare_split(CLI::App& app, std::string& split, const std::string& help);
/// `--label_map`, of commands that read labels.
void declare_label_map(CLI::App& app, DataOptions& options);
/// Those of them that say how texts are read.
void declare_texts(CLI::App& app, DataOptions& options, TextCut& cut);
/// What the answers of a changed model are measured on, if on anything.
void declare(CLI::App& app, AnswerTexts& texts);
/// What `--data` takes, for help.
inline constexpr const char* kDataSources = "CSV, JSON, Parquet, folder or synth:NAME";

/// How a command trains.
void declare(CLI::App& app, FineTuneOptions& options);

/// `--distill` and what goes with it, of commands that make a model by training.
void declare(CLI::App& app, DistillJob& options);

/// `--report_to`, of commands that keep the log of a training.
void declare_problem_type(CLI::App& app, std::string& problem_type);
void declare_report_to(CLI::App& app, std::string& report_to);

void declare(CLI::App& app, JobResume& arguments);

/// `--vocab_size` and what goes with it, of commands that make fresh weights for data.
void declare(CLI::App& app, VocabularyRules& rules);

/// `--seeds`, of jobs that can be repeated.
void declare_seeds(CLI::App& app, std::int64_t& seeds);

/// What calibration looks at.
struct CalibrationArguments {
  CalibrationRun run = {.batch_size = 32};
  std::string rule = "minmax";
  /// The run with the rule and the seed of its sample in it. Throws `UserError` for an unknown rule.
  CalibrationRun parsed(std::uint64_t seed) const;
};
void declare(CLI::App& app, CalibrationArguments& arguments);

/// Declares `--batch_size` and `--tokens`, the size of a run to measure or to count with. Without tokens they stay 0: see
/// `tokens_of_run` for what is taken then.
void declare_run_size(CLI::App& app, std::int64_t& batch, std::int64_t& tokens);

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
/// Whether any of them was given.
bool given(const FormatArguments& arguments);

/// The recipe with the flags over it: formats given by flags replace those of its default, rules
/// given by flags follow its own. Throws `UserError`; `UsageError` when nothing is given.
Recipe recipe_from(const FormatArguments& arguments, const FormatTable& formats);

void declare(CLI::App& app, JobOutput& arguments, bool required = true);

/// Of a job whose result stood in its folder already: says so, with `json` as the `results` it has. Throws `GateFailure`
/// when the job did not pass its gate.
void print_finished(const JobOutput& output, const Json& results, bool json);

/// `--figure`, whose files are several: the name without the ending of whichever of them a person gives.
void declare_figure(CLI::App& app, std::string& figure, const std::string& description);
/// `--adapter`, of commands that run models with one.
void declare_adapter(CLI::App& app, std::string& adapter, bool required = false);

/// `--no_row_hashes`, of commands that write models.
void declare_row_hashes(CLI::App& app, bool& row_hashes);

}  // namespace hone
