#include "hone/report/inline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <regex>
#include <vector>

#include "hone/base/error.h"
#include "hone/report/figure_colours.h"
#include "hone/report/html_text.h"

namespace hone {
namespace {

struct NamedColour {
  std::string name;
  FigureColour colour;
};

std::vector<NamedColour> named_colours() {
  std::vector<NamedColour> colours = {
      {"ground", kBackgroundColour}, {"ink", kTextColour},  {"title", kTitleColour},
      {"axis", kAxisColour},         {"grid", kGridColour}, {"reference", kReferenceColour}};
  for (std::size_t i = 0; i < std::size(kSeriesColours); ++i)
    colours.push_back({fmt::format("series-{}", i + 1), kSeriesColours[i]});
  return colours;
}

// Returns "#1E2126" for "#1E2126" and "rgb( 30, 33, 38)"; "" for anything else.
std::string hexadecimal(const std::string& value) {
  unsigned red = 0, green = 0, blue = 0;
  const bool triple = std::sscanf(value.c_str(), "rgb( %u , %u , %u )", &red, &green, &blue) == 3;
  if (!triple && std::sscanf(value.c_str(), "#%2x%2x%2x", &red, &green, &blue) != 3) return "";
  return fmt::format("#{:02X}{:02X}{:02X}", red, green, blue);
}

/// Rewrites attributes of the SVG.
class AttributeRewriter {
 public:
  explicit AttributeRewriter(std::string_view prefix)
      : prefix_(prefix), colours_(named_colours()) {}

  std::string operator()(std::string_view name, const std::string& value) const {
    if (name == "id") return prefix_ + value;
    if (value.starts_with("#") && name.ends_with("href")) return "#" + prefix_ + value.substr(1);
    if (value.starts_with("url(#")) return "url(#" + prefix_ + value.substr(5);
    if (value == "black") return "var(--figure-ink)";
    if (const std::string colour = hexadecimal(value); !colour.empty()) {
      for (const NamedColour& known : colours_)
        if (known.colour.light == colour) return fmt::format("var(--figure-{})", known.name);
    }
    return value;
  }

 private:
  std::string prefix_;
  std::vector<NamedColour> colours_;
};

// Rewrites all NAME="VALUE" and NAME='VALUE' of an element's tag.
std::string rewritten(std::string_view tag, const AttributeRewriter& rewrite) {
  std::string result;
  std::size_t name_begin = 0;
  for (std::size_t i = 0; i < tag.size(); ++i) {
    const char c = tag[i];
    result += c;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) name_begin = i + 1;
    if (c != '=' || i + 1 == tag.size() || (tag[i + 1] != '"' && tag[i + 1] != '\'')) continue;
    const std::size_t end = tag.find(tag[i + 1], i + 2);
    if (end == std::string_view::npos) continue;
    const std::string value = rewrite(tag.substr(name_begin, i - name_begin),
                                      std::string(tag.substr(i + 2, end - i - 2)));
    result += fmt::format("{0}{1}{0}", tag[i + 1], value);
    i = end;
  }
  return result;
}

// Returns the part of `text` between the first `open` and the next `close`.
std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const std::size_t begin = text.find(open);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text.find(close, begin + open.size());
  if (end == std::string_view::npos) return {};
  return text.substr(begin + open.size(), end - begin - open.size());
}

using Shapes = std::map<std::string_view, std::string_view>;

// Returns the self-closing elements with an id, by that id: "<circle id='dot' r='1'/>".
Shapes shapes_of(std::string_view svg) {
  Shapes shapes;
  for (std::size_t tag = svg.find('<'); tag != std::string_view::npos;) {
    const std::size_t next = std::min(svg.find('<', tag + 1), svg.size());
    const std::string_view element = svg.substr(tag, next - tag);
    const std::size_t end = element.rfind("/>");
    const std::string_view id = between(element.substr(0, end), " id='", "'");
    if (end != std::string_view::npos && !id.empty()) shapes[id] = element.substr(0, end);
    tag = next < svg.size() ? next : std::string_view::npos;
  }
  return shapes;
}

// Removes an attribute from the tag, and returns its value; empty if it had none.
std::string taken_out(std::string& tag, std::string_view name) {
  const std::string open = fmt::format(" {}='", name);
  std::string value(between(tag, open, "'"));
  if (const std::size_t at = tag.find(open); at != std::string::npos)
    tag.erase(at, open.size() + value.size() + 1);
  return value;
}

// Replaces "<use xlink:href='#dot' color='red'/>" by the shape itself, which browsers draw in half of the time: figures
// have thousands. A shape may be a use of another one, and that of one more. Its own attributes precede those of its
// use, because the first of two counts. All transformations count, with the use's on the outside.
std::string shape_used(std::string use, const Shapes& shapes) {
  constexpr int kMostUses = 3;
  for (int depth = 0; depth < kMostUses && use.starts_with("<use "); ++depth) {
    const auto shape = shapes.find(between(use, " xlink:href='#", "'"));
    if (shape == shapes.end()) break;
    std::string drawn(shape->second);
    taken_out(drawn, "id");
    taken_out(use, "xlink:href");
    const std::string inside = taken_out(drawn, "transform"), outside = taken_out(use, "transform");
    const std::string separator = inside.empty() || outside.empty() ? "" : " ";
    if (!inside.empty() || !outside.empty())
      drawn += fmt::format(" transform='{}{}{}'", outside, separator, inside);
    use = drawn + use.erase(0, std::string_view("<use").size());
  }
  return use;
}

// Returns "59.2" for "59.15", "60" for "60.00".
std::string short_number(std::string_view text) {
  std::string number = fmt::format("{:.1f}", std::strtod(std::string(text).c_str(), nullptr));
  return number.ends_with(".0") ? number.substr(0, number.size() - 2) : number;
}

/// The same shape at many positions, as gnuplot draws the points of a series. Fewer than this are drawn individually.
constexpr std::size_t kFewMarkers = 8;

class MarkerRun {
 public:
  // Adds the element if it is one of them: "<use xlink:href='#dot' transform='translate(3,4) scale(2)' color='red'/>".
  // Returns whether it is.
  bool takes(std::string_view element) {
    const std::string_view place = between(element, "translate(", ")");
    const std::size_t comma = place.find(',');
    if (!element.starts_with("<use ") || comma == std::string_view::npos) return false;
    std::string shape(element);
    shape.erase(shape.find("translate("), std::string_view("translate()").size() + place.size());
    if (!uses_.empty() && shape != shape_) return false;
    shape_ = std::move(shape);
    uses_.push_back(element);
    places_ +=
        fmt::format("{}{},{}", places_.empty() ? "" : " ", short_number(place.substr(0, comma)),
                    short_number(place.substr(comma + 1)));
    return true;
  }

  // Returns the added elements, many of them as the corners of an invisible line, and forgets them.
  std::string drawn(const Shapes& shapes, const AttributeRewriter& rewrite,
                    std::string_view prefix) {
    std::string result;
    if (uses_.size() < kFewMarkers) {
      for (const std::string_view use : uses_)
        result += rewritten(shape_used(std::string(use), shapes), rewrite);
    } else {
      const std::string id = fmt::format("{}marker-{}", prefix, ++markers_);
      result = fmt::format(
          "<marker id='{0}' markerUnits='userSpaceOnUse' overflow='visible'>{1}</marker><polyline "
          "points='{2}' style='fill:none;stroke:none;marker:url(#{0})'/>",
          id, rewritten(shape_used(shape_, shapes), rewrite), places_);
    }
    uses_.clear();
    places_.clear();
    return result;
  }

 private:
  std::vector<std::string_view> uses_;
  std::string shape_;  // without the position
  std::string places_;
  int markers_ = 0;
};

/// In a figure with at least this many points these are lists, which only the page's script reads: elements for each
/// would make up most of a page.
constexpr std::size_t kManyPoints = 200;
constexpr std::string_view kPointsBegin = "<g class=\"points\"", kGroupEnd = "</g>";
constexpr std::string_view kNumberMark = "\xEE\x80\x80";  // U+E000, as in page_script.cpp

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\n") == std::string_view::npos;
}

std::size_t count_points(std::string_view svg) {
  std::size_t count = 0;
  for (std::size_t at = svg.find("<title>"); at != std::string_view::npos;
       at = svg.find("<title>", at + 1))
    ++count;
  return count;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Returns the end of the number that begins at `at`; `at` if there is none. The digits of "&#39;" are not a number.
std::size_t number_end(std::string_view text, std::size_t at) {
  const auto digit_at = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  if (at > 0 && (text[at - 1] == '#' || is_digit(text[at - 1]))) return at;
  std::size_t end = at + (text[at] == '-' ? 1 : 0);
  if (!digit_at(end)) return at;
  while (digit_at(end) || (end < text.size() && text[end] == '.' && digit_at(end + 1))) ++end;
  const bool has_exponent = end + 1 < text.size() && text[end] == 'e' &&
                            (text[end + 1] == '-' || text[end + 1] == '+') && digit_at(end + 2);
  if (!has_exponent) return end;
  for (end += 2; digit_at(end);) ++end;
  return end;
}

/// "trial 3: x 0.5" split into "trial \uE000: x \uE000" and "3 0.5".
struct TextForm {
  std::string form, numbers;
};

TextForm form_of(std::string_view text) {
  TextForm result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = number_end(text, at);
    if (end == at) {
      result.form += text[at++];
      continue;
    }
    result.form += kNumberMark;
    if (!result.numbers.empty()) result.numbers += ' ';
    result.numbers += text.substr(at, end - at);
    at = end;
  }
  return result;
}

// Returns the descriptions of points as attributes, a line each. If they differ only in their numbers, the lines
// contain these, and another attribute the text around them.
std::string text_attributes(const std::vector<std::string>& texts) {
  std::vector<TextForm> forms;
  for (const std::string& text : texts) forms.push_back(form_of(text));
  const bool alike = std::ranges::all_of(
      forms, [&](const TextForm& one) { return one.form == forms.front().form; });
  std::string lines;
  for (std::size_t i = 0; i < texts.size(); ++i)
    lines += (i == 0 ? "" : "\n") + (alike ? forms[i].numbers : texts[i]);
  return (alike ? fmt::format(" data-form=\"{}\"", forms.front().form) : "") +
         fmt::format(" data-texts=\"{}\"", lines);
}

// Returns a group of points (see figure_points.h) as lists, from its tag to its end.
std::string listed_points(std::string_view group, PointTexts with) {
  std::string places;
  std::vector<std::string> texts;
  for (std::size_t at = group.find("<circle"); at != std::string_view::npos;
       at = group.find("<circle", at + 1)) {
    const std::string_view circle = group.substr(at, group.find("</circle>", at) - at);
    places += fmt::format("{}{},{}", texts.empty() ? "" : " ",
                          short_number(between(circle, "cx=\"", "\"")),
                          short_number(between(circle, "cy=\"", "\"")));
    std::ranges::replace(texts.emplace_back(between(circle, "<title>", "</title>")), '\n', ' ');
  }
  return fmt::format("{} data-at=\"{}\"{}>{}", kPointsBegin, places,
                     with == PointTexts::with ? text_attributes(texts) : "", kGroupEnd);
}

// Removes the group that ends here, if it is empty. gnuplot writes some for each series.
bool drop_empty_group(std::string& svg) {
  const std::size_t tag = svg.rfind('<');
  if (tag == std::string::npos || svg.compare(tag, 3, "<g ") != 0) return false;
  const std::size_t end = svg.find('>', tag);
  if (end == std::string::npos || !is_blank(std::string_view(svg).substr(end + 1))) return false;
  svg.erase(tag);
  return true;
}

std::string opening_tag(std::string_view view_box, std::string_view description) {
  const std::string width(view_box.substr(0, view_box.rfind(' ')));
  return fmt::format("<svg width=\"{}\" viewBox=\"{}\" role=\"img\" aria-label=\"{}\">",
                     html_text(width.substr(width.rfind(' ') + 1)), html_text(view_box),
                     html_text(description));
}

}  // namespace

std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description,
                       PointTexts texts) {
  const std::string_view view_box = between(between(svg, "<svg", ">"), "viewBox=\"", "\"");
  const std::size_t close = svg.rfind("</svg>");
  user_check(!view_box.empty() && close != std::string_view::npos,
             "expected an SVG with a viewBox, got '{}'", svg.substr(0, 40));
  const std::size_t body = svg.find('>', svg.find("<svg")) + 1;
  std::string result = opening_tag(view_box, description);
  const AttributeRewriter rewrite(prefix);
  const Shapes shapes = shapes_of(svg.substr(body, close - body));
  const bool lists_points = count_points(svg) >= kManyPoints;
  MarkerRun markers;
  std::string_view before;
  for (std::size_t at = body; at < close;) {
    const std::size_t tag = std::min(svg.find('<', at), close);
    const std::string_view text = svg.substr(at, tag - at);
    at = std::min(svg.find('>', tag), close - 1) + 1;
    const std::string_view element = svg.substr(tag, at - tag);
    if (tag < close && is_blank(text) && markers.takes(element)) continue;
    result += markers.drawn(shapes, rewrite, prefix);
    result += text;
    if (tag == close || markers.takes(element)) continue;
    if (element == kGroupEnd && drop_empty_group(result)) continue;
    if (lists_points && element.starts_with(kPointsBegin)) {
      const std::size_t end = std::min(svg.find(kGroupEnd, at), close - 1);
      result += listed_points(svg.substr(tag, end - tag), texts);
      at = std::min(end + kGroupEnd.size(), close);
      continue;
    }
    const bool told = texts == PointTexts::with && before.starts_with("<circle");
    if ((element.starts_with("<title") && !told) || element.starts_with("<desc")) {
      // Skips gnuplot's own titles, which browsers would show as tooltips.
      at = std::min(svg.find('>', at), close - 1) + 1;
    } else {
      result += rewritten(element.starts_with("<use ") ? shape_used(std::string(element), shapes)
                                                       : std::string(element),
                          rewrite);
    }
    before = element;
  }
  return result + markers.drawn(shapes, rewrite, prefix) + "</svg>";
}

std::string dark_svg(std::string_view svg) {
  const std::vector<NamedColour> known = named_colours();
  const std::regex spelled("#[0-9A-Fa-f]{6}|rgb\\([ 0-9,]*\\)|\\bblack\\b");
  std::string result;
  const char* rest = svg.data();
  for (std::cregex_iterator it(svg.begin(), svg.end(), spelled), end; it != end; ++it) {
    result.append(rest, (*it)[0].first);
    rest = (*it)[0].second;
    const std::string text = (*it)[0];
    const std::string light = text == "black" ? std::string(kTextColour.light) : hexadecimal(text);
    const auto found = std::ranges::find_if(
        known, [&](const NamedColour& row) { return row.colour.light == light; });
    result += found == known.end() ? text : std::string(found->colour.dark);
  }
  return result.append(rest, svg.data() + svg.size());
}

std::string figure_colours_css(bool dark) {
  std::string css;
  for (const NamedColour& row : named_colours())
    css += fmt::format("--figure-{}:{};", row.name, dark ? row.colour.dark : row.colour.light);
  return css;
}

}  // namespace hone
