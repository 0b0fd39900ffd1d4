#include "hone/report/figure.h"

#include "hone/base/error.h"
#include "hone/base/process.h"
#include "hone/report/figure_script.h"

namespace hone {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// gnuplot shows the values of points by a script of its own; as titles, browsers show them without.
std::string with_titles(std::string svg) {
  constexpr std::string_view kOpen = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'",
                             kClose =
                                 "')\" onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title>";
  for (std::size_t at = 0; (at = svg.find(kOpen, at)) != std::string::npos;) {
    const std::size_t text = at + kOpen.size(), end = svg.find(kClose, text);
    HONE_ASSERT(end != std::string::npos, "gnuplot writes values in another way");
    const std::string title = fmt::format("<g><title>{}</title>", svg.substr(text, end - text));
    svg.replace(at, end + kClose.size() - at, title);
    at += title.size();
  }
  return svg;
}

// Draws `figure` as `name`.svg, beside it what it is drawn from and, if `pictures` has it, `name`.png in `folder`.
void draw(const Figure& figure, const std::string& name, const fs::path& folder,
          std::string_view pictures) {
  write_file(folder / (name + ".tsv"), figure_data(figure));
  write_file(folder / (name + ".gp"), figure_script(figure, name, pictures));
  // The user's own gnuplot settings stay out of it.
  with_context("figure", [&] {
    run_program({"gnuplot", "--default-settings", name + ".gp"}, folder, "gnuplot-nox");
  });
  // gnuplot cannot name a second choice of font; a browser without the first would take a serif.
  const fs::path svg = folder / (name + ".svg");
  write_file(svg, with_titles(replaced(read_file(svg), "\"DejaVu Sans\"",
                                       "\"DejaVu Sans, Verdana, sans-serif\"")));
}

}  // namespace

void write_figure(const Figure& figure, const fs::path& stem) {
  const std::string name = stem.filename().string();
  // gnuplot works in a folder of its own; what it leaves half done there is never seen under the
  // figure's name.
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
