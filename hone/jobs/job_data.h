#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/options.h"
#include "hone/models/encoding.h"

/// The data of a job: which, how its parts come about, and how it is read.
namespace hone {

/// The data a job reads.
struct JobData {
  DataOptions options;
  double validation_split = 0.1;
  std::string protocol = "honest";
  TextCut cut = {};
  std::int64_t max_train_samples = 0, max_eval_samples = 0;
};

/// How texts are read and cut: of `DataOptions`, without the data itself, and of `TextCut`.
Options options_of(const DataOptions*);
Options options_of(const TextCut*);
/// `--label_map`, of jobs that read labels.
Options label_map_option();
/// What `--data` takes, for help.
inline constexpr const char* kDataSources = "CSV, JSON, Parquet, folder or synth:NAME";
/// All of `JobData` but `max_train_samples`.
Options options_of(const JobData*);
/// The same where the data must be given.
Options required_data();
/// `--max_train_samples`, of jobs that learn from the training split or look at it.
Options train_samples_option();
/// Both of them.
Options training_data();

/// What is known of a model's answers before data is seen.
struct KnownLabels {
  std::optional<Task> task = {};        ///< none: the data says it
  std::vector<std::string> names = {};  ///< of the model's outputs; empty: the data says them
};

/// Loads the data with what a model says already (see `known_labels`) and sets the validation
/// part aside, with what is known of the model's earlier trainings (`SplitOptions::record`). Tells the context what was
/// chosen and left out.
Splits load_splits(const JobData& data, std::uint64_t seed, const KnownLabels& known,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context);
/// The same for a model whose task and labels those of the data must be.
Splits load_splits(const JobData& data, std::uint64_t seed, const ModelFacts& facts,
                   const std::optional<TrainedOn>& record, DataUse use, Context& context);

/// The part called `split` (see `measured_texts`) of data that is only measured, by a model with this record.
MeasuredTexts load_measured(const JobData& data, const std::string& split, std::uint64_t seed,
                            const ModelFacts& facts, const std::optional<TrainedOn>& record,
                            Context& context, DataIdentity& identity);

/// What the figures of a job are of, and so which part they stand on.
enum class FiguresOf {
  one_model,  ///< on the part that is measured
  candidates  ///< on the part that choices are made on; on the other what is chosen, once
};

/// Is shown the texts of all parts and those of the test part, and may add warnings.
using LookAtTexts =
    std::function<void(const DataSet&, const MeasuredTexts&, std::vector<std::string>&)>;

/// The data encoded for the compression of a model called `name`, with the part called `split` (see `measured_texts`) as
/// its test part; fresh weights get the classes of the data first, as for training. Tells the context notes and warnings,
/// the model's and the data's, and adds them to `notes` for a report. `look` sees the texts before they are let go.
EncodedSplits load_encoded(TextModel& source, const std::string& name, const JobData& data,
                           const std::string& split, std::uint64_t seed, FiguresOf figures,
                           Context& context, std::vector<std::string>& notes,
                           const LookAtTexts& look = {});

/// Tells the context on which part one of the candidates is chosen, on which it is reported, and what is `unknown` about them
/// (see `unknown_texts`). Adds it to `notes`.
void tell_choice(const EncodedSplits& data, const std::string& unknown, const Context& context,
                 std::vector<std::string>& notes);

/// Tells the context what the part is, and what is `unknown` about it (see `unknown_texts`). Adds both to
/// `notes`.
void tell_measured(const MeasuredPart& part, const std::vector<std::string>& unknown,
                   const Context& context, std::vector<std::string>& notes);

/// What the model called so has learned from, if that is known.
std::optional<TrainedOn> known_record(const std::string& model);

/// What the config of the model called so says of its answers: its task, where it has a problem_type, one output or names of
/// its own; and the names, of a model that has a trained head or names of its own and is not fresh.
KnownLabels known_labels(const std::string& model);

}  // namespace hone
