#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// RoBERTa (Liu et al., 2019): BERT whose positions begin behind the number of padding.
Architecture roberta();

}  // namespace hone
