#include "hone/data/quoting.h"

#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

bool encloses(std::string_view text, char separator, const std::string& quoting = "") {
  return find_quoting(text, separator, quoting).encloses;
}

TEST(Quoting, IsWhatIsAskedFor) {
  EXPECT_TRUE(encloses("a\t\"b", '\t', "minimal"));
  EXPECT_FALSE(encloses("\"a\",b", ',', "none"));
  expect_user_error("`quoting`: expected none or minimal, got 'all'",
                    [] { find_quoting("", ',', "all"); });
}

// Quotes are text, as in GLUE's files and with csv.QUOTE_NONE.
TEST(Quoting, IsTextInTabsUnlessTheFileShowsIt) {
  EXPECT_FALSE(encloses("text\tlabel\n\"never closed\t0\nb\t1\n", '\t'));
  EXPECT_FALSE(encloses("text\tlabel\n\"begun\t0\nb\t1\nended\"\t0\n", '\t')) << "rows joined";
  EXPECT_FALSE(encloses("text\tlabel\n\"quoted\"\t0\nb\t1\n", '\t'));
  EXPECT_FALSE(encloses("text\tlabel\n\"so\" she said\t0\nb\t1\n", '\t'));
  EXPECT_TRUE(encloses("text\tlabel\n\"a \"\"b\"\" c\"\t0\nb\t1\n", '\t')) << "doubled";
  EXPECT_TRUE(encloses("text\tlabel\n\"so \"\"a\"\"\tb\nc\"\t0\n", '\t'))
      << "doubled, with lines that are complete by chance";
  EXPECT_TRUE(encloses("text\tlabel\n\"a\tb\"\t0\nb\t1\n", '\t')) << "rows would be ragged";
  EXPECT_TRUE(encloses("text\tlabel\n\"a\nb\"\t0\nb\t1\n", '\t')) << "rows would be ragged";
  EXPECT_TRUE(encloses("\"text\"\t\"label\"\n\"a\"\t0\n", '\t')) << "the header, too";
  EXPECT_TRUE(encloses("text\tlabel\n\"a\"\t0\n\"b\"\t1\n", '\t')) << "all of a column";
}

TEST(Quoting, EnclosesFieldsBetweenCommasUnlessThatCannotBe) {
  EXPECT_TRUE(encloses("text,label\n\"a, b\",0\n\"c\",1\n", ','));
  EXPECT_TRUE(encloses("text,label\n\"first, line\nsecond\",1\nb,0\n", ','));
  EXPECT_TRUE(encloses("text,label\n\"first\nsecond\",1\n", ','));
  EXPECT_FALSE(encloses("text,label\n\"begun,0\nb,1\n", ',')) << "never closed";
  EXPECT_FALSE(encloses("text,label\n\"begun,0\nb,1\nended\",0\n", ',')) << "rows joined";
  EXPECT_TRUE(encloses("text,label\n\"begun,0\nb,c,1\n", ',')) << "ragged either way";
}

TEST(Quoting, IsSaidWhereItWasAChoice) {
  EXPECT_EQ(find_quoting("text\tlabel\n5\" disk\t0\n", '\t', "").note, "") << "opens no field";
  EXPECT_EQ(find_quoting("text,label\n\"a\",0\n", ',', "").note, "");
  EXPECT_NE(find_quoting("text\tlabel\n\"a\t0\n", '\t', "").note.find("quotes are read as text"),
            std::string::npos);
  EXPECT_NE(find_quoting("text\tlabel\n\"a\"\"b\"\t0\n", '\t', "").note.find("enclose fields"),
            std::string::npos);
}

}  // namespace
}  // namespace hone
