#include "hone/report/text_layout.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

using Lines = std::vector<std::string>;

TEST(DisplayWidth, CountsColumnsOfTheTerminal) {
  EXPECT_EQ(display_width("é"), 1);
  EXPECT_EQ(display_width("模型"), 4);
  EXPECT_EQ(display_width("e\u0301x"), 2);
  EXPECT_EQ(display_width("\xff"), 1);
  EXPECT_EQ(display_width("\x1b[32mkept\x1b[0m"), 4);
}

TEST(Shortened, LeavesOutTheMiddle) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("bert.encoder.layer.0.attention.self.query", 20), "bert.e…on.self.query");
  EXPECT_EQ(shortened("a text of several words", 11), "a tex…words");
  EXPECT_EQ(shortened("模型模型模型", 7), "模…模型");
  EXPECT_EQ(shortened("any", 1), "…");
  EXPECT_EQ(shortened("any", 0), "");
  for (std::size_t columns = 0; columns < 30; ++columns)
    EXPECT_LE(display_width(shortened("字 e\u0301 name.of.a\xff.layer 字字", columns)), columns);
}

TEST(ShortenedApart, KeepsWhatTellsTextsApart) {
  EXPECT_EQ(shortened_apart(
                {"int(bits=8,per=row,scale=dynamic)", "int(bits=4,per=row,scale=dynamic)"}, 20),
            (Lines{"int(bits=8…=dynamic)", "int(bits=4…=dynamic)"}));
  EXPECT_EQ(
      shortened_apart({"layer.0.attention.self.query", "layer.0.attention.self.key", "a"}, 16),
      (Lines{"layer…self.query", "layer…n.self.key", "a"}));
  EXPECT_EQ(shortened_apart({"same.name.twice", "same.name.twice"}, 8),
            (Lines{"sa…twice", "sa…twice"}));
  EXPECT_EQ(shortened_apart({"aaaaaxaaaaa", "aaaaayaaaaa"}, 4), std::nullopt);
}

TEST(Stacked, PutsOnTheNextLineWhatHasNoRoom) {
  const Lines parts = {"train", "step 2", "loss 0.5", "best so far"};
  EXPECT_EQ(stacked(parts, 0), "train  step 2  loss 0.5  best so far");
  EXPECT_EQ(stacked(parts, 36), "train  step 2  loss 0.5  best so far");
  EXPECT_EQ(stacked(parts, 35), "train  step 2  loss 0.5\n  best so far");
  EXPECT_EQ(stacked(parts, 14), "train  step 2\n  loss 0.5\n  best so far");
  EXPECT_EQ(stacked({"a part of many words"}, 8), "a part\nof many\nwords");
}

TEST(BrokenLine, BreaksAtSpacesOnly) {
  EXPECT_EQ(wrapped_line("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped_line("  one two three", 8), (Lines{"  one", "  two", "  three"}));
  EXPECT_EQ(wrapped_line("unbreakable word", 4), (Lines{"unbreakable", "word"}));
  EXPECT_EQ(wrapped_line("one  two", 80), (Lines{"one  two"}));
  EXPECT_EQ(wrapped_line("one two", 0), (Lines{"one two"}));
  EXPECT_EQ(wrapped_line("", 5), (Lines{""}));
}

TEST(BrokenLine, KeepsFiguresInOnePiece) {
  EXPECT_EQ(wrapped_line("of 4,000 texts", 6), (Lines{"of", "4,000", "texts"}));
  EXPECT_EQ(wrapped_line("test, n = 36", 9), (Lines{"test,", "n = 36"}));
  EXPECT_EQ(wrapped_line("from 4 on 2000 a", 4), (Lines{"from", "4 on", "2000", "a"}));
}

TEST(Fitted, BreaksEveryLineOfAText) {
  EXPECT_EQ(wrapped_text("one two three\n\nfour\n", 8), "one two\nthree\n\nfour\n");
  EXPECT_EQ(wrapped_text("any length at all", 0), "any length at all");
}

TEST(Fitted, LeavesACommandToTheShellInOnePiece) {
  EXPECT_EQ(wrapped_text("To resume:\n  hone train tiny --data 'a b c d e f' -o out", 26),
            "To resume:\n"
            "  hone train tiny \\\n"
            "    --data 'a b c d e f' \\\n"
            "    -o out");
  // A value is separated from its option only if they do not fit on one line together.
  EXPECT_EQ(wrapped_text("  hone train --data 'a b c d e f' -o out", 20),
            "  hone train \\\n    --data \\\n    'a b c d e f' \\\n    -o out");
}

TEST(Toned, ColoursOnlyWhereThereAreColours) {
  EXPECT_EQ(toned("kept", Tone::good, {}), "kept");
  EXPECT_EQ(toned("kept", Tone::good, {.colour = true}), "\x1b[32mkept\x1b[0m");
  EXPECT_EQ(toned("lost", Tone::bad, {.colour = true}), "\x1b[31mlost\x1b[0m");
  EXPECT_EQ(toned("cannot tell", Tone::unclear, {.colour = true}), "\x1b[33mcannot tell\x1b[0m");
  EXPECT_EQ(toned("as it is", Tone::plain, {.colour = true}), "as it is");
}

}  // namespace
}  // namespace hone
