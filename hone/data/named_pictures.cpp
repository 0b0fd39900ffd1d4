#include "hone/data/named_pictures.h"

#include "hone/base/hash.h"

namespace hone {

std::uint64_t picture_hash(const fs::path& picture) {
  return short_fingerprint(MappedFile(picture).text());
}

}  // namespace hone
