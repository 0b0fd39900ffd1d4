#include "hone/train/variants.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "hone/analysis/cost.h"
#include "hone/base/interrupt.h"
#include "hone/data/row_order.h"
#include "hone/runtime/graph_remainder.h"
#include "hone/runtime/run_passes.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

Variant prepared(Variant variant, const Session& session) {
  HONE_ASSERT(variant.graph.outputs().size() == 1, "a graph with {} outputs",
              variant.graph.outputs().size());
  variant.parameters = variant.parameters.on(session.device);
  prepare_for_inference(variant.graph, variant.parameters, session);
  return variant;
}

// Returns the size of the named values of `graph`.
double bytes_of_values(const Graph& graph, const std::set<std::string>& names,
                       const Bindings& bindings) {
  double bytes = 0;
  for (const auto& node : graph.nodes())
    for (int i = 0; i < static_cast<int>(node->types().size()); ++i)
      if (const Value value{node.get(), i}; names.contains(value_name(value)))
        bytes += static_cast<double>(element_count(resolve(value.type().shape, bindings))) *
                 static_cast<double>(info(value.type().dtype).size_bytes);
  return bytes;
}

// Returns the size of parameters that the base does not have in memory.
double own_bytes(const GraphRest& rest, const ParameterStore& base) {
  double bytes = 0;
  for (const auto& [name, tensor] : rest.parameters.tensors())
    if (!base.contains(name) || base.at(name).storage() != tensor.storage())
      bytes += static_cast<double>(tensor.size_bytes());
  return bytes;
}

struct RowWriter {
  std::vector<float>& all;
  std::size_t width;

  void write(std::span<const std::int64_t> rows, const Tensor& values) {
    const Tensor dense = dense_on(values, cpu());
    for (std::size_t i = 0; i < rows.size(); ++i)
      std::copy_n(
          dense.values<float>().begin() + static_cast<std::ptrdiff_t>(i * width), width,
          all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rows[i]) * width));
  }
};

// Orders rows as `Predictor` does: the longest first, so that the others reuse their memory.
std::vector<std::int64_t> longest_first(const ExampleSource& data) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.size()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::int64_t row) {
    return data.lengths[static_cast<std::size_t>(row)];
  });
  return order;
}

/// Variants whose shared values are kept together.
struct Group {
  std::vector<std::pair<std::size_t, GraphRest>> rests;  // by the number of the variant
  std::set<std::string> shared;
};

class VariantRunner {
 public:
  VariantRunner(const Variant& base, const ExampleSource& data, const VariantRuns& runs,
                const Session& session, std::size_t count)
      : data_(data),
        runs_(runs),
        session_(session),
        base_(prepared(base, session)),
        copied_bytes_(repeated_runs(base_.graph, session, base_.parameters).copied_bytes),
        output_(base_.graph.outputs()[0].second),
        order_(longest_first(data)) {
    result_.width = output_.type().dim(-1).size;
    result_.base.resize(order_.size() * static_cast<std::size_t>(result_.width));
    result_.variants.assign(count, result_.base);
    if (!order_.empty())
      largest_ = {{'B', std::min<std::int64_t>(runs.batch_size, data.size())},
                  {'S', data.lengths[static_cast<std::size_t>(order_[0])]}};
  }

  void add(std::size_t index, const Variant& made) {
    const Variant variant = prepared(made, session_);
    GraphRest rest = rest_of(variant.graph, variant.parameters, base_.graph, base_.parameters);
    std::set<std::string> shared = group_.shared;
    shared.insert(rest.shared.begin(), rest.shared.end());
    const double own = own_bytes(rest, base_.parameters);
    const double bytes = bytes_of_values(base_.graph, shared, largest_);
    if (!group_.rests.empty() && bytes + own_bytes_ + own > runs_.most_bytes) {
      flush();
      shared = {rest.shared.begin(), rest.shared.end()};
    }
    own_bytes_ += own;
    group_.shared = std::move(shared);
    group_.rests.emplace_back(index, std::move(rest));
    apart_.push_back(std::make_unique<Graph>(variant.graph));
  }

  void flush() {
    if (group_.rests.empty()) return;
    result_.kept_bytes = std::max(
        result_.kept_bytes, own_bytes_ + bytes_of_values(base_.graph, group_.shared, largest_));
    if (result_.groups == 0) group_.shared.insert(value_name(output_));
    const std::vector<std::string> names(group_.shared.begin(), group_.shared.end());
    const Graph graph = graph_of_values(base_.graph, names);
    predict(graph);
    const std::unique_ptr<Executable> executable = session_.executable(graph);
    for (const std::span<const std::int64_t> rows : batches(order_, runs_.batch_size))
      run_batch(graph, *executable, rows);
    ++result_.groups;
    group_ = {};
    apart_.clear();
    own_bytes_ = 0;
  }

  VariantRows take() { return std::move(result_); }
  void tell(const std::function<void(std::int64_t)>& on_progress) { on_progress_ = on_progress; }

 private:
  // Predicts the maximum of the memory of the base, and that of its kept values and the largest rest.
  void predict(const Graph& graph) const {
    double rests = 0;
    for (const auto& [index, rest] : group_.rests)
      rests = std::max(rests, single_run_bytes(rest.graph, largest_, session_, rest.parameters));
    const double base =
                     single_run_bytes(graph, largest_, session_, base_.parameters) + copied_bytes_,
                 kept = bytes_of_values(base_.graph, group_.shared, largest_);
    predict_growth(std::max(base, kept + rests), base_.parameters);
  }

  void run_batch(const Graph& graph, Executable& executable, std::span<const std::int64_t> rows) {
    const NamedTensors batch = data_.batch(rows, 0);
    NamedTensors kept = batch;
    for (auto& [name, tensor] : executable.run(batch, base_.parameters))
      kept.insert_or_assign(name, tensor);
    const Bindings bindings = {{'B', std::ssize(rows)}, {'S', longest(data_.lengths, rows)}};
    result_.flops += cost(graph, bindings).flops;
    const auto width = static_cast<std::size_t>(result_.width);
    if (result_.groups == 0) {
      RowWriter{result_.base, width}.write(rows, kept.at(value_name(output_)));
      result_.separate_flops += cost(base_.graph, bindings).flops;
    }
    for (std::size_t i = 0; i < group_.rests.size(); ++i) {
      stop_if_interrupted();
      auto& [index, rest] = group_.rests[i];
      // Created for each run: all of them at once would hold their memory and prepared weights.
      const NamedTensors outputs = session_.executable(rest.graph)->run(kept, rest.parameters);
      RowWriter{result_.variants[index], width}.write(rows, outputs.begin()->second);
      result_.flops += cost(rest.graph, bindings).flops;
      result_.separate_flops += cost(*apart_[i], bindings).flops;
      done_ += std::ssize(rows);
      if (on_progress_) on_progress_(done_);
    }
  }

  const ExampleSource& data_;
  VariantRuns runs_;
  Session session_;
  Variant base_;
  double copied_bytes_;  // prepared copies of its weights, for all groups
  Value output_;
  std::vector<std::int64_t> order_;
  Bindings largest_;
  Group group_;
  std::vector<std::unique_ptr<Graph>> apart_;  // whole variants of the group, to count their cost
  double own_bytes_ = 0;
  std::int64_t done_ = 0;
  std::function<void(std::int64_t)> on_progress_;
  VariantRows result_;
};

}  // namespace

VariantRows rows_of_variants(const Variant& base, std::size_t count,
                             const std::function<Variant(std::size_t)>& make,
                             const ExampleSource& data, const VariantRuns& runs,
                             const Session& session,
                             const std::function<void(std::int64_t)>& on_progress) {
  user_check(data.size() > 0, "there are no examples to measure on");
  HONE_ASSERT(count > 0, "no variants");
  VariantRunner runner(base, data, runs, session, count);
  runner.tell(on_progress);
  for (std::size_t i = 0; i < count; ++i) runner.add(i, make(i));
  runner.flush();
  return runner.take();
}

}  // namespace hone
