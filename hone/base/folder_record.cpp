#include "hone/base/folder_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone {
namespace {

/// Result of reading a record.json.
struct ToldRecord {
  std::optional<FolderRecord> record = {};
  std::string fault = {};  ///< see `record_fault`
};

// Returns nothing if there is no such file.
std::optional<ToldRecord> told_record(const fs::path& folder) {
  const fs::path file = folder / kRecordFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  try {
    const Json json = read_json(file);
    const FolderRecord any;
    if (!json.is_object() || json.value("program", Json()) != any.program()) return ToldRecord{};
    user_check(json.value("schema_version", Json()) == any.schema_version(),
               "{}: is not as this version of hone writes it", file.string());
    return ToldRecord{
        .record = with_context(file.string(), [&] { return from_json<FolderRecord>(json); })};
  } catch (const UserError& damage) {
    return ToldRecord{.fault = damage.what()};
  }
}

}  // namespace

const Fields& fields_of(const RecordedFile*) {
  using R = RecordedFile;
  static const Fields fields =
      describe<R>("recorded_file", "A file that the program wrote.",
                  field<&R::size>("size", Unit::bytes, "Its size."),
                  field<&R::fingerprint>("fingerprint", "Of its bytes, by XXH3 with 128 bits."));
  return fields;
}

const Fields& fields_of(const FolderRecord*) {
  using F = FolderRecord;
  static const Fields fields = describe<F>(
      "record.json",
      "What was written: in every folder that the program makes. Only folders with it are "
      "replaced.",
      field<&F::schema_version>("schema_version", "Of this file; 1."),
      field<&F::program>("program", "\"hone\"."),
      field<&F::finished>("finished",
                          "false: a job works there, was interrupted or ended for good."),
      field<&F::job>("job",
                     "The settings that decide the result, and fingerprints of what was read; "
                     "null: the job cannot be resumed."),
      field<&F::replaces>("replaces",
                          "Fingerprint of the record of the folder that it replaced; empty: it "
                          "replaced none."),
      field<&F::given_up>("given_up",
                          "Why the job ended for good and cannot go on; empty: it did not."),
      field<&F::files>("files", "The files, by path; empty for unfinished folders."));
  return fields;
}

std::optional<FolderRecord> read_record(const fs::path& folder) {
  const std::optional<ToldRecord> told = told_record(folder);
  return told ? told->record : std::nullopt;
}

std::string record_fault(const fs::path& folder) {
  const std::optional<ToldRecord> told = told_record(folder);
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
