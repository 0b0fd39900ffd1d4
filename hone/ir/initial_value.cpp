#include "hone/ir/initial_value.h"

#include <algorithm>
#include <cmath>

#include "hone/base/random.h"

namespace hone {

Tensor initial_value(const Node& parameter, double deviation, std::uint64_t seed,
                     ThreadPool& pool) {
  Tensor tensor = Tensor::zeros(DType::f32, resolve(parameter.types()[0].shape, {}));
  const std::span<float> values = tensor.values<float>();
  switch (parameter.role()) {
    case ParameterRole::bias:
      break;
    case ParameterRole::gain:
    case ParameterRole::mask:
      std::ranges::fill(values, 1.0f);
      break;
    default: {
      constexpr std::int64_t kChunk = 16 << 10;
      const std::uint64_t stream = stream_of(parameter.name());
      parallel_ranges(pool, std::ssize(values), kChunk, [&](std::int64_t begin, std::int64_t end) {
        RandomSequence random(seed, stream, static_cast<std::uint64_t>(begin));
        for (std::int64_t i = begin; i < end; ++i)
          values[static_cast<std::size_t>(i)] = static_cast<float>(random.normal() * deviation);
      });
    }
  }
  return tensor;
}

ParameterStore initial_parameters(const Graph& graph, std::uint64_t seed) {
  ParameterStore parameters;
  ThreadPool alone(1);
  for (const Node* parameter : graph.of_kind(NodeKind::parameter)) {
    using enum ParameterRole;
    const ParameterRole role = parameter->role();
    if (role != weight && role != gain && role != bias && role != mask) continue;
    const Shape& shape = parameter->types()[0].shape;
    const std::int64_t columns = shape.empty() ? 1 : std::max<std::int64_t>(1, shape.back().size);
    parameters.set(
        parameter->name(),
        initial_value(*parameter, std::sqrt(2.0 / static_cast<double>(columns)), seed, alone));
  }
  return parameters;
}

}  // namespace hone
