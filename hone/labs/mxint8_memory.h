#pragma once

#include "hone/labs/lab.h"
#include "hone/models/memory_account.h"

/// Of lab 4.3: what packing saves of models, by the formula, in memory, on disk and in a process, and each reason for the
/// difference.
namespace hone {

/// The blocks of the format that the lab packs weights in, MXINT8.
inline constexpr std::int64_t kLabBlock = 32;

/// Runs of a process after the first, of which the fastest counts.
inline constexpr int kTimedRuns = 3;

/// A model that fresh weights are made for.
struct ModelShape {
  std::string name;  ///< of its stage and its figure: "bert-base"
  std::string what;  ///< "BERT-base: 12 layers of 768, 30,522 tokens"
  ModelFacts facts;
};

/// Made-up models by their names: bert-tiny, bert-base, deberta-xlarge-size. Throws `UserError` for another.
ModelShape made_up_shape(const std::string& name);

/// A stage for the shape of the run's model, and one for each of `shapes` that fits into memory; what does not is said.
std::vector<LabStage> memory_stages(const LabRun& run, const std::vector<std::string>& shapes);

/// Which weights are packed.
enum class PackedWeights : std::uint8_t {
  linear_layers,     ///< all of them but the classifier
  embedding_tables,  ///< these too, and the classifier
};
std::span<const EnumWord> enum_words(PackedWeights);
/// For people.
std::string_view to_string(PackedWeights weights);

/// A parameter that stays in fp32.
struct Fp32Parameter {
  std::string parameter;
  std::vector<std::int64_t> shape = {};
  std::int64_t bytes = 0;
};
/// A shape packed by a rule.
struct LabPackingResult {
  PackedWeights rule = PackedWeights::linear_layers;
  MemoryAccountResult account = {};
  std::optional<std::vector<Fp32Parameter>> fp32_parameters = {};

  double saving() const { return account.memory_saving; }
  std::int64_t bytes() const { return account.memory_bytes; }
};
/// A process that loads weights from a file and reads one text, several times.
struct LabProcessResult {
  std::string what;
  std::int64_t tokens = 0, value_bytes = 0, workspace_bytes = 0, resident_bytes = 0;
  double seconds = 0;

  std::int64_t run_bytes() const { return value_bytes + workspace_bytes; }
};
/// Rows of the embedding table of words that the training texts read, and what the others take.
struct LabVocabularyResult {
  std::string embedding_table;
  std::int64_t rows = 0, used_rows = 0;
  std::int64_t unused_bytes = 0, unused_packed_bytes = 0;
  std::int64_t test_tokens = 0, unused_test_tokens = 0;
};
/// What packing saves of one shape of models.
struct LabMemoryResult {
  std::string shape, what, device;
  int threads = 0;
  std::int64_t parameters = 0;
  std::vector<LabPackingResult> rules = {};      ///< as `PackedWeights` has them
  std::vector<LabProcessResult> processes = {};  ///< fp32, packed by each rule, unpacked as a whole
  std::optional<LabVocabularyResult> vocabulary = {};
};
const Fields& fields_of(const Fp32Parameter*);
const Fields& fields_of(const LabPackingResult*);
const Fields& fields_of(const LabProcessResult*);
const Fields& fields_of(const LabVocabularyResult*);
const Fields& fields_of(const LabMemoryResult*);

/// What the stages have found; the first is of the run's model.
std::vector<LabMemoryResult> memory_results(const LabRun& run);
/// Their report; figures and tables are written to the folder of the run.
LabPart memory_part(const std::vector<LabMemoryResult>& shapes, const LabRun& run);

}  // namespace hone
