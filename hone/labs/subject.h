#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hone/jobs/job_data.h"
#include "hone/jobs/job_output.h"

/// The model and the data of a lab: somebody's own, or what stands in for them.
namespace hone {

/// How much of an experiment is run: a first look, what reports of it have run, or more.
enum class Fidelity : std::uint8_t { quick, paper, full };
inline constexpr std::string_view kFidelities[] = {"quick", "paper", "full"};
std::string_view to_string(Fidelity fidelity);
std::span<const EnumWord> enum_words(Fidelity fidelity);
/// Throws `UserError` for another word.
Fidelity parse_fidelity(std::string_view word);

/// How a model is trained on the spot.
struct LabTraining {
  std::int64_t steps = 0;
  std::int64_t batch = 64;
  double learning_rate = 5e-4;
};

struct LabSubject {
  std::string name;  ///< of the model, as reports call it
  TextModel source;
  EncodedSplits data;
  std::string data_source;
  std::optional<LabTraining> training = {};  ///< none: the model was given
  std::vector<std::string> notes = {};       ///< what stands in for what, and warnings
};

/// Opens the model (`model` empty: makes fresh weights of bert-tiny's shape to be trained) and reads the data (without a
/// source: built-in, more of it the higher the fidelity). Where `max_eval_samples` is not given, quick and paper measure on
/// 2,000 and 10,000 texts of each part. Tells the context notes and warnings. Throws `UserError` as `load_encoded` does, for a
/// model that is quantized or packed already, and for a model without data.
LabSubject lab_subject(const std::string& model, const JobData& data, Fidelity fidelity,
                       std::uint64_t seed, Context& context);

/// Tokens of a text, on average.
double mean_tokens(const EncodedSet& set);

/// Trains the fresh model of the subject and writes it into the folder `model` of the output, from where it is opened again,
/// with checkpoints that a resumed run goes on from. Returns what is known of the training.
Json train_subject(LabSubject& subject, const JobResume& resume, std::uint64_t seed,
                   const std::string& command, OutputFolder& output, Context& context);
/// Opens the model that `train_subject` has left there.
void open_trained(LabSubject& subject, const OutputFolder& output, Context& context);

}  // namespace hone
