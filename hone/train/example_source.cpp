#include "hone/train/example_source.h"

#include <cstring>

#include "hone/tensor/dense.h"

namespace hone {
namespace {

// Gathers the elements `rows` of the first dimension.
Tensor gather(const Tensor& column, std::span<const std::int64_t> rows) {
  Sizes sizes = column.sizes();
  const std::size_t row_bytes =
      sizes[0] == 0 ? 0 : column.size_bytes() / static_cast<std::size_t>(sizes[0]);
  sizes[0] = std::ssize(rows);
  Tensor result = Tensor::empty(column.dtype(), sizes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::memcpy(result.device_pointer() + i * row_bytes,
                column.device_pointer() + static_cast<std::size_t>(rows[i]) * row_bytes, row_bytes);
  return result;
}

}  // namespace

std::vector<std::int64_t> lengths_of(const ExampleSource& source,
                                     std::span<const std::int64_t> rows) {
  std::vector<std::int64_t> lengths;
  for (const std::int64_t row : rows)
    lengths.push_back(source.lengths[static_cast<std::size_t>(row)]);
  return lengths;
}

ExampleSource vector_examples(NamedTensors columns) {
  HONE_ASSERT(!columns.empty(), "examples without a column");
  std::int64_t count = -1;
  for (auto& [name, column] : columns) {
    user_check(column.rank() >= 1,
               "column '{}' has no rows: expected an element for each example, got a number", name);
    if (count < 0) count = column.size(0);
    user_check(column.size(0) == count, "column '{}' has {} rows, '{}' has {}", name,
               column.size(0), columns.begin()->first, count);
    column = dense_on(column, cpu());
  }
  return {
      .lengths = std::vector<std::int64_t>(static_cast<std::size_t>(count), 1),
      .batch = [columns = std::move(columns)](std::span<const std::int64_t> rows, std::int64_t) {
        NamedTensors inputs;
        for (const auto& [name, column] : columns) inputs.emplace(name, gather(column, rows));
        return inputs;
      }};
}

ExampleSource with_column(ExampleSource source, const std::string& name, const Tensor& column) {
  user_check(column.rank() >= 1 && column.size(0) == source.size(),
             "column '{}' must have {} rows, one for each example, got {}", name, source.size(),
             to_string(column.sizes()));
  source.batch = [batch = std::move(source.batch), name, column = dense_on(column, cpu())](
                     std::span<const std::int64_t> rows, std::int64_t least_length) {
    NamedTensors inputs = batch(rows, least_length);
    inputs.emplace(name, gather(column, rows));
    return inputs;
  };
  return source;
}

}  // namespace hone
