#include "hone/data/data_table.h"

#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "tests/support/expect.h"
#include "tests/support/test_data.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;

std::vector<Record> read(const DataTable& table,
                         const ColumnChoice& choice = {
                             .text = "text", .labels = {"label"}, .task = Task::single_label}) {
  static ThreadPool pool(2);
  return table.read(choice, pool);
}

Names names(const DataTable& table) {
  Names result;
  for (const DataColumn& column : table.columns)
    result.push_back(column.name + (column.words ? "" : ": numbers"));
  return result;
}

// text|pair|label|number of every record
Names rows(const std::vector<Record>& records) {
  Names result;
  for (const Record& row : records)
    result.push_back(row.text + '|' + row.text_pair + '|' + row.answer.value + '|' +
                     std::to_string(row.number));
  return result;
}

TEST(DelimitedTable, TellsWordsFromNumbers) {
  const DataTable table = open_delimited("id,text,label,note\n1,a,0,\n2.5,3,1,\n,4,,\n", ',');
  EXPECT_EQ(names(table), (Names{"id: numbers", "text", "label: numbers", "note: numbers"}));
  EXPECT_EQ(names(open_delimited("id,text\n", ',')), (Names{"id", "text"}));
}

TEST(DelimitedTable, GivesRecordsWithTheirLines) {
  const DataTable table =
      open_delimited("label,other,text\r\nx,o,\"a\n\"\"b\"\"\"\r\n\r\ny,p,c\r\n", ',');
  EXPECT_EQ(table.unit, "line");
  EXPECT_EQ(rows(read(table)), (Names{"a\n\"b\"||x|2", "c||y|5"}));
  EXPECT_EQ(rows(read(table, {"text", "other"})), (Names{"a\n\"b\"|o||2", "c|p||5"}));
}

TEST(DelimitedTable, FindsAnotherSeparator) {
  const DataTable table = open_delimited("text;label\na, b;1\n", ',');
  EXPECT_EQ(names(table), (Names{"text", "label: numbers"}));
  EXPECT_EQ(table.notes, (Names{"the columns are taken to be separated by ';'"}));
  EXPECT_EQ(rows(read(table)), (Names{"a, b||1|2"}));
  EXPECT_EQ(open_delimited("text\tlabel\n", ',').notes,
            (Names{"the columns are taken to be separated by tabs"}));
  EXPECT_TRUE(open_delimited("text\n", ',').notes.empty());
}

TEST(DelimitedTable, NamesRaggedRows) {
  expect_user_error("line 3: expected 2 fields as in the header, got 1",
                    [] { open_delimited("text,label\na,1\nb\n", ','); });
  std::string late = "text,label\n";
  for (int i = 0; i < 200; ++i) late += "a,1\n";
  late += "b,1,2\n";
  const DataTable table = open_delimited(late, ',');
  expect_user_error("line 202: expected 2 fields as in the header, got 3", [&] { read(table); });
}

TEST(JsonTable, ReadsOneObjectPerLine) {
  const std::string file =
      "\xef\xbb\xbf{\"text\": \"a\\nb\", \"label\": 1, \"score\": 0.5}\r\n\r\n"
      "{\"label\": \"x\", \"text\": \"c\"}";
  const DataTable table = open_json(file);
  EXPECT_EQ(names(table), (Names{"text", "label: numbers", "score: numbers"}));
  EXPECT_EQ(rows(read(table)), (Names{"a\nb||1|1", "c||x|3"}));
}

TEST(JsonTable, ReadsTheElementsOfAnArray) {
  const std::string file =
      " [{\"text\": \"[a\\\"}\", \"label\": true},\n\n"
      "  {\"text\": \"b\", \"label\": 2.0, \"more\": {\"list\": [1, 2]}}\n]\n";
  EXPECT_EQ(rows(read(open_json(file))), (Names{"[a\"}||true|1", "b||2.0|2"}));
  EXPECT_TRUE(read(open_json("[]")).empty());
}

TEST(JsonTable, NamesTheLineAtFault) {
  const auto refuses = [](std::string_view file, const std::string& message) {
    expect_user_error(message, [&] { read(open_json(file)); });
  };
  refuses("{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"}\n",
          "line 2: no key 'label'; the keys are: text");
  refuses("{\"text\": \"a\", \"label\": 1}\n7\n", "line 2: expected a JSON object, got 7");
  refuses("{\"text\": 3, \"label\": 1}\n", "line 1: 'text' is no string: 3");
  refuses("{\"text\": \"a\", \"label\": 0.5}\n",
          "line 1: 'label' is neither a whole number nor a string: 0.5");
  refuses("{\"text\": \"a\", \"label\": null}\n",
          "line 1: 'label' is neither a whole number nor a string: null; leave rows without a "
          "label out");
  refuses("{\"text\": \"NaN\", \"label\": 1}\n{\"text\": \"a\", \"label\": NaN}\n",
          "; NaN and Infinity, which Python writes, are no JSON: leave such rows out");
  refuses("{\"text\": \"NaN\", \"label\": }\n", "line 1, column 26: malformed JSON");
  refuses("{\"text\": \n", "line 1, column 10: malformed JSON");
  refuses("{\"text\": \"a\", \"label\": 1}\n\n{\"text\": \"ä\" \"label\": 1}\n",
          "line 3, column 20: malformed JSON");
  refuses("[{\"text\": \"ä\", \"label\": 1}, {\"text\": \"b\",\n \"label\": }]",
          "line 2, column 11: malformed JSON");
  refuses("[{\"text\": \"ä\", \"label\": 1}, 7.x]", "line 1, column 31: malformed JSON");
  refuses("[{\"text\": \"a\", \"label\": 1},\n {\"text\": \"b]",
          "line 2: the array is not closed; is the file cut off?");
  refuses("[]\n7", "line 2: text behind the end of the array");
}

TEST(LineTable, HasARecordForEachLine) {
  const DataTable table = open_lines(
      "\xef\xbb\xbf"
      "a\r\n\n b \nlast");
  EXPECT_EQ(table.unit, "line");
  EXPECT_EQ(rows(read(table, {"text"})), (Names{"a|||1", "|||2", " b |||3", "last|||4"}));
  EXPECT_TRUE(read(open_lines(""), {"text"}).empty());
}

TEST(DataTables, GiveColumnsThatAreOnlyShownAsTheyAreWritten) {
  const auto shown = [](const DataTable& table) {
    Names lines;
    for (const Record& record : read(table, {.text = "text", .id = "id", .gold = "label"}))
      lines.push_back(record.id + "|" + record.gold);
    return lines;
  };
  EXPECT_EQ(shown(open_delimited("id,text,label\n007,a,0.5\nx,b,\n", ',')),
            (Names{"007|0.5", "x|"}));
  EXPECT_EQ(shown(open_json("{\"id\": 7, \"text\": \"a\", \"label\": [1]}\n"
                            "{\"id\": \"x\", \"text\": \"b\", \"label\": null}\n"
                            "{\"text\": \"c\"}\n")),
            (Names{"7|[1]", "x|", "|"}));
}

MappedFile golden(const char* name) {
  return MappedFile(test_data() / "data/golden/parquet" / name);
}

TEST(ParquetTable, GivesRecordsWithTheirRows) {
  const MappedFile file = golden("snappy_v2.parquet");
  const DataTable table = open_parquet(file.text());
  EXPECT_EQ(table.unit, "row");
  EXPECT_EQ(names(table),
            (Names{"text", "label: numbers", "small: numbers", "byte: numbers", "unsigned: numbers",
                   "flag: numbers", "score: numbers", "real: numbers"}));
  const std::vector<Record> records = read(table);
  ASSERT_EQ(records.size(), 300u);
  EXPECT_EQ(records[4].text, "row row row row 1");
  EXPECT_EQ(records[4].answer.value, "0");
  EXPECT_EQ(records[299].number, 300);
  EXPECT_TRUE(table.class_names("label").empty());
}

TEST(ParquetTable, TakesBooleansAndWholeNumbersForLabels) {
  const MappedFile file = golden("plain.parquet");
  const DataTable table = open_parquet(file.text());
  EXPECT_EQ(read(table, {"text", "", {"flag"}})[5].answer.value, "true");
  EXPECT_EQ(read(table, {"text", "", {"flag"}})[6].answer.value, "false");
  expect_user_error("row 2: 'score' is no label: expected whole numbers or names, got 0.25", [&] {
    read(table, {.text = "text", .labels = {"score"}, .task = Task::single_label});
  });
  expect_user_error("the column 'small' holds no text but int32", [&] {
    read(table, {"small", "", {"label"}});
  });
}

TEST(ParquetTable, KnowsTheClassesThatTheHubNames) {
  const MappedFile file = golden("hub.parquet");
  const DataTable table = open_parquet(file.text());
  EXPECT_EQ(table.class_names("label"), (Names{"neg", "pos"}));
  EXPECT_TRUE(table.class_names("text").empty());
  EXPECT_TRUE(table.class_names("other").empty());
}

}  // namespace
}  // namespace hone
