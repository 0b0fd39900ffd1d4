#pragma once

#include <functional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/jobs/job_output.h"
#include "hone/report/text_layout.h"
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

/// Writes the weights in `model` (in any layout of checkpoint.h, of any architecture) as
/// `output`/model.safetensors (of a model that only this program builds parameters.safetensors again, where others do not
/// look for weights that they would miss), elements as they are, and copies what stands beside them: config,
/// tokenizer, README, and what the model was trained on where that is believed (see trained_on.h). Of a sentence model the
/// encoder is converted, and its modules go along. Of tensors that share all their memory the first by name is written; the
/// header's metadata tells the others, as Hugging Face's own converter does. Tensors that share a part of
/// their memory are written out each. `output` must exist. Throws `UserError`.
Conversion convert_weights(const fs::path& model, const fs::path& output);

/// Which model is to be rewritten, and where to.
struct ConvertJob {
  std::string model;  ///< as `find_model` takes it
  JobOutput output;
};

struct ConvertResult {
  Conversion conversion;
  Json fields;  ///< what programs read, see `result_of`
  /// The same for people.
  std::function<std::string(const TextStyle&)> text;
};

/// Writes a copy of a model as `convert_weights` does. Throws `UserError`, as that and `find_model` do.
ConvertResult convert_model(const ConvertJob& job, const Context& context);

}  // namespace hone
