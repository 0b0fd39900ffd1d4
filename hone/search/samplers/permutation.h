#pragma once

#include <array>
#include <cstdint>

namespace hone {

/// Integers of up to 127 bits: the number of points of a grid.
__extension__ typedef unsigned __int128 WideCount;

/// A random permutation of 0 … count − 1 without a list: a Feistel network of four rounds over the next power of
/// four, iterated until the result is below the count (Black, Rogaway 2002).
class Permutation {
 public:
  /// `count` from 1 to 2^126.
  Permutation(WideCount count, std::uint64_t seed);

  /// Returns the element at `index` < count.
  WideCount at(WideCount index) const;

 private:
  WideCount count_;
  int half_bits_ = 1;  ///< half the bits of an index in the network
  std::uint64_t seed_;
};

}  // namespace hone
