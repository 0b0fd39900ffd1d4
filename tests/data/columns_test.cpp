#include "hone/data/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "tests/support/expect.h"

namespace hone {
namespace {

using Names = std::vector<std::string>;
using Columns = std::vector<DataColumn>;

struct Chosen {
  ColumnChoice columns;
  Names notes;
};
Chosen choose(const Columns& columns, const DataOptions& options = {}) {
  Chosen chosen;
  chosen.columns = choose_columns(columns, options, chosen.notes);
  return chosen;
}

TEST(Columns, TextAndLabelNeedNoWords) {
  const Chosen chosen = choose({{"label"}, {"comment"}, {"text"}});
  EXPECT_EQ(chosen.columns.text, "text");
  EXPECT_EQ(chosen.columns.labels.at(0), "label");
  EXPECT_EQ(chosen.columns.text_pair, "");
  EXPECT_TRUE(chosen.notes.empty());
}

TEST(Columns, HaveOtherUsualNamesInAnyCase) {
  const Chosen chosen = choose({{"idx", false}, {"Sentence"}, {"Target"}, {"tweet"}});
  EXPECT_EQ(chosen.columns.text, "Sentence");
  EXPECT_EQ(chosen.columns.labels.at(0), "Target");
  EXPECT_EQ(chosen.notes, (Names{"the text is column 'Sentence'", "the label is column 'Target'"}));
}

TEST(Columns, TheOnlyWordsAreTheText) {
  EXPECT_EQ(choose({{"id", false}, {"body"}, {"label"}}).columns.text, "body");
  EXPECT_EQ(choose({{"id", false}, {"body"}, {"label"}}).notes,
            (Names{"the text is column 'body'"}));
  expect_user_error(
      "which column is the text? None is called text, sentence, review, content, "
      "comment, tweet; name it by `text_column`, and the second texts of pairs by "
      "`text_pair_column`; the columns are: 'title', 'body', 'label'",
      [] {
        choose({{"title"}, {"body"}, {"label"}});
      });
}

TEST(Columns, TheLabelMustBeFoundUnlessNotWanted) {
  expect_user_error(
      "which column is the label? None is called label, labels, class, target, "
      "sentiment, category, stars; name it by `label_column`; the columns are: 'text', "
      "'score'",
      [] {
        choose({{"text"}, {"score", false}});
      });
  EXPECT_EQ(choose({{"text"}, {"score", false}}, {.source = "", .labelled = false}).columns.labels,
            Names{});
}

TEST(Columns, NamedOnesMustBeThere) {
  const Columns columns = {{"text"}, {"label"}};
  expect_user_error("no column 'texts'; the columns are: 'text', 'label'; did you mean 'text'?",
                    [&] { choose(columns, {.source = "", .text_column = "texts"}); });
  expect_user_error("no column 'y'; the columns are: 'text', 'label'",
                    [&] { choose(columns, {.source = "", .label_column = "y"}); });
  expect_user_error("no column 'b'",
                    [&] { choose(columns, {.source = "", .text_pair_column = "b"}); });
}

TEST(Columns, MustDiffer) {
  expect_user_error("which column is the label?", [] {
    choose({{"text"}, {"label"}}, {.source = "", .text_column = "label"});
  });
  expect_user_error("text 'label', second text '' and label 'label' must be different columns", [] {
    choose({{"text"}, {"label"}}, {.source = "", .text_column = "label", .label_column = "label"});
  });
  expect_user_error(
      "there are two columns 'text'; rename one; the columns are: 'text', 'label', 'text'", [] {
        choose({{"text"}, {"label"}, {"text"}});
      });
  EXPECT_EQ(choose({{"text"}, {"note"}, {"label"}, {"note"}}).columns.text, "text")
      << "a column that nobody reads may be there twice";
}

TEST(Columns, FindTheFirstTextOfAPair) {
  EXPECT_EQ(choose({{"question"}, {"sentence"}, {"label"}},
                   {.source = "", .text_pair_column = "sentence"})
                .columns.text,
            "question");
  EXPECT_EQ(choose({{"sentence1"}, {"sentence2"}, {"label"}},
                   {.source = "", .text_pair_column = "sentence2"})
                .columns.text,
            "sentence1");
  EXPECT_EQ(choose({{"reply"}, {"text"}, {"label"}}, {.source = "", .text_pair_column = "reply"})
                .columns.text,
            "text");
}

TEST(Columns, WithNamesOfPairsAreReadAsPairs) {
  const std::pair<const char*, const char*> names[] = {
      {"text", "text_pair"},    {"text", "text2"},          {"text_a", "text_b"},
      {"question", "sentence"}, {"sentence1", "sentence2"}, {"Premise", "Hypothesis"},
      {"question", "passage"},  {"query", "document"},      {"sentence A", "sentence B"}};
  for (const auto& [first, second] : names) {
    const Chosen chosen = choose({{second}, {"label"}, {first}});
    EXPECT_EQ(chosen.columns.text, first);
    EXPECT_EQ(chosen.columns.text_pair, second);
    ASSERT_EQ(chosen.notes.size(), 1u) << first;
    EXPECT_NE(chosen.notes[0].find(fmt::format("'{}' and '{}'", first, second)), std::string::npos);
  }
  const Chosen single =
      choose({{"question"}, {"sentence"}, {"label"}}, {.source = "", .text_column = "sentence"});
  EXPECT_EQ(single.columns.text, "sentence");
  EXPECT_EQ(single.columns.text_pair, "");
  EXPECT_EQ(choose({{"question"}, {"answer"}}, {.label_column = "answer"}).columns.text_pair, "");
  EXPECT_EQ(choose({{"text"}, {"text2", /*is_text=*/false}, {"label"}}).columns.text_pair, "")
      << "numbers are no second text";
}

// SNLI has three hypotheses for every premise, and template-based hypotheses repeat as well.
TEST(Columns, OfPairsMayRepeat) {
  const auto repeats = [](const char* name) { return DataColumn{.name = name, .repeats = true}; };
  const Chosen snli = choose({repeats("premise"), repeats("hypothesis"), {"label"}});
  EXPECT_EQ(snli.columns.text, "premise");
  EXPECT_EQ(snli.columns.text_pair, "hypothesis");
  const Chosen texts = choose({repeats("text"), {"text_pair"}, {"label"}});
  EXPECT_EQ(texts.columns.text_pair, "text_pair");
  EXPECT_EQ(choose({{"text"}, repeats("context"), {"label"}}).columns.text_pair, "")
      << "that may be there for another purpose";
}

TEST(Columns, ThatMayBePairsAreAskedFor) {
  const auto asks = [](const Columns& columns, const std::string& option) {
    expect_user_error(option, [&] { choose(columns); });
  };
  asks({{"sentence"}, {"context"}, {"label"}},
       "`text_column` sentence `text_pair_column` context; for single texts `text_column` alone");
  asks({{"text"}, {"premise"}, {"hypothesis"}, {"label"}},
       "`text_column` premise `text_pair_column` hypothesis");
  asks({{"question1"}, {"question2"}, {"q1"}, {"q2"}, {"label"}},
       "`text_column` question1 `text_pair_column` question2 or `text_column` q1");
}

// A model trained on single texts gets no pairs.
TEST(Columns, AreSingleTextsWhereTheModelWasTrainedOnThose) {
  const Chosen chosen = choose({{"text"}, {"text_pair"}, {"label"}},
                               {.remembered = {.text = "text", .label = "label"}});
  EXPECT_EQ(chosen.columns.text_pair, "");
  EXPECT_EQ(chosen.notes, Names{"the text is column 'text', as when the model was trained"});
}

TEST(Columns, WithoutNamesAreToldByWhatTheyHold) {
  const DataColumn label{.name = "0", .repeats = true, .named = false, .first_value = "ham"},
      text{.name = "1", .named = false, .first_value = "see you"},
      number{.name = "2", .is_text = false, .named = false, .first_value = "17"};
  const Chosen chosen = choose({label, text});
  EXPECT_EQ(chosen.columns.text, "1");
  EXPECT_EQ(chosen.columns.labels, Names{"0"});
  EXPECT_EQ(choose({label, text, number}).columns.labels, Names{"0"})
      << "the only one of few values";
  expect_user_error("the columns are: '1' (first: 'see you'), '1' (first: 'see you')", [&] {
    choose({text, text});
  });
}

// The columns of the model's training take precedence over usual names, and flags over both.
TEST(Columns, AreThoseRememberedUnlessNamed) {
  const std::vector<DataColumn> columns = {
      {"text", true}, {"review", true}, {"label", false}, {"stars", false}};
  Names notes;
  const auto chosen = [&](const DataOptions& options) {
    notes.clear();
    const ColumnChoice choice = choose_columns(columns, options, notes);
    return fmt::format("{} {} {}", choice.text, choice.text_pair, fmt::join(choice.labels, ","));
  };
  const NamedColumns known = {"review", "", "stars"};
  EXPECT_EQ(chosen({.remembered = known}), "review  stars");
  EXPECT_EQ(notes, Names{"the text is column 'review', the label 'stars', as when the model was "
                         "trained"});
  EXPECT_EQ(chosen({.text_column = "text", .remembered = known}), "text  stars");
  EXPECT_EQ(notes, Names{"the label is column 'stars', as when the model was trained"});
  EXPECT_EQ(chosen({.text_column = "text", .label_column = "label", .remembered = known}),
            "text  label");
  EXPECT_EQ(notes, Names{});
  EXPECT_EQ(chosen({.label_column = "review", .remembered = known}), "text  review");
  EXPECT_EQ(chosen({.remembered = {"gone", "", "lost"}}), "text  label");
  EXPECT_EQ(notes,
            (Names{"the text is column 'text', as 'gone', which the model was trained on, is "
                   "missing",
                   "the label is column 'label', as 'lost', which the model was trained on, "
                   "is missing"}));
  EXPECT_EQ(chosen({.remembered = {"review", "text", "stars"}}), "review text stars");
  EXPECT_EQ(chosen({.remembered = {"text", "", "label"}}), "text  label");
  EXPECT_EQ(notes, Names{}) << "what would be taken anyway";
  EXPECT_EQ(chosen({.remembered = {"review", "gone", ""}}), "text  label")
      << "both texts of a pair or none";
  EXPECT_EQ(choose_shown_columns(columns, {.remembered = known}, notes).gold, "stars");
}

TEST(Columns, AreGuessedWhereOthersMayBeMeant) {
  const DataColumn text{"text"}, comment{"comment"}, reply{"summary"},
      stars{.name = "stars", .is_text = false, .repeats = true},
      topic{.name = "topic", .is_text = true, .repeats = true},
      price{.name = "price", .is_text = false};
  const auto guessed = [](const Columns& columns, const DataOptions& options = {}) {
    return choose(columns, options).columns.guessed;
  };
  EXPECT_EQ(guessed({text, stars, topic}),
            "the label column was guessed: stars; `label_column` names another");
  EXPECT_EQ(guessed({comment, reply, stars, price}),
            "the text column was guessed: comment; `text_column` names another");
  EXPECT_EQ(guessed({text, stars, price}), "") << "no other column repeats few values";
  EXPECT_EQ(guessed({text, stars, topic}, {.label_column = "stars"}), "");
  EXPECT_EQ(guessed({text, stars, topic}, {.remembered = {"text", "", "stars"}}), "");
}

TEST(Columns, OfLabelsMayBeSeveral) {
  const std::vector<DataColumn> columns = {{"text"}, {"a", false}, {"b", false}, {"a,b", false}};
  Names notes;
  const auto labels = [&](DataOptions options) {
    return choose_columns(columns, options, notes).labels;
  };
  EXPECT_EQ(labels({.label_column = "b, a"}), (Names{"b", "a"}));
  EXPECT_EQ(labels({.label_column = "a,b"}), Names{"a,b"}) << "the name of one";
  EXPECT_EQ(labels({.remembered = {"", "", "b,a"}}), (Names{"b", "a"}));
  expect_user_error("no column 'c'", [&] { labels({.label_column = "b,c"}); });
  expect_user_error("text 'text', second text '' and label 'b,text' must be different columns",
                    [&] { labels({.text_column = "text", .label_column = "b,text"}); });
  expect_user_error("no column 'b,a'",
                    [&] { labels({.label_column = "b,a", .task = Task::single_label}); });
  EXPECT_EQ(choose_shown_columns(columns, {.label_column = "b,a"}, notes).golds, (Names{"b", "a"}));
  notes.clear();
  EXPECT_EQ(choose_shown_columns(columns, {.remembered = {"", "", "b,a"}}, notes).golds,
            (Names{"b", "a"}));
  EXPECT_EQ(notes, Names{"the label is column 'b,a', as when the model was trained"});
}

TEST(ChooseShownColumns, NeedsNoLabels) {
  std::vector<std::string> notes;
  const auto choose = [&](const std::vector<DataColumn>& columns, DataOptions options = {}) {
    const ColumnChoice c = choose_shown_columns(columns, options, notes);
    return c.text + "|" + (c.labels.empty() ? "" : c.labels[0]) + "|" + c.gold + "|" + c.id;
  };
  EXPECT_EQ(choose({{"text"}}), "text|||");
  EXPECT_EQ(choose({{"ID", false}, {"text"}, {"stars", false}}), "text||stars|ID");
  EXPECT_EQ(choose({{"id"}, {"text"}, {"label"}, {"mine"}, {"key"}},
                   {.label_column = "mine", .id_column = "key"}),
            "text||mine|key");
  // A text column named like a label is not the label.
  EXPECT_EQ(choose({{"class"}}, {.text_column = "class"}), "class|||");
}

}  // namespace
}  // namespace hone
