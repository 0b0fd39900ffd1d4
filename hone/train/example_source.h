#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "hone/runtime/session.h"

namespace hone {

/// Examples as a graph takes them, whatever they are of: all that training, calibration and prediction know of a data set.
///
///     const ExampleSource source = text_examples(set);                  // texts, padded: train/text_examples.h
///     const ExampleSource points = vector_examples({{"x", x}, {"labels", y}});
struct ExampleSource {
  /// Of each row: tokens of a text; 1 where all rows are alike. Rows of a batch are padded to the longest of them.
  std::vector<std::int64_t> lengths = {};
  /// The inputs of the graph for these rows (there is one at least) in this order, by name, padded to the longest of them or
  /// to `least_length` if that is more.
  std::function<NamedTensors(std::span<const std::int64_t> rows, std::int64_t least_length)> batch =
      nullptr;

  std::int64_t size() const { return std::ssize(lengths); }
};

/// The lengths of these rows.
std::vector<std::int64_t> lengths_of(const ExampleSource& source,
                                     std::span<const std::int64_t> rows);

/// Rows of tensors of the host with one size of their first dimension: row i of a batch is made of element i of each. Throws
/// `UserError` where the sizes differ.
ExampleSource vector_examples(NamedTensors columns);

/// The same examples with one more input: element i of `column`, a tensor of the host, for row i. Throws `UserError` where it
/// has another number of them.
ExampleSource with_column(ExampleSource source, const std::string& name, const Tensor& column);

}  // namespace hone
