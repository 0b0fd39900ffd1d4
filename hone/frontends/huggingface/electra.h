#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// ELECTRA (Clark et al., 2020), the discriminator: BERT whose embeddings may be narrower than its layers.
Architecture electra();

}  // namespace hone
