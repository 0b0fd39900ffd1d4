#include "hone/base/json.h"

#include <gtest/gtest.h>

#include "hone/base/json_part.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

TEST(Json, KeepsTheOrderOfKeys) {
  EXPECT_EQ(to_line(parse_json(R"({"b": 1, "a": [true, null]})", "text")),
            R"({"b":1,"a":[true,null]})");
}

TEST(Json, DocumentsAreIndentedAndEndWithALine) {
  EXPECT_EQ(to_document({{"a", {1, 2}}}), "{\n  \"a\": [\n    1,\n    2\n  ]\n}\n");
}

TEST(Json, NumbersReadBackTheSame) {
  for (const double value : {0.1, 1e-12, 1.0 / 3, 1e308, 5e-324}) {
    EXPECT_EQ(parse_json(to_line(Json(value)), "text").get<double>(), value);
  }
}

TEST(Json, ReplacesInvalidUtf8WhenWriting) {
  EXPECT_EQ(to_line(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

TEST(Json, SaysWhereTextIsMalformed) {
  const std::string message = user_error_of([] { parse_json("{\"a\": }", "config.json"); });
  EXPECT_TRUE(message.starts_with("config.json: line 1, column 7: malformed JSON: syntax error"))
      << message;
}

TEST(Json, CountsCharactersInTheColumn) {
  expect_user_error("x.json: line 2, column 8: malformed JSON",
                    [] { parse_json("{\n\"äöü\": ,\n}", "x.json"); });
}

TEST(Json, SaysWhereAPartIsMalformedInItsFile) {
  const std::string message =
      user_error_of([] { parse_json_part("{\"a\":\n  b}", {.line = 3, .column = 5}); });
  EXPECT_TRUE(message.starts_with("line 4, column 3: malformed JSON: ")) << message;
  EXPECT_EQ(message.find("line 1"), std::string::npos) << message;
  EXPECT_EQ(message.find("line 2"), std::string::npos) << message;
  expect_user_error("line 3, column 6: malformed JSON",
                    [] { parse_json_part("{]", {.line = 3, .column = 5}); });
}

TEST(Json, NumbersBeyondAllRangeAreErrors) {
  expect_user_error("config.json: malformed JSON from line 1 on",
                    [] { parse_json("[1e999]", "config.json"); });
}

// Files made to exhaust the reader's stack or time.
TEST(Json, RefusesDepthAndSizeBeyondAllUse) {
  const std::string deep(101, '['), shallow(100, '[');
  expect_user_error("x.json: the JSON is nested deeper than 100",
                    [&] { parse_json(deep, "x.json"); });
  expect_user_error("nested deeper than 100", [&] { parse_large_json(deep); });
  EXPECT_NO_THROW(parse_json(shallow + std::string(100, ']'), "x.json"));
  EXPECT_NO_THROW(parse_json("[\"" + deep + "\\\"" + deep + "\"]", "x.json"));
  std::string wide = "{";
  for (int i = 0; i < 20'001; ++i) wide += fmt::format("\"{}\": 1,", i);
  wide.back() = '}';
  expect_user_error("an object has more than 20000 keys", [&] { parse_json(wide, "x.json"); });
  EXPECT_EQ(parse_large_json(wide).size(), 20'001u);
}

TEST(Json, QuotesAtMostALineOfMalformedText) {
  const std::string text = "[\"" + std::string(100'000, 'x');
  EXPECT_LT(user_error_of([&] { parse_json(text, "x.json"); }).size(), 400u);
}

TEST(Json, ReadsFiles) {
  const TemporaryFolder folder;
  const fs::path path = folder.file("x.json", "[1]");
  EXPECT_EQ(read_json(path), Json::array({1}));
  folder.file("x.json", "[1");
  expect_user_error(path.string() + ": line 1, column 3: malformed JSON", [&] { read_json(path); });
  expect_user_error("cannot open", [&] { read_json(folder.path() / "none"); });
}

}  // namespace
}  // namespace hone
