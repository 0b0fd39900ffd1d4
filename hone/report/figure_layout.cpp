#include "hone/report/figure_layout.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "hone/base/error.h"
#include "hone/report/figure_places.h"

namespace hone {
namespace {

constexpr double kLineHeight = 20;
constexpr double kGap = 8;
constexpr int kNarrowWidth = 360;
constexpr int kNarrowPanelHeight = 300;

// Width of a character of DejaVu Sans as a share of the font's size, by class; bytes that continue
// a character none.
double character_width(char c) {
  if ((c & 0xC0) == 0x80) return 0;
  if (std::string_view(" .,:;'|!iljI").find(c) != std::string_view::npos) return 0.33;
  if (std::string_view("ftr()[]/-\"").find(c) != std::string_view::npos) return 0.42;
  if (std::string_view("mwMW%@").find(c) != std::string_view::npos) return 0.96;
  if (c >= 'A' && c <= 'Z') return 0.72;
  return 0.64;
}

std::vector<std::string> distinct_labels(const Figure& figure) {
  std::vector<std::string> labels;
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (std::ranges::find(labels, series.label) == labels.end()) labels.push_back(series.label);
    }
  }
  return labels;
}

// How the legend shows what all series of this label have in common.
LegendEntry legend_entry(const Figure& figure, const std::string& label) {
  LegendEntry entry{.label = label};
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (series.label != label) continue;
      entry.line |= series.draw != Draw::points;
      entry.marker |= series.draw != Draw::faint && series.draw != Draw::edge;
      entry.bar |= series.draw == Draw::bars;
      if (series.tone != Tone::plain) entry.tone = series.tone;
    }
  }
  return entry;
}

// Packs the entries into lines from `top` downwards.
std::vector<LegendEntry> lay_out_legend(const Figure& figure,
                                        const std::vector<std::string>& labels, double top) {
  std::vector<LegendEntry> legend;
  double x = kFigureMargin, y = top - kLineHeight / 2;
  for (const std::string& label : labels) {
    if (label.empty()) continue;
    const double entry_width = kLegendSampleWidth + kGap + text_width(label, kFontSize);
    if (x > kFigureMargin && x + entry_width > figure.width - kFigureMargin) {
      x = kFigureMargin;
      y -= kLineHeight;
    }
    legend.push_back(legend_entry(figure, label));
    legend.back().x = x;
    legend.back().y = y;
    x += entry_width + 1.5 * kGap;
  }
  return legend;
}

// The cells of a row (or a stack) of panels, axes and their labels included.
std::vector<Box> cells(const Figure& figure, double top) {
  const auto count = static_cast<double>(figure.panels.size());
  const Box whole{kGap, kGap, figure.width - kGap, top};
  const double width = (whole.right - whole.left - (count - 1) * 2 * kGap) / count;
  const double height = (whole.top - whole.bottom - (count - 1) * kGap) / count;
  std::vector<Box> result;
  for (double i = 0; i < count; ++i) {
    if (figure.stacked) {
      const double upper = whole.top - i * (height + kGap);
      result.push_back({whole.left, upper - height, whole.right, upper});
    } else {
      const double left = whole.left + i * (width + 2 * kGap);
      result.push_back({left, whole.bottom, left + width, whole.top});
    }
  }
  return result;
}

std::vector<double> x_values(const Panel& panel) {
  std::vector<double> values;
  for (const Series& series : panel.series) {
    if (series.draw == Draw::bars) values.push_back(0);  // where they begin
    for (const Point& point : series.points) values.push_back(point.x);
  }
  return values;
}

std::vector<double> y_values(const Panel& panel) {
  std::vector<double> values;
  for (const Reference& reference : panel.references) values.push_back(reference.y);
  for (const Series& series : panel.series) {
    for (const Point& point : series.points) {
      values.push_back(point.y);
      if (series.spread != Spread::none) values.insert(values.end(), {point.low, point.high});
    }
  }
  return values;
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, kFontSize));
  return width;
}

// Cuts the names in their middle; false where two of them are the same then.
bool shorten_names(std::vector<Tick>& ticks, double width) {
  std::set<std::string> names;
  bool apart = true;
  for (Tick& tick : ticks) {
    for (std::size_t columns = display_width(tick.label);
         columns > 0 && text_width(tick.label, kFontSize) > width; --columns)
      tick.label = shortened(tick.label, columns);
    apart &= names.insert(tick.label).second;
  }
  return apart;
}

// Above or below its line, at the right, the left or between: where the fewest curves pass; the
// first wins ties.
ReferenceLabel place_label(const Reference& reference, const PanelLayout& layout,
                           const std::vector<Pixel>& curves) {
  const Box& plot = layout.plot;
  const double line = layout.pixel_y(reference.y);
  const double width = text_width(reference.label, kFontSize), half = 0.6 * kFontSize;
  ReferenceLabel best;
  std::ptrdiff_t fewest = -1;
  for (double share : {1.0, 0.0, 0.5, 0.75, 0.25}) {
    for (double side : {1.0, -1.0}) {
      const ReferenceLabel place{
          reference, plot.left + kGap / 2 + share * (plot.right - plot.left - width - kGap),
          line + side * (half + 5)};
      if (place.y + half > plot.top + kGap || place.y - half < plot.bottom) continue;
      const std::ptrdiff_t crossed = std::ranges::count_if(curves, [&](const Pixel& pixel) {
        return place.x - 4 < pixel.x && pixel.x < place.x + width + 4 &&
               std::abs(pixel.y - place.y) < half + 4;
      });
      if (fewest < 0 || crossed < fewest) best = place, fewest = crossed;
    }
  }
  return best;
}

// The axes of a panel and the room they leave for the plot, but for the x axis, whose ticks depend
// on its length.
PanelLayout lay_out_height(const Panel& panel, const Box& cell) {
  PanelLayout layout;
  layout.plot = cell;
  layout.x_label_y = cell.bottom + kLineHeight / 2;
  layout.y_label_x = cell.left + kLineHeight / 2;
  layout.plot.bottom += kLineHeight + kGap / 2 + (panel.x.label.empty() ? 0 : kLineHeight);
  layout.plot.top -= panel.title.empty() ? kGap : kLineHeight + kGap;
  const double height = layout.plot.top - layout.plot.bottom;
  layout.y = view_axis(panel.y, y_values(panel), std::max(2, static_cast<int>(height / 40)),
                       /*with_zero=*/true);
  shorten_names(layout.y.ticks, (cell.right - cell.left) / 2);  // the plot needs the rest
  layout.plot.left += (panel.y.label.empty() ? 0 : kLineHeight) + widest(layout.y.ticks) + 2 * kGap;
  layout.plot.right -= 1.5 * kGap;
  return layout;
}

// Stacked plots begin at the same x.
void align_left(std::vector<PanelLayout>& panels) {
  double left = 0;
  for (const PanelLayout& panel : panels) left = std::max(left, panel.plot.left);
  for (PanelLayout& panel : panels) panel.plot.left = left;
}

// Of names that would run into each other, the later one goes; its tick stays, unless there are too many to count.
void thin_out(std::vector<Tick>& ticks, const PanelLayout& layout) {
  double free = 0;
  for (Tick& tick : ticks) {
    const double width = text_width(tick.label, kFontSize);
    const double middle = layout.pixel_x(tick.value);
    if (middle - width / 2 < free) {
      tick.label.clear();
    } else {
      free = middle + width / 2;
    }
  }
  constexpr std::size_t kMostTicks = 40;
  if (ticks.size() > kMostTicks)
    std::erase_if(ticks, [](const Tick& tick) { return tick.label.empty(); });
}

void lay_out_width(const Panel& panel, PanelLayout& layout) {
  const double width = layout.plot.right - layout.plot.left;
  HONE_ASSERT(width > 50 && layout.plot.top - layout.plot.bottom > 50,
              "no room for panel '{}'; the figure needs more pixels", panel.title);
  layout.x = view_axis(panel.x, x_values(panel), std::max(2, static_cast<int>(width / 60)),
                       /*with_zero=*/false);
  thin_out(layout.x.ticks, layout);
  layout.places = places_of(panel, layout);
  const std::vector<Pixel> curves = curve_pixels(panel, layout);
  layout.has_points = !curves.empty();
  for (const Reference& reference : panel.references) {
    const double height = layout.y.fraction(reference.y);
    if (height < 0 || height > 1) continue;
    layout.reference_labels.push_back(place_label(reference, layout, curves));
  }
  layout.names = place_names(panel, layout, curves);
}

bool has_bars(const Panel& panel) {
  return std::ranges::find(panel.series, Draw::bars, &Series::draw) != panel.series.end();
}

}  // namespace

double PanelLayout::pixel_x(double value) const {
  return plot.left + x.fraction(value) * (plot.right - plot.left);
}

double PanelLayout::pixel_y(double value) const {
  return plot.bottom + y.fraction(value) * (plot.top - plot.bottom);
}

double text_width(std::string_view text, int font_size) {
  double width = 0;
  for (char c : text) width += character_width(c);
  return width * font_size;
}

FigureLayout lay_out(const Figure& figure) {
  HONE_ASSERT(!figure.panels.empty(), "a figure without panels");
  FigureLayout layout;
  double top = figure.height - kGap;
  if (!figure.title.empty()) {
    layout.title_y = top - 14;
    top -= 32;
  }
  layout.styles = distinct_labels(figure);
  layout.legend = lay_out_legend(figure, layout.styles, top);
  if (!layout.legend.empty()) top = layout.legend.back().y - kLineHeight / 2 - kGap / 2;
  const std::vector<Box> boxes = cells(figure, top);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    layout.panels.push_back(lay_out_height(figure.panels[i], boxes[i]));
  }
  if (figure.stacked) align_left(layout.panels);
  for (std::size_t i = 0; i < boxes.size(); ++i) lay_out_width(figure.panels[i], layout.panels[i]);
  return layout;
}

std::optional<Figure> narrow_figure(Figure figure) {
  int plots = 0;
  for (Panel& panel : figure.panels) {
    if (!shorten_names(panel.y.ticks, kNarrowWidth / 2.0)) return std::nullopt;
    plots += has_bars(panel) ? figure.height : kNarrowPanelHeight;
  }
  figure.stacked = true;
  figure.width = kNarrowWidth;
  // The legend needs more lines than in a wide figure; how many does not depend on the height.
  constexpr int kAnyHeight = 10'000;
  const std::vector<std::string> labels = distinct_labels(figure);
  const auto legend = lay_out_legend(figure, labels, kAnyHeight);
  const int above = legend.empty() ? 0 : kAnyHeight - static_cast<int>(legend.back().y);
  figure.height = above + plots;
  return figure;
}

std::size_t style_of(const FigureLayout& layout, const Series& series) {
  return static_cast<std::size_t>(std::ranges::find(layout.styles, series.label) -
                                  layout.styles.begin());
}

}  // namespace hone
