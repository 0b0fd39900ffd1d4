#include "hone/jobs/pipeline/pipeline_file.h"

#include <gtest/gtest.h>

#include "hone/jobs/pipeline/pipeline_values.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

// The roles of the commands in these pipelines.
const StageKinds kKinds = {{"compare", {.compares = true}},
                           {"choose", {.choice_argument = "MODELS"}},
                           {"search", {.searches = true}}};

Pipeline parse(const std::string& text, const std::map<std::string, std::string>& given = {}) {
  return parse_pipeline(text, "chain.toml", kKinds, given);
}

std::vector<std::string> names_of(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const PipelineStage& stage : pipeline.stages) names.push_back(stage.name);
  return names;
}

const PipelineStage& stage_of(const Pipeline& pipeline, const std::string& name) {
  for (const PipelineStage& stage : pipeline.stages)
    if (stage.name == name) return stage;
  throw InternalError("no stage " + name);
}

// Returns the options of a stage as text: "a=1 b={full}/native".
std::string options_of(const Pipeline& pipeline, const std::string& name) {
  std::string text;
  for (const StageOption& option : stage_of(pipeline, name).options) {
    if (!text.empty()) text += " ";
    text += option.name + "=";
    if (option.flag) text += *option.flag ? "yes" : "no";
    for (std::size_t i = 0; i < option.values.size(); ++i) {
      const StageValue& value = option.values[i];
      text += (i == 0 ? "" : ",") + value.prefix;
      if (value.stage) text += "{" + pipeline.stages[*value.stage].name + "}" + value.suffix;
    }
  }
  return text;
}

using Names = std::vector<std::string>;

TEST(PipelineFile, HasStagesInTheOrderOfTheirNeeds) {
  const Pipeline pipeline = parse(R"toml(
[stage.last]
run = "eval"
MODEL = "{middle}"
[stage.middle]
run = "quantize"
MODEL = "{first}"
[stage.first]
run = "train"
MODEL = "tiny"
)toml");
  EXPECT_EQ(names_of(pipeline), (Names{"first", "middle", "last"}));
  EXPECT_EQ(options_of(pipeline, "last"), "MODEL={middle}");
  EXPECT_EQ(stage_of(pipeline, "last").dependencies, (std::vector<std::size_t>{1}));
  EXPECT_EQ(stage_of(pipeline, "middle").line, 5);
}

TEST(PipelineFile, PutsSettingsIntoValues) {
  const std::string text = R"toml(
[settings]
data = "reviews.csv"
steps = 20
rate = 5e-4
quietly = true
[common]
data = "{data}"
[stage.full]
run = "train"
max_steps = "{steps}"
lr = "{rate}"
no_shuffle = "{quietly}"
lora = "r={steps},{{x}}"
)toml";
  EXPECT_EQ(options_of(parse(text), "full"),
            "max_steps=20 lr=0.0005 no_shuffle=yes lora=r=20,{x} data=reviews.csv");
  EXPECT_EQ(
      options_of(parse(text, {{"data", "mine.csv"}, {"steps", "7"}, {"quietly", "false"}}), "full"),
      "max_steps=7 lr=0.0005 no_shuffle=no lora=r=7,{x} data=mine.csv");
  EXPECT_EQ(parse(text, {{"steps", "7"}}).settings.at("steps"), "7");
}

TEST(PipelineFile, LoopsOverLists) {
  const Pipeline pipeline = parse(R"toml(
[settings]
pairs = [{ width = 4, fraction = 2 }, { width = 8, fraction = 4 }]
[stage.full]
run = "train"
[stage.ptq]
each = "{pairs}"
run = "quantize"
MODEL = "{full}"
format = "integer(width={width},frac={fraction})"
[stage.cut]
each = { method = ["l1", "random"], share = [0.1, 0.9] }
run = "prune"
MODEL = "{full}"
method = "{method}"
sparsity = "{share}"
)toml");
  EXPECT_EQ(names_of(pipeline), (Names{"full", "ptq/4-2", "ptq/8-4", "cut/l1-0.1", "cut/l1-0.9",
                                       "cut/random-0.1", "cut/random-0.9"}));
  EXPECT_EQ(options_of(pipeline, "ptq/8-4"), "MODEL={full} format=integer(width=8,frac=4)");
  EXPECT_EQ(options_of(pipeline, "cut/random-0.1"), "MODEL={full} method=random sparsity=0.1");
  EXPECT_EQ(stage_of(pipeline, "ptq/8-4").group, "ptq");
}

TEST(PipelineFile, ALoopRefersToItsLikeInAnother) {
  const Pipeline pipeline = parse(R"toml(
[stage.ptq]
each = { width = [4, 8] }
run = "quantize"
[stage.packed]
each = { width = [8, 4], batch = [1, 32] }
run = "pack"
MODEL = "{ptq}/model"
[stage.best]
best_of = ["{ptq}", "{packed}"]
data = "x.csv"
)toml");
  EXPECT_EQ(options_of(pipeline, "packed/8-32"), "MODEL={ptq/8}/model");
  EXPECT_TRUE(stage_of(pipeline, "best").chooses);
  EXPECT_EQ(stage_of(pipeline, "best").command, Names{"choose"});
  EXPECT_EQ(options_of(pipeline, "best"),
            "MODELS={ptq/4},{ptq/8},{packed/8-1},{packed/8-32},{packed/4-1},{packed/4-32} "
            "data=x.csv");
}

TEST(PipelineFile, TheBestOfOneStageIsThatStage) {
  const Pipeline pipeline = parse(R"toml(
[stage.ptq]
each = { width = [4] }
run = "quantize"
[stage.best]
best_of = ["{ptq}"]
)toml");
  EXPECT_TRUE(stage_of(pipeline, "best").chooses);
  EXPECT_EQ(options_of(pipeline, "best"), "MODELS={ptq/4}");
}

TEST(PipelineFile, VariantsTakeThePlaceOfSettings) {
  const std::string text = R"toml(
[settings]
steps = 10
widths = [4]
[variant.paper]
steps = 100
widths = [4, 8]
[stage.a]
each = { width = "{widths}" }
run = "train"
max_steps = "{steps}"
)toml";
  EXPECT_EQ(options_of(parse(text), "a/4"), "max_steps=10");
  const Pipeline paper = parse_pipeline(text, "chain.toml", kKinds, {}, "paper");
  EXPECT_EQ(names_of(paper), (Names{"a/4", "a/8"}));
  EXPECT_EQ(options_of(paper, "a/8"), "max_steps=100");
  EXPECT_EQ(paper.settings.at("steps"), "100");
  EXPECT_EQ(
      options_of(parse_pipeline(text, "chain.toml", kKinds, {{"steps", "7"}}, "paper"), "a/8"),
      "max_steps=7");
  expect_user_error(
      "chain.toml: has no variant 'papers'; its variants are paper; did you mean 'paper'?",
      [&] { parse_pipeline(text, "chain.toml", kKinds, {}, "papers"); });
  expect_user_error("line 6: unknown key 'step' of a variant", [] {
    parse("[settings]\nsteps = 1\n[stage.a]\nrun = \"train\"\n[variant.b]\nstep = 2");
  });
}

TEST(PipelineFile, AStageMayBeThereOnlyWhenNeeded) {
  const std::string text = R"toml(
[settings]
model = "{made}"
[stage.made]
when_needed = true
run = "train"
MODEL = "{basis}"
[stage.basis]
when_needed = true
run = "train"
MODEL = "tiny"
[stage.cut]
run = "prune"
MODEL = "{model}"
[table.accuracy]
by = "stage"
[[table.accuracy.column]]
stages = ["made", "cut"]
y = "after.eval_accuracy"
)toml";
  const Pipeline whole = parse(text);
  EXPECT_EQ(names_of(whole), (Names{"basis", "made", "cut"}));
  EXPECT_EQ(options_of(whole, "cut"), "MODEL={made}");
  EXPECT_EQ(whole.tables.at(0).columns.at(0).stages, (std::vector<std::size_t>{1, 2}));
  const Pipeline given = parse(text, {{"model", "mine"}});
  EXPECT_EQ(names_of(given), Names{"cut"});
  EXPECT_EQ(options_of(given, "cut"), "MODEL=mine");
  EXPECT_EQ(given.tables.at(0).columns.at(0).stages, std::vector<std::size_t>{0});
}

TEST(PipelineFile, AMemberOfALoopIsReferredToByItsName) {
  const Pipeline pipeline = parse(R"toml(
[stage.ptq]
each = { width = [4, 8] }
run = "quantize"
[stage.packed]
run = "pack"
MODEL = "{ptq/8}"
[picture.graph]
stage = "packed"
file = "graph.svg"
[[published]]
what = "accuracy"
value = "84%"
source = "somebody"
)toml");
  EXPECT_EQ(options_of(pipeline, "packed"), "MODEL={ptq/8}");
  EXPECT_EQ(pipeline.stages[pipeline.pictures.at(0).stage].name, "packed");
  EXPECT_EQ(pipeline.published.at(0).source, "somebody");
}

const std::string kSearches = R"toml(
[settings]
kinds = [{ name = "log", formats = "log(width=[4,8])" }, { name = "int", formats = "int" }]
[stage.search]
each = "{kinds}"
run = "search"
space = """
[[precision]]
formats = ["{formats}"]
[training]
learning_rate = {{ low = 1e-5, high = 1e-3 }}
"""
[stage.best]
best_of = ["{search}/best"]
[stage.last]
run = "eval"
MODEL = "{best}"
)toml";

TEST(PipelineFile, ASettingMaySayTheNameOfItsFolder) {
  const Pipeline pipeline = parse(kSearches);
  EXPECT_EQ(names_of(pipeline), (Names{"search/log", "search/int", "best", "last"}));
  EXPECT_EQ(
      options_of(pipeline, "search/log"),
      "space=[[precision]]\nformats = [\"log(width=[4,8])\"]\n[training]\nlearning_rate = { low "
      "= 1e-5, high = 1e-3 }\n");
  EXPECT_EQ(options_of(pipeline, "best"), "MODELS={search/log}/best,{search/int}/best");
}

TEST(PipelineFile, FiguresMayBeOfTrialsInSeveralPanelsWithReferences) {
  const Pipeline pipeline = parse(kSearches + R"toml(
[figure.trials]
x = "trial"
y = ["value", "average_bits"]
y_label = ["Accuracy", "Bits"]
[[figure.trials.curve]]
stages = "search"
[[figure.trials.curve]]
stages = "search"
per = "name"
[[figure.trials.reference]]
stage = "last"
y = "eval_accuracy"
[table.rows]
rows = "best.configuration.formats"
stages = "search"
[[table.rows.column]]
y = "weight"
[table.trials]
by = "name"
[[table.trials.column]]
stages = "search"
within = 0.005
)toml");
  const PipelineFigure& figure = pipeline.figures.at(0);
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[1].y, "average_bits");
  EXPECT_EQ(figure.panels[1].label, "Bits");
  ASSERT_EQ(figure.curves.size(), 3U);
  EXPECT_EQ(figure.curves[0].stages, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(figure.curves[2].label, "int");
  EXPECT_EQ(figure.curves[2].stages, std::vector<std::size_t>{1});
  EXPECT_EQ(figure.references.at(0).stage, 3U);
  EXPECT_EQ(figure.references.at(0).label, "last");
  EXPECT_EQ(pipeline.tables.at(0).columns.at(0).stages, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(pipeline.tables.at(1).columns.at(0).within, 0.005);
}

const std::string kRanked = R"toml(
[settings]
model = "{best}"
sampler = "{ranking.leader.sampler|tpe}"
[stage.search]
when_needed = true
each = { draw = [1, 2] }
run = "search"
[stage.ranking]
with_others = true
run = "study"
beside = ["{search}/study.db"]
[stage.best]
when_needed = true
best_of = ["{search}/best"]
[stage.layers]
run = "search"
MODEL = "{model}"
sampler = "{sampler}"
)toml";

TEST(PipelineFile, AnOptionMayBeWhatAStageHasFound) {
  const Pipeline pipeline = parse(kRanked);
  EXPECT_EQ(names_of(pipeline), (Names{"search/1", "search/2", "ranking", "best", "layers"}));
  const StageOption& sampler = pipeline.stages.back().options.at(1);
  ASSERT_EQ(sampler.values.size(), 1U);
  EXPECT_EQ(pipeline.stages[*sampler.values[0].stage].name, "ranking");
  EXPECT_EQ(sampler.values[0].path, "leader.sampler");
  EXPECT_EQ(sampler.values[0].fallback, "tpe");
  EXPECT_EQ(resolved_text({{"leader", {{"sampler", "grid"}}}}, sampler.values[0]), "grid");
  EXPECT_EQ(resolved_text({{"leader", nullptr}}, sampler.values[0]), "tpe");
}

TEST(PipelineFile, WhatAStageWouldFindThatIsNotThereIsNotWaitedFor) {
  const Pipeline pipeline = parse(kRanked, {{"model", "mine"}});
  EXPECT_EQ(names_of(pipeline), Names{"layers"});
  EXPECT_EQ(options_of(pipeline, "layers"), "MODEL=mine sampler=tpe");
}

TEST(PipelineFile, SaysWhatFiguresAndTablesOfTrialsCannotBe) {
  const std::pair<std::string, std::string> cases[] = {
      {"[figure.f]\nx = \"trial\"\ny = \"value\"\n[[figure.f.curve]]\nstages = \"last\"",
       "f: the stage last runs eval, which has no trials; only searches have"},
      {"[figure.f]\nx = \"trial\"\ny = [\"value\", \"loss\"]\ny_label = \"a\"",
       "f: expected a y_label for each y, got 1 for 2"},
      {"[figure.f]\nx = \"trial\"\ny = [\"value\", \"loss\"]\n[[figure.f.curve]]\nstages = "
       "\"search\"\ny = \"loss\"",
       "f: a curve can have its own y only in a figure with one panel"},
      {"[figure.f]\nx = \"trial\"\ny = \"value\"\n[[figure.f.curve]]\nstages = \"search\"\nper = "
       "\"width\"",
       "f: per: 'width' is not a variable of the stage search/log"},
      {"[figure.f]\nx = \"trial\"\ny = \"value\"\n[[figure.f.curve]]\nstages = \"search\"\nper = "
       "\"name\"\nlabel = \"a\"",
       "f: with `per`, curves are labelled by the values of 'name'"},
      {"[figure.f]\nx = \"trial\"\ny = \"value\"\ncurve = []\n[[figure.f.reference]]\nstage = "
       "\"search\"\ny = \"loss\"",
       "f: a reference needs one stage, found 2"},
      {"[table.t]\nrows = \"a\"\nby = \"stage\"",
       "t: expected by = \"VARIABLE\" or \"stage\", or rows"},
      {"[table.t]\nby = \"stage\"\nstages = \"last\"\n[[table.t.column]]\nstages = \"last\"\ny = "
       "\"a\"",
       "t: with `by`, each column names its stages; leave out `stages`"},
      {"[table.t]\nrows = \"a\"\nstages = \"last\"\n[[table.t.column]]\nstages = \"last\"\ny = "
       "\"a\"",
       "t: with `rows`, the stages are those of the table"},
      {"[table.t]\nby = \"stage\"\n[[table.t.column]]\nstages = \"last\"",
       "t: expected y = \"PATH\" or within = NUMBER"},
      {"[table.t]\nby = \"stage\"\n[[table.t.column]]\nstages = \"last\"\nwithin = 1",
       "t: within: the stage last runs eval, which has no trials"},
      {"[table.t]\nby = \"stage\"\n[[table.t.column]]\nstages = \"search\"\nwithin = -1",
       "t: within: expected a number of at least 0, in units of the objective"},
      {"[table.t]\nrows = \"a\"\nstages = \"search\"\n[[table.t.column]]\nwithin = 1",
       "t: within needs a table with `by`"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    expect_user_error(message, [&, t = text] { parse(kSearches + t); });
  }
}

TEST(PipelineFile, SaysWhereItIsWrong) {
  const std::string train = "[stage.a]\nrun = \"train\"\n";
  const std::pair<std::string, std::string> cases[] = {
      {"[stage.a]\nrun = train", "chain.toml, line 2: "},
      {"", "chain.toml: has no stage"},
      {"[stages.a]\nrun = \"train\"", "line 1: unknown key 'stages' of a pipeline"},
      {"[stage.a]\nMODEL = \"tiny\"", "line 1: a: expected run = \"COMMAND\", or best_of"},
      {train + "MODEL = \"{b}\"", "line 3: {b} is neither a stage nor a setting; there are a"},
      {train + "MODEL = \"{a}\"", "line 1: stages depend on each other in a cycle: a needs a"},
      {train + "MODEL = \"{b}\"\n[stage.b]\nrun = \"pack\"\nMODEL = \"{a}\"",
       "line 1: stages depend on each other in a cycle: a needs b needs a"},
      {train + "lora = \"{r=2\"", "line 3: unmatched {"},
      {train + "lora = \"r=2}\"", "line 3: unmatched }"},
      {train + "[settings]\na = 1", "line 1: 'a' is a stage and a setting"},
      {"[stage.\"a/b\"]\nrun = \"train\"", "line 1: 'a/b' is not a valid name of a stage"},
      {"[stage.stages]\nrun = \"train\"", "line 1: a stage cannot be called 'stages'"},
      {train + "each = { x = [1, 1] }", "line 1: each: two settings of a are called a/1"},
      {train + "each = { x = [] }", "line 3: each: x: expected a list of values"},
      {train + "each = [{ x = 1 }, { y = 1 }]",
       "line 3: each: all settings must have the same names"},
      {train + "each = { x = [1, 2] }\n[stage.b]\nrun = \"pack\"\nMODEL = \"{a}\"",
       "line 6: {a} refers to 2 stages here; choose one of them"},
      {train + "[stage.b]\nbest_of = []", "line 4: best_of: an empty list"},
      {train + "[stage.b]\nbest_of = [\"a\", \"{a}\"]",
       "line 4: best_of: expected stages, got 'a'"},
      {train + "[figure.f]\nx = \"w\"\ny = \"loss\"\n[[figure.f.curve]]\nstages = \"a\"",
       "line 6: f: x: 'w' is neither a variable of the stage a"},
      {train + "[figure.f]\nx = \"w\"\ny = \"loss\"\n[[figure.f.curve]]\nstages = \"b\"",
       "line 7: stages: no stage is called 'b'; there are a"},
      {train + "[figure.f_zoom]\nx = \"w\"", "line 3: a figure cannot be called 'f_zoom'"},
      {train + "lora = \"{a|r=2}\"", "line 3: {a|r=2}: expected {STAGE.PATH|VALUE}"},
      {train + "lora = \"{b.rank|r=2}\"", "line 3: {b} is neither a stage nor a setting"},
      {train + "each = { x = [1, 2] }\n[stage.b]\nrun = \"train\"\nlora = \"{a.rank|r=2}\"",
       "line 6: {a.rank|r=2}: a refers to 2 stages here"},
      {train + "with_others = 1", "line 3: with_others: expected true or false"},
      {train + "when_needed = 1", "line 3: when_needed: expected true or false"},
      {train + "[table.t]\nby = \"w\"\n[[table.t.column]]\nstages = \"a\"\ny = \"loss\"",
       "line 5: t: by: 'w' is not a variable of the stage a"},
      {train + "[table.stages]\nby = \"stage\"", "line 3: a table cannot be called 'stages'"},
      {train + "[picture.p]\nstage = \"a\"\nfile = \"../a.svg\"",
       "line 5: p: expected the name of an .svg file of the stage, got '../a.svg'"},
      {train + "[[published]]\nwhat = \"x\"\nvalue = 1", "line 3: published: source is missing"},
      {train + "[[answer]]\nsays = \"{b.loss}\"", "line 4: says: {b.loss}: expected a setting, or"},
      {train + "[[answer]]\nsays = \"{a.loss\"", "line 4: says: unmatched {"},
      {train + "[[why]]\nclaim = \"c\"\nreproduced = \"so\"",
       "line 4: why: no claim is called 'c'"},
      {train + "[[why]]\nreproduced = \"so\"", "line 3: why: expected says = \"TEXT\", or claim"},
      {train + "[pick.p]\nstages = \"a\"", "line 3: p: expected highest = \"PATH\" or lowest"},
      {train + "[pick.a]\nstages = \"a\"\nlowest = \"loss\"",
       "line 3: 'a' is also a stage or a setting"},
      {train + "[pick.p]\nstages = \"a\"\nlowest = \"loss\"\nwhere = \"loss\"",
       "line 6: where: constraint 'loss': expected two formulas with <=, >= or = between them"},
      {train + "[pick.p]\nstages = \"a\"\nlowest = \"loss\"\nwhere = \"loss == 1\"",
       "line 6: where: formula '= 1': expected a number"},
      {train + "[pick.p]\nstages = \"a\"\nlowest = \"loss\"\nwhere = \"loss >= {b.loss}\"",
       "line 6: where: {b.loss}: expected a setting, or {STAGE.PATH}, {PICK.PATH} or {PICK}"},
      {train + "[pick.p]\nstages = \"a\"\nrows = \"trial\"\nlowest = \"loss\"",
       "line 3: p: rows: the stage a runs train, which has no trials"},
      {train + "[[answer]]\nsays = \"{a.loss:count}\"",
       "line 4: says: {a.loss:count}: expected a pick"},
      {train + "[claim.c]\nsays = \"low\"\nstage = \"a\"\ny = \"loss\"\nbelow = \"1 +\"",
       "line 7: below: formula '1 +': expected"},
      {train + "[claim.c]\nsays = \"more is better\"\nstage = \"a\"",
       "line 5: c: expected stages that run compare"},
      {train + "[claim.c]\nsays = \"low\"\nstage = \"a\"\ny = \"loss\"\nbelow = 1\nabove = 0",
       "line 5: c: expected one stage, and with y one of"},
  };
  for (const auto& [text, message] : cases) {
    SCOPED_TRACE(text);
    expect_user_error(message, [&, t = text] { parse(t); });
  }
  expect_user_error(
      "chain.toml: has no setting 'date'; its settings are data; did you mean 'data'?", [&] {
        parse(train + "[settings]\ndata = 1", {{"date", "x"}});
      });
  expect_user_error(
      "steps: expected a value of the same type as in the file (chain.toml, line 4), got 'many'",
      [&] {
        parse(train + "[settings]\nsteps = 1", {{"steps", "many"}});
      });
  // The error names the given setting, not a line in the file.
  expect_user_error("setting xs, line 1: each: x: expected a list of values", [&] {
    parse(train + "each = { x = \"{xs}\" }\n[settings]\nxs = [1]", {{"xs", "[]"}});
  });
}

TEST(PipelineFile, NamesStagesWhoseReportsStandInItsOwn) {
  const Pipeline pipeline = parse(R"toml(
chapters = ["lab"]
[stage.last]
run = "eval"
MODEL = "{lab/4.2}"
[stage.lab]
each = { name = ["0.1", "4.2"] }
run = "lab"
NAME = "{name}"
)toml");
  EXPECT_EQ(names_of(pipeline), (Names{"lab/4.2", "last", "lab/0.1"}));
  EXPECT_EQ(pipeline.chapters, (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(options_of(pipeline, "lab/4.2"), "NAME=4.2");
  expect_user_error("chain.toml, line 1",
                    [] { parse("chapters = [\"none\"]\n[stage.a]\nrun = \"eval\"\n"); });
}

}  // namespace
}  // namespace hone
