#include "hone/report/page_script.h"

#include <string_view>

namespace hone {
namespace {

// Sorts a table when a header is clicked; each header has a button for the keyboard. The first click sorts numbers from
// the largest and texts from A, the next one in reverse. Texts among numbers follow them, and missing values come last.
constexpr std::string_view kSorting = R"js(
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], heads = [...table.tHead.rows[0].cells];
  if (body.rows.length < 3) continue;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    head.onclick = () => {
      const before = head.getAttribute("aria-sort");
      const cell = row => row.cells[column], has_value = row => cell(row).dataset.value !== undefined;
      const numbers = [...body.rows].some(has_value);
      const up = before ? before === "descending" : !numbers;
      heads.forEach(other => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const sign = up ? 1 : -1;
      const group = row => has_value(row) ? 0 : cell(row).classList.contains("absent") ? 2 : 1;
      const compared = (a, b) => {
        if (group(a) !== group(b)) return group(a) - group(b);
        if (has_value(a)) return sign * (Number(cell(a).dataset.value) - Number(cell(b).dataset.value));
        return sign * cell(a).textContent.localeCompare(cell(b).textContent, undefined, {numeric: true});
      };
      body.append(...[...body.rows].sort(compared));
    };
  });
}
)js";

// Describes the point nearest to the mouse or a finger, within 24 px, or the one selected by arrow keys: draws a ring
// around it and a box with its text. Left and right move along a series, up and down to the next one. Both drawings of
// a figure have the same points; the first has their texts. Texts are read on first use, so that a page with many
// points opens at once. Groups of many points have lists instead of elements (report/inline_svg.h).
constexpr std::string_view kPointing = R"js(
{
  const figures = [...document.querySelectorAll("figure svg")].filter(svg => svg.querySelector(".points"));
  const box = document.createElement("div"), ring = figures[0] && document.createElementNS(figures[0].namespaceURI, "circle");
  box.className = "pointed";
  box.hidden = true;
  box.setAttribute("role", "status");
  document.body.append(box);
  ring?.setAttribute("class", "ring");
  ring?.setAttribute("r", 7);
  const hide = () => { box.hidden = true; ring.remove(); };
  const listed_texts_of = ({dataset: {form, texts}}) => {
    const filled = numbers => form.replaceAll("\uE000", () => numbers.shift());
    return texts?.split("\n").map(line => form === undefined ? line : filled(line.split(" ")));
  };
  const texts_of = figure => {
    figure.pointed ??= [...figure.querySelector("svg").querySelectorAll(".points")].flatMap(group =>
      listed_texts_of(group) ?? [...group.querySelectorAll("title")].map(title => title.textContent));
    return figure.pointed;
  };
  const points_of = svg => {
    const texts = texts_of(svg.closest("figure"));
    const places_of = group => group.dataset.at?.split(" ").map(place => place.split(",")) ??
      [...group.children].map(circle => [circle.getAttribute("cx"), circle.getAttribute("cy")]);
    return [...svg.querySelectorAll(".points")].flatMap((group, series) =>
      places_of(group).map(([x, y]) => ({series, x: Number(x), y: Number(y)}))
    ).map((point, index) => ({...point, index, text: texts[index]}));
  };
  const nearest = (points, x, y) => points.reduce((best, point) => {
    const away = Math.hypot(point.x - x, point.y - y);
    return best === null || away < best.away ? {away, point} : best;
  }, null);
  for (const svg of figures) {
    let points = null, at = null;
    const known = () => points ??= points_of(svg);
    const show = point => {
      at = point;
      ring.setAttribute("cx", point.x);
      ring.setAttribute("cy", point.y);
      svg.append(ring);
      box.textContent = point.text;
      box.hidden = false;
      const place = ring.getBoundingClientRect(), size = box.getBoundingClientRect();
      const wide = document.documentElement.clientWidth;
      const above = place.top - size.height - 4;
      box.style.left = scrollX + Math.max(4, Math.min(place.right + 6, wide - size.width - 4)) + "px";
      box.style.top = scrollY + (above > 4 ? above : place.bottom + 4) + "px";
    };
    const point_at = event => {
      const matrix = svg.getScreenCTM(), within = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
      const found = nearest(known(), within.x, within.y);
      if (found && found.away * matrix.a <= 24) show(found.point); else hide();
    };
    svg.addEventListener("pointermove", point_at);
    svg.addEventListener("pointerdown", point_at);
    svg.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hide(); });
    svg.setAttribute("tabindex", 0);
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-description", "Use the arrow keys to move from point to point.");
    svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(at ?? known()[0]); });
    svg.addEventListener("blur", hide);
    svg.addEventListener("keydown", event => {
      const all = known(), last = all.length - 1, from = at ?? all[0];
      const beside = series => nearest(all.filter(point => point.series === series), from.x, from.y)?.point ?? from;
      const to = {
        ArrowRight: () => all[Math.min(from.index + 1, last)], ArrowLeft: () => all[Math.max(from.index - 1, 0)],
        ArrowDown: () => beside(from.series + 1), ArrowUp: () => beside(from.series - 1),
        Home: () => all[0], End: () => all[last],
      }[event.key];
      if (event.key === "Escape") hide();
      if (!to) return;
      event.preventDefault();
      show(to());
    });
  }
}
)js";

}  // namespace

std::string page_script() { return std::string(kSorting) += kPointing; }

}  // namespace hone
