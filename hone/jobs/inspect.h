#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/analysis/sparsity.h"
#include "hone/base/json.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

namespace hone {

/// Which model is to be looked at.
struct InspectJob {
  std::string model;  ///< as `open_model` takes it
  std::int64_t
      batch = 8,
      tokens = 0;  ///< texts of a run and tokens of a text, for the costs; 0: see `tokens_of_run`
  std::vector<std::string> freeze =
      {};  ///< globs of parameters that training would leave as they are
  bool verify =
      false;  ///< first compare every file of the folder with what its record says was written
  /// How bits are counted.
  BitCount bit_count = BitCount::stored;
  std::string csv = {};  ///< file for the table of modules; empty: none
  bool overwrite = false;
  std::uint64_t seed = 42;
};

struct InspectResult {
  std::string graph;  ///< as text, as it is trained
  std::vector<ModuleParameters> modules;
  ParameterTotals totals;
  double flops = 0;           ///< of one run, see `product_flops`
  double training_flops = 0;  ///< of one training step, the same way
  Cost inference;             ///< of one run, as it is prepared for that
  Cost training_step;         ///< of one with AdamW; where all is frozen, of the loss
  AverageBits bits;           ///< of a run of inference
  std::vector<Zeros> zeros;   ///< of every parameter, packed ones decoded
  Json fields;                ///< what programs read, see `result_of`
  /// The same for people, without the graph.
  std::function<std::string(const TextStyle&)> text;
};

/// Tells what a model is: its graph and history, parameters, operations and memory. Throws `UserError`, as `open_model` and
/// `freeze` do, and where a file is not as it was written.
InspectResult inspect_model(const InspectJob& job, Context& context);

}  // namespace hone
