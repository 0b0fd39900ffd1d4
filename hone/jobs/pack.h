#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/recipe.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/memory_account.h"
#include "hone/runtime/context.h"

/// Packs the weights of models into the codes of their formats, and unpacks them.
namespace hone {

/// Which model to pack, how, and where to write the result.
struct PackJob {
  std::string model;  ///< as `open_model` takes it
  /// The formats to round the weights to first, without training; none: those that the model has.
  std::optional<Recipe> recipe = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
};

/// The result of `pack` for programs.
struct PackFields {
  std::string model, arithmetic;
  bool rounded = false;
  MemoryAccountResult account = {};
  std::string output = {};
};
const Fields& fields_of(const PackFields*);

struct PackResult : JobResult {
  MemoryAccount account;  ///< of the packed model
};

/// Writes a copy of the model whose quantized weights are stored in the codes of their formats (passes/pack.h), with the same
/// values. Throws `UserError` for a model without formats where none are given, for formats whose ranges are calibrated on
/// examples (`quantize` does that), where no weight has a packed form, and as `open_model` and `resolve`.
PackResult pack_model(const PackJob& job, Context& context);

/// Which packed model to unpack, and where to write the result.
struct UnpackJob {
  std::string model;
  /// For programs that read only a config and fp32 weights, as `for_other_programs` does: without quantizers.
  bool loadable = false;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the job
};

/// The result of `unpack` for programs.
struct UnpackFields {
  std::string model, arithmetic;
  ModelSize size = {};
  std::optional<EncoderShapes> shapes = {};
  std::vector<std::string> shape_passes = {};
  LoadingResult loading = {};
  std::string output = {};
};
const Fields& fields_of(const UnpackFields*);

/// Writes a copy of a packed model with fp32 weights behind its quantizers, and reports which programs load it
/// (`transformers_loading`). With `loadable` also of a model that is not packed, where that makes transformers load it. Throws
/// `UserError` for other models that are not packed, and with `loadable` for one that no config builds.
JobResult unpack_model(const UnpackJob& job, Context& context);

}  // namespace hone
