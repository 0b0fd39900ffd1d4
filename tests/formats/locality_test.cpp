#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "hone/base/random.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/format.h"

// Checks what each format declares a quantized value to depend on, by changing everything else.
namespace hone {
namespace {

const FormatTable& formats() {
  static const FormatTable table = builtin_formats();
  return table;
}

// Returns the format with its defaults, with each named value, and with each parameter that moves its blocks.
std::vector<Format> variants(const FormatDef& def) {
  std::vector<std::string> texts = {std::string(def.name)};
  for (const FormatParameterDef& parameter : def.parameters) {
    for (const std::string_view word : parameter.words)
      texts.push_back(fmt::format("{}({}={})", def.name, parameter.name, word));
    if (parameter.name == "group") texts.push_back(fmt::format("{}(group=4)", def.name));
    if (parameter.name == "axis") texts.push_back(fmt::format("{}(axis=0)", def.name));
    if (parameter.name == "rows") texts.push_back(fmt::format("{}(rows=2)", def.name));
  }
  std::vector<Format> made;
  for (const std::string& text : texts) {
    try {
      made.push_back(parse_format(text, formats()));
    } catch (const UserError&) {
      // This value requires another parameter.
    }
  }
  return made;
}

std::vector<float> drawn(std::int64_t count, std::uint64_t seed, double scale) {
  RandomSequence random(seed, 1);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(scale * (random.uniform() - 0.5));
  return values;
}

bool belongs(std::size_t element, std::size_t place, Locality locality, std::size_t row_length) {
  return locality == Locality::element ? element == place
                                       : element / row_length == place / row_length;
}

// Checks for the fast kernel or the reference that a value does not depend on others outside its locality.
void expect_local(const Format& format, const Sizes& sizes, Locality locality, bool fast) {
  const std::vector<float> x = drawn(element_count(sizes), 1, 4),
                           far = drawn(element_count(sizes), 2, 64);
  const std::vector<Tensor> state = calibrate_tensor(format, sizes, x);
  ThreadPool pool(2);
  const auto quantized = [&](const std::vector<float>& values) {
    std::vector<float> y(values.size());
    const QuantizerInput input{format, sizes, values, state};
    fast ? format.def->quantize(input, pool, y) : format.def->quantize_reference(input, y);
    return y;
  };
  const std::vector<float> expected = quantized(x);
  for (const std::size_t place : {std::size_t{0}, x.size() / 2, x.size() - 1}) {
    std::vector<float> other = far;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (belongs(i, place, locality, static_cast<std::size_t>(sizes.back()))) other[i] = x[i];
    EXPECT_EQ(std::bit_cast<std::uint32_t>(quantized(other)[place]),
              std::bit_cast<std::uint32_t>(expected[place]))
        << to_string(format) << " of " << to_string(sizes) << " at " << place
        << (fast ? ", fast" : "");
  }
}

TEST(Locality, IsAsFormatsClaim) {
  std::map<Locality, int> held;
  for (const auto& [name, def] : formats()) {
    for (const Format& format : variants(def)) {
      for (const Sizes& sizes : {Sizes{6, 64}, Sizes{2, 4, 64}}) {
        const Locality locality = locality_of(format, static_cast<std::int64_t>(sizes.size()));
        ++held[locality];
        if (locality == Locality::tensor) continue;
        for (const bool fast : {false, true}) expect_local(format, sizes, locality, fast);
      }
    }
  }
  EXPECT_GT(held[Locality::element], 10);
  EXPECT_GT(held[Locality::row], 10);
}

Locality of(std::string_view text) { return locality_of(parse_format(text, formats()), 2); }

TEST(Locality, FollowsTheParameters) {
  EXPECT_EQ(of("integer(width=8,frac=4)"), Locality::element);
  EXPECT_EQ(of("int(bits=8)"), Locality::element);
  EXPECT_EQ(of("int(bits=8,per=tensor,scale=dynamic)"), Locality::tensor);
  EXPECT_EQ(of("int(bits=8,per=token)"), Locality::row);
  EXPECT_EQ(of("int(bits=8,per=row)"), Locality::tensor) << "the scales of rows belong to places";
  EXPECT_EQ(of("mxint(bits=8)"), Locality::row);
  EXPECT_EQ(of("mxint(bits=8,axis=0)"), Locality::tensor);
  EXPECT_EQ(of("mxint(bits=8,axis=1)"), Locality::row);
  EXPECT_EQ(of("block_fp(rows=2)"), Locality::tensor);
  EXPECT_EQ(of("ternary"), Locality::row);
  EXPECT_EQ(of("ternary(per=tensor)"), Locality::tensor);
  EXPECT_EQ(of("ternary(mode=mase)"), Locality::tensor) << "a scale for each of the first axis";
  EXPECT_EQ(of("ternary(per=tensor,scale=learned)"), Locality::element);
  EXPECT_EQ(of("ternary(scale=learned)"), Locality::tensor) << "as of int";
  EXPECT_EQ(of("binary_scaling"), Locality::element) << "by a scale known in advance";
  EXPECT_EQ(of("binary_scaling(per=row)"), Locality::tensor);
  EXPECT_EQ(of("binary_residual_sign"), Locality::element);
}

}  // namespace
}  // namespace hone
