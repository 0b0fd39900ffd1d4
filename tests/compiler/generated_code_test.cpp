#include "hone/compiler/generated_code.h"

#include <array>
#include <cmath>
#include <functional>

#include "hone/base/random.h"
#include "hone/compiler/object_cache.h"
#include "tests/compiler/own_cache.h"
#include "tests/kernels/kernel_testing.h"

// Compares generated code with the formulas in double, for every vector width of this machine.
namespace hone::testing {
namespace {

using namespace hone::compiler;

constexpr std::array kValues = {OperandKind::values};

class GeneratedCodes : public GeneratedCodeTest {};

// Evaluates the formula for one row of `x0`.
std::vector<float> row_of(const std::string& formula, const std::vector<float>& x) {
  const GeneratedCode& code = code_of(formula, kValues);
  std::vector<float> y(x.size() + 1, -77);
  const void* const operands[] = {x.data()};
  float* const results[] = {y.data()};
  const std::int64_t row_bytes[] = {0};
  code.function(operands, results, row_bytes, 1, static_cast<std::int64_t>(x.size()));
  EXPECT_EQ(y.back(), -77) << "written behind the end";
  y.pop_back();
  return y;
}

double exact(const std::string& formula, float x) {
  const double operand = static_cast<double>(x);
  const double* const operands[] = {&operand};
  double result = 0;
  double* const results[] = {&result};
  evaluate(FormulaSteps(parse_formulas(formula)), 1, operands, results);
  return result;
}

// Returns 65536 floats of both signs whose bit patterns are evenly spaced.
std::vector<float> floats_of_all_sizes() {
  std::vector<float> all;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = std::bit_cast<float>(bits << 16 | (bits * 40503U & 0xFFFF));
    all.push_back(value);
  }
  return all;
}

void expect_near_everywhere(const std::string& formula, double ulps, double absolute = 0) {
  kernels::for_each_target(
      [&] {
        const std::vector<float> x = floats_of_all_sizes(), y = row_of(formula, x);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double expected = exact(formula, x[i]);
          if (std::isnan(expected)) {
            ASSERT_TRUE(std::isnan(y[i])) << formula << " of " << x[i] << " is " << y[i];
            continue;
          }
          const double rounded = static_cast<double>(static_cast<float>(expected));
          if (static_cast<double>(y[i]) == rounded) continue;
          const double allowed = ulps * 0x1p-23 * std::fabs(expected) + absolute;
          ASSERT_NEAR(y[i], expected, allowed) << formula << " of " << x[i];
        }
      },
      kernels::kFusedTargets);
}

TEST_F(GeneratedCodes, AreExactWhereOneStepIs) {
  for (const char* formula : {"x0 + 1", "x0 - 3", "2.5 * x0", "1 / x0", "-x0", "abs(x0)",
                              "sqrt(x0)", "select(x0 < 0, 1, x0)", "select(1 < x0, x0, 2)"})
    expect_near_everywhere(formula, 0);
}

TEST_F(GeneratedCodes, HaveFunctionsThatErrByLittle) {
  // Subnormal results are rounded twice.
  expect_near_everywhere("exp(x0)", 2, 0x1p-149);
  // The polynomials' own relative errors are 4e-7 (kernels/math-inl.h). Results for tiny x are rounded twice.
  expect_near_everywhere("erf(x0)", 4, 0x1p-148);
  expect_near_everywhere("tanh(x0)", 4, 0x1p-148);
}

// Division by a constant becomes a multiplication, which rounds once more. Sums of products use fused multiply-add.
TEST_F(GeneratedCodes, RoundLittleInSums) {
  kernels::for_each_target(
      [&] {
        const std::vector<float> x = kernels::random_floats(1000, 1, 1, 2);
        for (const char* formula : {"x0 / 3", "x0 * x0 + 1", "4 - x0 * x0 / 8", "x0 * x0 - x0"}) {
          const std::vector<float> y = row_of(formula, x);
          for (std::size_t i = 0; i < x.size(); ++i)
            ASSERT_NEAR(y[i], exact(formula, x[i]), 2 * 0x1p-23 * 4) << formula;
        }
        // Rounded once, as by fused multiply-add.
        for (const float value : row_of("x0 * x0 + -1.0000002384185793", {1.0000001192092896f}))
          EXPECT_EQ(value, 0x1p-46f);
      },
      kernels::kFusedTargets);
}

TEST_F(GeneratedCodes, HaveTheSameBitsForVectorsOfAnyWidth) {
  const std::string formula = "t0 = exp(x0) + erf(x0) * tanh(x0); t0 / (1 + abs(x0)) - x0";
  std::vector<float> first;
  kernels::for_each_target(
      [&] {
        for (const std::int64_t size : kernels::kOddSizes) {
          const std::vector<float> got = row_of(formula, kernels::random_floats(size, 2, -4, 4));
          if (size != kernels::kOddSizes.back()) continue;
          if (first.empty()) first = got;
          EXPECT_TRUE(kernels::same_bits(first, got));
        }
      },
      kernels::kFusedTargets);
}

// Code for vectors that this CPU lacks is compiled too.
TEST_F(GeneratedCodes, AreCompiledForVectorsOfBothWidths) {
  const FormulaSteps formulas(
      parse_formulas("t0 = exp(x0) + erf(x1); select(0 < x2, sqrt(abs(t0)), tanh(t0)); t0 - x3"));
  const OperandKind operands[] = {OperandKind::values, OperandKind::repeated_value,
                                  OperandKind::truths, OperandKind::repeated_truth};
  for (const int lanes : {8, 16})
    EXPECT_TRUE(
        compile_object(vector_code(formulas, operands, lanes, "f"), lanes).starts_with("\177ELF"));
}

TEST_F(GeneratedCodes, AreKeptForTheNextProcess) {
  const std::string formula = "x0 * 17.125 + 4";
  const CodeCounts before = code_counts();
  code_of(formula, kValues);
  code_of(formula, kValues);
  EXPECT_EQ(code_counts().compiled - before.compiled, 1);
  EXPECT_EQ(code_counts().loaded - before.loaded, 1);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(cache_.code())) {
    ++files;
    const std::string key = entry.path().stem().string();
    const std::optional<std::string> kept = cached_object(key);
    ASSERT_TRUE(kept.has_value());
    EXPECT_TRUE(kept->starts_with("\177ELF"));
    // A wrong length and a wrong byte are both detected.
    std::string bytes = read_file(entry.path());
    write_file(entry.path(), bytes.substr(0, bytes.size() - 1));
    EXPECT_FALSE(cached_object(key).has_value());
    bytes[bytes.size() / 2] ^= 1;
    write_file(entry.path(), bytes);
    EXPECT_FALSE(cached_object(key).has_value());
    cache_object(key, *kept);
    EXPECT_EQ(cached_object(key), kept);
  }
  EXPECT_EQ(files, 1);
}

TEST_F(GeneratedCodes, KeepNoMoreThanTheyMayAndRemoveNothingElse) {
  const std::string large = "\177ELF" + std::string(kMaxBytes / 4, 'x');
  cache_object("a", large);
  write_file(cache_.code() / "of_somebody_else.o", large);
  for (const char* key : {"b", "c", "d", "e"}) cache_object(key, large);
  EXPECT_FALSE(cached_object("a").has_value());
  EXPECT_TRUE(cached_object("e").has_value());
  EXPECT_TRUE(fs::exists(cache_.code() / "of_somebody_else.o"));
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(cache_.code()))
    if (entry.path().filename() != "of_somebody_else.o") bytes += entry.file_size();
  EXPECT_LE(bytes, kMaxBytes + 64);
}

}  // namespace
}  // namespace hone::testing
