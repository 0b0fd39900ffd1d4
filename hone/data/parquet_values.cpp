#include "hone/data/parquet_values.h"

#include <algorithm>
#include <bit>

#include "hone/base/byte_reader.h"

namespace hone {
namespace {

// Returns `width` bits, at most 64, from bit `position` on, low bits first. `bytes` must contain them.
std::uint64_t bits_at(std::string_view bytes, std::uint64_t position, unsigned width) {
  if (width == 0) return 0;
  const std::uint64_t first = position / 8;
  const unsigned shift = position % 8;
  std::uint64_t low = 0;
  std::memcpy(&low, bytes.data() + first, std::min<std::size_t>(8, bytes.size() - first));
  std::uint64_t value = low >> shift;
  if (shift + width > 64)
    value |= std::uint64_t{static_cast<std::uint8_t>(bytes[first + 8])} << (64 - shift);
  return width == 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

// RLE/bit-packing hybrid: runs of one value, or groups of 8 values with `width` bits each. Calls `run` with a value and
// its count.
template <typename Run>
void read_hybrid(std::string_view bytes, unsigned width, std::int64_t count, Run&& run) {
  ByteReader reader(bytes);
  while (count > 0) {
    const std::uint64_t header = reader.varint();
    const bool packed = (header & 1) != 0;
    const std::uint64_t length = header >> 1;
    user_check(length > 0, "a run of no values; the file is damaged");
    if (!packed) {
      std::uint64_t value = 0;
      const std::string_view written = reader.take((width + 7) / 8);
      std::memcpy(&value, written.data(), written.size());
      const std::int64_t times =
          static_cast<std::int64_t>(std::min(length, static_cast<std::uint64_t>(count)));
      run(value, times);
      count -= times;
      continue;
    }
    // The last group of 8 may contain values beyond the count.
    const std::uint64_t needed = (static_cast<std::uint64_t>(count) + 7) / 8;
    const std::string_view groups = reader.take(std::min(length, needed) * width);
    const std::int64_t values = static_cast<std::int64_t>(
        std::min<std::uint64_t>(std::min(length, needed) * 8, static_cast<std::uint64_t>(count)));
    for (std::int64_t i = 0; i < values; ++i)
      run(bits_at(groups, static_cast<std::uint64_t>(i) * width, width), 1);
    count -= values;
  }
}

template <typename T>
std::vector<T> filled(std::int64_t count) {
  std::vector<T> values;
  values.reserve(static_cast<std::size_t>(count));
  return values;
}

void expect_bytes(std::string_view bytes, std::int64_t count, std::uint64_t least_bits) {
  user_check(static_cast<std::uint64_t>(count) <= bytes.size() * 8 / least_bits,
             "{} values do not fit the {} bytes of their page; the file is damaged", count,
             bytes.size());
}

std::vector<std::string_view> plain_strings(std::string_view bytes, std::int64_t count) {
  expect_bytes(bytes, count, 32);
  auto values = filled<std::string_view>(count);
  ByteReader reader(bytes);
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(reader.take(reader.number<std::uint32_t>()));
  return values;
}

template <typename Stored, typename Value>
std::vector<Value> plain_numbers(std::string_view bytes, std::int64_t count) {
  expect_bytes(bytes, count, 8 * sizeof(Stored));
  auto values = filled<Value>(count);
  ByteReader reader(bytes);
  for (std::int64_t i = 0; i < count; ++i) values.push_back(reader.number<Stored>());
  return values;
}

template <typename Stored>
std::vector<double> plain_reals(std::string_view bytes, std::int64_t count) {
  expect_bytes(bytes, count, 8 * sizeof(Stored));
  auto values = filled<double>(count);
  for (std::int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes.data() + static_cast<std::size_t>(i) * sizeof value, sizeof value);
    values.push_back(double{value});
  }
  return values;
}

std::vector<std::int64_t> plain_booleans(std::string_view bytes, std::int64_t count) {
  expect_bytes(bytes, count, 1);
  auto values = filled<std::int64_t>(count);
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<std::int64_t>(bits_at(bytes, static_cast<std::uint64_t>(i), 1)));
  return values;
}

ParquetValues decode_plain(std::string_view bytes, ParquetPhysical physical, std::int64_t count) {
  switch (physical) {
    case ParquetPhysical::boolean:
      return plain_booleans(bytes, count);
    case ParquetPhysical::int32:
      return plain_numbers<std::int32_t, std::int64_t>(bytes, count);
    case ParquetPhysical::int64:
      return plain_numbers<std::int64_t, std::int64_t>(bytes, count);
    case ParquetPhysical::float32:
      return plain_reals<float>(bytes, count);
    case ParquetPhysical::float64:
      return plain_reals<double>(bytes, count);
    case ParquetPhysical::byte_array:
      return plain_strings(bytes, count);
    case ParquetPhysical::int96:
    case ParquetPhysical::fixed_byte_array:
      break;
  }
  HONE_ASSERT(false, "columns of type {} are not readable", static_cast<int>(physical));
}

// BYTE_STREAM_SPLIT: the first bytes of all numbers, then the second ones, …
ParquetValues join_streams(std::string_view bytes, ParquetPhysical physical, std::int64_t count) {
  const bool narrow = physical == ParquetPhysical::int32 || physical == ParquetPhysical::float32;
  const std::size_t width = narrow ? 4 : 8;
  expect_bytes(bytes, count, 8 * width);
  const auto values = static_cast<std::size_t>(count);
  std::string joined(values * width, '\0');
  for (std::size_t byte = 0; byte < width; ++byte) {
    for (std::size_t i = 0; i < values; ++i) joined[i * width + byte] = bytes[byte * values + i];
  }
  return decode_plain(joined, physical, count);
}

// Dictionary indices: one byte with their width, then the indices.
ParquetValues look_up(std::string_view bytes, std::int64_t count, const ParquetValues& dictionary) {
  ByteReader reader(bytes);
  const unsigned width = reader.number<std::uint8_t>();
  user_check(width <= 32, "indices of {} bits; expected at most 32, the file is damaged", width);
  return std::visit(
      [&]<typename T>(const std::vector<T>& entries) -> ParquetValues {
        auto values = filled<T>(count);
        read_hybrid(bytes.substr(1), width, count, [&](std::uint64_t index, std::int64_t times) {
          user_check(index < entries.size(),
                     "a value has number {} in a dictionary of {}; the file is damaged", index,
                     entries.size());
          values.insert(values.end(), static_cast<std::size_t>(times), entries[index]);
        });
        return values;
      },
      dictionary);
}

// DELTA_BINARY_PACKED: blocks of differences to the previous value. A block stores the least difference and the others
// minus it, packed in miniblocks with widths of their own.
std::vector<std::int64_t> read_deltas(ByteReader& reader, std::int64_t count) {
  constexpr std::uint64_t kMaxPerBlock = 1 << 20;
  const std::uint64_t per_block = reader.varint();
  const std::uint64_t miniblocks = reader.varint();
  const std::uint64_t total = reader.varint();
  auto last = static_cast<std::uint64_t>(reader.zigzag_varint());
  user_check(per_block <= kMaxPerBlock && miniblocks > 0 && per_block % miniblocks == 0 &&
                 per_block > 0 && per_block / miniblocks % 32 == 0,
             "differences in blocks of {} values, {} miniblocks each, which Parquet does not have; "
             "the file is damaged",
             per_block, miniblocks);
  user_check(total == static_cast<std::uint64_t>(count),
             "expected {} values, the differences give {}; the file is damaged", count, total);
  const std::uint64_t per_miniblock = per_block / miniblocks;
  auto values = filled<std::int64_t>(count);
  if (count > 0) values.push_back(static_cast<std::int64_t>(last));
  while (std::ssize(values) < count) {
    const auto least = static_cast<std::uint64_t>(reader.zigzag_varint());
    const std::string_view widths = reader.take(miniblocks);
    for (std::size_t m = 0; m < miniblocks && std::ssize(values) < count; ++m) {
      const unsigned width = static_cast<std::uint8_t>(widths[m]);
      user_check(width <= 64, "differences of {} bits; the file is damaged", width);
      const std::string_view packed = reader.take(per_miniblock * width / 8);
      const auto left = static_cast<std::uint64_t>(count - std::ssize(values));
      for (std::uint64_t i = 0; i < std::min(per_miniblock, left); ++i) {
        last += least + bits_at(packed, i * width, width);
        values.push_back(static_cast<std::int64_t>(last));
      }
    }
  }
  return values;
}

std::vector<std::int64_t> delta_integers(std::string_view bytes, std::int64_t count,
                                         ParquetPhysical physical) {
  ByteReader reader(bytes);
  std::vector<std::int64_t> values = read_deltas(reader, count);
  if (physical == ParquetPhysical::int32) {
    for (std::int64_t& value : values) value = static_cast<std::int32_t>(value);
  }
  return values;
}

std::uint64_t checked_length(std::int64_t length) {
  user_check(length >= 0 && length <= INT32_MAX, "a string of {} bytes; the file is damaged",
             length);
  return static_cast<std::uint64_t>(length);
}

// DELTA_LENGTH_BYTE_ARRAY: all lengths, then all strings.
std::vector<std::string_view> delta_length_strings(ByteReader& reader, std::int64_t count) {
  const std::vector<std::int64_t> lengths = read_deltas(reader, count);
  auto values = filled<std::string_view>(count);
  for (const std::int64_t length : lengths) values.push_back(reader.take(checked_length(length)));
  return values;
}

// DELTA_BYTE_ARRAY: the length of the prefix shared with the previous string, then the suffix.
DecodedValues delta_strings(std::string_view bytes, std::int64_t count, MemoryBudget& budget) {
  ByteReader reader(bytes);
  const std::vector<std::int64_t> shared = read_deltas(reader, count);
  const std::vector<std::string_view> own = delta_length_strings(reader, count);
  std::uint64_t total = 0, before = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::uint64_t prefix = checked_length(shared[i]);
    user_check(prefix <= before,
               "a string shares {} bytes with the one before, which has {}; the file is damaged",
               prefix, before);
    before = prefix + own[i].size();
    total += before;
  }
  budget.charge(total);
  DecodedValues decoded;
  decoded.storage.reserve(total);
  auto values = filled<std::string_view>(count);
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::size_t begin = decoded.storage.size();
    if (i > 0) decoded.storage.append(values[i - 1].substr(0, static_cast<std::size_t>(shared[i])));
    decoded.storage.append(own[i]);
    values.emplace_back(decoded.storage.data() + begin, decoded.storage.size() - begin);
  }
  decoded.values = std::move(values);
  return decoded;
}

// Booleans: the 4-byte length of the runs, then the runs.
std::vector<std::int64_t> rle_booleans(std::string_view bytes, std::int64_t count) {
  ByteReader reader(bytes);
  const std::string_view runs = reader.take(reader.number<std::uint32_t>());
  auto values = filled<std::int64_t>(count);
  read_hybrid(runs, 1, count, [&](std::uint64_t value, std::int64_t times) {
    values.insert(values.end(), static_cast<std::size_t>(times), value == 0 ? 0 : 1);
  });
  return values;
}

}  // namespace

ParquetValues decode_dictionary(std::string_view bytes, ParquetEncoding encoding,
                                ParquetPhysical physical, std::int64_t count) {
  const bool plain =
      encoding == ParquetEncoding::plain || encoding == ParquetEncoding::plain_dictionary;
  user_check(plain && physical != ParquetPhysical::boolean,
             "a dictionary in encoding {}, or one of booleans; the file is damaged",
             static_cast<std::int32_t>(encoding));
  return decode_plain(bytes, physical, count);
}

DecodedValues decode_values(std::string_view bytes, ParquetEncoding encoding,
                            ParquetPhysical physical, std::int64_t count,
                            const ParquetValues* dictionary, MemoryBudget& budget) {
  const bool string = physical == ParquetPhysical::byte_array;
  const bool real = physical == ParquetPhysical::float32 || physical == ParquetPhysical::float64;
  const bool integer = physical == ParquetPhysical::int32 || physical == ParquetPhysical::int64;
  ByteReader reader(bytes);
  switch (encoding) {
    case ParquetEncoding::plain:
      return {decode_plain(bytes, physical, count), {}};
    case ParquetEncoding::plain_dictionary:
    case ParquetEncoding::rle_dictionary:
      user_check(dictionary != nullptr,
                 "a page refers to a dictionary, the column has none; the file is damaged");
      return {look_up(bytes, count, *dictionary), {}};
    case ParquetEncoding::rle:
      if (physical == ParquetPhysical::boolean) return {rle_booleans(bytes, count), {}};
      break;
    case ParquetEncoding::delta_binary_packed:
      if (integer) return {delta_integers(bytes, count, physical), {}};
      break;
    case ParquetEncoding::delta_length_byte_array:
      if (string) return {delta_length_strings(reader, count), {}};
      break;
    case ParquetEncoding::delta_byte_array:
      if (string) return delta_strings(bytes, count, budget);
      break;
    case ParquetEncoding::byte_stream_split:
      if (integer || real) return {join_streams(bytes, physical, count), {}};
      break;
  }
  fail(
      "values in encoding {} are not read in a column of this type; write the file anew with the "
      "encodings that are usual (pyarrow: column_encoding=None)",
      static_cast<std::int32_t>(encoding));
}

std::vector<std::uint8_t> decode_levels(std::string_view levels, int most, std::int64_t count) {
  auto values = filled<std::uint8_t>(count);
  const auto width = static_cast<unsigned>(std::bit_width(static_cast<unsigned>(most)));
  read_hybrid(levels, width, count, [&](std::uint64_t level, std::int64_t times) {
    user_check(level <= static_cast<std::uint64_t>(most),
               "a level of {} in a column that has at most {}; the file is damaged", level, most);
    values.insert(values.end(), static_cast<std::size_t>(times), static_cast<std::uint8_t>(level));
  });
  return values;
}

std::int64_t find_null(std::string_view levels, std::int64_t count) {
  std::int64_t row = 0, null = count;
  read_hybrid(levels, 1, count, [&](std::uint64_t level, std::int64_t times) {
    if (level == 0) null = std::min(null, row);
    row += times;
  });
  return null;
}

}  // namespace hone
