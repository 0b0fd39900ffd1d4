#pragma once

#include <span>

#include "hone/data/encoded_set.h"
#include "hone/data/image_preparation.h"

namespace hone {

/// Images as a model reads them: examples whose texts are paths of pictures, or "FILE.safetensors#NUMBER" of a tensor
/// `images`, whose bytes are prepared as pictures are, and whose floats stand for themselves. Throws `UserError` with the
/// path for what cannot be read, and for floats of another size than the model's.
EncodedSet encode_images(ThreadPool& pool, const ImagePreparation& preparation,
                         std::span<const Example> examples, Task task);

}  // namespace hone
