#include "hone/base/hash.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Fingerprint, IsThePublishedOneOfNothing) {
  EXPECT_EQ(fingerprint(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Fingerprint, DoesNotDependOnWherePiecesEnd) {
  const std::string text(1000, 'x');
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{1}, std::size_t{240}, std::size_t{999}}) {
    Fingerprint pieces;
    pieces.add(std::string_view(text).substr(0, cut));
    pieces.add(std::string_view(text).substr(cut));
    EXPECT_EQ(pieces.text(), fingerprint(text)) << cut;
  }
}

TEST(Fingerprint, TellsContentsApart) { EXPECT_NE(fingerprint("a"), fingerprint("b")); }

TEST(ShortFingerprint, IsThePublishedOneOfNothing) {
  EXPECT_EQ(short_fingerprint(""), 0x2d06800538d394c2u);
  EXPECT_NE(short_fingerprint("a"), short_fingerprint("b"));
}

TEST(Fingerprint, GrowsAfterItWasRead) {
  Fingerprint growing;
  EXPECT_EQ(growing.text(), fingerprint(""));
  growing.add("ab");
  EXPECT_EQ(growing.text(), fingerprint("ab"));
}

}  // namespace
}  // namespace hone
