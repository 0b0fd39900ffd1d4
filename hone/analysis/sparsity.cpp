#include "hone/analysis/sparsity.h"

#include <algorithm>
#include <array>

#include "hone/base/percentage.h"
#include "hone/passes/prune.h"
#include "hone/tensor/dense.h"

namespace hone {

std::vector<Zeros> parameter_zeros(const Graph& graph, const ParameterStore& parameters) {
  std::vector<Zeros> all;
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    if (!info(parameter->role()).counted || parameter->types()[0].dtype != DType::f32) continue;
    const Tensor values = dense_on(parameters.at(parameter->name()), cpu());
    all.push_back(
        {parameter->name(), values.count(), std::ranges::count(values.values<float>(), 0.0f)});
  }
  return all;
}

Zeros total(const std::vector<Zeros>& all) {
  Zeros sum;
  for (const Zeros& one : all) {
    sum.elements += one.elements;
    sum.zeros += one.zeros;
  }
  return sum;
}

namespace {

constexpr double kFewZeros = 0.01;       // up to this share of zeros a weight counts as dense
constexpr double kNearlyAll = 0.99;      // minimum share of the zeros that lie in zero blocks
constexpr double kMostAboveHalf = 0.05;  // tolerance above the 50% that 2:4 removes

/// A dense weight (N,K).
struct WeightRows {
  std::span<const float> values;
  std::int64_t rows = 0, columns = 0;

  bool is_zero(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)] == 0;
  }
};

// Counts the zeros in blocks that are entirely zero. Blocks at the edges are smaller, as in pruning.
std::int64_t zeros_in_blocks(const WeightRows& weight, const PruneBlock& block) {
  std::int64_t zeros = 0;
  for (std::int64_t row = 0; row < weight.rows; row += block.rows)
    for (std::int64_t column = 0; column < weight.columns; column += block.columns) {
      const std::int64_t end_row = std::min(row + block.rows, weight.rows),
                         end_column = std::min(column + block.columns, weight.columns);
      bool all = true;
      for (std::int64_t r = row; r < end_row && all; ++r)
        for (std::int64_t c = column; c < end_column && all; ++c) all = weight.is_zero(r, c);
      if (all) zeros += (end_row - row) * (end_column - column);
    }
  return zeros;
}

bool follows(const WeightRows& weight, const NOfM& pattern) {
  if (weight.columns % pattern.of != 0) return false;
  for (std::int64_t row = 0; row < weight.rows; ++row)
    for (std::int64_t column = 0; column < weight.columns; column += pattern.of) {
      std::int64_t kept = 0;
      for (std::int64_t c = column; c < column + pattern.of; ++c) kept += !weight.is_zero(row, c);
      if (kept > pattern.kept) return false;
    }
  return true;
}

/// Counts the zeros of weights, one at a time.
class ZeroCounter {
 public:
  void add(const Tensor& weight) {
    const WeightRows rows{weight.values<float>(), weight.size(0), weight.size(1)};
    const Zeros zeros{"", weight.count(), std::ranges::count(rows.values, 0.0f)};
    all_.elements += zeros.elements;
    all_.zeros += zeros.zeros;
    if (zeros.share() < kFewZeros) return;
    pruned_.elements += zeros.elements;
    pruned_.zeros += zeros.zeros;
    is_pattern_ = is_pattern_ && follows(rows, pattern_);
    for (std::size_t i = 0; i < kBlocks.size(); ++i)
      in_blocks_[i] += zeros_in_blocks(rows, kBlocks[i]);
  }
  LinearZeros result() const {
    LinearZeros result{.zeros = all_};
    const auto most = std::ranges::max_element(in_blocks_);
    if (static_cast<double>(*most) >= kNearlyAll * static_cast<double>(pruned_.zeros)) {
      if (pruned_.zeros > 0)
        result.structure.block = kBlocks[static_cast<std::size_t>(most - in_blocks_.begin())];
    } else if (is_pattern_ && pruned_.share() < 0.5 + kMostAboveHalf) {
      result.structure.pattern = pattern_;
    }
    return result;
  }

 private:
  static constexpr std::array<PruneBlock, 2> kBlocks = {{{4, 1}, {1, 4}}};
  Zeros all_, pruned_;  // of all weights, and of those that are not dense
  std::array<std::int64_t, 2> in_blocks_ = {};
  NOfM pattern_ = {};
  bool is_pattern_ = true;
};

}  // namespace

LinearZeros linear_zeros(const Graph& graph, const ParameterStore& parameters) {
  ZeroCounter counter;
  for (const Node* linear : graph.operations("linear"))
    if (const Value weight = product_weight(*linear); weight.node != nullptr)
      counter.add(stored_values(weight, parameters).on(cpu()));
  return counter.result();
}

LinearZeros linear_zeros(const Tensor& weight) {
  ZeroCounter counter;
  counter.add(weight);
  return counter.result();
}

std::string to_text(const LinearZeros& zeros) {
  if (zeros.zeros.share() < kFewZeros) return "";
  const PruneStructure& structure = zeros.structure;
  const bool is_single = !structure.pattern && structure.block.is_single();
  return fmt::format("{} of the linear weights zero ({})", share_text(zeros.zeros.share()),
                     is_single           ? "single weights"
                     : structure.pattern ? structure_text(structure)
                                         : "blocks of " + structure_text(structure));
}

}  // namespace hone
