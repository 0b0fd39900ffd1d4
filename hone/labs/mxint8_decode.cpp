#include "hone/labs/mxint8_decode.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "hone/analysis/draw.h"
#include "hone/analysis/tile_drawing.h"
#include "hone/base/text.h"
#include "hone/jobs/device_time.h"
#include "hone/report/field_table.h"

namespace hone {
namespace {

constexpr int kBits = 8;
constexpr double kTimedMs = 0.1;  // minimum time of a run: short ones are repeated
constexpr std::int64_t kUsualRuns = 60;
constexpr double kBytesAnElement = 3.125;  // for groups of 8: the code, the scale's share, bfloat16

/// An array whose tiles are drawn.
struct DrawnArray {
  const char* stem;
  std::int64_t elements;
  std::int64_t group;
  const char* caption;
};
constexpr DrawnArray kFullTiles = {
    "tiles", 4096, 32, "4,096 elements in groups of 32: every thread of the original has one"};
constexpr DrawnArray kEdgeTiles = {
    "tiles_edge", 48'000, 48,
    "48,000 elements in groups of 48: guards leave threads of the original idle"};

double seconds_of(const DecodeSizes& sizes, const LabRates& rates) {
  const auto runs = static_cast<double>(sizes.runs > 0 ? sizes.runs : kUsualRuns);
  double seconds = 0;
  for (const std::int64_t elements : sizes.elements) {
    const double run =
        std::max(kTimedMs * 1e-3, kBytesAnElement * static_cast<double>(elements) / rates.bytes);
    // Decoding and copying take turns.
    seconds += 2 * runs * run * static_cast<double>(sizes.groups.size());
  }
  return seconds;
}

float bf16_value(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// Returns what a pair of scale and byte decodes to instead of m 2^(scale - 133); empty if it decodes to that.
std::string exception_of(int mantissa, int scale) {
  const float value =
      bf16_value(kernels::decompose_mxint(kBits, mantissa, static_cast<std::uint8_t>(scale)).mase);
  const double expected = std::ldexp(mantissa, scale - 133);
  if (static_cast<double>(value) == expected) return "";
  if (scale == 255) return "scale 255: infinity or NaN, as the fields of bfloat16 say";
  if (mantissa == -128) return "m = -128: 0, as neither its leading 1 nor its fraction is set";
  HONE_ASSERT(scale == 0, "scale {}, m = {}: decodes to {}", scale, mantissa, value);
  return std::abs(mantissa) < 64
             ? "scale 0, |m| < 64: twice as much, as the fields are subnormal"
             : "scale 0, |m| >= 64: the fraction alone, as there is no leading 1";
}

using TimeValue = double (*)(const DequantizeTimes&);

Panel speed_panel(const std::vector<DequantizeTimes>& times, const std::string& label,
                  TimeValue value) {
  Panel panel{.x = {.label = "Elements", .logarithmic = true}, .y = {.label = label}};
  for (const DequantizeTimes& one : times) {
    const std::string name = fmt::format("groups of {}", one.codes.group);
    auto series = std::ranges::find(panel.series, name, &Series::label);
    if (series == panel.series.end()) series = panel.series.insert(series, {.label = name});
    const auto count = static_cast<double>(one.codes.count);
    series->points.push_back({count, value(one)});
    if (std::ranges::find(panel.x.ticks, count, &Tick::value) == panel.x.ticks.end())
      panel.x.ticks.push_back({count, grouped(one.codes.count)});
  }
  std::ranges::sort(panel.x.ticks, {}, &Tick::value);
  return panel;
}

Figure speed_figure(const std::vector<DequantizeTimes>& times, const BenchDequantizeFields& found) {
  Panel speed = speed_panel(times, "GB/s, read and written",
                            [](const DequantizeTimes& t) { return t.gbps(); });
  speed.title = "Decoded";
  Panel moved = speed_panel(times, "GB/s, read and written",
                            [](const DequantizeTimes& t) { return t.move_gbps(); });
  moved.title = "Moved, nothing computed";
  double most = 0;
  for (const Panel* panel : {&speed, &moved})
    for (const Series& series : panel->series)
      for (const Point& point : series.points) most = std::max(most, point.y);
  for (Panel* panel : {&speed, &moved}) panel->y.range = Range{0, 1.05 * most};
  return {.title = fmt::format("MXINT8 to bfloat16 on {}; best of {} runs and more",
                               processor_text(found.device, found.threads),
                               std::ranges::min(times, {}, &DequantizeTimes::runs).runs),
          .panels = {speed, moved},
          .width = 1000};
}

// Shows the same, where curves are close together, relative to copying as many bytes.
Figure share_figure(const std::vector<DequantizeTimes>& times, const BenchDequantizeFields& found) {
  Panel share = speed_panel(times, "Time of moving the bytes / time of decoding them (%)",
                            [](const DequantizeTimes& t) { return 100 * t.share_of_bandwidth(); });
  share.references = {{100, "as fast as moving them"}};
  return {.title = fmt::format("Share of bandwidth on {}; best of {} runs and more",
                               processor_text(found.device, found.threads),
                               std::ranges::min(times, {}, &DequantizeTimes::runs).runs),
          .panels = {share}};
}

Block tiles_block(const DrawnArray& drawn, const fs::path& folder,
                  std::vector<std::string>& notes) {
  const std::string dot = draw_tiles(mase_cuda_tiling(drawn.elements, drawn.group),
                                     kernels::dequantize_partition(drawn.elements, 2));
  try {
    for (const char* extension : {".svg", ".png"})
      write_dot(dot, folder / (std::string(drawn.stem) + extension));
  } catch (const UserError& error) {
    notes.push_back(fmt::format("{} was not drawn: {}", drawn.stem, error.what()));
    return Paragraph{notes.back()};
  }
  return PageFigure{.svg = read_file(folder / (std::string(drawn.stem) + ".svg")),
                    .narrow_svg = "",
                    .description = drawn.caption,
                    .caption = fmt::format("{}, and the chunks of hone. Draw other arrays with "
                                           "hone bench dequantize --elements N --group G --figure "
                                           "tiles",
                                           drawn.caption),
                    .file = std::string(drawn.stem) + ".svg"};
}

// Describes the element of the branch that subtracts the bias; "" if the array has none.
std::string example_text(const std::vector<DecodedElement>& spelled) {
  for (const auto& [index, e] : spelled)
    if (e.subtracts_bias)
      return fmt::format(
          "Element {} has m = {} and E = {}: out = {}, bias = {}, and the difference is {} = {} · "
          "2^({} − 133). ",
          grouped(index), e.mantissa, e.scale, bf16_value(e.out), bf16_value(e.bias),
          bf16_value(e.mase), e.mantissa, e.scale);
  return "";
}

std::string branch_text() {
  return "Decoding loop: bfloat16 has an implicit leading 1, and the integer m has none. The loop "
         "writes sign, scale E and the lower six bits of |m| into a bfloat16, out. "
         "dont_need_abs is |m| & 0x40: if it is set, it is the implicit 1, and out is correct. "
         "Otherwise out is too large by ±2^(E − 127); bias is this number, and the loop subtracts "
         "it.";
}

// Returns "For 4,096 elements in groups of 32, the tile is 32 × 32, the grid 1 × 4, and 0% of the threads are idle."
std::string tiling_text(const DrawnArray& drawn) {
  const DecodeTiling tiling = mase_cuda_tiling(drawn.elements, drawn.group);
  return fmt::format(
      "For {} elements in groups of {}, the tile is {} × {}, the grid {} × {}, and {:.0f}% of the "
      "threads are idle.",
      grouped(drawn.elements), drawn.group, tiling.tile_rows, tiling.tile_columns, tiling.grid_x(),
      tiling.grid_y(0),
      100 - 100 * static_cast<double>(tiling.elements) / static_cast<double>(tiling.threads()));
}

std::string tiles_text() {
  return "Tiles and threads: the array is a matrix with a column per group. cta_tiler = (BLK_M, "
         "BLK_K) is the share of a thread block, which local_tile selects and the block copies "
         "into shared memory. layout_sX is the tile column by column: local_partition gives "
         "thread t the element (t mod BLK_M, t div BLK_M) with the scale t div BLK_M. Guards make "
         "threads beyond the edge skip.";
}

std::string tiles_details() {
  return fmt::format(
      "A tile has {} elements: BLK_M of each of BLK_K groups. blockIdx.x and blockIdx.y select it, "
      "and blockIdx.y its BLK_K scales. Each element has one thread. local_partition of an "
      "identity tensor gives a thread its row and column; if either is beyond the edge of the "
      "matrix, the thread reads and writes nothing. Thread t loads a scale only if the tile has a "
      "group t. {} {}",
      grouped(kTileThreads), tiling_text(kFullTiles), tiling_text(kEdgeTiles));
}

Section speed_section(const std::vector<DequantizeTimes>& times, const BenchDequantizeFields& found,
                      const fs::path& folder, std::vector<std::string>& notes) {
  const DequantizeTimes& largest = times.back();
  return {
      "Speed of decoding",
      {Paragraph{fmt::format(
           "hone decodes {} elements in groups of {} to bfloat16 at {:.1f} GB/s, {:.0f}% of the "
           "speed of copying the same bytes.",
           grouped(largest.codes.count), largest.codes.group, largest.gbps(),
           100 * largest.share_of_bandwidth())},
       figure_block(speed_figure(times, found), folder / "decode",
                    "Bytes read and written per second against the number of elements, a curve for "
                    "each group size: decoded, and copied.",
                    notes),
       PageTable{
           times_table(times),
           fmt::format("On {}, by the rule of the OCP specification, to bfloat16: minimum "
                       "and median of at least {} runs, in turn with a copy. {} Tiles, grid and "
                       "calls are those of the original's GPU kernel, from the shape. Calls: "
                       "launches that it needs, more than one for very many groups.",
                       processor_text(found.device, found.threads),
                       std::ranges::min(times, {}, &DequantizeTimes::runs).runs,
                       decoding_text(times.front()))},
       figure_block(share_figure(times, found), folder / "decode_share",
                    "The time of copying the same bytes over that of decoding them", notes)},
      /*folded=*/true};
}

}  // namespace

LabStage decode_stage(const DecodeSizes& sizes, const LabRates& rates) {
  const std::size_t arrays = sizes.elements.size() * sizes.groups.size();
  const auto most = static_cast<double>(std::ranges::max(sizes.elements));
  return {.name = "decode",
          .what = fmt::format("times the decoder on {} arrays of up to {} elements", arrays,
                              grouped(std::ranges::max(sizes.elements))),
          .cost = {.seconds = seconds_of(sizes, rates), .memory_bytes = kBytesAnElement * most},
          .run = [sizes](LabRun& run) {
            return bench_dequantize(
                       {.elements = sizes.elements, .groups = sizes.groups, .runs = sizes.runs},
                       run.context)
                .fields;
          }};
}

std::vector<DecodeException> decode_exceptions() {
  std::map<std::string, std::int64_t> pairs;
  for (int scale = 0; scale < 256; ++scale)
    for (int mantissa = -128; mantissa < 128; ++mantissa) ++pairs[exception_of(mantissa, scale)];
  std::vector<DecodeException> exceptions;
  for (const auto& [what, count] : pairs)
    exceptions.push_back({what.empty() ? "all others: exactly m 2^(E - 133)" : what, count});
  return exceptions;
}

LabDecodeResult decode_result(const LabRun& run) {
  return {from_json<BenchDequantizeFields>(run.results.at("decode")), decode_exceptions()};
}

LabPart decode_part(const LabDecodeResult& found, const LabRun& run) {
  const std::vector<DequantizeTimes> times = times_of(found.bench);
  write_file(run.folder() / "decode.csv", to_csv(times_table(times)));
  LabPart part;
  const fs::path& folder = run.folder();
  part.sections = {
      {"Decoding one element",
       // All arrays have the same first codes and first scale, so these elements are also the drawn ones.
       {PageTable{decoded_table(decoded_elements(found.bench)),
                  "Two elements that the drawing of tiles and threads names, one of each branch; "
                  "bfloat16 as sign, exponent and fraction."},
        Paragraph{fmt::format("{}Of the {} pairs of a scale and a byte, {} decode to exactly m · "
                              "2^(E − 133).",
                              example_text(decoded_elements(found.bench)), grouped(256 * 256),
                              grouped(found.exceptions.front().pairs))}}},
      {"Tiles and threads",
       {tiles_block(kFullTiles, folder, part.notes), Paragraph{tiles_details()}}},
      {"Tiles and threads at the edge",
       {tiles_block(kEdgeTiles, folder, part.notes)},
       /*folded=*/true},
      {"All pairs of a scale and a byte",
       {PageTable{headed_table(found.exceptions),
                  "All 65,536 pairs of a scale E and a byte m, decoded by the rule of the original "
                  "in this run, against m · 2^(E − 133)."}},
       /*folded=*/true},
      speed_section(times, found.bench, folder, part.notes)};
  part.why = {branch_text(), tiles_text()};
  return part;
}

const Fields& fields_of(const DecodeException*) {
  using D = DecodeException;
  static const Fields fields =
      describe<D>("decode_exception", "Pairs of a scale and a byte that decode alike.",
                  field<&D::what>("what", "Which, and to what.", "Scale and byte"),
                  field<&D::pairs>("pairs", "How many of 65,536.", "Pairs"));
  return fields;
}

const Fields& fields_of(const LabDecodeResult*) {
  using L = LabDecodeResult;
  static const Fields fields = describe<L>(
      "lab_decode", "Decoding of MXINT8 to memory, as `bench dequantize` times it.",
      inlined<&L::bench>(),
      field<&L::exceptions>("exceptions",
                            "What pairs of a scale E and a byte m decode to, if not to m 2^(E - "
                            "133), and all others."));
  return fields;
}

}  // namespace hone
