#include "hone/data/labelled_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "hone/base/cpu.h"
#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/gzip.h"
#include "hone/text/text_encoding.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

using Notes = std::vector<std::string>;

bool is_gzip(const std::string& ending) { return ending.ends_with(".gz"); }

// Returns the encoding of a file that is not UTF-8, and notes how it was chosen.
std::string encoding_of(std::string_view bytes, const DataOptions& options, Notes& notes) {
  if (!options.form.encoding.empty()) return options.form.encoding;
  if (std::string marked = encoding_of_mark(bytes); !marked.empty()) {
    notes.push_back(fmt::format("read as {}, by its byte order mark", marked));
    return marked;
  }
  const std::string& known = options.remembered.form.encoding;
  if (known.empty() || is_utf8(bytes)) return "";
  notes.push_back(fmt::format("read as {}, as when the model was trained", known));
  return known;
}

bool is_binary(const std::string& ending) { return ending == ".parquet" || ending == ".arrow"; }

bool is_delimited(const std::string& ending) {
  return ending.starts_with(".csv") || ending.starts_with(".tsv");
}

// Converts line ends of CR alone, which old spreadsheets write, to LF; returns "" for other files.
std::string with_line_feeds(std::string_view content, const std::string& ending) {
  if (!is_delimited(ending) || content.find('\n') != std::string_view::npos) return "";
  std::string lines(content);
  std::ranges::replace(lines, '\r', '\n');
  return lines;
}

// Adds the class names from the dataset_info.json of datasets.save_to_disk, for files without their own.
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

DataTable open_table(std::string_view content, const std::string& ending,
                     const DataOptions& options) {
  if (ending == ".parquet") return open_parquet(content);
  if (ending == ".arrow") return open_arrow(content);
  if (ending.starts_with(".txt")) return open_lines(content);
  if (ending.starts_with(".json") || ending.starts_with(".ndjson"))
    return open_json(content, options);
  return open_delimited(content, ending.starts_with(".tsv") ? '\t' : ',', options);
}

}  // namespace

const std::vector<std::string>& labelled_file_endings() {
  static const std::vector<std::string> endings = {
      ".csv",   ".tsv",    ".jsonl",  ".ndjson",   ".json",      ".parquet",
      ".arrow", ".csv.gz", ".tsv.gz", ".jsonl.gz", ".ndjson.gz", ".json.gz"};
  return endings;
}

const std::vector<std::string>& text_file_endings() {
  static const std::vector<std::string> endings = {".txt", ".txt.gz"};
  return endings;
}

// Some programs write extensions in upper case: "DATA.CSV".
std::string text_file_ending(const fs::path& path) {
  const std::string name = lower_ascii(path.filename().string());
  for (const auto* endings : {&labelled_file_endings(), &text_file_endings()})
    for (const std::string& ending : *endings)
      if (name.ends_with(ending)) return ending;
  return "";
}

std::string labelled_file_ending(const fs::path& path) {
  const std::string name = lower_ascii(path.filename().string());
  for (const std::string& ending : labelled_file_endings())
    if (name.ends_with(ending)) return ending;
  return "";
}

std::string unpack_hint(const fs::path& path) {
  constexpr std::pair<std::string_view, std::string_view> kPackers[] = {
      {".tar", "tar xf"},  {".tar.gz", "tar xf"}, {".tgz", "tar xf"},       {".zip", "unzip"},
      {".bz2", "bunzip2"}, {".xz", "unxz"},       {".zst", "zstd --rm -d"}, {".7z", "7z x"}};
  const std::string name = lower_ascii(path.filename().string());
  for (const auto& [ending, program] : kPackers)
    if (name.ends_with(ending))
      return fmt::format("; unpack it first: {} {}", program, path.string());
  return "";
}

std::string decode_text(std::string_view bytes, const std::string& encoding, bool strict,
                        std::vector<std::string>& warnings) {
  std::int64_t replaced = 0;
  std::string text = to_utf8(bytes, encoding, replaced);
  if (replaced == 0) return text;
  const std::string malformed =
      fmt::format("{} places are malformed in the encoding {}", replaced, encoding);
  user_check(!strict, "{}; name another `encoding`, or leave `strict_utf8` out", malformed);
  warnings.push_back(malformed + " and were read as U+FFFD");
  return text;
}

LabelledFile open_labelled_file(const fs::path& path, const DataOptions& options) {
  const std::string ending = text_file_ending(path);
  user_check(!ending.empty(), "{}: expected a file that ends in one of {}{}", path.string(),
             fmt::join(labelled_file_endings(), ", "), unpack_hint(path));
  LabelledFile file{path, std::make_shared<const MappedFile>(path), nullptr, {}};
  std::string_view content = file.mapped->text();
  if (is_gzip(ending)) {
    // The decompressed content is then copied into texts, which takes as much memory again.
    const auto most = static_cast<std::size_t>(machine_memory().available_bytes / 3);
    file.content = std::make_shared<const std::string>(gunzip(content, path.string(), most));
    content = *file.content;
  }
  with_context(path.string(), [&] {
    Notes notes;
    const std::string encoding = is_binary(ending) ? "" : encoding_of(content, options, notes);
    if (!encoding.empty()) {
      auto decoded = decode_text(content, encoding, options.strict, file.warnings);
      file.content = std::make_shared<const std::string>(std::move(decoded));
      content = *file.content;
    }
    if (const std::string lines = with_line_feeds(content, ending); !lines.empty()) {
      file.content = std::make_shared<const std::string>(lines);
      content = *file.content;
    }
    file.table = open_table(content, ending, options);
    file.table.notes.insert(file.table.notes.begin(), notes.begin(), notes.end());
  });
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
