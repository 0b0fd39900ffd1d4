#pragma once

#include <optional>
#include <string_view>

#include "hone/base/json.h"
#include "hone/data/image_preparation.h"

/// preprocessor_config.json: how Hugging Face makes pictures into what a model reads.
namespace hone {

inline constexpr const char* kImageProcessorFile = "preprocessor_config.json";

/// What the models of ResNet's time are given where no file says otherwise: the middle of a picture whose shorter edge has
/// 8/7 of its pixels, by ImageNet's mean and deviation; of one channel or other numbers of them, by 0.5 and 0.5.
ImagePreparation usual_preparation(const ImageSize& size);

/// What such a file says for a model that reads `size`: `size` as one number or `shortest_edge` (the middle of a picture
/// whose shorter edge is that over `crop_pct`, 0.875 by default; from 384 on the whole picture), or as `height` and
/// `width`; `crop_size` with `do_center_crop`; `resample` 2 or 3; `rescale_factor`, `image_mean`, `image_std`. Throws
/// `UserError` naming `where` and the key for what it is not or what we do not do.
ImagePreparation read_preparation(const Json& file, const ImageSize& size, std::string_view where);

/// The height (and width) of what a model reads, as such a file says it; none where it does not.
std::optional<std::int64_t> processed_size(const Json& file);

/// The file that says so.
Json to_json(const ImagePreparation& preparation);

}  // namespace hone
