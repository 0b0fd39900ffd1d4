#include "hone/frontends/huggingface/archive.h"

#include <zlib.h>

#include <algorithm>

#include "hone/base/byte_reader.h"

// The layout is PKWARE's APPNOTE.TXT 6.3: local headers with the contents, then the central directory that lists them,
// then the end record with the position of the directory. Sizes are taken only from the directory.
namespace hone {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDirectoryEntry = 0x02014b50;
constexpr std::uint32_t kEnd = 0x06054b50;
constexpr std::uint32_t kZip64Locator = 0x07064b50;
constexpr std::uint32_t kZip64End = 0x06064b50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kZip64LocatorBytes = 20;
constexpr std::uint32_t kInZip64 = 0xffffffff;  // the actual number is in the zip64 record
constexpr std::uint16_t kZip64Extra = 1;

void expect_signature(ByteReader& reader, std::uint32_t expected, std::string_view what) {
  const std::size_t at = reader.position();
  const auto signature = reader.number<std::uint32_t>();
  user_check(signature == expected, "expected {} at byte {} of the archive, found signature {:08x}",
             what, at, signature);
}

// The end record is the last one whose comment ends exactly at the end of the file.
std::size_t find_end(std::string_view bytes) {
  constexpr std::size_t kMaxComment = 0xffff;
  for (std::size_t comment = 0; comment <= kMaxComment && comment + kEndBytes <= bytes.size();
       ++comment) {
    ByteReader reader(bytes, bytes.size() - kEndBytes - comment);
    if (reader.number<std::uint32_t>() != kEnd) continue;
    reader.take(16);
    if (reader.number<std::uint16_t>() == comment) return bytes.size() - kEndBytes - comment;
  }
  fail("the end of the zip archive is missing; the file is truncated or damaged");
}

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
};

Directory find_directory(std::string_view bytes) {
  const std::size_t end = find_end(bytes);
  ByteReader reader(bytes, end + 4);
  const auto disk = reader.number<std::uint16_t>();
  reader.take(4);  // the directory's disk, entries on this disk
  Directory directory;
  directory.entries = reader.number<std::uint16_t>();
  reader.take(4);  // size of the directory
  directory.offset = reader.number<std::uint32_t>();
  const bool zip64 = disk == 0xffff || directory.entries == 0xffff || directory.offset == kInZip64;
  if (!zip64) return directory;
  user_check(end >= kZip64LocatorBytes, "the zip64 end of the archive is missing");
  ByteReader locator(bytes, end - kZip64LocatorBytes);
  expect_signature(locator, kZip64Locator, "the zip64 locator");
  locator.take(4);
  ByteReader large(bytes, locator.number<std::uint64_t>());
  expect_signature(large, kZip64End, "the zip64 end");
  large.take(8 + 2 + 2 + 4 + 4 + 8);  // record size, versions, disks, entries on this disk
  directory.entries = large.number<std::uint64_t>();
  large.take(8);
  directory.offset = large.number<std::uint64_t>();
  return directory;
}

// The three numbers of a directory entry that large entries store in the zip64 extra field, in this order.
struct Extent {
  std::uint64_t size_bytes = 0;
  std::uint64_t packed_bytes = 0;
  std::uint64_t offset = 0;
};

void read_zip64_extra(std::string_view extra, Extent& extent) {
  ByteReader fields(extra);
  while (fields.position() < extra.size()) {
    const auto id = fields.number<std::uint16_t>();
    ByteReader field(fields.take(fields.number<std::uint16_t>()));
    if (id != kZip64Extra) continue;
    for (std::uint64_t* value : {&extent.size_bytes, &extent.packed_bytes, &extent.offset}) {
      if (*value == kInZip64) *value = field.number<std::uint64_t>();
    }
  }
}

// The content starts after the local header, whose own name and extra fields may have other lengths.
std::string_view packed_bytes(std::string_view bytes, const Extent& extent) {
  ByteReader local(bytes, extent.offset);
  expect_signature(local, kLocalHeader, "an entry");
  local.take(22);
  const auto name_bytes = local.number<std::uint16_t>();
  const auto extra_bytes = local.number<std::uint16_t>();
  local.take(std::uint64_t{name_bytes} + extra_bytes);
  return local.take(extent.packed_bytes);
}

std::pair<std::string, ArchiveEntry> read_entry(std::string_view bytes, ByteReader& directory) {
  expect_signature(directory, kDirectoryEntry, "an entry of the directory");
  directory.take(4);  // versions
  const auto flags = directory.number<std::uint16_t>();
  const auto method = directory.number<std::uint16_t>();
  directory.take(4);  // time and date
  ArchiveEntry entry;
  entry.crc = directory.number<std::uint32_t>();
  Extent extent;
  extent.packed_bytes = directory.number<std::uint32_t>();
  extent.size_bytes = directory.number<std::uint32_t>();
  const auto name_bytes = directory.number<std::uint16_t>();
  const auto extra_bytes = directory.number<std::uint16_t>();
  const auto comment_bytes = directory.number<std::uint16_t>();
  directory.take(8);  // disk and attributes
  extent.offset = directory.number<std::uint32_t>();
  const std::string name(directory.take(name_bytes));
  read_zip64_extra(directory.take(extra_bytes), extent);
  directory.take(comment_bytes);

  user_check((flags & 1) == 0, "entry '{}' is encrypted; only plain archives are read", name);
  user_check(method == 0 || method == Z_DEFLATED,
             "entry '{}' is compressed with method {}; only 0 (stored) and 8 (deflated) are "
             "read",
             name, method);
  entry.deflated = method == Z_DEFLATED;
  entry.size_bytes = extent.size_bytes;
  entry.packed =
      with_context(fmt::format("entry '{}'", name), [&] { return packed_bytes(bytes, extent); });
  user_check(entry.deflated || entry.packed.size() == entry.size_bytes,
             "entry '{}': expected {} bytes as it is stored, its size says {}", name,
             entry.packed.size(), entry.size_bytes);
  return {name, entry};
}

// zlib counts in 32 bits; entries may be larger.
void inflate_into(std::string_view packed, std::span<std::byte> content) {
  constexpr std::size_t kStep = std::size_t{1} << 30;
  z_stream stream{};
  HONE_ASSERT(inflateInit2(&stream, -MAX_WBITS) == Z_OK, "zlib does not start");
  const auto feed = [&] {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(std::min(packed.size(), kStep));
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
      packed.remove_prefix(stream.avail_in);
    }
    if (stream.avail_out == 0) {
      stream.avail_out = static_cast<uInt>(std::min(content.size(), kStep));
      stream.next_out = reinterpret_cast<Bytef*>(content.data());
      content = content.subspan(stream.avail_out);
    }
    return inflate(&stream, Z_NO_FLUSH);
  };
  int status = feed();
  while (status == Z_OK) status = feed();
  const bool whole = status == Z_STREAM_END && content.empty() && stream.avail_out == 0;
  inflateEnd(&stream);
  user_check(whole, "the entry does not unpack to the size the archive says; the file is damaged");
}

}  // namespace

bool is_archive(std::string_view bytes) { return bytes.starts_with("PK\x03\x04"); }

ArchiveEntries read_archive(std::string_view bytes) {
  const Directory directory = find_directory(bytes);
  ByteReader reader(bytes, directory.offset);
  ArchiveEntries entries;
  std::uint64_t unpacked_bytes = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    auto [name, entry] = read_entry(bytes, reader);
    const std::uint64_t limit = kMaxExpansion * bytes.size();
    user_check(
        entry.size_bytes <= limit - unpacked_bytes,
        "the archive has {} bytes and would unpack to more than {}; it is damaged or a zip bomb",
        bytes.size(), limit);
    unpacked_bytes += entry.size_bytes;
    user_check(entries.emplace(name, entry).second, "the archive contains entry '{}' twice", name);
  }
  return entries;
}

StoragePointer unpack(const SharedBytes& file, const ArchiveEntry& entry, DType dtype) {
  if (!entry.deflated) return storage_in_file(file, entry.packed, dtype);
  StoragePointer storage = cpu().allocate(entry.size_bytes);
  const std::span<std::byte> content(storage->pointer, entry.size_bytes);
  inflate_into(entry.packed, content);
  const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  user_check(crc == entry.crc, "expected check sum {:08x}, got {:08x}; the file is damaged",
             entry.crc, crc);
  check_booleans(*storage, dtype);
  return storage;
}

}  // namespace hone
