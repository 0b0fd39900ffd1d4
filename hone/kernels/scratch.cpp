#include "hone/kernels/scratch.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace hone::kernels {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t rounded_up(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

}  // namespace

void Scratch::Release::operator()(void* block) const { std::free(block); }

void* Scratch::bytes(std::size_t size) {
  if (size <= size_) return block_.get();
  const std::size_t alignment = size >= kHugePage ? kHugePage : kCacheLine;
  const std::size_t grown = rounded_up(std::max(size, size_ + size_ / 2), alignment);
  block_.reset();
  size_ = 0;
  block_.reset(std::aligned_alloc(alignment, grown));
  if (!block_) throw std::bad_alloc();
  // Panels are read in strides larger than a page. Huge pages avoid TLB misses.
  if (alignment == kHugePage) madvise(block_.get(), grown, MADV_HUGEPAGE);
  size_ = grown;
  return block_.get();
}

}  // namespace hone::kernels
