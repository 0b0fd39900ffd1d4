#pragma once

#include <span>

#include "hone/data/encoded_set.h"
#include "hone/data/image_preparation.h"

namespace hone {

/// Encodes images for a model. The texts of examples are paths of pictures, or "FILE.safetensors#NUMBER" for a row of a
/// tensor `images`, whose bytes are preprocessed like pictures, and whose floats are used unchanged. Throws `UserError`
/// with the path for unreadable files, and for floats of another size than the model's.
EncodedSet encode_images(ThreadPool& pool, const ImagePreparation& preparation,
                         std::span<const Example> examples, Task task);

}  // namespace hone
