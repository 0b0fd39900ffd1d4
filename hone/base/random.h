#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

/// Counter-based random numbers (Philox4x32-10; Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).
///
/// A number is a pure function of (seed, stream, index), so results do not depend on threads, batches or resumption.
namespace hone {

/// The random words of one (seed, stream) pair, addressed by index.
struct RandomStream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  /// Returns four words of 32 bits: Philox4x32-10 of counter (block, stream) under key `seed`; low words first.
  std::array<std::uint32_t, 4> block(std::uint64_t block) const;
  /// Returns word `index`: `block(index / 4)[index % 4]`.
  std::uint32_t word(std::uint64_t index) const { return block(index / 4)[index % 4]; }
};

/// Draws numbers from a stream sequentially, from its beginning or from block `first`.
class RandomSequence {
 public:
  RandomSequence(std::uint64_t seed, std::uint64_t stream, std::uint64_t first = 0)
      : stream_{seed, stream}, next_(4 * first) {}

  std::uint32_t next_word();
  /// Returns a uniform number in [0, 1) with 53 bits.
  double uniform();
  /// Returns a uniform number in [0, bound), without bias. `bound` must be positive.
  std::uint64_t below(std::uint64_t bound);
  /// Returns a normal number with mean 0 and standard deviation 1 (Box-Muller), from four words: if nothing else is
  /// drawn, number i uses block i.
  double normal();
  /// Shuffles `items` (Fisher-Yates).
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
  std::array<std::uint32_t, 4> block_{};
};

/// Returns a stream number for a name, so that named things (parameters, dropouts) draw independently. FNV-1a, 64 bits.
std::uint64_t stream_of(std::string_view name);

}  // namespace hone
