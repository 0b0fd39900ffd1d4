#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// What the command does with the file or folder that an argument names.
enum class Access { none, reads_model, reads_data, reads_adapter, reads_file, reads_runs, writes };

/// What an argument takes: how help calls it and how shells complete it.
struct ValueKind {
  std::string_view shown;  ///< "FILE"; the words with | between them when there are only those
  bool files = false;      ///< names of files and folders
  bool folders = false;    ///< names of folders
  std::vector<std::string> words = {};
  Access access = Access::none;  ///< see output_check.h
  bool takes_minus = false;      ///< a value may begin with a minus, as no flag: "-loss"
  std::vector<const char*> written_as = {};  ///< endings of the files that are written
};

/// The kind of an argument by its name; null for numbers, free text and flags.
const ValueKind* value_kind(const CLI::Option& option);

/// Gives the arguments of `app` that take text the names of their kinds, and makes those that name what is read or written
/// refuse the empty text.
void apply_value_kinds(CLI::App& app);

}  // namespace hone
