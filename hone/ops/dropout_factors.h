#pragma once

#include "hone/base/random.h"
#include "hone/ir/call.h"
#include "hone/ir/op.h"

/// Dropout factors, for the operations with the attributes `p`, `stream` and `limits`.
///
/// Element (i0, i1, ...) of x uses the random word at that position of a row-major tensor of shape `limits`. With
/// x (B, S, C) and limits (B, P, C), a token gets the same words however far its batch is padded, up to P. Without
/// limits (an empty shape), the position is that in x.
namespace hone::ops {

/// Checks the attributes of an operation that drops elements of `x` with the random key `key`. Throws `UserError`.
void expect_dropout(const Type& key, const Type& x, const Attributes& attributes);

class DropoutFactors {
 public:
  /// For a call that drops elements of an x of these sizes, with the random key at input `key`. Throws `UserError` if x
  /// is larger than its limits.
  DropoutFactors(const Call& call, std::size_t key, const Sizes& sizes);

  /// The distance between the words of neighbours along each dimension of x.
  const Sizes& word_strides() const { return word_strides_; }
  /// Returns the factor of the element that uses this word: 1 / (1 - p), or 0.
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
