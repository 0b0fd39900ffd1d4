#pragma once

#include "hone/frontends/huggingface/architecture.h"

namespace hone {

/// BERT (Devlin et al., 2019).
Architecture bert();

}  // namespace hone
