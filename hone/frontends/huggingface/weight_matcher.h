#pragma once

#include <string>
#include <vector>

#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint_names.h"

namespace hone {

/// Finds the weights of a graph's parameters among the tensors of a checkpoint.
class WeightMatcher {
 public:
  /// `source`: the checkpoint's file. `required_by`: the file that defines the parameters. Throws `UserError` like
  /// `parameter_names`.
  WeightMatcher(const Architecture& arch, TensorMap tensors, std::string source,
                std::string required_by);

  /// Returns the tensor of a parameter, or an undefined one if the checkpoint has none. Throws `UserError` for another
  /// shape or type, and for values that are NaN or infinite.
  Tensor take(const Node& parameter);
  /// Marks the tensor of a parameter as used without taking it.
  void mark_used(const Node& parameter);
  /// Returns the mask of a parameter returned by `take`; undefined if it is not pruned.
  Tensor mask_of(const Node& parameter) const;

  bool has_head() const { return checkpoint_.tensors.contains(classes_ + "weight"); }
  /// Returns whether there is a head with another number of classes.
  bool has_head_of_other_size(std::int64_t classes) const;
  /// Removes the tensors of the classification head. Returns their names.
  std::vector<std::string> drop_head();
  /// Returns the names of the unused tensors.
  std::vector<std::string> unused() const;
  /// Returns messages for the user: what was removed from all names.
  const std::vector<std::string>& notes() const { return checkpoint_.notes; }
  const std::string& source() const { return source_; }

 private:
  std::string prefix_;   // of the encoder's parameters
  std::string classes_;  // prefix of the parameters with one row per class
  std::string source_;
  std::string required_by_;
  NamedCheckpoint checkpoint_;
};

/// Lists the first few names: "a, b, c, d and 3 more".
std::string list_some(const std::vector<std::string>& names);

}  // namespace hone
