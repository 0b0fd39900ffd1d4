#include "hone/tensor/shape.h"

#include "hone/base/error.h"

namespace hone {
namespace {

template <typename List, typename Print>
std::string bracketed(const List& list, Print&& print) {
  std::string text = "[";
  for (const auto& item : list) {
    if (text.size() > 1) text += ", ";
    text += print(item);
  }
  return text + "]";
}

}  // namespace

std::int64_t element_count(const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

std::int64_t row_count(const Sizes& sizes) {
  return sizes.back() == 0 ? 0 : element_count(sizes) / sizes.back();
}

Sizes contiguous_strides(const Sizes& sizes) {
  Sizes strides(sizes.size());
  std::int64_t stride = 1;
  for (std::size_t axis = sizes.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= sizes[axis];
  }
  return strides;
}

std::string to_string(const Sizes& sizes) {
  return bracketed(sizes, [](std::int64_t size) { return std::to_string(size); });
}

std::string to_string(const Dim& dim) {
  return dim.symbol != 0 ? std::string(1, dim.symbol) : std::to_string(dim.size);
}

std::string to_string(const Shape& shape) {
  return bracketed(shape, [](const Dim& dim) { return to_string(dim); });
}

std::int64_t resolve(const Dim& dim, const Bindings& bindings) {
  if (dim.symbol == 0) return dim.size;
  const auto found = bindings.find(dim.symbol);
  HONE_ASSERT(found != bindings.end(), "no input binds the symbol {}", dim.symbol);
  return found->second;
}

Sizes resolve(const Shape& shape, const Bindings& bindings) {
  Sizes sizes;
  for (const Dim& dim : shape) sizes.push_back(resolve(dim, bindings));
  return sizes;
}

void bind_symbols(const Shape& shape, const Sizes& sizes, std::string_view what,
                  Bindings& bindings) {
  bool fits = shape.size() == sizes.size();
  for (std::size_t axis = 0; fits && axis < sizes.size(); ++axis) {
    if (shape[axis].symbol == 0) {
      fits = shape[axis].size == sizes[axis];
    } else {
      fits = bindings.emplace(shape[axis].symbol, sizes[axis]).first->second == sizes[axis];
    }
  }
  if (fits) return;
  std::string bound;
  for (const auto& [symbol, size] : bindings) bound += fmt::format("; {} is {}", symbol, size);
  fail("{}: expected shape {}, got {}{}", what, to_string(shape), to_string(sizes), bound);
}

}  // namespace hone
