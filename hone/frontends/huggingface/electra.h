#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// ELECTRA (Clark et al., 2020), the discriminator: BERT with embeddings that may be narrower than the layers.
Architecture electra();

}  // namespace hone
