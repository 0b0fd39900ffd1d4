#include "hone/text/word_piece_encoder.h"

namespace hone {

WordPieceEncoder::WordPieceEncoder(const WordPieceModel& model,
                                   const std::vector<std::string>& tokens, std::int32_t unknown_id)
    : splitter_(model.normalization),
      pieces_(tokens, unknown_id, model.pieces),
      unknown_id_(unknown_id),
      continuation_prefix_(model.pieces.continuation_prefix) {}

std::int64_t WordPieceEncoder::encode(std::string_view text, std::size_t limit,
                                      std::vector<std::int32_t>& ids) const {
  WordSplitter::Scratch scratch;
  while (!text.empty() && ids.size() <= limit)
    splitter_.split_run(splitter_.take_run(text), scratch,
                        [&](std::string_view word) { pieces_.encode(word, ids); });
  return scratch.replaced;
}

std::vector<std::string> WordPieceEncoder::unknown_words(std::string_view text) const {
  std::vector<std::string> words;
  std::vector<std::int32_t> ids;
  WordSplitter::Scratch scratch;
  splitter_.split(text, scratch, [&](std::string_view word) {
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
