#pragma once

#include <functional>
#include <optional>
#include <string>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/jobs/recipe.h"
#include "hone/models/memory_account.h"
#include "hone/report/text_layout.h"
#include "hone/runtime/context.h"

/// Models whose bytes are really small, and back.
namespace hone {

/// Which model is to be packed, how, and where to.
struct PackJob {
  std::string model;  ///< as `open_model` takes it
  /// The formats that weights take first, by rounding alone; none: those that the model has.
  std::optional<Recipe> recipe = {};
  JobOutput output;
  std::uint64_t seed = 42;     ///< of fresh weights
  Invocation invocation = {};  ///< for the report and the record of the job
};

struct PackResult {
  MemoryAccount account;                              ///< of what was written
  Json fields;                                        ///< what programs read, see `result_of`
  std::function<std::string(const TextStyle&)> text;  ///< the same for people
};

/// Writes a copy of the model whose quantized weights are kept in the codes of their formats (passes/pack.h): the same
/// values, so the same answers. Throws `UserError` for a model without formats where none are given, for formats that want
/// ranges from texts (which `quantize` gives them), where nothing has a packed form, and as `open_model` and `resolve`.
PackResult pack_model(const PackJob& job, Context& context);

/// Which packed model is to be unpacked, and where to.
struct UnpackJob {
  std::string model;
  /// For programs that know a config and fp32 weights alone, as `for_other_programs` has it: without quantizers.
  bool loadable = false;
  JobOutput output;
  Invocation invocation = {};  ///< for the report and the record of the job
};

struct UnpackResult {
  Json fields;
  std::function<std::string(const TextStyle&)> text;
};

/// Writes a copy of a packed model with its weights in fp32 behind the quantizers they had, and says who can load it
/// (`transformers_loading`). Throws `UserError` for a model that is not packed, and with `loadable` for one that no config builds.
UnpackResult unpack_model(const UnpackJob& job, Context& context);

}  // namespace hone
