#pragma once

#include "hone/base/random.h"
#include "hone/ir/call.h"
#include "hone/ir/op.h"

/// What elements are multiplied by where some are dropped, for the operations that drop by the attributes `p`, `stream` and
/// `limits`.
///
/// Element (i0, i1, ...) of x draws the word of that place in a tensor of the shape `limits`, row by row. With x (B, S, C)
/// and limits (B, P, C) a token draws the same numbers however far its batch is padded, up to P. Without limits (an empty
/// shape) the place is that in x.
namespace hone::ops {

/// What the attributes of an operation may be that drops elements of `x` by the random key `key`. Throws `UserError`.
void expect_dropout(const Type& key, const Type& x, const Attributes& attributes);

class DropoutFactors {
 public:
  /// Of a call that drops elements of an x of these sizes by its input `key`. Throws `UserError` where x is larger than its
  /// limits.
  DropoutFactors(const Call& call, std::size_t key, const Sizes& sizes);

  /// How far apart the words of neighbours along each dimension of x are.
  const Sizes& word_strides() const { return word_strides_; }
  /// 1 / (1 - p), or 0, of the element that draws this word.
  float at(std::int64_t word) const {
    return random_.word(static_cast<std::uint64_t>(word)) >= threshold_ ? factor_ : 0.0f;
  }

 private:
  RandomStream random_;
  std::uint64_t threshold_;
  float factor_;
  Sizes word_strides_;
};

}  // namespace hone::ops
