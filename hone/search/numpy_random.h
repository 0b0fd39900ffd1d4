#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

/// The random numbers of numpy's RandomState, bit for bit, so that Optuna's studies can be reproduced. Everything
/// else uses counter-based random numbers (`hone/base/random.h`).
namespace hone {

/// MT19937 (Matsumoto, Nishimura 1998), seeded with one word as by RandomState(seed).
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed);

  std::uint32_t next_word();
  /// Returns a uniform number in [0, 1) with 53 bits: `random_sample`.
  double uniform();
  /// Returns an integer from 0 to `last`, by rejection under a mask: `randint`, and `choice` without probabilities.
  std::uint32_t up_to(std::uint32_t last);
  /// Shuffles by Fisher-Yates from the end: `shuffle`.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[up_to(static_cast<std::uint32_t>(i - 1))]);
  }

 private:
  static constexpr std::size_t kWords = 624;

  void refill();

  std::array<std::uint32_t, kWords> state_{};
  std::size_t next_ = kWords;
};

}  // namespace hone
