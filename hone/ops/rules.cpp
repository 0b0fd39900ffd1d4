#include "hone/ops/rules.h"

#include <algorithm>

namespace hone {

Shape broadcast(const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), Dim(1));
  for (const Shape* shape : {&a, &b}) {
    for (std::size_t i = 0; i < shape->size(); ++i) {
      Dim& dim = result[result.size() - shape->size() + i];
      const Dim& other = (*shape)[i];
      user_check(dim == other || dim == Dim(1) || other == Dim(1),
                 "shapes {} and {} do not broadcast", to_string(a), to_string(b));
      if (dim == Dim(1)) dim = other;
    }
  }
  return result;
}

void expect_dtype(const Type& type, DType dtype, std::string_view what) {
  user_check(type.dtype == dtype, "{} must be {}, got {}", what, info(dtype).name, to_string(type));
}

void expect_rank(const Type& type, std::int64_t rank, std::string_view what) {
  user_check(type.rank() == rank, "{} must have {} dimensions, got {}", what, rank,
             to_string(type));
}

bool is_value(DType dtype) {
  return dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
}

DType expect_float(const Type& type, std::string_view what) {
  user_check(is_value(type.dtype), "{} must be f32, bf16 or f16, got {}", what, to_string(type));
  return type.dtype;
}

void expect_equal(const Dim& got, const Dim& expected, std::string_view what) {
  user_check(got == expected, "{}: expected {}, got {}", what, to_string(expected), to_string(got));
}

Sizes constant_sizes(const Shape& shape) {
  constexpr std::int64_t kMostElements = std::int64_t{1} << 48;
  std::int64_t count = 1;
  for (const Dim& dim : shape) {
    user_check(dim.symbol == 0 && dim.size >= 1 && dim.size <= kMostElements / count,
               "shape must be of numbers of at least 1, and of 2^48 elements at most, got {}",
               to_string(shape));
    count *= dim.size;
  }
  return resolve(shape, {});
}

std::vector<Type> same_as_first(const TypeContext& context) {
  for (const Type& input : context.inputs) {
    expect_float(input, "input");
    user_check(input == context.inputs[0], "inputs must have one shape, got {} and {}",
               to_string(context.inputs[0]), to_string(input));
  }
  return {context.inputs[0]};
}

std::vector<Type> broadcast_of_two(const TypeContext& context) {
  const DType dtype = expect_float(context.inputs[0], "input");
  expect_dtype(context.inputs[1], dtype, "input");
  return {{dtype, broadcast(context.inputs[0].shape, context.inputs[1].shape)}};
}

double elements(const Type& type, const Bindings& bindings) {
  double count = 1;
  for (const Dim& dim : type.shape) count *= static_cast<double>(resolve(dim, bindings));
  return count;
}

double one_per_element(const TypeContext& context, const Bindings& bindings) {
  return elements(context.inputs[0], bindings);
}

}  // namespace hone
