#include "hone/analysis/tile_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "hone/base/text.h"

namespace hone {
namespace {

constexpr std::string_view kFull = "#cfe2f3";
constexpr std::string_view kEdge = "#fce5cd";
constexpr std::string_view kIdle = "#eeeeee";
constexpr std::string_view kHead = "#ffffff";

// Selects the items of a row to draw: the `places` that exist, and the last item. Each gap between them is one nullopt.
std::vector<std::optional<std::int64_t>> shown(std::int64_t count, std::set<std::int64_t> places) {
  places.insert(count - 1);
  std::vector<std::optional<std::int64_t>> row;
  std::int64_t next = 0;
  for (const std::int64_t place : places) {
    if (place >= count) break;
    if (place > next) row.emplace_back(std::nullopt);
    row.emplace_back(place);
    next = place + 1;
  }
  return row;
}

std::string cell(const std::string& text, std::string_view fill, const std::string& port = "") {
  return fmt::format("<td bgcolor=\"{}\"{}>{}</td>", fill,
                     port.empty() ? "" : fmt::format(" port=\"{}\"", port), text);
}

std::string node(const std::string& name, const std::string& title, std::size_t columns,
                 const std::string& rows) {
  return fmt::format(
      "    {} [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\" cellpadding=\"5\" "
      "color=\"#888888\"><tr><td border=\"0\" colspan=\"{}\">{}</td></tr>\n{}</table>>];\n",
      name, columns, title, rows);
}

// Lines of text without a frame.
std::string words(const std::string& name, const std::vector<std::string>& lines) {
  std::string rows;
  for (const std::string& line : lines)
    rows += fmt::format("<tr><td border=\"0\" align=\"left\">{}</td></tr>\n", line);
  return fmt::format(
      "    {} [label=<<table border=\"0\" cellspacing=\"0\" cellpadding=\"2\">{}</table>>];\n",
      name, rows);
}

std::int64_t busy_threads(const DecodeTiling& tiling, std::int64_t x, std::int64_t y) {
  const std::int64_t rows = std::min(tiling.tile_rows, tiling.group - x * tiling.tile_rows);
  const std::int64_t columns =
      std::min(tiling.tile_columns, tiling.groups_of(0) - y * tiling.tile_columns);
  return rows * columns;
}

std::string busy_text(std::int64_t busy) {
  return busy == kTileThreads ? "all 1,024 threads" : fmt::format("{} threads", grouped(busy));
}

// The grid of the first kernel call.
std::string grid_node(const DecodeTiling& tiling) {
  const std::int64_t last_x = tiling.grid_x() - 1, last_y = tiling.grid_y(0) - 1;
  const auto columns = shown(last_y + 1, {0, 1, 2});
  std::string rows = "<tr>" + cell("", kHead);
  for (const auto& y : columns) {
    rows +=
        y ? cell(fmt::format(
                     "groups {} – {}", grouped(*y * tiling.tile_columns),
                     grouped(std::min((*y + 1) * tiling.tile_columns, tiling.groups_of(0)) - 1)),
                 kHead)
          : cell("…", kHead);
  }
  rows += "</tr>\n";
  for (const auto& x : shown(last_x + 1, {0, 1})) {
    rows += "<tr>";
    rows += x ? cell(fmt::format("rows {} – {}", grouped(*x * tiling.tile_rows),
                                 grouped(std::min((*x + 1) * tiling.tile_rows, tiling.group) - 1)),
                     kHead)
              : cell("…", kHead);
    for (const auto& y : columns) {
      if (!x || !y) {
        rows += cell("…", kHead);
        continue;
      }
      const std::int64_t busy = busy_threads(tiling, *x, *y);
      rows += cell(
          fmt::format("<b>block ({}, {})</b><br/>{}", grouped(*x), grouped(*y), busy_text(busy)),
          busy == kTileThreads ? kFull : kEdge);
    }
    rows += "</tr>\n";
  }
  return node(
      "grid",
      fmt::format(
          "<b>{} elements in {} groups of {}: a grid of {} × {} blocks{}</b><br/>a "
          "tile is {} rows × {} groups; row: place in the group",
          grouped(tiling.elements), grouped(tiling.groups), grouped(tiling.group),
          grouped(tiling.grid_x()), grouped(tiling.grid_y(0)),
          tiling.calls == 1 ? "" : fmt::format(", the first of {} calls", grouped(tiling.calls)),
          tiling.tile_rows, tiling.tile_columns),
      columns.size() + 1, rows);
}

std::string tile_node(const DecodeTiling& tiling, const std::string& name, std::int64_t x,
                      std::int64_t y) {
  const auto columns = shown(tiling.tile_columns, {0, 1, 2});
  const auto thread_at = [&](std::int64_t row, std::int64_t column) {
    return TileThread{0, x, y, column * tiling.tile_rows + row};
  };
  std::string rows = "<tr>" + cell("t mod BLK_M \\ t div BLK_M", kHead);
  for (const auto& column : columns) {
    if (!column) {
      rows += cell("…", kHead);
      continue;
    }
    const TileWork work = work_of(tiling, thread_at(0, *column));
    rows += cell(work.has_element ? fmt::format("{}<br/>scale {}", *column, grouped(work.scale))
                                  : fmt::format("{}<br/>no group", *column),
                 kHead);
  }
  rows += "</tr>\n";
  for (const auto& row : shown(tiling.tile_rows, {0, 1, 2})) {
    rows += "<tr>" + cell(row ? fmt::format("{}", *row) : "…", kHead);
    for (const auto& column : columns) {
      if (!row || !column) {
        rows += cell("…", kHead);
        continue;
      }
      const TileThread thread = thread_at(*row, *column);
      const TileWork work = work_of(tiling, thread);
      rows += work.has_element
                  ? cell(fmt::format("thread {}<br/>element {}", grouped(thread.thread),
                                     grouped(work.element)),
                         kFull)
                  : cell(fmt::format("thread {}<br/>nothing", grouped(thread.thread)), kIdle);
    }
    rows += "</tr>\n";
  }
  return node(name, fmt::format("<b>block ({}, {})</b>", grouped(x), grouped(y)),
              columns.size() + 1, rows);
}

std::string range_text(std::int64_t begin, std::int64_t end) {
  return fmt::format("elements {} – {}", grouped(begin), grouped(end - 1));
}

std::string chunks_node(const DecodeTiling& tiling, const kernels::DequantizePartition& ours) {
  const auto columns = shown(ours.chunks, {0, 1, 2});
  std::string rows = "<tr>";
  for (const auto& chunk : columns) {
    if (!chunk) {
      rows += cell("…", kHead);
      continue;
    }
    const std::int64_t begin = *chunk * ours.chunk_elements;
    const std::int64_t end = std::min(tiling.elements, begin + ours.chunk_elements);
    rows += cell(fmt::format("<b>chunk {}</b><br/>{}", grouped(*chunk), range_text(begin, end)),
                 end - begin == ours.chunk_elements ? kFull : kEdge, *chunk == 0 ? "first" : "");
  }
  return node("chunks",
              fmt::format("<b>the array as a line, in chunks of {} elements</b><br/>each goes to "
                          "the next thread that is free",
                          grouped(ours.chunk_elements)),
              columns.size(), rows + "</tr>\n");
}

std::string vectors_node(const DecodeTiling& tiling, const kernels::DequantizePartition& ours) {
  const std::int64_t width = ours.vector_elements;
  const std::int64_t block = std::min(tiling.elements, ours.block_elements);
  const std::int64_t next_group =
      tiling.group / width;  // the vector that contains its first element
  std::string rows;
  for (const auto& vector :
       shown((block + width - 1) / width, {0, 1, next_group, next_group + 1})) {
    if (!vector) {
      rows += "<tr>" + cell("…", kHead) + cell("…", kHead) + cell("…", kHead) + "</tr>\n";
      continue;
    }
    const std::int64_t begin = *vector * width, end = std::min(block, begin + width);
    const std::int64_t first = begin / tiling.group, last = (end - 1) / tiling.group;
    rows += "<tr>" + cell(fmt::format("vector {}", *vector), kHead) +
            cell(range_text(begin, end), end - begin == width ? kFull : kEdge) +
            (first == last
                 ? cell(fmt::format("scale {}", grouped(first)), kFull)
                 : cell(fmt::format("scales {} – {}", grouped(first), grouped(last)), kFull)) +
            "</tr>\n";
  }
  return node("vectors",
              fmt::format("<b>the first {} elements: scales widened, then vectors of {}</b>",
                          grouped(block), width),
              3, rows);
}

}  // namespace

std::string draw_tiles(const DecodeTiling& tiling, const kernels::DequantizePartition& ours) {
  const std::int64_t last_x = tiling.grid_x() - 1, last_y = tiling.grid_y(0) - 1;
  const bool has_edge = busy_threads(tiling, last_x, last_y) < kTileThreads && last_x + last_y > 0;
  std::string dot =
      "digraph {\n  fontname=\"DejaVu Sans\"; fontsize=16; rankdir=TB; nodesep=0.4; ranksep=0.35;\n"
      "  node [shape=plain, fontname=\"DejaVu Sans\", fontsize=10];\n"
      "  edge [color=\"#555555\", arrowsize=0.6];\n"
      "  subgraph cluster_theirs { label=\"mase-cuda on a GPU: an element a thread\"; "
      "style=rounded; color=\"#bbbbbb\";\n" +
      grid_node(tiling) + tile_node(tiling, "first_tile", 0, 0);
  if (has_edge) dot += tile_node(tiling, "last_tile", last_x, last_y);
  dot += words("theirs", {"row = bx · BLK_M + t mod BLK_M, column = by · BLK_K + t div BLK_M",
                          "element = column · group + row, its scale: column",
                          "the thread works if row &lt; group and column &lt; groups",
                          fmt::format("{} threads for {} elements: {}% of them work",
                                      grouped(tiling.threads()), grouped(tiling.elements),
                                      three_digits(100.0 * static_cast<double>(tiling.elements) /
                                                   static_cast<double>(tiling.threads())))});
  dot +=
      "  }\n  subgraph cluster_ours { label=\"hone on a CPU: a vector at a time\"; "
      "style=rounded; color=\"#bbbbbb\";\n" +
      chunks_node(tiling, ours) + vectors_node(tiling, ours);
  dot += words("ours",
               {"groups of whole vectors take their scale once,",
                "others one for each element, from a table in registers",
                fmt::format("results go {} the caches", ours.non_temporal ? "around" : "through")});
  dot += "  }\n  grid -> first_tile;\n";
  dot += has_edge ? "  grid -> last_tile;\n  last_tile -> theirs [style=invis];\n" : "";
  return dot +
         "  first_tile -> theirs [style=invis];\n  chunks:first -> vectors;\n"
         "  vectors -> ours [style=invis];\n}\n";
}

}  // namespace hone
