#include "hone/report/figure_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/report/figure_colours.h"
#include "hone/report/figure_layout.h"
#include "hone/report/one_line.h"

namespace hone {
namespace {

/// All markers differ in shape or are hollow.
constexpr int kMarkers[] = {7, 5, 9, 13, 11, 15, 6, 4, 8, 12, 10, 14};
static_assert(std::size(kMarkers) == std::size(kSeriesColours));
constexpr std::size_t kMarkersOnLine = 7;
constexpr std::string_view kInk = kTextColour.light;
constexpr std::string_view kTitleInk = kTitleColour.light;
constexpr std::string_view kAxisInk = kAxisColour.light;
constexpr std::string_view kGridInk = kGridColour.light;
constexpr std::string_view kReferenceInk = kReferenceColour.light;

// Figure colors that match the green, red and yellow of tables for any color vision.
std::string_view colour_of(std::size_t style, Tone tone) {
  switch (tone) {
    case Tone::good:
      return kSeriesColours[2].light;
    case Tone::bad:
      return kSeriesColours[1].light;
    case Tone::unclear:
      return kSeriesColours[4].light;
    case Tone::quiet:
      return kReferenceInk;
    case Tone::plain:
      break;
  }
  return kSeriesColours[style % std::size(kSeriesColours)].light;
}

// Every other style has gaps of its own lengths: where two curves coincide, one shows through the gaps of the other.
constexpr std::string_view kDashes[] = {"1", "(14,7)", "1", "(5,5)", "1", "(16,5,4,5)"};

std::string line_style(std::size_t style, Tone tone) {
  return fmt::format("lc rgb '{}' lw 2 dt {}", colour_of(style, tone),
                     kDashes[style % std::size(kDashes)]);
}

// Faint lines have a transparent color and no gaps.
std::string faint_line_style(std::size_t style, Tone tone) {
  return fmt::format("lc rgb '#A0{}' lw 1 dt 1", colour_of(style, tone).substr(1));
}

std::string bar_style(std::size_t style, Tone tone) {
  return fmt::format("lc rgb '{}' lw 4", colour_of(style, tone));
}

std::string marker_style(std::size_t style, Tone tone) {
  return fmt::format("lc rgb '{}' pt {} ps 0.7", colour_of(style, tone),
                     kMarkers[style % std::size(kMarkers)]);
}

// In single quotes only the quote itself has a meaning for gnuplot.
std::string literal(std::string_view text) {
  std::string result = "'";
  for (char c : one_line(std::string(text))) result.append(c == '\'' ? 2 : 1, c);
  return result + "'";
}

// Returns the label of a tick: gnuplot breaks lines only within double quotes.
std::string tick_literal(std::string_view text) {
  if (text.find('\n') == std::string_view::npos) return literal(text);
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? "\\n" : std::string(1, c);
  }
  return result + "\"";
}

// Returns bold text. gnuplot's SVG supports bold only as markup, which gives other characters a meaning.
std::string bold_literal(std::string_view text, int size) {
  std::string escaped;
  for (char c : text) {
    if (std::string_view("{}^_@&~\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return literal(fmt::format("{{/:Bold={} {}}}", size, escaped));
}

// Every point of a curve has a marker. A line has a few, at other points than lines of other styles.
std::string marker_interval(const Series& series, std::size_t style) {
  if (series.draw != Draw::line && series.draw != Draw::steps) return "";
  const std::size_t interval = std::max<std::size_t>(1, series.points.size() / kMarkersOnLine);
  return fmt::format(" every {}::{}", interval, (2 * style + 1) * interval / 5 % interval);
}

bool has_stepped_band(const Series& series) {
  return series.spread == Spread::band && series.draw == Draw::steps && !series.points.empty();
}

// The ends of the spread hold until the next point, as the values do.
std::vector<Point> stepped(const std::vector<Point>& points) {
  std::vector<Point> corners;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0) {
      corners.push_back(points[i - 1]);
      corners.back().x = points[i].x;
    }
    corners.push_back(points[i]);
  }
  return corners;
}

/// Writes the script of one figure. Converts pixels to gnuplot's shares of the screen by the figure's size.
class ScriptWriter {
 public:
  ScriptWriter(const Figure& figure, std::string_view name, std::string_view pictures)
      : figure_(figure), layout_(lay_out(figure)), name_(name), pictures_(pictures) {}

  std::string write() {
    add_head();
    add_title_and_legend();
    for (std::size_t i = 0; i < figure_.panels.size(); ++i) add_panel(i);
    add("unset multiplot\nunset output\n}}\n");
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }
  std::string screen(double x, double y) const {
    return fmt::format("screen {:.5f},{:.5f}", x / figure_.width, y / figure_.height);
  }
  // Text beside, above and in the plots; `how`: left, center, "center rotate by 90".
  void add_text(std::string_view text, double x, double y, std::string_view how,
                std::string_view colour, int size = kFontSize) {
    add("set label {} at {} {} tc rgb '{}' font ',{}' noenhanced front\n", literal(text),
        screen(x, y), how, colour, size);
  }
  void add_title(const WrappedText& text, int size) {
    double y = text.y;
    for (const std::string& line : text.lines) {
      add("set label {} at {} left tc rgb '{}' front\n", bold_literal(line, size),
          screen(text.x, y), kTitleInk);
      y -= kLineHeight;
    }
  }
  void add_axis_labels(const PanelLayout& layout) {
    double y = layout.x_label.y;
    for (const std::string& line : layout.x_label.lines) {
      add_text(line, layout.x_label.x, y, "center", kInk);
      y -= kLineHeight;
    }
    double x = layout.y_label.x;
    for (const std::string& line : layout.y_label.lines) {
      add_text(line, x, layout.y_label.y, "center rotate by 90", kInk);
      x += kLineHeight;
    }
  }

  void add_head();
  void add_title_and_legend();
  void add_panel(std::size_t index);
  void add_axis(char axis, const AxisView& view);
  void add_references(const PanelLayout& layout);
  void add_rings(const Panel& panel, const PanelLayout& layout);
  void add_series(const Panel& panel, const PanelLayout& layout);

  const Figure& figure_;
  FigureLayout layout_;
  std::string name_;
  std::string_view pictures_;
  std::string text_;
  int block_ = 0;  // of the data file
};

void ScriptWriter::add_head() {
  add("# Draws {0} ({1}) from {0}.tsv.\n", one_line(name_), pictures_);
  add("set encoding utf8\nset datafile separator \"\\t\"\n");
  add("do for [picture in \"{}\"] {{\n", pictures_);
  add("if (picture eq \"svg\") {{\n");
  add("  set terminal svg size {},{} font 'DejaVu Sans,{}' background rgb 'white'\n", figure_.width,
      figure_.height, kFontSize);
  add("}} else {{\n");
  // At scale 1 the PNG has text of 4/3 the size and points of 3/4 the size of the SVG's.
  add("  set terminal pngcairo size {},{} font 'DejaVu Sans,{}' fontscale 1.5 linewidth 2 "
      "pointscale 2.7 dashlength 2 "
      "background rgb 'white'\n}}\n",
      2 * figure_.width, 2 * figure_.height, kFontSize);
  add("set output {}.picture\n", literal(name_ + "."));
  add("set multiplot\nunset key\n");
  add("set border 3 back lw 0.8 lc rgb '{}'\nset grid back lt 1 lw 0.8 lc rgb '{}'\n", kAxisInk,
      kGridInk);
  add("set tics nomirror out scale 0.4 textcolor rgb '{}'\n", kInk);
}

void ScriptWriter::add_title_and_legend() {
  add_title(layout_.title, kTitleSize);
  for (const LegendEntry& entry : layout_.legend) {
    const std::size_t style = style_of(layout_, {.label = entry.label});
    if (entry.line) {
      add("set arrow from {} to {} nohead {} front\n", screen(entry.x, entry.y),
          screen(entry.x + kLegendSampleWidth, entry.y),
          entry.bar ? bar_style(style, entry.tone) : line_style(style, entry.tone));
    }
    if (entry.marker) {
      add("set label '' at {} point {} front\n", screen(entry.x + kLegendSampleWidth / 2, entry.y),
          marker_style(style, entry.tone));
    }
    double y = entry.y;
    for (const std::string& line : entry.lines) {
      add_text(line, entry.x + kLegendSampleWidth + kLegendTextGap, y, "left", kInk);
      y -= kLineHeight;
    }
  }
}

void ScriptWriter::add_axis(char axis, const AxisView& view) {
  add("{} logscale {}\n", view.logarithmic ? "set" : "unset", axis);
  add("set {}range [{:.10g}:{:.10g}]\n", axis, view.range.low, view.range.high);
  std::string ticks;
  for (const Tick& tick : view.ticks) {
    std::string label = tick_literal(tick.label);
    for (std::size_t at = 0; (at = label.find('%', at)) != std::string::npos; at += 2)
      label.insert(at, "%");
    ticks += fmt::format("{}{} {:.10g}", ticks.empty() ? "" : ", ", label, tick.value);
  }
  add("set {}tics ({}) noenhanced{}\n", axis, ticks, axis == 'x' ? " offset 0,0.5" : "");
}

void ScriptWriter::add_references(const PanelLayout& layout) {
  for (const ReferenceLabel& label : layout.reference_labels) {
    add("set arrow from graph 0, first {0:.10g} to graph 1, first {0:.10g} nohead lc rgb '{1}' lw "
        "1.2 dt (6,4) back\n",
        label.reference.y, kReferenceInk);
    double y = label.box.top - kReferenceLine / 2;
    for (const std::string& line : label.lines) {
      add_text(line, label.box.left, y, "left", kReferenceInk);
      y -= kReferenceLine;
    }
  }
}

void ScriptWriter::add_rings(const Panel& panel, const PanelLayout& layout) {
  for (std::size_t i = 0; i < panel.series.size(); ++i)
    for (std::size_t k = 0; k < panel.series[i].points.size(); ++k) {
      const Place& place = layout.places[i][k];
      if (!panel.series[i].points[k].is_ringed || std::isnan(place.x) || std::isnan(place.y))
        continue;
      add("set label '' at first {:.10g},{:.10g} point lc rgb '{}' pt 6 ps 1.8 lw 1.5 front\n",
          place.x, place.y, kInk);
    }
}

void ScriptWriter::add_series(const Panel& panel, const PanelLayout& layout) {
  // A zero on a logarithmic axis is drawn at its lower end.
  const auto column = [&](int index) {
    return layout.y.zero_at_low ? fmt::format("(column({0}) == 0 ? {1:.10g} : column({0}))", index,
                                              layout.y.range.low)
                                : fmt::format("(column({}))", index);
  };
  const std::string y = column(8), low = column(5), high = column(6);
  std::string bands, curves;
  const auto item = [&](std::string& list, std::string_view every, const std::string& columns,
                        const std::string& how) {
    list += fmt::format("  {} index {}{} using 7:{} with {} notitle, \\\n", literal(name_ + ".tsv"),
                        block_, every, columns, how);
  };
  for (const Series& series : panel.series) {
    if (series.points.empty()) continue;
    const std::size_t style = style_of(layout_, series);
    const Tone tone = series.tone;
    const std::string colour = fmt::format("rgb '{}'", colour_of(style, tone));
    const auto add_band = [&] {
      item(bands, "", low + ":" + high,
           "filledcurves fs transparent solid 0.18 noborder fc " + colour);
    };
    if (series.spread == Spread::band && !has_stepped_band(series)) add_band();
    if (series.spread == Spread::bars) {
      item(curves, "", fmt::format("{}:(0):({} - {})", low, high, low),
           "vectors nohead lw 1.6 lc " + colour);
    }
    const bool steps = series.draw == Draw::steps || series.draw == Draw::edge;
    if (series.draw == Draw::faint) {
      item(curves, "", y, "lines " + faint_line_style(style, tone));
    } else if (series.draw == Draw::bars) {
      item(curves, "", y + ":(-column(7)):(0)", "vectors nohead " + bar_style(style, tone));
    } else if (series.draw != Draw::points) {
      item(curves, "", y, (steps ? "steps " : "lines ") + line_style(style, tone));
    }
    if (has_markers(series.draw)) {
      item(curves, marker_interval(series, style), y, "points " + marker_style(style, tone));
    }
    ++block_;
    if (has_stepped_band(series)) {
      add_band();
      ++block_;
    }
  }
  // The last item draws nothing: it ends the list, and a panel without points still gets its axes.
  add("plot \\\n{}{}  NaN notitle\n", bands, curves);
}

void ScriptWriter::add_panel(std::size_t index) {
  const Panel& panel = figure_.panels[index];
  const PanelLayout& layout = layout_.panels[index];
  add("\n# Panel {}\n", index + 1);
  const auto margin = [&](char side, double share) {
    add("set {}margin at screen {:.5f}\n", side, share);
  };
  margin('l', layout.plot.left / figure_.width);
  margin('r', layout.plot.right / figure_.width);
  margin('b', layout.plot.bottom / figure_.height);
  margin('t', layout.plot.top / figure_.height);
  add_title(layout.title, kPanelTitleSize);
  add_axis('x', layout.x);
  add_axis('y', layout.y);
  add_axis_labels(layout);
  const Box& plot = layout.plot;
  if (!layout.has_points) {
    add_text("no data", (plot.left + plot.right) / 2, (plot.bottom + plot.top) / 2, "center",
             kReferenceInk);
  }
  add_references(layout);
  add_rings(panel, layout);
  for (const PointName& name : layout.names)
    add_text(name.text, name.x, name.y, "left", kInk, kNameSize);
  add_series(panel, layout);
  add("unset label\nunset arrow\n");
}

}  // namespace

std::string figure_data(const Figure& figure) {
  const FigureLayout layout = lay_out(figure);
  std::string text = "# panel\tseries\tx\ty\tlow\thigh\tdrawn_x\tdrawn_y\tname\n";
  bool first = true;
  const auto begin_block = [&] {
    if (!first) text += "\n\n";
    first = false;
  };
  const auto add = [&](std::size_t panel, const Series& series, const Point& point, double drawn_x,
                       double drawn_y) {
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", panel + 1, one_line(series.label),
                        point.x, point.y, point.low, point.high, drawn_x, drawn_y,
                        one_line(point.name));
  };
  for (std::size_t i = 0; i < figure.panels.size(); ++i) {
    const std::vector<Series>& all = figure.panels[i].series;
    for (std::size_t j = 0; j < all.size(); ++j) {
      const Series& series = all[j];
      if (series.points.empty()) continue;
      begin_block();
      for (std::size_t k = 0; k < series.points.size(); ++k) {
        const Place& place = layout.panels[i].places[j][k];
        add(i, series, series.points[k], place.x, place.y);
      }
      if (!has_stepped_band(series)) continue;
      begin_block();
      for (const Point& point : stepped(series.points)) add(i, series, point, point.x, point.y);
    }
  }
  return text;
}

std::string figure_script(const Figure& figure, std::string_view name, std::string_view pictures) {
  return ScriptWriter(figure, name, pictures).write();
}

}  // namespace hone
