#include "hone/tensor/mapped.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(StorageInFile, ViewsAlignedBytesAndCopiesOthers) {
  const TemporaryFolder folder;
  const SharedBytes file = map_file(folder.file("x", "0123456789abcdef"));
  const StoragePointer view = storage_in_file(file, file.text.substr(8, 4), DType::f32);
  EXPECT_EQ(view->pointer, reinterpret_cast<const std::byte*>(file.text.data()) + 8);
  EXPECT_TRUE(view->read_only);
  const StoragePointer copy = storage_in_file(file, file.text.substr(9, 4), DType::f32);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy->pointer) % 4, 0u);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(copy->pointer), copy->size_bytes),
            "9abc");
  EXPECT_FALSE(copy->read_only);
}

TEST(StorageInFile, KeepsTheMapping) {
  const TemporaryFolder folder;
  SharedBytes file = map_file(folder.file("x", "text"));
  const std::weak_ptr<const void> watched = file.owner;
  StoragePointer view = storage_in_file(file, file.text, DType::u8);
  file = {};
  EXPECT_FALSE(watched.expired());
  EXPECT_EQ(static_cast<char>(view->pointer[0]), 't');
  view.reset();
  EXPECT_TRUE(watched.expired());
}

std::size_t resident_pages() {
  std::ifstream statm("/proc/self/statm");
  std::size_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident;
}

TEST(ReleasePages, GivesBackWhatAFileHoldsAndNothingElse) {
  constexpr std::size_t kPages = 2000, kPageBytes = 4096;
  const TemporaryFolder folder;
  const SharedBytes file = map_file(folder.file("x", std::string(kPages * kPageBytes, 'x')));
  const auto tensor_over = [&](const SharedBytes& bytes) {
    return Tensor::view_of(storage_in_file(bytes, bytes.text, DType::u8), DType::u8,
                           {static_cast<std::int64_t>(bytes.text.size())}, {1}, 0);
  };
  const Tensor mapped = tensor_over(file);
  const auto all_x = [](const Tensor& tensor) {
    return std::ranges::all_of(tensor.values<std::uint8_t>(),
                               [](std::uint8_t value) { return value == 'x'; });
  };
  const std::size_t before = resident_pages();
  EXPECT_EQ(unread_bytes(mapped), mapped.size_bytes());
  EXPECT_TRUE(all_x(mapped));
  EXPECT_EQ(unread_bytes(mapped), 0u);
  EXPECT_GT(resident_pages(), before + kPages * 9 / 10);
  release_pages(mapped);
  EXPECT_LT(resident_pages(), before + kPages / 10);
  EXPECT_EQ(unread_bytes(mapped), mapped.size_bytes());
  EXPECT_TRUE(all_x(mapped));
  // Memory that the system could not read again is never released.
  const std::string own(kPages * kPageBytes, 'x');
  const Tensor borrowed = tensor_over({own, nullptr});
  release_pages(borrowed);
  EXPECT_EQ(unread_bytes(borrowed), 0u);
  EXPECT_TRUE(all_x(borrowed));
}

TEST(StorageInFile, RefusesBooleansThatAreNeither) {
  const TemporaryFolder folder;
  const SharedBytes file = map_file(folder.file("x", std::string("\0\1\2", 3)));
  EXPECT_NO_THROW(storage_in_file(file, file.text.substr(0, 2), DType::boolean));
  EXPECT_NO_THROW(storage_in_file(file, file.text, DType::u8));
  expect_user_error("a boolean must be 0 or 1, byte 2 of its storage is 2",
                    [&] { storage_in_file(file, file.text, DType::boolean); });
}

TEST(CheckedSizeBytes, IsTheSizeOrNothing) {
  const std::int64_t large = std::int64_t{1} << 32;
  EXPECT_EQ(checked_size_bytes(DType::f32, {2, 3}), 24u);
  EXPECT_EQ(checked_size_bytes(DType::f32, {}), 4u);
  EXPECT_EQ(checked_size_bytes(DType::f32, {0, 3}), 0u);
  EXPECT_EQ(checked_size_bytes(DType::u8, {std::int64_t{1} << 62}), std::uint64_t{1} << 62);
  EXPECT_EQ(checked_size_bytes(DType::f32, {std::int64_t{1} << 62}), std::nullopt);
  EXPECT_EQ(checked_size_bytes(DType::u8, {large, large}), std::nullopt);
  EXPECT_EQ(checked_size_bytes(DType::u8, {0, large, large}), std::nullopt);
  EXPECT_EQ(checked_size_bytes(DType::u8, {-1, -1}), std::nullopt);
}

}  // namespace
}  // namespace hone
