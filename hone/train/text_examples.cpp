#include "hone/train/text_examples.h"

namespace hone {
namespace {

Tensor labels_of(const Batch& batch) {
  return batch.target_width == 0 ? Tensor::of({batch.batch}, batch.labels)
                                 : Tensor::of({batch.batch, batch.target_width}, batch.targets);
}

Tensor pixels_of(const ImageSet& images, std::span<const std::int64_t> numbers) {
  const ImageSize& size = images.size;
  Tensor pixels =
      Tensor::empty(DType::f32, {std::ssize(numbers), size.channels, size.height, size.width});
  float* to = pixels.data<float>();
  for (const std::int64_t number : numbers) {
    images.write(number, to);
    to += size.values();
  }
  return pixels;
}

// Images are never padded and all have the same length.
ExampleSource image_examples(const EncodedSet& set) {
  return {.lengths = lengths_of(set),
          .batch = [&set](std::span<const std::int64_t> rows, std::int64_t) {
            const Batch batch = make_batch(set, rows);
            return NamedTensors{{"pixel_values", pixels_of(*set.images, batch.input_ids)},
                                {"labels", labels_of(batch)}};
          }};
}

}  // namespace

ExampleSource text_examples(const EncodedSet& set) {
  if (set.images != nullptr) return image_examples(set);
  return {.lengths = lengths_of(set),
          .batch = [&set](std::span<const std::int64_t> rows, std::int64_t least_length) {
            const Batch batch = make_batch(set, rows, least_length);
            const Sizes sizes = {batch.batch, batch.tokens};
            return NamedTensors{{"input_ids", Tensor::of(sizes, batch.input_ids)},
                                {"attention_mask", Tensor::of(sizes, batch.attention_mask)},
                                {"token_type_ids", Tensor::of(sizes, batch.token_type_ids)},
                                {"labels", labels_of(batch)}};
          }};
}

Truth truth_of(const EncodedSet& set) {
  return {.task = set.task,
          .classes = set.labels,
          .targets = set.targets,
          .texts = set.text_numbers,
          .unseen = set.unseen};
}

}  // namespace hone
