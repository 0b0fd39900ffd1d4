#include "hone/base/random.h"

#include <Random123/philox.h>

#include <cmath>
#include <numbers>

#include "hone/base/error.h"

namespace hone {

std::array<std::uint32_t, 4> RandomStream::block(std::uint64_t block) const {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const auto high = [](std::uint64_t v) { return static_cast<std::uint32_t>(v >> 32); };
  const r123::Philox4x32::ctr_type counter = {{low(block), high(block), low(stream), high(stream)}};
  const r123::Philox4x32::key_type key = {{low(seed), high(seed)}};
  const r123::Philox4x32::ctr_type words = r123::Philox4x32{}(counter, key);
  return {words[0], words[1], words[2], words[3]};
}

std::uint32_t RandomSequence::next_word() {
  if (next_ % 4 == 0) block_ = stream_.block(next_ / 4);
  return block_[next_++ % 4];
}

double RandomSequence::uniform() {
  const std::uint64_t high = next_word();
  const std::uint64_t low = next_word();
  return static_cast<double>((high << 32 | low) >> 11) * 0x1p-53;
}

std::uint64_t RandomSequence::below(std::uint64_t bound) {
  HONE_ASSERT(bound > 0, "below(0)");
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % bound + 1) % bound;
  for (;;) {
    const std::uint64_t high = next_word();
    const std::uint64_t value = high << 32 | next_word();
    if (value <= limit) return value % bound;
  }
}

double RandomSequence::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

std::uint64_t stream_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace hone
