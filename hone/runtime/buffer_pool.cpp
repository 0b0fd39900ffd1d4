#include "hone/runtime/buffer_pool.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory_resource>

namespace hone {
namespace {

std::size_t rounded(std::size_t size_bytes) {
  constexpr std::size_t kGrain = BufferPool::kGrainBytes;
  return std::max<std::size_t>(1, (size_bytes + kGrain - 1) / kGrain) * kGrain;
}

// Returns how much the pool may hold. The extra sixteenth lets small tensors get their own memory next to large free
// pieces.
std::size_t limit_for(std::size_t peak_used_bytes) {
  return peak_used_bytes + peak_used_bytes / 16;
}

/// One allocation from the device.
struct Segment {
  StoragePointer memory;
  std::pmr::map<std::size_t, std::size_t> free;  // offset -> size; neighbours are merged
};

}  // namespace

struct BufferPool::State {
  struct Piece {
    Segment* segment;
    std::size_t offset;
  };
  using BySize = std::pmr::multimap<std::size_t, Piece>;

  Device& device;
  // Records of pieces and tensors use their own memory resource, so that handing out a piece does not allocate on the
  // heap.
  std::pmr::unsynchronized_pool_resource records = {};
  std::map<Segment*, std::unique_ptr<Segment>> segments = {};
  BySize free{&records};  // newest last among equal sizes
  std::size_t reserved_bytes = 0, peak_reserved_bytes = 0;
  std::size_t used_bytes = 0, peak_used_bytes = 0;

  Piece take(std::size_t size_bytes);
  void prepare(std::size_t size_bytes);
  void give_back(Piece piece, std::size_t size_bytes);

 private:
  Piece cut(BySize::iterator best, std::size_t size_bytes);
  Piece reserve(std::size_t size_bytes);
  void release_segments(std::size_t wanted_bytes, std::size_t limit);
  void add(Piece piece, std::size_t size_bytes);
  void remove(Piece piece, std::size_t size_bytes);
};

void BufferPool::State::add(Piece piece, std::size_t size_bytes) {
  piece.segment->free.emplace(piece.offset, size_bytes);
  free.emplace(size_bytes, piece);
}

void BufferPool::State::remove(Piece piece, std::size_t size_bytes) {
  piece.segment->free.erase(piece.offset);
  const auto [begin, end] = free.equal_range(size_bytes);
  free.erase(std::find_if(begin, end, [&](const auto& entry) {
    return entry.second.segment == piece.segment && entry.second.offset == piece.offset;
  }));
}

BufferPool::State::Piece BufferPool::State::cut(BySize::iterator best, std::size_t size_bytes) {
  const auto [size, piece] = *std::prev(free.upper_bound(best->first));
  remove(piece, size);
  if (size > size_bytes) add({piece.segment, piece.offset + size_bytes}, size - size_bytes);
  return piece;
}

BufferPool::State::Piece BufferPool::State::reserve(std::size_t size_bytes) {
  auto segment = std::make_unique<Segment>(
      Segment{device.allocate(size_bytes), std::pmr::map<std::size_t, std::size_t>(&records)});
  Segment* pointer = segment.get();
  segments.emplace(pointer, std::move(segment));
  reserved_bytes += size_bytes;
  peak_reserved_bytes = std::max(peak_reserved_bytes, reserved_bytes);
  return {pointer, 0};
}

// Returns unused segments to the device, the largest first, until there is room.
void BufferPool::State::release_segments(std::size_t wanted_bytes, std::size_t limit) {
  for (auto at = free.end(); at != free.begin() && reserved_bytes + wanted_bytes > limit;) {
    const auto [size, piece] = *--at;
    if (size < piece.segment->memory->size_bytes) continue;
    at = free.erase(at);
    segments.erase(piece.segment);
    reserved_bytes -= size;
  }
}

BufferPool::State::Piece BufferPool::State::take(std::size_t size_bytes) {
  used_bytes += size_bytes;
  peak_used_bytes = std::max(peak_used_bytes, used_bytes);
  const std::size_t limit = limit_for(peak_used_bytes);
  const auto best = free.lower_bound(size_bytes);
  const bool fits_well = best != free.end() && best->first <= 2 * size_bytes;
  const bool has_room = reserved_bytes + size_bytes <= limit;
  if (best != free.end() && (fits_well || !has_room)) return cut(best, size_bytes);
  if (!has_room) release_segments(size_bytes, limit);
  return reserve(size_bytes);
}

void BufferPool::State::prepare(std::size_t size_bytes) {
  if (size_bytes == 0 || free.lower_bound(size_bytes) != free.end()) return;
  release_segments(size_bytes, 0);
  add(reserve(size_bytes), size_bytes);
}

void BufferPool::State::give_back(Piece piece, std::size_t size_bytes) {
  used_bytes -= size_bytes;
  auto& neighbours = piece.segment->free;
  const auto after = neighbours.lower_bound(piece.offset);
  const auto before = after == neighbours.begin() ? neighbours.end() : std::prev(after);
  const bool joins_after = after != neighbours.end() && after->first == piece.offset + size_bytes;
  const bool joins_before =
      before != neighbours.end() && before->first + before->second == piece.offset;
  if (joins_after) {
    const std::size_t more = after->second;
    remove({piece.segment, after->first}, more);
    size_bytes += more;
  }
  if (joins_before) {
    const auto [offset, more] = *before;
    remove({piece.segment, offset}, more);
    piece.offset = offset;
    size_bytes += more;
  }
  add(piece, size_bytes);
}

namespace {

/// Allocates from a pool's records, and keeps the pool's state alive.
template <typename T, typename State>
struct RecordAllocator {
  using value_type = T;
  template <typename Other>
  struct rebind {
    using other = RecordAllocator<Other, State>;
  };

  explicit RecordAllocator(std::shared_ptr<State> of) : state(std::move(of)) {}
  template <typename Other>
  RecordAllocator(const RecordAllocator<Other, State>& other) : state(other.state) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(state->records.allocate(count * sizeof(T), alignof(T)));
  }
  void deallocate(T* pointer, std::size_t count) {
    state->records.deallocate(pointer, count * sizeof(T), alignof(T));
  }
  template <typename Other>
  bool operator==(const RecordAllocator<Other, State>& other) const {
    return state == other.state;
  }

  std::shared_ptr<State> state;
};

}  // namespace

// A piece that a tensor owns; it returns to the pool with the last view.
struct BufferPool::Loan : Storage {
  Loan(std::shared_ptr<State> from, State::Piece what, std::size_t size, std::size_t taken)
      : Storage{&from->device, what.segment->memory->pointer + what.offset, size},
        state(std::move(from)),
        piece(what),
        taken_bytes(taken) {}
  ~Loan() { state->give_back(piece, taken_bytes); }
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;

  std::shared_ptr<State> state;
  State::Piece piece;
  std::size_t taken_bytes;
};

BufferPool::BufferPool(Device& device) : state_(new State{device}) {}

std::size_t BufferPool::used_bytes() const { return state_->used_bytes; }
std::size_t BufferPool::reserved_bytes() const { return state_->reserved_bytes; }
std::size_t BufferPool::peak_reserved_bytes() const { return state_->peak_reserved_bytes; }

void BufferPool::prepare(std::size_t size_bytes) { state_->prepare(size_bytes); }

Tensor BufferPool::allocate(DType dtype, Sizes sizes) {
  const std::size_t size_bytes =
      static_cast<std::size_t>(element_count(sizes)) * info(dtype).size_bytes;
  const std::size_t taken = rounded(size_bytes);
  const State::Piece piece = state_->take(taken);
  StoragePointer storage = std::allocate_shared<Loan>(RecordAllocator<Loan, State>(state_), state_,
                                                      piece, size_bytes, taken);
  Sizes strides = contiguous_strides(sizes);
  return Tensor::view_of(std::move(storage), dtype, sizes, strides, 0);
}

}  // namespace hone
