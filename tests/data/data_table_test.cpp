#include "hone/data/data_table.h"

#include <gtest/gtest.h>

#include "hone/base/file.h"
#include "hone/data/labelled_file.h"
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
    result.push_back(column.name + (column.is_text ? "" : ": numbers"));
  return result;
}

// Prints text|pair|label|number of every record.
Names rows(const std::vector<Record>& records) {
  Names result;
  for (const Record& row : records)
    result.push_back(row.text + '|' + row.text_pair + '|' + row.raw_label.value + '|' +
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

// As pandas reads them.
TEST(LabelledFile, MayHaveLinesThatEndInCarriageReturns) {
  const TemporaryFolder folder;
  static ThreadPool pool(1);
  const auto rows_of = [&](const char* name, const char* text) {
    return rows(open_labelled_file(folder.file(name, text))
                    .read({.text = "text", .labels = {"label"}, .task = Task::single_label}, pool));
  };
  EXPECT_EQ(rows_of("a.csv", "text,label\ra b,x\rc,y\r"), (Names{"a b||x|2", "c||y|3"}));
  EXPECT_EQ(rows_of("a.ndjson", "{\"text\": \"a\", \"label\": \"x\"}\n"), (Names{"a||x|1"}));
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

TEST(DelimitedTable, IgnoresEmptyFieldsBehindTheColumns) {
  const DataTable table = open_delimited("text,label,,\na,1,,\nb,0\nc,1,x,y,\n", ',');
  EXPECT_EQ(names(table),
            (Names{"text", "label: numbers", "Unnamed: 2: numbers", "Unnamed: 3: numbers"}));
  EXPECT_EQ(rows(read(table)), (Names{"a||1|2", "b||0|3", "c||1|4"}));
  EXPECT_EQ(read(table, {.text = "Unnamed: 2"})[2].text, "x") << "asked for";
  EXPECT_EQ(rows(read(open_delimited("text,label\na,1,\n", ','))), Names{"a||1|2"});
}

TEST(DelimitedTable, WithoutAHeaderHasNumberedColumns) {
  const DataTable table = open_delimited("ham\tsee you\nspam\tcall now\nham\thi\n", '\t');
  EXPECT_FALSE(table.has_header);
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_NE(table.notes[0].find("'ham' is also a value below it"), std::string::npos);
  EXPECT_EQ(rows(read(table, {.text = "1", .labels = {"0"}})),
            (Names{"see you||ham|1", "call now||spam|2", "hi||ham|3"}));
  const DataOptions given = {.form = {.no_header = true}};
  EXPECT_EQ(
      rows(read(open_delimited("text,label\na,1\n", ',', given), {.text = "0", .labels = {"1"}})),
      (Names{"text||label|1", "a||1|2"}));
}

TEST(DelimitedTable, SaysThatQuotesAreText) {
  const DataTable table = open_delimited("text\tlabel\n\"a\t1\nb\"\t0\n", '\t');
  EXPECT_EQ(rows(read(table)), (Names{"\"a||1|2", "b\"||0|3"}));
  ASSERT_EQ(table.notes.size(), 1u);
  EXPECT_NE(table.notes[0].find("quotes are read as text"), std::string::npos);
  const DataOptions minimal = {.form = {.quoting = "minimal"}};
  EXPECT_EQ(rows(read(open_delimited("text\tlabel\n\"a\t1\nb\"\t0\n", '\t', minimal))),
            Names{"a\t1\nb||0|2"});
}

TEST(DelimitedTable, NamesRaggedRows) {
  expect_user_error("line 3: expected 2 fields as in the first row, got 1",
                    [] { read(open_delimited("text,label\na,1\nb\n", ',')); });
  std::string late = "text,label\n";
  for (int i = 0; i < 200; ++i) late += "a,1\n";
  late += "b,1,2\n";
  const DataTable table = open_delimited(late, ',');
  expect_user_error("line 202: expected 2 fields as in the first row, got 3", [&] { read(table); });
}

TEST(JsonTable, ReadsOneObjectPerLine) {
  const std::string file =
      "\xef\xbb\xbf{\"text\": \"a\\nb\", \"label\": 1, \"score\": 0.5}\r\n\r\n"
      "{\"label\": \"x\", \"text\": \"c\"}";
  const DataTable table = open_json(file);
  EXPECT_EQ(names(table), (Names{"text", "label", "score: numbers"}));
  EXPECT_EQ(rows(read(table)), (Names{"a\nb||1|1", "c||x|3"}));
}

TEST(JsonTable, ReadsTheElementsOfAnArray) {
  const std::string file =
      " [{\"text\": \"[a\\\"}\", \"label\": true},\n\n"
      "  {\"text\": \"b\", \"label\": 2.0, \"more\": {\"list\": [1, 2]}}\n]\n";
  EXPECT_EQ(rows(read(open_json(file))), (Names{"[a\"}||true|1", "b||2.0|2"}));
  EXPECT_TRUE(read(open_json("[]")).empty());
}

// The same two records in every layout.
TEST(JsonTable, ReadsManyLayouts) {
  const char* layouts[] = {
      "{\n \"text\": \"a\",\n \"label\": 1\n}\n{\n \"text\": \"b\",\n \"label\": 0\n}\n",
      "{\"version\": 2, \"label_names\": [\"x\", \"y\"], \"data\": [{\"text\": \"a\", \"label\": "
      "1},"
      " {\"text\": \"b\", \"label\": 0}]}",
      "{\"text\": [\"a\", \"b\"], \"label\": [1, 0]}",
      "{\"text\": {\"0\": \"a\", \"1\": \"b\"}, \"label\": {\"0\": 1, \"1\": 0}}",
      "{\"7\": {\"text\": \"a\", \"label\": 1}, \"9\": {\"text\": \"b\", \"label\": 0}}",
      "{\"columns\": [\"text\", \"label\"], \"index\": [0, 1], \"data\": [[\"a\", 1], [\"b\", 0]]}",
      "[[\"text\", \"label\"], [\"a\", 1], [\"b\", 0]]",
      "[\"text\", \"label\"]\n[\"a\", 1]\n[\"b\", 0]\n"};
  for (const char* layout : layouts) {
    Names found;
    for (const Record& row : read(open_json(layout)))
      found.push_back(row.text + row.raw_label.value);
    EXPECT_EQ(found, (Names{"a1", "b0"})) << layout;
  }
}

TEST(JsonTable, NumbersTheColumnsOfArrays) {
  const DataTable table = open_json("[[\"see you\", 1], [\"call now\", 0], [\"hello\", 1]]");
  EXPECT_FALSE(table.has_header);
  EXPECT_EQ(names(table), (Names{"0", "1: numbers"}));
  EXPECT_EQ(rows(read(table, {.text = "0", .labels = {"1"}})),
            (Names{"see you||1|1", "call now||0|2", "hello||1|3"}));
}

TEST(JsonTable, ReadsAListOfTexts) {
  EXPECT_EQ(rows(read(open_json("[\"a\", \"b\"]"), {.text = "text"})), (Names{"a|||1", "b|||2"}));
}

TEST(JsonTable, TakesTheListThatIsAskedFor) {
  const char* file =
      "{\"train\": [{\"text\": \"a\", \"label\": 1}], \"test\": [{\"text\": \"b\", \"label\": 0}]}";
  expect_user_error("several lists of rows: train, test; name one by `json_field`",
                    [&] { open_json(file); });
  EXPECT_EQ(rows(read(open_json(file, {.form = {.json_field = "test"}}))), Names{"b||0|1"});
  expect_user_error("`json_field`: no key 'tests'; the keys are: train, test; did you mean 'test'?",
                    [&] { open_json(file, {.form = {.json_field = "tests"}}); });
}

TEST(JsonTable, ChecksOnlyTheColumnsThatAreRead) {
  const std::string file =
      "{\"text\": \"a\", \"label\": 1, \"score\": NaN, \"more\": {\"x\": [1, {}]}, \"n\": 1e999}\n"
      "{\"n\": -Infinity, \"more\": \"caf\xe9\", \"score\": 01, \"label\": 0, \"text\": \"b\"}\n";
  const std::vector<Record> records = read(open_json(file));
  EXPECT_EQ(rows(records), (Names{"a||1|1", "b||0|2"}));
  EXPECT_EQ(records[1].replaced_bytes, 0);
  const std::vector<Record> shown = read(open_json(file), {.text = "text", .gold = "score"});
  EXPECT_EQ(shown[0].gold, "");
  EXPECT_EQ(shown[1].gold, "01");
  expect_user_error("line 1, column ",
                    [&] { read(open_json(file), {.text = "text", .labels = {"score"}}); });
}

TEST(JsonTable, RefusesWhatIsNoTable) {
  const auto refuses = [](std::string_view file, const std::string& message) {
    expect_user_error(message, [&] { open_json(file); });
  };
  refuses("[0, 1, 2]", "a list of 3 values, the first one 0, and no table");
  refuses("{\"text\": [\"a\"], \"label\": [1, 2]}",
          "the column 'label' has 2 values, and 'text' has 1");
  refuses("{\"text\": {\"0\": \"a\"}, \"label\": {\"1\": 1}}", "have different keys");
  refuses("{\"text\": {}, \"label\": {\"1\": 1}}", "'label' has 1 values, and 'text' has 0");
}

TEST(JsonTable, NamesTheLineAtFault) {
  const auto refuses = [](std::string_view file, const std::string& message) {
    expect_user_error(message, [&] { read(open_json(file)); });
  };
  refuses("{\"text\": \"a\", \"label\": 1}\n{\"text\": \"a\"}\n",
          "line 2: no key 'label'; the keys are: text");
  refuses("{\"text\": \"a\", \"label\": 1}\n7\n", "line 2: expected a JSON object, got 7");
  refuses("{\"text\": 3, \"label\": 1}\n", "line 1: 'text' is not a string: 3");
  refuses("{\"text\": \"a\", \"label\": 0.5}\n",
          "line 1: 'label' is neither a whole number nor a string: 0.5");
  refuses("{\"text\": \"a\", \"label\": null}\n",
          "line 1: 'label' is neither a whole number nor a string: null; leave rows without a "
          "label out");
  refuses("{\"text\": \"NaN\", \"label\": 1}\n{\"text\": \"a\", \"label\": NaN}\n",
          "; NaN and Infinity, which Python writes, are not JSON: remove such rows");
  refuses("{\"text\": \"NaN\", \"label\": }\n", "line 1, column 26: malformed JSON");
  refuses("{\"text\": \n", "line 1, column 1: malformed JSON: a value that begins here");
  refuses("{\"text\": \"a\", \"label\": 1}\n\n{\"text\": \"ä\" \"label\": 1}\n",
          "line 3, column 14: malformed JSON: expected ',' or '}'");
  refuses("[{\"text\": \"ä\", \"label\": 1}, {\"text\": \"b\",\n \"label\": }]",
          "line 2, column 11: malformed JSON");
  refuses("[{\"text\": \"ä\", \"label\": 1}, 7.x]",
          "row 2, line 1: expected a JSON object, got 7.x");
  refuses("[{\"text\": \"a\", \"label\": 1},\n {\"text\": \"b]",
          "line 1, column 1: malformed JSON: a value that begins here is not closed");
  refuses("{\"text\": \"a\", \"label\": 1} 7\n{}\n", "line 1: expected a JSON object, got 7");
  refuses("{\"text\": \"a\",}\n", "line 1, column 14: malformed JSON: expected a key in quotes");
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
  EXPECT_EQ(records[4].raw_label.value, "0");
  EXPECT_EQ(records[299].number, 300);
  EXPECT_TRUE(table.class_names("label").empty());
}

TEST(ParquetTable, TakesBooleansAndWholeNumbersForLabels) {
  const MappedFile file = golden("plain.parquet");
  const DataTable table = open_parquet(file.text());
  EXPECT_EQ(read(table, {"text", "", {"flag"}})[5].raw_label.value, "true");
  EXPECT_EQ(read(table, {"text", "", {"flag"}})[6].raw_label.value, "false");
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
