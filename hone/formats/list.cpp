#include "hone/formats/binary.h"
#include "hone/formats/binary_residual_sign.h"
#include "hone/formats/binary_scaling.h"
#include "hone/formats/block_fp.h"
#include "hone/formats/block_log.h"
#include "hone/formats/block_minifloat.h"
#include "hone/formats/half.h"
#include "hone/formats/int.h"
#include "hone/formats/integer.h"
#include "hone/formats/logarithm.h"
#include "hone/formats/minifloat.h"
#include "hone/formats/mxfp.h"
#include "hone/formats/mxint.h"
#include "hone/formats/mxint_hardware.h"
#include "hone/formats/nf4.h"
#include "hone/formats/ternary.h"

namespace hone {

FormatTable builtin_formats() {
  FormatTable table;
  for (FormatDef def :
       {bf16_format(), binary_format(), binary_residual_sign_format(), binary_scaling_format(),
        block_fp_format(), block_log_format(), block_minifloat_format(), fp16_format(),
        int_format(), integer_format(), log_format(), minifloat_denorm_format(),
        minifloat_ieee_format(), mxfp_format(), mxint_format(), mxint_hardware_format(),
        nf4_format(), ternary_format()})
    table.emplace(def.name, def);
  return table;
}

}  // namespace hone
