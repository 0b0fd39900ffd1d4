#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

/// Fingerprints of contents: equal for equal bytes on every machine, and practically never for others. They protect
/// against mix-ups, not forgery: 128-bit XXH3 is not a cryptographic hash.
namespace hone {

/// The fingerprint of bytes that arrive in pieces of any size.
///
///     Fingerprint print;
///     print.add(header);
///     print.add(body);
///     print.text();            // "99aa06d3014798d86001c324468d497f"
class Fingerprint {
 public:
  Fingerprint();
  ~Fingerprint();
  Fingerprint(Fingerprint&&) noexcept;
  Fingerprint& operator=(Fingerprint&&) noexcept;

  void add(std::span<const std::byte> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  /// Returns 32 hexadecimal digits for everything added so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns a 64-bit fingerprint (XXH3), for large sets: a collision among a million different texts has a probability
/// of 3e-8.
std::uint64_t short_fingerprint(std::string_view text);

/// Returns the fingerprint of one piece.
std::string fingerprint(std::span<const std::byte> bytes);
inline std::string fingerprint(std::string_view text) {
  return fingerprint(std::as_bytes(std::span(text)));
}

}  // namespace hone
