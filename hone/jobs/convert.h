#pragma once

#include <string>
#include <vector>

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
  std::vector<ConvertedTensor> tensors;
  std::vector<std::string> copied;  ///< paths in `output` of the files that were copied
  std::uint64_t bytes = 0;          ///< of the elements that were written
};

/// Writes the weights in `model` (in any layout of checkpoint.h, of any architecture) as
/// `output`/model.safetensors, elements as they are, and copies what stands beside them: config,
/// tokenizer, README, and what the model was trained on where that is believed (see trained_on.h). Of a sentence model the
/// encoder is converted, and its modules go along. Of tensors that share all their memory the first by name is written; the
/// header's metadata tells the others, as Hugging Face's own converter does. Tensors that share a part of
/// their memory are written out each. `output` must exist. Throws `UserError`.
Conversion convert_weights(const fs::path& model, const fs::path& output);

}  // namespace hone
