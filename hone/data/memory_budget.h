#pragma once

#include <atomic>
#include <cstdint>

namespace hone {

/// What reading one column may take in memory. Files are made that unpack to a million times their size; this is what
/// stops them, whichever way they do it.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes)
      : bytes_(bytes), left_(static_cast<std::int64_t>(bytes)) {}
  /// Throws `UserError` when more than the budget is asked for in all. Threads may call it at once.
  void charge(std::uint64_t bytes);

 private:
  std::uint64_t bytes_;
  std::atomic<std::int64_t> left_;
};

}  // namespace hone
