#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "hone/data/data_set.h"
#include "hone/data/data_table.h"
#include "hone/data/parquet.h"
#include "tests/data/thrift_writer.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// Columns of lists. The files come from tools/golden/parquet.py, which also has the formulas of their columns, or are
// built by hand with one fault each.
namespace hone {
namespace {

using testing::ThriftRecord;
using Whole = std::int64_t;
template <typename T>
using ListRows = std::vector<std::vector<T>>;

constexpr Whole kListRows = 100;

ThreadPool& list_pool() {
  static ThreadPool threads(2);
  return threads;
}

fs::path list_file(const std::string& name) {
  return test_data() / "data" / "golden" / "parquet" / (name + ".parquet");
}

template <typename T>
ListRows<T> rows_of_lists(const StoredLists& lists) {
  const auto& values = std::get<std::vector<T>>(lists.values.values);
  ListRows<T> rows;
  for (std::size_t i = 0; i + 1 < lists.begins.size(); ++i)
    rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(lists.begins[i]),
                      values.begin() + static_cast<std::ptrdiff_t>(lists.begins[i + 1]));
  EXPECT_EQ(lists.begins.back(), values.size());
  return rows;
}

template <typename T>
ListRows<T> lists_in(const ParquetFile& file, std::string_view name) {
  return rows_of_lists<T>(file.read_lists(name, list_pool()));
}

template <typename T>
ListRows<T> by_formula(std::vector<T> (*row)(Whole)) {
  ListRows<T> rows;
  for (Whole i = 0; i < kListRows; ++i) rows.push_back(row(i));
  return rows;
}

std::vector<Whole> numbers_of_row(Whole i) {
  std::vector<Whole> values;
  for (Whole k = 0; k < i % 5; ++k) values.push_back((i + k) % 7);
  return values;
}

void expect_lists(const std::string& name) {
  SCOPED_TRACE(name);
  const ParquetFile file(list_file(name));
  EXPECT_EQ(lists_in<Whole>(file, "labels"), by_formula<Whole>(numbers_of_row));
  EXPECT_EQ(lists_in<std::string>(file, "names"), by_formula<std::string>([](Whole i) {
              std::vector<std::string> names;
              for (const Whole value : numbers_of_row(i))
                names.push_back("name " + std::to_string(value));
              return names;
            }));
  EXPECT_EQ(lists_in<Whole>(file, "flags"), by_formula<Whole>([](Whole i) {
              return std::vector<Whole>{i % 2 == 0, i % 3 == 0, i % 5 == 0};
            }));
  EXPECT_EQ(lists_in<double>(file, "scores"), by_formula<double>([](Whole i) {
              const auto value = static_cast<double>(i);
              return std::vector<double>{value / 4, value / 8};
            }));
  EXPECT_EQ(lists_in<Whole>(file, "required"), by_formula<Whole>(numbers_of_row));
  EXPECT_EQ(lists_in<Whole>(file, "large"), by_formula<Whole>(numbers_of_row));
  EXPECT_EQ(lists_in<Whole>(file, "empty"), ListRows<Whole>(kListRows));
  EXPECT_EQ(std::get<std::vector<std::string>>(file.read("text", list_pool()).values).size(),
            static_cast<std::size_t>(kListRows));
}

void expect_no_lists(const std::string& message, const std::string& name, std::string_view column) {
  expect_user_error(message, [&] { ParquetFile(list_file(name)).read_lists(column, list_pool()); });
}

TEST(StoredLists, AreReadInBothVersionsOfPages) {
  expect_lists("lists_v1");
  expect_lists("lists_v2");
}

TEST(StoredLists, AreReadWithoutDictionariesAndWhereNothingMayBeMissing) {
  expect_lists("lists_plain");
}

TEST(StoredLists, AreReadWherePagesEndWithinRows) { expect_lists("lists_pages"); }

TEST(StoredLists, AreReadByTheOldNamesOfTheirGroups) { expect_lists("lists_legacy"); }

TEST(StoredLists, AreToldFromOtherColumns) {
  std::vector<std::string> shown;
  for (const char* name : {"lists_v1", "lists_nulls", "nested"}) {
    const ParquetFile file(list_file(name));
    for (const ColumnSchema& column : file.columns())
      if (column.is_list) shown.push_back(column.name + ": " + column.type);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"labels: list<int64>", "names: list<string>",
                                             "flags: list<bool>", "scores: list<float32>",
                                             "required: list<int64>", "large: list<int8>",
                                             "empty: list<int64>", "gone: list<int64>",
                                             "within: list<int64>", "tokens: list<string>"}));
  expect_no_lists(
      "column 'deep' is of type list<list<int64>>; expected lists of strings, whole numbers, "
      "numbers or booleans",
      "lists_nulls", "deep");
  expect_no_lists("column 'structs' is of type list<struct>", "lists_nulls", "structs");
  expect_no_lists("column 'text' is of type string", "lists_v1", "text");
}

TEST(StoredLists, NameTheRowOfANull) {
  expect_no_lists("row 2 is null; remove or fill such rows", "lists_nulls", "gone");
  expect_no_lists("the list of row 3 contains a null; remove or fill it", "lists_nulls", "within");
}

TEST(StoredLists, RefuseFilesThatUnpackOutOfAllProportion) {
  EXPECT_LT(fs::file_size(list_file("bomb_lists")), 30'000u);
  expect_no_lists("the column would take more than 64 MiB of memory", "bomb_lists", "labels");
}

TEST(StoredLists, AreSetsOfLabelsByTheNamesOfTheHub) {
  for (const char* name : {"hub_list", "hub_sequence", "hub_array"}) {
    SCOPED_TRACE(name);
    const DataSet data = load_data_set({.source = list_file(name).string()}, list_pool());
    EXPECT_EQ(data.task, Task::multi_label);
    EXPECT_EQ(data.label_names, (std::vector<std::string>{"joy", "fear", "rage"}));
    EXPECT_EQ(data.train[0].targets, (std::vector<float>{1, 0, 1}));
    EXPECT_EQ(data.train[1].targets, (std::vector<float>{0, 0, 0}));
    EXPECT_EQ(data.train[2].targets, (std::vector<float>{0, 1, 0}));
  }
  expect_user_error(
      "column 'labels' is of type list<int64>; only flat columns of strings, whole numbers, "
      "numbers and booleans are read",
      [] {
        load_data_set({.source = list_file("hub_list").string(), .task = Task::single_label},
                      list_pool());
      });
}

TEST(StoredLists, OfNumbersAreARegressionOfSeveral) {
  const DataSet data = load_data_set(
      {.source = list_file("lists_v1").string(), .label_column = "scores"}, list_pool());
  EXPECT_EQ(data.task, Task::regression);
  EXPECT_EQ(data.label_names, (std::vector<std::string>{"LABEL_0", "LABEL_1"}));
  EXPECT_EQ(data.train[3].targets, (std::vector<float>{0.75F, 0.375F}));
  const DataSet flags = load_data_set(
      {.source = list_file("lists_v1").string(), .label_column = "flags"}, list_pool());
  EXPECT_EQ(flags.task, Task::multi_label);
  EXPECT_EQ(flags.train[3].targets, (std::vector<float>{0, 1, 0}));
}

// `datasets` writes a missing class as -1.
TEST(ParquetColumns, OfClassesLeaveRowsWithoutAClassOut) {
  const DataSet data = load_data_set({.source = list_file("hub_missing").string()}, list_pool());
  EXPECT_EQ(data.label_names, (std::vector<std::string>{"neg", "pos"}));
  ASSERT_EQ(data.train.size(), 2u);
  EXPECT_EQ(data.train[0].label, 1);
  EXPECT_EQ(data.train[1].text, "dull");
  EXPECT_EQ(data.train[1].row, 3);
  EXPECT_EQ(data.train[1].label, 0);
  EXPECT_EQ(data.notes.front(), "left out: 1 of 3 train examples, whose label is -1 (no label)");
}

TEST(ParquetColumns, OfNumbersAreARegression) {
  const std::string source = list_file("none_v1").string();
  const DataSet one = load_data_set({.source = source, .label_column = "real"}, list_pool());
  EXPECT_EQ(one.task, Task::regression);
  EXPECT_EQ(one.label_names, std::vector<std::string>{"real"});
  EXPECT_EQ(one.train[3].targets, std::vector<float>{0.3F});
  const DataSet two = load_data_set({.source = source, .label_column = "score,real"}, list_pool());
  EXPECT_EQ(two.label_names, (std::vector<std::string>{"score", "real"}));
  EXPECT_EQ(two.train[3].targets, (std::vector<float>{0.75F, 0.3F}));
  expect_user_error("row 2: 'real' is no label: expected whole numbers or names, got 0.1", [&] {
    load_data_set({.source = source, .label_column = "real", .task = Task::single_label},
                  list_pool());
  });
}

TEST(ParquetColumns, OfListsAreShownAsArrays) {
  const MappedFile file(list_file("hub_list"));
  const DataTable table = open_parquet(file.text());
  std::vector<std::string> notes;
  const ColumnChoice choice = choose_shown_columns(table.columns, {}, notes);
  EXPECT_EQ(choice.gold, "labels");
  EXPECT_EQ(table.read(choice, list_pool())[0].gold, "[\"2\",\"0\"]");
}

std::string with_length(const std::string& bytes) {
  const auto size = static_cast<std::uint32_t>(bytes.size());
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + bytes;
}

// Returns a run of one value, repeated `times`.
std::string run_of(int value, int times) {
  return testing::varint(static_cast<std::uint64_t>(times) << 1) + static_cast<char>(value);
}

// One repeated column "n" without a surrounding group: the lists [7, 9] and [] in a page of version 1.
struct ListFile {
  std::int64_t rows = 2, values = 3, page_values = 3;
  std::string repetition = run_of(0, 1) + run_of(1, 1) + run_of(0, 1);
  std::string definition = run_of(1, 2) + run_of(0, 1);
  std::string numbers = std::string("\7\0\0\0\x09\0\0\0", 8);

  std::string bytes() const {
    const std::string content = with_length(repetition) + with_length(definition) + numbers;
    const auto size = static_cast<std::int64_t>(content.size());
    ThriftRecord data, header;
    data.integer(1, page_values).integer(2, 0).field(3, 5, testing::zigzag(3));
    header.integer(1, 0).integer(2, size).integer(3, size).record(5, data);
    const std::string body = header.bytes() + content;
    ThriftRecord description, chunk, group, footer, root, column;
    description.integer(1, 1).integer(4, 0).integer(5, values);
    description.integer(7, static_cast<std::int64_t>(body.size())).integer(9, 4);
    chunk.record(3, description);
    group.records(1, {chunk}).integer(3, rows);
    root.binary(4, "root").integer(5, 1);
    column.integer(1, 1).integer(3, 2).binary(4, "n");
    footer.records(2, {root, column}).integer(3, rows).records(4, {group});
    const std::string end = footer.bytes(), length = with_length(end).substr(0, 4);
    return "PAR1" + body + end + length + "PAR1";
  }
};

void expect_damage(const std::string& message, const ListFile& file) {
  const std::string bytes = file.bytes();
  expect_user_error(message, [&] { ParquetFile(bytes, "x.parquet").read_lists("n", list_pool()); });
}

TEST(DamagedLists, WithoutDamageAreRead) {
  const std::string bytes = ListFile().bytes();
  EXPECT_EQ(lists_in<Whole>(ParquetFile(bytes, "x.parquet"), "n"), (ListRows<Whole>{{7, 9}, {}}));
}

TEST(DamagedLists, DoNotMakeTheRowsOfTheirGroup) {
  expect_damage("x.parquet: column 'n': row group 0: expected 3 rows, the lists give 2",
                {.rows = 3});
  expect_damage("row group 0: expected 1 rows, the lists give 2", {.rows = 1});
  expect_damage("page at byte 4: a row group begins in the middle of a list",
                {.repetition = run_of(1, 2) + run_of(0, 1)});
}

TEST(DamagedLists, HaveLevelsThatAreNone) {
  expect_damage("a list goes on with nothing",
                {.repetition = run_of(0, 1) + run_of(1, 1) + run_of(0, 1),
                 .definition = run_of(1, 1) + run_of(0, 1) + run_of(1, 1)});
  expect_damage("a level of 2 in a column that has at most 1", {.definition = run_of(2, 3)});
  expect_damage("a level of 3 in a column that has at most 1", {.repetition = run_of(3, 3)});
  expect_damage("the file is cut off or damaged", {.definition = run_of(1, 2)});
  expect_damage("3 values do not fit the 8 bytes of their page", {.definition = run_of(1, 3)});
  expect_damage("the pages hold more values than the 2 of the column", {.values = 2});
}

TEST(DamagedLists, TakeNoMoreMemoryThanTheirFileIsWorth) {
  expect_damage("the column would take more than 64 MiB of memory",
                {.values = INT64_MAX, .page_values = INT32_MAX});
  expect_damage("the column would take more than 64 MiB of memory",
                {.rows = 1 << 30,
                 .values = 1 << 30,
                 .page_values = 1 << 30,
                 .repetition = run_of(0, 1 << 30),
                 .definition = run_of(0, 1 << 30)});
}

// A file with any byte damaged is either read or refused.
TEST(DamagedLists, AreReadOrRefusedWhicheverByteIsWrong) {
  for (const char* name : {"lists_v2", "lists_pages"}) {
    const std::string whole = read_file(list_file(name));
    for (std::size_t at = 0; at < whole.size(); at += 17) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      try {
        const ParquetFile file(bytes, "x.parquet");
        for (const ColumnSchema& column : file.columns()) {
          if (!column.is_list) continue;
          EXPECT_EQ(file.read_lists(column.name, list_pool()).begins.size(),
                    static_cast<std::size_t>(file.rows()) + 1);
        }
      } catch (const UserError&) {
      }
    }
  }
}

}  // namespace
}  // namespace hone
