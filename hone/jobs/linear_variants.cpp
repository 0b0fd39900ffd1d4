#include "hone/jobs/linear_variants.h"

#include <map>
#include <tuple>

#include "hone/base/interrupt.h"
#include "hone/formats/calibrate.h"
#include "hone/formats/packing.h"
#include "hone/runtime/kernel_choice.h"
#include "hone/runtime/native_formats.h"

namespace hone {

std::int64_t LinearVariant::bytes(const LinearJob& job, std::int64_t rows) const {
  const auto value_bytes = static_cast<std::int64_t>(info(values()).size_bytes);
  return weight_bytes + value_bytes * (job.outputs + rows * (job.inputs + job.outputs));
}

LinearVariant dense_variant(LinearImplementation implementation, const Tensor& weight,
                            const Tensor& bias) {
  LinearVariant variant{.implementation = implementation};
  variant.operands = {{"weight", weight.cast(variant.values())},
                      {"bias", bias.cast(variant.values())}};
  variant.weight_bytes = static_cast<std::int64_t>(variant.operands[0].second.size_bytes());
  return variant;
}

namespace {

// `is_sparse`: the product skips zeros of the weight.
LinearVariant coded_variant(LinearImplementation implementation, const Format& format,
                            const Tensor& weight, const Tensor& bias, bool is_sparse,
                            Context& context) {
  LinearVariant variant{.implementation = implementation, .format = format};
  variant.objection = packing_objection(format, weight.sizes());
  if (variant.objection.empty() && implementation == LinearImplementation::native)
    variant.objection = native_unsupported_reason(format);
  if (!variant.objection.empty()) return variant;
  if (implementation == LinearImplementation::native)
    variant.input_format = native_input(format, context.library.formats);
  const std::vector<Tensor> state =
      calibrate_tensor(format, weight.sizes(), weight.values<float>());
  const PackedLayout layout = packed_layout(format, weight.sizes(), Arrangement::panels);
  const QuantizerInput input{format, weight.sizes(), weight.values<float>(), state};
  PackedCodes packed = pack(input, layout, context.pool);
  if (is_sparse) variant.sparse = sparse_codes(input, packed, context.pool);
  variant.operands = {
      {"codes", std::move(packed.codes)}, {"shared", std::move(packed.shared)}, {"bias", bias}};
  variant.weight_bytes = layout.bytes_without_padding();
  for (std::size_t i = 0; i < state.size(); ++i) {
    variant.operands.emplace_back(fmt::format("state.{}", i), state[i]);
    variant.weight_bytes += static_cast<std::int64_t>(state[i].size_bytes());
  }
  if (is_sparse) variant.weight_bytes = variant.sparse->bytes;
  return variant;
}

LinearVariant sparse_variant(const LinearVariant& of, const Tensor& zeroed, const Tensor& bias,
                             Context& context) {
  if (has_codes(of.implementation))
    return coded_variant(of.implementation, *of.format, zeroed, bias, true, context);
  LinearVariant variant{.implementation = of.implementation,
                        .operands = {{"weight", zeroed}, {"bias", bias}}};
  variant.sparse = sparse_floats(of.implementation, zeroed, context.pool);
  variant.weight_bytes = variant.sparse->bytes;
  return variant;
}

// Appends sparse variants of the dense ones in `variants`.
void add_sparse_variants(std::vector<LinearVariant>& variants, const LinearJob& job,
                         const Tensor& weight, const Tensor& bias,
                         const std::function<void()>& on_made, Context& context) {
  if (!context.device->host_accessible()) return;
  std::map<std::tuple<double, std::int64_t, std::int64_t>, Tensor> zeroed;
  const std::vector<LinearVariant> dense = variants;
  for (const LinearVariant& one : dense) {
    if (!has_sparse_kernel(one.implementation, one.format ? &*one.format : nullptr, weight.sizes(),
                           context.library.formats))
      continue;
    const PruneBlock block = job.block.value_or(default_sparse_block(one.implementation));
    for (const double sparsity : job.sparsities) {
      Tensor& values = zeroed[{sparsity, block.rows, block.columns}];
      if (!values.defined()) values = with_zeros(weight, sparsity, block);
      LinearVariant& variant = variants.emplace_back(sparse_variant(one, values, bias, context));
      variant.sparse->sparsity = sparsity;
      variant.sparse->block = block;
      variant.sparse->dense = values;
      on_made();
      stop_if_interrupted();
    }
  }
}

}  // namespace

std::vector<LinearVariant> linear_variants(const LinearJob& job, const Tensor& weight,
                                           const Tensor& bias, const std::function<void()>& on_made,
                                           Context& context) {
  std::vector<LinearVariant> variants;
  const auto add = [&](LinearVariant variant) {
    variants.push_back(std::move(variant));
    on_made();
    stop_if_interrupted();
  };
  for (const LinearImplementation implementation : job.implementations) {
    if (!has_codes(implementation)) {
      add(dense_variant(implementation, weight, bias));
      continue;
    }
    for (const Format& format : job.formats)
      add(coded_variant(implementation, format, weight, bias, false, context));
  }
  add_sparse_variants(variants, job, weight, bias, on_made, context);
  return variants;
}

namespace {

Value add_linear(Graph& graph, const LinearVariant& variant, const LinearJob& job, Value x,
                 const std::vector<Value>& operands, const Session& session) {
  std::vector<Value> inputs = {x};
  inputs.insert(inputs.end(), operands.begin(), operands.end());
  if (!has_codes(variant.implementation)) return graph.add("linear", std::move(inputs));
  Attributes attributes = {{"format", *variant.format},
                           {"shape", Shape{Dim(job.outputs), Dim(job.inputs)}}};
  if (variant.implementation == LinearImplementation::packed)
    return graph.add("packed_linear", std::move(inputs), std::move(attributes));
  attributes.set("input_format", *variant.input_format);
  // Without an encoder for the format, the product rounds its inputs itself.
  const Attributes of_encoder = {{"format", *variant.input_format}};
  if (has_fast_kernel("encode_rows", of_encoder, {x.type()}, {x.type()}, session))
    inputs[0] = graph.add("encode_rows", {x}, of_encoder);
  return graph.add("native_linear", std::move(inputs), std::move(attributes));
}

}  // namespace

Graph linears_graph(const LinearVariant& variant, const LinearJob& job, std::int64_t count,
                    bool has_output, const Session& session) {
  Graph graph(session.library.ops);
  const Value x =
      graph.add_parameter("x", {variant.values(), {Dim::of_symbol('B'), Dim(job.inputs)}},
                          ParameterRole::buffer, false);
  Value y;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Value> operands;
    for (const auto& [name, tensor] : variant.operands) {
      Type type{tensor.dtype(), {}};
      for (const std::int64_t size : tensor.sizes()) type.shape.emplace_back(size);
      operands.push_back(graph.add_parameter(fmt::format("{}.{}", name, i), std::move(type),
                                             ParameterRole::buffer, false));
    }
    y = add_linear(graph, variant, job, x, operands, session);
  }
  if (has_output) graph.set_output("y", y);
  return graph;
}

ParameterStore linears_store(const LinearVariant& variant, std::int64_t count, Device& device) {
  ParameterStore store;
  for (std::int64_t i = 0; i < count; ++i)
    for (const auto& [name, tensor] : variant.operands)
      store.set(fmt::format("{}.{}", name, i), tensor.storage()->mapped || variant.sparse
                                                   ? tensor.on(device)
                                                   : tensor.copy_to(device));
  return store;
}

std::string missing_kernel(const Graph& graph, const Session& session) {
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    const std::vector<KernelCandidate> candidates =
        kernel_candidates(session.library.kernels, call_site(*node), session.device);
    if (!candidates.empty() && candidates.back().refusal.empty()) continue;
    std::string text =
        fmt::format("no kernel of {} on {}", node->op().name, to_string(session.device));
    for (const KernelCandidate& candidate : candidates)
      text += fmt::format("; {}: {}", candidate.kernel->name, candidate.refusal);
    return text;
  }
  return "";
}

std::string product_kernel(const Graph& graph, const Session& session) {
  const Node& product = *graph.of_kind(NodeKind::operation).back();
  return fmt::format("{} / {}", product.op().name,
                     find_kernel(session.library.kernels, product, session.device)->name);
}

}  // namespace hone
