#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hone/analysis/sparsity.h"
#include "hone/ir/graph.h"

/// What the colours of a drawing say.
namespace hone {

/// The operations that one box stands for: one, or all of a module.
using Boxed = std::span<const Node* const>;

/// One thing that boxes are coloured by: a kind that they are of, or a number that they have.
struct Colouring {
  std::string legend;  ///< what it is: "FLOP of a run"
  /// The name of the kind; nothing: the box has none and stays pale. Null: it has a number.
  std::function<std::optional<std::string>(Boxed)> kind = nullptr;
  /// The number; nothing: the box has none. Null: it has a kind.
  std::function<std::optional<double>(Boxed)> number = nullptr;
  std::function<std::string(double)> text = nullptr;  ///< of a number
  std::string unit = {};                              ///< behind it in a box
  bool logarithmic = false;                           ///< numbers differ by orders of magnitude
};

/// By what may be assumed of an operation (its trait), quantizers by their format. Modules have no colour.
Colouring coloured_by_kind();
/// By the formats of what is read; what reads none is "fp32", several in one module "several".
Colouring coloured_by_format();
/// By the share of zeros among the parameters that are read (`zeros`, of all of them).
Colouring coloured_by_sparsity(const std::vector<Zeros>& zeros);
/// By the share of a run's FLOP.
Colouring coloured_by_cost(const Graph& graph, const Bindings& bindings);
/// By a number that layers have, by their names; of a module the largest. `legend` says what it is.
Colouring coloured_by_figure(const std::map<std::string, double>& figures, std::string legend);

/// The colours of the boxes of one drawing.
class Colours {
 public:
  struct Fill {
    std::string colour;
    std::string fact;  ///< the number as text; empty: there is none
  };
  struct Entry {
    std::string label, colour;
  };

  /// `boxes` are all of the drawing: the range of numbers is theirs.
  Colours(const Colouring& colouring, const std::vector<std::vector<const Node*>>& boxes);

  Fill of(Boxed box) const;
  /// Of what was met, kinds in the order of the boxes, numbers from the lowest.
  const std::vector<Entry>& legend() const { return legend_; }

 private:
  std::size_t step_of(double number) const;

  Colouring colouring_;
  double low_ = 0, high_ = 0;
  std::vector<Entry> legend_;
};

}  // namespace hone
