#include "hone/labs/subject.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/data/synthetic_words.h"
#include "hone/jobs/fine_tune.h"
#include "hone/jobs/model_card.h"
#include "hone/models/vocabulary.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kShape = "tiny";
constexpr const char* kModelFolder = "model";

/// Substitute data at a fidelity: the number of texts, each seen once, and of those evaluated.
struct StandIn {
  std::int64_t texts;
  std::int64_t steps;
  std::int64_t eval_samples;  // 0: all
};
constexpr StandIn kStandIns[] = {{20'000, 280, 2'000}, {60'000, 840, 10'000}, {200'000, 2'800, 0}};

const StandIn& stand_in(Fidelity fidelity) { return kStandIns[static_cast<std::size_t>(fidelity)]; }

JobData data_of(const JobData& given, Fidelity fidelity, std::vector<std::string>& notes) {
  JobData data = given;
  if (data.options.source.empty()) {
    data.options.source = fmt::format("synth:tail?seed=7&n={}", stand_in(fidelity).texts);
    notes.push_back(fmt::format(
        "no data was given, so the lab uses built-in texts ({}); use your own with `data`",
        data.options.source));
  }
  if (data.max_eval_samples == 0) data.max_eval_samples = stand_in(fidelity).eval_samples;
  return data;
}

LabSubject given_subject(const std::string& model, const JobData& data, std::uint64_t seed,
                         std::vector<std::string> notes, Context& context) {
  TextModel source = open_model(model, context, seed);
  check_not_packed(source.model, model);
  check_unquantized(source.model, model);
  EncodedSplits encoded =
      load_encoded(source, model, data, "", seed, MetricsOf::candidates, context, notes);
  return {.name = model,
          .source = std::move(source),
          .data = std::move(encoded),
          .data_source = data.options.source,
          .notes = std::move(notes)};
}

LabSubject fresh_subject(const JobData& data, Fidelity fidelity, std::uint64_t seed,
                         std::vector<std::string> notes, Context& context) {
  Splits splits = load_splits(data, seed, KnownLabels{}, TrainedOn{}, DataUse::training, context);
  check_trainable(splits);
  const std::optional<LearnedVocabulary> vocabulary = learn_vocabulary(
      {.model = kShape, .data = data.options.source}, splits.source.train, context);
  TextModel source = make_model(kShape, vocabulary ? vocabulary->tokenizer : synthetic_tokenizer(),
                                context, seed, splits.source.scheme());
  source.trained_on =
      after_training(TrainedOn{}, splits.identity.hash, row_hashes(splits.source.train),
                     row_hashes(splits.source.validation));
  std::vector<std::string> warnings = splits.source.warnings;
  EncodedSplits encoded =
      encode_splits(source, splits, evaluation_examples(splits, "", source.trained_on),
                    source.trained_on, data.cut, context, warnings);
  print_warnings(context, warnings);
  const LabTraining training{.steps = stand_in(fidelity).steps};
  notes.push_back(fmt::format(
      "no model was given, so the lab trains one of bert-tiny's shape with {} tokens for "
      "{} "
      "steps of {} texts; use your own with `model`",
      grouped(source.tokenizer.vocabulary_size()), grouped(training.steps), training.batch));
  print_notes(context, {notes.back()});
  notes.insert(notes.end(), warnings.begin(), warnings.end());
  return {.name = "a model trained here",
          .source = std::move(source),
          .data = std::move(encoded),
          .data_source = data.options.source,
          .training = training,
          .notes = std::move(notes)};
}

}  // namespace

std::string_view to_string(Fidelity fidelity) {
  return kFidelities[static_cast<std::size_t>(fidelity)];
}

std::span<const EnumName> enum_names(Fidelity) {
  static constexpr EnumName kWords[] = {{static_cast<int>(Fidelity::quick), kFidelities[0]},
                                        {static_cast<int>(Fidelity::paper), kFidelities[1]},
                                        {static_cast<int>(Fidelity::full), kFidelities[2]}};
  return kWords;
}

Fidelity parse_fidelity(std::string_view word) {
  const auto found = std::ranges::find(kFidelities, word);
  user_check(found != std::end(kFidelities), "expected quick, paper or full, got '{}'", word);
  return static_cast<Fidelity>(found - std::begin(kFidelities));
}

LabSubject lab_subject(const std::string& model, const JobData& data, Fidelity fidelity,
                       std::uint64_t seed, Context& context) {
  user_check(model.empty() || !data.options.source.empty(),
             "{}: a lab with your own model needs data of its task; give it with `data` (the "
             "built-in data is `data` synth:tail?seed=7&n={})",
             model, stand_in(fidelity).texts);
  std::vector<std::string> notes;
  const JobData whole = data_of(data, fidelity, notes);
  print_notes(context, notes);
  return model.empty() ? fresh_subject(whole, fidelity, seed, std::move(notes), context)
                       : given_subject(model, whole, seed, std::move(notes), context);
}

double mean_tokens(const EncodedSet& set) {
  double tokens = 0;
  for (const auto& ids : set.ids) tokens += static_cast<double>(ids.size());
  return set.ids.empty() ? 0 : tokens / static_cast<double>(set.ids.size());
}

Json train_subject(LabSubject& subject, const JobResume& resume, std::uint64_t seed,
                   const std::string& command, OutputFolder& output, Context& context) {
  FineTuneOptions options;
  options.training.max_steps = subject.training->steps;
  options.training.batch_size = subject.training->batch;
  options.training.optimizer.learning_rate = subject.training->learning_rate;
  options.training.seed = seed;
  options.training.eval_steps = subject.training->steps;
  options.checkpoints = checkpoints_by_name(resume, subject.source, output)(kModelFolder);
  // It is evaluated later; evaluations during training would choose nothing.
  EncodedSplits learned_from = subject.data;
  learned_from.validation = {};
  TrainingLog log;
  const FineTuneResult tuned = fine_tune(subject.source.model, learned_from, options, log, context);
  const fs::path folder = output.path() / kModelFolder;
  fs::create_directories(folder);
  write_model(subject.source, folder);
  const CardFacts facts =
      facts_of_training(subject_result(kShape, subject.data.identity, subject.data.measured), seed,
                        tuned.training.steps, tuned.weights_of_step);
  write_model_card({kModelFolder, command, facts}, subject.source.model, folder);
  open_trained(subject, output, context);
  return {{"steps", tuned.training.steps},
          {"train_loss", tuned.training.mean_loss},
          {"train_runtime", tuned.training.seconds}};
}

void open_trained(LabSubject& subject, const OutputFolder& output, Context& context) {
  subject.source = open_model((output.path() / kModelFolder).string(), context, 0);
}

}  // namespace hone
