#include <algorithm>
#include <array>
#include <cmath>

#include "hone/cuda/coded_rows.h"
#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/packed_plan.h"
#include "hone/formats/coded_rows.h"
#include "hone/runtime/native_formats.h"

// Products of codes: rounding inputs to bytes, and products that scale their sums in registers. Each weight is kept as
// bytes in addition to its codes.
namespace hone::cuda {
namespace {

// ---- attributes and operands, as in hone/ops/packed_linear.cpp

constexpr std::size_t kNativeCodes = 1, kNativeBias = 3, kNativeResidual = 4;

bool adds_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }
bool rounds_output(const Attributes& attributes) {
  return attributes.find("output_format") != nullptr;
}
std::size_t first_state(const Attributes& attributes) {
  return adds_residual(attributes) ? kNativeResidual + 1 : kNativeResidual;
}
const Format& format_in(const Attributes& attributes, std::string_view name) {
  return attributes.get<Format>(name);
}

// ---- rows of codes

bool has_blocks(const Format& format) { return format.def->name == "mxint"; }

float code_bound(const Format& format) {
  return std::ldexp(1.0f, static_cast<int>(format["bits"]) - 1) - 1;
}

CodeBlocks code_blocks(const Format& mxint) {
  const auto bits = static_cast<int>(mxint["bits"]);
  // The smallest power of two without saturation, see formats/mxint.cpp.
  const std::uint32_t next =
      mxint.is("scale", "ceil") ? (1u << 23) - (1u << (25 - bits)) + 1 : 1u << 23;
  return {code_bound(mxint), bits - 2, next};
}

constexpr std::int64_t kNativeThreads = 256, kNativeWarp = 32;

void run_encode_rows(Call& call) {
  const Tensor& x = call.input(0);
  const Format& format = format_in(call.attributes, "format");
  const CodedRows rows = coded_rows(format, x.sizes(), call.output());
  if (rows.rows == 0) return;
  constexpr std::int64_t kColumnsOfWarp = 1024;
  const std::int64_t threads =
      has_blocks(format) || rows.columns <= kColumnsOfWarp ? kNativeWarp : kNativeThreads;
  const Program program = {"coded_rows.cu",
                           {value_definition(x.dtype()), "THREADS=" + std::to_string(threads)}};
  const Extent grid = {ceil_divide(rows.rows, kNativeThreads / threads)},
               block = {threads, kNativeThreads / threads};
  const std::byte* const from = x.device_pointer();
  if (has_blocks(format))
    return launch(call.device, {program, "encode_blocks", grid, block}, rows, code_blocks(format),
                  from);
  launch(call.device, {program, "encode_rows", grid, block}, rows,
         code_grid(format, optional_floats(call, 1)), from);
}

// ---- weights

/// A weight as bytes in the GPU's memory.
struct ByteWeight {
  ByteMatrix matrix = {};
  std::int64_t columns = 0;
  StoragePointer memory = {};
};

WholeNumbers whole_numbers(const PackedPlan& plan, float unit) {
  WholeNumbers numbers = {};
  for (std::size_t code = 0; code < plan.units.units.size(); ++code)
    if (!std::isnan(plan.units.units[code]))
      numbers.of[code ^ static_cast<std::size_t>(plan.weight.flip)] =
          static_cast<std::int8_t>(std::lround(plan.units.units[code] / unit));
  return numbers;
}

/// The sizes of a weight as bytes.
struct ByteWeightShape {
  std::int64_t rows, columns, stride;
  std::int64_t blocks;  ///< per row, each with a scale; 0: one scale per row

  explicit ByteWeightShape(const Attributes& attributes) {
    const Sizes sizes = resolve(attributes.get<Shape>("shape"), {});
    const Format& input = format_in(attributes, "input_format");
    rows = sizes[0];
    columns = sizes[1];
    stride = kernels::Int8Shape{1, columns, columns}.stride();
    blocks = has_blocks(input) ? ceil_divide(columns, input["block"]) : 0;
  }
  std::int64_t bytes() const {
    const std::int64_t scales = rows * std::max<std::int64_t>(1, blocks);
    return rows * stride + scales * static_cast<std::int64_t>(sizeof(float));
  }
};

ByteWeight byte_weight(const Call& call) {
  const PackedPlan plan = packed_plan(call.attributes);
  const ByteWeightShape shape(call.attributes);
  ByteWeight weight{.columns = shape.columns};
  weight.memory = call.device.allocate(static_cast<std::size_t>(shape.bytes()));
  auto* const memory = weight.memory->pointer;
  weight.matrix = {.rows = shape.rows,
                   .stride = shape.stride,
                   .bytes = reinterpret_cast<std::int8_t*>(memory),
                   .scales = reinterpret_cast<float*>(memory + shape.rows * shape.stride),
                   .unit = smallest_unit(plan.units)};
  const std::size_t states = first_state(call.attributes) +
                             (rounds_output(call.attributes)
                                  ? states_of(format_in(call.attributes, "output_format")).size()
                                  : 0);
  const Program program = {"coded_rows.cu", {"BITS=" + std::to_string(plan.bits)}};
  launch(call.device,
         {program,
          "weight_bytes",
          {ceil_divide(shape.rows, kNativeThreads / kNativeWarp)},
          {kNativeWarp, kNativeThreads / kNativeWarp}},
         weight_in(call, plan, kNativeCodes, states), plan.tables,
         whole_numbers(plan, weight.matrix.unit), weight.matrix, shape.blocks);
  return weight;
}

PreparedMemory byte_weight_memory(const CallSite& site, std::span<const Tensor* const>,
                                  ThreadPool&) {
  return {.bytes = ByteWeightShape(site.attributes).bytes()};
}

std::shared_ptr<const void> weight_once(const Call& call) {
  return std::make_shared<ByteWeight>(byte_weight(call));
}

// ---- products

/// The tiles of byte_product.cu: a tile has `warps_down` times `warps_across` warps.
struct ByteTiling {
  int stages, warps_down, warps_across, warp_rows, warp_columns;
  bool alone;  ///< a multiprocessor has registers for one tile at a time

  std::int64_t rows() const { return std::int64_t{1} * warps_down * warp_rows; }
  std::int64_t columns() const { return std::int64_t{1} * warps_across * warp_columns; }
  std::int64_t threads() const { return kNativeWarp * warps_down * warps_across; }
  std::size_t shared_bytes(int chunk) const {
    const std::int64_t lines = rows() + columns(), parts = chunk == 0 ? 0 : kNativeWarp / chunk;
    return static_cast<std::size_t>(lines * (64 * stages + 8 * parts * (stages + 1)));
  }
  std::vector<std::string> definitions() const {
    return {fmt::format("STAGES={}", stages), fmt::format("WARPS_DOWN={}", warps_down),
            fmt::format("WARPS_ACROSS={}", warps_across), fmt::format("WARP_ROWS={}", warp_rows),
            fmt::format("WARP_COLUMNS={}", warp_columns)};
  }
};

// Tiles of 128 x 192, 128 x 96, 64 x 96 and 16 x 64 results. The last one is for few rows, where reading the weight
// takes most of the time.
constexpr std::array<ByteTiling, 4> kByteTilings = {{{4, 2, 4, 64, 48, true},
                                                     {4, 2, 2, 64, 48, false},
                                                     {4, 2, 2, 32, 48, false},
                                                     {12, 1, 4, 16, 16, false}}};

/// The product that a tiling is chosen for: rows x columns results, each a sum over `inner` bytes, `chunk` of them at a
/// time.
struct TiledWork {
  std::int64_t rows, columns, inner;
  int chunk;
  bool activates;
};

// Estimates the cycles of the busiest multiprocessor from the rates of an H100: 30 bytes from the L2 cache and 128
// thread instructions per cycle. A tile that is alone cannot overlap its epilogue with other work. Results do not
// depend on the choice.
double tiling_cycles(const ByteTiling& tiling, const TiledWork& work, const GpuInfo& gpu) {
  constexpr double kBytes = 30, kThreadInstructions = 128, kActivation = 45, kPlain = 10;
  const auto lines = static_cast<double>(tiling.rows() + tiling.columns());
  const auto results = static_cast<double>(tiling.rows() * tiling.columns());
  const double loading = lines * static_cast<double>(work.inner) / kBytes;
  const double finishing = results * (work.activates ? kActivation : kPlain) / kThreadInstructions;
  const std::int64_t tiles =
      ceil_divide(work.rows, tiling.rows()) * ceil_divide(work.columns, tiling.columns());
  return static_cast<double>(ceil_divide(tiles, gpu.multiprocessors)) *
         (tiling.alone ? loading + finishing : std::max(loading, finishing));
}

const ByteTiling& tiling_for(const TiledWork& work, const GpuInfo& gpu) {
  const auto fits = [&](const ByteTiling& tiling) {
    return tiling.shared_bytes(work.chunk) <= static_cast<std::size_t>(gpu.shared_bytes_per_block);
  };
  const ByteTiling* best = nullptr;
  for (const ByteTiling& tiling : kByteTilings)
    if (fits(tiling) &&
        (best == nullptr || tiling_cycles(tiling, work, gpu) < tiling_cycles(*best, work, gpu)))
      best = &tiling;
  HONE_ASSERT(best != nullptr, "no tiles fit into {} bytes", gpu.shared_bytes_per_block);
  return *best;
}

std::string_view multiplies_bytes(const CallSite& site) {
  const std::string_view objection = sums_of_codes(site);
  if (!objection.empty()) return objection;
  const PackedPlan plan = packed_plan(site.attributes);
  if (!plan.objection.empty()) return plan.objection;
  if (plan.weight.panels == 0) return "the weight is not packed in panels";
  if (plan.weight.zero_points != 0 && plan.bits > 7)
    return "codes of 8 bits minus a zero point do not fit into bytes";
  return "";
}

// Returns how many columns are summed at a time if blocks have scales; 0: rows have one scale.
int chunk_of(const Format& input) {
  if (!has_blocks(input)) return 0;
  return input["block"] % 32 == 0 ? 32 : 16;
}

void multiply_bytes(Call& call, const ByteWeight& weight) {
  const Attributes& attributes = call.attributes;
  const Format& input = format_in(attributes, "input_format");
  Sizes sizes = call.input(0).sizes();
  sizes.back() = weight.columns;
  const CodedRows x = coded_rows(input, sizes, call.input(0));
  const std::byte* const residual =
      adds_residual(attributes) ? call.input(kNativeResidual).device_pointer() : nullptr;
  const Tensor& bias = call.input(kNativeBias);
  const Tensor& y = call.output();
  ProductEnds ends = {};
  ends.bias = bias.device_pointer();
  ends.residual = residual;
  std::int64_t columns = weight.matrix.rows;
  if (x.rows == 0 || columns == 0) return;
  if (rounds_output(attributes)) {
    const Format& format = format_in(attributes, "output_format");
    sizes.back() = columns;
    ends.codes = coded_rows(format, sizes, y);
    ends.grid = code_grid(format, floats(call, first_state(attributes)));
    columns = ends.codes.stride;
    fill_zeros(call.device, ends.codes.scales, static_cast<std::size_t>(x.rows) * sizeof(float));
  } else {
    ends.values = y.device_pointer();
  }
  const int chunk = chunk_of(input);
  const auto& activation = attributes.get<std::string>("activation");
  const ByteTiling& tiling = tiling_for({x.rows, columns, x.stride, chunk, activation != "none"},
                                        device_of(call.device).info());
  Program program = {"byte_product.cu", tiling.definitions()};
  program.definitions.insert(program.definitions.end(),
                             {value_definition(bias.dtype()), "CHUNK=" + std::to_string(chunk),
                              activation_definition(activation)});
  const std::int64_t across = ceil_divide(columns, tiling.columns());
  launch(call.device,
         {program,
          "byte_product",
          {ceil_divide(x.rows, tiling.rows()) * across},
          {tiling.threads()},
          tiling.shared_bytes(chunk)},
         x, weight.matrix, ends, across);
}

void run_native_linear(Call& call) {
  if (call.prepared != nullptr)
    return multiply_bytes(call, *static_cast<const ByteWeight*>(call.prepared));
  multiply_bytes(call, byte_weight(call));
}

}  // namespace

CodedRows coded_rows(const Format& format, const Sizes& sizes, const Tensor& memory) {
  const kernels::Int8Rows rows =
      kernels::int8_rows(coded_rows_shape(format, sizes), memory.device_pointer());
  const std::int64_t columns = rows.shape.columns,
                     block = has_blocks(format) ? format["block"] : columns;
  return {rows.shape.rows, columns,     rows.shape.stride(), block, ceil_divide(columns, block),
          rows.codes,      rows.scales, rows.starts};
}

CodeGrid code_grid(const Format& format, const float* scale) { return {code_bound(format), scale}; }

KernelTable native_kernels() {
  KernelTable table = {{"encode_rows", "cuda", "rows", has_fast_codes, run_encode_rows},
                       {"native_linear", "cuda", "bytes", multiplies_bytes, run_native_linear,
                        Layout::dense, weight_once, nullptr, PeakKind::int8_gops},
                       {"native_linear_codes", "cuda", "bytes", multiplies_bytes, run_native_linear,
                        Layout::dense, weight_once, nullptr, PeakKind::int8_gops}};
  for (Kernel& row : table) {
    row.values = KernelValues::f32_and_halves;
    if (row.prepare != nullptr) row.prepared_memory = byte_weight_memory;
  }
  return table;
}

}  // namespace hone::cuda
