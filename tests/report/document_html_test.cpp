#include "hone/report/document.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <regex>

namespace hone {
namespace {

constexpr std::string_view kDrawing =
    "<svg width=\"9\" viewBox=\"0 0 9 9\"><circle id='dot'/><use xlink:href='#dot'/></svg>";

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

std::string html_of(const Block& block) {
  const std::string html = to_html({.title = "t", .headline = "h", .sections = {{"s", {block}}}});
  const std::size_t begin = html.find("<h2>s</h2>\n") + 11;
  return html.substr(begin, html.find("</section>") - begin);
}

Table sizes() {
  Table table({{"format", "Format"}, {"accuracy", "Accuracy (%)"}, {"why", "Why"}});
  table.add_row({"mxint(bits=8)", percent(0.838), "bold"});
  table.add_row({"<fp32>", absent, "a text that is longer than a line of a table ought to be"});
  return table;
}

TEST(DocumentHtml, BeginsWithTheResult) {
  const std::string html = to_html({.title = "my-model <8 bits>",
                                    .headline = "No difference & so on",
                                    .subtitle = "now",
                                    .sections = {}});
  EXPECT_TRUE(
      html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">"));
  EXPECT_NE(html.find("<title>my-model &lt;8 bits&gt;</title>"), std::string::npos);
  EXPECT_NE(html.find("<h1>No difference &amp; so on</h1>"), std::string::npos);
  EXPECT_EQ(count(html, "<h1"), 1);
  EXPECT_NE(html.find("<p class=\"subtitle\">now</p>"), std::string::npos);
  EXPECT_NE(html.find("name=\"viewport\""), std::string::npos);
}

TEST(DocumentHtml, HasKeyFiguresAndEvidenceInItsHeader) {
  const std::string html = to_html({.title = "t",
                                    .headline = "h",
                                    .key_figures = {{"Size", "2 → 1 MiB"}},
                                    .evidence = "n = 10."});
  const std::string header = html.substr(0, html.find("</header>"));
  EXPECT_NE(header.find("<div><dt>Size</dt><dd>2 → 1 MiB</dd></div>"), std::string::npos) << header;
  EXPECT_NE(header.find("<p>n\u00A0=\u00A010.</p>"), std::string::npos) << header;
}

TEST(DocumentHtml, ShowsOfAVeryLongTitleItsEnds) {
  std::string title = "hone runs";
  for (int i = 0; i < 200; ++i) title += fmt::format(" run-{}/", i);
  const std::string html = to_html({.title = title, .headline = "h", .sections = {}});
  const std::size_t begin = html.find("<p class=\"title\">") + 17;
  const std::string shown = html.substr(begin, html.find("</p>") - begin);
  EXPECT_LT(shown.size(), 310u);
  EXPECT_TRUE(shown.starts_with("hone runs run-0/")) << shown;
  EXPECT_TRUE(shown.ends_with("run-199/")) << shown;
}

TEST(DocumentHtml, NeedsNothingBesideItself) {
  Document page{.title = "t", .headline = "h", .sections = {}};
  page.sections.push_back(
      {"all", {PageTable{sizes()}, PageFigure{std::string(kDrawing), "", "d"}}});
  const std::string html = to_html(page);
  for (const char* reference : {"<script ", "<link", "src=", "url(", "@import", "http:", "https:"})
    EXPECT_EQ(html.find(reference), std::string::npos) << reference;
  EXPECT_EQ(count(html, "<script>"), 1) << "the one that sorts and tells points";
}

TEST(DocumentHtml, ClosesWhatItOpens) {
  Document page{.title = "t", .headline = "h", .sections = {}};
  page.sections.push_back({"all",
                           {Paragraph{"p"}, Facts{{{"n", "v"}}}, PageTable{sizes(), "c"},
                            PageFigure{std::string(kDrawing), std::string(kDrawing), "d", "c"},
                            ChangedTexts{{{"t", "a", "a", "b"}}}, Preformatted{"x"}}});
  page.sections.push_back({"folded", {Paragraph{"p"}}, /*folded=*/true});
  const std::string html = to_html(page);
  std::vector<std::string> open;
  const std::regex tag("<(/?)([a-z0-9]+)[^>]*?(/?)>");
  for (std::sregex_iterator it(html.begin(), html.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (name == "meta" || name == "wbr" || (*it)[3] == "/") continue;
    if ((*it)[1] != "/") {
      open.push_back(name);
    } else {
      ASSERT_FALSE(open.empty()) << name;
      EXPECT_EQ(open.back(), name);
      open.pop_back();
    }
  }
  EXPECT_TRUE(open.empty());
}

TEST(DocumentHtml, EscapesTextEverywhere) {
  Document page{.title = "<&>", .headline = "<&>", .subtitle = "<&>", .sections = {}};
  Table table(std::vector<Column>{{"key", "<&>"}});
  table.add_row({"<&>"});
  page.sections.push_back({"<&>",
                           {Paragraph{"<&>"}, Facts{{{"<&>", "<&>"}}}, PageTable{table, "<&>"},
                            PageFigure{std::string(kDrawing), "", "<&>", "<&>"},
                            ChangedTexts{{{"<&>", "<&>", "<&>", "<&>"}}}, Preformatted{"<&>"}}});
  const std::string html = to_html(page);
  EXPECT_EQ(html.find("<&"), std::string::npos);
  EXPECT_EQ(count(html, "&lt;&amp;&gt;"), 19);
}

TEST(DocumentHtml, TableHasHeadersAndAlignsNumbers) {
  const std::string html = html_of(PageTable{sizes(), "On 9 texts"});
  for (const char* part :
       {"<caption><span>On 9 texts</span></caption>", "<th scope=\"col\">Format</th>",
        "<th scope=\"col\" class=\"number\">Accuracy (%)</th>",
        "<th scope=\"row\">mxint(<wbr>bits=8)</th><td data-label=\"Accuracy (%)\" class=\"number\" "
        "data-value=\"0.838\">83.8%</td>",
        "class=\"number absent\">–</td><td data-label=\"Why\" class=\"long\">a text that",
        "role=\"region\" tabindex=\"0\" aria-label=\"On 9 texts\""})
    EXPECT_NE(html.find(part), std::string::npos) << part << " in\n" << html;
}

TEST(DocumentHtml, NumbersThatNameRowsSayOfWhat) {
  Table table({{"sparsity", "Sparsity"}, {"accuracy", "Accuracy"}});
  table.add_row({real(0.5, 1), percent(0.8)});
  const std::string html = html_of(PageTable{table, ""});
  EXPECT_NE(html.find("<th scope=\"row\" data-label=\"Sparsity\" class=\"number\""),
            std::string::npos)
      << html;
}

Table wide_comparison() {
  Table table({{"model", "Model"},
               {"accuracy", "Accuracy"},
               {"flips", "Flips"},
               {"p", "p"},
               {"verdict", "Verdict"},
               {"arithmetic", "Arithmetic"}});
  table.add_row({"before", percent_within(0.9, 0.8, 0.96), absent, absent, absent, "fp32"});
  for (const char* name : {"a", "b"})
    table.add_row({name, percent_within(0.8, 0.7, 0.9), percent(0.2), p_value(0.04),
                   toned("lost", Tone::bad), "simulated"});
  return table;
}

TEST(DocumentHtml, TablesCanBeSorted) {
  const std::string html = html_of(PageTable{wide_comparison()});
  EXPECT_EQ(count(html, "data-value=\"0.8\""), 2) << html;
  EXPECT_EQ(count(html, "data-value=\"0.04\""), 2) << "the number, not what is shown";
}

// Sorted as text it would follow every number in either order.
TEST(DocumentHtml, SortsSharesOfAFewSeedsByTheirMean) {
  Table table({{"model", "Model"}, {"accuracy", "Accuracy"}});
  table.add_row({"a", percent(0.5)});
  table.add_row({"b", PerRun{{0.25, 0.75}}});
  const std::string html = html_of(PageTable{table});
  EXPECT_NE(html.find("data-value=\"0.5\">25.0, <wbr>75.0%"), std::string::npos) << html;
}

TEST(DocumentHtml, WideTablesAreCardsOnAPhone) {
  const std::string html = html_of(PageTable{wide_comparison()});
  EXPECT_EQ(count(html, "<table class=\"cards\">"), 1);
  EXPECT_EQ(count(html, "data-label=\"Flips\""), 3) << "each figure has its name with it";
  EXPECT_EQ(count(html_of(PageTable{sizes()}), "<table class=\"cards\">"), 0);
}

TEST(DocumentHtml, BreaksNoLineWithinAFigureOrAFlag) {
  const std::string html = html_of(Paragraph{"test, n = 4,000: 62.5% of them"});
  EXPECT_EQ(html, "<p>test, n\u00A0=\u00A04,000: 62.5% of them</p>\n");
  EXPECT_EQ(html_of(Paragraph{"minifloat_denorm(width=8,exponent_width=4) of 0.5"}),
            "<p>minifloat_<wbr>denorm(<wbr>width=8,<wbr>exponent_<wbr>width=4) of 0.5</p>\n");
  Table table({{"a", "A"}, {"b", "B"}});
  table.add_row({"bert.layer.0", "91.82% (95% CI 90.1 to 93.4)"});
  EXPECT_NE(html_of(PageTable{table}).find(">91.82% (95% CI 90.1 to 93.4)</td>"), std::string::npos)
      << html_of(PageTable{table});
  EXPECT_EQ(html_of(Preformatted{"hone eval my-model\n  --data a.csv"}),
            "<pre>hone eval <span>my-model</span>\n  <span>--data</span> a.csv</pre>\n");
}

TEST(DocumentHtml, GivesWideTablesRoom) {
  std::vector<Column> columns = {{"format", "Format"}};
  std::vector<Cell> row = {"integer(width=8,frac=4)"};
  for (const char* header : {"McNemar p", "Margin SNR (dB)", "Weights (dB)", "eval_steps"}) {
    columns.push_back({header, header});
    row.push_back(flips_within(0.0015, 0.0005, 0.0044));
  }
  Table narrow(columns);
  narrow.add_row(row);
  const std::string html = html_of(PageTable{narrow});
  for (const char* part :
       {">McNemar\u00A0p</th>", ">Margin SNR\u00A0(dB)</th>", ">Weights (dB)</th>",
        ">eval_<wbr>steps</th>", "integer(<wbr>width=8,<wbr>frac=4)",
        ">0.15% <wbr>(0.05\u00A0to 0.44)</td>"})
    EXPECT_NE(html.find(part), std::string::npos) << part << " in\n" << html;
  EXPECT_EQ(count(html, "dense"), 0);
  for (const char* key : {"f", "g", "h", "i", "j"}) {
    columns.push_back({key, key});
    row.push_back(1);
  }
  Table wide(columns);
  wide.add_row(row);
  EXPECT_EQ(count(html_of(PageTable{wide}), "<table class=\"cards dense\">"), 1);
  for (const char* key : {"k", "l", "m", "n", "o"}) {
    columns.push_back({key, key});
    row.push_back(1);
  }
  Table wider(columns);
  wider.add_row(row);
  EXPECT_EQ(count(html_of(PageTable{wider}), "<table class=\"cards dense crowded\">"), 1);
}

// The table is as wide as nine columns of intervals.
TEST(DocumentHtml, OfWideCellsTheTextIsSmallerToo) {
  std::vector<Column> columns = {{"model", "Model"}};
  std::vector<Cell> row = {"as transformers computes it"};
  for (const char* key : {"a", "b", "c", "d", "e"}) {
    columns.push_back({key, key});
    row.push_back(percent_within(0.05, 0.02, 0.12));
  }
  const auto table_of = [&] {
    Table table(columns);
    table.add_row(row);
    return html_of(PageTable{table});
  };
  EXPECT_EQ(count(table_of(), "dense"), 0);
  columns.push_back({"f", "f"});
  row.push_back(percent_within(0.05, 0.02, 0.12));
  EXPECT_EQ(count(table_of(), "<table class=\"cards dense\">"), 1);
}

TEST(DocumentHtml, CardsLeaveOutWhatWasNotMeasured) {
  EXPECT_EQ(count(html_of(PageTable{wide_comparison()}), "class=\"number absent\""), 2);
  const std::string page = to_html({.title = "t", .headline = "h", .sections = {}});
  EXPECT_EQ(count(page, ".cards td.absent{display:none}"), 1);
}

TEST(DocumentHtml, KeepsColumnsThatAreTheSameInAllRowsAndColoursVerdicts) {
  const std::string html = html_of(PageTable{wide_comparison()});
  EXPECT_EQ(count(html, ">simulated<"), 2) << html;
  EXPECT_EQ(count(html, "class=\"bad\">lost</td>"), 2);
}

TEST(DocumentHtml, FiguresHaveIdsOfTheirOwn) {
  Document page{.title = "t", .headline = "h", .sections = {}};
  page.sections.push_back(
      {"a", {PageFigure{std::string(kDrawing), std::string(kDrawing), "a curve", "c"}}});
  page.sections.push_back({"b", {PageFigure{std::string(kDrawing), "", "another"}}});
  const std::string html = to_html(page);
  for (const char* id : {"figure-1-dot", "figure-2-dot", "figure-3-dot"})
    EXPECT_EQ(count(html, fmt::format("id='{}'", id)), 1) << id;
  EXPECT_EQ(count(html, "aria-label=\"a curve\""), 2);
  EXPECT_EQ(count(html, "<div class=\"wide\">"), 1);
  EXPECT_EQ(count(html, "<div class=\"narrow\">"), 1);
  EXPECT_EQ(count(html, "<div class=\"only\">"), 1);
  EXPECT_EQ(count(html, "<figcaption>"), 1);
}

TEST(DocumentHtml, ChangedTextsSayWhoIsRight) {
  const std::string html = html_of(ChangedTexts{{{"one", "good", "good", "bad"},
                                                 {"two", "bad", "good", "bad"},
                                                 {"three", "bad", "good", "mixed"}}});
  for (const char* part :
       {"<b>good → bad</b> <span class=\"worse\">correct → wrong</span>; the label is good",
        "<span class=\"better\">wrong → correct</span>; the label is bad",
        "<b>good → mixed</b> <span class=\"wrong\">wrong before and after</span>",
        "<blockquote>three</blockquote>"})
    EXPECT_NE(html.find(part), std::string::npos) << part << " in\n" << html;
}

TEST(DocumentHtml, FoldsSectionsAndLeavesEmptyOnesOut) {
  const std::string html =
      to_html({.title = "t",
               .headline = "h",
               .sections = {{"Settings", {Paragraph{"p"}}, /*folded=*/true}, {"Nothing", {}}}});
  EXPECT_NE(html.find("<details>\n<summary><h2>Settings</h2></summary>\n<p>p</p>\n</details>"),
            std::string::npos);
  EXPECT_EQ(html.find("Nothing"), std::string::npos);
}

TEST(DocumentHtml, AnswersItsQuestionAndThoseOfOtherPages) {
  const Document document = {
      .title = "t",
      .question = "Which <width>?",
      .headline = "8 bits",
      .sections = {{"Reports", {Chapters{{{"lab/9/report.html", "Lab 9 & more", "Why?", "so"}}}}}}};
  const std::string html = to_html(document);
  EXPECT_LT(html.find("Which &lt;width&gt;?"), html.find("<h1>8 bits</h1>"));
  EXPECT_NE(html.find("<a href=\"lab/9/report.html\">Lab 9 &amp; more</a>"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"question\">Why?</p><p>so</p>"), std::string::npos);
  EXPECT_EQ(count(html, "<h1"), 1);
  EXPECT_NE(to_markdown(document).find("[Lab 9 & more](lab/9/report.html)"), std::string::npos);
  EXPECT_TRUE(to_text(document).starts_with("Which <width>?\n8 bits\n"));
}

}  // namespace
}  // namespace hone
