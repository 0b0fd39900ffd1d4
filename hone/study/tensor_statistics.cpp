#include "hone/study/tensor_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "hone/base/interrupt.h"
#include "hone/base/progress.h"
#include "hone/base/text.h"
#include "hone/passes/dead_code.h"
#include "hone/passes/quantize.h"
#include "hone/passes/remove_dropout.h"
#include "hone/report/field_table.h"
#include "hone/runtime/fold.h"
#include "hone/tensor/dense.h"
#include "hone/train/memory_check.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr std::size_t kExponents = 256;  // of a float; the sign is the next higher bit
constexpr int kExponentBias = 127, kFractionBits = 23;

}  // namespace

void ValueStatistics::include(std::span<const float> values) {
  const std::int64_t before = seen_.count();
  seen_.include(values);
  const std::int64_t added = seen_.count() - before;
  double sum = 0;
  for (const float value : values) {
    ++by_exponent_[std::bit_cast<std::uint32_t>(value) >> kFractionBits];
    zeros_ += value == 0 ? 1 : 0;
    sum += std::isfinite(value) ? static_cast<double>(value) : 0;
  }
  if (added == 0) return;
  const double mean = sum / static_cast<double>(added);
  double squares = 0;
  for (const float value : values) {
    const double distance = std::isfinite(value) ? static_cast<double>(value) - mean : 0;
    squares += distance * distance;
  }
  const double share = static_cast<double>(added) / static_cast<double>(before + added);
  const double apart = mean - mean_;
  mean_ += apart * share;
  squares_ += squares + apart * apart * static_cast<double>(before) * share;
}

double ValueStatistics::standard_deviation() const {
  return count() == 0 ? 0 : std::sqrt(squares_ / static_cast<double>(count()));
}

double ValueStatistics::zero_share() const {
  return count() == 0 ? 0 : static_cast<double>(zeros_) / static_cast<double>(count());
}

std::vector<ValueStatistics::Bin> ValueStatistics::histogram() const {
  // Exponent 0 has zero and subnormals, the last one infinities and NaN.
  const auto end_of = [](std::size_t exponent) {
    return exponent == 0 ? 0.0 : std::ldexp(1.0, static_cast<int>(exponent) - kExponentBias);
  };
  const auto subnormal = [&] { return by_exponent_[0] + by_exponent_[kExponents] - zeros_; };
  std::vector<Bin> bins;
  for (std::size_t exponent = kExponents - 2; exponent > 0; --exponent)
    bins.push_back({-end_of(exponent + 1), -end_of(exponent), by_exponent_[kExponents + exponent]});
  bins.push_back({-end_of(1), end_of(1), subnormal()});
  bins.push_back({0, 0, zeros_});
  for (std::size_t exponent = 1; exponent < kExponents - 1; ++exponent)
    bins.push_back({end_of(exponent), end_of(exponent + 1), by_exponent_[exponent]});
  std::erase_if(bins, [](const Bin& bin) { return bin.count == 0; });
  return bins;
}

namespace {

bool multiplies_with_weights(const Node& node) {
  return node.op().trait == Trait::contraction && has_operand(node, Operand::weight) &&
         !is_quantizer(node);
}

std::vector<const Node*> layers_called(const Graph& graph, const std::vector<std::string>& globs) {
  std::vector<const Node*> layers;
  std::set<std::string_view> used;
  for (const Node* node : graph.of_kind(NodeKind::operation)) {
    bool wanted = globs.empty() && multiplies_with_weights(*node);
    for (const std::string& glob : globs)
      if (glob_match(glob, node->name())) {
        wanted = true;
        used.insert(glob);
      }
    if (wanted) layers.push_back(node);
  }
  for (const std::string& glob : globs)
    user_check(used.contains(glob),
               "no operation is called '{}'; `hone inspect` shows the names of all", glob);
  return layers;
}

/// The outputs of a run: each value of the graph with the rows about it.
using RowsOfValues = std::map<std::string, std::vector<std::size_t>>;

/// Returns a graph that outputs these values and computes nothing else.
Graph giving(const Graph& graph, const RowsOfValues& values) {
  Graph part = graph;
  part.clear_outputs();
  for (const auto& [name, rows] : values) part.set_output(name, {part.find(name), 0});
  remove_dropout(part);
  remove_dead_code(part);
  return part;
}

// Returns the values that do not depend on the texts or on their number.
std::set<const Node*> constant_values(const Graph& graph) {
  std::set<const Node*> constant;
  for (const auto& node : graph.nodes()) {
    const auto is_constant = [&](const Value& input) { return constant.contains(input.node); };
    if (node->kind() == NodeKind::parameter ||
        (node->kind() == NodeKind::operation && !node->inputs().empty() && has_fixed_size(*node) &&
         std::ranges::all_of(node->inputs(), is_constant)))
      constant.insert(node.get());
  }
  return constant;
}

/// The rows of the result, still empty, and the values they are about.
struct Wanted {
  std::vector<TensorStatistics> rows;
  std::vector<RowsOfValues> constant;  // by layer
  RowsOfValues varying;
};

Wanted wanted_of(const Graph& graph, const std::vector<std::string>& globs) {
  const std::set<const Node*> constants = constant_values(graph);
  Wanted wanted;
  for (const Node* layer : layers_called(graph, globs)) {
    RowsOfValues constant;
    const auto add = [&](Operand operand, const Node* value, const Type& type) {
      if (type.dtype != DType::f32) return;
      (constants.contains(value) ? constant : wanted.varying)[value->name()].push_back(
          wanted.rows.size());
      wanted.rows.push_back({layer->name(), operand, value->name(), {}});
    };
    for (std::size_t i = 0; i < layer->inputs().size(); ++i)
      if (const std::optional<Operand> operand = operand_of(*layer, i))
        add(*operand, layer->inputs()[i].node, layer->inputs()[i].type());
    add(Operand::output, layer, layer->types()[0]);
    if (!constant.empty()) wanted.constant.push_back(std::move(constant));
  }
  return wanted;
}

std::int64_t count_rows(const RowsOfValues& values) {
  std::int64_t count = 0;
  for (const auto& [name, rows] : values) count += std::ssize(rows);
  return count;
}

void include(const NamedTensors& values, const RowsOfValues& rows_of, Wanted& wanted,
             ThreadPool& pool) {
  std::vector<std::pair<const Tensor*, const std::vector<std::size_t>*>> work;
  for (const auto& [name, tensor] : values) work.emplace_back(&tensor, &rows_of.at(name));
  parallel_ranges(pool, std::ssize(work), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const Tensor dense = dense_on(*work[i].first, cpu());
      for (const std::size_t row : *work[i].second)
        wanted.rows[row].values.include(dense.values<float>());
    }
  });
}

}  // namespace

std::vector<TensorStatistics> measure_statistics(const Model& model,
                                                 const std::vector<std::string>& layers,
                                                 const EncodedSet& texts, Context& context) {
  user_check(texts.size() > 0, "nothing to measure: there are no texts");
  const Graph graph = forward_graph(model);
  Wanted wanted = wanted_of(graph, layers);
  const Session session = context.session();
  ParameterStore parameters = model.parameters.on(session.device);
  for (const RowsOfValues& values : wanted.constant) {
    stop_if_interrupted();
    const Graph part = giving(graph, values);
    include(session.executable(part)->run({}, parameters), values, wanted, session.pool);
  }
  if (wanted.varying.empty()) return std::move(wanted.rows);
  const Graph part = giving(graph, wanted.varying);
  const std::unique_ptr<Executable> executable = session.executable(part);
  const ExampleSource source = text_examples(texts);
  check_memory(part, {{'B', 1}, {'S', longest_text(texts)}}, session, parameters,
               fmt::format("a text of up to {} tokens", longest_text(texts)), std::nullopt,
               static_cast<double>(Observation::kBytes * count_rows(wanted.varying)));
  Progress progress("measure values", texts.size(),
                    {.unit = std::string(texts.noun()),
                     .end = ProgressEnd::vanishes,
                     .output = context.progress});
  for (std::int64_t text = 0; text < texts.size(); ++text) {
    stop_if_interrupted();
    include(executable->run(source.batch(std::span(&text, 1), 0), parameters), wanted.varying,
            wanted, session.pool);
    progress.update(text + 1);
  }
  return std::move(wanted.rows);
}

namespace {

constexpr double kMedian = 0.5, kNearlyAll = 0.999;
constexpr std::int64_t kMin = 1000;  // of fewer values, the 99.9th percentile would be the largest

// Returns none if no value is finite.
std::optional<double> if_any(const ValueStatistics& values,
                             double (*figure)(const ValueStatistics&)) {
  return values.count() == 0 ? std::nullopt : std::optional(figure(values));
}

}  // namespace

std::optional<double> TensorStatistics::minimum() const {
  return if_any(values, [](const auto& v) { return static_cast<double>(v.seen().minimum()); });
}
std::optional<double> TensorStatistics::maximum() const {
  return if_any(values, [](const auto& v) { return static_cast<double>(v.seen().maximum()); });
}
std::optional<double> TensorStatistics::mean() const {
  return if_any(values, [](const auto& v) { return v.mean(); });
}
std::optional<double> TensorStatistics::standard_deviation() const {
  return if_any(values, [](const auto& v) { return v.standard_deviation(); });
}
std::optional<double> TensorStatistics::median_magnitude() const {
  return if_any(values, [](const auto& v) {
    return static_cast<double>(v.seen().magnitude_quantile(kMedian));
  });
}
std::optional<double> TensorStatistics::p999_magnitude() const {
  return if_any(values, [](const auto& v) {
    return static_cast<double>(v.seen().magnitude_quantile(kNearlyAll));
  });
}
std::optional<double> TensorStatistics::max_magnitude() const {
  return if_any(values, [](const auto& v) { return static_cast<double>(v.seen().magnitude()); });
}
std::optional<double> TensorStatistics::zero_share() const {
  return if_any(values, [](const auto& v) { return v.zero_share(); });
}

const Fields& fields_of(const TensorStatistics*) {
  using T = TensorStatistics;
  static const Fields fields = describe<T>(
      "tensor_statistics", "Values that a layer reads or writes.",
      field<&T::layer>("layer", "Name of the operation.", "Layer"),
      field<&T::operand>("operand", "Their role in the operation.", "Operand"),
      field<&T::tensor>("tensor", "Name of the value, after masks, thresholds and quantizers.",
                        "Tensor"),
      omitted<&T::values>(), field<&T::count>("values", "Number of finite values.", "Values"),
      field<&T::minimum>("minimum", "Smallest value; null: no value is finite.", "Min"),
      field<&T::maximum>("maximum", "Largest value; null: no value is finite.", "Max"),
      field<&T::mean>("mean", "Mean; null: no value is finite.", "Mean"),
      field<&T::standard_deviation>("standard_deviation",
                                    "Of the population; null: no value is finite.",
                                    "Standard deviation"),
      field<&T::median_magnitude>("median_magnitude",
                                  "Median magnitude, accurate to 1/64; null: no value is finite.",
                                  "|x|, median"),
      field<&T::p999_magnitude>(
          "p999_magnitude",
          "99.9th percentile of the magnitudes, accurate to 1/64; null: no value is finite.",
          "|x|, 99.9%"),
      field<&T::max_magnitude>("max_magnitude", "Largest magnitude; null: no value is finite.",
                               "|x|, max"),
      field<&T::zero_share>("zero_share", Unit::share, "Zeros; null: no value is finite.", "Zeros"),
      field<&T::not_finite>("not_finite", "Number of infinities and NaN.", "Not finite"));
  return fields;
}

Table statistics_table(const std::vector<TensorStatistics>& all) { return headed_table(all); }

Table histogram_table(const std::vector<TensorStatistics>& all) {
  Table table({{"layer", "Layer"},
               {"operand", "Operand"},
               {"low", "From"},
               {"high", "To"},
               {"values", "Values"}});
  for (const TensorStatistics& one : all)
    for (const ValueStatistics::Bin& bin : one.values.histogram())
      table.add_row({one.layer, std::string(to_string(one.operand)), real(bin.low, 4),
                     real(bin.high, 4), bin.count});
  return table;
}

Figure statistics_figure(const std::vector<TensorStatistics>& all, const std::string& title) {
  std::vector<std::string> layers;
  for (const TensorStatistics& one : all)
    if (std::ranges::find(layers, one.layer) == layers.end()) layers.push_back(one.layer);
  const auto place = [&](const std::string& layer) {
    return static_cast<double>(layers.end() - std::ranges::find(layers, layer));
  };
  Figure figure{.title = title, .panels = {}, .width = 1500};
  for (const Operand operand : {Operand::weight, Operand::input, Operand::output}) {
    Panel panel{.title = std::string(to_string(operand)) + "s",
                .x = {.label = "Magnitude", .logarithmic = true}};
    Series median{.label = "median", .draw = Draw::points},
        nearly_all{.label = "99.9%", .draw = Draw::points},
        largest{.label = "largest", .draw = Draw::points};
    for (const TensorStatistics& one : all) {
      if (one.operand != operand) continue;
      const auto add = [&](Series& series, std::optional<double> value) {
        if (value > 0 && std::isfinite(*value))
          series.points.push_back({.x = *value, .y = place(one.layer), .name = one.layer});
      };
      add(median, one.median_magnitude());
      if (one.count() >= kMin) add(nearly_all, one.p999_magnitude());
      add(largest, one.max_magnitude());
    }
    panel.series = {largest, nearly_all, median};
    // Only the first panel shows the names.
    for (std::size_t i = 0; i < layers.size(); ++i)
      panel.y.ticks.push_back(
          {static_cast<double>(layers.size() - i), figure.panels.empty() ? layers[i] : ""});
    panel.y.range = Range{0.4, static_cast<double>(layers.size()) + 0.6};
    figure.panels.push_back(std::move(panel));
  }
  figure.height = 160 + 16 * static_cast<int>(layers.size());
  return figure;
}

}  // namespace hone
