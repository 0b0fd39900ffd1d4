#include "hone/analysis/draw_page.h"

#include <gtest/gtest.h>

#include "hone/base/text.h"
#include "hone/frontends/huggingface/bert.h"
#include "hone/passes/remove_dropout.h"
#include "tests/analysis/graph_text.h"
#include "tests/support/browser.h"

// Tests the page in a headless browser.
namespace hone::testing {
namespace {

Graph small_bert(int layers) {
  EncoderConfig config;
  config.hidden_size = 128;
  config.num_hidden_layers = layers;
  config.num_attention_heads = 2;
  config.intermediate_size = 512;
  Graph graph = build_graph(ops(), bert(), config, {});
  remove_dropout(graph);
  return graph;
}

/// Runs a script of user actions on the page and returns the `result` that it leaves.
Json after(const std::string& page, const std::string& doings) {
  return after_in_browser(
      page,
      "const boxes = () => document.querySelectorAll('.box').length;\n"
      "const box = name => document.querySelector(`.box[data-name='${name}']`);\n"
      "const head = path => document.querySelector(`.module[data-path='${path}'] > .head`);\n"
      "const click = element => element.dispatchEvent(new MouseEvent('click', {bubbles: true}));\n"
      "const id = name => document.getElementById(name);\n" +
          doings);
}

TEST(DrawingPage, NeedsNothingButItself) {
  const std::string page = drawing_page(small_bert(2), {.title = "a <b> & \"model\""});
  EXPECT_NE(page.find("<title>a &lt;b&gt; &amp; &quot;model&quot;</title>"), std::string::npos);
  for (const char* from_elsewhere : {"src=", "href=", "@import", "fetch("})
    EXPECT_EQ(page.find(from_elsewhere), std::string::npos) << from_elsewhere;
  // The only address is the SVG namespace.
  EXPECT_EQ(page.find("http"), page.rfind("http"));
}

TEST(DrawingPage, OpensFoldsAndTellsFacts) {
  const Graph graph = small_bert(2);
  const auto operations = std::ssize(graph.of_kind(NodeKind::operation));
  const auto ends = std::ssize(graph.of_kind(NodeKind::input)) + std::ssize(graph.outputs());
  const Json result = after(drawing_page(graph, {.title = "tiny"}), R"js(
    click(id("unfold"));
    result.open = boxes();
    click(head("bert.encoder.layer.0"));
    result.folded = boxes();
    result.label = box("bert.encoder.layer.0").textContent;
    box("bert.encoder.layer.0").dispatchEvent(new MouseEvent("dblclick", {bubbles: true}));
    result.again = boxes();
    click(box("bert.encoder.layer.1.intermediate.dense"));
    result.facts = id("facts").innerText;
    result.near = document.querySelectorAll(".edge.near").length;
    click(id("fold"));
    result.least = boxes();
  )js");
  EXPECT_EQ(result["open"], operations + ends);
  const std::string label = result["label"];
  EXPECT_NE(label.find("layer.0"), std::string::npos) << label;
  const std::int64_t in_layer = operations + ends + 1 - result["folded"].get<std::int64_t>();
  EXPECT_NE(label.find(fmt::format("{} operations", in_layer)), std::string::npos) << label;
  EXPECT_EQ(result["again"], result["open"]);
  const std::string facts = result["facts"];
  for (const char* fact : {"bert.encoder.layer.1.intermediate.dense", "linear", "f32[B, S, 512]",
                           "bert.encoder.layer.1.intermediate.dense.weight f32[512, 128]",
                           "bert.encoder.layer.1.attention.output.LayerNorm",
                           "bert.encoder.layer.1.intermediate.intermediate_act_fn"})
    EXPECT_NE(facts.find(fact), std::string::npos) << fact << "\n" << facts;
  EXPECT_EQ(result["near"], 2);
  EXPECT_LT(result["least"], 10);
}

TEST(DrawingPage, FindsNamesZoomsAndPans) {
  const Json result = after(drawing_page(small_bert(12), {.title = "base"}), R"js(
    const view = () => id("canvas").getAttribute("viewBox").split(" ").map(Number);
    result.begin = boxes();
    const search = text => { id("search").value = text; id("search").dispatchEvent(new Event("input")); };
    search("layer.7 query linear");
    result.found = id("found").textContent;
    result.title = id("facts").querySelector("h2").textContent;
    const middle = view(), rect = document.querySelector(".box.picked rect");
    const centre = axis => Number(rect.getAttribute(axis)) +
        Number(rect.getAttribute(axis === "x" ? "width" : "height")) / 2;
    result.apart = [centre("x") - (middle[0] + middle[2] / 2), centre("y") - (middle[1] + middle[3] / 2)];
    search("linear dense");
    const first = id("found").textContent;
    id("search").dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));
    result.counts = [first, id("found").textContent];
    search("nothing is called so");
    result.none = id("found").textContent;
    click(id("fit"));
    const whole = view();
    id("canvas").dispatchEvent(new WheelEvent("wheel", {deltaY: -60, clientX: 500, clientY: 400}));
    const near = view();
    result.closer = near[2] < whole[2] && near[3] < whole[3];
    const pointer = (type, x, y) => id("canvas").dispatchEvent(
      new PointerEvent(type, {pointerId: 1, clientX: x, clientY: y, bubbles: true}));
    id("canvas").setPointerCapture = () => {};
    pointer("pointerdown", 500, 400); pointer("pointermove", 560, 400); pointer("pointerup", 560, 400);
    const moved = view();
    result.panned = [Math.sign(moved[0] - near[0]), moved[1] === near[1]];
    document.dispatchEvent(new KeyboardEvent("keydown", {key: "0", bubbles: true}));
    result.fitted = view()[2] === whole[2];
  )js");
  EXPECT_LT(result["begin"], 120) << "as many as can be read on one screen";
  EXPECT_EQ(result["found"], "1 of 1");
  EXPECT_EQ(result["title"], "bert.encoder.layer.7.attention.self.query");
  EXPECT_NEAR(result["apart"][0], 0, 1e-3);
  EXPECT_NEAR(result["apart"][1], 0, 1e-3);
  EXPECT_TRUE(result["counts"][0].get<std::string>().starts_with("1 of ")) << result;
  EXPECT_TRUE(result["counts"][1].get<std::string>().starts_with("2 of ")) << result;
  EXPECT_EQ(result["none"], "none");
  EXPECT_EQ(result["closer"], true);
  EXPECT_EQ(result["panned"][0], -1);
  EXPECT_EQ(result["panned"][1], true);
  EXPECT_EQ(result["fitted"], true);
}

// Boxes of one module never overlap, whichever modules are open.
TEST(DrawingPage, HasRoomForEveryBox) {
  const Json result = after(drawing_page(small_bert(3), {.title = "three", .depth = 4}), R"js(
    const overlaps = () => {
      const all = [...document.querySelectorAll(".box > rect")].map(rect =>
        ["x", "y", "width", "height"].map(name => Number(rect.getAttribute(name))));
      let count = 0;
      all.forEach(([x, y, w, h], i) => all.slice(i + 1).forEach(([u, v, a, b]) => {
        if (x < u + a && u < x + w && y < v + b && v < y + h) ++count;
      }));
      return [all.length, count];
    };
    result.some = overlaps();
    click(id("unfold"));
    result.all = overlaps();
  )js");
  EXPECT_EQ(result["some"][1], 0);
  EXPECT_EQ(result["all"][1], 0);
  EXPECT_GT(result["all"][0], result["some"][0]);
}

}  // namespace
}  // namespace hone::testing
