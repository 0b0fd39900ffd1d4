#include "hone/tensor/device.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/tensor/tensor.h"

namespace hone {

std::uint64_t new_version() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t size_bytes, std::size_t alignment) {
  return (size_bytes + alignment - 1) / alignment * alignment;
}

// Large blocks are mapped directly and returned to the system at once; the heap would keep them. The first access to a
// page is many times slower than later ones; huge pages reduce their number.
bool is_large(std::size_t size_bytes) { return size_bytes >= 2 * kHugePage; }

void* map_large(std::size_t size_bytes) {
  const std::size_t size = rounded_up(size_bytes, kPage);
  void* mapped =
      ::mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(mapped);
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::size_t before = rounded_up(address, kHugePage) - address;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + size, kHugePage - before);
  // Excludes the end, where a huge page would take more memory than requested.
  ::madvise(begin + before, size / kHugePage * kHugePage, MADV_HUGEPAGE);
  return begin + before;
}

void* allocate_small(std::size_t size_bytes) {
  constexpr std::size_t kAlignment = 64;
  return std::aligned_alloc(kAlignment, std::max(kAlignment, rounded_up(size_bytes, kAlignment)));
}

void release(Storage* storage) {
  if (is_large(storage->size_bytes)) {
    ::munmap(storage->pointer, rounded_up(storage->size_bytes, kPage));
  } else {
    std::free(storage->pointer);
  }
  delete storage;
}

class Cpu final : public Device {
 public:
  std::string_view kind() const override { return "cpu"; }
  int index() const override { return 0; }
  std::string description() const override { return ""; }
  bool host_accessible() const override { return true; }

  StoragePointer allocate(std::size_t size_bytes) override {
    user_check(size_bytes <= PTRDIFF_MAX,
               "a tensor of more than {} bytes was asked for; its shape is damaged or a "
               "size overflowed",
               PTRDIFF_MAX);
    void* pointer = is_large(size_bytes) ? map_large(size_bytes) : allocate_small(size_bytes);
    user_check(pointer != nullptr,
               "not enough memory: {} more were needed; use a smaller batch or model",
               human_bytes(static_cast<double>(size_bytes)));
    return {new Storage{this, static_cast<std::byte*>(pointer), size_bytes}, release};
  }

  void upload(std::byte* to, std::span<const std::byte> from) override {
    copy(to, from.data(), from.size());
  }
  void download(std::span<std::byte> to, const std::byte* from) override {
    copy(to.data(), from, to.size());
  }
  void copy(std::byte* to, const std::byte* from, std::size_t size_bytes) override {
    if (size_bytes > 0) std::memcpy(to, from, size_bytes);
  }
  void copy_strided(const Tensor& from, const Tensor& to) override {
    const Tensor dense = from.contiguous_copy();
    copy(to.device_pointer(), dense.device_pointer(), dense.size_bytes());
  }
  std::optional<std::size_t> free_bytes() override { return std::nullopt; }
  void wait() override {}
};

}  // namespace

std::string to_string(const Device& device) {
  return fmt::format("{}:{}", device.kind(), device.index());
}

Device& cpu() {
  static Cpu device;
  return device;
}

}  // namespace hone
