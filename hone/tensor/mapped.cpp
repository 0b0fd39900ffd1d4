#include "hone/tensor/mapped.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "hone/base/cpu.h"
#include "hone/base/error.h"

namespace hone {

SharedBytes map_file(const fs::path& path) {
  auto file = std::make_shared<const MappedFile>(path);
  return {file->text(), file};
}

StoragePointer storage_in_file(const SharedBytes& file, std::string_view bytes, DType dtype) {
  StoragePointer storage;
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % info(dtype).size_bytes == 0) {
    auto* pointer = reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data()));
    storage = {new Storage{.device = &cpu(),
                           .pointer = pointer,
                           .size_bytes = bytes.size(),
                           .read_only = true,
                           .mapped = file.owner != nullptr},
               [owner = file.owner](Storage* view) { delete view; }};
  } else {
    storage = cpu().allocate(bytes.size());
    std::memcpy(storage->pointer, bytes.data(), bytes.size());
  }
  check_booleans(*storage, dtype);
  return storage;
}

void release_pages(const Tensor& tensor) {
  if (!tensor.storage()->mapped) return;
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(tensor.device_pointer());
  const std::uintptr_t begin = (first + page - 1) / page * page;
  const std::uintptr_t end = (first + tensor.size_bytes()) / page * page;
  // Only a hint: if the system ignores it, the pages stay.
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

std::size_t unread_bytes(const Tensor& tensor) {
  if (!tensor.storage()->mapped) return 0;
  const std::size_t size = tensor.size_bytes();
  return size - resident_bytes_of({tensor.device_pointer(), size});
}

void check_booleans(const Storage& storage, DType dtype) {
  if (dtype != DType::boolean) return;
  std::byte* const end = storage.pointer + storage.size_bytes;
  std::byte* const odd =
      std::find_if(storage.pointer, end, [](std::byte value) { return value > std::byte{1}; });
  user_check(odd == end, "a boolean must be 0 or 1, byte {} of its storage is {}",
             odd - storage.pointer, odd == end ? 0 : static_cast<int>(*odd));
}

std::optional<std::uint64_t> checked_size_bytes(DType dtype, const Sizes& sizes) {
  std::int64_t bound = static_cast<std::int64_t>(info(dtype).size_bytes);
  bool empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bound, std::max<std::int64_t>(size, 1), &bound))
      return std::nullopt;
    empty = empty || size == 0;
  }
  return empty ? 0 : static_cast<std::uint64_t>(bound);
}

}  // namespace hone
