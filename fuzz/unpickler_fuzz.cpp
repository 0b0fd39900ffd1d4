#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/unpickler.h"

namespace hone::fuzz {

void unpickler(std::string_view bytes) {
  const Pickle pickle = unpickle(bytes);
  HONE_ASSERT(pickle.root != nullptr && pickle.size_bytes <= bytes.size(), "a pickle without end");
  for (const PickleValue& value : pickle.values) {
    const auto* tensor = value.as<std::unique_ptr<const TensorRecord>>();
    if (tensor == nullptr) continue;
    const TensorRecord& record = **tensor;
    HONE_ASSERT(record.sizes.size() == record.strides.size(), "strides for other dimensions");
    HONE_ASSERT(record.offset <= record.storage.count, "a tensor outside of its storage");
  }
}

}  // namespace hone::fuzz
