#include "hone/train/sparsegpt.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "hone/base/error.h"

namespace hone {
namespace {

constexpr std::int64_t kRowsAtOnce = 8, kColumnsAtOnce = 128;

// Uses four sums, because a single one would be bound by the latency of additions.
double dot(const double* a, const double* b, std::int64_t count) {
  std::array<double, 4> sums = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (std::int64_t lane = 0; lane < 4; ++lane)
      sums[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// y -= factor x
void subtract(double factor, const double* x, double* y, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] -= factor * x[i];
}

// Computes R with H = R Rᵀ, upper triangular, in place of H's upper triangle, from the last column to the first.
void factorize(std::vector<double>& h, std::int64_t columns, ThreadPool& pool) {
  for (std::int64_t j = columns - 1; j >= 0; --j) {
    double* const row = h.data() + j * columns;
    const std::int64_t behind = columns - 1 - j;
    const double square = row[j] - dot(row + j + 1, row + j + 1, behind);
    user_check(square > 0,
               "the inputs of a layer have no inverse second moments; give more examples "
               "(`calibration_batches`)");
    row[j] = std::sqrt(square);
    parallel_ranges(pool, j, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        double* const above = h.data() + i * columns;
        above[j] = (above[j] - dot(above + j + 1, row + j + 1, behind)) / row[j];
      }
    });
  }
}

// Solves U R = I, row by row of U.
std::vector<double> inverse_of(const std::vector<double>& r, std::int64_t columns,
                               ThreadPool& pool) {
  std::vector<double> u(r.size());
  parallel_ranges(pool, columns, kRowsAtOnce, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) u[static_cast<std::size_t>(i * columns + i)] = 1;
    for (std::int64_t j = begin; j < columns; ++j) {
      const double* const row = r.data() + j * columns;
      for (std::int64_t i = begin; i < std::min(end, j + 1); ++i) {
        double* const x = u.data() + i * columns;
        x[j] /= row[j];
        subtract(x[j], row + j + 1, x + j + 1, columns - 1 - j);
      }
    }
  });
  return u;
}

// Processes the columns of a weight.
class ColumnPruner {
 public:
  ColumnPruner(const PruneRule& rule, const PrunedTensor& tensor, const InverseFactor& factor,
               ThreadPool& pool)
      : rule_(rule),
        tensor_(tensor),
        factor_(factor),
        pool_(pool),
        rows_(tensor.values.size(0)),
        columns_(tensor.values.size(1)),
        kept_(Tensor::empty(DType::boolean, tensor.values.sizes())),
        is_kept_(kept_.data<bool>()) {
    const std::span<const float> values = tensor.values.values<float>();
    weights_.assign(values.begin(), values.end());
    for (std::size_t i = 0; i < weights_.size(); ++i)
      if (factor.dead[i % factor.dead.size()] || is_gone(i)) weights_[i] = 0;
  }

  CompensatedWeight run() {
    const std::int64_t step = columns_at_once();
    for (std::int64_t begin = 0; begin < columns_; begin += step) {
      const std::int64_t end = std::min(begin + step, columns_);
      if (!rule_.structure.pattern) choose(begin, end);
      parallel_ranges(pool_, rows_, kRowsAtOnce, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t row = first; row < last; ++row) settle(row, begin, end);
      });
    }
    Tensor values = Tensor::empty(DType::f32, tensor_.values.sizes());
    std::ranges::transform(weights_, values.data<float>(),
                           [](double value) { return static_cast<float>(value); });
    return {std::move(kept_), std::move(values)};
  }

 private:
  bool is_gone(std::size_t at) const {
    return tensor_.kept_before.defined() && !tensor_.kept_before.data<bool>()[at];
  }

  // Returns the size of as many whole groups or blocks as fit into 128 columns, at least one.
  std::int64_t columns_at_once() const {
    const PruneStructure& structure = rule_.structure;
    const std::int64_t whole = structure.pattern ? structure.pattern->of : structure.block.columns;
    return std::max<std::int64_t>(1, kColumnsAtOnce / whole) * whole;
  }

  float score(std::size_t at, std::int64_t column) const {
    const double error = weights_[at] / diagonal(column);
    return static_cast<float>(error * error);
  }
  double diagonal(std::int64_t column) const {
    return factor_.values[static_cast<std::size_t>(column * columns_ + column)];
  }

  // Chooses elements in all rows of these columns, which must not be final yet.
  void choose(std::int64_t begin, std::int64_t end) {
    const std::int64_t width = end - begin;
    const PruneBlock& block = rule_.structure.block;
    const std::int64_t bands = (rows_ + block.rows - 1) / block.rows;
    const auto blocks_up_to = [&](std::int64_t column) {
      return bands * ((column + block.columns - 1) / block.columns);
    };
    // Rounds half to even, as for all columns together.
    const auto dropped_up_to = [&](std::int64_t column) {
      return std::nearbyint(rule_.sparsity * static_cast<double>(blocks_up_to(column)));
    };
    PruneRule rule = rule_;
    rule.method = PruneMethod::l1;
    rule.sparsity = (dropped_up_to(end) - dropped_up_to(begin)) /
                    static_cast<double>(blocks_up_to(end) - blocks_up_to(begin));
    PrunedTensor part{tensor_.name, Tensor::empty(DType::f32, {rows_, width})};
    if (tensor_.kept_before.defined())
      part.kept_before = Tensor::empty(DType::boolean, {rows_, width});
    float* scores = part.values.data<float>();
    bool* before = part.kept_before.defined() ? part.kept_before.data<bool>() : nullptr;
    for (std::int64_t row = 0; row < rows_; ++row)
      for (std::int64_t column = begin; column < end; ++column) {
        const auto at = static_cast<std::size_t>(row * columns_ + column);
        *scores++ = score(at, column);
        if (before != nullptr) *before++ = !is_gone(at);
      }
    const Tensor kept = kept_elements(rule, {part})[0];
    for (std::int64_t row = 0; row < rows_; ++row)
      std::copy_n(kept.data<bool>() + row * width, width, is_kept_ + row * columns_ + begin);
  }

  // Chooses elements in one group of a row.
  void choose_in_group(std::int64_t row, std::int64_t column) {
    const NOfM& pattern = *rule_.structure.pattern;
    const auto size = static_cast<std::size_t>(pattern.of),
               at = static_cast<std::size_t>(row * columns_ + column);
    std::vector<float> scores(size);
    for (std::size_t i = 0; i < size; ++i)
      scores[i] = is_gone(at + i) ? -1 : score(at + i, column + static_cast<std::int64_t>(i));
    const std::span<bool> kept(is_kept_ + at, size);
    drop_lowest(scores, pattern.of - pattern.kept, kept);
    for (std::size_t i = 0; i < size; ++i) kept[i] = kept[i] && !is_gone(at + i);
  }

  void settle(std::int64_t row, std::int64_t begin, std::int64_t end) {
    double* const weights = weights_.data() + row * columns_;
    const bool* const kept = is_kept_ + row * columns_;
    for (std::int64_t i = begin; i < end; ++i) {
      if (rule_.structure.pattern && i % rule_.structure.pattern->of == 0) choose_in_group(row, i);
      if (kept[i]) continue;
      const double error = weights[i] / diagonal(i);
      weights[i] = 0;
      if (error != 0)
        subtract(error, factor_.values.data() + i * columns_ + i + 1, weights + i + 1,
                 columns_ - 1 - i);
    }
  }

  const PruneRule& rule_;
  const PrunedTensor& tensor_;
  const InverseFactor& factor_;
  ThreadPool& pool_;
  std::int64_t rows_, columns_;
  Tensor kept_;
  bool* is_kept_;                // elements of `kept_`
  std::vector<double> weights_;  // (N,K), updated
};

}  // namespace

InverseFactor inverse_factor(std::vector<double> hessian, std::int64_t columns, ThreadPool& pool,
                             double damping) {
  InverseFactor factor{columns, {}, std::vector<bool>(static_cast<std::size_t>(columns))};
  const auto diagonal = [&](std::int64_t i) -> double& {
    return hessian[static_cast<std::size_t>(i * columns + i)];
  };
  double sum = 0;
  for (std::int64_t i = 0; i < columns; ++i) sum += diagonal(i);
  const double added = damping * sum / static_cast<double>(columns);
  for (std::int64_t i = 0; i < columns; ++i) {
    factor.dead[static_cast<std::size_t>(i)] = diagonal(i) == 0;
    diagonal(i) = diagonal(i) == 0 ? 1 : diagonal(i) + added;
  }
  factorize(hessian, columns, pool);
  factor.values = inverse_of(hessian, columns, pool);
  return factor;
}

CompensatedWeight sparsegpt(const PruneRule& rule, const PrunedTensor& tensor,
                            const InverseFactor& factor, ThreadPool& pool) {
  check(rule);
  const std::int64_t columns = tensor.values.size(-1);
  HONE_ASSERT(tensor.values.rank() == 2 && columns == factor.columns,
              "{}: a weight of {} for {} inputs", tensor.name, to_string(tensor.values.sizes()),
              factor.columns);
  check_rows(rule, tensor);
  return ColumnPruner(rule, tensor, factor, pool).run();
}

}  // namespace hone
