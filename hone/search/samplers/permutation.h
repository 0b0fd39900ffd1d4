#pragma once

#include <array>
#include <cstdint>

namespace hone {

/// Whole numbers of up to 127 bits: how many points a grid may have.
__extension__ typedef unsigned __int128 WideCount;

/// A drawn order of 0 … count − 1 without a list of it: a Feistel network of four rounds over the next power of four, walked until it
/// lands below the count (Black, Rogaway 2002).
class Permutation {
 public:
  /// `count` from 1 to 2^126.
  Permutation(WideCount count, std::uint64_t seed);

  /// What stands at `index` < count.
  WideCount at(WideCount index) const;

 private:
  WideCount count_;
  int half_bits_ = 1;  ///< of an index as the network sees it
  std::uint64_t seed_;
};

}  // namespace hone
