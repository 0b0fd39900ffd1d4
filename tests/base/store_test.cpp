#include "hone/base/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/support/expect.h"

namespace hone {
namespace {

const std::string kKey = "00112233445566778899aabbccddeeff";
const std::string kOther = "ffeeddccbbaa99887766554433221100";

struct StoreTest : ::testing::Test {
  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  Store store{folder / "store"};

  StoreTest() {
    temporary.file("work/a.txt", "aaaa");
    temporary.file("work/deep/b.txt", "bb");
  }

  bool put(const std::string& key) {
    return store.put(key, folder / "work", {"a.txt", "deep/b.txt"}, {{"what", "work"}});
  }
};

TEST_F(StoreTest, GivesBackWhatWasPut) {
  EXPECT_FALSE(store.take(kKey, folder / "before"));
  EXPECT_FALSE(path_exists(folder / "before"));
  EXPECT_FALSE(store.about(kKey));
  EXPECT_TRUE(put(kKey));
  EXPECT_EQ(store.about(kKey), (Json{{"what", "work"}}));
  const auto about = store.take(kKey, folder / "copy");
  ASSERT_TRUE(about);
  EXPECT_EQ(about->at("what"), "work");
  EXPECT_EQ(read_file(folder / "copy/a.txt"), "aaaa");
  EXPECT_EQ(read_file(folder / "copy/deep/b.txt"), "bb");
  const auto entries = store.entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].bytes, 6U);
  EXPECT_EQ(entries[0].files, 2U);
}

TEST_F(StoreTest, WhatIsChangedInACopyLeavesTheEntryAsItWas) {
  put(kKey);
  ASSERT_TRUE(store.take(kKey, folder / "copy"));
  write_file(folder / "work/a.txt", "zzzz");
  write_file(folder / "copy/a.txt", "yyyy");
  ASSERT_TRUE(store.take(kKey, folder / "again"));
  EXPECT_EQ(read_file(folder / "again/a.txt"), "aaaa");
}

TEST_F(StoreTest, ADamagedEntryCountsAsNotThereAndIsPutAnew) {
  put(kKey);
  write_file(store.folder() / kKey / "files/a.txt", "aaab");
  EXPECT_FALSE(store.take(kKey, folder / "copy"));
  EXPECT_FALSE(path_exists(folder / "copy"));
  EXPECT_TRUE(put(kKey));
  EXPECT_TRUE(store.take(kKey, folder / "copy"));
  fs::remove(store.folder() / kKey / "files/deep/b.txt");
  EXPECT_FALSE(store.take(kKey, folder / "copy-2"));
}

TEST_F(StoreTest, WhatWasUsedLongestAgoGoesFirst) {
  put(kKey);
  put(kOther);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  fs::last_write_time(store.folder() / kKey / "record.json", old);
  fs::last_write_time(store.folder() / kOther / "record.json", old + std::chrono::hours(1));
  ASSERT_TRUE(store.take(kKey, folder / "copy"));
  const StoreRemoval removal = store.shrink_to(6);
  EXPECT_EQ(removal.entries, 1U);
  EXPECT_EQ(removal.bytes, 6U);
  ASSERT_EQ(store.entries().size(), 1U);
  EXPECT_EQ(store.entries()[0].key, kKey);
}

TEST_F(StoreTest, TheLimitHoldsAndIsRemembered) {
  EXPECT_EQ(store.limit(), Store::kDefaultLimit);
  store.set_limit(9);
  EXPECT_EQ(Store(store.folder()).limit(), 9U);
  EXPECT_TRUE(put(kKey));
  EXPECT_TRUE(put(kOther));
  EXPECT_EQ(store.entries().size(), 1U);
  EXPECT_EQ(store.entries()[0].key, kOther);
  store.set_limit(5);
  EXPECT_FALSE(put(kKey));
}

TEST_F(StoreTest, OnlyItsOwnFilesGo) {
  put(kKey);
  write_file(store.folder() / kKey / "notes.txt", "mine");
  write_file(store.folder() / "letters/mine.txt", "mine");
  write_file(store.folder() / kOther / "mine.txt", "mine");
  const StoreRemoval removal = store.shrink_to(0);
  EXPECT_EQ(removal.entries, 1U);
  ASSERT_EQ(removal.kept.size(), 1U);
  EXPECT_NE(removal.kept[0].find(kKey), std::string::npos);
  EXPECT_EQ(read_file(store.folder() / kKey / "notes.txt"), "mine");
  EXPECT_FALSE(path_exists(store.folder() / kKey / "files"));
  EXPECT_EQ(read_file(store.folder() / "letters/mine.txt"), "mine");
  EXPECT_EQ(read_file(store.folder() / kOther / "mine.txt"), "mine");
}

TEST_F(StoreTest, AnEntryThatIsReadIsNotRemoved) {
  put(kKey);
  const int reader = ::open((store.folder() / kKey).c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_EQ(::flock(reader, LOCK_SH), 0);
  const StoreRemoval removal = store.shrink_to(0);
  EXPECT_EQ(removal.entries, 0U);
  ASSERT_EQ(removal.kept.size(), 1U);
  EXPECT_NE(removal.kept[0].find("another process"), std::string::npos);
  EXPECT_TRUE(store.take(kKey, folder / "copy"));
  ::close(reader);
  EXPECT_EQ(store.shrink_to(0).entries, 1U);
}

TEST_F(StoreTest, WhatAKilledProcessHadBegunGoesOrIsFinished) {
  put(kKey);
  fs::rename(store.folder() / kKey, store.folder() / (kKey + ".partial"));
  fs::remove(store.folder() / (kKey + ".partial") / "files/a.txt");
  EXPECT_TRUE(put(kKey));
  EXPECT_TRUE(store.take(kKey, folder / "copy"));
  fs::rename(store.folder() / kKey, store.folder() / (kOther + ".partial"));
  store.shrink_to(0);
  EXPECT_TRUE(fs::is_empty(store.folder()));
}

TEST_F(StoreTest, ManyAtOncePutAndTakeWholeEntries) {
  std::vector<std::thread> threads;
  std::atomic<int> broken = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        Store own(store.folder());
        own.put(kKey, folder / "work", {"a.txt", "deep/b.txt"}, {{"what", "work"}});
        const fs::path copy = folder / fmt::format("copy-{}-{}", t, i);
        if (own.take(kKey, copy) && read_file(copy / "a.txt") != "aaaa") ++broken;
        if (i % 5 == t % 5) own.shrink_to(0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(broken, 0);
  EXPECT_TRUE(put(kKey));
  EXPECT_TRUE(store.take(kKey, folder / "last"));
}

}  // namespace
}  // namespace hone
