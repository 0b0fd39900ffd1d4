#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/cuda/packed_plan.h"
#include "hone/cuda/products.h"

// Packed codes on GPUs: `unpack`, products of floats with packed weights, rows of packed tables. Nothing is copied to
// the host: kernels read scales from state tensors, by the rules of their formats in packed_plan.cpp and
// packed_weight.cuh.
namespace hone::cuda {
namespace {

std::string_view reads_packed(const CallSite& site) {
  return packed_plan(site.attributes).objection;
}

// ---- values

// Computes y[i] = row ids[i] of a weight stored by rows, or row `begin + i` if `ids` is null.
void gather_packed(Device& device, const PackedPlan& plan, const PackedWeight& weight,
                   std::int64_t count, const std::int64_t* ids, std::int64_t begin, float* y) {
  if (count == 0 || weight.columns == 0) return;
  constexpr std::int64_t kMaxBlocks = 1 << 14, kWarp = 32, kMaxThreads = 256;
  const std::int64_t threads =
      std::min(kMaxThreads, ceil_divide(ceil_divide(weight.columns, 4), kWarp) * kWarp);
  launch(device, {plan.decoder, "gather_rows", {std::min(count, kMaxBlocks)}, {threads}}, weight,
         plan.tables, count, ids, begin, y);
}

void unpack_values(Device& device, const PackedPlan& plan, const PackedWeight& weight, float* y) {
  if (weight.rows == 0 || weight.columns == 0) return;
  if (weight.panels == 0) return gather_packed(device, plan, weight, weight.rows, nullptr, 0, y);
  constexpr std::int64_t kColumns = 256, kThreads = 256;  // per block
  launch(device,
         {plan.decoder,
          "unpack_panels",
          {ceil_divide(weight.rows, kernels::kPackedRows), ceil_divide(weight.columns, kColumns)},
          {kThreads}},
         weight, plan.tables, y);
}

void run_unpack(Call& call) {
  with_plan<PackedPlan, packed_plan>(call, [&](const PackedPlan& plan) {
    const PackedWeight weight = weight_in(call, plan, 0, 2);
    unpack_values(call.device, plan, weight, pointer<float>(call.output()));
  });
}

void run_packed_embedding(Call& call) {
  with_plan<PackedPlan, packed_plan>(call, [&](const PackedPlan& plan) {
    const PackedWeight weight = weight_in(call, plan, 1, 3);
    const std::int64_t* const ids = integers(call, 0);
    gather_packed(call.device, plan, weight, call.input(0).count(), ids, 0,
                  pointer<float>(call.output()));
  });
}

void run_packed_rows(Call& call) {
  with_plan<PackedPlan, packed_plan>(call, [&](const PackedPlan& plan) {
    const PackedWeight weight = weight_in(call, plan, 0, 2);
    Tensor& y = call.output();
    gather_packed(call.device, plan, weight, y.size(0), nullptr,
                  call.attributes.get<std::int64_t>("begin"), pointer<float>(y));
  });
}

// ---- products with few rows: the arguments of packed_linear.cu

/// The same structs as in packed_linear.cu.
struct PackedProduct {
  std::int64_t tokens, slices, block_slices, padded_rows;
  std::int32_t block_shift;
  std::uint32_t factor;
};
struct ProductTables {
  std::array<std::uint16_t, 256> units, scales;
};
struct PackedEnds {
  float unit;
  const float *bias, *residual;
  float* partial;
  std::int32_t* finished;
  float* y;
};

constexpr std::int64_t kFewRows =
    64;  // up to this many rows of x, the weight is read again for every 16
constexpr std::int64_t kSlice = 256, kBlockRows = 128, kMinBlock = 16, kTile = 8;
constexpr std::int64_t kEnoughBlocks =
    264;  // the same on all GPUs, since results must not depend on it

struct LinearPlan {
  PackedPlan packed = {};
  bool few = false;  ///< whether there is a kernel for few rows
  PackedProduct product = {};
  ProductTables tables = {};
  float unit = 1;
  std::array<Program, 2> programs = {};  ///< for one and two tiles of 8 rows
  StoragePointer finished = {};          ///< counts of finished blocks, see packed_linear.cu
  Program finish = {};                   ///< the epilogue of a plain product
};

std::uint16_t upper_half(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}
bool is_bfloat16(float value) { return (std::bit_cast<std::uint32_t>(value) & 0xffff) == 0; }
bool is_power_of_two(float value) {
  int exponent = 0;
  return value > 0 && std::isfinite(value) && std::frexp(value, &exponent) == 0.5f;
}

// Returns the value of a stored code. Codes without a value (NaN) do not occur.
float stored_unit(const PackedPlan& plan, std::size_t stored) {
  return plan.units.units[stored ^ static_cast<std::size_t>(plan.weight.flip)];
}
template <typename Value>
bool units_are(const PackedPlan& plan, Value&& value) {
  for (std::size_t stored = 0; stored < plan.units.units.size(); ++stored) {
    const float unit = stored_unit(plan, stored);
    if (!std::isnan(unit) && unit != value(stored)) return false;
  }
  return true;
}

using Definitions = std::vector<std::string>;

// Sets up decoding of codes that are consecutive multiples of a step, from -2^(bits - 1) or from 0. Returns false for
// others.
bool set_whole(LinearPlan& plan, Definitions& definitions) {
  const PackedPlan& packed = plan.packed;
  if (packed.bits < 2) return false;
  const std::size_t middle = std::size_t{1} << (packed.bits - 1);
  for (const std::size_t zero : {middle, std::size_t{0}}) {
    const float step = stored_unit(packed, zero + 1);
    const auto whole = [&](std::size_t stored) {
      return (static_cast<float>(stored) - static_cast<float>(zero)) * step;
    };
    if (packed.adds && (zero != 0 || step != 1)) continue;
    if (!(step > 0) || !std::isfinite(step) || !units_are(packed, whole)) continue;
    plan.unit = step;
    definitions.insert(definitions.end(), {"DECODE=WHOLE", zero == 0 ? "ADDS=1" : "ADDS=0"});
    return true;
  }
  return false;
}

// Does the same for codes with a sign, an exponent and a fraction. Read as these fields of a bfloat16, they differ from
// their values by a power of two.
bool set_small_float(LinearPlan& plan, Definitions& definitions) {
  const PackedPlan& packed = plan.packed;
  if (packed.bits < 3 || packed.weight.flip != 0) return false;
  const std::size_t sign = std::size_t{1} << (packed.bits - 1);
  for (int mantissa = 0; mantissa < packed.bits - 1; ++mantissa) {
    const auto field = [&](std::size_t magnitude) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(magnitude << (7 - mantissa)) << 16);
    };
    const double ratio =
        static_cast<double>(stored_unit(packed, 1)) / static_cast<double>(field(1));
    const auto factor = static_cast<float>(ratio);
    if (!is_power_of_two(factor) || !std::isnormal(factor)) continue;
    const auto value = [&](std::size_t stored) {
      const float magnitude = field(stored & (sign - 1)) * factor;
      return (stored & sign) != 0 ? -magnitude : magnitude;
    };
    if (!units_are(packed, value)) continue;
    plan.product.factor = upper_half(factor) * 0x10001u;
    definitions.insert(definitions.end(),
                       {"DECODE=SMALL_FLOAT", "MANTISSA=" + std::to_string(mantissa)});
    return true;
  }
  return false;
}

bool set_table(LinearPlan& plan, Definitions& definitions) {
  const PackedPlan& packed = plan.packed;
  for (std::size_t stored = 0; stored < packed.units.units.size(); ++stored) {
    const float unit = stored_unit(packed, stored);
    if (!std::isnan(unit) && (!std::isfinite(unit) || !is_bfloat16(unit))) return false;
    plan.tables.units[stored] = std::isnan(unit) ? 0 : upper_half(unit);  // padding has such codes
  }
  definitions.emplace_back("DECODE=TABLE");
  return true;
}

bool set_decoding(LinearPlan& plan, Definitions& definitions) {
  if (plan.packed.units.half) {
    definitions.emplace_back("DECODE=BFLOAT16");
    return *plan.packed.units.half == kernels::Half::bfloat16;
  }
  if (set_whole(plan, definitions)) return true;
  if (plan.packed.adds) return false;
  return set_small_float(plan, definitions) || set_table(plan, definitions);
}

// Scales of blocks are powers of two, multiplied by the unit of the codes. Other scales belong to rows or to the whole
// weight and are applied last.
bool set_scales(LinearPlan& plan, Definitions& definitions) {
  const PackedWeight& w = plan.packed.weight;
  const bool blocks = w.source == ScaleSource::shared && w.shared_bytes == 1;
  definitions.emplace_back(blocks ? "BLOCKS=1" : "BLOCKS=0");
  if (!blocks) return w.row_groups <= 1;
  const bool one = w.group >= w.columns;
  const auto group = static_cast<std::uint64_t>(w.group);
  if (w.scale_blocks == 0 || !(one || (std::has_single_bit(group) && w.group >= kMinBlock)))
    return false;
  constexpr int kOneBlock = 30;  // no column has a higher bit
  plan.product.block_shift = one ? kOneBlock : std::countr_zero(group);
  plan.tables.scales.fill(upper_half(std::nanf("")));
  for (std::size_t code = 0; code < plan.packed.units.scales.size(); ++code) {
    const float scale = plan.packed.units.scales[code] * plan.unit;
    if (!std::isnan(scale) && scale != 0 && !is_power_of_two(scale)) return false;
    plan.tables.scales[code] = upper_half(scale);
  }
  plan.unit = 1;
  return true;
}

LinearPlan linear_plan(const Attributes& attributes) {
  LinearPlan plan{.packed = packed_plan(attributes)};
  const PackedPlan& packed = plan.packed;
  if (!packed.objection.empty()) return plan;
  const std::string activation = activation_definition(attributes.get<std::string>("activation"));
  plan.finish = {"finish_linear.cu", {activation}};
  Definitions definitions = {"BITS=" + std::to_string(packed.bits), activation};
  const PackedWeight& w = packed.weight;
  plan.few = w.panels != 0 && w.divides == 0 && set_decoding(plan, definitions) &&
             set_scales(plan, definitions);
  if (!plan.few) return plan;
  PackedProduct& product = plan.product;
  product.slices = ceil_divide(w.columns, kSlice);
  const std::int64_t blocks = ceil_divide(w.rows, kBlockRows) * product.slices;
  product.block_slices = std::clamp<std::int64_t>((blocks + kEnoughBlocks / 2) / kEnoughBlocks, 1,
                                                  std::max<std::int64_t>(1, product.slices));
  product.padded_rows = ceil_divide(w.rows, kernels::kPackedRows) * kernels::kPackedRows;
  for (const int tiles : {1, 2}) {
    Definitions of_tiles = definitions;
    of_tiles.push_back("TILES=" + std::to_string(tiles));
    plan.programs[static_cast<std::size_t>(tiles - 1)] = {"packed_linear.cu", of_tiles};
  }
  return plan;
}

// Returns the plan of a node, with zeroed block counts.
LinearPlan linear_plan_of(const Call& call) {
  LinearPlan plan = linear_plan(call.attributes);
  if (!plan.few) return plan;
  const std::int64_t counts =
      ceil_divide(plan.packed.weight.rows, kBlockRows) * ceil_divide(kFewRows, 2 * kTile);
  const std::size_t bytes = static_cast<std::size_t>(counts) * sizeof(std::int32_t);
  plan.finished = call.device.allocate(bytes);
  fill_zeros(call.device, plan.finished->pointer, bytes);
  return plan;
}

std::shared_ptr<const void> linear_plan_once(const Call& call) {
  return std::make_shared<LinearPlan>(linear_plan_of(call));
}

// Returns the shared memory of a block of packed_linear.cu: x and scales, tables, and the rings of its threads.
std::size_t few_rows_shared_bytes(const LinearPlan& plan, std::int64_t tiles) {
  const int bits = plan.packed.bits, narrowest = bits & -bits;
  const int words = bits == 16 ? 2 : bits / narrowest;
  const int depth = words >= 5 ? 2 : (8 + words - 1) / words + 1;
  constexpr int kXBytes = 2 * 8 * 3 * 32 * 8, kMaxScaleBytes = 16 * 128 * 2,
                kTableBytes = 2 * 512 + 16;
  const int buffers = tiles == 1 ? 2 : 1;
  return static_cast<std::size_t>(buffers * (kXBytes * static_cast<int>(tiles) + kMaxScaleBytes) +
                                  kTableBytes + depth * words * 256 * 16);
}

/// How the rows of x are split for the kernel for few rows.
struct FewRows {
  std::int64_t tiles, tokens, groups, parts;

  FewRows(const LinearPlan& plan, std::int64_t rows)
      : tiles(rows <= kTile ? 1 : 2),
        tokens(tiles * kTile),
        groups(ceil_divide(rows, tokens)),
        parts(std::max<std::int64_t>(
            1, ceil_divide(plan.product.slices, plan.product.block_slices))) {}
  std::int64_t bytes(const LinearPlan& plan) const {
    return groups * parts * plan.product.padded_rows * tokens *
           static_cast<std::int64_t>(sizeof(float));
  }
};

constexpr std::size_t kPackedCodes = 1, kPackedBias = 3, kPackedResidual = 4;

bool adds_packed_residual(const Attributes& attributes) { return attributes.get<bool>("residual"); }

void multiply_few(Call& call, const LinearPlan& plan, const PackedWeight& weight, std::int64_t rows,
                  const float* residual) {
  const FewRows cut(plan, rows);
  PackedProduct product = plan.product;
  product.tokens = rows;
  const Program& program = plan.programs[static_cast<std::size_t>(cut.tiles - 1)];
  const float* const x = floats(call, 0);
  constexpr std::int64_t kThreads = 256;
  launch(call.device,
         {program,
          "packed_product",
          {ceil_divide(weight.rows, kBlockRows), cut.parts, cut.groups},
          {kThreads},
          few_rows_shared_bytes(plan, cut.tiles)},
         weight, product, plan.tables,
         PackedEnds{plan.unit, floats(call, kPackedBias), residual,
                    static_cast<float*>(call.workspace),
                    reinterpret_cast<std::int32_t*>(plan.finished->pointer),
                    pointer<float>(call.output())},
         x);
}

void multiply_many(Call& call, const LinearPlan& plan, const PackedWeight& weight,
                   std::int64_t rows, const float* residual) {
  auto* const values = static_cast<float*>(call.workspace);
  auto* const y = pointer<float>(call.output());
  unpack_values(call.device, plan.packed, weight, values);
  linear_product(call.device, rows, weight.rows, weight.columns, floats(call, 0), values,
                 floats(call, kPackedBias), y);
  const bool activates = call.attributes.get<std::string>("activation") != "none";
  if (!activates && residual == nullptr) return;
  const std::int64_t count = rows * weight.rows;
  constexpr std::int64_t kMaxBlocks = 1 << 16, kThreads = 256;
  launch(call.device,
         {plan.finish,
          "finish_linear",
          {std::min(kMaxBlocks, ceil_divide(count, kThreads))},
          {kThreads}},
         count, residual, y);
}

void multiply_packed(Call& call, const LinearPlan& plan) {
  const bool adds = adds_packed_residual(call.attributes);
  const std::size_t states = adds ? kPackedResidual + 1 : kPackedResidual;
  const PackedWeight weight = weight_in(call, plan.packed, kPackedCodes, states);
  const float* const residual = adds ? floats(call, kPackedResidual) : nullptr;
  const std::int64_t outputs = weight.rows;
  const std::int64_t rows = outputs == 0 ? 0 : call.output().count() / outputs;
  if (rows == 0) return;
  if (plan.few && rows <= kFewRows) return multiply_few(call, plan, weight, rows, residual);
  multiply_many(call, plan, weight, rows, residual);
}

void run_packed_linear(Call& call) {
  if (call.prepared != nullptr)
    return multiply_packed(call, *static_cast<const LinearPlan*>(call.prepared));
  multiply_packed(call, linear_plan_of(call));
}

std::int64_t packed_linear_bytes(const CallSite& site, const Bindings& bindings) {
  const LinearPlan plan = linear_plan(site.attributes);
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  const PackedWeight& w = plan.packed.weight;
  const std::int64_t few = plan.few ? FewRows(plan, std::min(rows, kFewRows)).bytes(plan) : 0;
  if (plan.few && rows <= kFewRows) return few;
  return std::max(few, w.rows * w.columns * static_cast<std::int64_t>(sizeof(float)));
}

}  // namespace

KernelTable packed_kernels() {
  return {
      {"unpack", "cuda", "codes", reads_packed, run_unpack, Layout::dense,
       plan_once<PackedPlan, packed_plan>},
      {"packed_linear", "cuda", "codes", reads_packed, run_packed_linear, Layout::dense,
       linear_plan_once, packed_linear_bytes},
      {"packed_embedding", "cuda", "rows", reads_packed, run_packed_embedding, Layout::dense,
       plan_once<PackedPlan, packed_plan>},
      {"packed_rows", "cuda", "rows", reads_packed, run_packed_rows, Layout::dense,
       plan_once<PackedPlan, packed_plan>},
  };
}

}  // namespace hone::cuda
