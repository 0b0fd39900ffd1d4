#include "hone/text/word_piece_encoder.h"

namespace hone {

WordPieceEncoder::WordPieceEncoder(const WordPieceModel& model,
                                   const std::vector<std::string>& tokens, std::int32_t unknown_id)
    : normalization_(model.normalization),
      splitter_(model.normalization),
      splitter_of_normalized_({false, false, false, false}),
      pieces_(tokens, unknown_id, model.pieces),
      unknown_id_(unknown_id),
      continuation_prefix_(model.pieces.continuation_prefix) {}

std::string WordPieceEncoder::normalized(std::string_view text, std::int64_t& replaced) const {
  CodePoints points, scratch;
  replaced += decode_utf8(text, points);
  normalize(normalization_, points, scratch);
  std::string result;
  for (const char32_t c : points) append_utf8(c, result);
  return result;
}

std::int64_t WordPieceEncoder::encode(std::string_view text, bool is_normalized, std::size_t limit,
                                      std::vector<std::int32_t>& ids) const {
  const WordSplitter& splitter = is_normalized ? splitter_of_normalized_ : splitter_;
  WordSplitter::Scratch scratch;
  while (!text.empty() && ids.size() <= limit)
    splitter.split_run(splitter.take_run(text), scratch,
                       [&](std::string_view word) { pieces_.encode(word, ids); });
  return scratch.replaced;
}

std::vector<std::string> WordPieceEncoder::unknown_words(std::string_view text,
                                                         bool is_normalized) const {
  const WordSplitter& splitter = is_normalized ? splitter_of_normalized_ : splitter_;
  std::vector<std::string> words;
  std::vector<std::int32_t> ids;
  WordSplitter::Scratch scratch;
  splitter.split(text, scratch, [&](std::string_view word) {
    ids.clear();
    pieces_.encode(word, ids);
    if (ids[0] == unknown_id_) words.emplace_back(word);
  });
  return words;
}

bool WordPieceEncoder::continues_word(std::string_view token) const {
  return token.starts_with(continuation_prefix_);
}

}  // namespace hone
