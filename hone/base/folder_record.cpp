#include "hone/base/folder_record.h"

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

// Other programs have a settings.json too. Ours names a command line of this program, when it ran and for how long.
bool is_of_a_job(const Json& settings) {
  const Json& command = settings[settings.contains("command_line") ? "command_line" : "command"];
  return command.is_string() && command.get<std::string>().starts_with("hone ") &&
         settings["settings"].is_object() && settings.contains("start") &&
         settings.contains("seconds");
}

const EarlierMark* earlier_mark(const fs::path& folder) {
  for (const EarlierMark& mark : kEarlierMarks) {
    const std::optional<Json> json = object_in(folder / mark.file);
    if (!json || !json->contains(mark.keys[0]) || !json->contains(mark.keys[1])) continue;
    if (!mark.finished || is_of_a_job(*json)) return &mark;
  }
  return nullptr;
}

}  // namespace

std::optional<FolderRecord> read_record(const fs::path& folder) {
  if (const std::optional<Json> json = object_in(folder / kRecordFile)) return parse_record(*json);
  const EarlierMark* mark = earlier_mark(folder);
  if (mark == nullptr) return std::nullopt;
  return FolderRecord{.finished = mark->finished, .by_name = true};
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
  if (const std::optional<Json> json = object_in(folder / kRecordFile))
    return parse_record(*json) ? std::optional(folder / kRecordFile) : std::nullopt;
  const EarlierMark* mark = earlier_mark(folder);
  return mark == nullptr ? std::nullopt : std::optional(folder / mark->file);
}

RecordedFile recorded(const fs::path& file) {
  const MappedFile mapped(file);
  return {mapped.bytes().size(), fingerprint(mapped.bytes())};
}

}  // namespace hone
