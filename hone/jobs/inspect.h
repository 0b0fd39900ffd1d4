#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/analysis/cost.h"
#include "hone/analysis/parameters.h"
#include "hone/analysis/precision.h"
#include "hone/analysis/sparsity.h"
#include "hone/base/fields.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"

namespace hone {

/// A model to inspect.
struct InspectJob {
  std::string model;  ///< see `open_model`
  std::int64_t batch = 8,
               tokens = 0;               ///< for the costs; tokens per text, 0: see `tokens_of_run`
  std::vector<std::string> freeze = {};  ///< globs of parameters that training should not change
  bool verify = false;  ///< first compare every file of the folder with its checksum record
  /// How bits are counted.
  BitCount bit_count = BitCount::stored;
  std::string csv = {};  ///< file for the table of modules; empty: none
  bool overwrite = false;
  std::uint64_t seed = 42;
};

std::span<const EnumName> enum_names(BitCount);

/// Parameters of a module in the result.
struct ModuleParametersResult {
  std::string module;
  std::int64_t parameters = 0, trainable = 0, frozen = 0;
  double zero_share = 0;
};
/// Limits of a model's inputs, texts or images, in the result.
struct InputLimitsResult {
  std::optional<std::int64_t> tokens = {}, vocabulary = {}, token_types = {};
  std::optional<std::string> truncation = {};
  std::optional<std::int64_t> channels = {}, height = {}, width = {};
};
/// `AverageBits` in the result.
struct AverageBitsResult {
  BitCount counted = BitCount::stored;
  double weights = 32, all_parameters = 32;
  std::int64_t quantized_parameters = 0;
  double data = 32;
};
/// The JSON result.
struct InspectFields {
  std::string model, architecture;
  std::vector<std::string> labels = {};
  std::optional<std::string> task = {};
  InputLimitsResult limits = {};
  std::vector<std::string> history = {};
  bool history_complete = true;
  std::string graph;
  std::vector<ModuleParametersResult> modules = {};
  std::int64_t parameters = 0, trainable_parameters = 0, frozen_parameters = 0, zeros = 0;
  AverageBitsResult bits = {};
  std::int64_t batch = 0, tokens = 0;
  double flops = 0, computed_flops = 0;
  double training_step_flops = 0, training_step_computed_flops = 0;
  std::int64_t parameter_bytes = 0, inference_peak_value_bytes = 0;
  std::int64_t training_parameter_bytes = 0, training_moment_bytes = 0;
  std::int64_t training_peak_gradient_bytes = 0, training_peak_value_bytes = 0;
  std::optional<std::int64_t> verified_files = {};
};
const Fields& fields_of(const ModuleParametersResult*);
const Fields& fields_of(const InputLimitsResult*);
const Fields& fields_of(const AverageBitsResult*);
const Fields& fields_of(const InspectFields*);

struct InspectResult : JobResult {
  std::string graph;  ///< training graph, as text
  std::vector<ModuleParameters> modules;
  ParameterTotals totals;
  double flops = 0;           ///< of one run, see `product_flops`
  double training_flops = 0;  ///< of one training step, by the same definition
  Cost inference;             ///< of one run, after the passes for inference
  Cost training_step;         ///< with AdamW; if all parameters are frozen, of the loss
  AverageBits bits;           ///< of one inference run
  std::vector<Zeros> zeros;   ///< of every parameter, packed ones decoded
};

/// Counts a model's parameters, operations and memory, and returns its graph with its history. Throws `UserError` like
/// `open_model` and `freeze`, and if a file does not match its record.
InspectResult inspect_model(const InspectJob& job, Context& context);

}  // namespace hone
