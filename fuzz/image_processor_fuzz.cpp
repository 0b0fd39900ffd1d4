#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/image_processor.h"

namespace hone::fuzz {

void image_processor(std::string_view bytes) {
  const Json file = parse_json(bytes, "preprocessor_config.json");
  const std::int64_t edge = processed_size(file).value_or(224);
  const ImageSize size{3, edge, edge};
  const ImagePreparation read = read_preparation(file, size, "preprocessor_config.json");
  HONE_ASSERT(read_preparation(to_json(read), size, "written") == read,
              "another preparation comes back from {}", to_line(to_json(read)));
}

}  // namespace hone::fuzz
