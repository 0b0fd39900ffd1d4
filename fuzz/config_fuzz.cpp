#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/config.h"
#include "hone/frontends/huggingface/own_keys.h"

namespace hone::fuzz {

void config(std::string_view bytes) {
  const BertConfig read = bert_config(parse_json(bytes, "config.json"), "config.json");
  const Json written = to_json(read);
  const Json again = to_json(bert_config(parse_json(to_document(written), "again"), "again"));
  HONE_ASSERT(to_line(again) == to_line(written), "{} became {}", to_line(written), to_line(again));
  static const FormatTable formats = builtin_formats();
  const Json config = parse_json(bytes, "config.json");
  read_history(config, /*transformed=*/false, "config.json");
  read_quantization(config, formats, "config.json");
}

}  // namespace hone::fuzz
