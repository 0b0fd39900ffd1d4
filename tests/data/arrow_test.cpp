#include "hone/data/arrow.h"

#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

// tools/golden/arrow.py makes the files and has the formulas of their columns.
namespace hone {
namespace {

const fs::path kArrow = test_data() / "data" / "golden" / "arrow";
using Whole = std::int64_t;

ThreadPool& arrow_pool() {
  static ThreadPool threads(2);
  return threads;
}

/// A golden file.
struct Golden {
  explicit Golden(const std::string& name)
      : bytes(read_file(kArrow / (name + ".arrow"))), file(bytes) {}
  template <typename T>
  std::vector<T> column(std::string_view name) const {
    return std::get<std::vector<T>>(file.read(name, arrow_pool()).values);
  }

  std::string bytes;
  ArrowFile file;
};

template <typename T>
std::vector<T> by_row(std::int64_t rows, T (*value)(std::int64_t)) {
  std::vector<T> values;
  for (std::int64_t i = 0; i < rows; ++i) values.push_back(value(i));
  return values;
}

std::string arrow_text(std::int64_t i) {
  constexpr std::string_view kWide[] = {"", "é", "é漢", "é漢😀"};
  if (i % 10 == 0) return "";
  std::string text;
  for (std::int64_t k = 0; k < i % 4; ++k) text += "row ";
  return text + std::string(kWide[i % 4]) + std::to_string(i / 3);
}

TEST(ArrowFile, ReadsAllFormsOfTheFormat) {
  for (const char* name : {"stream", "batches", "file", "zstd", "legacy"}) {
    SCOPED_TRACE(name);
    const Golden golden(name);
    EXPECT_EQ(golden.file.rows(), 40);
    for (const char* text : {"text", "large"})
      EXPECT_EQ(golden.column<std::string>(text), by_row<std::string>(40, arrow_text));
    for (const int bits : {8, 16, 32, 64}) {
      EXPECT_EQ(golden.column<Whole>(fmt::format("int{}", bits)),
                by_row<Whole>(40, [](Whole i) { return i - 20; }));
      EXPECT_EQ(golden.column<Whole>(fmt::format("uint{}", bits)),
                by_row<Whole>(40, [](Whole i) { return i; }));
    }
    for (const char* quarters : {"half", "single"})
      EXPECT_EQ(golden.column<double>(quarters),
                by_row<double>(40, [](Whole i) { return static_cast<double>(i) / 4; }));
    EXPECT_EQ(golden.column<double>("double"),
              by_row<double>(40, [](Whole i) { return static_cast<double>(i) / 10; }));
    EXPECT_EQ(golden.column<Whole>("flag"),
              by_row<Whole>(40, [](Whole i) { return Whole{i % 5 == 0}; }));
  }
  const Golden empty("empty");
  EXPECT_EQ(empty.file.rows(), 0);
  EXPECT_TRUE(empty.column<std::string>("text").empty());
}

void expect_lists(const std::string& name, std::int64_t first, std::int64_t rows) {
  SCOPED_TRACE(name);
  const Golden golden(name);
  for (const char* column : {"labels", "names", "scores", "kinds"}) {
    SCOPED_TRACE(column);
    const StoredLists lists = golden.file.read_lists(column, arrow_pool());
    ASSERT_EQ(std::ssize(lists.begins), rows + 1);
    std::size_t at = 0;
    for (std::int64_t i = first; i < first + rows; ++i) {
      EXPECT_EQ(lists.begins[static_cast<std::size_t>(i - first)], at);
      for (std::int64_t k = 0; k < i % 5; ++k, ++at) {
        const std::int64_t value = (i + k) % 7;
        std::visit(
            [&]<typename T>(const std::vector<T>& values) {
              if constexpr (std::is_same_v<T, std::string>)
                EXPECT_EQ(values.at(at), fmt::format("name {}", value));
              else
                EXPECT_EQ(values.at(at),
                          static_cast<T>(value) / (std::is_same_v<T, double> ? 4 : 1));
            },
            lists.values.values);
      }
    }
    EXPECT_EQ(lists.begins.back(), at);
  }
}

TEST(ArrowFile, ReadsLists) {
  expect_lists("lists", 0, 40);
  expect_lists("lists_slice", 13, 20);
}

TEST(ArrowFile, ReadsDictionariesThatGrowAndAreReplaced) {
  const Golden golden("dictionary");
  EXPECT_EQ(golden.column<std::string>("kind"),
            by_row<std::string>(40, [](Whole i) { return fmt::format("value {}", i % 7); }));
  EXPECT_EQ(golden.column<std::string>("small"), by_row<std::string>(40, [](Whole i) {
              return std::string(1, static_cast<char>('a' + i % 3));
            }));
  EXPECT_EQ(golden.column<Whole>("number"), by_row<Whole>(40, [](Whole i) { return i % 5; }));
  EXPECT_EQ(golden.file.columns()[1].type, "string");
  for (const char* name : {"dictionary_delta", "dictionary_replaced"})
    EXPECT_EQ(Golden(name).column<std::string>("kind"),
              (std::vector<std::string>{"a", "b", "a", "b", "c", "a", "b", "c", "d"}));
}

TEST(ArrowFile, PassesOverColumnsOfOtherTypes) {
  const Golden golden("other_types");
  EXPECT_EQ(golden.column<std::string>("text"),
            (std::vector<std::string>{"first", "second", "third"}));
  for (const auto& [column, type] :
       std::vector<std::pair<std::string, std::string>>{{"bytes", "binary"},
                                                        {"view", "string_view"},
                                                        {"when", "timestamp"},
                                                        {"answer", "struct"},
                                                        {"pairs", "map"},
                                                        {"dense", "union"},
                                                        {"deep", "list<list<string>>"}})
    expect_user_error(fmt::format("column '{}' is of type {}", column, type),
                      [&] { golden.file.read(column, arrow_pool()); });
}

TEST(ArrowFile, NamesTheRowThatIsNull) {
  const Golden golden("nulls");
  expect_user_error("row 2 is null", [&] { golden.file.read("text", arrow_pool()); });
  expect_user_error("row 1 is null", [&] { golden.file.read("nothing", arrow_pool()); });
  expect_user_error("row 2 is null", [&] { golden.file.read_lists("gone", arrow_pool()); });
  expect_user_error("the list of row 2 contains a null",
                    [&] { golden.file.read_lists("list", arrow_pool()); });
}

TEST(ArrowFile, KnowsColumnsWithoutAnyValue) {
  const Golden golden("nulls");
  EXPECT_TRUE(golden.file.is_null("nothing"));
  for (const char* column : {"text", "list", "gone", "not there"})
    EXPECT_FALSE(golden.file.is_null(column)) << column;
  EXPECT_FALSE(Golden("empty").file.is_null("text"));
  EXPECT_FALSE(Golden("other_types").file.is_null("answer"));
}

TEST(ArrowFile, RefusesWhatItCannotRead) {
  expect_user_error("lz4", [] { Golden("lz4").file.read("text", arrow_pool()); });
  expect_user_error("18446744073709551615",
                    [] { Golden("large_number").file.read("label", arrow_pool()); });
  for (const char* name : {"bomb", "bomb_dictionary"})
    expect_user_error("would take more than",
                      [&] { Golden(name).file.read("text", arrow_pool()); });
  expect_user_error("; did you mean 'text'?",
                    [] { Golden("stream").file.read("txet", arrow_pool()); });
  for (const char* bytes : {"", "ARROW1", "PAR1", "text,label\na,0\n"})
    expect_user_error("expected an Arrow IPC stream or file", [&] { ArrowFile file(bytes); });
}

TEST(ArrowFile, SurvivesFilesThatAreCutOrChanged) {
  for (const char* name : {"stream", "file", "zstd", "lists", "dictionary", "other_types"}) {
    const std::string whole = read_file(kArrow / (std::string(name) + ".arrow"));
    const auto read_all = [](const std::string& bytes) {
      try {
        const ArrowFile file(bytes);
        for (const ColumnSchema& column : file.columns()) {
          try {
            if (column.is_list)
              file.read_lists(column.name, arrow_pool());
            else
              file.read(column.name, arrow_pool());
          } catch (const UserError&) {
          }
        }
      } catch (const UserError&) {
      }
    };
    for (std::size_t size = 0; size < whole.size(); size += 13) read_all(whole.substr(0, size));
    for (std::size_t at = 0; at < whole.size(); at += 3) {
      std::string changed = whole;
      changed[at] = static_cast<char>(changed[at] ^ 0x85);
      read_all(changed);
    }
  }
}

}  // namespace
}  // namespace hone
