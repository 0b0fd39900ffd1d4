#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hone/base/file.h"
#include "hone/jobs/pipeline/stage_kind.h"
#include "hone/search/formula.h"

/// Pipelines as people write them, in TOML (docs/guides/pipelines.md): stages, each a command with its options by their names, that
/// refer to each other.
///
///     [settings]
///     data = "reviews.csv"
///
///     [stage.full]
///     run = "train"
///     MODEL = "tiny"
///     data = "{data}"
///
///     [stage.ptq]
///     each = [{ width = 8, fraction = 4 }, { width = 16, fraction = 8 }]
///     run = "quantize"
///     MODEL = "{full}"
///     format = "integer(width={width},frac={fraction})"
///     data = "{data}"
namespace hone {

/// A value of an option: text, around the folder of a stage where it refers to one, or around what a stage has found.
struct StageValue {
  std::string before = {};  ///< all of it where it refers to none
  std::optional<std::size_t> stage = {};
  std::string behind = {};     ///< "/native"
  std::string path = {};       ///< into what the stage prints; empty: its folder is meant
  std::string otherwise = {};  ///< with `path`: what stands there where that is not known

  /// What it stands for, with this in the place of the stage.
  std::string with(const std::string& what) const { return before + what + behind; }
};

/// An option of a stage, under the name that it has in its command.
struct StageOption {
  std::string name;
  int line = 0;
  std::optional<bool> flag = {};  ///< given or not; it has no values then
  std::vector<StageValue> values = {};
  bool is_common = false;  ///< of [common]: for commands that have it
};

/// One piece of work; of a stage with `each` there is one for every setting.
struct PipelineStage {
  std::string name;   ///< and the folder: "full", "ptq/8-4"
  std::string group;  ///< as the file calls it: "ptq"
  int line = 0;
  std::vector<std::string> command;                               ///< words: {"lora", "merge"}
  StageKind kind = {};                                            ///< of the command
  std::vector<std::pair<std::string, std::string>> setting = {};  ///< of `each`, in order
  std::vector<StageOption> options = {};
  bool chooses =
      false;  ///< with `best_of`: to refer to it is to refer to the model that it chooses
  std::string fails = {};  ///< what the message of its failure must hold; empty: it must not fail
  std::vector<std::size_t> needs = {};  ///< the stages it refers to
};

/// A curve of a figure: the stages of a group, or some of them.
struct PipelineCurve {
  std::string label = {};
  std::vector<std::size_t> stages = {};
  std::string y = {};  ///< as that of the figure, where it is another; empty: the same
};

/// A dashed line across a figure: a number that one stage has found.
struct PipelineReference {
  std::string label = {};
  std::size_t stage = 0;
  std::string y = {};  ///< a path into its results
};

/// What the height of a panel is.
struct PipelineHeight {
  /// A path into results, "test.eval_accuracy"; "log.first.eval_accuracy", "log.highest.eval_accuracy" and
  /// "log.last.eval_accuracy" are of the evaluations that a training logged. Of trials: "value", the objective, or a figure of
  /// a trial ("average_bits").
  std::string y;
  std::string label;
};

/// What of runs lies along x, besides the variables of `each`.
inline constexpr std::string_view kEpochs = "epoch";  ///< evaluations of trainings
inline constexpr std::string_view kSteps = "step";    ///< lines that trainings log
inline constexpr std::string_view kTrials =
    "trial";  ///< trials of searches: the best of them so far
inline constexpr std::string_view kCpuSeconds =
    "cpu_seconds";  ///< what processors spent on these trials until then

/// A figure that a pipeline draws of what its stages have found.
struct PipelineFigure {
  std::string name;  ///< of its files
  int line = 0;
  std::string title = {};
  std::string x = {};  ///< a variable of `each`, or one of those above
  std::string x_label = {};
  std::vector<PipelineHeight> panels = {};  ///< side by side
  std::vector<PipelineCurve> curves = {};
  std::vector<PipelineReference> references = {};  ///< in the first panel

  bool is_of_trials() const { return x == kTrials || x == kCpuSeconds; }
};

/// A stage, or what a pick stands for.
struct StageReference {
  std::optional<std::size_t> stage = {};
  std::optional<std::size_t> pick = {};
};

/// A value of a stage or of a pick: "{narrowest.after.eval_accuracy}".
struct ValueReference {
  StageReference from = {};
  std::string path =
      {};  ///< a variable of `each`, or a path into results; empty: the value that a pick was chosen by
};

/// A value of the stage or row that is looked at, or a number computed of such values ("best.values.0 - bits/100") and of others
/// ("{narrowest.bits}").
struct ValueFormula {
  std::string path = {};  ///< a variable of `each`, or a path; empty: it is computed
  MetricFormula formula = {};
  std::map<std::string, ValueReference> others = {};  ///< by their names in it, with braces
};

/// What must hold of such numbers: "comparison.change_interval.1 >= 0", `left` being no more than `right`, or equal to it.
struct ValueCondition {
  ValueFormula left, right;
  bool equal = false;
};

/// A column of a table: a number of each of its stages.
struct PipelineColumn {
  std::string label = {};
  std::string key = {};  ///< for programs, made of the label: "PTQ, test" is "ptq_test"
  std::vector<std::size_t> stages = {};
  ValueFormula y = {};
  /// In its place: how many trials it took until the best so far lay no further than this from the best of the stages of the column that
  /// differ in nothing but what makes the row.
  std::optional<double> within = {};
};

/// A table that a pipeline makes of what its stages have found.
struct PipelineTable {
  std::string name;  ///< of its file
  int line = 0;
  std::string title = {};
  std::string by = {};  ///< what makes a row: a variable of `each`, or "stage"
  /// In place of `by`: a path to a list or an object in the results of each stage, every member of which is a row, or "trial" for the
  /// trials of a search; the columns are of it.
  std::string rows = {};
  bool folded = false;  ///< a detail, which is shown when it is opened
  std::vector<PipelineColumn> columns = {};
};

/// A drawing that a stage has made, for the report.
struct PipelinePicture {
  std::string title = {};
  std::size_t stage = 0;
  std::string file = {};  ///< in the stage's folder, SVG
};

/// A number that others have published, which the report prints with its source.
struct PublishedNumber {
  std::string what = {};
  std::string value = {};
  std::string source = {};
  /// Where the number is drawn, on data that `Pipeline::published_on` names: a figure and a place in its first panel.
  struct Mark {
    std::size_t figure = 0;
    double x = 0, y = 0;
  };
  std::vector<Mark> marks = {};
};

/// A name for one out of several: the stage, or the row of a list in their results, whose value `by` is the highest or the lowest.
struct PipelinePick {
  std::string name;
  int line = 0;
  std::vector<std::size_t> stages = {};
  std::string rows = {};  ///< as in a table; empty: the stages themselves
  ValueFormula by = {};
  bool highest = true;
  std::vector<ValueCondition> where = {};
  bool significant = false;  ///< below 0.05 with Holm's correction for all stages
};

/// A text with values of stages in it: "{narrowest.width} bits reach {narrowest.after.eval_accuracy}".
struct StatementText {
  enum class Form : std::uint8_t {
    whole,  ///< with its interval
    value,  ///< "{narrowest.after.eval_accuracy:value}", without it
    count,  ///< "{failing:count}", how many fulfil the conditions of a pick: "17 of 30"
  };
  /// A text, and the value behind it.
  struct Piece {
    std::string text = {};
    std::optional<ValueReference> value = {};
    Form form = Form::whole;
  };
  std::vector<Piece> pieces = {};
};

/// Something that was found elsewhere, and the stages that say whether it is found here.
struct PipelineClaim {
  std::string name;
  int line = 0;
  std::string says = {};    ///< "trained through the quantizer, 4 bits are better than rounded"
  std::string source = {};  ///< who says so; empty: nobody else
  /// Stages that compare, of each of which B is said to be the better. Otherwise one stage or pick, whose value `y` is said to be above
  /// or below another, or whose text at the path `y` is said to be `is`.
  std::vector<StageReference> stages = {};
  std::optional<ValueFormula> y = {};
  std::optional<ValueFormula> above = {}, below = {};
  std::string is = {};
  StatementText found =
      {};  ///< what the result says instead of the value or of the changes; empty: those
};

/// A sentence or a paragraph of the report.
struct PipelineStatement {
  int line = 0;
  std::optional<std::size_t> claim = {};  ///< whose conclusion chooses the list of texts
  /// One list; with a claim one for each `ClaimConclusion`, some of them empty. The report has the first text of the list whose
  /// values were all measured.
  std::vector<std::vector<StatementText>> texts = {};
};

/// A name and a value below the headline.
struct PipelineKeyFigure {
  std::string name;
  StatementText value;
};

struct Pipeline {
  std::string where;  ///< its file, for messages
  std::string title = {};
  std::string text;                   ///< the file
  std::vector<PipelineStage> stages;  ///< each behind those that it needs
  std::vector<PipelineFigure> figures = {};
  std::vector<PipelineTable> tables = {};
  std::vector<PipelinePicture> pictures = {};
  std::vector<std::size_t> chapters = {};  ///< stages whose reports stand in that of the pipeline
  std::vector<PublishedNumber> published = {};
  std::string published_on = {};  ///< a glob over the setting `data`; empty: on no data of ours
  std::vector<PipelinePick> picks = {};
  std::vector<PipelineClaim> claims = {};
  /// What the report answers, in which sentences, on what evidence, and why it is so.
  std::string question = {};
  std::vector<PipelineStatement> answer = {}, evidence = {}, why = {};
  std::vector<PipelineKeyFigure> key_figures = {};
  std::map<std::string, std::string> settings = {};  ///< with what was given in place of the file's

  /// "pipeline.toml, line 12"
  std::string place(int line) const;
};

/// Understands the text of a pipeline; `where` names its file, `kinds` are those of all commands, `variant` is one of its variants (empty: none), whose settings
/// take the place of those of the file, and `given` are settings that take the place of either. A stage that is there
/// `when_needed` is left out where no other refers to it, one that is there `with_others` where anything that it refers to is. Throws `UserError` with file and line: no TOML, unknown keys, settings and stages, a circle of stages, names that two
/// things have.
Pipeline parse_pipeline(std::string_view text, const std::string& where, const StageKinds& kinds,
                        const std::map<std::string, std::string>& given,
                        const std::string& variant = {});

}  // namespace hone
