#include "hone/models/image_examples.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "hone/base/error.h"
#include "hone/base/interrupt.h"
#include "hone/tensor/safetensors.h"

namespace hone {
namespace {

// "FILE.safetensors#NUMBER"
struct TensorRow {
  std::string file;
  std::int64_t number = 0;
};
std::optional<TensorRow> tensor_row(const std::string& text) {
  constexpr std::string_view kBetween = ".safetensors#";
  const std::size_t at = text.rfind(kBetween);
  if (at == std::string::npos) return std::nullopt;
  const char* const digits = text.data() + at + kBetween.size();
  const char* const end = text.data() + text.size();
  TensorRow row{text.substr(0, at + kBetween.size() - 1), 0};
  const auto read = std::from_chars(digits, end, row.number);
  if (read.ec != std::errc() || read.ptr != end || row.number < 0) return std::nullopt;
  return row;
}

Tensor images_of(const std::string& file, const ImageSize& size) {
  const TensorMap tensors = read_safetensors(file).tensors;
  const auto found = tensors.find("images");
  user_check(found != tensors.end() && found->second.rank() == 4,
             "{}: expected a tensor `images` of (images, channels, height, width)", file);
  const Tensor& images = found->second;
  const bool bytes = images.dtype() == DType::u8;
  user_check(bytes || images.dtype() == DType::f32, "{}: images must be u8 or f32, got {}", file,
             info(images.dtype()).name);
  user_check(images.size(1) == size.channels &&
                 (bytes || (images.size(2) == size.height && images.size(3) == size.width)),
             "{}: images are {}, the model reads {} channels of {} x {}{}", file,
             to_string(images.sizes()), size.channels, size.height, size.width,
             bytes ? "" : "; floats are not resized");
  return images.contiguous() ? images : images.contiguous_copy();
}

// Converts image `number` to a picture.
Picture picture_of(const Tensor& images, std::int64_t number) {
  const std::int64_t channels = images.size(1), pixels = images.size(2) * images.size(3);
  Picture picture{images.size(2), images.size(3), channels};
  const std::uint8_t* const from = images.data<std::uint8_t>() + number * channels * pixels;
  for (std::int64_t pixel = 0; pixel < pixels; ++pixel)
    for (std::int64_t c = 0; c < channels; ++c) picture.bytes.push_back(from[c * pixels + pixel]);
  return picture;
}

/// The location of an image: a picture file named by the example, or a row of a tensor.
struct ImagePlace {
  const Tensor* images = nullptr;
  std::int64_t row = 0;

  bool of_floats() const { return images != nullptr && images->dtype() == DType::f32; }
};

// Reads `tensors` on first use, keyed by file.
ImagePlace place_of_image(const std::string& name, const ImageSize& size,
                          std::map<std::string, Tensor>& tensors) {
  const std::optional<TensorRow> row = tensor_row(name);
  if (!row) return {};
  auto found = tensors.find(row->file);
  if (found == tensors.end()) found = tensors.emplace(row->file, images_of(row->file, size)).first;
  user_check(row->number < found->second.size(0), "{}: there are {} images", name,
             found->second.size(0));
  return {&found->second, row->number};
}

// Tensor bytes that already have the model's size are not resized.
void prepare_bytes(const std::string& name, const ImagePlace& place,
                   const ImagePreparation& preparation, std::uint8_t* to) {
  if (place.images == nullptr) {
    const Picture picture = read_picture(name, preparation.size.channels);
    return with_context(name, [&] { prepare_picture(picture, preparation, to); });
  }
  const Picture picture = picture_of(*place.images, place.row);
  ImagePreparation own = preparation;
  if (picture.height == own.size.height && picture.width == own.size.width) own.shortest_edge = 0;
  with_context(name, [&] { prepare_picture(picture, own, to); });
}

// Encodes the examples without their images.
EncodedSet numbered(std::span<const Example> examples, Task task) {
  EncodedSet set{.ids = {}, .labels = {}, .task = task};
  if (!examples.empty()) set.target_width = std::ssize(examples[0].targets);
  for (const Example& example : examples) {
    user_check(!example.text_pair, "image models do not support pairs");
    set.ids.push_back({static_cast<std::int32_t>(set.ids.size())});
    set.labels.push_back(example.label);
    set.targets.insert(set.targets.end(), example.targets.begin(), example.targets.end());
    set.truncated.push_back(0);
  }
  return set;
}

}  // namespace

EncodedSet encode_images(ThreadPool& pool, const ImagePreparation& preparation,
                         std::span<const Example> examples, Task task) {
  EncodedSet set = numbered(examples, task);
  std::map<std::string, Tensor> tensors;
  std::vector<ImagePlace> places;
  for (const Example& example : examples)
    places.push_back(place_of_image(example.text, preparation.size, tensors));
  const bool floats = std::ranges::any_of(places, &ImagePlace::of_floats);
  user_check(!floats || std::ranges::all_of(places, &ImagePlace::of_floats),
             "float images and byte images cannot be combined");
  auto images = std::make_shared<ImageSet>(image_set(preparation));
  const std::int64_t size = preparation.size.values();
  const auto values = examples.size() * static_cast<std::size_t>(size);
  images->values.resize(floats ? values : 0);
  images->bytes.resize(floats ? 0 : values);
  constexpr std::int64_t kImagesPerChunk = 4;
  parallel_ranges(pool, std::ssize(places), kImagesPerChunk,
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t i = begin; i < end; ++i) {
                      const ImagePlace& place = places[static_cast<std::size_t>(i)];
                      if (floats) {
                        std::copy_n(place.images->data<float>() + place.row * size, size,
                                    images->values.data() + i * size);
                      } else {
                        prepare_bytes(examples[static_cast<std::size_t>(i)].text, place,
                                      preparation, images->bytes.data() + i * size);
                      }
                    }
                  });
  stop_if_interrupted();
  set.images = std::move(images);
  return set;
}

}  // namespace hone
