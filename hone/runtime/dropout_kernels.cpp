#include <algorithm>
#include <functional>

#include "hone/base/random.h"
#include "hone/kernels/dropout.h"
#include "hone/kernels/dropped_product.h"
#include "hone/runtime/cpu_kernels.h"

// Dropout, and linear products after dropout.
namespace hone {
namespace {

// Returns the shape whose positions select the random words of elements: see hone/ops/dropout_factors.h.
Sizes dropout_limits(const Call& call) {
  const Shape& limits = call.attributes.get<Shape>("limits");
  return limits.empty() ? call.input(0).sizes() : resolve(limits, call.bindings);
}

// Applies dropout to rows whose positions are given by an input.
void dropout_of_places(Call& call, const RandomStream& stream) {
  const double probability = call.attributes.get<double>("p");
  const std::int64_t columns = row_length(call.input(0));
  const std::int64_t* const places = call.input(2).data<std::int64_t>();
  const float* const x = floats(call, 0);
  float* const y = call.output().data<float>();
  constexpr std::int64_t kRows = 64;
  parallel_ranges(call.pool(), row_count(call.input(0).sizes()), kRows,
                  [&](std::int64_t begin, std::int64_t end) {
                    std::int64_t words[kRows];
                    for (std::int64_t i = begin; i < end; ++i)
                      words[i - begin] = places[i] * columns;
                    kernels::dropout_rows(probability, stream,
                                          {words, static_cast<std::size_t>(end - begin)}, columns,
                                          x + begin * columns, y + begin * columns);
                  });
}

void dropout(Call& call) {
  // The reference reports tensors larger than their limits.
  if (!std::ranges::equal(call.input(0).sizes(), dropout_limits(call), std::less_equal<>()))
    return call.op.reference(call);
  const RandomStream stream{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  if (call.has_input(2)) return dropout_of_places(call, stream);
  const Sizes sizes = call.input(0).sizes(), words = contiguous_strides(dropout_limits(call));
  const float* x = floats(call, 0);
  kernels::dropout(call.pool(), call.attributes.get<double>("p"), stream, sizes, words, x,
                   call.output().data<float>());
}

// Returns the index of the first random word of each row of x.
std::vector<std::int64_t> first_words(const Call& call, std::size_t places_at) {
  if (call.has_input(places_at)) {
    const std::span<const std::int64_t> places = call.input(places_at).values<std::int64_t>();
    std::vector<std::int64_t> words;
    for (const std::int64_t place : places) words.push_back(place * row_length(call.input(0)));
    return words;
  }
  Sizes sizes = call.input(0).sizes(), strides = contiguous_strides(dropout_limits(call));
  sizes.pop_back();
  strides.pop_back();
  std::vector<std::int64_t> words;
  for_each_element<1>(sizes, {&strides}, [&](const auto& at) { words.push_back(at[0]); });
  return words;
}

kernels::DroppedRows dropped_rows(const Call& call, std::span<const std::int64_t> words) {
  const RandomStream stream{
      static_cast<std::uint64_t>(*call.input(1).data<std::int64_t>()),
      static_cast<std::uint64_t>(call.attributes.get<std::int64_t>("stream"))};
  return {call.attributes.get<double>("p"), stream, words, row_length(call.input(0))};
}

bool is_within_limits(const Call& call) {
  return std::ranges::equal(call.input(0).sizes(), dropout_limits(call), std::less_equal<>());
}

void dropped_linear(Call& call) {
  if (!is_within_limits(call)) return call.op.reference(call);
  const std::vector<std::int64_t> words = first_words(call, 3);
  kernels::dropped_product(call.pool(), dropped_rows(call, words), call.input(2).size(0),
                           floats(call, 0), floats(call, 2), call.output().data<float>());
}

std::int64_t dropped_linear_gradient_workspace(const CallSite& site, const Bindings& bindings) {
  const Sizes x = resolve(site.inputs[0].shape, bindings);
  const std::int64_t rows = row_count(x);
  return static_cast<std::int64_t>(sizeof(float)) *
         kernels::dropped_product_workspace_floats(rows, x.back(),
                                                   resolve(site.inputs[2].dim(0), bindings));
}

void dropped_linear_gradient(Call& call) {
  if (!is_within_limits(call)) return call.op.reference(call);
  const std::vector<std::int64_t> words = first_words(call, 4);
  kernels::dropped_product_gradient(call.pool(), dropped_rows(call, words), call.input(2).size(0),
                                    floats(call, 0), floats(call, 2), floats(call, 3),
                                    call.output().data<float>(), call.output(1).data<float>(),
                                    static_cast<float*>(call.workspace));
}

}  // namespace

KernelTable dropout_kernels() {
  return {
      {"dropout", "cpu", "vector", at_most_six_dimensions, dropout},
      {"dropped_linear", "cpu", "blocks", anything, dropped_linear},
      {"dropped_linear_gradient", "cpu", "blocks", anything, dropped_linear_gradient, Layout::dense,
       nullptr, dropped_linear_gradient_workspace},
  };
}

}  // namespace hone
