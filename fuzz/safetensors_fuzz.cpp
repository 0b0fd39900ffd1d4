#include "fuzz/targets.h"
#include "hone/tensor/safetensors.h"

namespace hone::fuzz {

void safetensors(std::string_view bytes) {
  const Safetensors file = read_safetensors(SharedBytes{bytes, nullptr});
  for (const auto& [name, tensor] : file.tensors) tensor.contiguous_copy();
}

}  // namespace hone::fuzz
