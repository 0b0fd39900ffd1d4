#include "hone/data/parquet.h"

#include <algorithm>
#include <iterator>

#include "hone/base/error.h"
#include "hone/data/parquet_values.h"

namespace hone {
namespace {

// Memory of a row besides its text: the value, and temporary memory for decoding a page.
constexpr std::uint64_t kRowBytes = 64;

/// A data page and the rows it fills: the work of one thread.
struct Piece {
  const ParquetPage* page;
  std::size_t row_group;
  std::int64_t first_row;
};

/// A decoded dictionary; strings in `values` view `page`.
struct Dictionary {
  UnpackedPage page;
  ParquetValues values;
};

std::string place(std::size_t row_group, const ParquetPage& page) {
  return fmt::format("row group {}, page at byte {}", row_group, page.position);
}

// Messages refer to the first value as `unit` `first`.
void store(std::vector<std::string_view>& values, const ParquetLeaf&, const char*, std::int64_t,
           std::string* slots, MemoryBudget& budget) {
  constexpr std::uint64_t kBlockBytes = 32;  // overhead of one allocation
  std::uint64_t bytes = 0;
  for (const std::string_view value : values) bytes += value.size() + kBlockBytes;
  budget.charge(bytes);
  for (const std::string_view value : values) (slots++)->assign(value);
}

void store(std::vector<std::int64_t>& values, const ParquetLeaf& leaf, const char* unit,
           std::int64_t first, std::int64_t* slots, MemoryBudget&) {
  if (leaf.is_unsigned && leaf.physical == ParquetPhysical::int32) {
    for (std::int64_t& value : values) value = static_cast<std::uint32_t>(value);
  } else if (leaf.is_unsigned) {
    const auto large = std::find_if(values.begin(), values.end(), [](auto v) { return v < 0; });
    user_check(large == values.end(),
               "{} {} holds {}, more than 9223372036854775807, the most that is read", unit,
               first + (large - values.begin()) + 1,
               large == values.end() ? 0 : static_cast<std::uint64_t>(*large));
  }
  std::copy(values.begin(), values.end(), slots);
}

void store(std::vector<double>& values, const ParquetLeaf&, const char*, std::int64_t,
           double* slots, MemoryBudget&) {
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

/// The levels of a page of lists, and its values.
struct ListPiece {
  std::vector<std::uint8_t> repetition, definition;
  ColumnValues values;
};

/// Groups the values of a column into lists by the levels of each entry. An entry begins or continues a row, and is a
/// value, an empty list, or missing.
class ListCutter {
 public:
  explicit ListCutter(const ParquetLevels& levels) : levels_(levels) {}

  void begin_row_group() { first_row_ = begins_.size(); }
  void take(const ListPiece& piece) {
    for (std::size_t i = 0; i < piece.repetition.size(); ++i)
      take(piece.repetition[i] == 0, piece.definition[i]);
  }
  void end_row_group(std::int64_t rows) const {
    user_check(begins_.size() - first_row_ == static_cast<std::size_t>(rows),
               "expected {} rows, the lists give {}; the file is damaged", rows,
               begins_.size() - first_row_);
  }
  std::vector<std::size_t> finish() {
    begins_.push_back(values_);
    return std::move(begins_);
  }

 private:
  void take(bool new_row, int definition) {
    if (new_row) begins_.push_back(values_);
    user_check(begins_.size() > first_row_,
               "a row group begins in the middle of a list; the file is damaged");
    if (definition == levels_.definition) {
      ++values_;
      return;
    }
    user_check(definition < levels_.element,
               "the list of row {} contains a null; remove or fill it", begins_.size());
    user_check(new_row, "a list goes on with nothing; the file is damaged");
    user_check(definition == levels_.element - 1, "row {} is null; remove or fill such rows",
               begins_.size());
  }

  const ParquetLevels& levels_;
  std::vector<std::size_t> begins_;
  std::size_t values_ = 0;
  std::size_t first_row_ = 0;  // first row of the row group
};

/// Reads one column of a file.
class ColumnReader {
 public:
  ColumnReader(std::string_view file, const ParquetFooter& footer, std::size_t leaf)
      : file_(file),
        footer_(footer),
        number_(leaf),
        leaf_(footer.schema.leaves[leaf]),
        budget_(std::max(kFreeColumnBytes, kMaxColumnExpansion * file.size())) {}

  ColumnValues read(ThreadPool& pool) {
    prepare(pool);
    values_ = empty_values(leaf_.physical, footer_.rows);
    pool.run(std::ssize(pieces_), [&](std::int64_t i) {
      const Piece& piece = pieces_[static_cast<std::size_t>(i)];
      with_context(place(piece.row_group, *piece.page), [&] { read_piece(piece); });
    });
    return std::move(values_);
  }

  StoredLists read_lists(ThreadPool& pool) {
    prepare(pool);
    std::vector<ListPiece> lists(pieces_.size());
    pool.run(std::ssize(pieces_), [&](std::int64_t i) {
      const Piece& piece = pieces_[static_cast<std::size_t>(i)];
      with_context(place(piece.row_group, *piece.page),
                   [&] { lists[static_cast<std::size_t>(i)] = read_list_piece(piece); });
    });
    StoredLists column{{"", empty_values(leaf_.physical, 0)}, {}};
    ListCutter cutter(leaf_.levels);
    std::size_t next = 0;
    for (std::size_t group = 0; group < pages_.size(); ++group) {
      cutter.begin_row_group();
      for (std::size_t i = 0; i < pages_[group].data.size(); ++i, ++next) {
        with_context(place(group, *pieces_[next].page), [&] { cutter.take(lists[next]); });
        append(column.values.values, std::move(lists[next].values));
      }
      with_context(fmt::format("row group {}", group),
                   [&] { cutter.end_row_group(footer_.row_group_rows[group]); });
    }
    column.begins = cutter.finish();
    return column;
  }

  // Returns whether the column has no values; reads only levels, up to the first value.
  bool is_null() {
    if (leaf_.levels.definition == 0) return false;
    find_pieces();
    return std::ranges::all_of(pieces_, [&](const Piece& piece) {
      const ParquetPage& page = *piece.page;
      const UnpackedPage unpacked = unpack_page(page, chunk(piece.row_group).codec, leaf_.levels);
      const std::vector<std::uint8_t> levels =
          decode_levels(unpacked.definition_levels, leaf_.levels.definition, page.values);
      return std::ranges::all_of(levels, [](std::uint8_t level) { return level == 0; });
    });
  }

 private:
  bool is_list() const { return leaf_.levels.repetition > 0; }

  // In a list column, each entry is charged: a value, or the placeholder of an empty list.
  void prepare(ThreadPool& pool) {
    charge_rows(footer_.rows);
    if (is_list())
      for (std::size_t group = 0; group < footer_.row_groups.size(); ++group)
        charge_rows(chunk(group).values);
    find_pieces();
    pool.run(std::ssize(pages_), [&](std::int64_t group) { read_dictionary(group); });
  }
  void charge_rows(std::int64_t count) {
    const auto rows = static_cast<std::uint64_t>(count);
    budget_.charge(rows > UINT64_MAX / kRowBytes ? UINT64_MAX : rows * kRowBytes);
  }
  const ParquetChunk& chunk(std::size_t group) const { return footer_.row_groups[group][number_]; }

  void find_pieces() {
    std::int64_t row = 0;
    for (std::size_t group = 0; group < footer_.row_groups.size(); ++group) {
      const std::int64_t rows = footer_.row_group_rows[group];
      with_context(fmt::format("row group {}", group), [&] {
        user_check(chunk(group).elsewhere || (chunk(group).physical == leaf_.physical &&
                                              (is_list() || chunk(group).values == rows)),
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
      dictionary.page = unpack_page(page, chunk(group).codec, {});
      dictionary.values =
          decode_dictionary(dictionary.page.values, page.encoding, leaf_.physical, page.values);
    });
  }

  void read_piece(const Piece& piece) {
    const ParquetPage& page = *piece.page;
    const UnpackedPage unpacked = unpack_page(page, chunk(piece.row_group).codec, leaf_.levels);
    if (leaf_.levels.definition > 0) {
      const std::int64_t null = find_null(unpacked.definition_levels, page.values);
      user_check(null == page.values, "row {} is null; remove or fill such rows",
                 piece.first_row + null + 1);
    }
    decode(piece, unpacked, page.values, "row", piece.first_row, values_, piece.first_row);
  }

  ListPiece read_list_piece(const Piece& piece) {
    const ParquetPage& page = *piece.page;
    const UnpackedPage unpacked = unpack_page(page, chunk(piece.row_group).codec, leaf_.levels);
    ListPiece list;
    list.repetition =
        decode_levels(unpacked.repetition_levels, leaf_.levels.repetition, page.values);
    list.definition =
        decode_levels(unpacked.definition_levels, leaf_.levels.definition, page.values);
    const std::int64_t count = std::ranges::count(list.definition, leaf_.levels.definition);
    list.values = empty_values(leaf_.physical, count);
    if (count > 0) decode(piece, unpacked, count, "value", 0, list.values, 0);
    return list;
  }

  // Writes the page's `count` values to `all`, starting at `begin`.
  void decode(const Piece& piece, const UnpackedPage& unpacked, std::int64_t count,
              const char* unit, std::int64_t first, ColumnValues& all, std::int64_t begin) {
    const auto& dictionary = dictionaries_[piece.row_group];
    DecodedValues decoded =
        decode_values(unpacked.values, piece.page->encoding, leaf_.physical, count,
                      dictionary ? &dictionary->values : nullptr, budget_);
    std::visit(
        [&]<typename Value>(std::vector<Value>& values) {
          using Slot =
              std::conditional_t<std::is_same_v<Value, std::string_view>, std::string, Value>;
          auto& slots = std::get<std::vector<Slot>>(all);
          store(values, leaf_, unit, first, slots.data() + begin, budget_);
        },
        decoded.values);
  }

  std::string_view file_;
  const ParquetFooter& footer_;
  std::size_t number_;  // index of the leaf
  const ParquetLeaf& leaf_;
  MemoryBudget budget_;
  std::vector<ParquetPages> pages_;  // by row group
  std::vector<std::optional<Dictionary>> dictionaries_;
  std::vector<Piece> pieces_;
  ColumnValues values_;
};

}  // namespace

struct ParquetFile::State {
  std::string where;
  std::optional<MappedFile> file;  // unset: the caller owns `bytes`
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
const std::vector<ColumnSchema>& ParquetFile::columns() const {
  return state_->footer.schema.columns;
}
const std::map<std::string, std::string>& ParquetFile::metadata() const {
  return state_->footer.metadata;
}

bool ParquetFile::is_null(std::string_view column) const {
  const ParquetSchema& schema = state_->footer.schema;
  const auto found = std::ranges::find(schema.columns, column, &ColumnSchema::name);
  if (found == schema.columns.end() || state_->footer.rows == 0) return false;
  return with_context(fmt::format("{}: column '{}'", state_->where, column), [&] {
    const std::size_t leaf =
        schema.first_leaf[static_cast<std::size_t>(found - schema.columns.begin())];
    return leaf < schema.leaves.size() &&
           ColumnReader(state_->bytes, state_->footer, leaf).is_null();
  });
}

StoredColumn ParquetFile::read(std::string_view column, ThreadPool& pool) const {
  return with_context(state_->where, [&] {
    const ParquetSchema& schema = state_->footer.schema;
    const std::size_t leaf =
        schema.first_leaf[find_stored_column(schema.columns, column, /*lists=*/false)];
    return with_context(fmt::format("column '{}'", column), [&] {
      ColumnReader reader(state_->bytes, state_->footer, leaf);
      return StoredColumn{std::string(column), reader.read(pool)};
    });
  });
}

StoredLists ParquetFile::read_lists(std::string_view column, ThreadPool& pool) const {
  return with_context(state_->where, [&] {
    const ParquetSchema& schema = state_->footer.schema;
    const std::size_t leaf =
        schema.first_leaf[find_stored_column(schema.columns, column, /*lists=*/true)];
    return with_context(fmt::format("column '{}'", column), [&] {
      StoredLists lists = ColumnReader(state_->bytes, state_->footer, leaf).read_lists(pool);
      lists.values.name = column;
      return lists;
    });
  });
}

}  // namespace hone
