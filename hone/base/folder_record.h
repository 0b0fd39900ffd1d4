#pragma once

#include <map>
#include <optional>
#include <string>

#include "hone/base/fields.h"
#include "hone/base/file.h"

/// What tells a folder that the program wrote from all others: `record.json` in it, with every file the program wrote,
/// its size and its fingerprint, and what the job was. Only such a folder is ever replaced.
namespace hone {

inline constexpr const char* kRecordFile = "record.json";

struct RecordedFile {
  std::uintmax_t size = 0;
  std::string fingerprint;
  bool operator==(const RecordedFile&) const = default;
};
const Fields& fields_of(const RecordedFile*);

struct FolderRecord {
  bool finished = false;  ///< false: of a folder in which a job works, or was interrupted
  Json job = nullptr;     ///< see hone/jobs/run_identity.h; null: a job that cannot be resumed
  /// Fingerprint of the record of the folder that this one took the place of; "": of none.
  std::string replaces = {};
  /// Why the job ended for good, in which going on would end again; "": it did not.
  std::string given_up = {};
  std::map<std::string, RecordedFile> files = {};  ///< of a finished folder, by path in it

  std::string_view program() const { return "hone"; }
  int schema_version() const { return 1; }
};
const Fields& fields_of(const FolderRecord*);

/// The record of a folder that the program wrote; nothing for any other folder, also when its record cannot be read.
std::optional<FolderRecord> read_record(const fs::path& folder);

/// Why the folder's record.json does not say what the program wrote, in a sentence: it cannot be read, or lacks something.
/// Such a folder counts as somebody else's, whatever else lies there. Empty: it does, or is another program's, or not there.
std::string record_fault(const fs::path& folder);

/// Throws `UserError`.
void write_record(const FolderRecord& record, const fs::path& folder);

/// A regular file as it is now. Throws `UserError`.
RecordedFile recorded(const fs::path& file);

}  // namespace hone
