#pragma once

#include "hone/labs/lab.h"

/// Of lab 4.3: what packing saves of models, by the formula, in memory, on disk and in a process, and each reason for the
/// difference.
namespace hone {

/// The blocks of the format that the lab packs weights in, MXINT8.
inline constexpr std::int64_t kLabBlock = 32;

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

/// What the names of these stages begin with.
inline constexpr std::string_view kMemoryStages = "memory-";
/// What is packed, for people, by a rule as the stages call it.
std::string_view packing_rule_name(std::string_view key);

/// What the stages have found, told; figures and tables lie in the folder of the run.
LabPart memory_part(const LabRun& run);

}  // namespace hone
