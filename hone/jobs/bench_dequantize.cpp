#include "hone/jobs/bench_dequantize.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/analysis/draw.h"
#include "hone/analysis/tile_drawing.h"
#include "hone/base/cpu.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/decode_on_gpu.h"
#include "hone/jobs/device_time.h"
#include "hone/jobs/paired_times.h"
#include "hone/report/table.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

using kernels::MxintCodes;
using kernels::MxintElement;

// From a vector to the feed-forward weights of a model with 70 · 10^9 parameters, 8192 x 28672.
constexpr std::int64_t kElements[] = {1024,       16'384,     262'144,    4'194'304,
                                      16'777'216, 58'720'256, 234'881'024};
constexpr std::int64_t kGroups[] = {8, 16, 32, 64, 128, 256, 512};

std::int64_t value_bytes_of(const DequantizeJob& job) { return job.to_float ? 4 : 2; }

MxintCodes codes_of(std::int64_t elements, std::int64_t group, int bits) {
  return {.count = elements, .group = group, .bits = bits};
}

double needed_bytes(const MxintCodes& array, const DequantizeJob& job, bool on_host) {
  return on_host ? static_cast<double>(decode_bytes(array, value_bytes_of(job)))
                 : GpuDecoder::needed_bytes(array, value_bytes_of(job));
}

// The arrays, ordered by their number of elements.
std::vector<MxintCodes> arrays_of(const DequantizeJob& job, const Context& context) {
  const std::optional<std::size_t> of_device = context.device->free_bytes();
  const double available = of_device ? static_cast<double>(*of_device) : available_bytes();
  std::vector<std::int64_t> groups = job.groups, elements = job.elements;
  if (groups.empty()) groups.assign(std::begin(kGroups), std::end(kGroups));
  if (elements.empty()) elements.assign(std::begin(kElements), std::end(kElements));
  std::vector<MxintCodes> arrays;
  for (const std::int64_t count : elements) {
    const double needed =
        needed_bytes(codes_of(count, std::ranges::min(groups), job.bits), job, !of_device);
    if (needed > available) {
      const std::string why =
          fmt::format("{} elements take {}, and {} are available", grouped(count),
                      human_bytes(needed), human_bytes(available));
      user_check(job.elements.empty(), "not enough memory: {}; take fewer (`elements`)", why);
      print_notes(context, {fmt::format("skipped: {}", why)});
      continue;
    }
    for (const std::int64_t group : groups) arrays.push_back(codes_of(count, group, job.bits));
  }
  return arrays;
}

// Allocates codes and scales for the largest array on the host, with arbitrary codes.
Tensor codes_for(const std::vector<MxintCodes>& arrays, ThreadPool& pool) {
  std::int64_t code_bytes = 0, all_bytes = 0;
  for (const MxintCodes& array : arrays) {
    code_bytes = std::max(code_bytes, array.code_bytes());
    all_bytes = std::max(all_bytes, read_bytes(array));
  }
  const Tensor codes = Tensor::empty(DType::u8, {all_bytes});
  auto* const code = codes.data<std::uint8_t>();
  parallel_ranges(pool, code_bytes, 1 << 20, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      code[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15 >> 56);
  });
  return codes;
}

// Places the array in this memory: scales around 1 follow the codes, so that one contiguous piece is read.
MxintCodes placed(const MxintCodes& array, const Tensor& memory) {
  MxintCodes codes = array;
  auto* const begin = memory.data<std::uint8_t>();
  codes.codes = begin;
  codes.scales = begin + codes.code_bytes();
  for (std::int64_t i = 0; i < codes.groups(); ++i)
    begin[codes.code_bytes() + i] = static_cast<std::uint8_t>(120 + i % 11);
  return codes;
}

struct DecodeWorks {
  std::function<void()> decode, move;
};

/// The memory in which arrays are decoded; `load` each before it is timed.
class DecodePlace {
 public:
  DecodePlace(const std::vector<MxintCodes>& arrays, std::int64_t value_bytes, Context& context)
      : pool_(context.pool), value_bytes_(value_bytes) {
    if (cuda::CudaDevice* const gpu = gpu_of(*context.device)) {
      on_gpu_.emplace(arrays, value_bytes, *gpu);
      cache_bytes_ = gpu->info().cache_bytes;
      return;
    }
    std::int64_t elements = 0;
    for (const MxintCodes& array : arrays) elements = std::max(elements, array.count);
    values_ = Tensor::zeros(DType::u8, {elements * value_bytes});
    cache_bytes_ = last_level_cache_bytes();
  }

  /// Stores in `result` how the work is partitioned.
  DecodeWorks load(const MxintCodes& codes, DequantizeTimes& result) {
    result.in_cache = static_cast<std::uint64_t>(result.bytes) <= cache_bytes_;
    if (on_gpu_) {
      on_gpu_->load(codes, pool_);
      return {[this] { on_gpu_->decode(); }, [this] { on_gpu_->move(); }};
    }
    const auto partition = kernels::dequantize_partition(codes.count, value_bytes_);
    result.partition = partition;
    return {[this, codes] { decode_on_host(codes); },
            [this, codes, partition] {
              kernels::move_bytes(pool_, partition.chunks, partition.non_temporal,
                                  read_bytes(codes), codes.codes, codes.count * value_bytes_,
                                  values_.data<std::uint8_t>());
            }};
  }

 private:
  void decode_on_host(const MxintCodes& codes) {
    constexpr auto kDialect = kernels::MxintDialect::ocp;
    auto* const values = values_.data<std::uint8_t>();
    if (value_bytes_ == 4) {
      kernels::dequantize(pool_, codes, kDialect, reinterpret_cast<float*>(values));
    } else {
      kernels::dequantize(pool_, codes, kDialect, reinterpret_cast<std::uint16_t*>(values));
    }
  }

  ThreadPool& pool_;
  std::int64_t value_bytes_;
  std::uint64_t cache_bytes_ = 0;
  Tensor values_;  // on the host
  std::optional<GpuDecoder> on_gpu_;
};

DequantizeTimes time_array(const DequantizeJob& job, const MxintCodes& codes, DecodePlace& place,
                           Device& device) {
  DequantizeTimes result;
  result.codes = codes_of(codes.count, codes.group, codes.bits);
  result.bytes = decode_bytes(codes, value_bytes_of(job));
  if (codes.bits == 8 && codes.count % codes.group == 0)
    result.tiling = mase_cuda_tiling(codes.count, codes.group);
  const DecodeWorks both = place.load(codes, result);
  const auto run = [&] {
    both.decode();
    device.wait();
  };
  run();
  result.runs = job.runs > 0 ? job.runs : (run_ms(run) > 200 ? 12 : 60);
  const std::function<void()> works[] = {both.decode, both.move};
  std::vector<std::vector<double>> times = rounds_in_turn(works, result.runs, {}, clock_of(device));
  for (std::vector<double>& of_one : times) std::ranges::sort(of_one);
  const std::vector<double>&decoded = times[0], &moved = times[1];
  result.min_ms = decoded.front();
  result.median_ms = median_of_sorted(decoded);
  result.move_min_ms = moved.front();
  result.move_median_ms = median_of_sorted(moved);
  return result;
}

// Returns an element of either branch, if the first elements have one that is no exception.
std::vector<DecodedElement> decoded_elements(const MxintCodes& codes) {
  std::vector<DecodedElement> spelled;
  for (const bool subtracts : {true, false}) {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(codes.count, 1024); ++i) {
      const MxintElement element = kernels::decompose_mxint(
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

DecodedElementResult element_result(const DecodedElement& spelled) {
  const MxintElement& e = spelled.element;
  return {.element = spelled.index,
          .code = binary(e.mantissa, e.bits),
          .mantissa = e.mantissa,
          .scale = e.scale,
          .sign = e.negative ? 1 : 0,
          .exponent = binary(e.scale, 8),
          .fraction = binary(e.out, 7),
          .unit = e.has_unit ? 1 : 0,
          .out = bfloat16_text(e.out),
          .bias = bfloat16_text(e.bias),
          .branch = e.subtracts_bias ? "out - bias" : "out",
          .bfloat16 = bfloat16_text(e.mase),
          .value = value_of(e.mase)};
}

DecodeTimesResult decode_result(const DequantizeTimes& times) {
  DecodeTimesResult result{.elements = times.codes.count,
                           .group = times.codes.group,
                           .bytes = times.bytes,
                           .min_ms = times.min_ms,
                           .median_ms = times.median_ms,
                           .timed_runs = times.runs,
                           .gb_per_s = times.gbps(),
                           .move_min_ms = times.move_min_ms,
                           .move_median_ms = times.move_median_ms,
                           .move_gb_per_s = times.move_gbps(),
                           .share_of_bandwidth = times.share_of_bandwidth(),
                           .in_cache = times.in_cache,
                           .partition = times.partition};
  if (const auto& t = times.tiling)
    result.tiles = {.tile_rows = t->tile_rows,
                    .tile_columns = t->tile_columns,
                    .grid_x = t->grid_x(),
                    .grid_y = t->grid_y(0),
                    .calls = t->calls,
                    .threads = t->threads()};
  return result;
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

std::vector<DequantizeTimes> times_of(const BenchDequantizeFields& fields) {
  std::vector<DequantizeTimes> all;
  for (const DecodeTimesResult& row : fields.times) {
    DequantizeTimes times{.codes = codes_of(row.elements, row.group, fields.bits),
                          .bytes = row.bytes,
                          .min_ms = row.min_ms,
                          .median_ms = row.median_ms,
                          .move_min_ms = row.move_min_ms,
                          .move_median_ms = row.move_median_ms,
                          .runs = row.timed_runs,
                          .in_cache = row.in_cache,
                          .partition = row.partition,
                          .tiling = {}};
    if (row.tiles) times.tiling = mase_cuda_tiling(row.elements, row.group);
    all.push_back(times);
  }
  return all;
}

std::vector<DecodedElement> decoded_elements(const BenchDequantizeFields& fields) {
  std::vector<DecodedElement> spelled;
  for (const DecodedElementResult& row : fields.spelled)
    spelled.push_back(
        {row.element, kernels::decompose_mxint(fields.bits, row.mantissa,
                                               static_cast<std::uint8_t>(row.scale))});
  return spelled;
}

const Fields& kernels::fields_of(const DequantizePartition*) {
  using P = DequantizePartition;
  static const Fields fields = describe<P>(
      "decode_partition", "How threads of the CPU share the decoding of an array.",
      field<&P::chunk_elements>("chunk_elements", "Elements that a thread takes at a time."),
      field<&P::chunks>("chunks", "Chunks of the array."),
      field<&P::block_elements>("block_elements", "Elements whose scales are widened at once."),
      field<&P::vector_elements>("vector_elements", "Elements that one instruction decodes."),
      field<&P::non_temporal>("around_caches", "Whether results bypass the caches."));
  return fields;
}

const Fields& fields_of(const DecodeTilesResult*) {
  using D = DecodeTilesResult;
  static const Fields fields = describe<D>(
      "decode_tiles",
      "How mase-cuda's kernel is called: a block of threads has a tile of the matrix whose columns "
      "are the groups, a thread an element.",
      field<&D::tile_rows>("tile_rows", "Elements of a group in a tile."),
      field<&D::tile_columns>("tile_columns", "Groups in a tile."),
      field<&D::grid_x>("grid_x", "Blocks along a group."),
      field<&D::grid_y>("grid_y", "Blocks across the groups of the first call."),
      field<&D::calls>("calls", "Calls of the kernel."),
      field<&D::threads>("threads", "Threads of all blocks, those without an element included."));
  return fields;
}

const Fields& fields_of(const DecodeTimesResult*) {
  using D = DecodeTimesResult;
  static const Fields fields = describe<D>(
      "decode_times", "Decoding an array to memory, timed in turn with copying as many bytes.",
      field<&D::elements>("elements", "Elements of the array."),
      field<&D::group>("group", "Elements that share a scale."),
      field<&D::bytes>("bytes", Unit::bytes, "Read and written: codes, scales and values."),
      field<&D::min_ms>("min_ms", Unit::milliseconds, "Fastest run."),
      field<&D::median_ms>("median_ms", Unit::milliseconds, "Median run."),
      field<&D::timed_runs>("timed_runs", "Counted runs, of decoding and of copying each."),
      field<&D::gb_per_s>("gb_per_s", Unit::gigabytes_per_second,
                          "Those bytes in the fastest run."),
      field<&D::move_min_ms>("move_min_ms", Unit::milliseconds, "Fastest run of copying them."),
      field<&D::move_median_ms>("move_median_ms", Unit::milliseconds,
                                "Median run of copying them."),
      field<&D::move_gb_per_s>("move_gb_per_s", Unit::gigabytes_per_second,
                               "Those bytes in the fastest run of copying."),
      field<&D::share_of_bandwidth>("share_of_bandwidth", Unit::ratio,
                                    "Fastest run of copying by the fastest run of decoding."),
      field<&D::in_cache>("in_cache",
                          "Whether the bytes fit into the last-level cache of the device."),
      field<&D::partition>("partition", "How threads share the work; null: on a GPU."),
      field<&D::tiles>(
          "tiles",
          "How mase-cuda cuts up the work on a GPU; null: it supports 8 bits and whole "
          "groups only."));
  return fields;
}

const Fields& fields_of(const DecodedElementResult*) {
  using S = DecodedElementResult;
  static const Fields fields = describe<S>(
      "spelled_element",
      "An element of MXINT decoded by the rule of mase-cuda. Bits of a bfloat16 are written as "
      "sign, exponent and fraction.",
      field<&S::element>("element", "Its index in the array."),
      field<&S::code>("code", "Its bits, in two's complement."),
      field<&S::mantissa>("mantissa", "The number m that they encode."),
      field<&S::scale>("scale", "Scale of its group, from 0 to 255."),
      field<&S::sign>("sign", "1: m is negative."),
      field<&S::exponent>("exponent", "The bits of the scale."),
      field<&S::fraction>("fraction", "|m| below the unit, as the fraction of a bfloat16."),
      field<&S::unit>("unit", "The bit of |m| for the unit, |m| & 0x40, or 0x4 of 4 bits."),
      field<&S::out>("out", "The bfloat16 of sign, exponent and fraction."),
      field<&S::bias>("bias", "The bfloat16 of sign and exponent alone."),
      field<&S::branch>("branch", "\"out - bias\" without the unit, else \"out\"."),
      field<&S::bfloat16>("bfloat16", "The result."),
      field<&S::value>("value", "The result as a number: m times a power of two."));
  return fields;
}

const Fields& fields_of(const BenchDequantizeFields*) {
  using B = BenchDequantizeFields;
  static const Fields fields = describe<B>(
      "bench", "How long the decoding of MXINT arrays takes.",
      field<&B::what>("what", kTimedMeaning), field<&B::device>("device", kDeviceMeaning),
      field<&B::bits>("bits", Unit::bits, "Of an element without its scale."),
      field<&B::threads>("threads", kThreadsMeaning), field<&B::times>("times", "Every array."),
      field<&B::spelled>("spelled",
                         "Elements of the first array: one that subtracts the bias and one that "
                         "does not, if it contains them."));
  return fields;
}

Table decoded_table(std::vector<DecodedElement> spelled) {
  std::ranges::sort(spelled, {}, &DecodedElement::index);
  std::vector<Column> columns = {{"part", "Field"}};
  for (const DecodedElement& s : spelled)
    columns.push_back(
        {fmt::format("element_{}", s.index), fmt::format("Element {}", grouped(s.index))});
  Table result(std::move(columns));
  const auto add = [&](const std::string& part, auto&& text_of) {
    std::vector<Cell> cells = {part};
    for (const DecodedElement& s : spelled) cells.emplace_back(text_of(s.element));
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
    return e.has_unit ? "set: the leading 1" : "clear: no leading 1";
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
  Table table({{"elements", "Elements"},
               {"group", "Group"},
               {"min_us", "Minimum (µs)"},
               {"median_us", "Median (µs)"},
               {"gb_per_s", "GB/s"},
               {"move_gb_per_s", "Copy GB/s"},
               {"share_of_bandwidth", "Share of copy"},
               {"in_cache", "In cache"},
               {"tile_rows", "Tile rows"},
               {"tile_columns", "Tile columns"},
               {"grid_x", "Grid x"},
               {"grid_y", "Grid y"},
               {"calls", "Calls"}});
  for (const DequantizeTimes& t : all) {
    const auto tiles = [&](auto&& count_of) {
      return t.tiling ? Cell(count_of(*t.tiling)) : Cell(absent);
    };
    table.add_row({t.codes.count, t.codes.group, real(t.min_ms * 1e3, 2),
                   real(t.median_ms * 1e3, 2), real(t.gbps(), 1), real(t.move_gbps(), 1),
                   percent(t.share_of_bandwidth()), t.in_cache ? "yes" : "no",
                   tiles([](const DecodeTiling& d) { return d.tile_rows; }),
                   tiles([](const DecodeTiling& d) { return d.tile_columns; }),
                   tiles([](const DecodeTiling& d) { return d.grid_x(); }),
                   tiles([](const DecodeTiling& d) { return d.grid_y(0); }),
                   tiles([](const DecodeTiling& d) { return d.calls; })});
  }
  return table;
}

std::string decoding_text(const DequantizeTimes& times) {
  const std::string shares =
      "A share above 100% means that the copy, which moves the same bytes, was slower than "
      "decoding; why was not measured.";
  if (!times.partition)
    return "The copy is within the memory of the GPU. Arrays in a cache say nothing about the "
           "bandwidth of memory. " +
           shares;
  const kernels::DequantizePartition& ours = *times.partition;
  return fmt::format(
      "Threads take chunks of {} elements, widen the scales of {} at a time and decode vectors of "
      "{}. Results larger than the last-level cache bypass them. {}",
      grouped(ours.chunk_elements), grouped(ours.block_elements), ours.vector_elements, shares);
}

namespace {

void describe_decoding(const std::string& what, const std::string& where,
                       DequantizeResult& result) {
  const std::vector<DequantizeTimes>& times = result.times;
  const DequantizeTimes& largest =
      *std::ranges::max_element(times, {}, [](const DequantizeTimes& t) { return t.codes.count; });
  const auto [least, most] = std::ranges::minmax(
      times, {}, [](const DequantizeTimes& t) { return t.share_of_bandwidth(); });
  Document& document = result.document;
  document.title = fmt::format("{} on {}", what, where);
  document.headline =
      fmt::format("{} on {}: {} GB/s with {} elements, {} of the speed of a copy", what, where,
                  three_digits(largest.gbps()), grouped(largest.codes.count),
                  share_text(largest.share_of_bandwidth()));
  document.key_figures = {
      {"Largest array",
       fmt::format("{} ms, {} GB/s{}", three_digits(largest.min_ms), three_digits(largest.gbps()),
                   largest.in_cache ? ", in cache" : "")},
      {"Share of copy speed", times.size() == 1
                                  ? share_text(least.share_of_bandwidth())
                                  : fmt::format("{} to {}", share_text(least.share_of_bandwidth()),
                                                share_text(most.share_of_bandwidth()))}};
  document.evidence = fmt::format(
      "Minimum of at least {} runs of each array, in turn with a copy of the same bytes.",
      std::ranges::min(times, {}, &DequantizeTimes::runs).runs);
  document.sections = {{"", {PageTable{times_table(times)}}}};
  if (!result.spelled.empty())
    document.sections.push_back(
        {"Elements by the rule of mase-cuda", {PageTable{decoded_table(result.spelled)}}});
  document.sections.push_back(
      {"How to read this", {Paragraph{decoding_text(times.front())}}, /*folded=*/true});
}

}  // namespace

DequantizeResult bench_dequantize(const DequantizeJob& job, Context& context) {
  usage_check(job.figure.empty() || job.bits == 8,
              "`figure`: mase-cuda supports 8-bit elements only, got {}; leave it out", job.bits);
  usage_check(job.figure.empty() || context.device->host_accessible(),
              "`figure`: draws how CPU threads share the work; leave it out, or the device");
  for (const char* extension : {".svg", ".png"})
    if (!job.figure.empty()) check_output_file(job.figure + extension, job.overwrite);
  const std::vector<MxintCodes> arrays = arrays_of(job, context);
  user_check(!arrays.empty(), "not enough memory for any array; give fewer `elements`");
  if (!job.figure.empty()) draw_first(job, arrays.front());
  const Tensor memory = codes_for(arrays, context.pool);
  DecodePlace place(arrays, value_bytes_of(job), context);
  DequantizeResult result;
  Progress progress("dequantize", static_cast<std::int64_t>(arrays.size()),
                    {.unit = "arrays", .end = ProgressEnd::vanishes, .output = context.progress});
  for (const MxintCodes& array : arrays) {
    const MxintCodes codes = placed(array, memory);
    if (result.spelled.empty()) result.spelled = decoded_elements(codes);
    result.times.push_back(time_array(job, codes, place, *context.device));
    progress.update(static_cast<std::int64_t>(result.times.size()));
  }
  progress.finish();
  BenchDequantizeFields fields{.what = what_of(job),
                               .device = device_text(context.session()),
                               .bits = job.bits,
                               .threads = context.pool.threads()};
  for (const DequantizeTimes& times : result.times) fields.times.push_back(decode_result(times));
  for (const DecodedElement& element : result.spelled)
    fields.spelled.push_back(element_result(element));
  result.fields = to_json(fields);
  describe_decoding(fields.what, processor_text(fields.device, fields.threads), result);
  return result;
}

}  // namespace hone
