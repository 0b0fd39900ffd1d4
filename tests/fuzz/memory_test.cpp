#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "fuzz/targets.h"
#include "hone/base/error.h"

// Runs parsers on files made to exhaust memory, through the fuzz targets, and counts all allocated bytes.
namespace {

std::atomic<std::int64_t> live_bytes{0};
std::atomic<std::int64_t> peak_bytes{0};

void* counted(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  const std::int64_t live = live_bytes += static_cast<std::int64_t>(::malloc_usable_size(block));
  if (live > peak_bytes) peak_bytes = live;
  return block;
}

void release(void* block) {
  live_bytes -= static_cast<std::int64_t>(::malloc_usable_size(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
// std::stable_sort calls this one.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* block = std::malloc(size);
  return block == nullptr ? nullptr : counted(block);
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }

namespace hone::fuzz {
namespace {

// The smallest items of a file take a byte or two, and a string or a vector in memory.
constexpr std::int64_t kMostExpansion = 128;
// hone/data/parquet.h allows as much for columns that pack well.
constexpr std::int64_t kFreeForParquet = std::int64_t{64} << 20;

void expect_modest(void (*target)(std::string_view), const std::string& bytes,
                   std::int64_t free_bytes = 0) {
  const auto run = [&] {
    try {
      target(bytes);
    } catch (const UserError&) {
    }
  };
  run();  // creates the objects that live as long as the program
  const std::int64_t before = live_bytes;
  peak_bytes = before;
  run();
  EXPECT_LE(peak_bytes - before, kMostExpansion * std::ssize(bytes) + free_bytes);
  EXPECT_EQ(live_bytes - before, 0) << "something is kept";
}

std::string repeated(std::string_view piece, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += piece;
  return text;
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

std::string safetensors_of(const std::string& header) {
  return little_endian(header.size(), 8) + header;
}

TEST(Memory, OfSafetensorsHeadersFullOfSmallThings) {
  expect_modest(safetensors, safetensors_of("{\"a\":[" + repeated("[],", 100'000) + "[]]}"));
  expect_modest(safetensors,
                safetensors_of("{\"a\":{\"shape\":[" + repeated("0,", 200'000) + "0]}}"));
  expect_modest(safetensors,
                safetensors_of("{\"__metadata__\":{" + repeated("\"\":\"\",", 50'000) + "}}"));
}

TEST(Memory, OfPicklesFullOfSmallThings) {
  const std::string begin = "\x80\x02";
  expect_modest(unpickler, begin + std::string(400'000, 'N') + ".");
  expect_modest(unpickler, begin + std::string(400'000, ')') + ".");
  expect_modest(unpickler, begin + std::string(400'000, '(') + ".");
  expect_modest(unpickler, begin + repeated("]q\x01", 100'000) + ".");
  expect_modest(unpickler, begin + "]q\x01" +
                               repeated("h\x01"
                                        "a",
                                        100'000) +
                               ".");
}

// All tensors share one tuple of 8 sizes.
TEST(Memory, OfPicklesThatUseOneShapeForManyTensors) {
  const std::string sizes = "(" + repeated("K\x01", 8) + "tq\x01";
  const std::string storage = "(X\x07" + std::string(3, '\0') +
                              "storagectorch\nFloatStorage\nX\x01" + std::string(3, '\0') +
                              "0NK\x01tQq\x02";
  const std::string make = "ctorch._utils\n_rebuild_tensor_v2\nq\x03";
  const std::string arguments = "(h\x02K" + std::string(1, '\0') + "h\x01h\x01\x89Ntq\x04";
  const std::string start = "\x80\x02" + sizes + storage + make + arguments;
  expect_modest(unpickler, start + repeated("h\x03h\x04R", 100'000) + ".");
  EXPECT_NO_THROW(unpickler(start + repeated("h\x03h\x04R", 100) + "."));
}

TEST(Memory, OfJsonFullOfSmallThings) {
  expect_modest(config, "{\"a\":[" + repeated("[],", 100'000) + "[]]}");
  expect_modest(config, "{\"id2label\":[" + repeated("{},", 100'000) + "{}]}");
  expect_modest(tokenizer, "{\"model\":{\"vocab\":{\"a\":2000000000}}}" + std::string(50'000, ' '));
  expect_modest(tokenizer, "{\"model\":{\"vocab\":{" + repeated("\"\":0,", 100'000) + "\"a\":0}}}");
  expect_modest(tokenizer, "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[" +
                               repeated("\"a b\",", 100'000) + "\"a b\"]}}");
  expect_modest(json_table, repeated("{\"text\":\"\"}\n", 50'000));
  expect_modest(json_table, "[" + repeated("{\"text\":\"\"},", 50'000) + "{}]");
}

TEST(Memory, OfTextFullOfSmallThings) {
  expect_modest(tokenizer, std::string(300'000, '\n'));
  expect_modest(tokenizer, repeated("a\n", 100'000));
  expect_modest(tokenizer, std::string("{}\0{}\0", 6) + repeated("a b\n", 100'000));
  expect_modest(csv, std::string(300'000, ','));
  expect_modest(csv, "text,label\n" + repeated(",\n", 100'000));
  expect_modest(graph_text, repeated("%a=input:f32[]\n", 10'000));
  expect_modest(graph_text, "%a=input:f32[" + repeated("1,", 100'000) + "1]\n");
}

// The schema lists columns of a few bytes each.
TEST(Memory, OfParquetFilesWithManyColumns) {
  // SchemaElement: 1 type (i32) 1 = int32, 4 name "a", stop.
  const std::string column(
      "\x15\x02\x38\x01"
      "a\x00",
      6);
  const std::size_t count = 100'000;
  std::string varint;
  for (std::size_t rest = count + 1; rest > 0; rest >>= 7)
    varint += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  // FileMetaData: 2 schema, a list of records, the first of them a group of all others.
  std::string children;
  for (std::size_t rest = 2 * count; rest > 0; rest >>= 7)
    children += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  const std::string root = std::string(
                               "\x48\x01"
                               "r\x15",
                               4) +
                           children + std::string(1, '\0');
  const std::string footer =
      "\x29\xfc" + varint + root + repeated(column, count) + std::string(1, '\0');
  const std::string file = "PAR1" + footer + little_endian(footer.size(), 4) + "PAR1";
  EXPECT_NO_THROW(parquet(file));
  expect_modest(parquet, file, kFreeForParquet);
}

}  // namespace
}  // namespace hone::fuzz
