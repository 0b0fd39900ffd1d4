#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace hone {

/// A map from ordered pairs of ids to numbers: open addressing, without erasure.
class PairTable {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  static std::uint64_t key(std::uint32_t left, std::uint32_t right) {
    return std::uint64_t{left} << 32 | right;
  }

  /// Returns the number of the pair, or `kNone`.
  std::uint32_t find(std::uint64_t key) const {
    const Slot& slot = slots_[slot_of(key)];
    return slot.key == kEmpty ? kNone : slot.number;
  }

  /// Returns the number of the pair, after inserting it as `fresh` if it is absent.
  std::uint32_t find_or_insert(std::uint64_t key, std::uint32_t fresh) {
    Slot& slot = slots_[slot_of(key)];
    if (slot.key != kEmpty) return slot.number;
    slot = {key, fresh};
    if (++used_ * 2 > slots_.size()) grow();
    return fresh;
  }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kEmpty;
    std::uint32_t number = 0;
  };

  std::size_t slot_of(std::uint64_t key) const {
    // Fibonacci hashing: the high bits of the product depend on the whole key.
    std::size_t at = key * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[at].key != kEmpty && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  void grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    --shift_;
    for (const Slot& slot : old)
      if (slot.key != kEmpty) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1 << 12);
  int shift_ = 64 - 12;
  std::size_t used_ = 0;
};

}  // namespace hone
