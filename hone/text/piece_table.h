#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// FNV-1a over bytes, extended byte by byte, so that one pass hashes all prefixes of a word.
struct RollingHash {
  std::uint64_t value = 0xcbf29ce484222325u;
  void add(char byte) { value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3u; }
};
inline RollingHash hash_of(std::string_view piece) {
  RollingHash hash;
  for (const char c : piece) hash.add(c);
  return hash;
}

/// A map from pieces of text to ids: open addressing over one block of text, with lookups that do not allocate.
class PieceTable {
 public:
  /// Inserts `piece`, which must not be in the table yet.
  void insert(std::string_view piece, std::int32_t id);
  /// Returns the id of `piece`, whose hash is `hash`, or -1.
  std::int32_t find(std::string_view piece, RollingHash hash) const {
    if (slots_.empty()) return -1;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = slot_of(hash.value) & mask; slots_[at].id >= 0; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.hash == hash.value && std::string_view(text_).substr(slot.begin, slot.size) == piece)
        return slot.id;
    }
    return -1;
  }
  /// Returns the size in bytes of the longest piece.
  std::size_t longest() const { return longest_; }

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t begin, size;
    std::int32_t id = -1;
  };
  // The low bits of FNV-1a depend only on the low bits of the text; the high half mixes them.
  static std::size_t slot_of(std::uint64_t hash) { return hash ^ hash >> 32; }
  void place(const Slot& slot);

  std::vector<Slot> slots_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t longest_ = 0;
};

}  // namespace hone
