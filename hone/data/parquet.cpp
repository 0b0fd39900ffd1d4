#include "hone/data/parquet.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/parquet_values.h"

namespace hone {
namespace {

using ColumnValues = decltype(ParquetColumn::values);

constexpr std::uint64_t kFreeBytes = std::uint64_t{64} << 20;

// What a row costs besides its text: the value, and what is held while a page is decoded.
constexpr std::uint64_t kRowBytes = 64;

/// A data page and the rows it fills: the work of one thread.
struct Piece {
  const ParquetPage* page;
  std::size_t row_group;
  std::int64_t first_row;
};

/// Strings in `values` view `page`.
struct Dictionary {
  UnpackedPage page;
  ParquetValues values;
};

std::string place(std::size_t row_group, const ParquetPage& page) {
  return fmt::format("row group {}, page at byte {}", row_group, page.position);
}

void store(std::vector<std::string_view>& values, const ParquetLeaf&, std::int64_t,
           std::string* slots, MemoryBudget& budget) {
  constexpr std::uint64_t kBlockBytes = 32;  // what a block of memory costs beyond its content
  std::uint64_t bytes = 0;
  for (const std::string_view value : values) bytes += value.size() + kBlockBytes;
  budget.charge(bytes);
  for (const std::string_view value : values) (slots++)->assign(value);
}

void store(std::vector<std::int64_t>& values, const ParquetLeaf& leaf, std::int64_t first_row,
           std::int64_t* slots, MemoryBudget&) {
  if (leaf.is_unsigned && leaf.physical == ParquetPhysical::int32) {
    for (std::int64_t& value : values) value = static_cast<std::uint32_t>(value);
  } else if (leaf.is_unsigned) {
    const auto large = std::find_if(values.begin(), values.end(), [](auto v) { return v < 0; });
    user_check(large == values.end(),
               "row {} holds {}, more than 9223372036854775807, the most that is read",
               first_row + (large - values.begin()) + 1,
               large == values.end() ? 0 : static_cast<std::uint64_t>(*large));
  }
  std::copy(values.begin(), values.end(), slots);
}

void store(std::vector<double>& values, const ParquetLeaf&, std::int64_t, double* slots,
           MemoryBudget&) {
  std::copy(values.begin(), values.end(), slots);
}

ColumnValues empty_values(ParquetPhysical physical, std::int64_t rows) {
  const auto count = static_cast<std::size_t>(rows);
  switch (physical) {
    case ParquetPhysical::byte_array:
      return std::vector<std::string>(count);
    case ParquetPhysical::float32:
    case ParquetPhysical::float64:
      return std::vector<double>(count);
    default:
      return std::vector<std::int64_t>(count);
  }
}

/// One column of a file while it is read.
class ColumnReader {
 public:
  ColumnReader(std::string_view file, const ParquetFooter& footer, std::size_t leaf)
      : file_(file),
        footer_(footer),
        number_(leaf),
        leaf_(footer.schema.leaves[leaf]),
        budget_(std::max(kFreeBytes, kMaxColumnExpansion * file.size())) {}

  ColumnValues read(ThreadPool& pool) {
    const auto rows = static_cast<std::uint64_t>(footer_.rows);
    budget_.charge(rows > UINT64_MAX / kRowBytes ? UINT64_MAX : rows * kRowBytes);
    find_pieces();
    pool.run(std::ssize(pages_), [&](std::int64_t group) { read_dictionary(group); });
    values_ = empty_values(leaf_.physical, footer_.rows);
    pool.run(std::ssize(pieces_), [&](std::int64_t i) {
      const Piece& piece = pieces_[static_cast<std::size_t>(i)];
      with_context(place(piece.row_group, *piece.page), [&] { read_piece(piece); });
    });
    return std::move(values_);
  }

 private:
  const ParquetChunk& chunk(std::size_t group) const { return footer_.row_groups[group][number_]; }

  void find_pieces() {
    std::int64_t row = 0;
    for (std::size_t group = 0; group < footer_.row_groups.size(); ++group) {
      const std::int64_t rows = footer_.row_group_rows[group];
      with_context(fmt::format("row group {}", group), [&] {
        user_check(chunk(group).elsewhere ||
                       (chunk(group).physical == leaf_.physical && chunk(group).values == rows),
                   "expected {} values of the schema's type, the column's description says "
                   "otherwise; the file is damaged",
                   rows);
        pages_.push_back(find_pages(file_, chunk(group), budget_));
      });
    }
    for (std::size_t group = 0; group < pages_.size(); ++group) {
      for (const ParquetPage& page : pages_[group].data) {
        pieces_.push_back({&page, group, row});
        row += page.values;
      }
    }
    dictionaries_.resize(pages_.size());
  }

  void read_dictionary(std::int64_t index) {
    const auto group = static_cast<std::size_t>(index);
    if (!pages_[group].dictionary) return;
    const ParquetPage& page = *pages_[group].dictionary;
    with_context(place(group, page), [&] {
      Dictionary& dictionary = dictionaries_[group].emplace();
      dictionary.page = unpack_page(page, chunk(group).codec, /*optional=*/false);
      dictionary.values =
          decode_dictionary(dictionary.page.values, page.encoding, leaf_.physical, page.values);
    });
  }

  void read_piece(const Piece& piece) {
    const ParquetPage& page = *piece.page;
    const UnpackedPage unpacked = unpack_page(page, chunk(piece.row_group).codec, leaf_.optional);
    if (leaf_.optional) {
      const std::int64_t null = find_null(unpacked.levels, page.values);
      user_check(null == page.values, "row {} is null; take such rows out, or fill them",
                 piece.first_row + null + 1);
    }
    const auto& dictionary = dictionaries_[piece.row_group];
    DecodedValues decoded =
        decode_values(unpacked.values, page.encoding, leaf_.physical, page.values,
                      dictionary ? &dictionary->values : nullptr, budget_);
    std::visit(
        [&]<typename Value>(std::vector<Value>& values) {
          using Slot =
              std::conditional_t<std::is_same_v<Value, std::string_view>, std::string, Value>;
          auto& slots = std::get<std::vector<Slot>>(values_);
          store(values, leaf_, piece.first_row, slots.data() + piece.first_row, budget_);
        },
        decoded.values);
  }

  std::string_view file_;
  const ParquetFooter& footer_;
  std::size_t number_;  // of the leaf
  const ParquetLeaf& leaf_;
  MemoryBudget budget_;
  std::vector<ParquetPages> pages_;  // by row group
  std::vector<std::optional<Dictionary>> dictionaries_;
  std::vector<Piece> pieces_;
  ColumnValues values_;
};

std::size_t find_leaf(const ParquetSchema& schema, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < schema.columns.size(); ++i) {
    const ParquetSchemaColumn& column = schema.columns[i];
    names.push_back(column.name);
    if (column.name != name) continue;
    user_check(column.readable,
               "column '{}' is of type {}; only flat columns of strings, whole numbers, numbers "
               "and booleans are read",
               name, column.type);
    return schema.first_leaf[i];
  }
  fail("no column '{}'{}; the columns are: {}", name, did_you_mean(name, names),
       fmt::join(names, ", "));
}

}  // namespace

struct ParquetFile::State {
  std::string where;
  std::optional<MappedFile> file;  // none: `bytes` are the caller's
  std::string_view bytes;
  ParquetFooter footer;
};

ParquetFile::ParquetFile(const fs::path& path) : state_(std::make_unique<State>()) {
  state_->file.emplace(path);
  state_->where = path.string();
  state_->bytes = state_->file->text();
  state_->footer = with_context(state_->where, [&] { return read_parquet_footer(state_->bytes); });
}
ParquetFile::ParquetFile(std::string_view bytes, std::string where)
    : state_(std::make_unique<State>()) {
  state_->where = std::move(where);
  state_->bytes = bytes;
  state_->footer = with_context(state_->where, [&] { return read_parquet_footer(bytes); });
}
ParquetFile::~ParquetFile() = default;
ParquetFile::ParquetFile(ParquetFile&& other) noexcept = default;
ParquetFile& ParquetFile::operator=(ParquetFile&& other) noexcept = default;

std::int64_t ParquetFile::rows() const { return state_->footer.rows; }
const std::vector<ParquetSchemaColumn>& ParquetFile::columns() const {
  return state_->footer.schema.columns;
}
const std::map<std::string, std::string>& ParquetFile::metadata() const {
  return state_->footer.metadata;
}

ParquetColumn ParquetFile::read(std::string_view column, ThreadPool& pool) const {
  return with_context(state_->where, [&] {
    const std::size_t leaf = find_leaf(state_->footer.schema, column);
    return with_context(fmt::format("column '{}'", column), [&] {
      ColumnReader reader(state_->bytes, state_->footer, leaf);
      return ParquetColumn{std::string(column), reader.read(pool)};
    });
  });
}

}  // namespace hone
