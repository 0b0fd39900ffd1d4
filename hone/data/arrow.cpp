#include "hone/data/arrow.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "hone/data/arrow_batches.h"
#include "hone/tensor/dtype.h"

namespace hone {
namespace {

constexpr std::uint64_t kArrowRowBytes = 64;    // memory of a row besides its text
constexpr std::uint64_t kArrowBlockBytes = 32;  // overhead of one allocation

/// The range of an array to read.
struct ArrowRange {
  std::int64_t begin = 0, end = 0;
};

void check_size(std::string_view buffer, std::int64_t count, std::size_t size) {
  user_check(static_cast<std::uint64_t>(count) <= buffer.size() / size,
             "a buffer of {} bytes cannot hold {} values; the file is damaged", buffer.size(),
             count);
}

template <typename Number>
Number value_at(std::string_view buffer, std::int64_t index) {
  Number value;
  std::memcpy(&value, buffer.data() + static_cast<std::size_t>(index) * sizeof(Number),
              sizeof(Number));
  return value;
}

bool bit_at(std::string_view bits, std::int64_t index) {
  return ((static_cast<unsigned char>(bits[static_cast<std::size_t>(index / 8)]) >> (index % 8)) &
          1) != 0;
}

// Returns the index of the first null in the range, or its end.
std::int64_t find_null(const ArrowArray& array, ArrowKind kind, const ArrowRange& range) {
  if (kind == ArrowKind::null) return range.begin;
  if (array.nulls == 0) return range.end;
  check_size(array.validity, (array.length + 7) / 8, 1);
  std::int64_t index = range.begin;
  while (index < range.end && bit_at(array.validity, index)) ++index;
  return index;
}

template <typename Number>
std::vector<std::int64_t> integers(const ArrowArray& array, const ArrowRange& range) {
  check_size(array.values, array.length, sizeof(Number));
  std::vector<std::int64_t> values;
  values.reserve(static_cast<std::size_t>(range.end - range.begin));
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const auto value = value_at<Number>(array.values, i);
    user_check(std::in_range<std::int64_t>(value),
               "value {} is {}, more than 9223372036854775807, the most that is read", i + 1,
               value);
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

std::vector<std::int64_t> integers(const ArrowArray& array, int bits, bool is_signed,
                                   const ArrowRange& range) {
  if (bits == 8)
    return is_signed ? integers<std::int8_t>(array, range) : integers<std::uint8_t>(array, range);
  if (bits == 16)
    return is_signed ? integers<std::int16_t>(array, range) : integers<std::uint16_t>(array, range);
  if (bits == 32)
    return is_signed ? integers<std::int32_t>(array, range) : integers<std::uint32_t>(array, range);
  return is_signed ? integers<std::int64_t>(array, range) : integers<std::uint64_t>(array, range);
}

std::vector<std::int64_t> booleans(const ArrowArray& array, const ArrowRange& range) {
  check_size(array.values, (array.length + 7) / 8, 1);
  std::vector<std::int64_t> values;
  for (std::int64_t i = range.begin; i < range.end; ++i)
    values.push_back(bit_at(array.values, i) ? 1 : 0);
  return values;
}

std::vector<double> floats(const ArrowArray& array, int bits, const ArrowRange& range) {
  check_size(array.values, array.length, static_cast<std::size_t>(bits / 8));
  std::vector<double> values;
  for (std::int64_t i = range.begin; i < range.end; ++i)
    values.push_back(bits == 64   ? value_at<double>(array.values, i)
                     : bits == 32 ? static_cast<double>(value_at<float>(array.values, i))
                                  : static_cast<double>(to_float(value_at<Half>(array.values, i))));
  return values;
}

// Returns the offsets of the values in the range, which rise and are at most `size`.
std::vector<std::int64_t> offsets_of(const ArrowArray& array, bool large, const ArrowRange& range,
                                     std::uint64_t size) {
  std::vector<std::int64_t> offsets;
  if (range.begin == range.end) return {0};
  check_size(array.offsets, array.length + 1, large ? 8 : 4);
  std::int64_t last = 0;
  for (std::int64_t i = range.begin; i <= range.end; ++i) {
    const std::int64_t offset =
        large ? value_at<std::int64_t>(array.offsets, i) : value_at<std::int32_t>(array.offsets, i);
    user_check(offset >= last && static_cast<std::uint64_t>(offset) <= size,
               "value {} is outside its buffer; the file is damaged", i + 1);
    offsets.push_back(offset);
    last = offset;
  }
  return offsets;
}

std::vector<std::string> strings(const ArrowArray& array, bool large, const ArrowRange& range,
                                 MemoryBudget& budget) {
  const std::vector<std::int64_t> offsets = offsets_of(array, large, range, array.values.size());
  const auto count = offsets.size() - 1;
  budget.charge(static_cast<std::uint64_t>(offsets.back() - offsets[0]) + count * kArrowBlockBytes);
  std::vector<std::string> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    values.emplace_back(array.values.substr(static_cast<std::size_t>(offsets[i]),
                                            static_cast<std::size_t>(offsets[i + 1] - offsets[i])));
  return values;
}

// Returns the kind of the stored values: dictionary indices are integers.
ArrowKind kind_of(const ArrowField& field) {
  return field.in_dictionary ? ArrowKind::integer : field.kind;
}

ColumnValues empty_values_of(const ArrowField& field) {
  if (field.kind == ArrowKind::floating_point) return std::vector<double>();
  if (field.kind == ArrowKind::integer || field.kind == ArrowKind::boolean)
    return std::vector<std::int64_t>();
  return std::vector<std::string>();
}

/// Reads one column of a file, batch by batch.
class ArrowColumnReader {
 public:
  ArrowColumnReader(const ArrowMessages& messages, std::size_t column, std::uint64_t file_bytes)
      : messages_(messages),
        column_(column),
        field_(messages.schema.fields[column]),
        budget_(std::max(kFreeColumnBytes, kMaxColumnExpansion * file_bytes)) {}

  StoredColumn read() {
    StoredColumn column{std::string(field_.name), empty_values_of(field_)};
    for_each_batch(field_, [&](ArrowBatchReader& reader, std::int64_t rows) {
      const ArrowArray array = next_rows(reader, rows);
      append(column.values, decode(array, field_, {0, array.length}));
    });
    return column;
  }

  StoredLists read_lists() {
    const ArrowField& element = field_.children[0];
    StoredLists lists{{std::string(field_.name), empty_values_of(element)}, {0}};
    for_each_batch(element, [&](ArrowBatchReader& reader, std::int64_t rows) {
      const ArrowArray array = next_rows(reader, rows);
      const ArrowArray values = reader.next(element);
      const std::vector<std::int64_t> offsets =
          offsets_of(array, field_.kind == ArrowKind::large_list, {0, array.length},
                     static_cast<std::uint64_t>(values.length));
      const ArrowRange range{offsets[0], offsets.back()};
      charge_rows(range.end - range.begin);
      check_elements(values, element, offsets);
      for (std::size_t i = 1; i < offsets.size(); ++i)
        lists.begins.push_back(lists.begins.back() +
                               static_cast<std::size_t>(offsets[i] - offsets[i - 1]));
      append(lists.values.values, decode(values, element, range));
    });
    return lists;
  }

  // Returns whether every value is null according to the null counts of the batches.
  bool is_null() {
    bool all = true;
    for_each_batch(field_, [&](ArrowBatchReader& reader, std::int64_t rows) {
      const ArrowArray array = reader.next(field_);
      all = all && (field_.kind == ArrowKind::null || array.nulls == rows);
    });
    return all && rows_ > 0;
  }

 private:
  // `values` is the field that may be in a dictionary: the column, or the elements of its lists.
  template <typename Read>
  void for_each_batch(const ArrowField& values, Read&& read) {
    for (const ArrowBatch& batch : messages_.batches) {
      with_context(fmt::format("batch at byte {}", batch.position), [&] {
        std::vector<std::unique_ptr<char[]>> unpacked;
        ArrowBatchReader reader(batch, unpacked, budget_);
        if (batch.is_dictionary) {
          if (values.in_dictionary && batch.dictionary == values.dictionary)
            read_dictionary(batch, reader, values);
          return;
        }
        charge_rows(batch.rows);
        for (std::size_t i = 0; i < column_; ++i) reader.skip(messages_.schema.fields[i]);
        read(reader, batch.rows);
        rows_ += batch.rows;
      });
    }
  }

  void charge_rows(std::int64_t count) {
    const auto rows = static_cast<std::uint64_t>(count);
    budget_.charge(rows > UINT64_MAX / kArrowRowBytes ? UINT64_MAX : rows * kArrowRowBytes);
  }

  // Reads the column's array of a batch and checks that no row is null.
  ArrowArray next_rows(ArrowBatchReader& reader, std::int64_t rows) {
    const ArrowArray array = reader.next(field_);
    user_check(array.length == rows, "expected {} rows, the column has {}; the file is damaged",
               rows, array.length);
    const std::int64_t null = find_null(array, kind_of(field_), {0, rows});
    user_check(null == rows, "row {} is null; remove or fill such rows", rows_ + null + 1);
    return array;
  }

  void check_elements(const ArrowArray& values, const ArrowField& element,
                      const std::vector<std::int64_t>& offsets) const {
    const ArrowRange range{offsets[0], offsets.back()};
    const std::int64_t null = find_null(values, kind_of(element), range);
    const auto row = std::ranges::upper_bound(offsets, null) - offsets.begin();
    user_check(null == range.end, "the list of row {} contains a null; remove or fill it",
               rows_ + row);
  }

  void read_dictionary(const ArrowBatch& batch, ArrowBatchReader& reader, const ArrowField& field) {
    ArrowField values = field;
    values.in_dictionary = false;
    const ArrowArray array = reader.next(values);
    charge_rows(array.length);
    const ArrowRange range{0, array.length};
    user_check(find_null(array, values.kind, range) == range.end,
               "the dictionary holds a null; write the column without a dictionary");
    if (!batch.is_delta) dictionary_ = empty_values_of(values);
    append(dictionary_, decode(array, values, range));
  }

  ColumnValues decode(const ArrowArray& array, const ArrowField& field, const ArrowRange& range) {
    if (field.in_dictionary)
      return look_up(integers(array, field.index_bits, field.index_is_signed, range), field);
    if (field.kind == ArrowKind::integer)
      return integers(array, field.bits, field.is_signed, range);
    if (field.kind == ArrowKind::boolean) return booleans(array, range);
    if (field.kind == ArrowKind::floating_point) return floats(array, field.bits, range);
    if (field.kind == ArrowKind::null) return std::vector<std::string>();
    return strings(array, field.kind == ArrowKind::large_utf8, range, budget_);
  }

  ColumnValues look_up(const std::vector<std::int64_t>& indices, const ArrowField& field) {
    ColumnValues found = empty_values_of(field);
    std::visit(
        [&]<typename Value>(std::vector<Value>& values) {
          const auto& known = std::get_if<std::vector<Value>>(&dictionary_);
          for (const std::int64_t index : indices) {
            user_check(known != nullptr && index >= 0 && index < std::ssize(*known),
                       "index {} is outside the dictionary; the file is damaged", index);
            const Value& value = (*known)[static_cast<std::size_t>(index)];
            if constexpr (std::is_same_v<Value, std::string>)
              budget_.charge(value.size() + kArrowBlockBytes);
            values.push_back(value);
          }
        },
        found);
    return found;
  }

  const ArrowMessages& messages_;
  std::size_t column_;
  const ArrowField& field_;
  MemoryBudget budget_;
  std::int64_t rows_ = 0;  // in earlier batches
  ColumnValues dictionary_;
};

ColumnSchema describe_column(const ArrowField& field) {
  const bool list = field.is_list() && !field.in_dictionary;
  return {std::string(field.name), field.type(), field.is_flat(),
          list && field.children[0].is_flat()};
}

}  // namespace

struct ArrowFile::State {
  std::uint64_t file_bytes;
  ArrowMessages messages;
  std::vector<ColumnSchema> columns;
  std::int64_t rows = 0;
};

ArrowFile::ArrowFile(std::string_view bytes) {
  MemoryBudget budget(std::max(kFreeColumnBytes, kMaxColumnExpansion * bytes.size()));
  state_ = std::make_unique<State>(State{bytes.size(), read_arrow_messages(bytes, budget), {}});
  for (const ArrowField& field : state_->messages.schema.fields)
    state_->columns.push_back(describe_column(field));
  for (const ArrowBatch& batch : state_->messages.batches)
    if (!batch.is_dictionary) {
      user_check(batch.rows <= INT64_MAX - state_->rows, "{} rows; the file is damaged",
                 batch.rows);
      state_->rows += batch.rows;
    }
}
ArrowFile::~ArrowFile() = default;

std::int64_t ArrowFile::rows() const { return state_->rows; }
const std::vector<ColumnSchema>& ArrowFile::columns() const { return state_->columns; }
const std::map<std::string, std::string>& ArrowFile::metadata() const {
  return state_->messages.schema.metadata;
}

bool ArrowFile::is_null(std::string_view column) const {
  const auto found = std::ranges::find(state_->columns, column, &ColumnSchema::name);
  if (found == state_->columns.end() || !(found->readable || found->is_list)) return false;
  const auto index = static_cast<std::size_t>(found - state_->columns.begin());
  return with_context(fmt::format("column '{}'", column), [&] {
    return ArrowColumnReader(state_->messages, index, state_->file_bytes).is_null();
  });
}

StoredColumn ArrowFile::read(std::string_view column, ThreadPool&) const {
  const std::size_t index = find_stored_column(state_->columns, column, /*lists=*/false);
  return with_context(fmt::format("column '{}'", column), [&] {
    return ArrowColumnReader(state_->messages, index, state_->file_bytes).read();
  });
}

StoredLists ArrowFile::read_lists(std::string_view column, ThreadPool&) const {
  const std::size_t index = find_stored_column(state_->columns, column, /*lists=*/true);
  return with_context(fmt::format("column '{}'", column), [&] {
    return ArrowColumnReader(state_->messages, index, state_->file_bytes).read_lists();
  });
}

}  // namespace hone
