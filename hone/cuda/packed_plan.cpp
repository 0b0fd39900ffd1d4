#include "hone/cuda/packed_plan.h"

#include <algorithm>
#include <cmath>

namespace hone::cuda {
namespace {

Sizes packed_sizes(const Attributes& attributes) {
  return resolve(attributes.get<hone::Shape>("shape"), {});
}
const Format& packed_format(const Attributes& attributes) {
  return attributes.get<Format>("format");
}
Arrangement packed_arrangement(const Attributes& attributes) {
  const Attribute* const arrangement = attributes.find("arrangement");
  return arrangement == nullptr ? Arrangement::rows
                                : parse_arrangement(std::get<std::string>(*arrangement));
}

// Sets how the scales follow from the state of a format. Returns false if no kernel supports it.
bool set_state_source(const Format& format, PackedWeight& weight) {
  const std::string_view name = format.def->name;
  if (name == "int") {
    const bool affine = format.is("range", "affine");
    const auto bits = static_cast<int>(format["bits"]);
    weight.source = affine ? ScaleSource::affine : ScaleSource::symmetric;
    weight.highest = std::ldexp(1.0f, affine ? bits : bits - 1) - 1;
    return true;
  }
  if (name == "ternary") {
    weight.source = ScaleSource::symmetric;
    weight.highest = 1;
    return true;
  }
  if (name == "integer") {
    const FormatParameterDef& range = format.def->parameters[1];
    weight.source = ScaleSource::fraction;
    weight.lowest = static_cast<float>(range.minimum);
    weight.highest = static_cast<float>(range.maximum);
    return true;
  }
  return false;
}

// Sets where the scales come from. Returns false if no kernel supports it.
bool set_source(const Format& format, const CodeLayout& codes, const CodeUnits& units,
                PackedWeight& weight) {
  if (codes.shared_count > 0) {
    weight.source = ScaleSource::shared;
    if (units.shared_zero_points) weight.highest = static_cast<float>(units.units.size() - 1);
    return units.scales.empty() ? codes.half_scales || codes.shared_bits == 32
                                : codes.shared_bits <= 8;
  }
  if (!states_of(format).empty()) return set_state_source(format, weight);
  weight.source = ScaleSource::constant;
  return std::ranges::all_of(units.scales, [](float scale) { return scale == 1; });
}

void set_tables(const CodeUnits& units, const PackedWeight& weight, PackedTables& tables) {
  std::ranges::fill(tables.units, std::nanf(""));
  std::ranges::fill(tables.scales, std::nanf(""));
  std::ranges::copy(units.units, tables.units);
  if (weight.source == ScaleSource::shared) std::ranges::copy(units.scales, tables.scales);
}

}  // namespace

PackedPlan packed_plan(const Attributes& attributes) {
  const Format& format = packed_format(attributes);
  const Sizes sizes = packed_sizes(attributes);
  PackedPlan plan;
  const std::optional<CodeUnits> units = units_for_any_state(format, sizes);
  if (!units) {
    plan.objection = "values of the format are not products of a code and a scale";
    return plan;
  }
  const PackedLayout layout = packed_layout(format, sizes, packed_arrangement(attributes));
  const kernels::PackedMatrix& m = layout.matrix;
  const bool of_all = units->group == 0;
  PackedWeight& w = plan.weight;
  w.rows = m.rows;
  w.columns = m.columns;
  w.padded_columns = kernels::packed_columns(m);
  w.row_bytes = static_cast<std::int64_t>(kernels::packed_row_bytes(m));
  w.group = std::max<std::int64_t>(1, of_all ? m.columns : units->group);
  w.row_groups = of_all ? 0 : ceil_divide(m.columns, w.group);
  w.scale_blocks = layout.scale_blocks;
  w.shared_bytes = static_cast<std::int32_t>(layout.scale_bytes);
  w.half_scales = layout.codes.half_scales ? 1 : 0;
  w.row_shared = of_all || m.rows == 0 ? 0 : layout.codes.shared_count / m.rows;
  w.panels = layout.arrangement == Arrangement::panels ? 1 : 0;
  w.flip = m.flip;
  w.zero_points = units->shared_zero_points ? 1 : 0;
  w.divides = units->divides ? 1 : 0;
  if (!set_source(format, layout.codes, *units, w)) {
    plan.objection = "scales of the format are in states that no kernel reads";
    return plan;
  }
  plan.bits = m.bits;
  plan.units = *units;
  plan.adds = units->shared_zero_points || w.source == ScaleSource::affine;
  if (!units->half) set_tables(*units, w, plan.tables);
  plan.decoder = {"packed.cu", {"BITS=" + std::to_string(m.bits)}};
  if (units->half)
    plan.decoder.definitions.emplace_back(*units->half == kernels::Half::bfloat16 ? "HALF=bfloat16"
                                                                                  : "HALF=float16");
  return plan;
}

PackedWeight weight_in(const Call& call, const PackedPlan& plan, std::size_t codes,
                       std::size_t states) {
  PackedWeight weight = plan.weight;
  weight.codes = pointer<std::uint8_t>(call.input(codes));
  weight.shared = pointer<std::uint8_t>(call.input(codes + 1));
  weight.scale_state = optional_floats(call, states);
  weight.zero_state = optional_floats(call, states + 1);
  return weight;
}

std::string activation_definition(const std::string& activation) {
  if (activation == "none") return "ACTIVATION=x";
  if (activation == "gelu") return "ACTIVATION=gelu_erf(x)";
  if (activation == "tanh") return "ACTIVATION=std::tanh(x)";
  return "ACTIVATION=" + activation + "(x)";
}

}  // namespace hone::cuda
