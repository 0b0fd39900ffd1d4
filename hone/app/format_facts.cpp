#include "hone/app/format_facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "hone/formats/calibrate.h"

namespace hone {
namespace {

constexpr int kListedBits = 16;
const Sizes kOne = {1};

// State and shared codes of a tensor of one element, given by its value.
struct Frame {
  std::vector<Tensor> state;
  Codes codes;
};

Frame frame_of(const Format& format, float value) {
  Frame frame;
  const std::vector<float> x = {value};
  const std::vector<float> range = {-std::fabs(value), std::fabs(value)};
  Observation seen;
  seen.include(range);
  frame.state = calibrate(format, std::span(&seen, 1));
  frame.codes = format.def->encode({format, kOne, x, frame.state});
  return frame;
}

std::string binary(std::uint32_t code, int bits) {
  std::string text;
  for (int bit = bits - 1; bit >= 0; --bit) text += (code >> bit & 1) != 0 ? '1' : '0';
  return text;
}

float decoded(const Format& format, const Frame& frame, std::uint32_t element) {
  Codes codes = frame.codes;
  codes.elements = {element};
  std::vector<float> y(1);
  format.def->decode({format, kOne, {}, frame.state}, codes, y);
  return y[0];
}

// The lowest and the highest value where there are too many to list. Shared codes are those of the
// frame, so codes have to tell: with the sign first, the ends are among these in two's complement as
// in sign and magnitude. Without shared codes the format itself says what is too much for it.
std::pair<float, float> ends_of(const Format& format, const Frame& frame, int bits) {
  if (!frame.codes.shared.empty()) {
    const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
    return std::minmax({decoded(format, frame, sign - 1), decoded(format, frame, sign),
                        decoded(format, frame, sign | (sign - 1))});
  }
  const auto most = [&](float x) {
    std::vector<float> y(1);
    format.def->quantize_reference({format, kOne, std::span(&x, 1), frame.state}, y);
    return y[0];
  };
  return {most(std::numeric_limits<float>::lowest()), most(std::numeric_limits<float>::max())};
}

std::string part_text(const CodeField& field, std::uint32_t code) {
  const std::string bits = fmt::format("{} {}", field.name, binary(code, field.bits));
  return field.bias ? fmt::format("{} = {} - {}", bits, code, *field.bias) : bits;
}

}  // namespace

FormatGrid format_grid(const Format& format) {
  FormatGrid grid;
  grid.average_bits = average_bits(format, {768, 768});
  const Frame frame = frame_of(format, 1.0f);
  const int bits = format.def->layout(format, kOne).element_bits;
  if (bits > kListedBits) {
    std::tie(grid.lowest, grid.highest) = ends_of(format, frame, bits);
    return grid;
  }
  for (std::uint32_t code = 0; code < std::uint32_t{1} << bits; ++code) {
    const float value = decoded(format, frame, code);
    if (std::isfinite(value)) grid.values.push_back(value == 0 ? 0.0f : value);
  }
  std::ranges::sort(grid.values);
  grid.values.erase(std::unique(grid.values.begin(), grid.values.end()), grid.values.end());
  grid.lowest = grid.values.front();
  grid.highest = grid.values.back();
  for (std::size_t i = 1; i < grid.values.size(); ++i) {
    const float step = grid.values[i] - grid.values[i - 1];
    if (i == 1 || step < grid.smallest_step) grid.smallest_step = step;
  }
  return grid;
}

SpelledNumber spell(const Format& format, float value) {
  const Frame frame = frame_of(format, value);
  const CodeLayout layout = format.def->layout(format, kOne);
  SpelledNumber spelled;
  spelled.value = value;
  const std::uint32_t element = frame.codes.elements[0];
  spelled.quantized = decoded(format, frame, element);
  int left = layout.element_bits;
  for (const CodeField& field : format.def->fields(format)) {
    left -= field.bits;
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << field.bits) - 1);
    const std::uint32_t part = element >> left & mask;
    spelled.code += (spelled.code.empty() ? "" : " ") + binary(part, field.bits);
    spelled.parts.push_back(part_text(field, part));
  }
  HONE_ASSERT(left == 0, "the fields of {} leave {} bits", to_string(format), left);
  if (!frame.codes.shared.empty())
    spelled.shared = binary(frame.codes.shared[0], layout.shared_bits);
  return spelled;
}

std::vector<std::string> quantizer_kernels(const Library& library) {
  std::vector<std::string> names;
  for (const Kernel& kernel : library.kernels)
    if (kernel.op == "quantize")
      names.push_back(fmt::format("{} ({})", kernel.name, kernel.device));
  names.emplace_back("reference");
  return names;
}

}  // namespace hone
