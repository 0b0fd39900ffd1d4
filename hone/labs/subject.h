#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"

/// The model and the data of a lab: those of the user, or substitutes.
namespace hone {

/// The scale of an experiment: a quick look, the scale of published reports, or larger.
enum class Fidelity : std::uint8_t { quick, paper, full };
inline constexpr std::string_view kFidelities[] = {"quick", "paper", "full"};
std::string_view to_string(Fidelity fidelity);
std::span<const EnumName> enum_names(Fidelity fidelity);
/// Returns the fidelity of this name. Throws `UserError` for any other.
Fidelity parse_fidelity(std::string_view word);

/// The training of a lab's own model.
struct LabTraining {
  std::int64_t steps = 0;
  std::int64_t batch = 64;
  double learning_rate = 5e-4;
};

struct LabSubject {
  std::string name;  ///< of the model, in reports
  TextModel source;
  EncodedSplits data;
  std::string data_source;
  std::optional<LabTraining> training = {};  ///< none: the model was given
  std::vector<std::string> notes = {};       ///< substitutions, and warnings
};

/// Opens the model (`model` empty: creates fresh weights of bert-tiny's shape to be trained) and reads the data
/// (without a source: built-in data, more for a higher fidelity). If `max_eval_samples` is not given, quick and paper
/// evaluate on 2,000 and 10,000 texts of each split. Reports notes and warnings to the context. Throws `UserError` as
/// `load_encoded` does, for a model that is already quantized or packed, and for a model without data.
LabSubject lab_subject(const std::string& model, const JobData& data, Fidelity fidelity,
                       std::uint64_t seed, Context& context);

/// Returns the average number of tokens per text.
double mean_tokens(const EncodedSet& set);

/// Trains the fresh model of the subject, writes it to the folder `model` of the output, and opens it again from there.
/// A resumed run continues from its checkpoints. Returns facts about the training.
Json train_subject(LabSubject& subject, const JobResume& resume, std::uint64_t seed,
                   const std::string& command, OutputFolder& output, Context& context);
/// Opens the model that `train_subject` wrote.
void open_trained(LabSubject& subject, const OutputFolder& output, Context& context);

}  // namespace hone
