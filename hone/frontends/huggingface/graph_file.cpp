#include "hone/frontends/huggingface/graph_file.h"

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/ir/parse.h"
#include "hone/ir/print.h"

namespace hone {
namespace {

constexpr std::string_view kHeader = "hone graph 1\n";
constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // a hundred times the largest known graph

}  // namespace

std::string graph_file_text(const Graph& graph) { return std::string(kHeader) + to_string(graph); }

Graph parse_graph_file(std::string_view text, const OpTable& ops, const FormatTable& formats) {
  user_check(text.starts_with(kHeader),
             "expected '{}' on the first line; it was written by another version of hone, "
             "or by another program",
             trim(kHeader));
  // The header counts as a line in error positions.
  return parse_graph(text.substr(kHeader.size() - 1), ops, formats);
}

Graph read_graph_file(const fs::path& file, const OpTable& ops, const FormatTable& formats) {
  const MappedFile mapped(file);
  return with_context(file.string(), [&] {
    user_check(mapped.text().size() <= kMaxBytes, "{} are too many for a graph",
               human_bytes(static_cast<double>(mapped.text().size())));
    return parse_graph_file(mapped.text(), ops, formats);
  });
}

}  // namespace hone
