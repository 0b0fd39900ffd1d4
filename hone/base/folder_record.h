#pragma once

#include <map>
#include <optional>
#include <string>

#include "hone/base/fields.h"
#include "hone/base/file.h"

/// `record.json` identifies a folder that the program wrote. It lists the job, and every file with its size and
/// fingerprint. Only such folders are ever replaced.
namespace hone {

inline constexpr const char* kRecordFile = "record.json";

struct RecordedFile {
  std::uintmax_t size = 0;
  std::string fingerprint;
  bool operator==(const RecordedFile&) const = default;
};
const Fields& fields_of(const RecordedFile*);

struct FolderRecord {
  bool finished = false;  ///< false: a job is working in the folder, or was interrupted
  Json job = nullptr;     ///< see hone/jobs/run_identity.h; null: a job that cannot be resumed
  /// Fingerprint of the record of the folder that this one replaced; "": none.
  std::string replaces = {};
  /// Why the job failed for good, so that resuming would fail again; "": it did not.
  std::string given_up = {};
  std::map<std::string, RecordedFile> files = {};  ///< by relative path; empty until finished

  std::string_view program() const { return "hone"; }
  int schema_version() const { return 1; }
};
const Fields& fields_of(const FolderRecord*);

/// Reads the record of a folder that the program wrote; returns nothing for other folders and unreadable records.
std::optional<FolderRecord> read_record(const fs::path& folder);

/// Returns a sentence why record.json is invalid: unreadable or incomplete. Such a folder counts as not the program's
/// own. Returns "" if the record is valid, belongs to another program, or does not exist.
std::string record_fault(const fs::path& folder);

/// Writes the record. Throws `UserError`.
void write_record(const FolderRecord& record, const fs::path& folder);

/// Returns size and fingerprint of a regular file. Throws `UserError`.
RecordedFile recorded(const fs::path& file);

}  // namespace hone
