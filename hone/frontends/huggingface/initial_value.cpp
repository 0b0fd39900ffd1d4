#include <algorithm>
#include <cmath>

#include "hone/frontends/huggingface/architecture.h"
#include "hone/ir/initial_value.h"

namespace hone {
namespace {

// PE(p, 2i) = sin(p / 10000^(2i / H)), PE(p, 2i + 1) = cos of the same: Vaswani et al., 2017, 3.5.
void fill_with_sines(Tensor& table) {
  const std::span<float> values = table.values<float>();
  const std::int64_t size = table.size(1);
  for (std::int64_t i = 0; i < table.count(); ++i) {
    const std::int64_t column = i % size;
    const double rate =
        std::pow(10000.0, -static_cast<double>(column / 2 * 2) / static_cast<double>(size));
    const double angle = static_cast<double>(i / size) * rate;
    values[static_cast<std::size_t>(i)] =
        static_cast<float>(column % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
}

// Returns the embedding row for padding, which is not trained.
std::optional<std::int64_t> padding_row(const Node& parameter) {
  for (const Node* user : parameter.users()) {
    const Attribute* row = user->attributes().find("padding");
    const bool looks_up = user->is("embedding") && user->inputs()[1].node == &parameter;
    if (looks_up && row != nullptr && std::get<std::int64_t>(*row) >= 0)
      return std::get<std::int64_t>(*row);
  }
  return std::nullopt;
}

// Returns the initial value of a parameter of an image model.
Tensor initial_image_value(const Node& parameter, std::uint64_t seed, ThreadPool& pool) {
  const Shape& shape = parameter.types()[0].shape;
  for (const Node* user : parameter.users()) {
    if (!user->is("batch_norm")) continue;
    for (const std::size_t statistic : {3, 4}) {
      if (user->input(statistic).node != &parameter) continue;
      Tensor tensor = Tensor::zeros(DType::f32, resolve(shape, {}));
      if (statistic == 4) std::ranges::fill(tensor.values<float>(), 1.0f);
      return tensor;
    }
  }
  double variance = 0;
  if (shape.size() == 4)
    variance = 2 / static_cast<double>(shape[0].size * shape[2].size * shape[3].size);
  if (shape.size() == 2) variance = 1 / (3 * static_cast<double>(shape[1].size));
  return initial_value(parameter, std::sqrt(variance), seed, pool);
}

}  // namespace

Tensor initial_value(const Node& parameter, const Architecture& architecture,
                     const EncoderConfig& config, std::uint64_t seed, ThreadPool& pool) {
  if (architecture.of_images()) return initial_image_value(parameter, seed, pool);
  Tensor tensor = initial_value(parameter, config.initializer_range, seed, pool);
  if (config.sinusoidal_positions && parameter.name() == position_table(architecture.encoder))
    fill_with_sines(tensor);
  if (const std::optional<std::int64_t> row = padding_row(parameter))
    std::ranges::fill(tensor.slice(0, *row, *row + 1).values<float>(), 0.0f);
  return tensor;
}

}  // namespace hone
