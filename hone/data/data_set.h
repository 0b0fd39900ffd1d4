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

/// Labelled examples, read from files or made by the built-in generators. A label is a class, numbers, or a set of
/// labels.
///
///     const DataSet data = load_data_set({.source = "synth:negation?seed=7&n=30000"}, pool);
///     const DataSet imdb = load_data_set({.source = "aclImdb"}, pool);
namespace hone {

struct Example {
  std::string text;
  std::int32_t label = 0;                     ///< class: index into the dataset's label names
  std::optional<std::string> text_pair = {};  ///< the second text of a pair
  /// Other tasks: one value per label name of the dataset. Numbers, or 1 and 0 for present and absent labels. Empty for
  /// classification.
  std::vector<float> targets = {};
  /// Origin: an index into `DataSet::files` (-1: not read from a file), and the line or row there.
  std::int32_t file = -1;
  std::int64_t row = 0;
  /// Fingerprint of an image's bytes; `text` is its name. 0: not an image.
  std::uint64_t image_hash = 0;
  /// For measured examples: training or choices used this text (see `evaluation_examples`).
  bool seen = false;
};

/// Returns all texts of the examples in order, both texts of each pair.
std::vector<std::string_view> texts_of(std::span<const Example> examples);

/// A file that examples were read from.
struct ReadFile {
  std::string path;
  std::string unit;  ///< what `Example::row` counts: "line" or "row"; empty: the file is one text
};

/// The form of a table file, as far as the file itself does not show it.
struct TableForm {
  /// Encoding of text files (hone/text/text_encoding.h); empty: UTF-8, or that of the byte order mark.
  std::string encoding = {};
  std::string quoting =
      {};  ///< CSV and TSV: "minimal", "none"; empty: detected (hone/data/quoting.h)
  std::string json_field = {};  ///< key of the rows in a JSON object; empty: detected
  /// The first row is data, and columns are called 0, 1, ...; false: detected (hone/data/header.h).
  bool no_header = false;
  bool operator==(const TableForm&) const = default;
};

/// Columns (keys, in JSON) by name; empty: not specified. Several label columns are separated by commas.
struct NamedColumns {
  std::string text = {}, text_pair = {}, label = {};
  TableForm form = {};
  bool operator==(const NamedColumns&) const = default;
};

struct DataSet {
  std::vector<Example> train;
  std::vector<Example> validation;  ///< empty unless the source has this split
  std::vector<Example> test;        ///< empty unless the source has this split
  Task task = Task::single_label;
  /// Names of the classes, numbers or labels.
  std::vector<std::string> label_names;
  std::string description;                 ///< one line: source and sizes
  std::vector<std::string> notes = {};     ///< choices made and data left out
  std::vector<std::string> warnings = {};  ///< likely problems of the data
  std::string source = {};                 ///< as it was given
  /// Fingerprint of all texts and labels in their order, as they were read. A copy of a file has the same.
  std::string hash = {};
  /// The first place of every class or label ("reviews.csv: line 7"); empty if unknown.
  std::vector<std::string> label_places = {};
  std::vector<ReadFile> files = {};  ///< origins of the examples
  /// See `DataFiles::requested`.
  std::optional<std::pair<std::string, SplitRole>> requested_split = {};
  NamedColumns columns = {};  ///< tables: the columns that were read, and the form
  /// "the label column was guessed: stars; `label_column` names another", if other columns may be the label.
  std::string guessed = {};

  LabelScheme scheme() const { return {task, label_names}; }
};

/// Returns the label in the data's own words: the name of the class, the sorted names of the labels as a JSON array, or
/// the numbers.
std::string label_text(const Example& example, const LabelScheme& scheme);

/// Returns "reviews.csv: line 7"; "" for an example that was not read from a file.
std::string place_of(const Example& example, const std::vector<ReadFile>& files);

struct DataOptions {
  /// See `load_data_set`.
  std::string source = {};
  /// Columns (keys, in JSON) by name; empty: found by their usual names (hone/data/columns.h).
  std::string text_column = {};
  std::string text_pair_column = {};  ///< the second text of a pair; empty: single texts
  std::string label_column = {};
  std::string id_column = {};  ///< identifies displayed rows; empty: id, or row numbers
  TableForm form = {};
  /// The columns that the model was trained on: used if the file has them and none are given above.
  NamedColumns remembered = {};
  bool labelled = true;  ///< false: labels are not read, all are 0
  /// The task of the model. Nothing: inferred from the labels (hone/data/raw_labels.h).
  std::optional<Task> task = {};
  /// The split to measure, if it has a name of its own (hone/data/data_files.h).
  std::string split = {};
  bool strict = false;  ///< reject text that is not UTF-8
  /// The classes, numbers or labels of an existing model, in the order of its outputs. Empty: found in the data
  /// (hone/data/labels.h, number_targets.h, label_sets.h).
  std::vector<std::string> label_names = {};
  /// Maps labels to classes, see `parse_label_map`; empty: by name.
  std::string label_map = {};
};

/// Loads or makes a dataset. The order of the examples is the same on every machine.
/// - A file: .csv, .tsv, .jsonl, .ndjson, .json (each also with .gz), .parquet or .arrow. All examples are in `train`;
///   the caller splits them.
/// - A folder like aclImdb: `{train,test}/{neg,pos}/*.txt`, negative ones first, by file name; classes "neg" and "pos".
/// - A folder of images with one folder per class, or a safetensors file of images (hone/data/raw_data_set.h). The
///   texts are the names of the images. A table is also read this way if every row of its text column names an image.
/// - A folder with files or folders named after splits, a folder of datasets.save_to_disk, or a glob: see
///   hone/data/data_files.h.
/// - `synth:NAME?seed=S&n=COUNT&test=COUNT`: see hone/data/synthetic.h.
/// Throws `UserError` naming the file, line and column at fault.
DataSet load_data_set(const DataOptions& options, ThreadPool& pool);

}  // namespace hone
