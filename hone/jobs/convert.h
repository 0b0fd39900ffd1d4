#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"
#include "hone/tensor/safetensors.h"

/// Weights of any model, rewritten as safetensors.
namespace hone {

/// One tensor of the result.
struct ConvertedTensor {
  std::string name;
  DType dtype = DType::f32;
  Sizes sizes;
  /// The tensor whose elements this one is, all of them in the same order; it is not written a
  /// second time. Empty: written.
  std::string same_as;
};

struct Conversion {
  std::string source;  ///< the file or index that was read
  std::string file;    ///< that was written
  std::vector<ConvertedTensor> tensors;
  std::vector<std::string> copied;  ///< paths in `output` of the files that were copied
  std::uint64_t bytes = 0;          ///< of the elements that were written
};

/// Writes the weights in `model` (in any layout of checkpoint.h, of any architecture) as `output`/model.safetensors, elements
/// unchanged. A model that only hone builds keeps parameters.safetensors, where other programs do not look for weights. Copies
/// config, tokenizer and README, and the record of training data where it is valid (see trained_on.h). For a sentence model,
/// converts the encoder and copies its modules. Of tensors that share all their memory, the first by name is written and the
/// others are listed in the header's metadata, as in Hugging Face's converter. Tensors that share some of their memory are each
/// written in full. `output` must exist. Throws `UserError`.
Conversion convert_weights(const fs::path& model, const fs::path& output);

/// Which model to convert, and where to write the result.
struct ConvertJob {
  std::string model;  ///< as `find_model` takes it
  JobOutput output;
};

/// A tensor in the result.
struct ConvertedTensorResult {
  std::string tensor, type;
  std::vector<std::int64_t> shape = {};
  std::optional<std::int64_t> bytes = {};
  std::optional<std::string> same_as = {};
};
/// The result for programs.
struct ConvertFields {
  std::string model, source;
  std::vector<ConvertedTensorResult> tensors = {};
  std::vector<std::string> copied = {};
  std::uint64_t bytes = 0;
};
const Fields& fields_of(const ConvertedTensorResult*);
const Fields& fields_of(const ConvertFields*);

struct ConvertResult : JobResult {
  Conversion conversion;
};

/// Writes a copy of a model as `convert_weights` does, without a report. Throws `UserError`, as that and `find_model` do.
ConvertResult convert_model(const ConvertJob& job, const Context& context);

}  // namespace hone
