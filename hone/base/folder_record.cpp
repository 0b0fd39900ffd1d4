#include "hone/base/folder_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone {
namespace {

constexpr std::string_view kProgram = "hone";
constexpr int kSchemaVersion = 1;

std::optional<FolderRecord> parse_record(const Json& json) {
  try {
    if (json.at("program") != kProgram || json.at("schema_version") != kSchemaVersion)
      return std::nullopt;
    FolderRecord record{.finished = json.at("finished").get<bool>(),
                        .job = json.at("job"),
                        .replaces = json.at("replaces").get<std::string>(),
                        .given_up = json.value("given_up", "")};
    for (const auto& [path, file] : json.at("files").items())
      record.files[path] = {file.at("size").get<std::uintmax_t>(),
                            file.at("fingerprint").get<std::string>()};
    return record;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

/// What a record.json has told.
struct ToldRecord {
  std::optional<FolderRecord> record = {};
  std::string fault = {};  ///< as `record_fault`
};

// Nothing where there is no such file.
std::optional<ToldRecord> told_record(const fs::path& folder) {
  const fs::path file = folder / kRecordFile;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(file, error))) return std::nullopt;
  try {
    const Json json = read_json(file);
    if (std::optional<FolderRecord> record = parse_record(json))
      return ToldRecord{.record = std::move(record)};
    const bool ours = json.is_object() && json.value("program", Json()) == kProgram;
    return ToldRecord{.fault =
                          ours ? file.string() + ": is not as this version of hone writes it" : ""};
  } catch (const UserError& damage) {
    return ToldRecord{.fault = damage.what()};
  }
}

}  // namespace

std::optional<FolderRecord> read_record(const fs::path& folder) {
  const std::optional<ToldRecord> told = told_record(folder);
  return told ? told->record : std::nullopt;
}

std::string record_fault(const fs::path& folder) {
  const std::optional<ToldRecord> told = told_record(folder);
  return told ? told->fault : "";
}

void write_record(const FolderRecord& record, const fs::path& folder) {
  Json files = Json::object();
  for (const auto& [path, file] : record.files)
    files[path] = {{"size", file.size}, {"fingerprint", file.fingerprint}};
  write_file(folder / kRecordFile, to_document({{"schema_version", kSchemaVersion},
                                                {"program", kProgram},
                                                {"finished", record.finished},
                                                {"job", record.job},
                                                {"replaces", record.replaces},
                                                {"given_up", record.given_up},
                                                {"files", files}}));
}

RecordedFile recorded(const fs::path& file) {
  const MappedFile mapped(file);
  const std::span<const std::byte> bytes = mapped.bytes();
  // In pieces whose pages go at once: weights as large as those that are held would stand beside them.
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
