#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/thread_pool.h"
#include "hone/data/data_set.h"
#include "hone/data/trained_on.h"

/// A text to classify, with its gold label if it has one.
namespace hone {

struct TextRow {
  Json id;  ///< the number of its line or row, or its id in the data
  std::string text;
  std::optional<std::string> text_pair = {};
  std::optional<std::string> gold = {};  ///< the label given in the data
  /// The gold label for programs if the task is regression or multi-label: a number, an object of several numbers by
  /// name, or a list of labels; null: the label is a text.
  Json gold_value = {};
  std::string file = {};         ///< its file, if there are several
  std::uint64_t image_hash = 0;  ///< see `Example::image_hash`

  Example example() const {
    return {.text = text, .text_pair = text_pair, .image_hash = image_hash};
  }
};

struct TextRows {
  std::vector<TextRow> rows = {};
  std::string split = {};   ///< "train", "validation", "test" or "all"
  bool pairs = false;       ///< whether the rows have a second text
  bool labelled = false;    ///< whether some rows have a gold label
  bool many_files = false;  ///< whether the rows come from several files
  std::vector<std::string> notes = {}, warnings = {};
};

/// Texts that arrive one by one.
struct TextStream {
  /// Waits for the next texts and returns at most the requested number; empty at the end. Null: there is no stream.
  std::function<std::vector<TextRow>(std::size_t most)> next = {};
  std::vector<std::string> notes = {};  ///< instructions for a person who enters texts
};

/// Reads lines from a file that can be slow, such as a pipe or a terminal (see LineReader), and numbers them from 1.
/// `name` begins error messages. `encoding`: of the lines, in which LF must be a byte; empty: UTF-8. Throws `UserError`
/// for a line that is malformed in `encoding` or, with `strict`, not UTF-8. On a terminal, notes tell the user what to
/// enter.
TextStream read_lines(int descriptor, const std::string& name, const std::string& encoding,
                      bool strict);

/// Returns the rows of the split called `split` of a dataset (see `load_data_set`). A .txt file has a row for each
/// line, including empty ones. "" selects the first of test, validation and train that exists, "all" all of them. If
/// the data has no validation split, but the model was trained on it, the validation split consists of the rows that
/// were set aside then, or are new to the model, according to `record`.
///
/// Gold labels are interpreted by the model's `scheme`: classes get its names, by name or number; numbers and sets of
/// labels are read as by `load_data_set`. If one cannot be read, all are shown as written, with a note; if the model
/// has no names, without a note. Throws `UserError` like `load_data_set`, except that labels can be anything or
/// missing.
TextRows read_text_rows(const DataOptions& options, const std::string& split,
                        const LabelScheme& scheme, const std::optional<TrainedOn>& record,
                        ThreadPool& pool);

/// Wraps rows that exist already.
TextRows given_text_rows(std::vector<TextRow> rows);

}  // namespace hone
