#include "hone/tensor/device.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "hone/base/error.h"
#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

class Cpu final : public Device {
 public:
  std::string_view name() const override { return "cpu"; }
  bool host_accessible() const override { return true; }

  StoragePointer allocate(std::size_t size_bytes) override {
    // First touch of a page costs many times a resident one; huge pages make it rarer.
    user_check(size_bytes <= PTRDIFF_MAX,
               "a tensor of more than {} bytes was asked for; its shape is damaged or a "
               "size overflowed",
               PTRDIFF_MAX);
    const bool huge = size_bytes >= 2 * kHugePage;
    const std::size_t alignment = huge ? kHugePage : 64;
    const std::size_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
    void* pointer = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
    user_check(pointer != nullptr,
               "not enough memory: {} more were needed; use a smaller batch or model",
               human_bytes(static_cast<double>(size_bytes)));
    if (huge) ::madvise(pointer, rounded, MADV_HUGEPAGE);
    return {new Storage{this, static_cast<std::byte*>(pointer), size_bytes}, [](Storage* storage) {
              std::free(storage->pointer);
              delete storage;
            }};
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
};

}  // namespace

Device& cpu() {
  static Cpu device;
  return device;
}

}  // namespace hone
