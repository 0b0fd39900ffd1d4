#include "hone/report/event_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "tests/support/expect.h"

namespace hone {
namespace {

// Computes CRC-32C bit by bit from its polynomial.
std::uint32_t slow_crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x82f63b78 : crc >> 1;
  }
  return ~crc;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  std::string_view take(std::size_t count) {
    EXPECT_LE(count, bytes_.size());
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  template <typename T>
  T number() {
    T value{};
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }

 private:
  std::string_view bytes_;
};

struct ReadEvent {
  double wall_time = 0;
  std::uint64_t step = 0;
  std::string version;
  std::map<std::string, float> scalars;
};

void read_summary(Reader summary, ReadEvent& event) {
  while (!summary.done()) {
    EXPECT_EQ(summary.varint(), 1u << 3 | 2u);  // value
    Reader value(summary.take(summary.varint()));
    EXPECT_EQ(value.varint(), 1u << 3 | 2u);  // tag
    const std::string tag(value.take(value.varint()));
    EXPECT_EQ(value.varint(), 2u << 3 | 5u);  // simple_value
    event.scalars[tag] = value.number<float>();
    EXPECT_TRUE(value.done());
  }
}

std::vector<ReadEvent> events_of(const fs::path& path) {
  const std::string bytes = read_file(path);
  Reader file(bytes);
  const auto check = [](std::string_view data, std::uint32_t masked) {
    const std::uint32_t crc = slow_crc32c(data);
    EXPECT_EQ(masked, ((crc >> 15) | (crc << 17)) + 0xa282ead8);
  };
  std::vector<ReadEvent> events;
  while (!file.done()) {
    const std::string_view length = file.take(8);
    check(length, file.number<std::uint32_t>());
    const std::string_view record = file.take(Reader(length).number<std::uint64_t>());
    check(record, file.number<std::uint32_t>());
    ReadEvent event;
    Reader fields(record);
    while (!fields.done()) {
      switch (fields.varint()) {
        case 1u << 3 | 1u:
          event.wall_time = fields.number<double>();
          break;
        case 2u << 3 | 0u:
          event.step = fields.varint();
          break;
        case 3u << 3 | 2u:
          event.version = fields.take(fields.varint());
          break;
        case 5u << 3 | 2u:
          read_summary(Reader(fields.take(fields.varint())), event);
          break;
        default:
          ADD_FAILURE() << "an unknown field";
      }
    }
    events.push_back(event);
  }
  return events;
}

// The check value in the catalogue of CRCs, and that of 32 zeros in RFC 3720, B.4.
TEST(Crc32c, HasItsKnownValues) {
  EXPECT_EQ(crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
}

TEST(EventFile, IsReadBack) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "runs" / "events.out.tfevents.hone";
  EventFile file(path);
  file.write(1, {{"train/loss", 0.75}, {"train/learning_rate", 1e-3}});
  file.write(300, {{"eval/accuracy", 0.5}});
  const std::vector<ReadEvent> events = events_of(path);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].version, "brain.Event:2");
  EXPECT_EQ(events[1].step, 1u);
  EXPECT_EQ(events[1].scalars,
            (std::map<std::string, float>{{"train/loss", 0.75f}, {"train/learning_rate", 1e-3f}}));
  EXPECT_EQ(events[2].step, 300u);
  EXPECT_EQ(events[2].scalars, (std::map<std::string, float>{{"eval/accuracy", 0.5f}}));
  EXPECT_GT(events[1].wall_time, 1.7e9);  // seconds since 1970
  EXPECT_GE(events[2].wall_time, events[1].wall_time);
}

TEST(EventFile, GoesOnAfterTheEventsThatCount) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "events";
  {
    EventFile file(path);
    for (int step = 1; step <= 4; ++step) file.write(step, {{"loss", step}});
  }
  EventFile resumed(path);
  EXPECT_EQ(resumed.keep(2), 2u);
  resumed.write(3, {{"loss", 30}});
  const std::vector<ReadEvent> events = events_of(path);
  ASSERT_EQ(events.size(), 4u);
  EXPECT_EQ(events[2].step, 2u);
  EXPECT_EQ(events[3].scalars.at("loss"), 30);
}

TEST(EventFile, LosesWhatAPowerCutLeftHalfWritten) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "events";
  {
    EventFile file(path);
    for (int step = 1; step <= 2; ++step) file.write(step, {{"loss", step}});
  }
  fs::resize_file(path, fs::file_size(path) - 1);
  EventFile resumed(path);
  EXPECT_EQ(resumed.keep(2), 1u);
  EXPECT_EQ(events_of(path).size(), 2u);
  EventFile nothing(folder.path() / "missing");
  EXPECT_EQ(nothing.keep(2), 0u);
}

TEST(EventFile, BeginsAnewWithoutKeep) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "events";
  for (int run = 0; run < 2; ++run) EventFile(path).write(run, {{"loss", run}});
  const std::vector<ReadEvent> events = events_of(path);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step, 1u);
}

}  // namespace
}  // namespace hone
