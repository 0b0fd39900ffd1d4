#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hone/base/json.h"
#include "hone/base/thread_pool.h"
#include "hone/data/data_set.h"
#include "hone/data/trained_on.h"

/// Texts to be classified, with what tells their answers apart.
namespace hone {

struct TextRow {
  Json id;  ///< the number of its line or row, or what the data calls it
  std::string text;
  std::optional<std::string> text_pair = {};
  std::optional<std::string> gold = {};  ///< the label somebody gave it
  /// The same for programs, where the model tells numbers or sets of labels: a number, an object of several by name, or a
  /// list of labels; null: the label is a text.
  Json gold_value = {};
  std::string file = {};         ///< where it stands, of several files
  std::uint64_t image_hash = 0;  ///< as `Example::image_hash`

  Example example() const {
    return {.text = text, .text_pair = text_pair, .image_hash = image_hash};
  }
};

struct TextRows {
  std::vector<TextRow> rows = {};
  std::string part = {};    ///< "train", "validation", "test", or "all"
  bool pairs = false;       ///< the rows have a second text
  bool labelled = false;    ///< some have a gold label
  bool many_files = false;  ///< the rows come from several files
  std::vector<std::string> notes = {}, warnings = {};
};

/// Texts as they come.
struct TextStream {
  /// The next of them, at most as many as are asked for, waiting for one; none at the end. Null: there is no stream.
  std::function<std::vector<TextRow>(std::size_t most)> next = {};
  std::vector<std::string> notes = {};  ///< what to tell who gives them
};

/// The lines of a file that may be slow, such as a pipe or a keyboard (see LineReader), numbered from 1. `name` opens
/// messages. `encoding`: of the lines, one in which LF is a byte; empty: UTF-8. A line that is malformed in it is a
/// `UserError`; one that is not UTF-8 under `strict`. Who types them is told how.
TextStream read_lines(int descriptor, const std::string& name, const std::string& encoding,
                      bool strict);

/// The rows of the part of a data set (see `load_data_set`; a .txt file too, a row for each line, empty ones included)
/// that is called `part`; "" stands for the first of test, validation and train that there is, "all" for all of them. In
/// data that the model was trained on and that has no validation part, this is what the training set aside or the model
/// has not seen, by the `record`. Gold labels are read as those of the model's `scheme`: classes are called as it calls
/// them, by name or number, and numbers and sets of labels are what `load_data_set` takes them for. Where one cannot be
/// read all are shown as they are written, with a note; without a note where the model has no names.
/// Throws `UserError` as `load_data_set` does, but for labels, which may be anything or missing.
TextRows read_text_rows(const DataOptions& options, const std::string& part,
                        const LabelScheme& scheme, const std::optional<TrainedOn>& record,
                        ThreadPool& pool);

/// Rows that somebody has already.
TextRows given_text_rows(std::vector<TextRow> rows);

}  // namespace hone
