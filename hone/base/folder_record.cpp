#include "hone/base/folder_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone {
namespace {

/// Result of reading a record.json.
struct RecordReading {
  std::optional<FolderRecord> record = {};
  std::string fault = {};  ///< see `record_fault`
};

// Returns nothing if there is no such file.
std::optional<RecordReading> try_read_record(const fs::path& folder) {
  const fs::path file = folder / kRecordFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  try {
    const Json json = read_json(file);
    const FolderRecord any;
    if (!json.is_object() || json.value("program", Json()) != any.program()) return RecordReading{};
    user_check(json.value("schema_version", Json()) == any.schema_version(),
               "{}: this version of hone did not write it", file.string());
    return RecordReading{
        .record = with_context(file.string(), [&] { return from_json<FolderRecord>(json); })};
  } catch (const UserError& damage) {
    return RecordReading{.fault = damage.what()};
  }
}

}  // namespace

const Fields& fields_of(const RecordedFile*) {
  using R = RecordedFile;
  static const Fields fields =
      describe<R>("recorded_file", "A file that the program wrote.",
                  field<&R::size>("size", Unit::bytes, "Its size."),
                  field<&R::fingerprint>("fingerprint", "128-bit XXH3 hash of its bytes."));
  return fields;
}

const Fields& fields_of(const FolderRecord*) {
  using F = FolderRecord;
  static const Fields fields = describe<F>(
      "record.json",
      "The record in every output folder of hone, which lists its files. Only folders with a "
      "record are replaced.",
      field<&F::schema_version>("schema_version", "Version of this file's format; 1."),
      field<&F::program>("program", "\"hone\"."),
      field<&F::finished>(
          "finished",
          "Whether the job finished; false: it is running, was interrupted or gave up."),
      field<&F::job>("job",
                     "The settings that decide the result, and fingerprints of the inputs; null: "
                     "the job cannot be resumed."),
      field<&F::replaces>("replaces",
                          "Fingerprint of the record of the folder that it replaced; empty: it "
                          "replaced none."),
      field<&F::given_up>("given_up",
                          "Why the job gave up and cannot be resumed; empty: it did not."),
      field<&F::files>("files", "The files, by path; empty for unfinished folders."));
  return fields;
}

std::optional<FolderRecord> read_record(const fs::path& folder) {
  const std::optional<RecordReading> told = try_read_record(folder);
  return told ? told->record : std::nullopt;
}

std::string record_fault(const fs::path& folder) {
  const std::optional<RecordReading> told = try_read_record(folder);
  return told ? told->fault : "";
}

void write_record(const FolderRecord& record, const fs::path& folder) {
  write_file(folder / kRecordFile, to_document(to_json(record)));
}

RecordedFile recorded(const fs::path& file) {
  const MappedFile mapped(file);
  const std::span<const std::byte> bytes = mapped.bytes();
  // Releases the pages piece by piece, so that large weight files do not double the resident memory.
  constexpr std::size_t kPiece = 1 << 20;
  Fingerprint print;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto piece = bytes.subspan(begin, std::min(kPiece, bytes.size() - begin));
    print.add(piece);
    ::madvise(const_cast<std::byte*>(piece.data()), piece.size(), MADV_DONTNEED);
  }
  return {bytes.size(), print.text()};
}

}  // namespace hone
