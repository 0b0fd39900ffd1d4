#include "fuzz/targets.h"
#include "hone/frontends/huggingface/archive.h"
#include "hone/frontends/huggingface/torch_file.h"

namespace hone::fuzz {

void torch_file(std::string_view bytes) {
  std::uint64_t size_bytes = 0;
  for (const auto& [name, tensor] : read_torch_file(SharedBytes{bytes, nullptr}))
    size_bytes += tensor.contiguous_copy().size_bytes();
  HONE_ASSERT(size_bytes <= kMaxExpansion * bytes.size(), "{} bytes of tensors from {}", size_bytes,
              bytes.size());
}

}  // namespace hone::fuzz
