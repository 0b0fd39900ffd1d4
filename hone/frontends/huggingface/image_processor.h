#pragma once

#include <optional>
#include <string_view>

#include "hone/base/json.h"
#include "hone/data/image_preparation.h"

/// preprocessor_config.json: how Hugging Face preprocesses images.
namespace hone {

inline constexpr const char* kImageProcessorFile = "preprocessor_config.json";

/// Returns the usual preprocessing of ResNet-era models for when there is no file: the centre of the picture after its
/// shorter edge is resized to 8/7 of the input size, normalized by ImageNet's mean and deviation, or by 0.5 and 0.5 if
/// there are not 3 channels.
ImagePreparation usual_preparation(const ImageSize& size);

/// Reads the preprocessing for a model with inputs of `size`. Supported keys: `size` as one number or `shortest_edge`
/// (the centre of a picture whose shorter edge is that over `crop_pct`, 0.875 by default; from 384 on the whole
/// picture), or as `height` and `width`; `crop_size` with `do_center_crop`; `resample` 2 or 3; `rescale_factor`,
/// `image_mean`, `image_std`. Throws `UserError` with `where` and the key for invalid and unsupported values.
ImagePreparation read_preparation(const Json& file, const ImageSize& size, std::string_view where);

/// Returns the input height (and width) according to such a file, or nothing if it has none.
std::optional<std::int64_t> processed_size(const Json& file);

/// Returns the file's content for this preprocessing.
Json to_json(const ImagePreparation& preparation);

}  // namespace hone
