#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

/// Working memory of at most a few MiB that a kernel keeps between calls, so that calls stop allocating once sizes have
/// settled. Callers provide larger buffers, which grow with the matrices of a call.
///
///     static thread_local Scratch packed;
///     float* a = packed.floats(rows * depth);
namespace hone::kernels {

/// A growing block, aligned to 64 bytes. Growing discards its contents.
class Scratch {
 public:
  /// Returns at least `count` floats, valid until the next call on this object. Throws `std::bad_alloc`.
  float* floats(std::size_t count) { return static_cast<float*>(bytes(count * sizeof(float))); }
  /// Returns at least `count` doubles.
  double* doubles(std::size_t count) { return static_cast<double*>(bytes(count * sizeof(double))); }
  /// Returns at least `count` codes of up to 16 bits.
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
