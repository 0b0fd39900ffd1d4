#pragma once

#include <memory>

#include "hone/base/file.h"
#include "hone/data/data_table.h"

/// Files of labelled texts, opened by what their names end in.
namespace hone {

/// Endings of the names of such files: ".csv", ".jsonl.gz", ….
const std::vector<std::string>& labelled_file_endings();

/// Endings of files of texts alone, a line each: ".txt", ".txt.gz". They are read where somebody names them; in a folder
/// of data they are not looked for, for a readme is one too.
const std::vector<std::string>& text_file_endings();

/// The ending among all of these that the name has; "" if none.
std::string text_file_ending(const fs::path& path);

/// The ending among `labelled_file_endings` that the name has; "" if none.
std::string labelled_file_ending(const fs::path& path);

/// "; unpack it first: unzip FILE" for a file that is packed in a way that is not read; else empty.
std::string unpack_hint(const fs::path& path);

/// An opened file; the table reads from it.
struct LabelledFile {
  fs::path path;
  std::shared_ptr<const MappedFile> mapped;
  std::shared_ptr<const std::string> content;  ///< of a file that was unpacked or decoded
  DataTable table;
  std::vector<std::string> warnings = {};  ///< of bytes that could not be decoded

  /// "reviews.csv: line 7"
  std::string place(std::int64_t number) const;
  /// The table's records, with the path in front of errors.
  std::vector<Record> read(const ColumnChoice& choice, ThreadPool& pool) const;
};

/// Opens a file as the forms of `options` say, those of the user before those remembered. Text in
/// another encoding than UTF-8 is decoded: what `encoding` says, else UTF-16 and UTF-32 with a byte
/// order mark, else what is remembered where the bytes are not UTF-8. Throws `UserError` with the
/// path: another ending, a file that cannot be read, unpacked or, under `options.strict`, decoded.
LabelledFile open_labelled_file(const fs::path& path, const DataOptions& options = {});

/// Returns the bytes of a text as UTF-8. What is malformed in `encoding` is an error where
/// `strict`, else a warning.
std::string decode_text(std::string_view bytes, const std::string& encoding, bool strict,
                        std::vector<std::string>& warnings);

}  // namespace hone
