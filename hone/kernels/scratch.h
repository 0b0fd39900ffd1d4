#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

/// Working memory of a few MiB at most that a kernel keeps between calls, so that no call allocates once sizes have
/// settled. What grows with the matrices of a call is handed to it instead.
///
///     static thread_local Scratch packed;
///     float* a = packed.floats(rows * depth);
namespace hone::kernels {

/// One growing, 64-byte aligned block. Contents do not survive a growth.
class Scratch {
 public:
  /// At least `count` floats, valid until the next call on this object. Throws `std::bad_alloc`.
  float* floats(std::size_t count) { return static_cast<float*>(bytes(count * sizeof(float))); }
  /// At least `count` doubles.
  double* doubles(std::size_t count) { return static_cast<double*>(bytes(count * sizeof(double))); }
  /// At least `count` codes of up to 16 bits.
  std::uint16_t* codes(std::size_t count) {
    return static_cast<std::uint16_t*>(bytes(count * sizeof(std::uint16_t)));
  }

 private:
  struct Release {
    void operator()(void* block) const;
  };
  void* bytes(std::size_t size);

  std::unique_ptr<void, Release> block_;
  std::size_t size_ = 0;
};

}  // namespace hone::kernels
