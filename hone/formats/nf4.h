#pragma once

#include "hone/formats/format.h"

namespace hone {

/// NormalFloat4: y = s level[code], with s the largest magnitude of `block` neighbours along a row. The 16 levels are
/// quantiles of the normal distribution from -1 to 1, with an exact 0. The code is the number of midpoints between
/// adjacent levels that are below x (1/s), every operation in fp32. The scale is first rounded to float16, to the
/// nearest between 2^-24 and 65504. (The paper rounds scales to 8 bits, in groups of 256; bitsandbytes keeps
/// them in fp32 if it does not.)
///
/// NaN stays NaN and has no code, infinities become the largest magnitude; scales depend only on finite values.
///
/// Source: Dettmers, Pagnoni, Holtzman and Zettlemoyer, "QLoRA: Efficient finetuning of quantized LLMs", 2023, appendix E.
FormatDef nf4_format();

}  // namespace hone
