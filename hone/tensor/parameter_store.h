#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "hone/tensor/tensor.h"

namespace hone {

/// The weights and states of a model by name. Copying a store copies no weights: tensors are shared until one side
/// writes (`writable`), so a trial costs what it changes.
class ParameterStore {
 public:
  ParameterStore() = default;
  explicit ParameterStore(TensorMap tensors) : tensors_(std::move(tensors)) {}

  const TensorMap& tensors() const { return tensors_; }
  bool contains(std::string_view name) const { return tensors_.contains(name); }
  /// Throws `UserError` for an unknown name.
  const Tensor& at(std::string_view name) const;
  void set(std::string_view name, Tensor tensor);
  void erase(std::string_view name);

  /// The tensor, owned by this store alone: copied first when its memory is shared or read-only. Its contents have a new
  /// version from here on, so that nobody goes on with what was made of the old ones: ask again for the next change.
  Tensor& writable(std::string_view name);

  /// The same parameters in memory of `device`; those that are there already stay shared.
  ParameterStore on(Device& device) const;

  /// The name of the first fp32 tensor with a value that is NaN or infinite; "" when all are numbers.
  std::string first_not_finite() const;

 private:
  TensorMap tensors_;
};

}  // namespace hone
