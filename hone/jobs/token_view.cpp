#include "hone/jobs/token_view.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/report/text_layout.h"

namespace hone {
namespace {

constexpr std::size_t kShownCharacters = 200;

Encoding encode(const Tokenizer& tokenizer, const Example& example, std::size_t max_length,
                std::optional<Truncation> truncation = {}) {
  return example.text_pair
             ? tokenizer.encode_pair(example.text, *example.text_pair, max_length, truncation)
             : tokenizer.encode_text(example.text, max_length, truncation);
}

}  // namespace

const Fields& fields_of(const TokenView*) {
  using T = TokenView;
  static const Fields fields = describe<T>(
      "tokenized_text", "A text as tokens.", field<&T::split>("split", "Its split."),
      field<&T::row>("row", "Its number in the split, from 1."), omitted<&T::example>(),
      field<&T::text>("text", "The text."),
      field<&T::text_pair>("text_pair", "The second text; null: not a pair."),
      field<&T::tokens>("tokens", "Its tokens as in the vocabulary, special ones included."),
      omitted<&T::shown>(), field<&T::input_ids>("input_ids", "The ids of these tokens."),
      field<&T::cut_tokens>("cut_tokens", Unit::tokens, "Removed by truncation."),
      field<&T::unknown_words>("unknown_words", "Words that became the unknown token."));
  return fields;
}

TokenView view_tokens(const Tokenizer& tokenizer, const Example& example, std::size_t max_length,
                      std::optional<Truncation> truncation) {
  TokenView view{.example = example};
  view.input_ids = encode(tokenizer, example, max_length, truncation).ids;
  for (const std::int32_t id : view.input_ids) {
    view.tokens.push_back(tokenizer.token(id));
    view.shown.push_back(tokenizer.shown_token(id));
  }
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  view.cut_tokens =
      std::ssize(encode(tokenizer, example, kNoLimit).ids) - std::ssize(view.input_ids);
  view.unknown_words = tokenizer.unknown_words(example.text);
  if (example.text_pair)
    for (std::string& word : tokenizer.unknown_words(*example.text_pair))
      view.unknown_words.push_back(std::move(word));
  return view;
}

std::string to_text(const TokenView& view, std::size_t columns) {
  std::string text = fmt::format("{} {}: {}\n", view.split, view.row,
                                 one_line(view.example.text, kShownCharacters));
  if (view.example.text_pair)
    text += fmt::format("  second text: {}\n", one_line(*view.example.text_pair, kShownCharacters));
  std::string tokens, ids;
  std::size_t used = 0;
  const auto flush = [&] {
    if (used > 0) text += tokens + '\n' + ids + '\n';
    tokens.clear();
    ids.clear();
    used = 0;
  };
  for (std::size_t i = 0; i < view.shown.size(); ++i) {
    const std::string token = shown_name(view.shown[i]), id = std::to_string(view.input_ids[i]);
    const std::size_t width = std::max(display_width(token), id.size());
    if (columns > 0 && used + 2 + width > columns) flush();
    tokens += std::string(2 + width - display_width(token), ' ') + token;
    ids += std::string(2 + width - id.size(), ' ') + id;
    used += 2 + width;
  }
  flush();
  text += fmt::format("  {} tokens", grouped(std::ssize(view.tokens)));
  if (view.cut_tokens > 0)
    text += fmt::format("; {} more were truncated", grouped(view.cut_tokens));
  if (!view.unknown_words.empty())
    text += fmt::format(
        "; unknown: {}",
        one_line(fmt::format("{}", fmt::join(view.unknown_words, " ")), kShownCharacters));
  return printable(text) + '\n';
}

}  // namespace hone
