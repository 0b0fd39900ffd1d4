#include "hone/runtime/cpu_kernels.h"

#include "hone/kernels/target.h"
#include "hone/runtime/bf16_kernels.h"
#include "hone/runtime/image_kernels.h"
#include "hone/runtime/packed_kernels.h"

namespace hone {

KernelTable cpu_kernels() {
  kernels::choose_vector_target();
  // bfloat16 kernels come first, because f32 kernels would accept all their calls by widening.
  KernelTable table = bf16_kernels();
  for (const KernelTable& more :
       {attention_kernels(), dropout_kernels(), element_kernels(), gather_kernels(), loss_kernels(),
        product_kernels(), row_kernels(), training_kernels(), image_kernels(), native_kernels(),
        packed_table_kernels(), packed_linear_kernels()})
    table.insert(table.end(), more.begin(), more.end());
  return table;
}

}  // namespace hone
