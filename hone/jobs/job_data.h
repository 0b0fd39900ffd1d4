#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/options.h"
#include "hone/models/encoding.h"

/// The data of a job: its source, its splits, and how it is read.
namespace hone {

/// The data that a job reads.
struct JobData {
  DataOptions options;
  double validation_split = 0.1;
  std::string protocol = "honest";
  TextCut cut = {};
  std::int64_t max_train_samples = 0, max_eval_samples = 0;
};

/// The options of `DataOptions`, without the source, and of `TextCut`.
Options options_of(const DataOptions*);
Options options_of(const TextCut*);
/// The option `--label_map`, for jobs that read labels.
Options label_map_option();
/// Values of `--data`, for help.
inline constexpr const char* kDataSources = "CSV, JSON, Parquet, folder or synth:NAME";
/// All options of `JobData` but `--max_train_samples`.
Options options_of(const JobData*);
/// The same, with required data.
Options required_data();
/// The option `--max_train_samples`, for jobs that use the training split.
Options train_samples_option();
/// Both of these.
Options training_data();

/// The outputs of a model, as far as they are known before the data is read.
struct KnownLabels {
  std::optional<Task> task = {};        ///< empty: determined by the data
  std::vector<std::string> names = {};  ///< of the model's outputs; empty: determined by the data
};

/// Loads the data with what is known of the model (see `known_labels`) and splits off the validation split, respecting
/// the model's earlier training (`SplitOptions::record`). The notes and warnings of the data go to the context.
Splits load_splits(const JobData& data, std::uint64_t seed, const KnownLabels& known,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context);
/// The same for a model with a fixed task and labels, which the data must match.
Splits load_splits(const JobData& data, std::uint64_t seed, const ModelFacts& facts,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context);

/// Loads the split called `split` (see `evaluation_examples`) of data that is only measured, by a model with this
/// record.
EvaluationExamples load_measured(const JobData& data, const std::string& split, std::uint64_t seed,
                                 const ModelFacts& facts, const std::optional<TrainedOn>& record,
                                 Context& context, DataIdentity& identity);

/// The subject of a job's metrics, which determines their split.
enum class MetricsOf {
  one_model,  ///< on the measured split
  candidates  ///< on the split where choices are made; the chosen one once on the measured split
};

/// Receives the texts of all splits and those of the test split, and can add warnings.
using TextInspector =
    std::function<void(const DataSet&, const EvaluationExamples&, std::vector<std::string>&)>;

/// Loads and encodes the data for compressing a model called `name`, with the split called `split` (see
/// `evaluation_examples`) as its test split. Fresh weights first get the classes of the data, as for training. Notes
/// and warnings about model and data go to the context and are appended to `notes` for a report. `inspect` sees the
/// texts before they are freed.
EncodedSplits load_encoded(TextModel& source, const std::string& name, const JobData& data,
                           const std::string& split, std::uint64_t seed, MetricsOf metrics_of,
                           Context& context, std::vector<std::string>& notes,
                           const TextInspector& inspect = {});

/// Reports to the context on which split a candidate is chosen, on which it is measured, and what is `unknown` about
/// them (see `unknown_texts`). Appends the same to `notes`.
void report_choice(const EncodedSplits& data, const std::string& unknown, const Context& context,
                   std::vector<std::string>& notes);

/// Reports to the context which split is measured, and what is `unknown` about it (see `unknown_texts`). Appends both
/// to `notes`.
void report_measured_split(const MeasuredSplit& split, const std::vector<std::string>& unknown,
                           const Context& context, std::vector<std::string>& notes);

/// Returns the record of the model's training data, if it is known.
std::optional<TrainedOn> known_record(const std::string& model);

/// Returns what the model's config says about its outputs. The task is known if the config has a problem_type, one
/// output, or its own names. The names are known if the model is not fresh and has a trained head or its own names.
KnownLabels known_labels(const std::string& model);

}  // namespace hone
