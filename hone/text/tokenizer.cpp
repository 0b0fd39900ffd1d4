#include "hone/text/tokenizer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "hone/base/error.h"
#include "hone/base/printable.h"

namespace hone {
namespace {

using Encoder = std::variant<WordPieceEncoder, BytePairEncoder>;

PieceTable ids_of(const std::vector<std::string>& tokens) {
  PieceTable ids;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    const std::int32_t first = ids.find(tokens[i], hash_of(tokens[i]));
    if (first >= 0)
      fail("vocabulary: the token '{}' has the ids {} and {}; every token needs one id",
           shown_name(tokens[i]), first, i);
    ids.insert(tokens[i], static_cast<std::int32_t>(i));
  }
  return ids;
}

// Returns the tokens by id, without added tokens that are not pieces.
std::vector<std::string> pieces_of(const TokenizerDefinition& definition) {
  std::unordered_set<std::string_view> others;
  for (const AddedToken& token : definition.added)
    if (!token.is_piece) others.insert(token.text);
  std::vector<std::string> pieces = definition.tokens;
  for (std::string& piece : pieces)
    if (others.contains(piece)) piece.clear();
  return pieces;
}

Encoder make_encoder(const TokenizerDefinition& definition, std::int32_t unknown_id) {
  if (const auto* model = std::get_if<WordPieceModel>(&definition.model))
    return WordPieceEncoder(*model, pieces_of(definition), unknown_id);
  return BytePairEncoder(std::get<BytePairModel>(definition.model), definition.tokens);
}

// Returns how many pieces of two texts are kept if both share `room`: `longest_first` as in the `tokenizers` library
// (utils/truncation.rs). When both are cut, the shorter text gets the smaller half; the first one if they are equally
// long.
std::pair<std::size_t, std::size_t> pair_sizes(std::size_t first, std::size_t second,
                                               std::size_t room) {
  if (first + second <= room) return {first, second};
  const std::size_t less = std::min(first, second);
  if (2 * less <= room)
    return first <= second ? std::pair(first, room - first) : std::pair(room - second, second);
  const std::size_t half = room / 2;
  return first <= second ? std::pair(half, room - half) : std::pair(room - half, half);
}

void append(std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

// Reduces the pieces from `begin` on to at most `count`.
void keep(Truncation truncation, std::size_t begin, std::size_t count,
          std::vector<std::int32_t>& ids) {
  if (ids.size() <= begin + count) return;
  const std::size_t first = head_token_count(truncation, count);
  ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(begin + first),
            ids.end() - static_cast<std::ptrdiff_t>(count - first));
}

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

}  // namespace

Tokenizer::Tokenizer(TokenizerDefinition definition)
    : definition_(std::move(definition)),
      ids_(ids_of(definition_.tokens)),
      pad_id_(required_id(definition_.special.pad, "padding")),
      unknown_id_(std::holds_alternative<WordPieceModel>(definition_.model)
                      ? required_id(definition_.special.unknown, "unknown")
                      : find_id(definition_.special.unknown)),
      front_(required_ids(definition_.framing.front)),
      between_(required_ids(definition_.framing.between)),
      trailing_(required_ids(definition_.framing.trailing)),
      encoder_(make_encoder(definition_, unknown_id_)),
      is_added_(definition_.tokens.size()) {
  collect_added();
}

std::int32_t Tokenizer::find_id(std::string_view token) const {
  return ids_.find(token, hash_of(token));
}

std::int32_t Tokenizer::required_id(std::string_view token, std::string_view role) const {
  const std::int32_t id = find_id(token);
  user_check(id >= 0 && !token.empty(),
             "vocabulary: the {} token '{}' is not among the {} tokens; is this the vocabulary of "
             "this model?",
             role, shown_name(token), definition_.tokens.size());
  return id;
}

Tokenizer::Ids Tokenizer::required_ids(const std::vector<std::string>& tokens) const {
  Ids ids;
  for (const std::string& token : tokens) ids.push_back(required_id(token, "special"));
  return ids;
}

void Tokenizer::collect_added() {
  const auto add = [&](const AddedToken& token) {
    const auto id = static_cast<std::size_t>(required_id(token.text, "added"));
    if (is_added_[id]) return;
    is_added_[id] = 1;
    if (!token.normalized) return added_.add(token, token.text, static_cast<std::int32_t>(id));
    std::int64_t replaced = 0;
    std::string pattern = std::visit(
        [&](const auto& encoder) { return encoder.normalized(token.text, replaced); }, encoder_);
    user_check(!pattern.empty(),
               "the added token '{}' is empty once it is normalized, so it would be found "
               "everywhere; set its \"normalized\" to false",
               shown_name(token.text));
    normalized_added_.add(token, std::move(pattern), static_cast<std::int32_t>(id));
  };
  for (const AddedToken& token : definition_.added) add(token);
  add({definition_.special.pad});
  for (const std::string& token : framing_tokens(true)) add({token});
  for (const std::string& token : {definition_.special.unknown, definition_.special.mask})
    if (find_id(token) >= 0) add({token});
}

// Calls `use(stretch, is_normalized, id)` for each stretch of `text` between added tokens, with the id of the token
// after it, or -1, until it returns false. Returns the number of ill-formed sequences replaced during normalization.
template <typename Use>
std::int64_t Tokenizer::split(std::string_view text, const Use& use) const {
  std::int64_t replaced = 0;
  added_.split(text, [&](std::string_view stretch, std::int32_t id) {
    if (normalized_added_.empty()) return use(stretch, false, id);
    const std::string normalized = std::visit(
        [&](const auto& encoder) { return encoder.normalized(stretch, replaced); }, encoder_);
    return normalized_added_.split(normalized, [&](std::string_view between, std::int32_t found) {
      return use(between, true, found);
    }) && (id < 0 || use(std::string_view(), true, id));
  });
  return replaced;
}

// Appends the pieces of `text`; may stop once there are more than `limit` ids. Returns the number of replaced
// ill-formed sequences.
std::int64_t Tokenizer::encode_pieces(std::string_view text, std::size_t limit, Ids& ids) const {
  std::int64_t in_pieces = 0;
  const auto encode = [&](std::string_view stretch, bool is_normalized, std::int32_t token) {
    in_pieces += std::visit(
        [&](const auto& encoder) { return encoder.encode(stretch, is_normalized, limit, ids); },
        encoder_);
    if (token >= 0) ids.push_back(token);
    return ids.size() <= limit;
  };
  const std::int64_t on_the_way = split(text, encode);
  return in_pieces + on_the_way;
}

Encoding Tokenizer::encode_text(std::string_view text, std::size_t max_length,
                                std::optional<Truncation> truncation) const {
  const Truncation kept = truncation.value_or(definition_.truncation);
  const std::size_t least = front_.size() + trailing_.size();
  user_check(max_length >= least,
             "max_length: expected at least {} for the special tokens {}, got {}", least,
             fmt::join(framing_tokens(false), " "), max_length);
  const std::size_t room = max_length - trailing_.size();
  Encoding encoding;
  Ids& ids = encoding.ids;
  ids.reserve(std::min(max_length, text.size() / 4 + 8));
  append(ids, front_);
  encoding.replaced_bytes = encode_pieces(text, kept == Truncation::head ? room : kNoLimit, ids);
  encoding.truncated = ids.size() > room;
  keep(kept, front_.size(), room - front_.size(), ids);
  append(ids, trailing_);
  encoding.type_1_begin = static_cast<std::int32_t>(ids.size());
  return encoding;
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                std::size_t max_length,
                                std::optional<Truncation> truncation) const {
  const Truncation kept = truncation.value_or(definition_.truncation);
  const std::size_t special = front_.size() + between_.size() + trailing_.size();
  user_check(max_length >= special,
             "max_length: expected at least {} for the special tokens of pairs {}, got {}", special,
             fmt::join(framing_tokens(true), " "), max_length);
  // Encodes both texts completely, because the lengths determine the cut.
  Ids first_ids, second_ids;
  Encoding encoding;
  encoding.replaced_bytes =
      encode_pieces(first, kNoLimit, first_ids) + encode_pieces(second, kNoLimit, second_ids);
  const auto [first_size, second_size] =
      pair_sizes(first_ids.size(), second_ids.size(), max_length - special);
  encoding.truncated = first_size + second_size < first_ids.size() + second_ids.size();
  Ids& ids = encoding.ids;
  ids.reserve(first_size + second_size + special);
  append(ids, front_);
  keep(kept, 0, first_size, first_ids);
  append(ids, first_ids);
  append(ids, between_);
  const std::size_t second_begin = ids.size();
  keep(kept, 0, second_size, second_ids);
  append(ids, second_ids);
  append(ids, trailing_);
  encoding.type_1_begin =
      static_cast<std::int32_t>(definition_.framing.second_is_type_1 ? second_begin : ids.size());
  return encoding;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, std::size_t max_length,
                                            std::optional<Truncation> truncation) const {
  return encode_text(text, max_length, truncation).ids;
}

std::vector<std::string> Tokenizer::unknown_words(std::string_view text) const {
  std::vector<std::string> words;
  split(text, [&](std::string_view stretch, bool is_normalized, std::int32_t) {
    for (std::string& word : std::visit(
             [&](const auto& encoder) { return encoder.unknown_words(stretch, is_normalized); },
             encoder_))
      words.push_back(std::move(word));
    return true;
  });
  return words;
}

const std::string& Tokenizer::token(std::int32_t id) const {
  user_check(id >= 0 && id < vocabulary_size(), "token id {}: expected 0 to {}", id,
             vocabulary_size() - 1);
  return definition_.tokens[static_cast<std::size_t>(id)];
}

std::string Tokenizer::shown_token(std::int32_t id) const {
  const std::string& text = token(id);
  if (is_added_[static_cast<std::size_t>(id)]) return text;
  return std::visit([&](const auto& encoder) { return encoder.shown(text); }, encoder_);
}

bool Tokenizer::continues_word(std::int32_t id) const {
  const std::string& text = token(id);
  return std::visit([&](const auto& encoder) { return encoder.continues_word(text); }, encoder_);
}

std::vector<std::string> Tokenizer::framing_tokens(bool pair) const {
  const Framing& framing = definition_.framing;
  std::vector<std::string> tokens = framing.front;
  if (pair) tokens.insert(tokens.end(), framing.between.begin(), framing.between.end());
  tokens.insert(tokens.end(), framing.trailing.begin(), framing.trailing.end());
  return tokens;
}

}  // namespace hone
