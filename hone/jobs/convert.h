#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hone/base/fields.h"
#include "hone/jobs/job_output.h"
#include "hone/jobs/job_result.h"
#include "hone/runtime/context.h"
#include "hone/tensor/safetensors.h"

/// Conversion of the weights of any model to safetensors.
namespace hone {

/// One tensor of the result.
struct ConvertedTensor {
  std::string name;
  DType dtype = DType::f32;
  Sizes sizes;
  /// The tensor that is stored in place of this one, with the same elements in the same order; empty: this one is
  /// stored.
  std::string same_as;
};

struct Conversion {
  std::string source;  ///< the file or index that was read
  std::string file;    ///< the written file
  std::vector<ConvertedTensor> tensors;
  std::vector<std::string> copied;  ///< paths in `output` of the files that were copied
  std::uint64_t bytes = 0;          ///< of the written elements
};

/// Writes the weights in `model` (in any layout of checkpoint.h, of any architecture) to `output`/model.safetensors
/// with unchanged elements. A model that only hone can build keeps parameters.safetensors, where other programs do not
/// look for weights. Copies config, tokenizer and README, and the record of training data if it is valid (see
/// trained_on.h). For a sentence model, converts the encoder and copies its modules. Of tensors that share all their
/// memory, only the first by name is written; the header's metadata lists the others, as in Hugging Face's converter.
/// Tensors that share part of their memory are each written in full. `output` must exist. Throws `UserError`.
Conversion convert_weights(const fs::path& model, const fs::path& output);

/// A model to convert.
struct ConvertJob {
  std::string model;  ///< see `find_model`
  JobOutput output;
};

/// A tensor in the result.
struct ConvertedTensorResult {
  std::string tensor, type;
  std::vector<std::int64_t> shape = {};
  std::optional<std::int64_t> bytes = {};
  std::optional<std::string> same_as = {};
};
/// The JSON result.
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

/// Writes a converted copy of a model without a report. Throws `UserError` like `convert_weights` and `find_model`.
ConvertResult convert_model(const ConvertJob& job, const Context& context);

}  // namespace hone
