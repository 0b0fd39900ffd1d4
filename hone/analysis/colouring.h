#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/ir/graph.h"

/// How the boxes of a drawing are coloured.
namespace hone {

/// The operations of one box: a single one, or all of a module.
using Boxed = std::span<const Node* const>;

/// A property that determines the colours of boxes: a kind or a number.
struct Colouring {
  std::string legend;  ///< title of the legend: "FLOP of a run"
  /// Returns the name of the kind, or nothing if the box stays pale. Null: boxes have numbers.
  std::function<std::optional<std::string>(Boxed)> kind = nullptr;
  /// Returns the number, or nothing if the box has none. Null: boxes have kinds.
  std::function<std::optional<double>(Boxed)> number = nullptr;
  std::function<std::string(double)> text = nullptr;  ///< formats a number
  std::string unit = {};                              ///< printed after the number in a box
  bool logarithmic = false;                           ///< numbers differ by orders of magnitude
};

/// Colours operations by trait and quantizers by format. Modules have no colour.
Colouring coloured_by_kind();
/// Colours by the formats of the values read: "fp32" without any, "several" if the formats of a module differ.
Colouring coloured_by_format();
/// Colours by the share of zeros in the parameters read (`zeros` covers all parameters).
Colouring coloured_by_sparsity(const std::vector<Zeros>& zeros);
/// Colours by the share of a run's FLOP.
Colouring coloured_by_cost(const Graph& graph, const Bindings& bindings);
/// Colours by a number per layer, keyed by layer name; a module has the largest of its layers. `legend` is its title.
Colouring coloured_by_number(const std::map<std::string, double>& figures, std::string legend);

/// The colours of the boxes of one drawing.
class Colours {
 public:
  struct Fill {
    std::string colour;
    std::string value_text;  ///< the number as text; empty for boxes without one
  };
  struct Entry {
    std::string label, colour;
  };

  /// `boxes` are all boxes of the drawing; they determine the range of numbers.
  Colours(const Colouring& colouring, const std::vector<std::vector<const Node*>>& boxes);

  Fill of(Boxed box) const;
  /// Returns the colours in use: kinds in the order of the boxes, numbers from the lowest.
  const std::vector<Entry>& legend() const { return legend_; }

 private:
  std::size_t step_of(double number) const;

  Colouring colouring_;
  double low_ = 0, high_ = 0;
  std::vector<Entry> legend_;
};

}  // namespace hone
