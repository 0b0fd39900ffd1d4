#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"
#include "hone/formats/blocks.h"
#include "hone/formats/groups.h"
#include "hone/formats/mode.h"
#include "hone/kernels/row_loop.h"
#include "hone/kernels/scalar/fixed_point.h"
#include "hone/kernels/scalar/mase_block.h"
#include "hone/kernels/scalar/row_groups.h"
#include "hone/kernels/scalar/scaled_integer.h"
#include "hone/kernels/scalar/sign.h"

// Quantizers on GPUs: a row of the kernel table for each family of formats, and for each format the rule
// (hone/kernels/scalar) that its parameters define. Kernels are generic in the rule: for single values
// (quantize_elements.cu), groups that share constants (quantize_groups.cu) and blocks (quantize_blocks.cu).
namespace hone::cuda {
namespace quantizers {
namespace {

int number(const Format& format, std::string_view parameter) {
  return static_cast<int>(format[parameter]);
}

template <std::size_t kCount>
std::string_view named(const CallSite& site, const std::string_view (&names)[kCount],
                       std::string_view reason) {
  const std::string_view name = site.attributes.get<Format>("format").def->name;
  return std::ranges::find(names, name) != std::end(names) ? "" : reason;
}

const Format& format_of(const Call& call) { return call.attributes.get<Format>("format"); }

Sizes sizes_of(const CallSite& site, const Bindings& bindings) {
  return resolve(site.inputs[0].shape, bindings);
}

// The input and the output of a quantizer; states are further inputs.
struct Values {
  const float* x;
  float* y;
  std::int64_t count;
};

Values values_of(Call& call) {
  const float* x = floats(call, 0);
  const std::int64_t count = call.input(0).count();
  return {x, pointer<float>(call.output()), count};
}

// ---- single values

// Constants of groups: states, or computed from the groups' values.
struct Constants {
  const float* first = nullptr;
  const float* second = nullptr;
};

Constants states_of_call(const Call& call, std::size_t first) {
  return {optional_floats(call, first), optional_floats(call, first + 1)};
}

template <typename Rule>
void round_elements(Device& device, const Program& program, const Rule& rule,
                    const Constants& constants, const Rows& groups, const Values& values) {
  constexpr std::int64_t kOfThread = 16;
  const std::int64_t threads = std::clamp<std::int64_t>(
      ceil_divide(ceil_divide(groups.columns, kOfThread), 32) * 32, 32, 256);
  const std::int64_t chunks = ceil_divide(groups.columns, threads * kOfThread);
  launch(device, {program, "round_elements", {groups.count * chunks}, {threads}}, rule,
         constants.first, constants.second, groups.columns, static_cast<unsigned>(chunks), values.x,
         values.y);
}

const Program kMinifloat{"quantize_elements.cu", {"ROUND=Minifloat"}};
const Program kLogFields{"quantize_elements.cu", {"ROUND=LogFields"}};
const Program kFixedPoint{"quantize_elements.cu", {"ROUND=FixedPoint"}};
const Program kMaseIeee{"quantize_elements.cu", {"ROUND=MaseIeee"}};
const Program kMaseDenorm{"quantize_elements.cu", {"ROUND=MaseDenorm"}};
const Program kMaseLog{"quantize_elements.cu", {"ROUND=MaseLog"}};

scalar::FixedPoint fixed_point(const Format& format) {
  const bool with_sign = format.is("sign", "signed");
  const FormatParameterDef& range = format.def->parameters[1];
  const double highest = std::ldexp(1.0, number(format, "width") - (with_sign ? 1 : 0)) - 1;
  return {.fraction = format["frac"] == kAuto ? 0 : number(format, "frac"),
          .least_fraction = static_cast<int>(range.minimum),
          .most_fraction = static_cast<int>(range.maximum),
          .rounds_down = format.is("rounding", "floor"),
          .lowest = with_sign ? -highest - 1 : 0,
          .highest = highest};
}

scalar::MinifloatFields minifloat_fields(const Format& format) {
  const int exponent_width = number(format, "exponent_width");
  return {.implicit_one = format.def->name == "minifloat_ieee",
          .exponent_width = exponent_width,
          .mantissa = number(format, "width") - exponent_width - 1,
          .bias = number(format, "exponent_bias")};
}

std::string_view accepts_elements(const CallSite& site) {
  static constexpr std::string_view kNames[] = {
      "bf16", "fp16", "integer", "log", "minifloat_denorm", "minifloat_ieee"};
  return named(site, kNames, "the format does not round single values");
}

void quantize_elements(Call& call) {
  const Format& format = format_of(call);
  const Constants states = states_of_call(call, 1);
  const Values values = values_of(call);
  if (values.count == 0) return;
  const auto round = [&](const Program& program, const auto& rule) {
    round_elements(call.device, program, rule, states, {1, values.count}, values);
  };
  const std::string_view name = format.def->name;
  if (name == "bf16") return round(kMinifloat, scalar::bfloat16_values());
  if (name == "fp16") return round(kMinifloat, scalar::float16_values());
  if (name == "integer") return round(kFixedPoint, fixed_point(format));
  if (name == "log") {
    const int exponent_width = number(format, "width") - 1;
    if (is_mase(format))
      return round(kMaseLog, scalar::mase_log_of(exponent_width, format["exponent_bias"]));
    const std::int64_t bias = format["exponent_bias"] == kAuto ? 0 : format["exponent_bias"];
    return round(kLogFields, scalar::LogFields{(std::int64_t{1} << exponent_width) - 1, bias});
  }
  const scalar::MinifloatFields fields = minifloat_fields(format);
  if (!is_mase(format)) return round(kMinifloat, fields.values());
  const scalar::MaseFields mase{fields.exponent_width, fields.mantissa, fields.bias};
  if (fields.implicit_one) return round(kMaseIeee, scalar::MaseIeee{mase});
  round(kMaseDenorm, scalar::MaseDenorm{mase});
}

// ---- the format int

const Program kGroups{"quantize_groups.cu"};
const Program kIntegers{"quantize_elements.cu", {"ROUND=IntegerGrids"}};
const Program kDynamicIntegers{"quantize_elements.cu", {"ROUND=IntegerGrids", "DYNAMIC=1"}};
const Program kOldIntegers{"quantize_elements.cu", {"ROUND=OldScaledRows"}};

// Rows up to this length are read twice by one warp.
constexpr std::int64_t kLongestRow = 8192;
constexpr std::int64_t kWarps = 4;  // of a block whose warps work separately

Rows groups_of(const Format& format, const Sizes& sizes) {
  return format.is("per", "tensor") ? whole_tensor(sizes) : rows_of(sizes);
}

// Returns how many adjacent elements of a row share a float16 scale; 0: the format has no such groups.
std::int64_t row_group(const Format& format) {
  if (format.def->name == "nf4") return format["block"];
  return format.def->name == "int" ? format["group"] : 0;
}

std::string_view accepts_row_groups(const CallSite& site) {
  return row_group(site.attributes.get<Format>("format")) > 0 ? "" : "the format has no row groups";
}

template <typename Rule>
void round_row_groups(Call& call, const char* function, const Rule& rule) {
  const Values values = values_of(call);
  if (values.count == 0) return;
  const auto [rows, columns] = rows_of(call.input(0).sizes());
  const std::int64_t size = std::min(row_group(format_of(call)), columns);
  launch(
      call.device,
      {kGroups, function, {ceil_divide(rows * ceil_divide(columns, size), kWarps)}, {32 * kWarps}},
      rule, rows, columns, size, values.x, values.y);
}

void quantize_row_groups(Call& call) {
  const Format& format = format_of(call);
  if (format.def->name == "nf4")
    return round_row_groups(call, "round_normal_float_groups", scalar::NormalFloatGroups{});
  round_row_groups(call, "round_integer_groups",
                   scalar::integer_groups(number(format, "bits"), format.is("range", "affine")));
}

std::string_view accepts_int(const CallSite& site) {
  static constexpr std::string_view kNames[] = {"int"};
  const std::string_view objection = named(site, kNames, "the format is not int");
  if (!objection.empty()) return objection;
  return row_group(site.attributes.get<Format>("format")) > 0 ? "scales are per group" : "";
}

std::int64_t int_workspace(const CallSite& site, const Bindings& bindings) {
  const Format& format = site.attributes.get<Format>("format");
  if (!format.is("scale", "dynamic")) return 0;
  return groups_of(format, sizes_of(site, bindings)).count *
         static_cast<std::int64_t>(2 * sizeof(float));
}

void quantize_int(Call& call) {
  const Format& format = format_of(call);
  const int bits = number(format, "bits");
  const scalar::IntegerGrids grids = scalar::integer_grids(bits, format.is("range", "affine"));
  const scalar::OldScaledRows old{bits};
  const Rows groups = groups_of(format, call.input(0).sizes());
  const Constants states = states_of_call(call, 1);
  const Values values = values_of(call);
  if (values.count == 0) return;
  Device& device = call.device;
  if (!format.is("scale", "dynamic"))
    return round_elements(device, kIntegers, grids, states, groups, values);
  if (groups.columns <= kLongestRow) {
    const Extent grid{ceil_divide(groups.count, kWarps)}, block{32 * kWarps};
    if (is_mase(format)) {
      return launch(device, {kGroups, "round_old_rows", grid, block}, old, groups.count,
                    groups.columns, values.x, values.y);
    }
    return launch(device, {kGroups, "round_integer_rows", grid, block}, grids, groups.count,
                  groups.columns, values.x, values.y);
  }
  // The kernels store bits of magnitudes, which are read as floats.
  constexpr std::int64_t kThreads = 256, kOfChunk = 16 * kThreads;
  const std::int64_t chunks = ceil_divide(groups.columns, kOfChunk);
  auto* const first = static_cast<float*>(call.workspace);
  float* const second = first + groups.count;
  fill_zeros(device, first, static_cast<std::size_t>(2 * groups.count) * sizeof(float));
  const Extent grid{groups.count * chunks}, block{kThreads};
  if (is_mase(format)) {
    launch(device, {kGroups, "group_magnitudes", grid, block}, values.x, groups.columns,
           static_cast<unsigned>(chunks), first);
    return round_elements(device, kOldIntegers, old, {first}, groups, values);
  }
  launch(device, {kGroups, "group_ranges", grid, block}, values.x, groups.columns,
         static_cast<unsigned>(chunks), first, second);
  round_elements(device, kDynamicIntegers, grids, {first, second}, groups, values);
}

// ---- signs

const Program kTwoValues{"quantize_elements.cu", {"ROUND=TwoValues"}};
const Program kResidualSigns{"quantize_elements.cu", {"ROUND=ResidualSigns"}};
const Program kTernary{"quantize_elements.cu", {"ROUND=Ternary"}};

std::string_view accepts_signs(const CallSite& site) {
  static constexpr std::string_view kNames[] = {"binary", "binary_residual_sign", "binary_scaling",
                                                "ternary"};
  return named(site, kNames, "the format does not store signs");
}

bool has_scaled_rows(const Format& format) {
  return format.def->name == "binary" && format.is("scale", "row");
}

Rows sign_groups(const Format& format, const Sizes& sizes) {
  const std::string_view name = format.def->name;
  if (name == "binary_residual_sign") return whole_tensor(sizes);
  if (name == "binary" && !has_scaled_rows(format)) return whole_tensor(sizes);
  if (name != "binary_scaling" && is_mase(format)) return slices_of(sizes);
  if (name == "binary") return rows_of(sizes);
  return groups_of(format, sizes);
}

std::int64_t sign_workspace(const CallSite& site, const Bindings& bindings) {
  const Format& format = site.attributes.get<Format>("format");
  return sign_groups(format, sizes_of(site, bindings)).count *
         static_cast<std::int64_t>(2 * sizeof(float));
}

scalar::ResidualSigns residual_signs(const Format& format) {
  const int levels = number(format, "levels");
  if (is_mase(format)) return scalar::old_residual_signs(levels);
  return {.levels = levels};
}

scalar::IntegerGrids learned_signs() { return {.bound = 1, .levels = 0, .affine = false}; }

void quantize_binary(Call& call, const Rows& groups, const Values& values) {
  const Format& format = format_of(call);
  const bool scaled = has_scaled_rows(format);
  using Rule = scalar::TwoValues::Rule;
  const scalar::TwoValues rule{.rule = !is_mase(format) ? Rule::fixed
                                       : scaled         ? Rule::above_zero
                                                        : Rule::at_zero};
  if (!scaled) return round_elements(call.device, kTwoValues, rule, {}, groups, values);
  auto* const alpha = static_cast<float*>(call.workspace);
  if (is_mase(format)) {
    launch(call.device,
           {kGroups, "old_binary_constants", {ceil_divide(groups.count, kWarps)}, {32 * kWarps}},
           values.x, groups.count, groups.columns, alpha);
  } else {
    const std::int64_t piece = kernels::piece_elements(groups.columns);
    launch(call.device,
           {kGroups, "binary_constants", {groups.count}, {32 * ceil_divide(groups.columns, piece)}},
           values.x, groups.columns, piece, alpha);
  }
  round_elements(call.device, kTwoValues, rule, {alpha}, groups, values);
}

void quantize_ternary(Call& call, const Rows& groups, const Values& values) {
  const Format& format = format_of(call);
  const bool scaled = format.is("scale", "dynamic");
  auto* const threshold = static_cast<float*>(call.workspace);
  float* const alpha = threshold + groups.count;
  if (is_mase(format)) {
    launch(call.device,
           {kGroups, "old_ternary_constants", {ceil_divide(groups.count, kWarps)}, {32 * kWarps}},
           values.x, groups.count, groups.columns, scaled, threshold, alpha);
  } else {
    const std::int64_t piece = kernels::piece_elements(groups.columns);
    launch(
        call.device,
        {kGroups, "ternary_constants", {groups.count}, {32 * ceil_divide(groups.columns, piece)}},
        values.x, groups.columns, piece, scaled, threshold, alpha);
  }
  round_elements(call.device, kTernary, scalar::Ternary{.old = is_mase(format)}, {threshold, alpha},
                 groups, values);
}

void quantize_signs(Call& call) {
  const Format& format = format_of(call);
  const Rows groups = sign_groups(format, call.input(0).sizes());
  const Constants states = states_of_call(call, 1);
  const Values values = values_of(call);
  if (values.count == 0) return;
  const std::string_view name = format.def->name;
  if (name == "binary") return quantize_binary(call, groups, values);
  if (name == "binary_scaling")
    return round_elements(call.device, kTwoValues, scalar::TwoValues{}, states, groups, values);
  if (name == "binary_residual_sign")
    return round_elements(call.device, kResidualSigns, residual_signs(format), states, groups,
                          values);
  if (format.is("scale", "learned"))
    return round_elements(call.device, kIntegers, learned_signs(), states, groups, values);
  quantize_ternary(call, groups, values);
}

// ---- blocks

const Program kMinifloatBlocks{"quantize_blocks.cu", {"BLOCKS=MinifloatBlocks"}};
const Program kPowerBlocks{"quantize_blocks.cu", {"BLOCKS=PowerBlocks"}};
const Program kMaseBlockFp{"quantize_blocks.cu", {"BLOCKS=MaseBlockFp"}};
const Program kMaseBlockLog{"quantize_blocks.cu", {"BLOCKS=MaseBlockLog"}};
const Program kMaseBlockMinifloat{"quantize_blocks.cu", {"BLOCKS=MaseBlockMinifloat"}};
const Program kMaseMxintHardware{"quantize_blocks.cu", {"BLOCKS=MaseMxintHardware"}};
const Program kMaseMxint{"quantize_blocks.cu", {"BLOCKS=MaseMxint"}};
const Program kMaseMxfp{"quantize_blocks.cu", {"BLOCKS=MaseMxfp"}};

constexpr std::int64_t kBlockThreads = 256;
constexpr std::int64_t kLargestTile = 8192;  // elements that a block of threads reads twice

// The same struct as in quantize_blocks.cu.
struct Share {
  int lanes;
  unsigned chunks;
  std::int64_t chunk_elements;
  bool across_lines;
};

bool is_mx(const Format& format) {
  return format.def->name == "mxint" || format.def->name == "mxfp";
}

// Blocks of zeros use the smallest magnitude among the tensor's other blocks.
bool needs_all_blocks(const Format& format) { return is_mase(format) && !is_mx(format); }

scalar::BlockPlaces places_of(const Format& format, const Sizes& sizes) {
  const BlockLayout layout = !is_mx(format)    ? block_layout(format, sizes, format["rows"])
                             : is_mase(format) ? flat_block_layout(format, sizes)
                                               : block_layout(format, sizes);
  const kernels::BlockGrid& grid = layout.grid;
  return {.matrices = grid.matrices,
          .rows = grid.rows,
          .columns = grid.columns,
          .block_rows = std::min(grid.block_rows, std::max<std::int64_t>(grid.rows, 1)),
          .block_columns = std::min(grid.block_columns, std::max<std::int64_t>(grid.columns, 1)),
          .extent = layout.extent,
          .distance = layout.distance};
}

std::int64_t block_elements(const scalar::BlockPlaces& places) {
  return places.block_rows * places.block_columns;
}

// Returns whether magnitudes are stored in memory between two kernels.
bool is_stored(const Format& format, const scalar::BlockPlaces& places) {
  return needs_all_blocks(format) || block_elements(places) > kLargestTile;
}

Share share_of(const scalar::BlockPlaces& places, bool in_chunks) {
  const std::int64_t elements = block_elements(places);
  const bool across_lines = places.distance > 1;
  // Adjacent threads have adjacent blocks there, so each block needs few of them.
  const std::int64_t few = elements <= 64 ? 1 : 8;
  const std::int64_t half = std::clamp<std::int64_t>(elements / 2, 1, kBlockThreads);
  const auto many = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(half)));
  const std::int64_t lanes = across_lines && places.block_rows == 1 ? few : many;
  const std::int64_t chunk = in_chunks ? std::min(elements, 32 * lanes) : elements;
  return {static_cast<int>(lanes), static_cast<unsigned>(ceil_divide(elements, chunk)), chunk,
          across_lines};
}

bool fits_runs(const scalar::BlockPlaces& places, const Values& values) {
  const auto addresses =
      reinterpret_cast<std::uintptr_t>(values.x) | reinterpret_cast<std::uintptr_t>(values.y);
  const auto block = static_cast<std::uint64_t>(places.block_columns);
  return places.distance == 1 && places.block_rows == 1 && std::has_single_bit(block) &&
         block >= 4 && block <= 128 && places.columns % places.block_columns == 0 &&
         addresses % 16 == 0;
}

template <typename Rule>
void round_blocks(Call& call, const Program& program, const Rule& rule) {
  const Format& format = format_of(call);
  const scalar::BlockPlaces places = places_of(format, call.input(0).sizes());
  const Values values = values_of(call);
  if (values.count == 0) return;
  const bool stored = is_stored(format, places);
  if (!stored && fits_runs(places, values)) {
    const std::int64_t packs = values.count / 4;
    return launch(call.device,
                  {program, "round_runs", {ceil_divide(packs, 2 * kBlockThreads)}, {kBlockThreads}},
                  rule, packs, static_cast<int>(places.block_columns / 4), values.x, values.y);
  }
  const Share share = share_of(places, stored);
  const std::int64_t blocks = places.blocks();
  const Extent grid{ceil_divide(blocks, kBlockThreads / share.lanes) * share.chunks};
  const Extent block{kBlockThreads};
  if (!stored)
    return launch(call.device, {program, "round_tiles", grid, block}, rule, places, share, values.x,
                  values.y);
  auto* const largest = static_cast<std::uint32_t*>(call.workspace);
  std::uint32_t* const smallest = needs_all_blocks(format) ? largest + blocks : nullptr;
  fill_zeros(call.device, largest, static_cast<std::size_t>(blocks + 1) * sizeof(std::uint32_t));
  launch(call.device, {program, "tile_magnitudes", grid, block}, places, share, values.x, largest);
  if (smallest != nullptr) {
    const std::int64_t most = 1024;
    launch(call.device,
           {program,
            "smallest_magnitude",
            {std::min(ceil_divide(blocks, kBlockThreads), most)},
            block},
           blocks, static_cast<const std::uint32_t*>(largest), smallest);
  }
  launch(call.device, {program, "round_stored_tiles", grid, block}, rule, places, share,
         static_cast<const std::uint32_t*>(largest), static_cast<const std::uint32_t*>(smallest),
         values.x, values.y);
}

std::string_view accepts_blocks(const CallSite& site) {
  static constexpr std::string_view kNames[] = {"block_fp", "block_log", "block_minifloat",
                                                "mxfp",     "mxint",     "mxint_hardware"};
  return named(site, kNames, "the format is not a block format");
}

std::int64_t block_workspace(const CallSite& site, const Bindings& bindings) {
  const Format& format = site.attributes.get<Format>("format");
  const scalar::BlockPlaces places = places_of(format, sizes_of(site, bindings));
  if (!is_stored(format, places)) return 0;
  return (places.blocks() + 1) * static_cast<std::int64_t>(sizeof(std::uint32_t));
}

scalar::MxfpElement element_of(const Format& format) {
  static constexpr scalar::MxfpElement kElements[] = {
      {4, 3, 448}, {5, 2, 57344}, {3, 2, 28}, {2, 3, 7.5}, {2, 1, 6}};
  return kElements[static_cast<std::size_t>(format["element"])];
}

void quantize_fixed_blocks(Call& call) {
  const Format& format = format_of(call);
  const std::string_view name = format.def->name;
  const auto round = [&](const scalar::MinifloatBlocks& rule) {
    round_blocks(call, kMinifloatBlocks, rule);
  };
  if (name == "mxint")
    return round(scalar::mxint_blocks(number(format, "bits"), format.is("scale", "ceil")));
  if (name == "mxfp")
    return round(scalar::mxfp_blocks(element_of(format), format.is("scale", "ceil")));
  const int width = number(format, "width");
  if (name == "block_fp" || name == "mxint_hardware") {
    const int exponent_width = number(format, "exponent_width"), m = width - 1;
    const bool grows = name == "block_fp";
    const int bias = grows ? number(format, "exponent_bias") : 1 << (exponent_width - 1);
    const int highest = (1 << exponent_width) - 1 - bias;
    // The bounds keep every number of a block representable as a float.
    if (grows)
      return round(scalar::magnitude_blocks(m, std::max(-bias, m - 149), std::min(highest, 128),
                                            grows, false));
    return round(scalar::magnitude_blocks(m, m - bias, std::min(highest + m, 127), grows, true));
  }
  const int lowest_top = -(1 << (number(format, "exponent_bias_width") - 1));
  if (name == "block_log")
    return round_blocks(
        call, kPowerBlocks,
        scalar::power_blocks(width - 1, std::max(lowest_top, -126), -1 - lowest_top));
  const int exponent_width = number(format, "exponent_width");
  round(scalar::minifloat_blocks(exponent_width, width - exponent_width - 1, lowest_top,
                                 std::min(-1 - lowest_top, 127)));
}

void quantize_mase_blocks(Call& call) {
  const Format& format = format_of(call);
  const std::string_view name = format.def->name;
  if (name == "mxint") {
    const double limit = std::ldexp(1.0, number(format, "bits") - 1);
    return round_blocks(call, kMaseMxint, scalar::MaseMxint{limit});
  }
  if (name == "mxfp") return round_blocks(call, kMaseMxfp, scalar::MaseMxfp{element_of(format)});
  const int width = number(format, "width");
  if (name == "block_fp") {
    const int bias = number(format, "exponent_bias");
    const int highest = (1 << number(format, "exponent_width")) - 1 - bias;
    return round_blocks(call, kMaseBlockFp, scalar::MaseBlockFp{width - 1, -bias, highest});
  }
  if (name == "mxint_hardware") {
    const int exponent_width = number(format, "exponent_width"), bias = 1 << (exponent_width - 1);
    return round_blocks(call, kMaseMxintHardware,
                        scalar::MaseMxintHardware{std::ldexp(1.0f, width - 1), bias, -bias,
                                                  (1 << exponent_width) - 1 - bias});
  }
  const auto highest_bias = static_cast<float>((1 << number(format, "exponent_bias_width")) - 1);
  if (name == "block_log")
    return round_blocks(call, kMaseBlockLog, scalar::MaseBlockLog{width - 1, highest_bias});
  const int exponent_width = number(format, "exponent_width");
  round_blocks(
      call, kMaseBlockMinifloat,
      scalar::MaseBlockMinifloat{exponent_width, width - exponent_width - 1, highest_bias});
}

void quantize_blocks(Call& call) {
  if (is_mase(format_of(call))) return quantize_mase_blocks(call);
  quantize_fixed_blocks(call);
}

// ---- gradients

const Program kIntegerGradient{"quantize_gradient.cu", {"RULE=IntegerGrids"}};
const Program kTwoValuesGradient{"quantize_gradient.cu", {"RULE=TwoValues"}};
const Program kResidualSignsGradient{"quantize_gradient.cu", {"RULE=ResidualSigns"}};

constexpr std::int64_t kGradientThreads = 256;
constexpr std::int64_t kGradientChunk = 8192;

std::string_view accepts_gradient(const CallSite& site) {
  static constexpr std::string_view kNames[] = {"binary", "binary_residual_sign", "binary_scaling",
                                                "int", "ternary"};
  return named(site, kNames, "the format has no gradient of its own that is known here");
}

Rows gradient_groups(const Format& format, const Sizes& sizes) {
  const std::string_view name = format.def->name;
  // The gradient of `binary` needs no constants.
  if (name == "binary" || name == "binary_residual_sign") return whole_tensor(sizes);
  return groups_of(format, sizes);
}

bool is_learned(const Format& format) {
  return format.def->name != "binary" && format.is("scale", "learned");
}

// Returns the number of learned constants per group.
std::int64_t learned_count(const Format& format) {
  if (!is_learned(format)) return 0;
  return format.def->name == "binary_residual_sign" ? format["levels"] : 1;
}

std::int64_t gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Format& format = site.attributes.get<Format>("format");
  const Rows groups = gradient_groups(format, sizes_of(site, bindings));
  return groups.count * ceil_divide(groups.columns, kGradientChunk) * learned_count(format) *
         static_cast<std::int64_t>(sizeof(double));
}

// `bound`: the largest code, for the gradient scale; `follows_sign`: values depend on the magnitude of the constant.
template <typename Rule>
void gradient_by_rule(Call& call, const Program& program, const Rule& rule, float bound,
                      bool follows_sign) {
  const Format& format = format_of(call);
  const Rows groups = gradient_groups(format, call.input(0).sizes());
  const float *x = floats(call, 0), *dy = floats(call, 1), *state = optional_floats(call, 2);
  auto* const dx = pointer<float>(call.output());
  const std::int64_t chunks = ceil_divide(groups.columns, kGradientChunk);
  const auto chunk_count = static_cast<unsigned>(chunks);
  const std::int64_t learned = learned_count(format);
  auto* const gradient = learned == 0 ? nullptr : pointer<float>(call.output(1));
  auto* const partial = learned == 0 ? nullptr : static_cast<double*>(call.workspace);
  const int sums = static_cast<int>(learned);
  if (groups.count * groups.columns > 0) {
    launch(call.device, {program, "gradient_elements", {groups.count * chunks}, {kGradientThreads}},
           rule, state, groups.columns, chunk_count, kGradientChunk, x, dy, dx, sums, partial);
  }
  if (learned == 0 || groups.count == 0) return;
  const double elements = static_cast<double>(std::max<std::int64_t>(groups.columns, 1));
  const double pace = 1 / std::sqrt(elements * bound);
  launch(call.device,
         {program, "gradient_totals", {ceil_divide(groups.count * learned, kWarps)}, {32 * kWarps}},
         groups.count, chunk_count, sums, pace, follows_sign ? state : nullptr,
         static_cast<const double*>(partial), gradient);
}

void quantize_gradient(Call& call) {
  const Format& format = format_of(call);
  const std::string_view name = format.def->name;
  if (name == "binary" || name == "binary_scaling")
    return gradient_by_rule(call, kTwoValuesGradient, scalar::TwoValues{}, 1, false);
  if (name == "binary_residual_sign")
    return gradient_by_rule(call, kResidualSignsGradient, residual_signs(format), 1, false);
  const scalar::IntegerGrids grids =
      name == "int" ? scalar::integer_grids(number(format, "bits"), false) : learned_signs();
  gradient_by_rule(call, kIntegerGradient, grids, grids.bound, true);
}

}  // namespace
}  // namespace quantizers

KernelTable quantize_kernels() {
  using namespace quantizers;
  return {
      {.op = "quantize",
       .device = "cuda",
       .name = "elements",
       .accepts = accepts_elements,
       .run = quantize_elements},
      {.op = "quantize",
       .device = "cuda",
       .name = "integers",
       .accepts = accepts_int,
       .run = quantize_int,
       .workspace_bytes = int_workspace},
      {.op = "quantize",
       .device = "cuda",
       .name = "row_groups",
       .accepts = accepts_row_groups,
       .run = quantize_row_groups},
      {.op = "quantize",
       .device = "cuda",
       .name = "signs",
       .accepts = accepts_signs,
       .run = quantize_signs,
       .workspace_bytes = sign_workspace},
      {.op = "quantize",
       .device = "cuda",
       .name = "blocks",
       .accepts = accepts_blocks,
       .run = quantize_blocks,
       .workspace_bytes = block_workspace},
      {.op = "quantize_gradient",
       .device = "cuda",
       .name = "elements",
       .accepts = accepts_gradient,
       .run = quantize_gradient,
       .workspace_bytes = gradient_workspace},
  };
}

}  // namespace hone::cuda
