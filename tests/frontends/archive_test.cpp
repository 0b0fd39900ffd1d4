#include "hone/frontends/huggingface/archive.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string u16(std::uint16_t value) { return bytes_of(value); }
std::string u32(std::uint32_t value) { return bytes_of(value); }
std::string u64(std::uint64_t value) { return bytes_of(value); }

std::string deflate_raw(std::string_view content) {
  std::string packed(compressBound(content.size()) + 16, '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::uint32_t crc_of(std::string_view content) {
  return static_cast<std::uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
}

// One file of an archive as its directory describes it, correctly or not.
struct File {
  std::string name;
  std::string packed;
  std::uint16_t method = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  std::uint16_t flags = 0;
  bool zip64 = false;
};

File stored(std::string name, std::string content) {
  return {std::move(name), content, 0, content.size(), crc_of(content)};
}
File deflated(std::string name, std::string_view content) {
  return {std::move(name), deflate_raw(content), 8, content.size(), crc_of(content)};
}

std::string directory_entry(const File& file, std::uint64_t offset) {
  const std::uint32_t in_extra = 0xffffffff;
  const auto small = [&](std::uint64_t value) {
    return u32(file.zip64 ? in_extra : static_cast<std::uint32_t>(value));
  };
  // An extra field of another kind comes first, as some writers put it.
  const std::string extra = file.zip64 ? u16(0x5455) + u16(1) + "x" + u16(1) + u16(24) +
                                             u64(file.size) + u64(file.packed.size()) + u64(offset)
                                       : "";
  return u32(0x02014b50) + u16(45) + u16(45) + u16(file.flags) + u16(file.method) + u32(0) +
         u32(file.crc) + small(file.packed.size()) + small(file.size) +
         u16(static_cast<std::uint16_t>(file.name.size())) +
         u16(static_cast<std::uint16_t>(extra.size())) + u16(2) + u16(0) + u16(0) + u32(0) +
         small(offset) + file.name + extra + "co";
}

std::string zip(const std::vector<File>& files, bool zip64_end = false,
                std::string_view comment = "") {
  std::string bytes;
  std::string directory;
  for (const File& file : files) {
    directory += directory_entry(file, bytes.size());
    // The reader ignores sizes and checksums of local headers, so these are nonsense.
    bytes += u32(0x04034b50) + u16(45) + u16(file.flags) + u16(file.method) + u32(0) + u32(1) +
             u32(2) + u32(3) + u16(static_cast<std::uint16_t>(file.name.size())) + u16(3) +
             file.name + "pad" + file.packed;
  }
  const std::uint64_t offset = bytes.size();
  bytes += directory;
  if (zip64_end) {
    const std::uint64_t end = bytes.size();
    bytes += u32(0x06064b50) + u64(44) + u16(45) + u16(45) + u32(0) + u32(0) + u64(files.size()) +
             u64(files.size()) + u64(directory.size()) + u64(offset);
    bytes += u32(0x07064b50) + u32(0) + u64(end) + u32(1);
  }
  const std::uint16_t count = zip64_end ? 0xffff : static_cast<std::uint16_t>(files.size());
  bytes += u32(0x06054b50) + u16(0) + u16(0) + u16(count) + u16(count) +
           u32(static_cast<std::uint32_t>(directory.size())) +
           u32(zip64_end ? 0xffffffff : static_cast<std::uint32_t>(offset)) +
           u16(static_cast<std::uint16_t>(comment.size()));
  return bytes.append(comment);
}

std::string content_of(const std::string& bytes, const char* name) {
  const SharedBytes file{bytes, nullptr};
  const StoragePointer storage = unpack(file, read_archive(file.text).at(name), DType::u8);
  return {reinterpret_cast<const char*>(storage->pointer), storage->size_bytes};
}

void expect_refused(std::string_view fragment, const std::string& bytes) {
  expect_user_error(fragment, [&] { read_archive(bytes); });
}

TEST(Archive, GivesStoredAndDeflatedEntries) {
  const std::string text(1000, 'x');
  const std::string bytes = zip(
      {stored("a", "hello"), deflated("b", text), stored("empty", ""), deflated("nothing", "")});
  EXPECT_EQ(read_archive(bytes).size(), 4u);
  EXPECT_EQ(content_of(bytes, "a"), "hello");
  EXPECT_EQ(content_of(bytes, "b"), text);
  EXPECT_EQ(content_of(bytes, "empty"), "");
  EXPECT_EQ(content_of(bytes, "nothing"), "");
}

TEST(Archive, StoredEntriesAreViews) {
  const std::string bytes = zip({stored("a", "hello")});
  const SharedBytes file{bytes, nullptr};
  const StoragePointer storage = unpack(file, read_archive(file.text).at("a"), DType::u8);
  EXPECT_TRUE(storage->read_only);
  const auto* content = reinterpret_cast<const char*>(storage->pointer);
  EXPECT_GE(content, bytes.data());
  EXPECT_LT(content, bytes.data() + bytes.size());
}

TEST(Archive, ReadsZip64) {
  File large = stored("a", "hello");
  large.zip64 = true;
  EXPECT_EQ(content_of(zip({large}, true), "a"), "hello");
  EXPECT_EQ(content_of(zip({large}), "a"), "hello");
  EXPECT_EQ(content_of(zip({stored("a", "hello")}, true), "a"), "hello");
}

TEST(Archive, FindsTheEndBehindAComment) {
  EXPECT_EQ(content_of(zip({stored("a", "hello")}, false, "PK\x05\x06 not the end"), "a"), "hello");
}

TEST(Archive, DoesNotNeedTheSumsOfStoredEntries) {
  File file = stored("a", "hello");
  file.crc = 0;
  EXPECT_EQ(content_of(zip({file}), "a"), "hello");
}

TEST(Archive, RefusesEntriesThatLieAboutTheirSize) {
  File file = stored("a", "hello");
  file.size = 6;
  expect_refused("entry 'a': expected 5 bytes as it is stored, its size says 6", zip({file}));
  file = deflated("a", "hello");
  for (const std::uint64_t size : {4, 6}) {
    file.size = size;
    expect_user_error("does not unpack to the size the archive says",
                      [&] { content_of(zip({file}), "a"); });
  }
  std::string bytes = zip({stored("a", "hello")});
  const std::size_t directory = bytes.find("PK\x01\x02");
  bytes.replace(directory + 20, 8, u32(500) + u32(500));
  expect_refused("entry 'a': expected 500 bytes at byte", bytes);
}

TEST(Archive, RefusesBombs) {
  const std::string bytes = zip({deflated("a", std::string(1'000'000, 'x'))});
  ASSERT_LT(bytes.size(), 2000u);
  expect_refused("it is damaged or a zip bomb", bytes);
  // Sizes whose sum wraps around to a small number.
  File huge = deflated("a", "x");
  huge.zip64 = true;
  huge.size = ~std::uint64_t{0};
  expect_refused("it is damaged or a zip bomb",
                 zip({deflated("b", "x"), huge, deflated("c", "x")}));
}

TEST(Archive, RefusesDamagedContents) {
  File file = deflated("a", "hello");
  file.crc ^= 1;
  expect_user_error("expected check sum", [&] { content_of(zip({file}), "a"); });
  file = deflated("a", "hello");
  file.packed[0] = '\xff';
  expect_user_error("does not unpack", [&] { content_of(zip({file}), "a"); });
}

TEST(Archive, RefusesWhatItDoesNotRead) {
  File file = stored("a", "hello");
  file.flags = 1;
  expect_refused("entry 'a' is encrypted", zip({file}));
  file = stored("a", "hello");
  file.method = 12;
  expect_refused("entry 'a' is compressed with method 12", zip({file}));
  expect_refused("contains entry 'a' twice", zip({stored("a", "1"), stored("a", "2")}));
}

TEST(Archive, RefusesDamagedDirectories) {
  const std::string bytes = zip({stored("a", "hello")}, true);
  EXPECT_TRUE(is_archive(bytes));
  EXPECT_FALSE(is_archive("PK"));
  expect_refused("the end of the zip archive is missing", "");
  expect_refused("the end of the zip archive is missing", bytes.substr(0, bytes.size() - 1));
  std::string changed = bytes;
  changed.replace(changed.find("PK\x06\x07"), 4, "xxxx");
  expect_refused("expected the zip64 locator", changed);
  changed = bytes;
  changed.replace(changed.find("PK\x06\x06"), 4, "xxxx");
  expect_refused("expected the zip64 end", changed);
  changed = bytes;
  changed.replace(changed.find("PK\x01\x02"), 4, "xxxx");
  expect_refused("expected an entry of the directory", changed);
  changed = bytes;
  changed.replace(changed.find("PK\x03\x04"), 4, "xxxx");
  expect_refused("entry 'a': expected an entry at byte 0", changed);
}

}  // namespace
}  // namespace hone
