#include "hone/train/text_examples.h"

namespace hone {

ExampleSource text_examples(const EncodedSet& set) {
  return {.lengths = lengths_of(set),
          .batch = [&set](std::span<const std::int64_t> rows, std::int64_t least_length) {
            const Batch batch = make_batch(set, rows, least_length);
            const Sizes sizes = {batch.batch, batch.tokens};
            return NamedTensors{{"input_ids", Tensor::of(sizes, batch.input_ids)},
                                {"attention_mask", Tensor::of(sizes, batch.attention_mask)},
                                {"token_type_ids", Tensor::of(sizes, batch.token_type_ids)},
                                {"labels", Tensor::of({batch.batch}, batch.labels)}};
          }};
}

}  // namespace hone
