#include <algorithm>
#include <optional>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/data/labelled_file.h"
#include "hone/data/written_data.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// A part of the data with its own table of labels.
struct Part {
  std::vector<Example> examples;
  std::vector<WrittenLabel> labels;
};

template <typename Where>
void check_strictly(const Record& row, const Where& where) {
  if (row.replaced_bytes > 0) fail("{}: {}", where(), kNotUtf8);
  check_utf8(row.text, where);
  check_utf8(row.text_pair, where);
}

class Reader {
 public:
  Reader(const DataOptions& options, ThreadPool& pool) : options_(options), pool_(pool) {}

  // Nothing when the part has no labels and is not the first one.
  std::optional<Part> read(const std::string& name, const std::vector<fs::path>& files) {
    Part part;
    LabelTable labels;
    for (const fs::path& path : files) {
      const LabelledFile file = open_labelled_file(path);
      const bool first = !columns_;
      if (first) choose(file);
      if (!first && lacks_label(file)) return left_out(name, "they have no labels");
      append(file, labels, part.examples);
    }
    user_check(!part.examples.empty(), "{}: the file holds no examples", files[0].string());
    part.labels = labels.labels();
    const bool unlabelled = part.labels.size() == 1 && part.labels[0].text == "-1";
    if (unlabelled && read_a_part_) return left_out(name, "all labels are -1");
    user_check(!unlabelled,
               "{}: all labels are -1, which stands for no label; expected labelled texts",
               files[0].string());
    read_a_part_ = true;
    return part;
  }

  std::vector<std::string> notes, warnings;
  std::vector<std::string> class_names;
  std::vector<ReadFile> files;

 private:
  void choose(const LabelledFile& file) {
    with_context(file.path.string(), [&] {
      // A file without records and header has no columns; its reader knows what to say.
      columns_ = file.table.columns.empty() ? ColumnChoice{}
                                            : choose_columns(file.table.columns, options_, notes);
    });
    notes.insert(notes.end(), file.table.notes.begin(), file.table.notes.end());
    class_names = file.table.class_names(columns_->label);
  }

  bool lacks_label(const LabelledFile& file) const {
    const auto& columns = file.table.columns;
    return !columns_->label.empty() && !columns.empty() &&
           std::none_of(columns.begin(), columns.end(),
                        [&](const DataColumn& column) { return column.name == columns_->label; });
  }

  std::optional<Part> left_out(const std::string& name, const char* why) {
    notes.push_back(fmt::format("left out: the {} texts, for {}", name, why));
    return std::nullopt;
  }

  void append(const LabelledFile& file, LabelTable& labels, std::vector<Example>& examples) {
    std::vector<Record> records = file.read(*columns_, pool_);
    const bool pairs = !columns_->text_pair.empty(), labelled = !columns_->label.empty();
    std::int64_t replaced = 0;
    examples.reserve(examples.size() + records.size());
    const auto number = static_cast<std::int32_t>(files.size());
    files.push_back({file.path.string(), file.table.unit});
    for (Record& row : records) {
      const auto where = [&] { return file.place(row.number); };
      if (options_.strict) check_strictly(row, where);
      replaced += row.replaced_bytes;
      Example example{.text = std::move(row.text),
                      .label = labelled ? labels.number_of(row.label, where) : 0,
                      .file = number,
                      .row = row.number};
      if (pairs) example.text_pair = std::move(row.text_pair);
      examples.push_back(std::move(example));
    }
    if (replaced > 0)
      warnings.push_back(
          fmt::format("{}: {} ill-formed bytes were read as U+FFFD; the texts are not UTF-8",
                      file.path.string(), replaced));
  }

  const DataOptions& options_;
  ThreadPool& pool_;
  std::optional<ColumnChoice> columns_;  // of the first file
  bool read_a_part_ = false;
};

}  // namespace

WrittenData read_tables(const DataFiles& files, const DataOptions& options, ThreadPool& pool) {
  Reader reader(options, pool);
  WrittenData written;
  const auto read = [&](const char* name, const std::vector<fs::path>& paths,
                        std::vector<Example>& examples) {
    if (paths.empty()) return;
    std::optional<Part> part = reader.read(name, paths);
    if (!part) return;
    const auto offset = static_cast<std::int32_t>(written.labels.size());
    for (Example& example : part->examples) example.label += offset;
    examples = std::move(part->examples);
    written.labels.insert(written.labels.end(), part->labels.begin(), part->labels.end());
  };
  read("train", files.train, written.data.train);
  read("validation", files.validation, written.data.validation);
  read("test", files.test, written.data.test);
  written.class_names = reader.class_names;
  written.data.notes = files.notes;
  written.data.notes.insert(written.data.notes.end(), reader.notes.begin(), reader.notes.end());
  written.data.warnings = reader.warnings;
  written.data.files = reader.files;
  return written;
}

}  // namespace hone
