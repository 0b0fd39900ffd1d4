#include "hone/data/labelled_file.h"

#include <fmt/ranges.h>

#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/data/gzip.h"

namespace hone {
namespace {

bool is_gzip(const std::string& ending) { return ending.ends_with(".gz"); }

// UTF-16 has a byte order mark nearly always; spreadsheets write it.
void check_not_utf16(std::string_view text) {
  user_check(!text.starts_with("\xff\xfe") && !text.starts_with("\xfe\xff"),
             "the text is UTF-16; expected UTF-8: convert it with `iconv -f UTF-16 -t UTF-8`");
}

// Names of classes from the description that datasets.save_to_disk writes beside its files, where the file gives none.
void add_saved_names(const fs::path& path, DataTable& table) {
  const fs::path description = path.parent_path() / "dataset_info.json";
  if (!path_exists(description)) return;
  const Json info = Json::parse(read_file(description), nullptr, /*allow_exceptions=*/false);
  if (!info.is_object() || !info.contains("features")) return;
  table.class_names = [own = table.class_names,
                       features = info.at("features")](const std::string& column) {
    std::vector<std::string> names = own(column);
    return names.empty() ? class_names_in(features, column) : names;
  };
}

DataTable open_table(std::string_view content, const std::string& ending) {
  if (ending == ".parquet") return open_parquet(content);
  if (ending == ".arrow") return open_arrow(content);
  check_not_utf16(content);
  if (ending.starts_with(".txt")) return open_lines(content);
  if (ending.starts_with(".json")) return open_json(content);
  return open_delimited(content, ending.starts_with(".tsv") ? '\t' : ',');
}

}  // namespace

const std::vector<std::string>& labelled_file_endings() {
  static const std::vector<std::string> endings = {".csv",      ".tsv",    ".jsonl",  ".json",
                                                   ".parquet",  ".arrow",  ".csv.gz", ".tsv.gz",
                                                   ".jsonl.gz", ".json.gz"};
  return endings;
}

const std::vector<std::string>& text_file_endings() {
  static const std::vector<std::string> endings = {".txt", ".txt.gz"};
  return endings;
}

std::string text_file_ending(const fs::path& path) {
  for (const auto* endings : {&labelled_file_endings(), &text_file_endings()})
    for (const std::string& ending : *endings)
      if (path.filename().string().ends_with(ending)) return ending;
  return "";
}

std::string labelled_file_ending(const fs::path& path) {
  for (const std::string& ending : labelled_file_endings())
    if (path.filename().string().ends_with(ending)) return ending;
  return "";
}

LabelledFile open_labelled_file(const fs::path& path) {
  const std::string ending = text_file_ending(path);
  user_check(!ending.empty(), "{}: expected a file that ends in one of {}", path.string(),
             fmt::join(labelled_file_endings(), ", "));
  LabelledFile file{path, std::make_shared<const MappedFile>(path), nullptr, {}};
  std::string_view content = file.mapped->text();
  if (is_gzip(ending)) {
    // What is unpacked is read into texts next, which takes as much memory again.
    const auto most = static_cast<std::size_t>(machine_memory().available_bytes / 3);
    file.unpacked = std::make_shared<const std::string>(gunzip(content, path.string(), most));
    content = *file.unpacked;
  }
  file.table = with_context(path.string(), [&] { return open_table(content, ending); });
  if (ending == ".arrow") add_saved_names(path, file.table);
  return file;
}

std::string LabelledFile::place(std::int64_t number) const {
  return fmt::format("{}: {} {}", path.string(), table.unit, number);
}

std::vector<Record> LabelledFile::read(const ColumnChoice& choice, ThreadPool& pool) const {
  return with_context(path.string(), [&] { return table.read(choice, pool); });
}

}  // namespace hone
