#include "hone/data/parquet_footer.h"

#include "hone/data/thrift_compact.h"

// Field numbers are those of parquet.thrift.
namespace hone {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr std::string_view kMagicEncrypted = "PARE";

// ColumnMetaData.
void read_chunk_metadata(ThriftReader& reader, const ThriftField& record, ParquetChunk& chunk) {
  std::int64_t data_offset = -1, dictionary_offset = 0, values = -1, size = -1;
  bool has_type = false;
  reader.read_record(record, [&](const ThriftField& field) {
    switch (field.id) {
      case 1:
        chunk.physical = static_cast<ParquetPhysical>(reader.integer(field, 7));
        has_type = true;
        break;
      case 4:
        chunk.codec = static_cast<std::int32_t>(reader.integer(field, INT32_MAX));
        break;
      case 5:
        values = reader.integer(field, INT64_MAX);
        break;
      case 7:
        size = reader.integer(field, INT64_MAX);
        break;
      case 9:
        data_offset = reader.integer(field, INT64_MAX);
        break;
      case 11:
        dictionary_offset = reader.integer(field, INT64_MAX);
        break;
      default:
        reader.skip(field);
    }
  });
  user_check(has_type && data_offset >= 0 && values >= 0 && size >= 0,
             "a column chunk lacks its type, place or size; the file is damaged");
  // Writers without a dictionary leave the offset out or set it to 0.
  const bool dictionary_first = dictionary_offset > 0 && dictionary_offset < data_offset;
  chunk.offset = static_cast<std::uint64_t>(dictionary_first ? dictionary_offset : data_offset);
  chunk.size_bytes = static_cast<std::uint64_t>(size);
  chunk.values = values;
}

ParquetChunk read_chunk(ThriftReader& reader, const ThriftField& record) {
  ParquetChunk chunk;
  bool has_metadata = false;
  reader.read_record(record, [&](const ThriftField& field) {
    if (field.id == 3) {
      read_chunk_metadata(reader, field, chunk);
      has_metadata = true;
    } else {
      chunk.elsewhere = chunk.elsewhere || field.id == 1 || field.id == 8;  // file_path, crypto
      reader.skip(field);
    }
  });
  user_check(has_metadata || chunk.elsewhere,
             "a column chunk has no description; the file is damaged");
  return chunk;
}

void read_row_group(ThriftReader& reader, const ThriftField& record, ParquetFooter& footer) {
  std::vector<ParquetChunk> chunks;
  std::int64_t rows = -1;
  reader.read_record(record, [&](const ThriftField& field) {
    if (field.id == 1) {
      reader.read_list(
          field, [&](const ThriftField& chunk) { chunks.push_back(read_chunk(reader, chunk)); });
    } else if (field.id == 3) {
      rows = reader.integer(field, INT64_MAX);
    } else {
      reader.skip(field);
    }
  });
  user_check(rows >= 0, "a row group does not say how many rows it has; the file is damaged");
  footer.row_groups.push_back(std::move(chunks));
  footer.row_group_rows.push_back(rows);
}

void read_key_value(ThriftReader& reader, const ThriftField& record, ParquetFooter& footer) {
  std::string_view key, value;
  reader.read_record(record, [&](const ThriftField& field) {
    if (field.id == 1 || field.id == 2) {
      (field.id == 1 ? key : value) = reader.binary(field);
    } else {
      reader.skip(field);
    }
  });
  footer.metadata.insert_or_assign(std::string(key), std::string(value));
}

// Returns the footer, which precedes its length and the magic number at the end of the file.
std::string_view footer_bytes(std::string_view file) {
  user_check(!file.ends_with(kMagicEncrypted),
             "the Parquet file is encrypted; write it without encryption");
  user_check(file.starts_with(kMagic), "expected a Parquet file, which begins with '{}'", kMagic);
  user_check(file.size() >= 12 && file.ends_with(kMagic),
             "a Parquet file ends with '{}', this one does not; it is cut off or still being "
             "written",
             kMagic);
  const std::size_t end = file.size() - 8;
  const auto size = ByteReader(file, end).number<std::uint32_t>();
  user_check(size <= end - kMagic.size(),
             "the footer's length is {} bytes, but only {} come before it; the file is damaged",
             size, end - kMagic.size());
  return file.substr(end - size, size);
}

void check_row_groups(const ParquetFooter& footer, std::uint64_t data_end) {
  std::int64_t rows = 0;
  for (std::size_t group = 0; group < footer.row_groups.size(); ++group) {
    const std::vector<ParquetChunk>& chunks = footer.row_groups[group];
    user_check(chunks.size() == footer.schema.leaves.size(),
               "row group {}: expected {} columns as in the schema, got {}; the file is damaged",
               group, footer.schema.leaves.size(), chunks.size());
    for (const ParquetChunk& chunk : chunks) {
      const bool inside = chunk.offset <= data_end && chunk.size_bytes <= data_end - chunk.offset;
      user_check(chunk.elsewhere || inside,
                 "row group {}: a column takes {} bytes from byte {} on, the data ends at {}; the "
                 "file is damaged",
                 group, chunk.size_bytes, chunk.offset, data_end);
    }
    const bool fits = !__builtin_add_overflow(rows, footer.row_group_rows[group], &rows);
    user_check(fits, "the row groups have more rows than can be counted; the file is damaged");
  }
  user_check(rows == footer.rows,
             "the file says it has {} rows, its row groups have {}; the file is damaged",
             footer.rows, rows);
}

}  // namespace

ParquetFooter read_parquet_footer(std::string_view file) {
  const std::string_view bytes = footer_bytes(file);
  ParquetFooter footer;
  bool has_schema = false;
  ThriftReader reader(bytes);
  with_context("footer", [&] {
    reader.read_record([&](const ThriftField& field) {
      switch (field.id) {
        case 2:
          footer.schema = read_parquet_schema(reader, field);
          has_schema = true;
          break;
        case 3:
          footer.rows = reader.integer(field, INT64_MAX);
          break;
        case 4:
          reader.read_list(
              field, [&](const ThriftField& group) { read_row_group(reader, group, footer); });
          break;
        case 5:
          reader.read_list(field,
                           [&](const ThriftField& pair) { read_key_value(reader, pair, footer); });
          break;
        default:
          reader.skip(field);
      }
    });
    user_check(has_schema, "there is no schema; the file is damaged");
    check_row_groups(footer, static_cast<std::uint64_t>(bytes.data() - file.data()));
  });
  return footer;
}

}  // namespace hone
