#include "hone/jobs/bench_dequantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/analysis/draw.h"
#include "hone/analysis/tile_drawing.h"
#include "hone/base/text.h"
#include "hone/jobs/times_in_turn.h"
#include "hone/report/table.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

using kernels::MxintCodes;
using kernels::MxintElement;

// From a vector to the weights of a feed-forward of a model of 70 · 10^9 parameters, 8192 x 28672.
constexpr std::int64_t kElements[] = {1024,       16'384,     262'144,    4'194'304,
                                      16'777'216, 58'720'256, 234'881'024};
constexpr std::int64_t kGroups[] = {8, 16, 32, 64, 128, 256, 512};

std::int64_t value_bytes_of(const DequantizeJob& job) { return job.to_float ? 4 : 2; }

MxintCodes codes_of(std::int64_t elements, std::int64_t group, int bits) {
  return {.count = elements, .group = group, .bits = bits};
}

double needed_bytes(std::int64_t elements, std::int64_t group, const DequantizeJob& job) {
  const MxintCodes codes = codes_of(elements, group, job.bits);
  return static_cast<double>(codes.code_bytes()) + static_cast<double>(codes.groups()) +
         static_cast<double>(elements) * static_cast<double>(value_bytes_of(job));
}

// The arrays in the order of their elements.
std::vector<MxintCodes> arrays_of(const DequantizeJob& job, const Context& context) {
  const double available = available_bytes();
  std::vector<std::int64_t> groups = job.groups, elements = job.elements;
  if (groups.empty()) groups.assign(std::begin(kGroups), std::end(kGroups));
  if (elements.empty()) elements.assign(std::begin(kElements), std::end(kElements));
  std::vector<MxintCodes> arrays;
  for (const std::int64_t count : elements) {
    const double needed = needed_bytes(count, std::ranges::min(groups), job);
    if (needed > available) {
      const std::string why = fmt::format("{} elements take {}, and {} can be had", grouped(count),
                                          human_bytes(needed), human_bytes(available));
      user_check(job.elements.empty(), "not enough memory: {}; take fewer (`elements`)", why);
      tell_notes(context, {fmt::format("left out: {}", why)});
      continue;
    }
    for (const std::int64_t group : groups) arrays.push_back(codes_of(count, group, job.bits));
  }
  return arrays;
}

// Memory for the largest array, its codes any and its scales around 1.
struct Memory {
  Tensor codes, values;
};

Memory memory_for(const std::vector<MxintCodes>& arrays, std::int64_t value_bytes,
                  ThreadPool& pool) {
  std::int64_t code_bytes = 0, all_bytes = 0, elements = 0;
  for (const MxintCodes& array : arrays) {
    code_bytes = std::max(code_bytes, array.code_bytes());
    all_bytes = std::max(all_bytes, array.code_bytes() + array.groups());
    elements = std::max(elements, array.count);
  }
  Memory memory{.codes = Tensor::empty(DType::u8, {all_bytes}),
                .values = Tensor::zeros(DType::u8, {elements * value_bytes})};
  auto* const code = memory.codes.data<std::uint8_t>();
  parallel_ranges(pool, code_bytes, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      code[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15 >> 56);
  });
  return memory;
}

// The array in that memory: scales behind codes, so that what is read is in one piece.
MxintCodes placed(const MxintCodes& array, const Memory& memory) {
  MxintCodes codes = array;
  auto* const begin = memory.codes.data<std::uint8_t>();
  codes.codes = begin;
  codes.scales = begin + codes.code_bytes();
  for (std::int64_t i = 0; i < codes.groups(); ++i)
    begin[codes.code_bytes() + i] = static_cast<std::uint8_t>(120 + i % 11);
  return codes;
}

void decode(ThreadPool& pool, const MxintCodes& codes, bool to_float, std::uint8_t* values) {
  constexpr auto kDialect = kernels::MxintDialect::ocp;
  if (to_float) {
    kernels::dequantize(pool, codes, kDialect, reinterpret_cast<float*>(values));
  } else {
    kernels::dequantize(pool, codes, kDialect, reinterpret_cast<std::uint16_t*>(values));
  }
}

DequantizeTimes time_array(const DequantizeJob& job, const MxintCodes& codes, std::uint8_t* values,
                           ThreadPool& pool) {
  const std::int64_t value_bytes = value_bytes_of(job);
  DequantizeTimes result;
  result.codes = codes_of(codes.count, codes.group, codes.bits);
  const std::int64_t read = codes.code_bytes() + codes.groups();
  const std::int64_t written = codes.count * value_bytes;
  result.bytes = read + written;
  result.partition = kernels::dequantize_partition(codes.count, value_bytes);
  if (codes.bits == 8 && codes.count % codes.group == 0)
    result.tiling = mase_cuda_tiling(codes.count, codes.group);
  const auto run = [&] { decode(pool, codes, job.to_float, values); };
  const auto move = [&] {
    kernels::move_bytes(pool, result.partition.chunks, result.partition.around_caches, read,
                        codes.codes, written, values);
  };
  run();
  result.runs = job.runs > 0 ? job.runs : (run_ms(run) > 200 ? 12 : 60);
  const std::function<void()> works[] = {run, move};
  std::vector<std::vector<double>> times = rounds_in_turn(works, result.runs);
  for (std::vector<double>& of_one : times) std::ranges::sort(of_one);
  const std::vector<double>&decoded = times[0], &moved = times[1];
  result.min_ms = decoded.front();
  result.median_ms = median_of_sorted(decoded);
  result.move_min_ms = moved.front();
  result.move_median_ms = median_of_sorted(moved);
  return result;
}

// An element of either branch, as far as there are such among the first, and none of the exceptions.
std::vector<SpelledElement> spelled_of(const MxintCodes& codes) {
  std::vector<SpelledElement> spelled;
  for (const bool subtracts : {true, false}) {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(codes.count, 1024); ++i) {
      const MxintElement element = kernels::spell_mxint(
          codes.bits, kernels::mxint_mantissa(codes, i), codes.scales[i / codes.group]);
      const bool is_exception = element.mase != element.ocp || element.mantissa == 0;
      if (element.subtracts_bias != subtracts || is_exception) continue;
      spelled.push_back({i, element});
      break;
    }
  }
  return spelled;
}

std::string binary(int value, int digits) {
  return fmt::format("{:0{}b}", static_cast<unsigned>(value) & ((1u << digits) - 1), digits);
}

// "1 10000010 1000110": sign, exponent, fraction.
std::string bfloat16_text(std::uint16_t bits) {
  return fmt::format("{} {} {}", bits >> 15, binary(bits >> 7, 8), binary(bits, 7));
}

float value_of(std::uint16_t bfloat16) {
  return std::bit_cast<float>(std::uint32_t{bfloat16} << 16);
}

Json to_json(const SpelledElement& spelled) {
  const MxintElement& e = spelled.element;
  return {{"element", spelled.index},
          {"code", binary(e.mantissa, e.bits)},
          {"mantissa", e.mantissa},
          {"scale", e.scale},
          {"sign", e.negative ? 1 : 0},
          {"exponent", binary(e.scale, 8)},
          {"fraction", binary(e.out, 7)},
          {"unit", e.has_unit ? 1 : 0},
          {"out", bfloat16_text(e.out)},
          {"bias", bfloat16_text(e.bias)},
          {"branch", e.subtracts_bias ? "out - bias" : "out"},
          {"bfloat16", bfloat16_text(e.mase)},
          {"value", value_of(e.mase)}};
}

Json to_json(const DequantizeTimes& times) {
  const kernels::DequantizePartition& ours = times.partition;
  Json tiles;
  if (times.tiling) {
    const DecodeTiling& t = *times.tiling;
    tiles = {{"tile_rows", t.tile_rows}, {"tile_columns", t.tile_columns},
             {"grid_x", t.grid_x()},     {"grid_y", t.grid_y(0)},
             {"calls", t.calls},         {"threads", t.threads()}};
  }
  return {{"elements", times.codes.count},
          {"group", times.codes.group},
          {"bytes", times.bytes},
          {"min_ms", times.min_ms},
          {"median_ms", times.median_ms},
          {"timed_runs", times.runs},
          {"gb_per_s", times.gbps()},
          {"move_min_ms", times.move_min_ms},
          {"move_median_ms", times.move_median_ms},
          {"move_gb_per_s", times.move_gbps()},
          {"share_of_bandwidth", times.share_of_bandwidth()},
          {"partition",
           {{"chunk_elements", ours.chunk_elements},
            {"chunks", ours.chunks},
            {"block_elements", ours.block_elements},
            {"vector_elements", ours.vector_elements},
            {"around_caches", ours.around_caches}}},
          {"tiles", tiles}};
}

std::string what_of(const DequantizeJob& job) {
  return fmt::format("mxint{} to {}", job.bits, job.to_float ? "fp32" : "bf16");
}

void draw_first(const DequantizeJob& job, const MxintCodes& array) {
  const std::string dot =
      draw_tiles(mase_cuda_tiling(array.count, array.group),
                 kernels::dequantize_partition(array.count, value_bytes_of(job)));
  for (const char* extension : {".svg", ".png"}) write_dot(dot, job.figure + extension);
}

}  // namespace

std::vector<DequantizeTimes> times_of(const Json& fields) {
  std::vector<DequantizeTimes> all;
  for (const Json& row : fields.at("times")) {
    const Json& ours = row.at("partition");
    DequantizeTimes times{.codes = codes_of(row.at("elements"), row.at("group"), fields.at("bits")),
                          .bytes = row.at("bytes"),
                          .min_ms = row.at("min_ms"),
                          .median_ms = row.at("median_ms"),
                          .move_min_ms = row.at("move_min_ms"),
                          .move_median_ms = row.at("move_median_ms"),
                          .runs = row.at("timed_runs"),
                          .partition = {.chunk_elements = ours.at("chunk_elements"),
                                        .chunks = ours.at("chunks"),
                                        .block_elements = ours.at("block_elements"),
                                        .vector_elements = ours.at("vector_elements"),
                                        .around_caches = ours.at("around_caches")},
                          .tiling = {}};
    if (!row.at("tiles").is_null())
      times.tiling = mase_cuda_tiling(times.codes.count, times.codes.group);
    all.push_back(times);
  }
  return all;
}

std::vector<SpelledElement> spelled_of(const Json& fields) {
  std::vector<SpelledElement> spelled;
  for (const Json& row : fields.at("spelled"))
    spelled.push_back(
        {row.at("element"),
         kernels::spell_mxint(fields.at("bits"), row.at("mantissa"), row.at("scale"))});
  return spelled;
}

Table spelled_table(const std::vector<SpelledElement>& spelled) {
  std::vector<Column> columns = {{"part", "Part", false}};
  for (const SpelledElement& s : spelled)
    columns.push_back(
        {fmt::format("element_{}", s.index), fmt::format("Element {}", grouped(s.index)), false});
  Table result(std::move(columns));
  const auto add = [&](const std::string& part, auto&& text_of) {
    std::vector<Cell> cells = {part};
    for (const SpelledElement& s : spelled) cells.emplace_back(text_of(s.element));
    result.add_row(std::move(cells));
  };
  const int bits = spelled[0].element.bits, unit = 1 << (bits - 2);
  add("code", [](const MxintElement& e) {
    return fmt::format("{}, m = {}", binary(e.mantissa, e.bits), e.mantissa);
  });
  add("sign", [](const MxintElement& e) { return e.negative ? "1, minus" : "0, plus"; });
  add("exponent", [](const MxintElement& e) {
    return fmt::format("{} = {}, the scale of its group", binary(e.scale, 8), e.scale);
  });
  add(fmt::format("|m| & {:#x}", unit), [](const MxintElement& e) {
    return e.has_unit ? "set: the unit is there" : "clear: there is no unit";
  });
  add(fmt::format("|m| & {:#x}", unit - 1), [](const MxintElement& e) {
    return fmt::format("{} = {}/{}, the fraction", binary(e.fraction, e.bits - 2), e.fraction,
                       1 << (e.bits - 2));
  });
  add("out", [](const MxintElement& e) { return bfloat16_text(e.out); });
  add("bias", [](const MxintElement& e) { return bfloat16_text(e.bias); });
  add("branch", [](const MxintElement& e) {
    return e.subtracts_bias ? fmt::format("out - bias = {} - {}", value_of(e.out), value_of(e.bias))
                            : std::string("out as it is");
  });
  add("value", [](const MxintElement& e) {
    return fmt::format("{} = {} x 2^({} - {})", value_of(e.mase), e.mantissa, e.scale,
                       125 + e.bits);
  });
  return result;
}

Table times_table(const std::vector<DequantizeTimes>& all) {
  Table table({{"elements", "Elements", false},
               {"group", "Group", false},
               {"min_us", "Minimum (µs)"},
               {"median_us", "Median (µs)"},
               {"gb_per_s", "GB/s"},
               {"move_gb_per_s", "Moved at GB/s"},
               {"share_of_bandwidth", "Share of that"},
               {"tile", "Tile of mase-cuda"},
               {"grid", "Its grid"}});
  for (const DequantizeTimes& t : all) {
    const auto tiles = [&](auto&& text_of) {
      return t.tiling ? Cell(text_of(*t.tiling)) : Cell(absent);
    };
    table.add_row({t.codes.count, t.codes.group, real(t.min_ms * 1e3, 2),
                   real(t.median_ms * 1e3, 2), real(t.gbps(), 1), real(t.move_gbps(), 1),
                   percent(t.share_of_bandwidth()), tiles([](const DecodeTiling& d) {
                     return fmt::format("{} x {}", d.tile_rows, d.tile_columns);
                   }),
                   tiles([](const DecodeTiling& d) {
                     const std::string grid =
                         fmt::format("{} x {}", grouped(d.grid_x()), grouped(d.grid_y(0)));
                     return d.calls == 1 ? grid : fmt::format("{}, {} calls", grid, d.calls);
                   })});
  }
  return table;
}

std::string partition_text(const DequantizeTimes& times) {
  const kernels::DequantizePartition& ours = times.partition;
  return fmt::format(
      "Threads take chunks of {} elements, widen the scales of {} at a time and decode vectors of "
      "{}. Results larger than the last level of the caches go around them. A share is a ratio of "
      "two "
      "measured minima, so it may lie above 100 % by what they are off.",
      grouped(ours.chunk_elements), grouped(ours.block_elements), ours.vector_elements);
}

DequantizeResult bench_dequantize(const DequantizeJob& job, Context& context) {
  user_check(job.figure.empty() || job.bits == 8,
             "`figure`: mase-cuda has elements of 8 bits alone, got {}; leave it out", job.bits);
  for (const char* extension : {".svg", ".png"})
    if (!job.figure.empty()) check_output_file(job.figure + extension, job.overwrite);
  const std::vector<MxintCodes> arrays = arrays_of(job, context);
  user_check(!arrays.empty(),
             "not enough memory for any array of the table; give fewer `elements`");
  if (!job.figure.empty()) draw_first(job, arrays.front());
  const Memory memory = memory_for(arrays, value_bytes_of(job), context.pool);
  DequantizeResult result;
  Progress progress("dequantize", static_cast<std::int64_t>(arrays.size()),
                    {.unit = "arrays", .end = ProgressEnd::vanishes, .output = context.progress});
  for (const MxintCodes& array : arrays) {
    const MxintCodes codes = placed(array, memory);
    if (result.spelled.empty()) result.spelled = spelled_of(codes);
    result.times.push_back(
        time_array(job, codes, memory.values.data<std::uint8_t>(), context.pool));
    progress.update(static_cast<std::int64_t>(result.times.size()));
  }
  progress.finish();
  Json rows = Json::array(), spelled = Json::array();
  for (const DequantizeTimes& times : result.times) rows.push_back(to_json(times));
  for (const SpelledElement& element : result.spelled) spelled.push_back(to_json(element));
  result.fields = {{"what", what_of(job)},
                   {"bits", job.bits},
                   {"threads", context.pool.threads()},
                   {"times", rows},
                   {"spelled", spelled}};
  result.text = [what = what_of(job), threads = context.pool.threads(), times = result.times,
                 spelled = result.spelled](const TextStyle& style) {
    std::string text =
        fmt::format("{} on {}, beside moving as many bytes in the same way.\n\n{}\n{}\n", what,
                    threads == 1 ? "one thread" : fmt::format("{} threads", threads),
                    to_text(times_table(times), style), partition_text(times.front()));
    if (!spelled.empty())
      text +=
          "\nSpelled out by the rule of mase-cuda:\n\n" + to_text(spelled_table(spelled), style);
    return text;
  };
  return result;
}

}  // namespace hone
