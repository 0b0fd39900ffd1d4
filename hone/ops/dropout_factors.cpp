#include "hone/ops/dropout_factors.h"

#include <cmath>

#include "hone/ops/rules.h"

namespace hone::ops {
namespace {

// Checks that the limits are at least the sizes of x, or the same symbols, and small enough to count the words.
void expect_limits(const Type& x, const Shape& limits) {
  if (limits.empty()) return;
  double words = 1;
  bool fit = limits.size() == x.shape.size();
  for (std::size_t d = 0; fit && d < limits.size(); ++d) {
    const Dim &limit = limits[d], &dim = x.shape[d];
    fit = limit.symbol != 0 ? limit == dim : limit.size >= 1 && limit.size >= dim.size;
    if (limit.symbol == 0) words *= static_cast<double>(limit.size);
  }
  user_check(fit && words <= 0x1p40, "limits of x {} must be at least its sizes, got {}",
             to_string(x), to_string(limits));
}

Sizes strides_of_words(const Sizes& sizes, const Shape& limits, const Bindings& bindings) {
  if (limits.empty()) return contiguous_strides(sizes);
  const Sizes largest = resolve(limits, bindings);
  for (std::size_t d = 0; d < sizes.size(); ++d)
    user_check(sizes[d] <= largest[d], "x {} is larger than its limits {}", to_string(sizes),
               to_string(largest));
  return contiguous_strides(largest);
}

}  // namespace

void expect_dropout(const Type& key, const Type& x, const Attributes& attributes) {
  expect_dtype(key, DType::i64, "key");
  expect_rank(key, 0, "key");
  const Attribute& attribute = *attributes.find("p");
  user_check(std::holds_alternative<double>(attribute), "p must be a real number");
  const double p = std::get<double>(attribute);
  user_check(p >= 0 && p <= 1, "p must be from 0 to 1, got {}", p);
  expect_limits(x, attributes.get<Shape>("limits"));
}

DropoutFactors::DropoutFactors(const Call& call, std::size_t key, const Sizes& sizes)
    : random_{static_cast<std::uint64_t>(*call.input(key).data<std::int64_t>()),
              static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))},
      threshold_(
          static_cast<std::uint64_t>(std::llround(call.attributes.get<double>("p") * 0x1p32))),
      factor_(static_cast<float>(1 / (1 - call.attributes.get<double>("p")))),
      word_strides_(strides_of_words(sizes, call.attributes.get<Shape>("limits"), call.bindings)) {}

}  // namespace hone::ops
