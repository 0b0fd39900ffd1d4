#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/ir/parse.h"
#include "hone/ir/print.h"
#include "hone/ir/verify.h"
#include "hone/ops/list.h"

namespace hone::fuzz {

void graph_text(std::string_view bytes) {
  static const OpTable ops = builtin_ops();
  static const FormatTable formats = builtin_formats();
  const Graph graph = parse_graph(bytes, ops, formats);
  verify(graph);
  const std::string text = to_string(graph);
  try {
    const std::string again = to_string(parse_graph(text, ops, formats));
    HONE_ASSERT(again == text, "printed as\n{}and after parsing as\n{}", text, again);
  } catch (const UserError& error) {
    HONE_ASSERT(false, "printed as\n{}which is refused: {}", text, error.what());
  }
}

}  // namespace hone::fuzz
