#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/own_keys.h"

namespace hone::fuzz {

void config(std::string_view bytes) {
  const Json config = parse_json(bytes, "config.json");
  const ConfigKeys& keys = find_architecture(model_type(config, "config.json"), "config.json").keys;
  const Json written = to_json(keys, read_config(keys, config, "config.json"));
  const Json again =
      to_json(keys, read_config(keys, parse_json(to_document(written), "again"), "again"));
  HONE_ASSERT(to_line(again) == to_line(written), "{} became {}", to_line(written), to_line(again));
  static const FormatTable formats = builtin_formats();
  read_history(config, /*transformed=*/false, "config.json");
  read_quantization(config, formats, "config.json");
}

}  // namespace hone::fuzz
