#pragma once

#include <string>
#include <vector>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/analysis/sparsity.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"

namespace hone {

/// A model to inspect.
struct InspectJob {
  std::string model;  ///< as `open_model` takes it
  std::int64_t batch = 8,
               tokens =
                   0;  ///< batch size and tokens per text, for the costs; 0: see `tokens_of_run`
  std::vector<std::string> freeze = {};  ///< globs of parameters that training would not change
  bool verify = false;                   ///< first compare every file of the folder with its record
  /// How bits are counted.
  BitCount bit_count = BitCount::stored;
  std::string csv = {};  ///< file for the table of modules; empty: none
  bool overwrite = false;
  std::uint64_t seed = 42;
};

struct InspectResult : JobResult {
  std::string graph;  ///< as text, of training
  std::vector<ModuleParameters> modules;
  ParameterTotals totals;
  double flops = 0;           ///< of one run, see `product_flops`
  double training_flops = 0;  ///< of one training step, the same way
  Cost inference;             ///< of one run, after the passes for inference
  Cost training_step;         ///< of one with AdamW; if all is frozen, of the loss
  AverageBits bits;           ///< of one inference run
  std::vector<Zeros> zeros;   ///< of every parameter, packed ones decoded
};

/// Counts a model's parameters, operations and memory, and returns its graph with its history. Throws `UserError`, as
/// `open_model` and `freeze` do, and if a file is not as it was written.
InspectResult inspect_model(const InspectJob& job, Context& context);

}  // namespace hone
