#include "hone/train/sparsegpt.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "hone/base/random.h"
#include "tests/support/evaluate.h"
#include "tests/support/message.h"

namespace hone::testing {
namespace {

using Matrix = std::vector<std::vector<double>>;

/// Returns Σ x xᵀ of correlated inputs.
Matrix second_moments(std::size_t columns, std::size_t tokens = 60) {
  RandomSequence random(3, stream_of("sparsegpt inputs"));
  Matrix mix(8, std::vector<double>(columns)), sums(columns, std::vector<double>(columns));
  for (std::vector<double>& row : mix)
    for (double& value : row) value = random.normal();
  for (std::size_t t = 0; t < tokens; ++t) {
    std::vector<double> x(columns);
    for (double& value : x) value = 0.5 * random.normal();
    for (const std::vector<double>& row : mix) {
      const double factor = random.normal();
      for (std::size_t i = 0; i < columns; ++i) x[i] += factor * row[i];
    }
    for (std::size_t i = 0; i < columns; ++i)
      for (std::size_t j = 0; j < columns; ++j) sums[i][j] += x[i] * x[j];
  }
  return sums;
}

Matrix damped(Matrix h) {
  double sum = 0;
  for (std::size_t i = 0; i < h.size(); ++i) sum += h[i][i];
  for (std::size_t i = 0; i < h.size(); ++i) h[i][i] += 0.01 * sum / static_cast<double>(h.size());
  return h;
}

InverseFactor factor_of(const Matrix& h, int threads = 1) {
  ThreadPool pool(threads);
  std::vector<double> values;
  for (std::size_t i = 0; i < h.size(); ++i)
    for (std::size_t j = 0; j < h.size(); ++j)
      values.push_back(j < i ? std::nan("") : h[i][j]);  // values below the diagonal are not read
  return inverse_factor(std::move(values), std::ssize(h), pool);
}

/// Returns x of A x = b by Gauss-Jordan elimination. A is positive definite.
std::vector<double> solution(Matrix a, std::vector<double> b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t r = 0; r < a.size(); ++r) {
      if (r == i) continue;
      const double factor = a[r][i] / a[i][i];
      for (std::size_t c = i; c < a.size(); ++c) a[r][c] -= factor * a[i][c];
      b[r] -= factor * b[i];
    }
  for (std::size_t i = 0; i < a.size(); ++i) b[i] /= a[i][i];
  return b;
}

/// Returns the weights of a row with columns [first, first + count) set to 0. Later columns minimize the error; earlier
/// ones stay.
std::vector<double> least_squares(const Matrix& h, const std::vector<float>& row, std::size_t first,
                                  std::size_t count) {
  const std::size_t begin = first + count;
  Matrix left;
  std::vector<double> gap, best(row.begin(), row.end());
  for (std::size_t i = begin; i < row.size(); ++i) {
    left.emplace_back(h[i].begin() + static_cast<std::ptrdiff_t>(begin), h[i].end());
    gap.push_back(0);
    for (std::size_t j = first; j < begin; ++j) gap.back() += h[i][j] * row[j];
  }
  const std::vector<double> change = solution(left, gap);
  for (std::size_t i = 0; i < change.size(); ++i) best[begin + i] += change[i];
  for (std::size_t j = first; j < begin; ++j) best[j] = 0;
  return best;
}

/// Returns the squared error of a layer's outputs, Σ (w - v)ᵀ H (w - v).
double output_error(const Matrix& h, const std::vector<float>& w, const std::vector<float>& v) {
  double sum = 0;
  for (std::size_t begin = 0; begin < w.size(); begin += h.size())
    for (std::size_t i = 0; i < h.size(); ++i)
      for (std::size_t j = 0; j < h.size(); ++j)
        sum += h[i][j] * (static_cast<double>(w[begin + i]) - v[begin + i]) *
               (static_cast<double>(w[begin + j]) - v[begin + j]);
  return sum;
}

std::vector<float> normal_weights(std::size_t count) {
  RandomSequence random(4, stream_of("sparsegpt weights"));
  std::vector<float> w(count);
  for (float& value : w) value = static_cast<float>(random.normal());
  return w;
}

/// Returns weights whose given columns are certain to be removed first.
std::vector<float> row_with_small(std::size_t columns, std::size_t first, std::size_t count) {
  RandomSequence random(5, stream_of("sparsegpt row"));
  std::vector<float> row(columns);
  for (std::size_t i = 0; i < columns; ++i)
    row[i] = static_cast<float>((1 + random.uniform()) * (i % 2 == 0 ? 1 : -1));
  for (std::size_t i = first; i < first + count; ++i) row[i] *= 0.02f;
  return row;
}

struct Pruned {
  std::vector<int> kept;
  std::vector<float> values;
};
Pruned pruned(const PruneRule& rule, const std::vector<float>& w, const InverseFactor& factor,
              const Tensor& before = {}, int threads = 1) {
  ThreadPool pool(threads);
  const std::int64_t rows = std::ssize(w) / factor.columns;
  const CompensatedWeight weight =
      sparsegpt(rule, {"w", Tensor::of<float>({rows, factor.columns}, w), before}, factor, pool);
  return {{weight.kept.data<bool>(), weight.kept.data<bool>() + weight.kept.count()},
          elements_of(weight.values)};
}

TEST(SparseGpt, FactorsTheInverse) {
  const Matrix h = second_moments(9), with = damped(h);
  const InverseFactor factor = factor_of(h);
  const auto u = [&](std::size_t i, std::size_t j) { return factor.values[i * h.size() + j]; };
  for (std::size_t i = 0; i < h.size(); ++i)
    for (std::size_t j = 0; j < h.size(); ++j) {
      double sum = 0;  // element of (Uᵀ U) (H + d I)
      for (std::size_t k = 0; k < h.size(); ++k)
        for (std::size_t l = 0; l < h.size(); ++l) sum += u(l, i) * u(l, k) * with[k][j];
      EXPECT_NEAR(sum, i == j, 1e-9);
      if (j < i) {
        EXPECT_EQ(u(i, j), 0);
      }
    }
}

TEST(SparseGpt, MakesUpForARemovedColumnAsLeastSquaresDo) {
  const Matrix h = second_moments(7);
  const InverseFactor factor = factor_of(h);
  for (std::size_t column = 0; column < h.size(); ++column) {
    const std::vector<float> row = row_with_small(h.size(), column, 1);
    const Pruned one = pruned({.sparsity = 1.0 / 7}, row, factor);
    const std::vector<double> best = least_squares(damped(h), row, column, 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(one.kept[i], i != column) << column;
      EXPECT_NEAR(one.values[i], best[i], 1e-6) << column << " " << i;
    }
    EXPECT_EQ(one.values[column], 0);
  }
}

// So the remaining weights are optimal for this mask.
TEST(SparseGpt, MakesUpForTheFirstColumnsTogetherAsLeastSquaresDo) {
  const Matrix h = second_moments(8);
  const std::vector<float> row = row_with_small(8, 0, 3);
  const Pruned three = pruned({.sparsity = 3.0 / 8}, row, factor_of(h));
  const std::vector<double> best = least_squares(damped(h), row, 0, 3);
  for (std::size_t i = 0; i < row.size(); ++i) {
    EXPECT_EQ(three.kept[i], i >= 3);
    EXPECT_NEAR(three.values[i], best[i], 1e-6) << i;
  }
}

TEST(SparseGpt, LowersTheErrorOfEveryStructure) {
  const Matrix h = second_moments(24);
  const InverseFactor factor = factor_of(h);
  const std::vector<float> w = normal_weights(16 * 24);
  for (const char* structure : {"weights", "2:4", "1x4", "4x1"}) {
    const PruneStructure wanted = parse_structure(structure);
    const Pruned half = pruned({.sparsity = 0.5, .structure = wanted}, w, factor);
    std::vector<float> alone = w;
    for (std::size_t i = 0; i < w.size(); ++i) {
      if (half.kept[i] == 0) {
        alone[i] = 0;
        EXPECT_EQ(half.values[i], 0);
      }
      const std::size_t row = i / 24, column = i % 24;
      const auto kept = [&](std::size_t r, std::size_t c) { return half.kept[r * 24 + c]; };
      if (wanted.block.columns == 4) {
        EXPECT_EQ(half.kept[i], kept(row, column / 4 * 4)) << i;
      }
      if (wanted.block.rows == 4) {
        EXPECT_EQ(half.kept[i], kept(row / 4 * 4, column)) << i;
      }
      if (wanted.pattern && column % 4 == 0) {
        EXPECT_EQ(kept(row, column) + kept(row, column + 1) + kept(row, column + 2) +
                      kept(row, column + 3),
                  2);
      }
    }
    EXPECT_EQ(std::ranges::count(half.kept, 0), 16 * 24 / 2) << structure;
    EXPECT_LT(output_error(h, w, half.values), 0.7 * output_error(h, w, alone)) << structure;
  }
}

TEST(SparseGpt, RemovesTheShareOfAllColumnsTogether) {
  const InverseFactor factor = factor_of(second_moments(300));
  const std::vector<float> w = normal_weights(5 * 300);
  for (const double sparsity : {0.0, 0.01, 0.37, 0.99, 1.0})
    EXPECT_EQ(std::ranges::count(pruned({.sparsity = sparsity}, w, factor).kept, 0),
              std::llround(sparsity * 1500))
        << sparsity;
  // A group of at most 128 columns contains only whole blocks, except at the edges.
  const Pruned odd = pruned({.sparsity = 0.5, .structure = parse_structure("2x7")}, w, factor);
  for (std::size_t i = 0; i < w.size(); ++i) {
    const std::size_t row = i / 300, column = i % 300;
    EXPECT_EQ(odd.kept[i], odd.kept[row / 2 * 2 * 300 + column / 7 * 7]);
  }
}

TEST(SparseGpt, SetsWeightsOfDeadColumnsToZero) {
  Matrix h = second_moments(6);
  for (std::size_t i = 0; i < 6; ++i) h[2][i] = h[i][2] = 0;
  const std::vector<float> w = normal_weights(4 * 6);
  const Pruned half = pruned({.sparsity = 0.5}, w, factor_of(h));
  for (std::size_t row = 0; row < 4; ++row) {
    EXPECT_EQ(half.values[row * 6 + 2], 0);
    EXPECT_EQ(half.kept[row * 6 + 2], 0) << "nothing reads them, so they go first";
  }
  EXPECT_EQ(std::ranges::count(half.kept, 0), 12);
  const Pruned none = pruned({.sparsity = 0}, w, factor_of(h));
  for (std::size_t i = 0; i < w.size(); ++i) EXPECT_EQ(none.values[i], i % 6 == 2 ? 0 : w[i]);
}

TEST(SparseGpt, LeavesGoneWhatWasGone) {
  const InverseFactor factor = factor_of(second_moments(8));
  const std::vector<float> w = normal_weights(2 * 8);
  const Tensor before = booleans({2, 8}, {1, 1, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0});
  for (const char* structure : {"weights", "2:4"}) {
    const Pruned half =
        pruned({.sparsity = 0.5, .structure = parse_structure(structure)}, w, factor, before);
    EXPECT_EQ(std::ranges::count(half.kept, 0), 8) << structure;
    for (std::size_t i = 0; i < w.size(); ++i)
      if (!before.data<bool>()[i]) {
        EXPECT_EQ(half.kept[i], 0);
        EXPECT_EQ(half.values[i], 0);
      }
  }
}

TEST(SparseGpt, HasTheSameBitsForAnyNumberOfThreads) {
  const Matrix h = second_moments(300);
  const InverseFactor one = factor_of(h), three = factor_of(h, 3);
  EXPECT_EQ(one.values, three.values);
  const std::vector<float> w = normal_weights(41 * 300);
  for (const char* structure : {"weights", "2:4", "4x1"}) {
    const PruneRule rule{.structure = parse_structure(structure)};
    EXPECT_EQ(pruned(rule, w, one).values, pruned(rule, w, three, {}, 3).values) << structure;
  }
}

TEST(SparseGpt, SaysWhatDoesNotGoTogether) {
  const InverseFactor factor = factor_of(second_moments(6));
  const std::vector<float> w = normal_weights(6);
  EXPECT_NE(message_of([&] {
              pruned({.structure = parse_structure("2:4")}, w, factor);
            }).find("do not divide into groups of 4"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              pruned({.method = PruneMethod::sparsegpt, .scope = PruneScope::global}, w, factor);
            }).find("`scope` must be local"),
            std::string::npos);
}

}  // namespace
}  // namespace hone::testing
