#include "hone/data/flat_buffer.h"

namespace hone {
namespace {

// Returns the target of the offset at `position`.
std::size_t target_of(std::string_view buffer, std::size_t position) {
  const std::size_t target = position + number_at<std::uint32_t>(buffer, position);
  user_check(target < buffer.size(), "an offset points past the end; the file is damaged");
  return target;
}

}  // namespace

// A table begins with the distance back to its vtable: the vtable's size, the table's size, and field offsets into the
// table.
FlatTable::FlatTable(std::string_view buffer, std::size_t position)
    : buffer_(buffer), position_(position) {
  const auto back = number_at<std::int32_t>(buffer, position);
  const std::int64_t fields = static_cast<std::int64_t>(position) - back;
  user_check(fields >= 0, "a table's fields start before the beginning; the file is damaged");
  fields_ = static_cast<std::size_t>(fields);
  fields_bytes_ = number_at<std::uint16_t>(buffer, fields_);
}

FlatTable FlatTable::root(std::string_view buffer) { return {buffer, target_of(buffer, 0)}; }

std::size_t FlatTable::find(int field) const {
  const std::size_t slot = 4 + 2 * static_cast<std::size_t>(field);
  if (slot + 2 > fields_bytes_) return 0;
  const auto offset = number_at<std::uint16_t>(buffer_, fields_ + slot);
  return offset == 0 ? 0 : position_ + offset;
}

std::optional<FlatTable> FlatTable::table(int field) const {
  const std::size_t at = find(field);
  if (at == 0) return std::nullopt;
  return FlatTable(buffer_, target_of(buffer_, at));
}

FlatVector FlatTable::vector(int field, std::size_t size) const {
  const std::size_t at = find(field);
  if (at == 0) return {};
  const std::size_t begin = target_of(buffer_, at);
  const std::size_t count = number_at<std::uint32_t>(buffer_, begin);
  user_check(count <= (buffer_.size() - begin - 4) / size,
             "a list extends past the end; the file is damaged");
  return {buffer_, begin + 4, count};
}

std::string_view FlatTable::text(int field) const {
  const FlatVector characters = vector(field, 1);
  return characters.buffer.substr(characters.begin, characters.count);
}

FlatTable FlatTable::element(const FlatVector& tables, std::size_t index) {
  return {tables.buffer, target_of(tables.buffer, tables.begin + 4 * index)};
}

}  // namespace hone
