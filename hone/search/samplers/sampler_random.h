#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "hone/search/numpy_random.h"

namespace hone {

/// Returns the next uniform number in [0, 1).
using UniformNumbers = std::function<double()>;

class SamplerRandom {
 public:
  /// `compatible`: uses one stream of numpy's RandomState(seed). Throws `UserError` then for a seed of more than 32
  /// bits.
  SamplerRandom(std::uint64_t seed, bool compatible);

  /// Returns the numbers for one decision of a trial. Counter-based numbers depend only on these arguments and the
  /// seed; compatible ones continue the stream.
  UniformNumbers numbers_for(std::int64_t trial, std::string_view purpose, std::string_view name);
  /// Returns null unless compatible.
  NumpyRandom* numpy() { return numpy_ ? &*numpy_ : nullptr; }

 private:
  std::uint64_t seed_;
  std::optional<NumpyRandom> numpy_;
};

}  // namespace hone
