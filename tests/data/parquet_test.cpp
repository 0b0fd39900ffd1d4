#include "hone/data/parquet.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hone/base/json.h"
#include "hone/base/text.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// tools/golden/parquet.py makes the files and has the formulas of their columns.
namespace hone {
namespace {

constexpr std::int64_t kRows = 300;
const fs::path kGolden = test_data() / "data" / "golden" / "parquet";

ThreadPool& pool() {
  static ThreadPool threads(2);
  return threads;
}

fs::path golden_parquet(const std::string& name) { return kGolden / (name + ".parquet"); }

template <typename T>
std::vector<T> column(const ParquetFile& file, std::string_view name) {
  return std::get<std::vector<T>>(file.read(name, pool()).values);
}

std::string text_of(std::int64_t i) {
  constexpr std::string_view kWide[] = {"", "é", "é漢", "é漢😀"};
  if (i % 50 == 0) return "";
  std::string text;
  for (std::int64_t k = 0; k < i % 16; ++k) text += "row ";
  return text + std::string(kWide[i % 4]) + std::to_string(i / 3);
}

template <typename T>
std::vector<T> by_row(T (*value)(std::int64_t), std::int64_t rows = kRows) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows; ++i) values.push_back(value(i));
  return values;
}

void expect_table(const fs::path& path, std::int64_t rows = kRows) {
  SCOPED_TRACE(path.filename().string());
  const ParquetFile file(path);
  using Whole = std::int64_t;
  EXPECT_EQ(file.rows(), rows);
  EXPECT_EQ(column<std::string>(file, "text"), by_row<std::string>(text_of, rows));
  EXPECT_EQ(column<Whole>(file, "label"), by_row<Whole>([](Whole i) { return i % 3 - 1; }, rows));
  EXPECT_EQ(column<Whole>(file, "small"), by_row<Whole>([](Whole i) { return -i; }, rows));
  EXPECT_EQ(column<Whole>(file, "byte"), by_row<Whole>([](Whole i) { return i % 256; }, rows));
  EXPECT_EQ(column<Whole>(file, "unsigned"),
            by_row<Whole>([](Whole i) { return UINT32_MAX - i; }, rows));
  EXPECT_EQ(column<Whole>(file, "flag"),
            by_row<Whole>([](Whole i) { return Whole{i % 5 == 0}; }, rows));
  EXPECT_EQ(column<double>(file, "score"),
            by_row<double>([](Whole i) { return static_cast<double>(i) / 4; }, rows));
  EXPECT_EQ(column<double>(file, "real"),
            by_row<double>([](Whole i) { return static_cast<double>(i) / 10; }, rows));
}

void expect_refused(const std::string& fragment, const fs::path& path, std::string_view name) {
  expect_user_error(path.string() + ": " + fragment, [&] { ParquetFile(path).read(name, pool()); });
}

TEST(Parquet, ReadsEveryCodecInBothVersionsOfPages) {
  for (const char* codec : {"none", "snappy", "gzip", "zstd"}) {
    expect_table(golden_parquet(fmt::format("{}_v1", codec)));
    expect_table(golden_parquet(fmt::format("{}_v2", codec)));
  }
}

TEST(Parquet, ReadsRequiredColumnsWithoutLevels) { expect_table(golden_parquet("plain")); }

TEST(Parquet, ReadsDictionariesAlsoWhereTheyOverflow) {
  expect_table(golden_parquet("dictionary"));
  expect_table(golden_parquet("dictionary_overflow"));
}

TEST(Parquet, PutsRowGroupsAndPagesInOrder) {
  expect_table(golden_parquet("row_groups"));
  expect_table(golden_parquet("pages"));
}

TEST(Parquet, ReadsDifferences) {
  expect_table(golden_parquet("delta"));
  const ParquetFile file(golden_parquet("delta_length"));
  EXPECT_EQ(column<std::string>(file, "text"), by_row<std::string>(text_of));
}

TEST(Parquet, PassesOverStatisticsAndIndexes) { expect_table(golden_parquet("statistics")); }

TEST(Parquet, ReadsTablesWithoutRows) { expect_table(golden_parquet("empty"), 0); }

TEST(Parquet, GivesTheSameForAnyNumberOfThreads) {
  ThreadPool one(1), many(5);
  const ParquetFile file(golden_parquet("dictionary_overflow"));
  EXPECT_EQ(file.read("text", one).values, file.read("text", many).values);
}

TEST(Parquet, ReadsWhatArrowWrites) {
  const ParquetFile file(golden_parquet("arrow_types"));
  EXPECT_EQ(column<std::string>(file, "text"), by_row<std::string>(text_of, 20));
  EXPECT_EQ(column<std::string>(file, "kind")[1], "good");
  EXPECT_EQ(column<std::string>(file, "bytes")[3], "\x03\xff");
  expect_refused(
      "column 'long': row group 0, page at byte 1158: row 11 holds "
      "9223372036854775808, more than 9223372036854775807",
      golden_parquet("arrow_types"), "long");
}

TEST(Parquet, ShowsTheColumnsAsATable) {
  const ParquetFile file(golden_parquet("nested"));
  std::vector<std::string> shown;
  for (const ColumnSchema& column : file.columns())
    shown.push_back(column.name + ": " + column.type + (column.readable ? "" : " (not read)"));
  EXPECT_EQ(shown,
            (std::vector<std::string>{"before: int64", "tokens: list<string> (not read)",
                                      "answers: struct (not read)", "pairs: map (not read)",
                                      "after: string", "when: timestamp (not read)",
                                      "price: decimal (not read)", "half: float16 (not read)"}));
}

TEST(Parquet, ReadsFlatColumnsBesideNestedOnes) {
  const ParquetFile file(golden_parquet("nested"));
  EXPECT_EQ(column<std::int64_t>(file, "before"), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(column<std::string>(file, "after"), (std::vector<std::string>{"x", "y"}));
}

TEST(Parquet, RefusesNestedAndOtherColumnsByName) {
  expect_refused(
      "column 'tokens' is of type list<string>; only flat columns of strings, whole numbers, "
      "numbers and booleans are read",
      golden_parquet("nested"), "tokens");
  expect_refused("column 'when' is of type timestamp", golden_parquet("nested"), "when");
  expect_refused("column 'none' is of type null", golden_parquet("nulls"), "none");
  expect_refused("no column 'txt'; the columns are: 'text', 'label'; did you mean 'text'?",
                 golden_parquet("hub"), "txt");
}

TEST(Parquet, NamesTheRowOfANull) {
  const std::string message = "row 3 is null; remove or fill such rows";
  expect_user_error(message, [&] { ParquetFile(golden_parquet("nulls")).read("text", pool()); });
  expect_user_error("row 5 is null",
                    [&] { ParquetFile(golden_parquet("nulls")).read("label", pool()); });
  expect_user_error("row 1 is null",
                    [&] { ParquetFile(golden_parquet("nulls")).read("all", pool()); });
}

TEST(Parquet, KnowsColumnsWithoutAnyValue) {
  const ParquetFile file(golden_parquet("nulls"));
  EXPECT_TRUE(file.is_null("all"));
  EXPECT_TRUE(file.is_null("none"));
  for (const char* column : {"text", "label", "not there"})
    EXPECT_FALSE(file.is_null(column)) << column;
  EXPECT_FALSE(ParquetFile(golden_parquet("plain")).is_null("text")) << "required";
  EXPECT_FALSE(ParquetFile(golden_parquet("empty")).is_null("text"));
  const ParquetFile lists(test_data() / "data/golden/parquet/lists_nulls.parquet");
  EXPECT_FALSE(lists.is_null("gone"));
}

TEST(Parquet, RefusesCodecsByName) {
  const std::string message =
      "column 'text': row group 0: the column is compressed with {}; supported are snappy, gzip, "
      "zstd and no compression: write the file again with one of them (pyarrow: "
      "compression='zstd')";
  expect_refused(fmt::format(fmt::runtime(message), "brotli"), golden_parquet("brotli"), "text");
  expect_refused(fmt::format(fmt::runtime(message), "lz4_raw"), golden_parquet("lz4"), "text");
}

TEST(Parquet, JoinsStreamsOfBytes) { expect_table(golden_parquet("split")); }

TEST(Parquet, RefusesFilesThatUnpackOutOfAllProportion) {
  const std::string message =
      "the column would take more than 64 MiB of memory, far more than the file's size explains";
  for (const char* name : {"bomb_rows", "bomb_dictionary", "bomb_page", "bomb_prefix"}) {
    SCOPED_TRACE(name);
    const ParquetFile file(golden_parquet(name));
    EXPECT_LT(fs::file_size(golden_parquet(name)), 30'000u);
    expect_user_error(message, [&] { file.read(file.columns()[0].name, pool()); });
  }
}

TEST(Parquet, KeepsTheMetadataOfTheHub) {
  const ParquetFile file(golden_parquet("hub"));
  const Json features = parse_json(file.metadata().at("huggingface"), "huggingface");
  EXPECT_EQ(features["info"]["features"]["label"]["names"], (Json{"neg", "pos"}));
  EXPECT_EQ(column<std::int64_t>(file, "label"), (std::vector<std::int64_t>{1, 0}));
}

TEST(Parquet, RefusesFilesThatAreNone) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::string& fragment, std::string_view bytes) {
    const fs::path path = folder.file("x.parquet", bytes);
    expect_user_error(path.string() + ": " + fragment, [&] { ParquetFile file(path); });
  };
  refuse("expected a Parquet file, which begins with 'PAR1'", "");
  refuse("expected a Parquet file, which begins with 'PAR1'", "text,label\n");
  refuse("a Parquet file ends with 'PAR1', this one does not; it is cut off", "PAR1 and so on");
  refuse("a Parquet file ends with 'PAR1', this one does not; it is cut off", "PAR1PAR1");
  refuse("the Parquet file is encrypted", "PARE 1234 PARE");
  refuse("the footer's length is 4294967295 bytes, but only 0 come before it",
         "PAR1\xff\xff\xff\xffPAR1");
  refuse("footer: expected 1 bytes at byte 0, only 0 are left",
         std::string("PAR1\0\0\0\0PAR1", 12));
  expect_user_error("cannot open", [&] { ParquetFile file(folder.path() / "none"); });
}

TEST(Parquet, NoTruncationIsAccepted) {
  const std::string whole = read_file(golden_parquet("hub"));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string_view part = std::string_view(whole).substr(0, length);
    EXPECT_THROW(ParquetFile(part, "part"), UserError) << length << " bytes";
  }
}

// Other damaged bytes may change names or nothing at all, but must not crash the program.
TEST(Parquet, NoticesEveryDamagedByteOfPagesWithCheckSums) {
  const std::string whole = read_file(golden_parquet("check_sums"));
  constexpr std::size_t kPageBegin = 100,
                        kPageEnd = 1500;  // the dictionary page of the first column
  for (std::size_t i = 0; i < whole.size(); i += 7) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const auto read = [&] { ParquetFile(damaged, "damaged").read("text", pool()); };
    if (i >= kPageBegin && i < kPageEnd) {
      expect_user_error("page at byte 4: expected check sum", read);
      continue;
    }
    try {
      read();
    } catch (const UserError&) {
    }
  }
}

}  // namespace
}  // namespace hone
