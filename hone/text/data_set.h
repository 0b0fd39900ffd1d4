#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Labelled texts: read from files, or made by the built-in generators.
///
///     const DataSet data = load_data_set({.source = "synth:negation?seed=7&n=30000"});
///     const DataSet imdb = load_data_set({.source = "aclImdb"});
namespace hone {

struct Example {
  std::string text;
  std::int32_t label = 0;  ///< index into the data set's label names
};

struct DataSet {
  std::vector<Example> train;
  std::vector<Example> test;  ///< empty for a single file
  std::vector<std::string> label_names;
  std::string description;  ///< one line: source and sizes
};

struct DataOptions {
  /// A folder like aclImdb, a .csv, .tsv or .jsonl file, or `synth:NAME?seed=S&n=COUNT`.
  std::string source;
  std::string text_column = "text";  ///< column or key of the text, for files
  std::string label_column =
      "label";  ///< column or key of the label, for files; empty: no labels, all are 0
  /// The classes a model already knows, in the order of its outputs. Labels of files are then these
  /// names or their indices. Empty: labels from 0 on stay what they are, any others are numbered in
  /// sorted order.
  std::vector<std::string> label_names = {};
};

/// Loads or makes a data set. The order of the examples is the same everywhere.
/// - folder: `{train,test}/{neg,pos}/*.txt`, negative ones first, by file name; labels 0 "neg" and
/// 1 "pos";
/// - file: everything is in `train`; the caller splits;
/// - `synth:`: see hone/text/synthetic.h.
/// Throws `UserError` naming file, line and column at fault.
DataSet load_data_set(const DataOptions& options);

}  // namespace hone
