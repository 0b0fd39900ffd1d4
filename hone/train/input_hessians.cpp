#include "hone/train/input_hessians.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/passes/prune.h"
#include "hone/runtime/graph_remainder.h"
#include "hone/train/observed_inputs.h"

namespace hone {
namespace {

constexpr std::int64_t kTokensAtOnce = 4;  // accumulated per read and write of a row of sums

struct ReadInputs {
  const Node* weight;
  std::vector<Value> values;  // unique
};

// Returns the inputs of each weight, in the graph's order.
std::vector<ReadInputs> inputs_of_weights(const Graph& graph,
                                          const std::vector<std::string>& target) {
  std::vector<ReadInputs> all;
  for (const Node* product : prunable_products(graph, target)) {
    const Node* const weight = stored_parameter(product_weight(*product));
    user_check(weight->types()[0].rank() == 2,
               "{}: `method` sparsegpt supports only linear layers; exclude this one from "
               "`target`",
               product->name());
    auto found = std::ranges::find(all, weight, &ReadInputs::weight);
    if (found == all.end()) found = all.insert(all.end(), {weight, {}});
    const Value input = product_input(*product);
    if (std::ranges::find(found->values, input) == found->values.end())
      found->values.push_back(input);
  }
  return all;
}

// x is (tokens, columns), with all leading axes flattened.
void add_squares(const Tensor& x, InputHessian& hessian, ThreadPool& pool) {
  const std::int64_t columns = hessian.columns, tokens = x.count() / columns;
  const float* const values = x.data<float>();
  hessian.sums.resize(static_cast<std::size_t>(columns * columns));  // on the first call
  parallel_ranges(pool, columns, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* const sums = hessian.sums.data() + i * columns;
      std::int64_t t = 0;
      for (; t + kTokensAtOnce <= tokens; t += kTokensAtOnce) {
        const float *const a = values + t * columns, *const b = a + columns, *const c = b + columns,
                           *const d = c + columns;
        const double ai = a[i], bi = b[i], ci = c[i], di = d[i];
        for (std::int64_t j = i; j < columns; ++j)
          sums[j] += (ai * a[j] + bi * b[j]) + (ci * c[j] + di * d[j]);
      }
      for (; t < tokens; ++t) {
        const float* const a = values + t * columns;
        const double ai = a[i];
        for (std::int64_t j = i; j < columns; ++j) sums[j] += ai * a[j];
      }
    }
  });
}

}  // namespace

std::vector<InputHessian> input_hessians(const Graph& graph, const std::vector<std::string>& target,
                                         ParameterStore& parameters, const ExampleSource& data,
                                         const CalibrationRun& run, const Session& session,
                                         double beside) {
  Graph observed = graph;
  const std::vector<ReadInputs> inputs = inputs_of_weights(observed, target);
  observed.clear_outputs();
  std::vector<InputHessian> all;
  std::vector<std::vector<Value>> read;                  // by each of `all`
  std::map<std::string, std::vector<std::size_t>> ones;  // indices of `all`, by their output
  for (const auto& [weight, values] : inputs) {
    const auto same = std::ranges::find(read, values);
    if (same != read.end()) {
      all[static_cast<std::size_t>(same - read.begin())].weights.push_back(weight->name());
      continue;
    }
    const std::int64_t columns = weight->types()[0].dim(1).size;
    all.push_back({{weight->name()}, columns, {}});
    beside += sizeof(double) * static_cast<double>(columns * columns);
    read.push_back(values);
    for (const Value& value : values) ones[value_name(value)].push_back(all.size() - 1);
    for (const Value& value : values) observed.set_output(value_name(value), value);
  }
  observe_outputs(std::move(observed), parameters, data, run, session, beside,
                  [&](const std::string& name, const Tensor& x) {
                    for (const std::size_t i : ones.at(name)) add_squares(x, all[i], session.pool);
                  });
  for (const InputHessian& hessian : all)
    user_check(std::ranges::all_of(hessian.sums, [](double sum) { return std::isfinite(sum); }),
               "the inputs of {} have values that are NaN or infinite, or too large to be squared",
               hessian.weights.front());
  return all;
}

}  // namespace hone
