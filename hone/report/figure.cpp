#include "hone/report/figure.h"

#include <fmt/format.h>

#include "hone/base/error.h"
#include "hone/base/process.h"
#include "hone/report/figure_colours.h"
#include "hone/report/figure_points.h"
#include "hone/report/figure_script.h"

namespace hone {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// Gives labels of references a halo, so that they are legible on top of a curve.
std::string with_halos(std::string svg) {
  constexpr std::string_view kFill = "fill=\"rgb(102,102,102)\" font-family";
  static_assert(kReferenceColour.light == "#666666" && kBackgroundColour.light == "#FFFFFF");
  return replaced(std::move(svg), fmt::format("stroke=\"none\" {}", kFill),
                  fmt::format("stroke=\"#FFFFFF\" stroke-width=\"3\" stroke-linejoin=\"round\" "
                              "paint-order=\"stroke\" {}",
                              kFill));
}

// Adds the elements that react to the mouse on top of the drawing.
std::string with_points(std::string svg, const Figure& figure) {
  const std::size_t end = svg.rfind("</svg>");
  HONE_ASSERT(end != std::string::npos, "gnuplot has written no SVG");
  return svg.insert(end, points_svg(figure, lay_out(figure)));
}

// Draws `figure` as `name`.svg in `folder` with its sources, and as `name`.png if `pictures` contains it.
void draw(const Figure& figure, const std::string& name, const fs::path& folder,
          std::string_view pictures) {
  write_file(folder / (name + ".tsv"), figure_data(figure));
  write_file(folder / (name + ".gp"), figure_script(figure, name, pictures));
  // Ignores the user's own gnuplot settings.
  with_context("figure", [&] {
    run_program({"gnuplot", "--default-settings", name + ".gp"}, folder, "gnuplot-nox");
  });
  // gnuplot cannot name a fallback font; a browser without the first would use a serif font.
  const fs::path svg = folder / (name + ".svg");
  write_file(svg, with_points(with_halos(replaced(read_file(svg), "\"DejaVu Sans\"",
                                                  "\"DejaVu Sans, Verdana, sans-serif\"")),
                              figure));
}

}  // namespace

void write_figure(const Figure& figure, const fs::path& stem) {
  const std::string name = stem.filename().string();
  // gnuplot works in its own folder, so that incomplete files never appear under the figure's name.
  const ScratchFolder folder(stem);
  draw(figure, name, folder.path(), "svg png");
  for (const char* ending : {".tsv", ".gp", ".svg", ".png"}) {
    write_file(fs::path(stem) += ending, read_file(folder.path() / (name + ending)));
  }
}

std::string draw_svg(const Figure& figure, const fs::path& folder) {
  const ScratchFolder temporary(folder / "drawing");
  draw(figure, "drawing", temporary.path(), "svg");
  return read_file(temporary.path() / "drawing.svg");
}

}  // namespace hone
