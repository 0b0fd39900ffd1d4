#include "hone/report/event_file.h"

#include <array>
#include <bit>
#include <chrono>
#include <fstream>

#include "hone/base/error.h"
#include "hone/base/written_files.h"

namespace hone {
namespace {

constexpr std::array<std::uint32_t, 256> crc_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kCrcTable = crc_table();

// A checksum of data that contains checksums is weak, so TFRecords store them rotated and offset.
std::uint32_t masked_crc(std::string_view bytes) {
  return std::rotr(crc32c(bytes), 15) + 0xa282ead8u;
}

// ---- little-endian numbers and protocol buffers

template <typename Integer>
std::string fixed(Integer value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  return bytes;
}

template <typename Integer>
Integer fixed_at(std::string_view bytes, std::size_t at) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value |= static_cast<Integer>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7)
    bytes += static_cast<char>(static_cast<unsigned char>(value | 0x80));
  return bytes + static_cast<char>(value);
}

enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

std::string key(std::uint64_t field, Wire wire) {
  return varint(field << 3 | static_cast<std::uint64_t>(wire));
}

std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, Wire::bytes) + varint(bytes.size()) + std::string(bytes);
}

// Event { double wall_time = 1; int64 step = 2; oneof what { string file_version = 3; Summary summary = 5; } }
std::string event(std::int64_t step, std::string_view what) {
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return key(1, Wire::fixed64) + fixed(std::bit_cast<std::uint64_t>(now)) + key(2, Wire::varint) +
         varint(static_cast<std::uint64_t>(step)) + std::string(what);
}

// Summary { repeated Value value = 1; },  Value { string tag = 1; float simple_value = 2; }
std::string summary(const std::vector<std::pair<std::string, double>>& scalars) {
  std::string values;
  for (const auto& [tag, value] : scalars)
    values += bytes_field(1, bytes_field(1, tag) + key(2, Wire::fixed32) +
                                 fixed(std::bit_cast<std::uint32_t>(static_cast<float>(value))));
  return bytes_field(5, values);
}

// ---- records

constexpr std::size_t kHeaderBytes = 12, kFooterBytes = 4;

std::string framed(std::string_view record) {
  const std::string length = fixed(std::uint64_t{record.size()});
  return length + fixed(masked_crc(length)) + std::string(record) + fixed(masked_crc(record));
}

// Returns the end of the record at `at`; 0 if it is incomplete or damaged.
std::size_t end_of_record(std::string_view file, std::size_t at) {
  const std::size_t left = file.size() - at;
  if (left < kHeaderBytes + kFooterBytes) return 0;
  const auto length = fixed_at<std::uint64_t>(file, at);
  if (length > left - kHeaderBytes - kFooterBytes) return 0;
  const std::string_view record = file.substr(at + kHeaderBytes, length);
  const std::size_t end = at + kHeaderBytes + length + kFooterBytes;
  const bool whole = fixed_at<std::uint32_t>(file, at + 8) == masked_crc(file.substr(at, 8)) &&
                     fixed_at<std::uint32_t>(file, end - kFooterBytes) == masked_crc(record);
  return whole ? end : 0;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes)
    crc = (crc >> 8) ^ kCrcTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

std::size_t EventFile::keep(std::size_t count) {
  std::error_code error;
  if (!fs::exists(file_, error)) return 0;
  const std::string file = read_file(file_);
  std::size_t end = end_of_record(file, 0), kept = 0;  // the version
  if (end == 0) return 0;
  while (kept < count) {
    const std::size_t next = end_of_record(file, end);
    if (next == 0) break;
    end = next;
    ++kept;
  }
  write_file(file_, file.substr(0, end));
  begun_ = true;
  return kept;
}

void EventFile::write(std::int64_t step,
                      const std::vector<std::pair<std::string, double>>& scalars) {
  append(event(step, summary(scalars)));
}

void EventFile::append(std::string_view record) {
  std::string bytes = framed(record);
  if (!begun_) {
    std::error_code error;
    fs::create_directories(file_.parent_path(), error);
    claim_file(file_);
    bytes = framed(event(0, bytes_field(3, "brain.Event:2"))) + bytes;
  }
  std::ofstream stream(file_, std::ios::binary | (begun_ ? std::ios::app : std::ios::trunc));
  stream << bytes << std::flush;
  user_check(stream.good(), "{}: cannot write; is the disk full?", file_.string());
  begun_ = true;
}

}  // namespace hone
