#include "hone/report/text_layout.h"

#include <utf8proc.h>

#include <algorithm>
#include <set>

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kEllipsis = "…";

/// A character, an escape sequence, or a byte that is neither.
struct Glyph {
  std::string_view bytes;
  std::size_t width = 0;
};

std::vector<Glyph> glyphs_of(std::string_view text) {
  std::vector<Glyph> glyphs;
  while (!text.empty()) {
    Glyph glyph;
    if (text.starts_with("\x1b[")) {
      const std::size_t end = std::min(text.find('m'), text.size() - 1);
      glyph = {text.substr(0, end + 1), 0};
    } else {
      utf8proc_int32_t character = 0;
      const utf8proc_ssize_t length =
          utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                           static_cast<utf8proc_ssize_t>(text.size()), &character);
      // An invalid byte shows as one character.
      glyph = length > 0 ? Glyph{text.substr(0, static_cast<std::size_t>(length)),
                                 static_cast<std::size_t>(utf8proc_charwidth(character))}
                         : Glyph{text.substr(0, 1), 1};
    }
    glyphs.push_back(glyph);
    text.remove_prefix(glyph.bytes.size());
  }
  return glyphs;
}

std::size_t leading_spaces(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

/// A word and the spaces before it.
struct Word {
  std::string space;
  std::string text;
};

// Returns the columns of the beginning that remain when a text is shortened.
std::size_t usual_head(std::string_view text, std::size_t columns) {
  const std::size_t room = columns - std::min<std::size_t>(columns, 1);
  return text.find(' ') == std::string_view::npos ? room / 3 : room / 2;
}

std::string shortened_to(std::string_view text, std::size_t columns, std::size_t head_room) {
  if (display_width(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  const std::vector<Glyph> glyphs = glyphs_of(text);
  const std::size_t room = columns - 1;
  std::string head, tail;
  std::size_t used = 0, first = 0;
  for (; used + glyphs[first].width <= head_room; ++first) {
    head += glyphs[first].bytes;
    used += glyphs[first].width;
  }
  for (std::size_t last = glyphs.size(); last > first && used + glyphs[last - 1].width <= room;
       --last) {
    tail.insert(0, glyphs[last - 1].bytes);
    used += glyphs[last - 1].width;
  }
  return head + std::string(kEllipsis) + tail;
}

// Whether the space at `i` separates an option from its value.
bool is_before_value(std::string_view line, std::size_t i, std::string_view word) {
  return word.size() > 1 && word.starts_with('-') && word.find_first_of(" =") == word.npos &&
         i + 1 < line.size() && line[i + 1] != '-' && line[i + 1] != ' ';
}

// With `shell`, spaces within single quotes belong to the word, and so do those between an option and its value.
std::vector<Word> words_of(std::string_view line, bool shell) {
  std::vector<Word> words;
  bool quoted = false, after_space = true;
  std::string space;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (shell && c == '\'') quoted = !quoted;
    const bool is_inside =
        shell ? quoted || (!after_space && is_before_value(line, i, words.back().text))
              : is_within_number(line, i);
    if (c == ' ' && !is_inside) {
      space += c;
      after_space = true;
      continue;
    }
    if (after_space) words.push_back({space, ""});
    space.clear();
    after_space = false;
    words.back().text += c;
  }
  return words;
}

// Splits an option from its value if both together are wider than `columns`.
std::vector<Word> split_pairs(const std::vector<Word>& words, std::size_t columns) {
  std::vector<Word> split;
  for (const Word& word : words) {
    const std::size_t space = word.text.starts_with('-') ? word.text.find(' ') : word.text.npos;
    if (space == word.text.npos || display_width(word.text) <= columns) {
      split.push_back(word);
      continue;
    }
    split.push_back({word.space, word.text.substr(0, space)});
    split.push_back({" ", word.text.substr(space + 1)});
  }
  return split;
}

// `tail` ends every line but the last.
std::vector<std::string> broken(std::string_view line, std::size_t columns, std::size_t indent,
                                std::string_view tail) {
  if (columns == 0 || display_width(line) <= columns) return {std::string(line)};
  std::vector<std::string> lines = {""};
  std::size_t width = 0;
  const std::vector<Word> words =
      split_pairs(words_of(line, !tail.empty()), columns - std::min(columns, indent + tail.size()));
  const auto last_word = [&](const Word& word) { return &word == &words.back(); };
  for (const Word& word : words) {
    const std::size_t word_width = display_width(word.text);
    const bool first = lines.size() == 1 && width == 0;
    const std::size_t after = last_word(word) ? 0 : tail.size();
    if (!first && width + word.space.size() + word_width + after > columns) {
      lines.back() += tail;
      lines.push_back(std::string(indent, ' ') + word.text);
      width = indent + word_width;
    } else {
      lines.back() += word.space + word.text;
      width += word.space.size() + word_width;
    }
  }
  return lines;
}

}  // namespace

std::string toned(std::string text, Tone tone, const TextStyle& style) {
  if (!style.colour || tone == Tone::plain || text.empty()) return text;
  const char* code = tone == Tone::good      ? "32"
                     : tone == Tone::bad     ? "31"
                     : tone == Tone::unclear ? "33"
                                             : "2";
  return "\x1b[" + std::string(code) + "m" + text + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const Glyph& glyph : glyphs_of(text)) width += glyph.width;
  return width;
}

std::string shortened(std::string_view text, std::size_t columns) {
  return shortened_to(text, columns, usual_head(text, columns));
}

std::optional<std::vector<std::string>> shortened_apart(const std::vector<std::string>& texts,
                                                        std::size_t columns) {
  const std::size_t different = std::set<std::string>(texts.begin(), texts.end()).size();
  std::size_t usual = 0;
  for (const std::string& text : texts) usual = std::max(usual, usual_head(text, columns));
  // The usual beginning first, then longer ones: the most important parameters of formats come first.
  std::vector<std::size_t> heads;
  for (std::size_t head = usual; head < columns; ++head) heads.push_back(head);
  for (std::size_t head = usual; head-- > 0;) heads.push_back(head);
  for (const std::size_t head : heads) {
    std::vector<std::string> cut;
    for (const std::string& text : texts) cut.push_back(shortened_to(text, columns, head));
    if (std::set<std::string>(cut.begin(), cut.end()).size() == different) return cut;
  }
  return std::nullopt;
}

bool is_within_number(std::string_view text, std::size_t space) {
  const std::string_view before = text.substr(0, space), after = text.substr(space + 1);
  const auto digit = [](std::string_view of, std::size_t at) {
    return at < of.size() && '0' <= of[at] && of[at] <= '9';
  };
  const auto word = [&](std::string_view end) {
    if (!before.ends_with(end)) return false;
    const std::size_t at = before.size() - end.size();
    return at == 0 || before[at - 1] == ' ' || before[at - 1] == '(';
  };
  return (word("n") && after.starts_with("= ")) || (word("n =") && digit(after, 0));
}

std::vector<std::string> wrapped_line(std::string_view line, std::size_t columns) {
  return broken(line, columns, leading_spaces(line), "");
}

std::string stacked(const std::vector<std::string>& parts, std::size_t columns) {
  std::string text, line;
  const auto end_line = [&] {
    for (const std::string& piece : wrapped_line(line, columns))
      text += (text.empty() ? "" : "\n") + piece;
    line = "  ";
  };
  for (const std::string& part : parts) {
    const bool fresh = trim(line).empty();
    if (!fresh && columns > 0 && display_width(line) + 2 + display_width(part) > columns)
      end_line();
    line += (trim(line).empty() ? "" : "  ") + part;
  }
  end_line();
  return text;
}

std::string wrapped_text(std::string_view text, std::size_t columns) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    const std::size_t indent = leading_spaces(line);
    const bool command = indent >= 2 && line.substr(indent).starts_with("hone ");
    const std::vector<std::string> lines =
        command ? broken(line, columns, indent + 2, " \\") : broken(line, columns, indent, "");
    for (std::size_t i = 0; i < lines.size(); ++i) result += (i == 0 ? "" : "\n") + lines[i];
    if (end < text.size()) result += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

}  // namespace hone
