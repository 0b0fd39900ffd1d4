#pragma once

#include <string>
#include <vector>

#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/checkpoint_names.h"

namespace hone {

/// Finds the weights of a graph's parameters among the tensors of a checkpoint.
class WeightMatcher {
 public:
  /// `source`: the checkpoint's file. `asked_by`: the file that says which parameters there are. Throws `UserError` as
  /// `parameter_names`.
  WeightMatcher(const Architecture& arch, TensorMap tensors, std::string source,
                std::string asked_by);

  /// Returns the tensor of a parameter, or an undefined one when the checkpoint has none. Throws `UserError` for another
  /// shape or type, and for values that are NaN or infinite.
  Tensor take(const Node& parameter);
  /// Leaves out the tensor of a parameter, as if it had been taken.
  void pass_over(const Node& parameter);
  /// Returns the mask of a parameter that `take` has given; undefined where it is not pruned.
  Tensor mask_of(const Node& parameter) const;

  bool has_head() const { return checkpoint_.tensors.contains(classes_ + "weight"); }
  /// Whether there is a head, of another number of classes than this.
  bool has_head_of_other_size(std::int64_t classes) const;
  /// Removes the tensors that tell the classes apart; returns their names.
  std::vector<std::string> drop_head();
  /// Returns the names of the tensors that nothing has taken.
  std::vector<std::string> unused() const;
  /// Returns what was removed from all names, for the user.
  const std::vector<std::string>& notes() const { return checkpoint_.notes; }
  const std::string& source() const { return source_; }

 private:
  std::string prefix_;   // of the encoder's parameters
  std::string classes_;  // of those that have a row for each class
  std::string source_;
  std::string asked_by_;
  NamedCheckpoint checkpoint_;
};

/// Lists the first few names: "a, b, c, d and 3 more".
std::string list_some(const std::vector<std::string>& names);

}  // namespace hone
