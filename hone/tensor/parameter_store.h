#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "hone/tensor/tensor.h"

namespace hone {

/// The weights and states of a model by name. Copying a store copies no weights: tensors are shared until one side
/// writes (`writable`), so a trial takes only the memory that it changes.
class ParameterStore {
 public:
  ParameterStore() = default;
  explicit ParameterStore(TensorMap tensors) : tensors_(std::move(tensors)) {}

  const TensorMap& tensors() const { return tensors_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  /// Returns the tensor called `name`. Throws `UserError` for an unknown name.
  const Tensor& at(std::string_view name) const;
  void set(std::string_view name, Tensor tensor);
  void erase(std::string_view name);

  /// Returns the tensor for writing, after copying it if its memory is shared or read-only. Its contents get a new
  /// version, which invalidates data derived from the old ones: call again before the next change.
  Tensor& writable(std::string_view name);

  /// Returns the parameters in memory of `device`; those already there stay shared.
  ParameterStore on(Device& device) const;

  /// Returns the name of the first fp32 tensor that contains NaN or infinity, or "".
  std::string first_not_finite() const;

 private:
  TensorMap tensors_;
};

}  // namespace hone
