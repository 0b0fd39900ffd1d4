#include "hone/report/page_script.h"

#include "hone/report/document.h"
#include "hone/report/figure.h"
#include "tests/support/browser.h"

// Tests of pointing at figures in a headless browser.
namespace hone {
namespace {

constexpr const char* kPerson = R"js(
  const svg = document.querySelector(".wide svg"), told = () => {
    const box = document.querySelector(".pointed");
    return box.hidden ? "" : box.textContent;
  };
  const at = (x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  const move = (x, y, away = 0) => {
    const place = at(x, y);
    svg.dispatchEvent(new PointerEvent("pointermove", {clientX: place.x + away, clientY: place.y, bubbles: true}));
    return told();
  };
  const circle = number => {
    const group = svg.querySelector(".points");
    if (group.dataset.at) return [...svg.querySelectorAll(".points")].flatMap(one => one.dataset.at.split(" "))[number].split(",").map(Number);
    const one = svg.querySelectorAll(".points circle")[number];
    return [Number(one.getAttribute("cx")), Number(one.getAttribute("cy"))];
  };
  const press = key => {
    svg.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    return told();
  };
)js";

Document page_of(const Figure& figure) {
  const TemporaryFolder folder;
  const std::string svg = draw_svg(figure, folder.path());
  return {.title = "t", .headline = "h", .sections = {{"s", {PageFigure{svg, svg, "points"}}}}};
}

Json after(const Document& page, const std::string& doings) {
  return after_in_browser(to_html(page), kPerson + doings);
}

Figure two_series() {
  Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
  panel.series = {
      {.label = "a", .points = {{1, 1, kNoValue, kNoValue, "", "first"}, {1.8, 2}, {3, 3}}},
      {.label = "b", .points = {{1, 3}, {3, 1}}, .draw = Draw::steps}};
  return {.panels = {panel}};
}

TEST(PageScript, TellsThePointThatIsNearest) {
  const Json result = after(page_of(two_series()), R"js(
    result.first = move(...circle(0), 5);
    const box = document.querySelector(".pointed").getBoundingClientRect(), point = at(...circle(0));
    result.beside = Math.hypot(box.left - point.x, box.bottom - point.y) < 30;
    result.ring = svg.querySelector(".ring").getAttribute("cx") === String(circle(0)[0]);
    result.step = move(...circle(4));
    result.far = move(...circle(4), -60);
    result.rings = svg.querySelectorAll(".ring").length;
    move(...circle(1));
    svg.dispatchEvent(new PointerEvent("pointerleave", {pointerType: "mouse"}));
    result.left = told();
  )js");
  EXPECT_EQ(result["first"], "a: x 1, y 1; first");
  EXPECT_EQ(result["beside"], true);
  EXPECT_EQ(result["ring"], true);
  EXPECT_EQ(result["step"], "b: x 3, y 1");
  EXPECT_EQ(result["far"], "");
  EXPECT_EQ(result["rings"], 0);
  EXPECT_EQ(result["left"], "");
}

TEST(PageScript, GoesFromPointToPointByKeys) {
  Json result = Json::object();
  // Sometimes the window has no focus yet, and then key presses are lost.
  for (int tries = 0; tries < 5 && !result.value("focused", false); ++tries)
    result = after(page_of(two_series()), R"js(
    result.focused = document.hasFocus();
    result.tab = svg.getAttribute("tabindex");
    svg.focus({focusVisible: true});
    result.way = [told(), press("ArrowRight"), press("ArrowDown"), press("ArrowUp"), press("End"),
                  press("ArrowRight"), press("Home"), press("ArrowLeft"), press("Escape")];
    svg.blur();
  )js");
  EXPECT_EQ(result["tab"], "0");
  EXPECT_EQ(result["way"],
            Json({"a: x 1, y 1; first", "a: x 1.8, y 2", "b: x 1, y 3", "a: x 1.8, y 2",
                  "b: x 3, y 1", "b: x 3, y 1", "a: x 1, y 1; first", "a: x 1, y 1; first", ""}));
}

// The drawing for phones contains no titles.
TEST(PageScript, TellsTheSameInBothDrawings) {
  const Json result = after(page_of(two_series()), R"js(
    result.titles = document.querySelectorAll(".narrow title").length;
    const phone = document.querySelector(".narrow svg");
    document.querySelector(".narrow").style.display = "block";
    const place = new DOMPoint(...circle(3)).matrixTransform(phone.getScreenCTM());
    phone.dispatchEvent(new PointerEvent("pointerdown", {clientX: place.x, clientY: place.y}));
    result.told = told();
  )js");
  EXPECT_EQ(result["titles"], 0);
  EXPECT_EQ(result["told"], "b: x 1, y 3");
}

TEST(PageScript, LeavesFiguresWithoutPointsAlone) {
  const Json result = after(page_of({.panels = {Panel{.x = {.label = "x"}}}}), R"js(
    result.tab = svg.getAttribute("tabindex");
    result.told = move(100, 100);
  )js");
  EXPECT_EQ(result["tab"], nullptr);
  EXPECT_EQ(result["told"], "");
}

// Nine panels of a thousand trials each, as in slice plots.
TEST(PageScript, LongPointsAtOneOfThousands) {
  Figure figure{.panels = {}, .width = 2340};
  for (int p = 0; p < 9; ++p) {
    Panel panel{.x = {.label = "x"}, .y = {.label = "y"}};
    panel.series = {{.points = {}, .draw = Draw::points}};
    for (int i = 0; i < 1000; ++i)
      panel.series[0].points.push_back({i / 1000.0, i * 7919 % 1000 / 1000.0, kNoValue, kNoValue,
                                        fmt::format("trial {} of {}", i, p)});
    figure.panels.push_back(panel);
  }
  const Json result = after(page_of(figure), R"js(
    result.told = move(...circle(4321));
  )js");
  EXPECT_EQ(result["told"], "trial 321 of 4: x 0.321, y 0.999");
}

}  // namespace
}  // namespace hone
