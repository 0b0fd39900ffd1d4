#include "hone/text/vocabulary_files.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "hone/base/printable.h"
#include "hone/text/utf8.h"

namespace hone {
namespace {

// Text is read as UTF-8, so a token in another encoding would never match.
void check_token(std::string_view token, std::size_t line) {
  if (is_utf8(token)) return;
  std::int64_t replaced = 0;
  fail(
      "line {}: the token '{}' is not UTF-8; take the file from where the model comes from, or "
      "convert it with `iconv -f ENCODING -t UTF-8`",
      line, shown_name(repair_utf8(token, replaced)));
}

// Removes the first line from `text` and returns it without its line end.
std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::size_t count_lines(std::string_view text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1;
}

}  // namespace

void read_vocabulary_lines(std::string_view text, TokenizerDraft& draft) {
  user_check(
      !text.starts_with("\xef\xbb\xbf"),
      "begins with a byte order mark, which transformers reads as a part of the first token; "
      "remove it: `sed -i '1s/^\\xEF\\xBB\\xBF//' vocab.txt`");
  auto& tokens = draft.tokens;
  tokens.reserve(count_lines(text));
  std::unordered_map<std::string_view, std::size_t> lines;  // by token
  while (!text.empty()) {
    std::string_view line = take_line(text);
    check_token(line, tokens.size() + 1);
    line.remove_suffix(trailing_space_size(line));
    const auto [known, is_new] = lines.emplace(line, tokens.size());
    if (!is_new) tokens[std::exchange(known->second, tokens.size())].token.clear();
    tokens.push_back({std::ssize(tokens), std::string(line)});
  }
}

void read_vocabulary_object(std::string_view text, TokenizerDraft& draft) {
  const Members vocabulary = parse_members(text);
  for (const auto& [token, id] : vocabulary.items()) draft.add_token(id, token);
}

void read_merges(std::string_view text, TokenizerDraft& draft) {
  BytePairModel& model = std::get<BytePairModel>(draft.definition.model);
  model.merges.reserve(count_lines(text));
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.starts_with("#version")) continue;
    check_token(line, number);
    try {
      model.merges.push_back(parse_merge(line));
      draft.merge_lines.push_back(number);
    } catch (Error& error) {
      error.add_context(fmt::format("line {}", number));
      throw;
    }
  }
}

Merge parse_merge(std::string_view text) {
  const std::size_t space = text.find(' ');
  const bool two = space != std::string_view::npos && space > 0 && space + 1 < text.size() &&
                   text.find(' ', space + 1) == std::string_view::npos;
  if (!two) fail("expected two tokens with a space between them, got '{}'", shown_name(text));
  return {std::string(text.substr(0, space)), std::string(text.substr(space + 1))};
}

}  // namespace hone
