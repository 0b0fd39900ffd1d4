#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/thread_pool.h"
#include "hone/data/split_names.h"
#include "hone/metrics/task.h"

/// Labelled texts: read from files, or made by the built-in generators. A label is a class, numbers, or a set of labels.
///
///     const DataSet data = load_data_set({.source = "synth:negation?seed=7&n=30000"}, pool);
///     const DataSet imdb = load_data_set({.source = "aclImdb"}, pool);
namespace hone {

struct Example {
  std::string text;
  std::int32_t label = 0;                     ///< class: index into the data set's label names
  std::optional<std::string> text_pair = {};  ///< the second text of a pair
  /// Of another task, one for each of the data set's label names: numbers, or 1 for a label that the text has and 0 for
  /// one that it has not. Empty where texts have classes.
  std::vector<float> targets = {};
  /// Where it was read: an index of `DataSet::files`, -1 for what was made, and the line or row there.
  std::int32_t file = -1;
  std::int64_t row = 0;
  /// Of an image, whose name is the text: the fingerprint of its bytes. 0: the text is all there is.
  std::uint64_t image_hash = 0;
  /// Of what is measured: training or choices used its text (see `measured_texts`).
  bool seen = false;
};

/// All texts of the examples, of pairs both, one behind the other.
std::vector<std::string_view> texts_of(std::span<const Example> examples);

/// A file that texts were read from.
struct ReadFile {
  std::string path;
  std::string unit;  ///< what `Example::row` counts: "line" or "row"; empty: the file is one text
};

/// How the file of a table is written, where the file itself does not show it.
struct TableForm {
  /// Of text files (hone/text/text_encoding.h); empty: UTF-8, or what a byte order mark says.
  std::string encoding = {};
  std::string quoting =
      {};  ///< of CSV and TSV: "minimal", "none"; empty: found (hone/data/quoting.h)
  std::string json_field = {};  ///< the key of a JSON object that holds the rows; empty: found
  /// The first row is data, so columns are called 0, 1, ...; false: found (hone/data/header.h).
  bool no_header = false;
  bool operator==(const TableForm&) const = default;
};

/// Columns (keys, in JSON) by name; empty: none in particular. Several label columns stand between
/// commas.
struct NamedColumns {
  std::string text = {}, text_pair = {}, label = {};
  TableForm form = {};
  bool operator==(const NamedColumns&) const = default;
};

struct DataSet {
  std::vector<Example> train;
  std::vector<Example> validation;  ///< empty unless the source has such a part
  std::vector<Example> test;        ///< empty unless the source has such a part
  Task task = Task::single_label;
  /// Of the classes, the numbers, or the labels.
  std::vector<std::string> label_names;
  std::string description;                 ///< one line: source and sizes
  std::vector<std::string> notes = {};     ///< what was chosen or left out on the way
  std::vector<std::string> warnings = {};  ///< what looks wrong in the texts
  std::string source = {};                 ///< what was asked for
  /// The fingerprint of all texts and labels in their order, as they were read: a copy of a file has the same.
  std::string hash = {};
  /// Of every class or label, where it stands first ("reviews.csv: line 7"); empty where that is not known.
  std::vector<std::string> label_places = {};
  std::vector<ReadFile> files = {};  ///< that the examples are from
  /// See `DataFiles::asked`.
  std::optional<std::pair<std::string, SplitRole>> asked_split = {};
  NamedColumns columns = {};  ///< of a table, what was read of it and how
  /// "the label column was guessed: stars; `label_column` names another", where the table has others that may be it.
  std::string guessed = {};

  LabelScheme scheme() const { return {task, label_names}; }
};

/// What the text is answered by, in the data's own words: the label's name, the names of its labels in sorted order as a
/// JSON array, or its numbers.
std::string answer_text(const Example& example, const LabelScheme& scheme);

/// "reviews.csv: line 7"; empty for an example that was made, not read.
std::string place_of(const Example& example, const std::vector<ReadFile>& files);

struct DataOptions {
  /// See `load_data_set`.
  std::string source = {};
  /// Columns (keys, in JSON) by name; empty: found by their usual names (hone/data/columns.h).
  std::string text_column = {};
  std::string text_pair_column = {};  ///< of the second text of a pair; empty: single texts
  std::string label_column = {};
  std::string id_column =
      {};  ///< that tells rows apart where they are shown; empty: id, or their numbers
  TableForm form = {};
  /// What a model was trained on: taken where the file has it and nothing is named above.
  NamedColumns remembered = {};
  bool labelled = true;  ///< false: labels are not looked at, all are 0
  /// What the labels are for: a model's task. None: it is found by how they look (hone/data/answers.h).
  std::optional<Task> task = {};
  /// The split that is measured, where its files have a name of their own (hone/data/data_files.h).
  std::string split = {};
  bool strict = false;  ///< refuse text that is not UTF-8
  /// The classes, numbers or labels a model already knows, in the order of its outputs. Empty: the data says which there
  /// are (hone/data/labels.h, number_targets.h, label_sets.h).
  std::vector<std::string> label_names = {};
  /// Which classes labels are, see `parse_label_map`; empty: as they are called.
  std::string label_map = {};
};

/// Loads or makes a data set. The order of the examples is the same everywhere.
/// - a file: .csv, .tsv, .jsonl, .ndjson, .json (also with .gz behind), .parquet or .arrow. Everything is in `train`;
///   the caller splits;
/// - a folder like aclImdb: `{train,test}/{neg,pos}/*.txt`, negative ones first, by file name;
///   classes "neg" and "pos";
/// - a folder of pictures with a folder for each class, or a safetensors file of images (hone/data/written_data.h): texts are
///   the names of images. So are those of a table in whose text column every row names a picture;
/// - a folder with files or folders named after splits, one of datasets.save_to_disk, or a glob over files: see
///   hone/data/data_files.h;
/// - `synth:NAME?seed=S&n=COUNT&test=COUNT`: see hone/data/synthetic.h.
/// Throws `UserError` naming file, line and column at fault.
DataSet load_data_set(const DataOptions& options, ThreadPool& pool);

}  // namespace hone
