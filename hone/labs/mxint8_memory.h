#pragma once

#include "hone/labs/lab.h"
#include "hone/models/memory_account.h"

/// Part of lab 4.3: savings of packing a model, by the formula, in memory, on disk and in a process, and each reason
/// for the difference.
namespace hone {

/// The block size of the lab's weight format, MXINT8.
inline constexpr std::int64_t kLabBlock = 32;

/// Runs of a process after the first one; the fastest counts.
inline constexpr int kTimedRuns = 3;

/// The shape of a model with fresh weights.
struct ModelShape {
  std::string name;  ///< also of its stage and figure: "bert-base"
  std::string what;  ///< "BERT-base: 12 layers of 768, 30,522 tokens"
  ModelFacts facts;
};

/// Returns the made-up shape of this name: bert-tiny, bert-base, deberta-xlarge-size. Throws `UserError` for another
/// name.
ModelShape made_up_shape(const std::string& name);

/// Returns a stage for the shape of the run's model, and one for each of `shapes` that fits into memory. Reports those
/// that do not fit.
std::vector<LabStage> memory_stages(const LabRun& run, const std::vector<std::string>& shapes);

enum class PackedWeights : std::uint8_t {
  linear_layers,     ///< all linear layers but the classifier
  embedding_tables,  ///< embedding tables too, and the classifier
};
std::span<const EnumName> enum_names(PackedWeights);
/// Returns a readable name.
std::string_view to_string(PackedWeights weights);

/// A parameter that stays in fp32.
struct Fp32Parameter {
  std::string parameter;
  std::vector<std::int64_t> shape = {};
  std::int64_t bytes = 0;
};
/// A shape packed with one choice of weights.
struct LabPackingResult {
  PackedWeights rule = PackedWeights::linear_layers;
  MemoryAccountResult account = {};
  std::optional<std::vector<Fp32Parameter>> fp32_parameters = {};

  double saving() const { return account.memory_saving; }
  std::int64_t bytes() const { return account.memory_bytes; }
};
/// A process that loads weights from a file and runs on one text several times.
struct LabProcessResult {
  std::string what;
  std::int64_t tokens = 0, value_bytes = 0, workspace_bytes = 0, resident_bytes = 0;
  double seconds = 0;

  std::int64_t run_bytes() const { return value_bytes + workspace_bytes; }
};
/// The rows of the word embedding table that the training texts use, and the size of the others.
struct LabVocabularyResult {
  std::string embedding_table;
  std::int64_t rows = 0, used_rows = 0;
  std::int64_t unused_bytes = 0, unused_packed_bytes = 0;
  std::int64_t test_tokens = 0, unused_test_tokens = 0;
};
/// The savings of packing a model of one shape.
struct LabMemoryResult {
  std::string shape, what, device;
  int threads = 0;
  std::int64_t parameters = 0;
  std::vector<LabPackingResult> rules = {};  ///< in the order of `PackedWeights`
  std::vector<LabProcessResult> processes =
      {};  ///< fp32, packed by each rule, each weight decoded as a whole
  std::optional<LabVocabularyResult> vocabulary = {};
};
const Fields& fields_of(const Fp32Parameter*);
const Fields& fields_of(const LabPackingResult*);
const Fields& fields_of(const LabProcessResult*);
const Fields& fields_of(const LabVocabularyResult*);
const Fields& fields_of(const LabMemoryResult*);

/// Returns the results of the stages; the first is about the run's model.
std::vector<LabMemoryResult> memory_results(const LabRun& run);
/// Returns their report; writes figures and tables to the folder of the run.
LabPart memory_part(const std::vector<LabMemoryResult>& shapes, const LabRun& run);

}  // namespace hone
