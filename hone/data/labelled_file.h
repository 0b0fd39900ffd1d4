#pragma once

#include <memory>

#include "hone/base/file.h"
#include "hone/data/data_table.h"

/// Files of labelled examples, opened by file extension.
namespace hone {

/// Returns the supported extensions: ".csv", ".jsonl.gz", ….
const std::vector<std::string>& labelled_file_endings();

/// Returns the extensions of plain text files with one text per line: ".txt", ".txt.gz". They are read only when named
/// explicitly: in a data folder, such a file may be a readme.
const std::vector<std::string>& text_file_endings();

/// Returns the extension of `path` if it is in either list, else "".
std::string text_file_ending(const fs::path& path);

/// Returns the extension of `path` if it is in `labelled_file_endings`, else "".
std::string labelled_file_ending(const fs::path& path);

/// Returns "; unpack it first: unzip FILE" for files in an unsupported archive format, else "".
std::string unpack_hint(const fs::path& path);

/// An opened file, and the table that reads from it.
struct LabelledFile {
  fs::path path;
  std::shared_ptr<const MappedFile> mapped;
  std::shared_ptr<const std::string> content;  ///< set if the file was decompressed or decoded
  DataTable table;
  std::vector<std::string> warnings = {};  ///< about bytes that could not be decoded

  /// Returns "reviews.csv: line 7".
  std::string place(std::int64_t number) const;
  /// Reads the table's records; errors begin with the path.
  std::vector<Record> read(const ColumnChoice& choice, ThreadPool& pool) const;
};

/// Opens a file in the form that `options` sets, else the remembered one. Decodes text that is not UTF-8 from the given
/// `encoding`, else from UTF-16 or UTF-32 if there is a byte order mark, else from the remembered encoding if the bytes
/// are not valid UTF-8. Throws `UserError` with the path for an unknown extension, and for a file that cannot be read,
/// decompressed or, if `options.strict`, decoded.
LabelledFile open_labelled_file(const fs::path& path, const DataOptions& options = {});

/// Converts text to UTF-8. Malformed bytes are an error if `strict`, else a warning.
std::string decode_text(std::string_view bytes, const std::string& encoding, bool strict,
                        std::vector<std::string>& warnings);

}  // namespace hone
