#include "hone/formats/groups.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "hone/base/error.h"
#include "hone/kernels/row_loop.h"

namespace hone {
namespace {

// Adds at most `piece_elements` values.
void add_piece(float threshold, std::span<const float> x, kernels::Magnitudes& all) {
  constexpr std::size_t kLanes = kernels::kSumLanes;
  std::array<double, kLanes> lanes{};
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !(std::fabs(x[i]) > threshold)) continue;
    lanes[i % kLanes] += std::fabs(static_cast<double>(x[i]));
    ++all.count;
  }
  for (std::size_t width = kLanes / 2; width > 0; width /= 2)
    for (std::size_t i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  all.sum += lanes[0];
}

}  // namespace

Rows whole_tensor(const Sizes& sizes) { return {1, element_count(sizes)}; }

Rows slices_of(const Sizes& sizes) {
  if (sizes.size() < 2) return whole_tensor(sizes);
  return {sizes[0], sizes[0] == 0 ? 0 : element_count(sizes) / sizes[0]};
}

kernels::Magnitudes magnitudes_above_reference(float threshold, std::span<const float> x) {
  const auto piece =
      static_cast<std::size_t>(kernels::piece_elements(static_cast<std::int64_t>(x.size())));
  kernels::Magnitudes all;
  for (std::size_t begin = 0; begin < x.size(); begin += piece)
    add_piece(threshold, x.subspan(begin, std::min(piece, x.size() - begin)), all);
  return all;
}

std::optional<std::int64_t> unit_group(const Rows& groups, const Sizes& sizes) {
  if (groups.count == 1) return 0;
  if (sizes.empty() || groups.columns != sizes.back()) return std::nullopt;
  return groups.columns;
}

std::uint32_t float_code(float value) { return std::bit_cast<std::uint32_t>(value); }
float float_value(std::uint32_t code) { return std::bit_cast<float>(code); }

void resolve_auto(Format& format, std::string_view parameter, std::string_view word) {
  const auto& all = format.def->parameters;
  const auto found = std::ranges::find(all, parameter, &FormatParameterDef::name);
  HONE_ASSERT(found != all.end() && found->words[0] == "auto", "{} has no auto {}",
              format.def->name, parameter);
  if (format[parameter] != 0) return;
  format[parameter] = std::ranges::find(found->words, word) - found->words.begin();
}

}  // namespace hone
