#include "hone/study/format_grid.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <set>

#include "hone/formats/calibrate.h"
#include "hone/passes/quantize.h"

namespace hone {
namespace {

constexpr int kListedBits = 16;
constexpr std::int64_t kLongestFill = 4096;
constexpr std::int64_t kMoreThanABlock = std::int64_t{1} << 40;

// A dense one-dimensional tensor with its state and codes in a format.
struct Coded {
  Sizes sizes;
  std::vector<float> x;
  std::vector<Tensor> state;
  Codes codes;
};

// Returns the smallest count of at least `count` that the format supports: some need whole blocks.
Sizes fitting_sizes(const Format& format, std::int64_t count) {
  for (std::int64_t more = 0; more < kLongestFill; ++more) {
    try {
      format.def->layout(format, {count + more});
      return {count + more};
    } catch (const UserError&) {
    }
  }
  format.def->layout(format, {count});  // throws the reason
  return {count};
}

Coded coded(const Format& format, std::vector<float> x) {
  Coded tensor;
  tensor.sizes = fitting_sizes(format, static_cast<std::int64_t>(x.size()));
  tensor.x = std::move(x);
  tensor.x.resize(static_cast<std::size_t>(tensor.sizes[0]));
  tensor.state = calibrate_tensor(format, tensor.sizes, tensor.x);
  tensor.codes = format.def->encode({format, tensor.sizes, tensor.x, tensor.state});
  return tensor;
}

std::string binary(std::uint32_t code, int bits) {
  std::string text;
  for (int bit = bits - 1; bit >= 0; --bit) text += (code >> bit & 1) != 0 ? '1' : '0';
  return text;
}

// Returns the first value of the tensor if its code is `element`.
float decoded(const Format& format, const Coded& tensor, std::uint32_t element) {
  Codes codes = tensor.codes;
  codes.elements[0] = element;
  std::vector<float> y(tensor.x.size());
  format.def->decode({format, tensor.sizes, {}, tensor.state}, codes, y);
  return y[0];
}

// Returns the tensor of a grid: the value to examine, then the lowest and the highest value.
Coded frame_of(const Format& format) { return coded(format, {-1, -1, 1}); }

// Quantizes x as the frame's first value. Returns none if that changes the shared codes, or the result is not finite.
std::optional<float> quantized(const Format& format, Coded& frame, float x) {
  frame.x[0] = x;
  const QuantizerInput input{format, frame.sizes, frame.x, frame.state};
  if (!frame.codes.shared.empty()) {
    try {
      if (format.def->encode(input).shared != frame.codes.shared) return std::nullopt;
    } catch (const UserError&) {  // a value without a code
      return std::nullopt;
    }
  }
  std::vector<float> y(frame.x.size());
  format.def->quantize_reference(input, y);
  if (!std::isfinite(y[0])) return std::nullopt;
  return y[0] == 0 ? 0.0f : y[0];
}

void sort_out(std::vector<float>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Returns the finite values of the codes, ascending.
std::vector<float> values_of_codes(const Format& format, const Coded& frame,
                                   const std::vector<std::uint32_t>& codes) {
  std::vector<float> values;
  for (const std::uint32_t code : codes) {
    const float value = decoded(format, frame, code);
    if (std::isfinite(value)) values.push_back(value == 0 ? 0.0f : value);
  }
  sort_out(values);
  return values;
}

// Quantizes the values of all codes, which finds the values that quantization writes. Some formats change values that
// are quantized again, or write values without a code: quantizing the midpoints finds these.
std::vector<float> written_values(const Format& format, Coded frame,
                                  const std::vector<float>& candidates) {
  std::vector<float> written;
  const auto add = [&](float x) {
    if (const std::optional<float> value = quantized(format, frame, x)) written.push_back(*value);
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    add(candidates[i]);
    if (i > 0) add(std::midpoint(candidates[i - 1], candidates[i]));
  }
  sort_out(written);
  return written;
}

// Returns the codes to try. If all are too many, those at the ends of two's complement and of sign and magnitude.
std::vector<std::uint32_t> tried_codes(int bits) {
  const std::uint32_t sign = std::uint32_t{1} << (bits - 1);
  if (bits > kListedBits) return {sign - 1, sign, sign + 1, sign | (sign - 1)};
  std::vector<std::uint32_t> codes(std::size_t{1} << bits);
  std::iota(codes.begin(), codes.end(), 0u);
  return codes;
}

std::string code_field_text(const CodeField& field, std::uint32_t code) {
  const std::string bits = fmt::format("{} {}", field.name, binary(code, field.bits));
  return field.bias ? fmt::format("{} = {} - {}", bits, code, *field.bias) : bits;
}

// Returns the number of shared codes of a tensor of `count` numbers.
std::int64_t shared_count(const Format& format, std::int64_t count) {
  return format.def->layout(format, fitting_sizes(format, count)).shared_count;
}

// Returns the shared codes of value `index`: groups are stored in order.
std::string shared_text(const Format& format, const Coded& tensor, std::size_t index) {
  const auto each = static_cast<std::size_t>(shared_count(format, 1));
  const auto end =
      static_cast<std::size_t>(shared_count(format, static_cast<std::int64_t>(index) + 1));
  const int bits = format.def->layout(format, tensor.sizes).shared_bits;
  std::vector<std::string> texts;
  for (std::size_t i = end - each; i < end; ++i)
    texts.push_back(binary(tensor.codes.shared[i], bits));
  return fmt::format("{}", fmt::join(texts, " "));
}

// Whether value `index`, quantized to `y`, exceeds the range of its scale by more than half a step.
bool saturates(const Format& format, const Coded& tensor, std::size_t index, float y) {
  const float x = tensor.x[index];
  if (!std::isfinite(y) || std::isnan(x) || std::abs(x) <= std::abs(y)) return false;
  Codes codes = tensor.codes;
  std::vector<float> decoded(tensor.x.size());
  const double sign = std::signbit(x) ? -1 : 1;
  std::set<double> values;  // signed so that the direction of x is positive
  for (const std::uint32_t code :
       tried_codes(format.def->layout(format, tensor.sizes).element_bits)) {
    codes.elements[index] = code;
    format.def->decode({format, tensor.sizes, {}, tensor.state}, codes, decoded);
    if (std::isfinite(decoded[index])) values.insert(sign * decoded[index]);
  }
  const double end = *values.rbegin(), step = values.size() > 1 ? end - *++values.rbegin() : 0;
  return sign * x > end + step / 2;
}

QuantizedNumber quantized_number(const Format& format, const Coded& tensor, std::size_t index,
                                 float becomes) {
  QuantizedNumber number;
  number.value = tensor.x[index];
  number.quantized = becomes;
  number.saturates = saturates(format, tensor, index, becomes);
  const std::uint32_t element = tensor.codes.elements[index];
  int left = format.def->layout(format, tensor.sizes).element_bits;
  for (const CodeField& field : format.def->fields(format)) {
    left -= field.bits;
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << field.bits) - 1);
    const std::uint32_t part = element >> left & mask;
    number.code += (number.code.empty() ? "" : " ") + binary(part, field.bits);
    number.parts.push_back(code_field_text(field, part));
  }
  HONE_ASSERT(left == 0, "the fields of {} leave {} bits", to_string(format), left);
  if (!tensor.codes.shared.empty()) number.shared = shared_text(format, tensor, index);
  return number;
}

std::string sharing_text(const Format& format, std::int64_t count) {
  const std::int64_t each = shared_count(format, 1);
  if (each == 0 && states_of(format).empty()) return "independently of each other";
  const bool blocks = each > 0 && shared_count(format, kMoreThanABlock) > each;
  const std::int64_t groups = blocks ? shared_count(format, count) / each : 1;
  if (groups > 1) return fmt::format("together, in {} blocks", groups);
  const char* whole = blocks ? "block" : "tensor";
  return count == 1 ? fmt::format("as a {} of one", whole)
                    : fmt::format("together, as one {} of {}", whole, count);
}

}  // namespace

FormatGrid format_grid(const Format& format) {
  FormatGrid grid;
  grid.average_bits = average_bits(format, {768, 768});
  const Coded frame = frame_of(format);
  grid.scaled = !frame.codes.shared.empty() || !frame.state.empty();
  const int bits = format.def->layout(format, frame.sizes).element_bits;
  std::vector<float> coded = values_of_codes(format, frame, tried_codes(bits));
  if (bits > kListedBits) {  // without shared codes, larger values saturate
    coded.insert(coded.begin(), std::numeric_limits<float>::lowest());
    coded.push_back(std::numeric_limits<float>::max());
  }
  const std::vector<float> written = written_values(format, frame, coded);
  grid.lowest = written.front();
  grid.highest = written.back();
  if (bits > kListedBits) return grid;
  std::ranges::set_difference(coded, written, std::back_inserter(grid.unwritten));
  grid.values = written;
  constexpr float kTiny =
      0x1.234566p-30f;  // needs more bits than the formats with listed values have
  Coded tiny = frame;
  grid.passes_tiny =
      quantized(format, tiny, kTiny) == kTiny && !std::ranges::binary_search(written, kTiny);
  // Rounding to fp32 makes equal steps differ, least near 0: the most accurate step is there.
  float most = 0;
  for (std::size_t i = 1; i < grid.values.size(); ++i) {
    const float low = grid.values[i - 1], high = grid.values[i], step = high - low;
    const float at_most =
        step + std::numeric_limits<float>::epsilon() * std::max(std::abs(low), std::abs(high));
    if (i > 1 && at_most >= most) continue;
    most = at_most;
    grid.smallest_step = step;
  }
  return grid;
}

QuantizedNumbers quantize_numbers(const Format& format, std::span<const float> values) {
  const Coded tensor = coded(format, {values.begin(), values.end()});
  std::vector<float> y(tensor.x.size());
  format.def->decode({format, tensor.sizes, {}, tensor.state}, tensor.codes, y);
  QuantizedNumbers result;
  for (std::size_t i = 0; i < values.size(); ++i)
    result.numbers.push_back(quantized_number(format, tensor, i, y[i]));
  const std::vector<FormatStateDef> defs = states_of(format);
  for (std::size_t i = 0; i < defs.size(); ++i) {
    const auto state = tensor.state[i].values<float>();
    result.state.push_back({std::string(defs[i].name), {state.begin(), state.end()}});
  }
  result.sharing = sharing_text(format, static_cast<std::int64_t>(values.size()));
  return result;
}

std::vector<std::string> quantizer_kernels(const Library& library) {
  std::vector<std::string> names;
  for (const Kernel& kernel : library.kernels)
    if (kernel.op == kQuantizer)
      names.push_back(fmt::format("{} ({})", kernel.name, kernel.device));
  names.emplace_back("reference");
  return names;
}

}  // namespace hone
