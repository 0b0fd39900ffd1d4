#include "hone/passes/autocast.h"
#include "hone/passes/count_operations.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/distill.h"
#include "hone/passes/drop_layers.h"
#include "hone/passes/fold_batch_norm.h"
#include "hone/passes/freeze.h"
#include "hone/passes/fuse_attention.h"
#include "hone/passes/fuse_conv2d.h"
#include "hone/passes/fuse_dropout.h"
#include "hone/passes/fuse_elementwise.h"
#include "hone/passes/fuse_linear.h"
#include "hone/passes/hoist_slices.h"
#include "hone/passes/keep_outputs.h"
#include "hone/passes/lora.h"
#include "hone/passes/merge_equal.h"
#include "hone/passes/prune.h"
#include "hone/passes/prune_inputs.h"
#include "hone/passes/prune_structure.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/passes/replace_by_identity.h"
#include "hone/passes/smooth_labels.h"
#include "hone/passes/trim_vocabulary.h"
#include "hone/passes/use_batch_statistics.h"
#include "hone/passes/weigh_classes.h"

namespace hone {

PassTable graph_passes() {
  PassTable table;
  for (const PassDef& def : {autocast_pass(),
                             count_operations_pass(),
                             distill_pass(),
                             drop_layers_pass(),
                             erase_operations_pass(),
                             fold_batch_norm_pass(),
                             freeze_pass(),
                             fuse_attention_pass(),
                             fuse_conv2d_pass(),
                             fuse_dropout_pass(),
                             fuse_elementwise_pass(),
                             fuse_linear_pass(),
                             fuse_lora_pass(),
                             hoist_slices_pass(),
                             insert_lora_pass(),
                             keep_outputs_pass(),
                             merge_equal_pass(),
                             merge_equal_states_pass(),
                             prune_inputs_pass(),
                             prune_pass(),
                             prune_structure_pass(),
                             quantize_pass(),
                             remove_dead_code_pass(),
                             remove_dropout_pass(),
                             remove_quantizers_pass(),
                             replace_by_identity_pass(),
                             smooth_labels_pass(),
                             trim_vocabulary_pass(),
                             unprune_pass(),
                             use_batch_statistics_pass(),
                             weigh_classes_pass()})
    table.emplace(def.name, def);
  return table;
}

}  // namespace hone
