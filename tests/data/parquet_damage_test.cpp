#include <gtest/gtest.h>

#include "hone/data/parquet.h"
#include "tests/data/thrift_writer.h"
#include "tests/support/expect.h"

// Parquet files built by hand, each with one fault.
namespace hone {
namespace {

using testing::ThriftRecord;

std::string u32(std::size_t value) {
  const auto number = static_cast<std::uint32_t>(value);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// One required column "n" of two INT32 values, in an uncompressed page of version 1.
struct File {
  std::int64_t rows = 2, group_rows = 2, values = 2, page_values = 2;
  std::int64_t physical = 1, codec = 0, kind = 0, encoding = 0, level_encoding = 3;
  std::int64_t size_bytes = 8, packed_bytes = 8;
  std::int64_t offset = 4, chunk_bytes = -1;  // -1: the true size
  std::int64_t children = 1;
  int chunks = 1;
  ThriftRecord chunk_extra = {};  // further fields of the column chunk
  std::string content = std::string("\7\0\0\0\x09\0\0\0", 8);

  std::string page() const {
    ThriftRecord data;
    data.integer(1, page_values).integer(2, encoding).field(3, 5, testing::zigzag(level_encoding));
    ThriftRecord header;
    header.integer(1, kind).integer(2, size_bytes).integer(3, packed_bytes).record(5, data);
    return header.bytes() + content;
  }
  std::string bytes() const {
    const std::string body = page();
    ThriftRecord description, chunk, group, footer, root, column;
    description.integer(1, physical).integer(4, codec).integer(5, values);
    description.integer(7, chunk_bytes < 0 ? static_cast<std::int64_t>(body.size()) : chunk_bytes);
    description.integer(9, offset);
    chunk = chunk_extra;
    chunk.record(3, description);
    group.records(1, std::vector<ThriftRecord>(static_cast<std::size_t>(chunks), chunk));
    group.integer(3, group_rows);
    root.binary(4, "root").integer(5, children);
    column.integer(1, 1).integer(3, 0).binary(4, "n");
    footer.records(2, {root, column}).integer(3, rows).records(4, {group});
    const std::string end = footer.bytes();
    return "PAR1" + body + end + u32(end.size()) + "PAR1";
  }
};

std::vector<std::int64_t> read(const std::string& bytes) {
  ThreadPool pool(1);
  return std::get<std::vector<std::int64_t>>(
      ParquetFile(bytes, "x.parquet").read("n", pool).values);
}

void expect_refused(const std::string& message, const File& file) {
  const std::string bytes = file.bytes();
  expect_user_error(message, [&] { read(bytes); });
}

TEST(ParquetDamage, WithoutAnyTheFileIsRead) {
  EXPECT_EQ(read(File().bytes()), (std::vector<std::int64_t>{7, 9}));
}

TEST(ParquetDamage, CountsThatContradictEachOther) {
  expect_refused("x.parquet: footer: the file says it has 3 rows, its row groups have 2",
                 {.rows = 3});
  expect_refused("row group 0: expected 2 values of the schema's type", {.values = 1});
  expect_refused("row group 0: expected 3 values of the schema's type",
                 {.rows = 3, .group_rows = 3});
  expect_refused("row group 0: expected 2 values of the schema's type", {.physical = 2});
  expect_refused("the pages hold more values than the 2 of the column", {.page_values = 3});
  expect_refused("row group 0: expected 1 columns as in the schema, got 2", {.chunks = 2});
  // A page of one value. The reader then expects another page header.
  expect_refused("column 'n': row group 0: page at byte", {.page_values = 1});
  expect_refused("the column would take more than 64 MiB of memory",
                 {.rows = INT64_MAX, .group_rows = INT64_MAX, .values = INT64_MAX});
}

TEST(ParquetDamage, PlacesOutsideOfTheFile) {
  expect_refused("a column takes 1000000 bytes from byte 4 on, the data ends at",
                 {.chunk_bytes = 1'000'000});
  expect_refused("bytes from byte 9223372036854775807 on", {.offset = INT64_MAX});
  expect_refused("expected 1000 bytes at byte", {.packed_bytes = 1000});
}

TEST(ParquetDamage, PagesThatAreNone) {
  expect_refused("page at byte 4: a page of kind 9, which Parquet does not have", {.kind = 9});
  expect_refused("the header of an uncompressed page says both 9 and 8 bytes", {.size_bytes = 9});
  expect_refused("definition levels have encoding 4; only 3 (RLE) is read", {.level_encoding = 4});
  expect_refused("a page does not decompress with snappy to the 8 bytes that its header says",
                 {.codec = 1});
  expect_refused("a page does not decompress with gzip to the 8 bytes", {.codec = 2});
  expect_refused("a page does not decompress with zstd to the 8 bytes", {.codec = 6});
  expect_refused("the column is compressed with method 17, which Parquet does not have",
                 {.codec = 17});
  expect_refused("values in encoding 99 are not read", {.encoding = 99});
}

TEST(ParquetDamage, ADictionaryInTheMiddle) {
  File file;
  const std::string data = file.page();
  file.kind = 2;
  file.content += data + file.page();  // the first page becomes a dictionary, another follows
  file.rows = file.group_rows = file.values = 4;
  expect_refused("a dictionary that is not the first page of its column", file);
}

TEST(ParquetDamage, ColumnsThatAreElsewhere) {
  const std::string message = "the column is encrypted or in another file; neither is read";
  File file;
  file.chunk_extra.binary(1, "other.parquet");
  expect_refused(message, file);
  File encrypted;
  encrypted.chunk_extra.record(8, ThriftRecord());
  expect_refused(message, encrypted);
}

TEST(ParquetDamage, SchemasThatAreNoTree) {
  expect_refused("the schema lists 2 elements, its groups hold more", {.children = 2});
  expect_refused("the schema lists 2 elements, its groups hold 1", {.children = 0});
}

std::string with_footer(const ThriftRecord& footer) {
  const std::string end = footer.bytes();
  return "PAR1" + end + u32(end.size()) + "PAR1";
}

TEST(ParquetDamage, DescriptionsThatLackSomething) {
  const auto refuse = [](const std::string& message, const ThriftRecord& footer) {
    const std::string bytes = with_footer(footer);
    expect_user_error(message, [&] { ParquetFile file(bytes, "x"); });
  };
  ThriftRecord nameless, group;
  refuse("an element of the schema has no name", nameless.records(2, {ThriftRecord()}));
  refuse("footer: there is no schema", ThriftRecord());
  ThriftRecord value, root;
  refuse("the schema begins with a value; expected a group of columns",
         ThriftRecord().records(2, {value.binary(4, "n").integer(1, 1)}));
  root.binary(4, "root");
  group.records(1, {ThriftRecord()}).integer(3, 0);
  refuse("a row group does not say how many rows it has",
         ThriftRecord().records(2, {root}).records(4, {ThriftRecord()}));
  refuse("a column chunk has no description",
         ThriftRecord().records(2, {root}).records(4, {group}));
  ThriftRecord chunk, chunk_group;
  chunk.record(3, ThriftRecord());
  refuse("a column chunk lacks its type, place or size",
         ThriftRecord().records(2, {root}).records(4, {chunk_group.records(1, {chunk})}));
  std::vector<ThriftRecord> deep(100, ThriftRecord().binary(4, "x").integer(5, 1));
  deep.back() = ThriftRecord().binary(4, "x").integer(1, 1);
  refuse("the schema is nested deeper than 64", ThriftRecord().records(2, deep));
}

}  // namespace
}  // namespace hone
