#include "hone/ops/list.h"

namespace hone {

// One line per file of this folder: an operation and the operations of its gradient.
namespace ops {
std::vector<OpDef> accumulate();
std::vector<OpDef> adamw();
std::vector<OpDef> add();
std::vector<OpDef> attention();
std::vector<OpDef> attention_mask();
std::vector<OpDef> batch_norm();
std::vector<OpDef> binary_cross_entropy();
std::vector<OpDef> cast();
std::vector<OpDef> concat();
std::vector<OpDef> conv2d();
std::vector<OpDef> cross_entropy();
std::vector<OpDef> dropout();
std::vector<OpDef> elementwise();
std::vector<OpDef> embedding();
std::vector<OpDef> encode_rows();
std::vector<OpDef> full();
std::vector<OpDef> fused_conv2d();
std::vector<OpDef> fused_linear();
std::vector<OpDef> gelu();
std::vector<OpDef> global_average_pool();
std::vector<OpDef> global_norm();
std::vector<OpDef> layer_norm();
std::vector<OpDef> linear();
std::vector<OpDef> mask();
std::vector<OpDef> matmul();
std::vector<OpDef> max_pool2d();
std::vector<OpDef> mean_squared_error();
std::vector<OpDef> moving_average();
std::vector<OpDef> mul();
std::vector<OpDef> normalize();
std::vector<OpDef> packed_embedding();
std::vector<OpDef> packed_linear();
std::vector<OpDef> pool_tokens();
std::vector<OpDef> quantize();
std::vector<OpDef> relu();
std::vector<OpDef> reshape();
std::vector<OpDef> scale();
std::vector<OpDef> slice();
std::vector<OpDef> soft_cross_entropy();
std::vector<OpDef> softmax();
std::vector<OpDef> sum_to();
std::vector<OpDef> take_rows();
std::vector<OpDef> tanh();
std::vector<OpDef> threshold();
std::vector<OpDef> token_positions();
std::vector<OpDef> transpose();
std::vector<OpDef> unpack();
}  // namespace ops

OpTable builtin_ops() {
  OpTable table;
  for (const auto& file : {ops::accumulate,
                           ops::adamw,
                           ops::add,
                           ops::attention,
                           ops::attention_mask,
                           ops::batch_norm,
                           ops::binary_cross_entropy,
                           ops::cast,
                           ops::concat,
                           ops::conv2d,
                           ops::cross_entropy,
                           ops::dropout,
                           ops::elementwise,
                           ops::embedding,
                           ops::encode_rows,
                           ops::full,
                           ops::fused_conv2d,
                           ops::fused_linear,
                           ops::gelu,
                           ops::global_average_pool,
                           ops::global_norm,
                           ops::layer_norm,
                           ops::linear,
                           ops::mask,
                           ops::matmul,
                           ops::max_pool2d,
                           ops::mean_squared_error,
                           ops::moving_average,
                           ops::mul,
                           ops::normalize,
                           ops::packed_embedding,
                           ops::packed_linear,
                           ops::pool_tokens,
                           ops::quantize,
                           ops::relu,
                           ops::reshape,
                           ops::scale,
                           ops::slice,
                           ops::soft_cross_entropy,
                           ops::softmax,
                           ops::sum_to,
                           ops::take_rows,
                           ops::tanh,
                           ops::threshold,
                           ops::token_positions,
                           ops::transpose,
                           ops::unpack}) {
    for (OpDef& op : file()) table.emplace(op.name, std::move(op));
  }
  return table;
}

}  // namespace hone
