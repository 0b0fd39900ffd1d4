#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// What the command does with the file or folder that an argument names.
enum class Access { none, reads_model, reads_data, reads_adapter, reads_file, reads_runs, writes };

/// What an argument takes beside the words of `one_of`: how help calls it and how shells complete it.
struct ValueKind {
  std::string_view shown;               ///< "FILE"
  bool files = false;                   ///< names of files and folders
  bool folders = false;                 ///< names of folders
  std::vector<std::string> words = {};  ///< names that a value may begin with
  Access access = Access::none;         ///< see output_check.h
  bool takes_minus = false;             ///< a value may begin with a minus, as no flag: "-loss"
  std::vector<const char*> written_as = {};  ///< endings of the files that are written
  bool format = false;  ///< the words are number formats, which take parameters: "int(bits=4)"
  std::string_view separator = {};  ///< between several of them: ","; empty: there is one
  bool goes_on = false;             ///< the words only begin a value: "accuracy>=-"
};

/// The words that `one_of` (arguments.h) accepts for an argument; empty without it.
std::vector<std::string> choices(const CLI::Option& option);

/// The kind of an argument by its name; null for numbers, free text and flags.
const ValueKind* value_kind(const CLI::Option& option);

/// The words that shells offer for an argument: its `choices`, or else those of its kind.
std::vector<std::string> offered_words(const CLI::Option& option);

/// Gives the arguments of `app` that take text their choices or the names of their kinds, and makes those that name what is
/// read or written refuse the empty text.
void apply_value_kinds(CLI::App& app);

}  // namespace hone
