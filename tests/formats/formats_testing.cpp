#include "tests/formats/formats_testing.h"
#include "tests/support/test_data.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/codes.h"

namespace hone::testing {
namespace {

FormatTable& mutable_formats() {
  static FormatTable table = builtin_formats();
  return table;
}

Sizes or_flat(Sizes sizes, const std::vector<float>& x) {
  return sizes.empty() ? Sizes{static_cast<std::int64_t>(x.size())} : sizes;
}

std::vector<float> negated(std::vector<float> x) {
  for (float& value : x) value = -value;
  return x;
}

void expect_same(const std::vector<float>& got, const std::vector<float>& expected,
                 const std::vector<float>& x, std::string_view what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(same(got[i], expected[i])) << what << ": element " << i << ", " << x[i] << " gave "
                                           << got[i] << ", expected " << expected[i];
  }
}

// Appends the values of a vector: numbers, "nan", "inf" or "-inf". Flattens nested lists.
void flatten(const Json& value, std::vector<float>& into) {
  if (value.is_array()) {
    for (const Json& item : value) flatten(item, into);
  } else if (value.is_string()) {
    const std::string text = value.get<std::string>();
    into.push_back(text == "nan" ? NAN : text == "inf" ? INFINITY : -INFINITY);
  } else {
    into.push_back(value.get<float>());
  }
}

}  // namespace

const FormatTable& formats() { return mutable_formats(); }

void add_format(const FormatDef& def) { mutable_formats().emplace(def.name, def); }

Format format_of(std::string_view text) { return parse_format(text, formats()); }

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a == 0 && b == 0) ||
         (std::isnan(a) && std::isnan(b));
}

std::vector<float> by_reference(std::string_view format, const std::vector<float>& x, Sizes sizes,
                                const std::vector<Tensor>& state) {
  const Format parsed = format_of(format);
  const Sizes shape = or_flat(sizes, x);
  std::vector<float> y(x.size());
  parsed.def->quantize_reference({parsed, shape, x, state}, y);
  return y;
}

std::vector<float> fast(std::string_view format, const std::vector<float>& x, Sizes sizes,
                        const std::vector<Tensor>& state, int threads) {
  const Format parsed = format_of(format);
  const Sizes shape = or_flat(sizes, x);
  ThreadPool pool(threads);
  std::vector<float> y(x.size());
  parsed.def->quantize({parsed, shape, x, state}, pool, y);
  return y;
}

std::vector<float> finite_values(std::size_t count, int low, int high) {
  RandomSequence random(1, stream_of("format values"));
  std::vector<float> values = {0.0f, -0.0f};
  for (int k = -24; k <= 24 && values.size() < count / 2; ++k) {
    values.push_back(static_cast<float>(k) * 0.25f);
    values.push_back(static_cast<float>(k) * 0x1p-9f);
  }
  while (values.size() < count) {
    const double sign = random.below(2) == 0 ? 1 : -1;
    values.push_back(static_cast<float>(sign * std::exp2((low + high) * random.uniform() - low)));
  }
  return values;
}

std::vector<float> any_values(std::size_t count) {
  std::vector<float> values = finite_values(count, 126, 127);
  const float special[] = {INFINITY, -INFINITY, NAN, 1e-45f, -1e-45f, 1e-39f, 3.4e38f, -3.4e38f};
  for (std::size_t i = 0; i < std::size(special); ++i)
    values[values.size() * (2 * i + 1) / (2 * std::size(special))] = special[i];
  return values;
}

std::vector<Tensor> calibrated_state(std::string_view format, const std::vector<float>& x,
                                     Sizes sizes) {
  const Format parsed = format_of(format);
  return calibrate_tensor(parsed, or_flat(sizes, x), x);
}

std::string objection(std::string_view text, const std::vector<float>& seen) {
  const Format format = format_of(text);
  Observation observation;
  observation.include(seen);
  return format.def->objection(format, observation);
}

int check_vectors(std::string_view name, std::string_view mode,
                  const std::function<std::string(const Json& parameters)>& text_of) {
  int checked = 0;
  for (const Json& entry : read_json(test_data() / "vectors" / "formats.json")) {
    if (entry["format"] != name || entry["mode"] != mode) continue;
    const std::string format = text_of(entry["params"]);
    if (format.empty()) continue;
    for (const Json& row : entry["cases"]) {
      std::vector<float> x, expected;
      flatten(row["in"], x);
      flatten(row["out"], expected);
      const Sizes sizes = row.contains("shape") ? row["shape"].get<Sizes>() : Sizes{1};
      expect_same(by_reference(format, x, sizes), expected, x, format + ", reference");
      expect_same(fast(format, x, sizes), expected, x, format + ", fast");
      checked += static_cast<int>(x.size());
    }
  }
  return checked;
}

void check_idempotent(std::string_view format, const std::vector<float>& x, Sizes sizes) {
  const std::vector<Tensor> state = calibrated_state(format, x, sizes);
  const std::vector<float> once = by_reference(format, x, sizes, state);
  expect_same(by_reference(format, once, sizes, state), once, x, std::string(format) + ", twice");
}

void check_odd(std::string_view format, const std::vector<float>& x, Sizes sizes) {
  const std::vector<Tensor> state = calibrated_state(format, x, sizes);
  expect_same(by_reference(format, negated(x), sizes, state),
              negated(by_reference(format, x, sizes, state)), x, std::string(format) + ", negated");
}

void check_monotone(std::string_view format) {
  std::vector<float> x = finite_values(4000);
  const std::vector<Tensor> state = calibrated_state(format, x);
  std::ranges::sort(x);
  const std::vector<float> y = by_reference(format, x, {}, state);
  EXPECT_TRUE(std::ranges::is_sorted(y)) << format;
}

void check_packs(std::string_view format, const std::vector<float>& x, Sizes sizes) {
  const Format parsed = format_of(format);
  const Sizes shape = or_flat(sizes, x);
  const std::vector<Tensor> state = calibrated_state(format, x, shape);
  const QuantizerInput input{parsed, shape, x, state};
  const CodeLayout layout = parsed.def->layout(parsed, shape);
  const std::vector<std::byte> bytes = pack(parsed.def->encode(input), layout);
  std::vector<float> y(x.size());
  parsed.def->decode({parsed, shape, {}, state},
                     unpack(bytes, layout, static_cast<std::int64_t>(x.size())), y);
  expect_same(y, by_reference(format, x, shape, state), x, std::string(format) + ", unpacked");
  std::size_t state_bytes = 0;
  for (const Tensor& tensor : state) state_bytes += tensor.size_bytes();
  // Codes and shared codes may each end in the middle of a byte.
  EXPECT_NEAR(8.0 * static_cast<double>(bytes.size() + state_bytes),
              average_bits(parsed, shape) * static_cast<double>(x.size()), 14.5)
      << format;
}

void check_fast(std::string_view format, const std::vector<float>& x, Sizes sizes) {
  std::vector<float> finite = x;
  for (float& value : finite)
    if (!std::isfinite(value)) value = 0;
  const std::vector<Tensor> state = calibrated_state(format, finite, sizes);
  const std::vector<float> expected = by_reference(format, x, sizes, state);
  for (const std::int64_t target : {HWY_SSE4, HWY_AVX2, HWY_AVX3}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    for (const int threads : {1, 3}) {
      expect_same(fast(format, x, sizes, state, threads), expected, x,
                  fmt::format("{} by {}, {} threads", format, hwy::TargetName(target), threads));
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
  const Format parsed = format_of(format);
  const Sizes shape = or_flat(sizes, x);
  std::vector<float> y = x;
  ThreadPool pool(2);
  parsed.def->quantize({parsed, shape, y, state}, pool, y);
  expect_same(y, expected, x, fmt::format("{} in place", format));
}

}  // namespace hone::testing
