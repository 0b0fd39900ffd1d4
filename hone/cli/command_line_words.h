#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cli/command.h"
#include "hone/cli/flags.h"

/// The words of a command line, as people type them and as the parser reads them.
namespace hone {

/// Replaces dashes in an option's name by underscores: `--learning-rate=1` becomes `--learning_rate=1`.
std::string with_underscores(std::string word);

/// Whether a word that begins with a minus is still a value: a number (-1, -inf) or a text with spaces.
bool is_signed_value(std::string_view word);

/// Returns the words, reordered and marked so that the parser takes no signed value for an option and no value in
/// brackets for a list. `unmark_values` removes the marks.
std::vector<std::string> words_for_parser(const CommandApp& app,
                                          const std::vector<std::string>& words);

/// Returns a word of the parser without the mark.
std::string unmarked(const std::string& word);

/// Makes the options of `app` remove the mark from their values, before any check.
void unmark_values(CLI::App& app);

/// Returns the spelling of each option of `app`: the one in `words` if there is only one, else the declared one.
OptionSpellings spellings_in(const CLI::App& app, const std::vector<std::string>& words);

/// Returns the different spellings of one option in `words`.
std::vector<std::string> spellings_of(const CLI::Option& option, const CLI::App& app,
                                      const std::vector<std::string>& words);

/// Returns a message about the first option in `words` with another option in place of its value, such as "--lora needs
/// a value; the option --data follows it"; empty if there is none.
std::string missing_value(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace hone
