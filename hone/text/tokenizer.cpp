#include "hone/text/tokenizer.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "hone/base/error.h"
#include "hone/base/printable.h"

namespace hone {
namespace {

void check_unique(const std::vector<std::string>& tokens) {
  std::unordered_map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto [first, inserted] = seen.try_emplace(tokens[i], i);
    user_check(inserted,
               "vocabulary: the token '{}' stands at ids {} and {}; every token needs one id",
               shown_name(tokens[i]), first->second, i);
  }
}

// How many pieces of two texts are kept when both may have `room` together: `longest_first` as the
// library `tokenizers` has it (utils/truncation.rs). When both are cut, the one that was not longer
// gets the smaller half, the first one if they are equally long.
std::pair<std::size_t, std::size_t> pair_sizes(std::size_t first, std::size_t second,
                                               std::size_t room) {
  if (first + second <= room) return {first, second};
  const std::size_t less = std::min(first, second);
  if (2 * less <= room)
    return first <= second ? std::pair(first, room - first) : std::pair(room - second, second);
  const std::size_t half = room / 2;
  return first <= second ? std::pair(half, room - half) : std::pair(room - half, half);
}

}  // namespace

struct Tokenizer::Run {
  std::string_view text;  // may be empty
  bool ascii = true;
  const AddedToken* added =
      nullptr;               // what ended the run, if not white space or the end of the text
  std::size_t consumed = 0;  // bytes of run and separator
};

struct Tokenizer::Scratch {
  std::vector<std::int32_t> ids;
  WordSplitter::Scratch words;
};

Tokenizer::Tokenizer(TokenizerDefinition definition)
    : definition_(std::move(definition)), splitter_(definition_.normalization) {
  check_unique(definition_.tokens);
  const SpecialTokens& special = definition_.special;
  pad_id_ = find_id(special.pad, "padding");
  unknown_id_ = find_id(special.unknown, "unknown");
  cls_id_ = find_id(special.cls, "classification");
  sep_id_ = find_id(special.sep, "separator");
  word_piece_ = WordPiece(definition_.tokens, unknown_id_, definition_.word_piece);

  std::vector<std::string> literal = {special.pad, special.unknown, special.cls, special.sep};
  const auto& tokens = definition_.tokens;
  if (std::find(tokens.begin(), tokens.end(), special.mask) != tokens.end())
    literal.push_back(special.mask);
  literal.insert(literal.end(), definition_.added.begin(), definition_.added.end());
  for (const std::string& text : literal) {
    added_.push_back({text, find_id(text, "added")});
    begins_added_[static_cast<unsigned char>(text.at(0))] = true;
  }
  std::stable_sort(added_.begin(), added_.end(), [](const AddedToken& a, const AddedToken& b) {
    return a.text.size() > b.text.size();
  });
}

std::int32_t Tokenizer::find_id(std::string_view token, std::string_view role) const {
  const auto found = std::find(definition_.tokens.begin(), definition_.tokens.end(), token);
  user_check(found != definition_.tokens.end() && !token.empty(),
             "vocabulary: the {} token '{}' is not among the {} tokens; is this the vocabulary of "
             "a BERT model?",
             role, shown_name(token), definition_.tokens.size());
  return static_cast<std::int32_t>(found - definition_.tokens.begin());
}

const Tokenizer::AddedToken* Tokenizer::added_at(std::string_view text) const {
  if (!begins_added_[static_cast<unsigned char>(text.front())]) return nullptr;
  for (const AddedToken& token : added_) {
    if (text.starts_with(token.text)) return &token;
  }
  return nullptr;
}

Tokenizer::Run Tokenizer::next_run(std::string_view text) const {
  Run run;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (begins_added_[byte] && (run.added = added_at(text.substr(i))) != nullptr) break;
    if (byte >= 0x80) {
      run.ascii = false;
    } else if (splitter_.is_space(byte)) {
      break;
    }
  }
  run.text = text.substr(0, i);
  run.consumed = run.added != nullptr ? i + run.added->text.size() : std::min(i + 1, text.size());
  return run;
}

// Appends the pieces of `text`, at least until there are more ids than `limit`.
void Tokenizer::encode_pieces(std::string_view text, std::size_t limit, Scratch& scratch) const {
  const auto encode_word = [&](std::string_view word) { word_piece_.encode(word, scratch.ids); };
  while (!text.empty() && scratch.ids.size() <= limit) {
    const Run run = next_run(text);
    splitter_.split_run(run.text, run.ascii, scratch.words, encode_word);
    if (run.added != nullptr) scratch.ids.push_back(run.added->id);
    text.remove_prefix(run.consumed);
  }
}

Encoding Tokenizer::encode_with_facts(std::string_view text, std::size_t max_length) const {
  user_check(max_length >= 2, "max_length: expected at least 2, for [CLS] and [SEP], got {}",
             max_length);
  const std::size_t room = max_length - 1;  // [SEP] comes last
  Scratch scratch;
  scratch.ids.reserve(std::min(max_length, text.size() / 4 + 8));
  scratch.ids.push_back(cls_id_);
  encode_pieces(text, room, scratch);
  const bool truncated = scratch.ids.size() > room;
  if (truncated) scratch.ids.resize(room);
  scratch.ids.push_back(sep_id_);
  const auto size = static_cast<std::int32_t>(scratch.ids.size());
  return {std::move(scratch.ids), truncated, scratch.words.replaced, size};
}

Encoding Tokenizer::encode_pair(std::string_view first, std::string_view second,
                                std::size_t max_length) const {
  user_check(max_length >= 3,
             "max_length: expected at least 3 for pairs, for [CLS] and twice [SEP], got {}",
             max_length);
  // All of both, for it matters which is longer.
  constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
  Scratch scratch, other;
  encode_pieces(first, kNoLimit, scratch);
  encode_pieces(second, kNoLimit, other);
  const auto [first_size, second_size] =
      pair_sizes(scratch.ids.size(), other.ids.size(), max_length - 3);
  Encoding encoding;
  encoding.truncated = first_size + second_size < scratch.ids.size() + other.ids.size();
  encoding.replaced_bytes = scratch.words.replaced + other.words.replaced;
  encoding.second_begin = static_cast<std::int32_t>(first_size) + 2;
  std::vector<std::int32_t>& ids = encoding.ids;
  ids.reserve(first_size + second_size + 3);
  ids.push_back(cls_id_);
  ids.insert(ids.end(), scratch.ids.begin(),
             scratch.ids.begin() + static_cast<std::ptrdiff_t>(first_size));
  ids.push_back(sep_id_);
  ids.insert(ids.end(), other.ids.begin(),
             other.ids.begin() + static_cast<std::ptrdiff_t>(second_size));
  ids.push_back(sep_id_);
  return encoding;
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text, std::size_t max_length) const {
  return encode_with_facts(text, max_length).ids;
}

std::vector<std::string> Tokenizer::unknown_words(std::string_view text) const {
  std::vector<std::string> words;
  Scratch scratch;
  while (!text.empty()) {
    const Run run = next_run(text);
    splitter_.split_run(run.text, run.ascii, scratch.words, [&](std::string_view word) {
      scratch.ids.clear();
      word_piece_.encode(word, scratch.ids);
      if (scratch.ids[0] == unknown_id_) words.emplace_back(word);
    });
    text.remove_prefix(run.consumed);
  }
  return words;
}

const std::string& Tokenizer::token(std::int32_t id) const {
  user_check(id >= 0 && id < vocabulary_size(), "token id {}: expected 0 to {}", id,
             vocabulary_size() - 1);
  return definition_.tokens[static_cast<std::size_t>(id)];
}

}  // namespace hone
