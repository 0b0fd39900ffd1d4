#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// DistilBERT (Sanh et al., 2019): BERT with half of the layers and without token types.
Architecture distilbert();

}  // namespace hone
