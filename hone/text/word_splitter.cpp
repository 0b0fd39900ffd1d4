#include "hone/text/word_splitter.h"

namespace hone {

WordSplitter::WordSplitter(const Normalization& normalization) : normalization_(normalization) {
  for (char32_t c = 0; c < ascii_.size(); ++c) {
    const bool removed = normalization.clean_text && is_removed(c);
    ascii_[c] = removed             ? kRemoved
                : is_white_space(c) ? kSpace
                : is_punctuation(c) ? kPunctuation
                                    : kLetter;
    const bool capital = c >= 'A' && c <= 'Z' && normalization.lowercase;
    lower_[c] = static_cast<char>(capital ? c + ('a' - 'A') : c);
  }
}

void WordSplitter::normalize_run(std::string_view run, Scratch& scratch) const {
  scratch.points.clear();
  scratch.replaced += decode_utf8(run, scratch.points);
  normalize(normalization_, scratch.points, scratch.buffer);
}

}  // namespace hone
