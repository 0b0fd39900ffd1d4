#include "hone/cli/command_line_words.h"

#include <algorithm>
#include <cstdlib>

#include "hone/cli/settings.h"

namespace hone {
namespace {

using Words = std::vector<std::string>;

constexpr std::string_view kNoMoreOptions = "--";
constexpr char kMark = '\x01';  // in front of a bracket

bool looks_like_option(std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && !is_signed_value(word);
}

// Returns the name of an option: "--lr" for "--lr=1", "-o" for "-oFILE".
std::string name_in(const std::string& word) {
  return word.starts_with("--") ? word.substr(0, word.find('=')) : word.substr(0, 2);
}

const CLI::Option* option_in(const CLI::App& app, const std::string& word) {
  return app.get_option_no_throw(with_underscores(name_in(word)));
}

// Calls `visit` with the name and the option of each word that is an option of `app`.
template <typename Visit>
void for_each_option(const CLI::App& app, const Words& words, Visit&& visit) {
  for (const std::string& word : words) {
    if (word == kNoMoreOptions) return;
    if (!looks_like_option(word)) continue;
    if (const CLI::Option* option = option_in(app, word)) visit(name_in(word), *option);
  }
}

// Returns how many of the words after an option may be its values.
std::size_t max_values_after(const CLI::Option* option, const std::string& word) {
  if (option == nullptr || word.size() > name_in(word).size()) return 0;
  const int most = option->get_items_expected_max();
  return static_cast<std::size_t>(option->get_allow_extra_args() ? most : std::min(most, 1));
}

bool takes_signed(const CommandApp& app, const CLI::Option& option, std::string_view word) {
  if (!word.starts_with('-') || word.starts_with("--")) return false;
  return is_signed_value(word) || app.kind(option).allows_leading_minus;
}

// Turns "--sort -loss" into "--sort=-loss": the parser would read a word with one dash as one-letter options.
Words with_joined_values(const CommandApp& app, const Words& words) {
  Words joined;
  for (std::size_t i = 0; i < words.size(); ++i) {
    joined.push_back(with_underscores(words[i]));
    if (!looks_like_option(words[i]) || i + 1 == words.size()) continue;
    const CLI::Option* option = option_in(app, words[i]);
    if (max_values_after(option, words[i]) > 0 && takes_signed(app, *option, words[i + 1]))
      joined.back() += "=" + words[++i];
  }
  return joined;
}

// The parser would split "[a, b]" where an argument may be repeated.
void mark_brackets(Words& words) {
  bool options = true;
  for (std::string& word : words) {
    if (word == kNoMoreOptions) options = false;
    const bool is_option = options && looks_like_option(word);
    const std::size_t value = is_option ? std::min(word.find('='), word.size() - 1) + 1 : 0;
    if (value < word.size() && word[value] == '[') word.insert(value, 1, kMark);
  }
}

// Puts options and their values first, then the other words after a "--".
Words with_positionals_last(const CLI::App& app, const Words& words) {
  Words options, positionals;
  std::size_t values = 0;  // values that the last option may still take
  for (const std::string& word : words) {
    if (looks_like_option(word)) {
      values = max_values_after(option_in(app, word), word);
      options.push_back(word);
    } else if (values > 0 && !is_signed_value(word)) {
      --values;
      options.push_back(word);
    } else {
      values = 0;
      positionals.push_back(word);
    }
  }
  options.emplace_back(kNoMoreOptions);
  options.insert(options.end(), positionals.begin(), positionals.end());
  return options;
}

}  // namespace

std::string with_underscores(std::string word) {
  if (!word.starts_with("--")) return word;
  const std::size_t end = std::min(word.find('='), word.size());
  for (std::size_t i = 2; i < end; ++i)
    if (word[i] == '-') word[i] = '_';
  return word;
}

bool is_signed_value(std::string_view word) {
  if (word.size() < 2 || !word.starts_with('-')) return false;
  if (word.substr(0, word.find('=')).find(' ') != std::string_view::npos) return true;
  const std::string text(word);
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

Words words_for_parser(const CommandApp& app, const Words& words) {
  const auto end = std::ranges::find(words, kNoMoreOptions);
  Words first = with_joined_values(app, {words.begin(), end});
  if (std::ranges::any_of(first, is_signed_value)) {
    first = with_positionals_last(app, first);
    if (end != words.end()) first.insert(first.end(), end + 1, words.end());
  } else {
    first.insert(first.end(), end, words.end());
  }
  mark_brackets(first);
  return first;
}

std::string unmarked(const std::string& word) {
  return word.starts_with(kMark) ? word.substr(1) : word;
}

void unmark_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options({}))
    if (!is_flag(*option))
      option->transform(
          [](std::string value) { return value.starts_with(kMark) ? value.substr(1) : value; });
}

OptionSpellings spellings_in(const CLI::App& app, const Words& words) {
  OptionSpellings spellings;
  for (const CLI::Option* option : app.get_options()) {
    const Words typed = spellings_of(*option, app, words);
    for (const std::string& name : option->get_lnames())
      spellings[name] = typed.size() == 1 ? typed.front() : "--" + name;
  }
  return spellings;
}

Words spellings_of(const CLI::Option& option, const CLI::App& app, const Words& words) {
  Words spellings;
  for_each_option(app, words, [&](const std::string& name, const CLI::Option& typed) {
    if (&typed == &option && std::ranges::find(spellings, name) == spellings.end())
      spellings.push_back(name);
  });
  return spellings;
}

std::string missing_value(const CLI::App& app, const Words& words) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != kNoMoreOptions; ++i) {
    const std::string &word = words[i], &next = words[i + 1];
    if (!looks_like_option(word) || word != name_in(word)) continue;
    const CLI::Option* option = option_in(app, word);
    if (option != nullptr && option->get_items_expected_min() > 0 && next.starts_with("--") &&
        option_in(app, next) != nullptr)
      return fmt::format("{} needs a value; the option {} follows it", word, name_in(next));
  }
  return "";
}

}  // namespace hone
