#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/archive.h"

namespace hone::fuzz {

void archive(std::string_view bytes) {
  const SharedBytes file{bytes, nullptr};
  for (const auto& [name, entry] : read_archive(bytes)) {
    const StoragePointer content = unpack(file, entry, DType::u8);
    HONE_ASSERT(content->size_bytes == entry.size_bytes, "entry {} has another size", name);
  }
}

}  // namespace hone::fuzz
