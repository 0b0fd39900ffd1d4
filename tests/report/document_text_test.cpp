#include <gtest/gtest.h>

#include "hone/report/document.h"

namespace hone {
namespace {

Document small_document() {
  Table table({{"model", "Model"}, {"accuracy", "Accuracy"}});
  table.add_row({"a_b|c", percent(0.9)});
  Document document{.title = "my-model, 8 bits", .headline = "2× smaller"};
  document.key_figures = {{"Size", "2 MiB → 1 MiB"}, {"Accuracy", "90.0%"}};
  document.evidence = "Measured on 10 examples.";
  document.sections = {
      {"", {PageTable{table, "Test split."}}},
      {"Figure",
       {PageFigure{.svg = "<svg/>", .narrow_svg = "", .description = "a dot", .file = "dots.svg"}}},
      {"Details", {Paragraph{"Folded away."}}, /*folded=*/true},
      {"Texts",
       {ChangedTexts{
           {{.text = "one\ntwo", .label = "good", .baseline = "good", .candidate = "bad"}}}}}};
  document.notes = {"a note"};
  document.next = {{"Predict with it", "hone predict out text"}};
  document.output = "out";
  return document;
}

TEST(DocumentText, BeginsWithHeadlineKeyFiguresAndEvidence) {
  EXPECT_TRUE(to_text(small_document())
                  .starts_with("2× smaller\nSize 2 MiB → 1 MiB · Accuracy 90.0%\nMeasured on 10 "
                               "examples.\n\nTest split.\n\n"
                               "Model  Accuracy\n"))
      << to_text(small_document());
}

TEST(DocumentText, LeavesOutWhatIsFoldedAndFigures) {
  const std::string text = to_text(small_document());
  for (const char* word : {"Folded", "Details", "Figure", "a note", "<svg"})
    EXPECT_EQ(text.find(word), std::string::npos) << word;
}

TEST(DocumentText, ShowsAChangedExampleOnOneLine) {
  EXPECT_NE(to_text(small_document()).find("good → bad   good   one two"), std::string::npos)
      << to_text(small_document());
}

TEST(DocumentText, EndsWithTheFolderAndTheNextCommands) {
  EXPECT_TRUE(
      to_text(small_document())
          .ends_with(
              "\nWritten to out; details in out/report.html\n\nNext:\n  hone predict out text\n"))
      << to_text(small_document());
}

TEST(DocumentMarkdown, HasTheSameAndFoldedSectionsLast) {
  EXPECT_EQ(to_markdown(small_document()), R"(# my-model, 8 bits

**2× smaller**

Size 2 MiB → 1 MiB · Accuracy 90.0%

Measured on 10 examples.

Test split.

| Model | Accuracy |
|---|---:|
| a_b\|c | 90.0% |

## Figure

![a dot](dots.svg)

## Texts

- **good → bad** (label: good): one two

## Next

Predict with it:

```
hone predict out text
```

## Notes

- a note

## Details

Folded away.
)");
}

TEST(DocumentMarkdown, MarksNothingThatATextHolds) {
  const Document document{.title = "*a* `b` [c] <d> # e", .headline = "_x_"};
  EXPECT_EQ(to_markdown(document), "# \\*a\\* \\`b\\` \\[c\\] \\<d> # e\n\n**\\_x\\_**\n");
}

}  // namespace
}  // namespace hone
