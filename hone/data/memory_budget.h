#pragma once

#include <atomic>
#include <cstdint>

namespace hone {

/// Limits the memory for reading one column. It stops decompression bombs, files that expand to a million times their
/// size.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes)
      : bytes_(bytes), left_(static_cast<std::int64_t>(bytes)) {}
  /// Throws `UserError` if the total exceeds the budget. Thread-safe.
  void charge(std::uint64_t bytes);

 private:
  std::uint64_t bytes_;
  std::atomic<std::int64_t> left_;
};

}  // namespace hone
