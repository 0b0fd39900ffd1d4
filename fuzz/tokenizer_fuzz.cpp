#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/text/tokenizer_parse.h"

namespace hone::fuzz {

void tokenizer(std::string_view bytes) {
  std::vector<std::string> parts(1);
  for (const char byte : bytes)
    byte == '\0' ? void(parts.emplace_back()) : parts.back().push_back(byte);
  const auto part = [&](std::size_t i) {
    return i < parts.size() ? std::optional(parts[i]) : std::nullopt;
  };
  TokenizerTexts texts;
  const bool object = bytes.starts_with('{');
  texts.merges = part(2);
  (texts.merges ? texts.byte_vocabulary : object ? texts.json : texts.vocabulary) = parts[0];
  texts.config = part(1);
  texts.special = part(3);
  texts.added = part(4);
  const Tokenizer tokenizer = parse_tokenizer(texts);
  constexpr const char* kText = "A fine film: caf\xc3\xa9 \xe9 [MASK] <mask> ";
  std::vector<std::int32_t> ids = tokenizer.encode(kText, 32);
  const std::vector<std::int32_t> pair = tokenizer.encode_pair(kText, "fine", 32).ids;
  ids.insert(ids.end(), pair.begin(), pair.end());
  tokenizer.unknown_words(kText);
  for (const std::int32_t id : ids) {
    HONE_ASSERT(id >= 0 && id < tokenizer.vocabulary_size(), "id {} of {}", id,
                tokenizer.vocabulary_size());
  }
}

}  // namespace hone::fuzz
