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

/// Packing of model weights into the codes of their formats, and unpacking.
namespace hone {

/// A model to pack.
struct PackJob {
  std::string model;  ///< see `open_model`
  /// Formats to round the weights to first, without training; empty: the model's own.
  std::optional<Recipe> recipe = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< seed of fresh weights
  Invocation invocation = {};  ///< for the report and the job record
};

/// The JSON result of `pack`.
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

/// Writes a copy of the model with quantized weights stored in the codes of their formats (passes/pack.h), with the
/// same values. Throws `UserError` for a model without formats if none are given, for formats whose ranges are
/// calibrated on examples (use `quantize`), if no weight has a packed form, and like `open_model` and `resolve`.
PackResult pack_model(const PackJob& job, Context& context);

/// A packed model to unpack.
struct UnpackJob {
  std::string model;
  /// Remove the quantizers for programs that read only a config and fp32 weights, as `for_other_programs` does.
  bool loadable = false;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the job record
};

/// The JSON result of `unpack`.
struct UnpackFields {
  std::string model, arithmetic;
  ModelSize size = {};
  std::optional<EncoderShapes> shapes = {};
  std::vector<std::string> shape_passes = {};
  LoadingResult loading = {};
  std::string output = {};
};
const Fields& fields_of(const UnpackFields*);

/// Writes a copy of a packed model with fp32 weights and its quantizers, and reports which programs load it
/// (`transformers_loading`). `loadable` also accepts an unpacked model if that makes transformers load it. Throws
/// `UserError` for other unpacked models, and with `loadable` for a model that no config builds.
JobResult unpack_model(const UnpackJob& job, Context& context);

}  // namespace hone
