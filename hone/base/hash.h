#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

/// Fingerprints of contents: equal for equal bytes on every machine, and as good as never for others. They guard
/// against mix-ups, not against somebody who forges them: XXH3 with 128 bits is no cryptographic hash.
namespace hone {

/// The fingerprint of bytes that come in pieces; where one piece ends does not matter.
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
  /// 32 hexadecimal digits, of all that was added so far.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A fingerprint of 64 bits (XXH3), for sets of many: among a million texts two differ and are taken for one with a
/// probability of 3e-8.
std::uint64_t short_fingerprint(std::string_view text);

/// The fingerprint of one piece.
std::string fingerprint(std::span<const std::byte> bytes);
inline std::string fingerprint(std::string_view text) {
  return fingerprint(std::as_bytes(std::span(text)));
}

}  // namespace hone
