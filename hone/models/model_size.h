#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "hone/base/fields.h"
#include "hone/models/model_source.h"

namespace hone {

/// What the weights of a model take, and what they would take in the formats of its plan. Quantizing is simulated: until
/// weights are packed (jobs/pack.h), a quantized model takes what it took before.
struct ModelSize {
  std::int64_t parameters = 0;             ///< elements, the state of quantizers aside
  std::int64_t memory_bytes = 0;           ///< as they are held: fp32, with the state of quantizers
  std::optional<std::int64_t> disk_bytes;  ///< of the files they were read from or written to
  std::int64_t stored_bytes = 0;           ///< what reports call the size: see hone::stored_bytes
  /// Planned: in their formats, 32 bits where they have none, with all zeros. The file of `hone pack`: `saved_when_packed`.
  std::int64_t packed_bytes = 0;
  std::int64_t packed_embedding_bytes = 0;  ///< of these, all tables of embeddings
  bool quantized = false;
  bool packed = false;  ///< its weights are kept in their formats
  bool embeddings_quantized = false;
};

/// `folder` is where the model lies; empty for one that was never saved.
ModelSize model_size(const Model& model, const fs::path& folder);

/// Bytes of the weights in the file that `hone pack` makes of a model, or that a packed one has.
SavedBytes saved_when_packed(Model model, ThreadPool& pool);

/// What the files of weights in a folder take; none where there are none.
std::optional<std::int64_t> weight_file_bytes(const fs::path& folder);

/// One or two sentences, ending in a full stop: "Weights: 16.7 MiB in memory, 16.7 MiB on disk (simulated: not smaller
/// yet); packed they would take 15.4 MiB. …". Says where embeddings are half of that or more.
std::string to_text(const ModelSize& size);

const Fields& fields_of(const ModelSize*);

}  // namespace hone
