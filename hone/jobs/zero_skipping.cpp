#include "hone/jobs/zero_skipping.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hone/base/text.h"
#include "hone/formats/format.h"
#include "hone/kernels/sparse_float_product.h"
#include "hone/kernels/sparse_int8_product.h"
#include "hone/runtime/interpreter.h"
#include "hone/runtime/run_passes.h"

namespace hone {
namespace {

constexpr std::string_view kFloatProducts = "fp32", kIntegerProducts = "native int";

bool is_linear_layer(const Node* node) {
  constexpr std::string_view kOperations[] = {"linear", "fused_linear", "packed_linear",
                                              "native_linear", "native_linear_codes"};
  return std::ranges::find(kOperations, node->op().name) != std::end(kOperations);
}

std::string pattern_text(std::string_view pattern) {
  return pattern == "weights" ? "single weights" : fmt::format("blocks of {}", pattern);
}

// Blocks that do not match a kernel's pattern can be skipped as single weights.
std::string skipped_as(std::string_view pattern) {
  return fmt::format("{} {}", pattern == "weights" ? "as" : "in", pattern_text(pattern));
}

std::string from_rows_text(std::int64_t min_rows) {
  return min_rows == 1 ? "" : fmt::format(" with {} rows of input or more", min_rows);
}

std::string below_thresholds(std::string_view why, std::string_view products) {
  return fmt::format("{}; {} products skip zeros from {} on", why, products,
                     thresholds_text(products));
}

// Says why fp32 products with a weight multiply its zeros.
std::string reason_of_floats(const Tensor& weight) {
  const LinearZeros zeros = linear_zeros(weight);
  if (to_text(zeros).empty()) return "not pruned";
  return below_thresholds(zeros.structure.block.columns > 1 ? "zeros form no blocks of 4x1"
                                                            : "too few weights are zero",
                          kFloatProducts);
}

// Says why the products of a layer multiply its zeros. `copy`: the kernel's prepared copy, or null.
std::string reason_of(const Node& node, const PreparedCopy* copy,
                      const ParameterStore& parameters) {
  const bool counts_zeros = copy != nullptr && copy->zeros;
  if (!node.attributes().find("format"))
    return counts_zeros ? reason_of_floats(parameters.at(node.inputs()[1].node->name()))
                        : "the kernel multiplies zeros";
  if (counts_zeros) return below_thresholds("too few blocks of 1x4 are zero", kIntegerProducts);
  return fmt::format("no kernel skips zeros of weights in {}{}",
                     to_string(node.attributes().get<Format>("format")),
                     node.is("packed_linear") ? " with inputs in fp32"
                                              : "; native products skip those of int with per=row");
}

}  // namespace

std::vector<SparsityThreshold> sparsity_thresholds() {
  std::vector<SparsityThreshold> all;
  const auto add = [&](std::string_view products, const char* pattern, const auto& limits,
                       auto most) {
    for (auto limit = std::rbegin(limits); limit != std::rend(limits); ++limit)
      all.push_back({std::string(products), pattern, limit->rows, 1 - (*limit).*most});
  };
  using kernels::kSparseFloatLimits, kernels::kSparseInt8Limits;
  add(kFloatProducts, "4x1", kSparseFloatLimits, &kernels::SparseFloatLimit::blocks);
  add(kFloatProducts, "weights", kSparseFloatLimits, &kernels::SparseFloatLimit::single);
  add(kIntegerProducts, "1x4", kSparseInt8Limits, &kernels::SparseInt8Limit::blocks);
  return all;
}

std::string thresholds_text(std::string_view products) {
  std::vector<std::string> patterns, fewer_rows;
  std::string pattern;
  const auto finish = [&] {
    if (!fewer_rows.empty()) patterns.back() += fmt::format(" ({})", fmt::join(fewer_rows, ", "));
    fewer_rows.clear();
  };
  for (const SparsityThreshold& one : sparsity_thresholds()) {
    if (one.products != products) continue;
    if (one.pattern == pattern) {
      fewer_rows.push_back(fmt::format("{:g}% with {}", 100 * one.sparsity, one.min_rows));
      continue;
    }
    finish();
    pattern = one.pattern;
    patterns.push_back(fmt::format("{:g}% of {}{}", 100 * one.sparsity,
                                   pattern == "weights" ? "" : "the ", pattern_text(pattern)) +
                       from_rows_text(one.min_rows));
  }
  finish();
  return fmt::format("{}", fmt::join(patterns, ", or "));
}

std::int64_t ZeroSkipping::skipping_layers() const {
  std::int64_t layers = 0;
  for (const SkippingLayers& one : skipping) layers += one.layers;
  return layers;
}

std::int64_t ZeroSkipping::saved_bytes() const {
  std::int64_t bytes = 0;
  for (const SkippingLayers& one : skipping) bytes += one.dense_bytes - one.bytes;
  return bytes;
}

ZeroSkipping zero_skipping(const Model& model, const Session& session) {
  Graph graph = forward_graph(model);
  ZeroSkipping found;
  if (!session.device.host_accessible()) {
    found.linear_layers =
        std::ranges::count_if(graph.of_kind(NodeKind::operation), is_linear_layer);
    if (found.linear_layers > 0)
      found.dense = {{"kernels of GPUs multiply zeros", found.linear_layers}};
    return found;
  }
  ParameterStore parameters = model.parameters.on(session.device);
  prepare_for_inference(graph, parameters, session);
  const std::vector<PreparedCopy> copies = prepared_copies(graph, parameters, session);
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    if (!is_linear_layer(node)) continue;
    ++found.linear_layers;
    const auto copy = std::ranges::find(copies, node, &PreparedCopy::node);
    if (copy == copies.end() || !copy->zeros || !copy->zeros->skips()) {
      const std::string reason =
          reason_of(*node, copy == copies.end() ? nullptr : &*copy, parameters);
      auto same = std::ranges::find(found.dense, reason, &DenseLayers::reason);
      if (same == found.dense.end()) same = found.dense.insert(same, DenseLayers{reason});
      ++same->layers;
      continue;
    }
    const WeightZeros& zeros = *copy->zeros;
    auto same = std::ranges::find_if(found.skipping, [&](const SkippingLayers& one) {
      return one.pattern == zeros.pattern && one.min_rows == zeros.min_rows;
    });
    if (same == found.skipping.end())
      same = found.skipping.insert(same, {std::string(zeros.pattern), zeros.min_rows});
    ++same->layers;
    same->dense_bytes += zeros.dense_bytes;
    same->bytes += zeros.bytes;
  }
  return found;
}

std::vector<std::string> lines_of(const ZeroSkipping& found) {
  std::vector<std::string> lines, patterns;
  std::int64_t dense_bytes = 0, bytes = 0;
  for (const SkippingLayers& one : found.skipping) {
    patterns.push_back(
        fmt::format("{} {}{}", one.layers, skipped_as(one.pattern), from_rows_text(one.min_rows)));
    dense_bytes += one.dense_bytes;
    bytes += one.bytes;
  }
  if (!patterns.empty())
    lines.push_back(fmt::format(
        "Products of {} of {} linear layers skip zeros: {}. They read {} of weights instead of {}.",
        found.skipping_layers(), found.linear_layers, fmt::join(patterns, ", "),
        human_bytes(static_cast<double>(bytes)), human_bytes(static_cast<double>(dense_bytes))));
  for (const DenseLayers& one : found.dense)
    lines.push_back(fmt::format("{} skip{} no zeros: {}.", counted_text(one.layers, "linear layer"),
                                one.layers == 1 ? "s" : "", one.reason));
  return lines;
}

const Fields& fields_of(const Zeros*) {
  using Z = Zeros;
  static const Fields fields =
      describe<Z>("zeros", "Elements that are 0.", omitted<&Z::name>(),
                  field<&Z::elements>("elements", "Number of elements.", "Elements"),
                  field<&Z::zeros>("zeros", "Number of zeros among them.", "Zeros"),
                  field<&Z::share>("share", Unit::share, "Zeros of all elements.", "Share"));
  return fields;
}

const Fields& fields_of(const LinearZeros*) {
  using L = LinearZeros;
  static const Fields fields =
      describe<L>("linear_zeros", "Zeros in the weights of linear layers.", inlined<&L::zeros>(),
                  field<&L::structure>("structure",
                                       "Pattern of the zeros: blocks of 4x1 (outputs by inputs) or "
                                       "1x4, 2:4, or weights: neither."));
  return fields;
}

const Fields& fields_of(const SparsityThreshold*) {
  using S = SparsityThreshold;
  static const Fields fields = describe<S>(
      "sparsity_threshold", "A sparsity from which on products on the CPU skip zeros.",
      field<&S::products>("products", "fp32, or native int: 8 bits or fewer, one scale per row."),
      field<&S::pattern>("pattern",
                         "Of the zeros: blocks of 4x1 (outputs by inputs) or 1x4, or weights: "
                         "single ones."),
      field<&S::min_rows>("min_rows", "Rows of the input, examples times tokens, at least."),
      field<&S::sparsity>("sparsity", Unit::share,
                          "Of the blocks, or of the weights, that must be zero at least."));
  return fields;
}

const Fields& fields_of(const SkippingLayers*) {
  using S = SkippingLayers;
  static const Fields fields = describe<S>(
      "skipping_layers", "Linear layers whose products skip zeros in one pattern.",
      field<&S::pattern>("pattern",
                         "Blocks of 4x1 (outputs by inputs) or 1x4, or weights: single ones."),
      field<&S::min_rows>("min_rows", "Rows of the input from which on products skip zeros."),
      field<&S::layers>("layers", "Number of layers."),
      field<&S::dense_bytes>("dense_bytes", Unit::bytes,
                             "Of their weights, as products with all zeros read them."),
      field<&S::bytes>("bytes", Unit::bytes,
                       "Of their weights with indices, as products that skip zeros read them."));
  return fields;
}

const Fields& fields_of(const DenseLayers*) {
  using D = DenseLayers;
  static const Fields fields = describe<D>(
      "dense_layers", "Linear layers whose products multiply zeros like other numbers.",
      field<&D::reason>("reason", "Why."), field<&D::layers>("layers", "Number of layers."));
  return fields;
}

const Fields& fields_of(const ZeroSkipping*) {
  using Z = ZeroSkipping;
  static const Fields fields = describe<Z>(
      "zero_skipping", "Linear layers whose products skip the zeros of their weights.",
      field<&Z::linear_layers>("linear_layers", "Number of linear layers."),
      field<&Z::skipping_layers>("skipping_layers", "Number of those that skip zeros."),
      field<&Z::saved_bytes>("saved_bytes", Unit::bytes,
                             "Of weights that products need not read because they skip zeros."),
      field<&Z::skipping>("skipping", "Layers that skip zeros, by pattern."),
      field<&Z::dense>("dense", "Layers that multiply zeros, by reason."));
  return fields;
}

}  // namespace hone
