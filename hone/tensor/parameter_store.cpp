#include "hone/tensor/parameter_store.h"

#include <utility>

#include "hone/tensor/mapped.h"

#include <algorithm>
#include <bit>

#include "hone/tensor/dense.h"

namespace hone {

const Tensor& ParameterStore::at(std::string_view name) const {
  const auto found = tensors_.find(name);
  user_check(found != tensors_.end(), "the model has no parameter called '{}'", name);
  return found->second;
}

void ParameterStore::set(std::string_view name, Tensor tensor) {
  tensors_.insert_or_assign(std::string(name), std::move(tensor));
}

void ParameterStore::erase(std::string_view name) {
  const auto found = tensors_.find(name);
  if (found != tensors_.end()) tensors_.erase(found);
}

Tensor& ParameterStore::writable(std::string_view name) {
  const auto found = tensors_.find(name);
  user_check(found != tensors_.end(), "the model has no parameter called '{}'", name);
  Tensor& tensor = found->second;
  if (tensor.storage().use_count() > 1 || tensor.storage()->read_only) {
    const Tensor original = std::exchange(tensor, tensor.copy_to(tensor.device()));
    release_pages(original);
  }
  tensor.storage()->version = new_version();
  return tensor;
}

ParameterStore ParameterStore::on(Device& device) const {
  ParameterStore moved;
  for (const auto& [name, tensor] : tensors_) moved.set(name, tensor.on(device));
  return moved;
}

std::string ParameterStore::first_not_finite() const {
  // Counts without branches, so that compilers vectorize the loop.
  const auto odd = [](float value) {
    constexpr std::uint32_t kExponent = 0x7f800000;
    return static_cast<std::int64_t>((std::bit_cast<std::uint32_t>(value) & kExponent) ==
                                     kExponent);
  };
  for (const auto& [name, tensor] : tensors_) {
    if (tensor.dtype() != DType::f32) continue;
    const Tensor dense = dense_on(tensor, cpu());
    std::int64_t count = 0;
    for (const float value : dense.values<float>()) count += odd(value);
    if (count > 0) return name;
  }
  return "";
}

}  // namespace hone
