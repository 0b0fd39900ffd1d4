#include "hone/report/figure_layout.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/report/figure_places.h"

namespace hone {
namespace {

constexpr double kGap = 8;
constexpr int kNarrowWidth = 360;
constexpr int kNarrowPanelHeight = 300;
constexpr double kNameRoom =
    8;  // room around a name between the end of its bar and the edge of the plot

// Whether the byte continues a UTF-8 character.
bool is_continuation(char c) { return (c & 0xC0) == 0x80; }

// Returns the width of a character of DejaVu Sans relative to the font size, by class; 0 for continuation bytes.
double character_width(char c) {
  if (is_continuation(c)) return 0;
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

// Returns the legend entry that represents all series with this label.
LegendEntry legend_entry(const Figure& figure, const std::string& label) {
  LegendEntry entry{.label = label};
  for (const Panel& panel : figure.panels) {
    for (const Series& series : panel.series) {
      if (series.label != label) continue;
      entry.line |= series.draw != Draw::points;
      entry.marker |= has_markers(series.draw);
      entry.bar |= series.draw == Draw::bars;
      if (series.tone != Tone::plain) entry.tone = series.tone;
    }
  }
  return entry;
}

// Packs the entries into rows from `top` downwards; a label wider than the figure takes several rows of its own.
std::vector<LegendEntry> lay_out_legend(const Figure& figure,
                                        const std::vector<std::string>& labels, double top) {
  std::vector<LegendEntry> legend;
  const double right = figure.width - kFigureMargin;
  double x = kFigureMargin, y = top - kLineHeight / 2;
  const auto begin_row = [&] {
    x = kFigureMargin;
    y -= kLineHeight;
  };
  for (const std::string& label : labels) {
    if (label.empty()) continue;
    LegendEntry entry = legend_entry(figure, label);
    entry.lines =
        wrapped(label, kFontSize, right - kFigureMargin - kLegendSampleWidth - kLegendTextGap);
    const double entry_width = kLegendSampleWidth + kLegendTextGap + text_width(label, kFontSize);
    if (x > kFigureMargin && x + entry_width > right) begin_row();
    entry.x = x;
    entry.y = y;
    for (std::size_t line = 1; line < entry.lines.size(); ++line) begin_row();
    x = entry.lines.size() > 1 ? right : x + entry_width + 1.5 * kGap;
    legend.push_back(std::move(entry));
  }
  return legend;
}

// Returns the middle of its last line.
double end_of(const std::vector<LegendEntry>& legend) {
  return legend.back().y - kLineHeight * static_cast<double>(legend.back().lines.size() - 1);
}

// Returns the cells of a row (or a stack) of panels, including axes and their labels.
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
    if (series.draw == Draw::bars) values.push_back(0);  // bars begin at 0
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

// Returns the width of the widest line.
double name_width(const Tick& tick) {
  double width = 0;
  for (const std::string& line : split(tick.label, '\n'))
    width = std::max(width, text_width(line, kFontSize));
  return width;
}

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, name_width(tick));
  return width;
}

// Shortens the names in their middle; returns false if two of them become equal.
bool shorten_names(std::vector<Tick>& ticks, double width) {
  std::set<std::string> names;
  bool apart = true;
  for (Tick& tick : ticks) {
    for (std::size_t columns = display_width(tick.label); columns > 0 && name_width(tick) > width;
         --columns)
      tick.label = shortened(tick.label, columns);
    apart &= names.insert(tick.label).second;
  }
  return apart;
}

// Breaks names that fit on two lines, if the rows are high enough.
void break_names(std::vector<Tick>& ticks, double width, double height) {
  constexpr double kTwoLines = 2.5 * kFontSize;
  if (height < kTwoLines * static_cast<double>(ticks.size())) return;
  for (Tick& tick : ticks) {
    const std::vector<std::string> lines = wrapped(tick.label, kFontSize, width);
    if (lines.size() == 2) tick.label = lines[0] + "\n" + lines[1];
  }
}

constexpr double kReferenceGap = 5, kFarReferenceGap = 12;

double widest(const std::vector<std::string>& lines) {
  double width = 0;
  for (const std::string& line : lines) width = std::max(width, text_width(line, kFontSize));
  return width;
}

// Returns the label on one line, then on two, the narrowest breaks first; shortens it only if none fits.
std::vector<std::vector<std::string>> ways_to_write(std::string label, double room) {
  std::vector<std::vector<std::string>> ways = {{label}};
  for (std::size_t at = label.find(' '); at != std::string::npos; at = label.find(' ', at + 1))
    ways.push_back({label.substr(0, at), label.substr(at + 1)});
  std::ranges::stable_sort(ways, {}, [](const std::vector<std::string>& lines) {
    return std::pair(lines.size(), widest(lines));
  });
  std::erase_if(ways, [&](const auto& lines) { return widest(lines) > room; });
  if (!ways.empty()) return ways;
  for (std::size_t columns = display_width(label);
       columns > 0 && text_width(label, kFontSize) > room; --columns)
    label = shortened(label, columns);
  return {{label}};
}

// Places the label above or below its line, on the right, the left or between, on one line or two. Chooses the position
// that the fewest curves, intervals and edges of bands cross, if possible without a label, ring or line of another
// reference. The first wins ties.
ReferenceLabel place_label(const Reference& reference, const PanelLayout& layout,
                           std::vector<Pixel> curves, const std::vector<Box>& taken) {
  const Box& plot = layout.plot;
  const double line = layout.pixel_y(reference.y), room = plot.right - plot.left - kGap;
  constexpr double kAround = 4, kFarthest = kFarReferenceGap + 2 * kReferenceLine + kAround;
  constexpr std::ptrdiff_t kOfTaken = 1000;  // worse than any number of curves
  std::erase_if(curves,
                [&](const Pixel& pixel) { return !(std::abs(pixel.y - line) < kFarthest); });
  const auto crossings = [&](const Box& text) {
    const Box around = {text.left - kAround, text.bottom - kAround, text.right + kAround,
                        text.top + kAround};
    const auto curve = std::ranges::count_if(curves, [&](const Pixel& pixel) {
      return overlap(around, {pixel.x, pixel.y, pixel.x, pixel.y});
    });
    // Marks between the label and its line count too: the label would seem to belong to another line.
    const Box to_line = {text.left, std::min(text.bottom, line + 2), text.right,
                         std::max(text.top, line - 2)};
    return curve + kOfTaken * std::ranges::count_if(
                                  taken, [&](const Box& box) { return overlap(to_line, box); });
  };
  std::vector<double> shares = {1, 0};
  for (double step = 31; step > 0; --step) shares.push_back(step / 32);
  const auto ways = ways_to_write(reference.label, room);
  ReferenceLabel best{reference};
  std::ptrdiff_t fewest = -1;
  for (const double gap : {kReferenceGap, kFarReferenceGap})
    for (const std::vector<std::string>& lines : ways)
      for (const double share : shares)
        for (const bool above : {true, false}) {
          const double width = widest(lines),
                       height = kReferenceLine * static_cast<double>(lines.size());
          const double left = plot.left + kGap / 2 + share * (room - width);
          const double bottom = above ? line + gap : line - gap - height;
          const Box text = {left, bottom, left + width, bottom + height};
          if (text.top > plot.top + kGap || text.bottom < plot.bottom) continue;
          const auto crossed = crossings(text);
          if (fewest < 0 || crossed < fewest) best = {reference, lines, text}, fewest = crossed;
          if (fewest == 0) return best;
        }
  return best;
}

// Returns the boxes that labels of references must not cover: rings, and the lines of the other references.
std::vector<Box> taken_by_marks(const Panel& panel, const PanelLayout& layout) {
  constexpr double kRing = 9;
  std::vector<Box> taken;
  for (std::size_t i = 0; i < panel.series.size(); ++i)
    for (std::size_t j = 0; j < panel.series[i].points.size(); ++j) {
      if (!panel.series[i].points[j].is_ringed) continue;
      const double x = layout.pixel_x(layout.places[i][j].x),
                   y = layout.pixel_y(layout.places[i][j].y);
      taken.push_back({x - kRing, y - kRing, x + kRing, y + kRing});
    }
  for (const Reference& reference : panel.references) {
    const double y = layout.pixel_y(reference.y);
    taken.push_back({layout.plot.left, y - 1, layout.plot.right, y + 1});
  }
  return taken;
}

bool is_in_view(const Reference& reference, const PanelLayout& layout) {
  const double height = layout.y.fraction(reference.y);
  return height >= 0 && height <= 1;
}

void label_references(const Panel& panel, PanelLayout& layout, const std::vector<Pixel>& curves) {
  std::vector<Box> taken = taken_by_marks(panel, layout);
  for (const Reference& reference : panel.references) {
    if (!is_in_view(reference, layout)) continue;
    layout.reference_labels.push_back(place_label(reference, layout, curves, taken));
    taken.push_back(layout.reference_labels.back().box);
  }
}

std::string axis_label(const Axis& axis) {
  return axis.logarithmic && !axis.label.empty() ? axis.label + ", logarithmic" : axis.label;
}

std::vector<std::string> lines_of(const std::string& text, int font_size, double width) {
  return text.empty() ? std::vector<std::string>() : wrapped(text, font_size, width);
}

double height_of(const WrappedText& text) {
  return kLineHeight * static_cast<double>(text.lines.size());
}

// Returns the height of its lines after the first one.
double further_rows(const WrappedText& text) {
  return std::max(0.0, height_of(text) - kLineHeight);
}

// Returns the middle of a text of this width, as near to `middle` as the two ends allow.
double middle_within(double middle, double width, double low, double high) {
  return std::clamp(middle, std::min(low + width / 2, (low + high) / 2),
                    std::max(high - width / 2, (low + high) / 2));
}

AxisView y_view(const Panel& panel, const Box& cell, double height) {
  AxisView view = view_axis(panel.y, y_values(panel), std::max(2, static_cast<int>(height / 40)),
                            /*with_zero=*/true);
  shorten_names(view.ticks, (cell.right - cell.left) / 2);  // the plot needs the rest
  return view;
}

// Lays out the sides of the plot, which depend on the ticks and the label of the y axis.
PanelLayout lay_out_sides(const Panel& panel, const Box& cell) {
  PanelLayout layout;
  layout.plot = cell;
  layout.y = y_view(panel, cell, cell.top - cell.bottom);
  layout.y_label.lines = lines_of(axis_label(panel.y), kFontSize, cell.top - cell.bottom);
  layout.y_label.x = cell.left + kLineHeight / 2;
  layout.plot.left += height_of(layout.y_label) + widest(layout.y.ticks) + 2 * kGap;
  layout.plot.right -= 1.5 * kGap;
  return layout;
}

// Stacked plots begin at the same x.
void align_left(std::vector<PanelLayout>& panels) {
  double left = 0;
  for (const PanelLayout& panel : panels) left = std::max(left, panel.plot.left);
  for (PanelLayout& panel : panels) panel.plot.left = left;
}

// Extends the axis so that labels fit above the highest reference and below the lowest one, where curves are rare. Does
// not extend it below zero.
void leave_room_for_labels(const Panel& panel, const PanelLayout& layout, AxisView& view) {
  if (view.logarithmic) return;
  const double height = layout.plot.top - layout.plot.bottom;
  constexpr double kLabel = kReferenceGap + kReferenceLine, kAbove = kLabel - kGap;
  constexpr double kSlack = 1 + 1e-9;
  if (height < 4 * kLabel) return;
  const Range range = view.range;
  for (const Reference& reference : panel.references) {
    if (reference.y > range.high || reference.y < range.low) continue;
    const double high = range.low + (reference.y - range.low) * kSlack * height / (height - kAbove);
    const double low =
        range.high - (range.high - reference.y) * kSlack * height / (height - kLabel);
    view.range.high = std::max(view.range.high, high);
    view.range.low = std::min(view.range.low, range.low < 0 ? low : std::max(0.0, low));
  }
}

void wrap_title_and_label(const Panel& panel, const Box& cell, PanelLayout& layout) {
  layout.title.lines = lines_of(panel.title, kPanelTitleSize, cell.right - layout.plot.left);
  layout.x_label.lines = lines_of(axis_label(panel.x), kFontSize, cell.right - cell.left);
}

/// The heights of the title and the x axis label in a cell.
struct TextHeights {
  double title = 0, x_label = 0;

  void include(const PanelLayout& layout) {
    title = std::max(title, height_of(layout.title));
    x_label = std::max(x_label, height_of(layout.x_label));
  }
};

// Lays out the height of the plot. `heights` are at least those of the panel.
void lay_out_height(const Panel& panel, const Box& cell, const TextHeights& heights,
                    PanelLayout& layout) {
  constexpr double kTicks = kLineHeight + kGap / 2;
  layout.plot.bottom += kTicks + heights.x_label;
  layout.plot.top -= heights.title + kGap;
  const Box& plot = layout.plot;
  layout.y = y_view(panel, cell, plot.top - plot.bottom);
  leave_room_for_labels(panel, layout, layout.y);
  layout.title.x = plot.left;
  layout.title.y = plot.top + 14 + height_of(layout.title) - kLineHeight;
  layout.x_label.y = plot.bottom - kTicks - kLineHeight / 2;
  layout.y_label.y = middle_within((plot.bottom + plot.top) / 2, widest(layout.y_label.lines),
                                   cell.bottom, cell.top);
}

// Removes names that would overlap an earlier one. Keeps their ticks, unless there are too many to count.
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

// Extends the axis so that names fit after the ends of bars.
void leave_room_for_names(const Panel& panel, const PanelLayout& layout, AxisView& view) {
  if (view.logarithmic) return;
  const double width = layout.plot.right - layout.plot.left;
  for (const Series& series : panel.series) {
    if (series.draw != Draw::bars || !series.with_names) continue;
    for (const Point& point : series.points) {
      const double name = text_width(point.name, kNameSize) + kNameRoom;
      if (point.name.empty() || !(point.x > view.range.low) || name > width / 2) continue;
      view.range.high = std::max(
          view.range.high, view.range.low + (point.x - view.range.low) * width / (width - name));
    }
  }
}

AxisView x_view(const Panel& panel, const PanelLayout& layout) {
  const double width = layout.plot.right - layout.plot.left;
  HONE_ASSERT(width > 50 && layout.plot.top - layout.plot.bottom > 50,
              "no room for panel '{}'; the figure needs more pixels", panel.title);
  const auto view_of = [&](const Axis& axis) {
    return view_axis(axis, x_values(panel), std::max(2, static_cast<int>(width / 60)),
                     /*with_zero=*/false);
  };
  AxisView view = view_of(panel.x);
  const double end = view.range.high;
  leave_room_for_names(panel, layout, view);
  if (view.range.high == end) return view;
  Axis longer = panel.x;  // its ticks continue to its end
  longer.range = view.range;
  return view_of(longer);
}

// Returns how far names of ticks extend beyond the right of the cell.
double beyond(const PanelLayout& layout, const Box& cell) {
  double most = 0;
  for (const Tick& tick : layout.x.ticks)
    if (layout.x.fraction(tick.value) <= 1)
      most = std::max(
          most, layout.pixel_x(tick.value) + text_width(tick.label, kFontSize) / 2 - cell.right);
  return most;
}

void lay_out_width(const Panel& panel, const Box& cell, PanelLayout& layout) {
  layout.x = x_view(panel, layout);
  thin_out(layout.x.ticks, layout);
  if (const double over = beyond(layout, cell); over > 0) {
    layout.plot.right -= over;
    layout.x = x_view(panel, layout);
    thin_out(layout.x.ticks, layout);
  }
  layout.x_label.x = middle_within((layout.plot.left + layout.plot.right) / 2,
                                   widest(layout.x_label.lines), cell.left, cell.right);
  layout.places = places_of(panel, layout);
  const std::vector<Pixel> curves = curve_pixels(panel, layout);
  layout.has_points = !curves.empty();
  label_references(panel, layout, curves);
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

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.bottom < b.top && b.bottom < a.top;
}

double text_width(std::string_view text, int font_size) {
  double width = 0;
  for (char c : text) width += character_width(c);
  return width * font_size;
}

std::vector<std::string> wrapped(std::string_view text, int font_size, double width) {
  const auto fits = [&](std::string_view line) { return text_width(line, font_size) <= width; };
  std::vector<std::string> lines;
  std::string line;
  for (std::string word : split(text, ' ')) {
    const std::string longer = line.empty() ? word : line + " " + word;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (!line.empty()) lines.push_back(std::move(line));
    // A word wider than a line is broken, at the earliest after its first character.
    while (!fits(word)) {
      std::size_t end = 1;
      while (end < word.size() && (is_continuation(word[end]) || fits(word.substr(0, end + 1))))
        ++end;
      if (end == word.size()) break;
      lines.push_back(word.substr(0, end));
      word.erase(0, end);
    }
    line = std::move(word);
  }
  lines.push_back(std::move(line));
  return lines;
}

FigureLayout lay_out(const Figure& figure) {
  HONE_ASSERT(!figure.panels.empty(), "a figure without panels");
  FigureLayout layout;
  double top = figure.height - kGap;
  layout.title.lines = lines_of(figure.title, kTitleSize, figure.width - 2 * kFigureMargin);
  layout.title.x = kFigureMargin;
  layout.title.y = top - 14;
  if (!figure.title.empty()) top -= height_of(layout.title) + 12;
  layout.styles = distinct_labels(figure);
  layout.legend = lay_out_legend(figure, layout.styles, top);
  if (!layout.legend.empty()) top = end_of(layout.legend) - kLineHeight / 2 - kGap / 2;
  const std::vector<Box> boxes = cells(figure, top);
  for (std::size_t i = 0; i < boxes.size(); ++i)
    layout.panels.push_back(lay_out_sides(figure.panels[i], boxes[i]));
  if (figure.stacked) align_left(layout.panels);
  // Plots side by side have the same height, whatever their labels need.
  TextHeights of_all;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    wrap_title_and_label(figure.panels[i], boxes[i], layout.panels[i]);
    of_all.include(layout.panels[i]);
  }
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    TextHeights own;
    own.include(layout.panels[i]);
    lay_out_height(figure.panels[i], boxes[i], figure.stacked ? own : of_all, layout.panels[i]);
    lay_out_width(figure.panels[i], boxes[i], layout.panels[i]);
  }
  return layout;
}

bool moves_points(const Figure& figure, const FigureLayout& layout) {
  for (std::size_t i = 0; i < figure.panels.size(); ++i)
    for (std::size_t j = 0; j < figure.panels[i].series.size(); ++j) {
      const std::vector<Point>& points = figure.panels[i].series[j].points;
      for (std::size_t k = 0; k < points.size(); ++k)
        if (std::isfinite(points[k].x) && layout.panels[i].places[j][k].x != points[k].x)
          return true;
    }
  return false;
}

std::optional<Figure> narrow_figure(Figure figure) {
  int plots = 0;
  for (Panel& panel : figure.panels) {
    constexpr double kNames = kNarrowWidth / 2.0, kAroundBars = 100;
    if (has_bars(panel)) break_names(panel.y.ticks, kNames - kGap, figure.height - kAroundBars);
    if (!shorten_names(panel.y.ticks, kNames)) return std::nullopt;
    plots += has_bars(panel) ? figure.height : kNarrowPanelHeight;
  }
  figure.stacked = true;
  figure.width = kNarrowWidth;
  // The legend needs more lines than in a wide figure; their number does not depend on the height.
  constexpr int kAnyHeight = 10'000;
  const std::vector<std::string> labels = distinct_labels(figure);
  const auto legend = lay_out_legend(figure, labels, kAnyHeight);
  const int above = legend.empty() ? 0 : kAnyHeight - static_cast<int>(end_of(legend));
  figure.height = above + plots;
  // Titles and labels need more lines too; all panels have the same height.
  double most = 0;
  for (const PanelLayout& panel : lay_out(figure).panels)
    most = std::max(most, further_rows(panel.title) + further_rows(panel.x_label));
  figure.height += static_cast<int>(most) * static_cast<int>(figure.panels.size());
  return figure;
}

std::size_t style_of(const FigureLayout& layout, const Series& series) {
  return static_cast<std::size_t>(std::ranges::find(layout.styles, series.label) -
                                  layout.styles.begin());
}

}  // namespace hone
