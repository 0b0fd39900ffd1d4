#include "hone/frontends/huggingface/image_processor.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"

namespace hone {
namespace {

// From this size on, Hugging Face's ConvNeXT processor, which ResNet uses, does not crop.
constexpr std::int64_t kWholePictures = 384;
constexpr double kUsualCrop = 0.875;
constexpr std::int64_t kMaxPixels = 16384;  // of an edge

template <typename Expected>
[[noreturn]] void refuse_key(std::string_view where, const char* key, const Expected& expected,
                             const Json& got) {
  fail("{}: {}: expected {}, got {}", where, key, expected, to_line(got));
}

const Json* value_at(const Json& file, const char* key) {
  const auto found = file.find(key);
  return found == file.end() || found->is_null() ? nullptr : &*found;
}

bool is_set(const Json& file, const char* key, bool otherwise) {
  const Json* value = value_at(file, key);
  return value == nullptr ? otherwise : value->is_boolean() && value->get<bool>();
}

double positive_number(const Json& file, const char* key, double otherwise,
                       std::string_view where) {
  const Json* value = value_at(file, key);
  if (value == nullptr) return otherwise;
  if (!value->is_number() || value->get<double>() <= 0)
    refuse_key(where, key, "a number above 0", *value);
  return value->get<double>();
}

// Reads a number per channel; a single number applies to all.
std::vector<float> channel_numbers(const Json& file, const char* key,
                                   const std::vector<float>& otherwise, std::string_view where) {
  const Json* value = value_at(file, key);
  if (value == nullptr) return otherwise;
  if (value->is_number())
    return channel_numbers(Json::object({{key, Json(std::vector<Json>(otherwise.size(), *value))}}),
                           key, otherwise, where);
  const bool fits = value->is_array() && value->size() == otherwise.size() &&
                    std::ranges::all_of(*value, [](const Json& one) {
                      return one.is_number() && std::isfinite(one.get<float>());
                    });
  if (!fits) refuse_key(where, key, fmt::format("{} numbers", otherwise.size()), *value);
  return value->get<std::vector<float>>();
}

std::optional<std::int64_t> whole(const Json* value) {
  if (value == nullptr || !value->is_number_integer() || *value < 1 || *value > kMaxPixels)
    return std::nullopt;
  return value->get<std::int64_t>();
}

// Reads a size given as one number, {"shortest_edge": …}, or equal {"height": …, "width": …}.
std::optional<std::int64_t> square_size(const Json& value) {
  if (!value.is_object()) return whole(&value);
  if (const Json* edge = value_at(value, "shortest_edge")) return whole(edge);
  const auto height = whole(value_at(value, "height")), width = whole(value_at(value, "width"));
  return height == width ? height : std::nullopt;
}

void check_shape(const ImagePreparation& preparation, std::int64_t got, std::string_view where) {
  user_check(got == preparation.size.height && got == preparation.size.width,
             "{}: it produces images of {} x {}, but the model reads {} x {} (image_size of "
             "config.json)",
             where, got, got, preparation.size.height, preparation.size.width);
}

}  // namespace

ImagePreparation usual_preparation(const ImageSize& size) {
  const bool colours = size.channels == 3;
  const auto channels = static_cast<std::size_t>(size.channels);
  return {.size = size,
          .shortest_edge = static_cast<std::int64_t>(static_cast<double>(size.height) / kUsualCrop),
          .mean = colours ? std::vector<float>{0.485f, 0.456f, 0.406f}
                          : std::vector<float>(channels, 0.5f),
          .deviation = colours ? std::vector<float>{0.229f, 0.224f, 0.225f}
                               : std::vector<float>(channels, 0.5f)};
}

std::optional<std::int64_t> processed_size(const Json& file) {
  if (!file.is_object()) return std::nullopt;
  const Json* crop = is_set(file, "do_center_crop", false) ? value_at(file, "crop_size") : nullptr;
  const Json* size = crop != nullptr ? crop : value_at(file, "size");
  return size == nullptr ? std::nullopt : square_size(*size);
}

ImagePreparation read_preparation(const Json& file, const ImageSize& size, std::string_view where) {
  user_check(file.is_object(), "{}: expected a JSON object, got {}", where, file.type_name());
  ImagePreparation preparation = usual_preparation(size);
  const Json* resize = value_at(file, "size");
  const bool resizes = is_set(file, "do_resize", true) && resize != nullptr;
  user_check(resizes, "{}: do_resize and size: expected a configuration that resizes pictures",
             where);
  const std::optional<std::int64_t> edge = square_size(*resize);
  if (!edge)
    refuse_key(where, "size", "a whole number, a shortest_edge, or equal height and width",
               *resize);
  const bool by_edge = !resize->is_object() || resize->contains("shortest_edge");
  if (is_set(file, "do_center_crop", false)) {
    preparation.shortest_edge = by_edge ? *edge : 0;
  } else if (by_edge && *edge < kWholePictures) {
    const double whole_edge =
        static_cast<double>(*edge) / positive_number(file, "crop_pct", kUsualCrop, where);
    if (whole_edge > kMaxPixels) refuse_key(where, "crop_pct", "a share", file.at("crop_pct"));
    preparation.shortest_edge = static_cast<std::int64_t>(whole_edge);
  } else {
    preparation.shortest_edge = 0;
  }
  check_shape(preparation, processed_size(file).value_or(0), where);
  user_check(preparation.shortest_edge == 0 || preparation.shortest_edge >= size.height,
             "{}: the shorter edge has {} pixels, too few for a center crop of {}", where,
             preparation.shortest_edge, size.height);
  if (const Json* resample = value_at(file, "resample")) {
    if (*resample != 2 && *resample != 3)
      refuse_key(where, "resample", "2 (bilinear) or 3 (bicubic)", *resample);
    preparation.resampling = *resample == 2 ? Resampling::bilinear : Resampling::bicubic;
  }
  preparation.rescale_factor = is_set(file, "do_rescale", true)
                                   ? positive_number(file, "rescale_factor", 1.0 / 255, where)
                                   : 1;
  const auto channels = static_cast<std::size_t>(size.channels);
  if (is_set(file, "do_normalize", true)) {
    preparation.mean = channel_numbers(file, "image_mean", preparation.mean, where);
    preparation.deviation = channel_numbers(file, "image_std", preparation.deviation, where);
    for (const float deviation : preparation.deviation)
      user_check(deviation > 0, "{}: image_std: expected numbers above 0, got {}", where,
                 deviation);
  } else {
    preparation.mean.assign(channels, 0);
    preparation.deviation.assign(channels, 1);
  }
  return preparation;
}

Json to_json(const ImagePreparation& preparation) {
  const ImageSize& size = preparation.size;
  const std::int64_t edge = preparation.shortest_edge;
  Json file = {{"image_processor_type", "ConvNextImageProcessor"},
               {"do_resize", true},
               {"do_rescale", true},
               {"rescale_factor", preparation.rescale_factor},
               {"do_normalize", true},
               {"image_mean", preparation.mean},
               {"image_std", preparation.deviation},
               {"resample", preparation.resampling == Resampling::bilinear ? 2 : 3}};
  if (edge == 0) {
    file["size"] = {{"height", size.height}, {"width", size.width}};
    file["image_processor_type"] = "ViTImageProcessor";
    return file;
  }
  file["size"] = {{"shortest_edge", size.height}};
  // The quotient is `edge` after truncation.
  file["crop_pct"] = static_cast<double>(size.height) / (static_cast<double>(edge) + 0.25);
  if (edge == static_cast<std::int64_t>(static_cast<double>(size.height) / kUsualCrop))
    file["crop_pct"] = kUsualCrop;
  return file;
}

}  // namespace hone
