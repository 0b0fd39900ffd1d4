#include <algorithm>

#include "hone/cuda/convert.h"
#include "hone/cuda/kernels.h"
#include "hone/cuda/launch.h"

// Losses (hone/cuda/source/losses.cu). The number of blocks depends on shapes alone, so terms are always added in the
// same order. Logits and targets are fp32, bf16 or fp16; losses, their gradients and class weights are fp32.
namespace hone::cuda {
namespace {

std::string_view takes_loss(const CallSite& site) {
  const DType dtype = site.inputs[0].dtype;
  const bool is_value = dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
  return is_value && site.outputs[0].dtype == DType::f32 ? "" : "logits are not f32, bf16 or f16";
}

std::string_view takes_loss_gradient(const CallSite& site) {
  const DType dtype = site.inputs[0].dtype;
  const bool is_value = dtype == DType::f32 || dtype == DType::bf16 || dtype == DType::f16;
  return is_value && site.outputs[0].dtype == dtype ? "" : "logits are not f32, bf16 or f16";
}

// Floating-point targets must have the logits' type.
template <std::string_view (*Takes)(const CallSite&)>
std::string_view takes_float_targets(const CallSite& site) {
  return site.inputs[1].dtype == site.inputs[0].dtype ? Takes(site)
                                                      : "targets have another type than logits";
}

constexpr std::int64_t kSumsBytes = 2 * sizeof(double);  // a sum of losses, and one of weights
constexpr std::int64_t kFinishThreads = 256;

void finish_loss(Call& call, const Program& program, std::int64_t blocks, float* loss) {
  if (blocks > 1)
    launch(call.device, {program, "finish_loss", {1}, {kFinishThreads}}, blocks, call.workspace,
           loss);
}

// ---- rows of classes

/// Groups of threads, one per row, and the blocks that they form.
struct LossRows {
  std::int64_t rows, classes;
  bool is_wide;  // a block per row, else a warp

  LossRows(std::int64_t of_rows, std::int64_t of_classes)
      : rows(of_rows), classes(of_classes), is_wide(of_classes > 1024) {}
  explicit LossRows(const Sizes& logits) : LossRows(logits[0], logits[1]) {}

  Program program(DType dtype) const {
    return {"losses.cu", {value_definition(dtype), is_wide ? "GROUP=Block" : "GROUP=Warp"}};
  }
  Extent block() const { return is_wide ? Extent{256} : Extent{32, kWarps}; }
  // Returns the number of blocks that gives each row a group.
  std::int64_t blocks() const { return is_wide ? rows : ceil_divide(rows, kWarps); }
  // Returns the number of blocks, each of which stores a partial sum.
  std::int64_t summing_blocks() const {
    constexpr std::int64_t kRowsOfWarp = 4, kMaxBlocks = 256;
    return std::clamp<std::int64_t>(is_wide ? rows : ceil_divide(rows, kWarps * kRowsOfWarp), 1,
                                    kMaxBlocks);
  }
  // Returns whether the rows' weights are added once; otherwise each block adds them.
  bool are_many() const { return rows > 1024; }

 private:
  static constexpr std::int64_t kWarps = 8;
};

std::int64_t row_loss_workspace(const CallSite& site, const Bindings& bindings) {
  return LossRows(resolve(site.inputs[0].shape, bindings)).summing_blocks() * kSumsBytes;
}

std::int64_t row_loss_gradient_workspace(const CallSite&, const Bindings&) {
  return sizeof(double);
}

void cross_entropy(Call& call) {
  const Tensor& logits = call.input(0);
  const LossRows plan(logits.sizes());
  const Program program = plan.program(logits.dtype());
  float* const loss = pointer<float>(call.output());
  launch(call.device, {program, "row_loss", {plan.summing_blocks()}, plan.block()}, plan.rows,
         plan.classes, logits.device_pointer(), integers(call, 1), optional_floats(call, 2),
         call.workspace, loss);
  finish_loss(call, program, plan.summing_blocks(), loss);
}

void soft_cross_entropy(Call& call) {
  const Tensor& logits = call.input(0);
  const LossRows plan(logits.sizes());
  const Program program = plan.program(logits.dtype());
  float* const loss = pointer<float>(call.output());
  launch(call.device, {program, "soft_row_loss", {plan.summing_blocks()}, plan.block()}, plan.rows,
         plan.classes, logits.device_pointer(), call.input(1).device_pointer(), integers(call, 2),
         optional_floats(call, 3), call.workspace, loss);
  finish_loss(call, program, plan.summing_blocks(), loss);
}

// Returns the sum of the rows' weights if it is computed once, else null.
const double* added_weights(Call& call, const LossRows& plan, const Program& program,
                            const std::int64_t* labels, const float* class_weights) {
  if (!plan.are_many()) return nullptr;
  launch(call.device, {program, "add_weights", {1}, {1024}}, plan.rows, plan.classes, labels,
         class_weights, call.workspace);
  return static_cast<const double*>(call.workspace);
}

void cross_entropy_gradient(Call& call) {
  const Tensor& logits = call.input(0);
  const LossRows plan(logits.sizes());
  const std::byte* const x = logits.device_pointer();
  const std::int64_t* const labels = integers(call, 1);
  const float *const dloss = floats(call, 2), *const class_weights = optional_floats(call, 3);
  std::byte* const dx = call.output().device_pointer();
  if (plan.rows * plan.classes == 0) return;
  const Program program = plan.program(logits.dtype());
  const double* const weights = added_weights(call, plan, program, labels, class_weights);
  launch(call.device, {program, "row_loss_gradient", {plan.blocks()}, plan.block()}, plan.rows,
         plan.classes, x, labels, dloss, class_weights, weights, dx);
}

void soft_cross_entropy_gradient(Call& call) {
  const Tensor& logits = call.input(0);
  const LossRows plan(logits.sizes());
  const std::byte *const x = logits.device_pointer(), *const targets =
                                                          call.input(1).device_pointer();
  const std::int64_t* const labels = integers(call, 2);
  const float *const dloss = floats(call, 3), *const class_weights = optional_floats(call, 4);
  std::byte* const dx = call.output().device_pointer();
  if (plan.rows * plan.classes == 0) return;
  const Program program = plan.program(logits.dtype());
  const double* const weights = added_weights(call, plan, program, labels, class_weights);
  launch(call.device, {program, "soft_row_loss_gradient", {plan.blocks()}, plan.block()}, plan.rows,
         plan.classes, x, targets, labels, dloss, class_weights, weights, dx);
}

// ---- elements

constexpr std::int64_t kLossThreads = 256;

std::int64_t element_blocks(std::int64_t count) {
  constexpr std::int64_t kElementsOfThread = 8, kMaxBlocks = 256;
  return std::clamp<std::int64_t>(ceil_divide(count, kLossThreads * kElementsOfThread), 1,
                                  kMaxBlocks);
}

std::int64_t element_loss_workspace(const CallSite& site, const Bindings& bindings) {
  return element_blocks(element_count(resolve(site.inputs[0].shape, bindings))) * kSumsBytes;
}

// Element losses have no rows, so any group will do.
Program element_program(const Call& call) { return LossRows(0, 0).program(call.input(0).dtype()); }

void element_loss(Call& call, const char* function) {
  const std::int64_t count = call.input(0).count(), blocks = element_blocks(count);
  const Program program = element_program(call);
  float* const loss = pointer<float>(call.output());
  launch(call.device, {program, function, {blocks}, {kLossThreads}}, count,
         call.input(0).device_pointer(), call.input(1).device_pointer(), call.workspace, loss);
  finish_loss(call, program, blocks, loss);
}

void element_loss_gradient(Call& call, const char* function) {
  const std::int64_t count = call.input(0).count();
  std::byte* const dx = call.output().device_pointer();
  if (count == 0) return;
  const Program program = element_program(call);
  launch(call.device, {program, function, {ceil_divide(count, kLossThreads)}, {kLossThreads}},
         count, call.input(0).device_pointer(), call.input(1).device_pointer(), floats(call, 2),
         dx);
}

void mean_squared_error(Call& call) { element_loss(call, "mean_squared_error"); }
void mean_squared_error_gradient(Call& call) {
  element_loss_gradient(call, "mean_squared_error_gradient");
}
void binary_cross_entropy(Call& call) { element_loss(call, "binary_cross_entropy"); }
void binary_cross_entropy_gradient(Call& call) {
  element_loss_gradient(call, "binary_cross_entropy_gradient");
}

}  // namespace

KernelTable loss_kernels() {
  constexpr auto takes_targets = takes_float_targets<takes_loss>;
  constexpr auto takes_targets_gradient = takes_float_targets<takes_loss_gradient>;
  return {
      {"binary_cross_entropy", "cuda", "elements", takes_targets, binary_cross_entropy,
       Layout::dense, nullptr, element_loss_workspace},
      {"binary_cross_entropy_gradient", "cuda", "elements", takes_targets_gradient,
       binary_cross_entropy_gradient},
      {"cross_entropy", "cuda", "rows", takes_loss, cross_entropy, Layout::dense, nullptr,
       row_loss_workspace},
      {"cross_entropy_gradient", "cuda", "rows", takes_loss_gradient, cross_entropy_gradient,
       Layout::dense, nullptr, row_loss_gradient_workspace},
      {"mean_squared_error", "cuda", "elements", takes_targets, mean_squared_error, Layout::dense,
       nullptr, element_loss_workspace},
      {"mean_squared_error_gradient", "cuda", "elements", takes_targets_gradient,
       mean_squared_error_gradient},
      {"soft_cross_entropy", "cuda", "rows", takes_targets, soft_cross_entropy, Layout::dense,
       nullptr, row_loss_workspace},
      {"soft_cross_entropy_gradient", "cuda", "rows", takes_targets_gradient,
       soft_cross_entropy_gradient, Layout::dense, nullptr, row_loss_gradient_workspace},
  };
}

}  // namespace hone::cuda
