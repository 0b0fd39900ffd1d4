#include "hone/train/text_examples.h"

namespace hone {
namespace {

Tensor labels_of(const Batch& batch) {
  return batch.target_width == 0 ? Tensor::of({batch.batch}, batch.labels)
                                 : Tensor::of({batch.batch, batch.target_width}, batch.targets);
}

}  // namespace

ExampleSource text_examples(const EncodedSet& set) {
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
  return {
      .task = set.task, .classes = set.labels, .targets = set.targets, .texts = set.text_numbers};
}

}  // namespace hone
