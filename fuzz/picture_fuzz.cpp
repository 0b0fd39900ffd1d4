#include "fuzz/targets.h"
#include "hone/base/error.h"
#include "hone/data/image_preparation.h"

namespace hone::fuzz {

void picture(std::string_view bytes) {
  const Picture picture = decode_picture(bytes, 3);
  HONE_ASSERT(std::ssize(picture.bytes) == picture.height * picture.width * 3,
              "a picture of {} x {} with {} bytes", picture.height, picture.width,
              picture.bytes.size());
  const ImagePreparation preparation{.size = {3, 6, 5}, .shortest_edge = 7};
  std::vector<std::uint8_t> prepared(static_cast<std::size_t>(preparation.size.values()));
  prepare_picture(picture, preparation, prepared.data());
}

}  // namespace hone::fuzz
