#include "hone/train/batch_inputs.h"

namespace hone {

NamedTensors batch_inputs(const Batch& batch) {
  const Sizes sizes = {batch.batch, batch.tokens};
  return {{"input_ids", Tensor::of(sizes, batch.input_ids)},
          {"attention_mask", Tensor::of(sizes, batch.attention_mask)},
          {"token_type_ids", Tensor::of(sizes, batch.token_type_ids)},
          {"labels", Tensor::of({batch.batch}, batch.labels)}};
}

}  // namespace hone
