#include "hone/base/hash.h"

#define XXH_STATIC_LINKING_ONLY  // allows the state as a member
#include <xxhash.h>

#include "hone/base/error.h"

namespace hone {
namespace {

std::string digits(const XXH128_hash_t& hash) {
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace

struct Fingerprint::State {
  XXH3_state_t hash;
};

Fingerprint::Fingerprint() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(&state_->hash);
}
Fingerprint::~Fingerprint() = default;
Fingerprint::Fingerprint(Fingerprint&&) noexcept = default;
Fingerprint& Fingerprint::operator=(Fingerprint&&) noexcept = default;

void Fingerprint::add(std::span<const std::byte> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(&state_->hash, bytes.data(), bytes.size());
}

std::string Fingerprint::text() const { return digits(XXH3_128bits_digest(&state_->hash)); }

std::uint64_t short_fingerprint(std::string_view text) {
  return XXH3_64bits(text.data(), text.size());
}

std::string fingerprint(std::span<const std::byte> bytes) {
  return digits(XXH3_128bits(bytes.data(), bytes.size()));
}

}  // namespace hone
