#include "hone/runtime/peaks.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "hone/base/json.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

constexpr PeakKind kKind = PeakKind::fp32_gflops;

TEST(Peaks, KeepTheHighestWithItsDay) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "not/yet/there/peaks.json";
  std::vector<std::string> notes;
  const Peak first = keep_highest(kKind, 2, 40, file, notes);
  EXPECT_EQ(first.value, 40);
  EXPECT_FALSE(first.remembered());
  EXPECT_EQ(provenance(first), "measured now");
  const Peak lower = keep_highest(kKind, 2, 30, file, notes);
  EXPECT_EQ(lower.value, 40);
  EXPECT_EQ(lower.measured_now, 30);
  EXPECT_TRUE(lower.remembered());
  EXPECT_EQ(lower.date, first.date);
  EXPECT_EQ(provenance(lower), "the highest known, of " + first.date + "; 30 measured now");
  EXPECT_EQ(keep_highest(kKind, 2, 50, file, notes).value, 50);
  EXPECT_EQ(keep_highest(kKind, 2, 45, file, notes).value, 50);
  EXPECT_EQ(read_json(file)["peaks"].size(), 1);
  // 30 of 40 is below the normal variation, so there is a note.
  EXPECT_EQ(notes.size(), 1u);
}

TEST(Peaks, TellWhereArithmeticDoesMuchLessThanItDid) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "peaks.json";
  std::vector<std::string> notes;
  keep_highest(kKind, 2, 40, file, notes);
  keep_highest(kKind, 2, 33, file, notes);
  EXPECT_TRUE(notes.empty());
  keep_highest(kKind, 2, 20, file, notes);
  ASSERT_EQ(notes.size(), 1u);
  // One note for all kinds of arithmetic.
  keep_highest(PeakKind::int8_gops, 2, 40, file, notes);
  keep_highest(PeakKind::int8_gops, 2, 20, file, notes);
  EXPECT_EQ(notes.size(), 1u);
  // Memory bandwidth varies more than that, even on an idle machine.
  keep_highest(PeakKind::copy_gbps, 2, 40, file, notes);
  keep_highest(PeakKind::copy_gbps, 2, 20, file, notes);
  EXPECT_EQ(notes.size(), 1u);
}

TEST(Peaks, OfOtherThreadsKindsAndProcessorsAreOthers) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "peaks.json";
  std::vector<std::string> notes;
  keep_highest(kKind, 2, 40, file, notes);
  EXPECT_EQ(keep_highest(kKind, 1, 20, file, notes).value, 20);
  EXPECT_EQ(keep_highest(PeakKind::copy_gbps, 2, 10, file, notes).value, 10);
  Json document = read_json(file);
  ASSERT_EQ(document["peaks"].size(), 3);
  for (Json& peak : document["peaks"]) peak["processor"] = "another";
  write_file(file, to_document(document));
  EXPECT_EQ(keep_highest(kKind, 2, 30, file, notes).value, 30);
  EXPECT_EQ(read_json(file)["peaks"].size(), 4);
}

TEST(Peaks, MeasuredByAnOlderVersionAreForgotten) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "peaks.json";
  std::vector<std::string> notes;
  keep_highest(kKind, 2, 40, file, notes);
  Json document = read_json(file);
  document["version"] = document["version"].get<int>() - 1;
  write_file(file, to_document(document));
  const Peak lower = keep_highest(kKind, 2, 20, file, notes);
  EXPECT_EQ(lower.value, 20);
  EXPECT_FALSE(lower.remembered());
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(read_json(file)["peaks"].size(), 1);
}

TEST(Peaks, OfManyThreadsAreAtLeastThoseOfFewer) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "peaks.json";
  std::vector<std::string> notes;
  keep_highest(kKind, 1, 40, file, notes);
  const Peak both = keep_highest(kKind, 2, 7, file, notes);
  EXPECT_EQ(both.value, 40);
  EXPECT_EQ(both.measured_now, 7);
  EXPECT_EQ(keep_highest(kKind, 2, 70, file, notes).value, 70);
  EXPECT_EQ(keep_highest(kKind, 1, 30, file, notes).value, 40);
}

TEST(Peaks, LeaveAFileAloneThatIsNotTheirs) {
  const TemporaryFolder folder;
  for (const char* text : {"", "not JSON", "[1, 2]", R"({"version": 1000, "peaks": []})",
                           R"({"version": 1, "peaks": [{"value": "much"}]})"}) {
    folder.file("peaks.json", text);
    std::vector<std::string> notes;
    EXPECT_EQ(keep_highest(kKind, 2, 30, folder.path() / "peaks.json", notes).value, 30) << text;
    EXPECT_EQ(keep_highest(kKind, 1, 20, folder.path() / "peaks.json", notes).value, 20) << text;
    ASSERT_EQ(notes.size(), 1) << text;
    EXPECT_NE(notes[0].find("peaks.json: does not contain peaks written by hone"),
              std::string::npos);
    EXPECT_EQ(read_file(folder.path() / "peaks.json"), text);
  }
}

TEST(Peaks, DoNotWaitForAPipe) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "peaks.json";
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  std::vector<std::string> notes;
  EXPECT_EQ(keep_highest(kKind, 2, 30, file, notes).value, 30);
  EXPECT_EQ(notes.size(), 1);
}

TEST(Peaks, AreMeasuredWhereNothingCanBeKept) {
  std::vector<std::string> notes;
  EXPECT_EQ(keep_highest(kKind, 2, 30, "/proc/hone/peaks.json", notes).value, 30);
  EXPECT_EQ(keep_highest(kKind, 2, 20, "/proc/hone/peaks.json", notes).value, 20);
  ASSERT_EQ(notes.size(), 1);
  EXPECT_NE(notes[0].find("not stored for the next run"), std::string::npos) << notes[0];
  notes.clear();
  EXPECT_EQ(keep_highest(kKind, 2, 30, "", notes).value, 30);
  EXPECT_TRUE(notes.empty());
}

TEST(Peaks, LieInTheCacheOfTheirPerson) {
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(peaks_file(), "/somewhere/hone/peaks.json");
  ::setenv("XDG_CACHE_HOME", "no/absolute/path", 1);
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(peaks_file(), "/home/me/.cache/hone/peaks.json");
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(peaks_file(), "/home/me/.cache/hone/peaks.json");
  ::unsetenv("HOME");
  EXPECT_EQ(peaks_file(), "");
}

}  // namespace
}  // namespace hone
