#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/session.h"

namespace hone {

/// Examples in the form of graph inputs, of any kind: the interface of training, calibration and prediction to a
/// dataset.
///
///     const ExampleSource source = text_examples(set);                  // texts, padded: train/text_examples.h
///     const ExampleSource points = vector_examples({{"x", x}, {"labels", y}});
struct ExampleSource {
  /// Length of each row: the tokens of a text; 1 if all rows have the same shape. Rows of a batch are padded to the
  /// longest.
  std::vector<std::int64_t> lengths = {};
  /// Returns the graph's inputs for these rows (at least one) in this order, by name, padded to the longest row or to
  /// `least_length`, whichever is more.
  std::function<NamedTensors(std::span<const std::int64_t> rows, std::int64_t least_length)> batch =
      nullptr;

  std::int64_t size() const { return std::ssize(lengths); }
};

std::vector<std::int64_t> lengths_of(const ExampleSource& source,
                                     std::span<const std::int64_t> rows);

/// Returns examples from host tensors with equal first dimensions: row i of a batch consists of element i of each.
/// Throws `UserError` if the first dimensions differ.
ExampleSource vector_examples(NamedTensors columns);

/// Adds an input to the examples: element i of `column`, a host tensor, for row i. Throws `UserError` if the number
/// of elements differs.
ExampleSource with_column(ExampleSource source, const std::string& name, const Tensor& column);

}  // namespace hone
