#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/sentence_modules.h"

namespace hone::fuzz {

void sentence_modules(std::string_view bytes) {
  const Json files = parse_json(bytes, "files");
  const SentenceModules modules =
      read_sentence_modules("model", [&](const fs::path& path) -> std::optional<Json> {
        const std::string name = path.string();
        if (!files.is_object() || !files.contains(name)) return std::nullopt;
        return files[name];
      });
  HONE_ASSERT(!modules.pooling.empty() && !to_string(modules.pooling).empty(), "no pooling");
  const std::optional<TokenLimit>& limit = modules.encoder.limit;
  HONE_ASSERT(!limit || limit->tokens >= 3, "{} tokens", limit->tokens);
  HONE_ASSERT(!modules.token_width || *modules.token_width >= 1, "{} wide", *modules.token_width);
  HONE_ASSERT(modules.kept_width.value_or(1) >= 1, "{} kept", *modules.kept_width);
}

}  // namespace hone::fuzz
