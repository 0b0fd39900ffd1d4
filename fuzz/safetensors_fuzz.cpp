#include "fuzz/targets.h"
#include "hone/tensor/bitmaps.h"

namespace hone::fuzz {

void safetensors(std::string_view bytes) {
  Safetensors file = read_safetensors(SharedBytes{bytes, nullptr});
  restore_bitmaps(file);
  for (const auto& [name, tensor] : file.tensors) tensor.contiguous_copy();
}

}  // namespace hone::fuzz
