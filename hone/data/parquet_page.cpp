#include "hone/data/parquet_page.h"

#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <span>

#include "hone/base/text.h"
#include "hone/data/thrift_compact.h"

// Field and codec numbers are those of parquet.thrift.
namespace hone {
namespace {

bool unpack_snappy(std::string_view packed, std::span<char> content) {
  std::size_t size = 0;
  return snappy::GetUncompressedLength(packed.data(), packed.size(), &size) &&
         size == content.size() &&
         snappy::RawUncompress(packed.data(), packed.size(), content.data());
}

// Reads all gzip members (RFC 1952). Page sizes have 31 bits.
bool unpack_gzip(std::string_view packed, std::span<char> content) {
  constexpr int kGzip = 16;
  z_stream stream{};
  HONE_ASSERT(inflateInit2(&stream, MAX_WBITS + kGzip) == Z_OK, "zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  stream.avail_out = static_cast<uInt>(content.size());
  int status = inflate(&stream, Z_FINISH);
  while (status == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK)
    status = inflate(&stream, Z_FINISH);
  const bool whole = status == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

bool unpack_zstd(std::string_view packed, std::span<char> content) {
  return ZSTD_decompress(content.data(), content.size(), packed.data(), packed.size()) ==
         content.size();
}

struct Codec {
  std::int32_t number;
  std::string_view name;
  bool (*unpack)(std::string_view packed, std::span<char> content);  // null: not supported
};
constexpr Codec kCodecs[] = {
    {0, "none", nullptr},     {1, "snappy", unpack_snappy}, {2, "gzip", unpack_gzip},
    {3, "lzo", nullptr},      {4, "brotli", nullptr},       {5, "lz4", nullptr},
    {6, "zstd", unpack_zstd}, {7, "lz4_raw", nullptr},
};

const Codec& find_codec(std::int32_t number) {
  for (const Codec& codec : kCodecs) {
    if (codec.number != number) continue;
    user_check(codec.unpack != nullptr || number == 0,
               "the column is compressed with {}; supported are snappy, gzip, zstd and no "
               "compression: write the file again with one of them (pyarrow: compression='zstd')",
               codec.name);
    return codec;
  }
  fail("the column is compressed with method {}, which Parquet does not have; the file is damaged",
       number);
}

/// A page header as it is stored.
struct Header {
  std::int64_t kind = -1, size_bytes = -1, packed_bytes = -1;
  std::optional<std::uint32_t> crc;
  std::int64_t values = -1, encoding = -1;
  std::int64_t level_encoding = static_cast<std::int64_t>(ParquetEncoding::rle);
  std::int64_t definition_bytes = 0, repetition_bytes = 0;
  bool compressed = true;
};
enum Kind { kDataPage = 0, kIndexPage = 1, kDictionaryPage = 2, kDataPage2 = 3 };

// DataPageHeader and DictionaryPageHeader begin with the same two fields.
void read_data_header(ThriftReader& reader, const ThriftField& record, Header& header) {
  reader.read_record(record, [&](const ThriftField& field) {
    if (field.id == 1) {
      header.values = reader.integer(field, INT32_MAX);
    } else if (field.id == 2) {
      header.encoding = reader.integer(field, INT32_MAX);
    } else if (field.id == 3 && field.type == ThriftType::int32) {  // a dictionary's is a boolean
      header.level_encoding = reader.integer(field);
    } else {
      reader.skip(field);
    }
  });
}

void read_data_header_2(ThriftReader& reader, const ThriftField& record, Header& header) {
  reader.read_record(record, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        header.values = reader.integer(field, INT32_MAX);
        break;
      case 4:
        header.encoding = reader.integer(field, INT32_MAX);
        break;
      case 5:
        header.definition_bytes = reader.integer(field, INT32_MAX);
        break;
      case 6:
        header.repetition_bytes = reader.integer(field, INT32_MAX);
        break;
      case 7:
        header.compressed = reader.boolean(field);
        break;
      default:
        reader.skip(field);
    }
  });
}

Header read_header(ThriftReader& reader) {
  Header header;
  reader.read_record([&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        header.kind = reader.integer(field, INT32_MAX);
        break;
      case 2:
        header.size_bytes = reader.integer(field, INT32_MAX);
        break;
      case 3:
        header.packed_bytes = reader.integer(field, INT32_MAX);
        break;
      case 4:
        header.crc = static_cast<std::uint32_t>(reader.integer(field));
        break;
      case 5:
      case 7:
        read_data_header(reader, field, header);
        break;
      case 8:
        read_data_header_2(reader, field, header);
        break;
      default:
        reader.skip(field);
    }
  });
  user_check(header.kind >= 0 && header.size_bytes >= 0 && header.packed_bytes >= 0,
             "a page lacks its kind or size; the file is damaged");
  user_check(header.kind == kIndexPage || (header.values >= 0 && header.encoding >= 0),
             "a page lacks its number of values or its encoding; the file is damaged");
  return header;
}

constexpr const char* kWrongLevels =
    "a page has levels as of a nested column, or more of them than bytes; the file is damaged";

ParquetPage make_page(const Header& header, std::string_view packed) {
  ParquetPage page;
  page.packed = packed;
  page.size_bytes = static_cast<std::uint64_t>(header.size_bytes);
  page.values = header.values;
  page.encoding = static_cast<ParquetEncoding>(header.encoding);
  page.compressed = header.compressed;
  page.crc = header.crc;
  if (header.kind == kDataPage2) {
    // Both have 31 bits, so the sum does not overflow.
    const std::int64_t bytes = header.repetition_bytes + header.definition_bytes;
    user_check(bytes <= header.size_bytes && static_cast<std::uint64_t>(bytes) <= packed.size(),
               "{}", kWrongLevels);
    page.level_bytes = {static_cast<std::uint64_t>(header.repetition_bytes),
                        static_cast<std::uint64_t>(header.definition_bytes)};
  } else {
    user_check(header.level_encoding == static_cast<std::int64_t>(ParquetEncoding::rle),
               "definition levels have encoding {}; only 3 (RLE) is read", header.level_encoding);
  }
  return page;
}

// Decompresses `packed`; throws unless it yields exactly `size_bytes`.
std::string_view unpack_bytes(std::string_view packed, std::uint64_t size_bytes, const Codec& codec,
                              UnpackedPage& page) {
  if (codec.unpack == nullptr) {
    user_check(packed.size() == size_bytes,
               "the header of an uncompressed page says both {} and {} bytes; the file is damaged",
               size_bytes, packed.size());
    return packed;
  }
  if (size_bytes == 0) return {};
  page.memory = std::make_unique_for_overwrite<char[]>(size_bytes);
  const std::span<char> content(page.memory.get(), size_bytes);
  user_check(codec.unpack(packed, content),
             "a page does not decompress with {} to the {} bytes that its header says; the file is "
             "damaged",
             codec.name, size_bytes);
  return {content.data(), content.size()};
}

}  // namespace

ParquetPages find_pages(std::string_view file, const ParquetChunk& chunk, MemoryBudget& budget) {
  user_check(!chunk.elsewhere, "the column is encrypted or in another file; neither is read");
  find_codec(chunk.codec);
  const std::string_view bytes = file.substr(chunk.offset, chunk.size_bytes);
  ParquetPages pages;
  std::int64_t values = 0;
  std::size_t position = 0;
  while (values < chunk.values) {
    const std::uint64_t at = chunk.offset + position;
    with_context(fmt::format("page at byte {}", at), [&] {
      ThriftReader reader(bytes.substr(position));
      const Header header = read_header(reader);
      position += reader.position();
      const std::string_view packed =
          ByteReader(bytes, position).take(static_cast<std::uint64_t>(header.packed_bytes));
      position += packed.size();
      if (header.kind == kIndexPage) return;
      budget.charge(static_cast<std::uint64_t>(header.size_bytes));
      ParquetPage page = make_page(header, packed);
      page.position = at;
      if (header.kind == kDictionaryPage) {
        user_check(!pages.dictionary && pages.data.empty(),
                   "a dictionary that is not the first page of its column; the file is damaged");
        pages.dictionary = page;
        return;
      }
      user_check(header.kind == kDataPage || header.kind == kDataPage2,
                 "a page of kind {}, which Parquet does not have; the file is damaged",
                 header.kind);
      user_check(page.values <= chunk.values - values,
                 "the pages hold more values than the {} of the column; the file is damaged",
                 chunk.values);
      values += page.values;
      pages.data.push_back(page);
    });
  }
  return pages;
}

UnpackedPage unpack_page(const ParquetPage& page, std::int32_t codec, const ParquetLevels& levels) {
  if (page.crc) {
    const auto crc =
        crc32_z(0, reinterpret_cast<const Bytef*>(page.packed.data()), page.packed.size());
    user_check(crc == *page.crc, "expected check sum {:08x}, got {:08x}; the file is damaged",
               *page.crc, crc);
  }
  UnpackedPage unpacked;
  const Codec& method = find_codec(page.compressed ? codec : 0);
  if (page.level_bytes) {
    const auto [repetition, definition] = *page.level_bytes;
    user_check(repetition == 0 || levels.repetition > 0, "{}", kWrongLevels);
    unpacked.repetition_levels = page.packed.substr(0, repetition);
    unpacked.definition_levels = page.packed.substr(repetition, definition);
    unpacked.values = unpack_bytes(page.packed.substr(repetition + definition),
                                   page.size_bytes - repetition - definition, method, unpacked);
    return unpacked;
  }
  unpacked.values = unpack_bytes(page.packed, page.size_bytes, method, unpacked);
  ByteReader reader(unpacked.values);
  if (levels.repetition > 0)
    unpacked.repetition_levels = reader.take(reader.number<std::uint32_t>());
  if (levels.definition > 0)
    unpacked.definition_levels = reader.take(reader.number<std::uint32_t>());
  unpacked.values.remove_prefix(reader.position());
  return unpacked;
}

}  // namespace hone
