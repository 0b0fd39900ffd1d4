#include "hone/tensor/parameter_store.h"

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
  if (tensor.storage().use_count() > 1 || tensor.storage()->read_only)
    tensor = tensor.copy_to(tensor.device());
  return tensor;
}

ParameterStore ParameterStore::on(Device& device) const {
  ParameterStore moved;
  for (const auto& [name, tensor] : tensors_) moved.set(name, tensor.on(device));
  return moved;
}

}  // namespace hone
