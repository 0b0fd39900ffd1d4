#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <type_traits>

#include "hone/base/error.h"

namespace hone {

/// A vector of at most `kCapacity` trivially copyable values, stored inline without heap allocations. Its members are
/// those of `std::vector`; exceeding the capacity throws `InternalError`, so external input must be checked first.
template <typename T, std::size_t kCapacity>
requires std::is_trivially_copyable_v<T>
class InlineVector {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  explicit InlineVector(std::size_t count, T value = T{}) { resize(count, value); }
  template <std::input_iterator Iterator>
  InlineVector(Iterator begin, Iterator end) {
    for (; begin != end; ++begin) push_back(*begin);
  }

  static constexpr std::size_t capacity() { return kCapacity; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  auto rbegin() { return std::reverse_iterator(end()); }
  auto rend() { return std::reverse_iterator(begin()); }
  auto rbegin() const { return std::reverse_iterator(end()); }
  auto rend() const { return std::reverse_iterator(begin()); }
  T& operator[](std::size_t index) { return values_[index]; }
  const T& operator[](std::size_t index) const { return values_[index]; }
  T& front() { return values_[0]; }
  const T& front() const { return values_[0]; }
  T& back() { return values_[size_ - 1]; }
  const T& back() const { return values_[size_ - 1]; }

  void clear() { size_ = 0; }
  void push_back(T value) {
    make_room(1);
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  void resize(std::size_t count, T value = T{}) {
    if (count > size_) {
      make_room(count - size_);
      std::fill(end(), data() + count, value);
    }
    size_ = count;
  }
  T* insert(const T* before, T value) {
    T* const place = data() + (before - data());
    make_room(1);
    std::move_backward(place, end(), end() + 1);
    *place = value;
    ++size_;
    return place;
  }
  T* erase(const T* place) { return erase(place, place + 1); }
  T* erase(const T* first, const T* last) {
    T* const place = data() + (first - data());
    std::move(data() + (last - data()), end(), place);
    size_ -= static_cast<std::size_t>(last - first);
    return place;
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const InlineVector& a, const InlineVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  void make_room(std::size_t more) const {
    HONE_ASSERT(size_ + more <= kCapacity, "{} values in a vector that holds {}", size_ + more,
                kCapacity);
  }

  std::array<T, kCapacity> values_;
  std::size_t size_ = 0;
};

}  // namespace hone
