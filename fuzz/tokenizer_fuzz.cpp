#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/text/tokenizer_parse.h"

namespace hone::fuzz {

void tokenizer(std::string_view bytes) {
  const std::size_t end = bytes.find('\0');
  TokenizerTexts texts;
  (bytes.starts_with('{') ? texts.json : texts.vocabulary) = bytes.substr(0, end);
  if (end != std::string_view::npos) texts.config = bytes.substr(end + 1);
  const Tokenizer tokenizer = parse_tokenizer(texts);
  for (const std::int32_t id : tokenizer.encode("A fine film: caf\xc3\xa9 \xe9 [MASK]", 16)) {
    HONE_ASSERT(id >= 0 && id < tokenizer.vocabulary_size(), "id {} of {}", id,
                tokenizer.vocabulary_size());
  }
}

}  // namespace hone::fuzz
