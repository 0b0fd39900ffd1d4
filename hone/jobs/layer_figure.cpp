#include "hone/jobs/layer_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "hone/analysis/precision.h"

namespace hone {
namespace {

constexpr std::size_t kMostLayers = 40;
constexpr int kRowHeight = 20, kBarHeight = 9, kFewestRows = 5;
constexpr int kAroundRows = 100;  // title, legend, axis

std::map<std::string, std::size_t> order_of(const Graph& graph) {
  std::map<std::string, std::size_t> order;
  for (const auto& node : graph.nodes()) order.emplace(node->name(), order.size());
  return order;
}

void sort_by_graph(std::vector<LayerBar>& bars, const Graph& graph) {
  std::map<std::string, std::size_t> order = order_of(graph);
  std::ranges::stable_sort(bars, {}, [&](const LayerBar& bar) { return order[bar.layer]; });
}

std::vector<std::string> layers_of(const std::vector<LayerBar>& bars) {
  std::vector<std::string> layers;
  for (const LayerBar& bar : bars)
    if (std::ranges::find(layers, bar.layer) == layers.end()) layers.push_back(bar.layer);
  return layers;
}

// The layers with the lowest ratio of any operand, in their original order.
std::vector<std::string> noisiest(const std::vector<LayerBar>& bars, std::size_t most) {
  std::map<std::string, double> least;
  for (const LayerBar& bar : bars) {
    const auto [entry, first] = least.emplace(bar.layer, bar.snr_db);
    entry->second = std::min(entry->second, bar.snr_db);
  }
  std::vector<std::string> layers = layers_of(bars), ranked = layers;
  if (layers.size() <= most) return layers;
  std::ranges::stable_sort(ranked, {}, [&](const std::string& layer) { return least[layer]; });
  ranked.resize(most);
  std::erase_if(layers, [&](const std::string& layer) {
    return std::ranges::find(ranked, layer) == ranked.end();
  });
  return layers;
}

// Shortens "bert.encoder.layer.0.attention.self.query" to "0.attention.self.query": the part before the number is the
// same everywhere.
std::string row_name(const std::string& layer) {
  for (std::size_t dot = layer.find('.'); dot != std::string::npos; dot = layer.find('.', dot + 1))
    if (dot + 1 < layer.size() && std::isdigit(static_cast<unsigned char>(layer[dot + 1])) != 0)
      return layer.substr(dot + 1);
  return layer;
}

// Uses whole names where short ones are ambiguous.
std::vector<Tick> rows_of(const std::vector<std::string>& layers) {
  std::vector<Tick> rows;
  std::map<std::string, int> uses;
  for (const std::string& layer : layers) ++uses[row_name(layer)];
  for (const std::string& layer : layers) {
    const std::string name = row_name(layer);
    rows.push_back({-static_cast<double>(rows.size()), uses[name] == 1 ? name : layer});
  }
  return rows;
}

Figure drawn(const std::vector<LayerBar>& bars, const std::vector<std::string>& layers,
             const std::string& title) {
  Panel panel{.x = {.label = "Signal-to-noise ratio (dB)"}};
  panel.y.ticks = rows_of(layers);
  panel.y.range = Range{0.6 - static_cast<double>(layers.size()), 0.6};
  for (const Operand operand : {Operand::input, Operand::weight, Operand::output}) {
    Series series{.label = std::string(to_string(operand)), .draw = Draw::bars};
    for (const LayerBar& bar : bars) {
      const auto row = std::ranges::find(layers, bar.layer);
      if (bar.operand != operand || row == layers.end()) continue;
      Point point{bar.snr_db, -static_cast<double>(row - layers.begin())};
      point.name = bar.layer;
      series.points.push_back(std::move(point));
    }
    if (!series.points.empty()) panel.series.push_back(std::move(series));
  }
  const int row = std::max(kRowHeight, kBarHeight * (static_cast<int>(panel.series.size()) + 1));
  return {.title = title,
          .panels = {panel},
          .width = 1000,
          .height = kAroundRows + row * std::max(kFewestRows, static_cast<int>(layers.size()))};
}

}  // namespace

std::vector<LayerBar> layer_bars(const Diagnosis& diagnosis, const Graph& graph) {
  std::vector<LayerBar> bars;
  for (const Suggestion& one : diagnosis.operands)
    if (one.operand != Operand::bias)
      bars.push_back({one.layer, one.operand, one.noise_before.snr_db()});
  sort_by_graph(bars, graph);
  return bars;
}

std::vector<LayerBar> layer_bars(const Model& before, const Model& after,
                                 const QuantizationPlan& plan, const Graph& graph) {
  std::vector<LayerBar> bars;
  for (const PlannedTensor& tensor : planned_tensors(graph, plan, {{'B', 1}, {'S', 1}})) {
    if (tensor.operand != Operand::weight || !before.parameters.contains(tensor.tensor)) continue;
    Noise noise;
    noise.include(before.parameters.at(tensor.tensor).on(cpu()).values<float>(),
                  after.parameters.at(tensor.tensor).on(cpu()).values<float>());
    bars.push_back({tensor.layer, tensor.operand, noise.snr_db()});
  }
  sort_by_graph(bars, graph);
  return bars;
}

std::vector<Block> layer_figure(std::vector<LayerBar> bars, const std::string& title,
                                const fs::path& stem, std::vector<std::string>& notes) {
  std::erase_if(bars, [](const LayerBar& bar) { return !std::isfinite(bar.snr_db); });
  const std::size_t all = layers_of(bars).size();
  if (all < 2) return {};
  const std::vector<std::string> layers = noisiest(bars, kMostLayers);
  const std::string which =
      layers.size() < all
          ? fmt::format("; the {} of {} layers with the lowest ratio", layers.size(), all)
          : "";
  return {figure_block(drawn(bars, layers, title + which), stem,
                       "A bar for each layer: the signal-to-noise ratio of its operands", notes)};
}

}  // namespace hone
