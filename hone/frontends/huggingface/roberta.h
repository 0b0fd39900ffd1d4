#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// RoBERTa (Liu et al., 2019): BERT whose positions start after the padding id.
Architecture roberta();

}  // namespace hone
