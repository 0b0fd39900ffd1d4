#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/frontends/huggingface/graph_file.h"
#include "hone/ops/list.h"

namespace hone::fuzz {

void graph_file(std::string_view bytes) {
  static const OpTable ops = builtin_ops();
  static const FormatTable formats = builtin_formats();
  const Graph graph = parse_graph_file(bytes, ops, formats);
  const std::string text = graph_file_text(graph);
  HONE_ASSERT(graph_file_text(parse_graph_file(text, ops, formats)) == text, "changed:\n{}", text);
}

}  // namespace hone::fuzz
