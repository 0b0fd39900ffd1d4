#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cli/command.h"
#include "hone/cli/flags.h"

/// The words of a command line, as people type them and as the parser reads them.
namespace hone {

/// The name of an option with underscores inside, where `word` begins with one: `--learning-rate=1` is `--learning_rate=1`.
std::string with_underscores(std::string word);

/// Whether a word that begins with a minus is a value for all that: a number (-1, -inf), or a text with blanks.
bool is_signed_value(std::string_view word);

/// The words in an order and a form in which the parser takes no signed value for an option, and no value in brackets for a list:
/// these carry a mark that `unmark_values` removes.
std::vector<std::string> words_for_parser(const CommandApp& app,
                                          const std::vector<std::string>& words);

/// A word of the parser without the mark.
std::string unmarked(const std::string& word);

/// Makes the options of `app` remove the mark from their values, before any check.
void unmark_values(CLI::App& app);

/// The spelling of each option of `app` in `words`: the one typed, where there is one alone, else the declared one.
OptionSpellings spellings_in(const CLI::App& app, const std::vector<std::string>& words);

/// The different spellings of one option in `words`.
std::vector<std::string> spellings_of(const CLI::Option& option, const CLI::App& app,
                                      const std::vector<std::string>& words);

/// The first option of `words` that another option follows where its value should stand, as "--lora needs a value; the option
/// --data follows it"; empty: there is no such option.
std::string missing_value(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace hone
