#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hone/base/fields.h"
#include "hone/models/model_source.h"

namespace hone {

/// The sizes of a model's weights, and their sizes in the formats of its plan. Quantization is simulated: until weights
/// are packed (jobs/pack.h), a quantized model is not smaller.
struct ModelSize {
  std::int64_t parameters = 0;             ///< elements, without the state of quantizers
  std::int64_t memory_bytes = 0;           ///< in memory: fp32, with the state of quantizers
  std::optional<std::int64_t> disk_bytes;  ///< of the files that they were read from or written to
  std::int64_t stored_bytes = 0;           ///< the size in reports: see hone::stored_bytes
  /// Planned: in their formats, 32 bits without one, including zeros. For the file of `hone pack` see
  /// `bytes_when_packed`.
  std::int64_t packed_bytes = 0;
  std::int64_t packed_embedding_bytes = 0;  ///< of these, the embedding tables
  bool quantized = false;
  bool packed = false;  ///< its weights are stored in their formats
  bool embeddings_quantized = false;
};

/// `folder`: the model's folder, empty if it was never saved.
ModelSize model_size(const Model& model, const fs::path& folder);

/// Returns the bytes of the weights in the file that `hone pack` writes for a model, or that a packed model has.
SavedBytes bytes_when_packed(Model model, ThreadPool& pool);

/// Returns the bytes of the weight files in a folder; nothing if there are none.
std::optional<std::int64_t> weight_file_bytes(const fs::path& folder);

/// Returns one or two sentences with full stops: "Weights: 16.7 MiB in memory, 16.7 MiB on disk (simulated: not smaller
/// yet); packed they would take 15.4 MiB. …". Mentions embeddings if they are at least half of that.
std::string to_text(const ModelSize& size);

const Fields& fields_of(const ModelSize*);

}  // namespace hone
