#include "hone/base/folder_record.h"

#include <sys/mman.h>

#include <algorithm>
#include <ctime>
#include <span>

#include "hone/base/error.h"
#include "hone/base/hash.h"

namespace hone {
namespace {

constexpr std::string_view kProgram = "hone";
constexpr int kSchemaVersion = 1;

/// A file that versions before records left, and what such a file of ours has in it. A job that was interrupted may have
/// both.
struct EarlierMark {
  const char* file;
  const char* keys[2];
  bool finished;
};
constexpr EarlierMark kEarlierMarks[] = {
    {"resume.json", {"the model", "the training texts"}, false},
    {"settings.json", {"command", "settings"}, true},
};

// Nothing when there is no such file, or something else than an object in it.
std::optional<Json> object_in(const fs::path& file) {
  try {
    if (!path_exists(file)) return std::nullopt;
    Json json = read_json(file);
    return json.is_object() ? std::optional(std::move(json)) : std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;  // then it is no mark, and the folder not ours
  }
}

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

// Nothing where there is no such file. Where there is one, whatever is in it, marks of earlier versions do not count.
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

// Other programs have a settings.json too. Ours names a command line of this program, when it ran and for how long.
bool is_of_a_job(const Json& settings) {
  const Json& command = settings[settings.contains("command_line") ? "command_line" : "command"];
  return command.is_string() && command.get<std::string>().starts_with("hone ") &&
         settings["settings"].is_object() && settings.contains("start") &&
         settings.contains("seconds");
}

// Of a settings.json: its `start`, in whole seconds, and what the job took from there.
std::optional<fs::file_time_type> end_of_job(const Json& settings) {
  // A second for what the start lacks, and one for the report that was written after the settings.
  constexpr std::chrono::seconds kRounding{2};
  constexpr double kMostSeconds = 1e9;  // thirty years
  const Json &start = settings["start"], &seconds = settings["seconds"];
  std::tm utc{};
  if (!start.is_string() || !seconds.is_number()) return std::nullopt;
  if (::strptime(start.get<std::string>().c_str(), "%Y-%m-%dT%H:%M:%SZ", &utc) == nullptr)
    return std::nullopt;
  const double took = seconds.get<double>();
  if (!(took >= 0 && took <= kMostSeconds)) return std::nullopt;
  return std::chrono::file_clock::from_sys(
      std::chrono::system_clock::from_time_t(::timegm(&utc)) +
      std::chrono::ceil<std::chrono::seconds>(std::chrono::duration<double>(took)) + kRounding);
}

struct FoundMark {
  const EarlierMark* mark;
  Json content;
};

std::optional<FoundMark> earlier_mark(const fs::path& folder) {
  for (const EarlierMark& mark : kEarlierMarks) {
    std::optional<Json> json = object_in(folder / mark.file);
    if (!json || !json->contains(mark.keys[0]) || !json->contains(mark.keys[1])) continue;
    if (!mark.finished || is_of_a_job(*json)) return FoundMark{&mark, std::move(*json)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<FolderRecord> read_record(const fs::path& folder) {
  if (std::optional<ToldRecord> told = told_record(folder)) return std::move(told->record);
  const std::optional<FoundMark> found = earlier_mark(folder);
  if (!found) return std::nullopt;
  FolderRecord record{.finished = found->mark->finished, .by_name = true};
  if (record.finished) record.ended = end_of_job(found->content);
  return record;
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

std::optional<fs::path> mark_of(const fs::path& folder) {
  if (const std::optional<ToldRecord> told = told_record(folder))
    return told->record ? std::optional(folder / kRecordFile) : std::nullopt;
  const std::optional<FoundMark> found = earlier_mark(folder);
  return found ? std::optional(folder / found->mark->file) : std::nullopt;
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
