#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "hone/search/numpy_random.h"

/// Where samplers have their random numbers from.
namespace hone {

/// Gives one number uniform in [0, 1) after the other.
using UniformNumbers = std::function<double()>;

class SamplerRandom {
 public:
  /// `compatible`: one stream of numpy's RandomState(seed). Throws `UserError` for a seed of more than 32 bits then.
  SamplerRandom(std::uint64_t seed, bool compatible);

  /// The numbers for one decision of a trial. Those by counters depend on what is named here and the seed alone; the compatible
  /// ones go on where the last call ended.
  UniformNumbers numbers_for(std::int64_t trial, std::string_view purpose, std::string_view name);
  /// Null unless compatible.
  NumpyRandom* numpy() { return numpy_ ? &*numpy_ : nullptr; }

 private:
  std::uint64_t seed_;
  std::optional<NumpyRandom> numpy_;
};

}  // namespace hone
