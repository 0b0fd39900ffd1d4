#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// WordPiece: a word becomes the longest piece of the vocabulary it begins with, then again for the
/// rest. (Schuster and Nakajima, "Japanese and Korean voice search", 2012; as BERT uses it.)
namespace hone {

/// FNV-1a over bytes, extended byte by byte, so that all beginnings of a word are hashed in one
/// walk.
struct RollingHash {
  std::uint64_t value = 0xcbf29ce484222325u;
  void add(char byte) { value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3u; }
};

/// A map from pieces of text to ids: open addressing over one block of text, no allocation in a
/// look-up.
class PieceTable {
 public:
  /// `piece` must not be in the table yet.
  void insert(std::string_view piece, std::int32_t id);
  /// The id of `piece`, whose hash is `hash`, or -1.
  std::int32_t find(std::string_view piece, RollingHash hash) const;
  /// Length in bytes of the longest piece.
  std::size_t longest() const { return longest_; }

 private:
  struct Slot {
    std::uint64_t hash;
    std::uint32_t begin, size;
    std::int32_t id = -1;
  };
  void place(const Slot& slot);

  std::vector<Slot> slots_;
  std::string text_;
  std::size_t count_ = 0;
  std::size_t longest_ = 0;
};

/// How a word is cut.
struct WordPieceOptions {
  std::string continuation_prefix = "##";     ///< marks the pieces that continue a word
  std::size_t longest_word_characters = 100;  ///< longer words are unknown as a whole
};

class WordPiece {
 public:
  WordPiece() = default;
  /// The id of a token is its index. `unknown_id` stands for a word that cannot be cut.
  WordPiece(const std::vector<std::string>& tokens, std::int32_t unknown_id,
            const WordPieceOptions& options);

  /// Appends the ids of the pieces of `word` (normalized UTF-8, not empty), or the unknown id
  /// alone.
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

 private:
  bool too_long(std::string_view word) const;

  PieceTable beginnings_;
  PieceTable continuations_;
  std::int32_t unknown_id_ = -1;
  std::size_t longest_word_characters_ = 0;
};

}  // namespace hone
