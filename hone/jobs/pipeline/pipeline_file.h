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

/// Pipeline files in TOML (docs/guides/pipelines.md): stages are commands with options, and may refer to each other.
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

/// A value of an option: text, which may contain the folder or a result of another stage.
struct StageValue {
  std::string prefix = {};  ///< the whole text without a reference
  std::optional<std::size_t> stage = {};
  std::string suffix = {};    ///< text after the reference: "/native"
  std::string path = {};      ///< into the stage's results; empty: refers to its folder
  std::string fallback = {};  ///< with `path`: the default if there is no such result

  /// Returns the text with `what` in place of the reference.
  std::string with(const std::string& what) const { return prefix + what + suffix; }
};

/// An option of a stage, named as in its command.
struct StageOption {
  std::string name;
  int line = 0;
  std::optional<bool> flag = {};  ///< true or false; then it has no values
  std::vector<StageValue> values = {};
  bool is_common = false;  ///< from [common], for commands that have it
};

/// A stage; a stage of the file with `each` becomes one for every setting.
struct PipelineStage {
  std::string name;   ///< also its folder: "full", "ptq/8-4"
  std::string group;  ///< its name in the file: "ptq"
  int line = 0;
  std::vector<std::string> command;                               ///< words: {"lora", "merge"}
  StageKind kind = {};                                            ///< of the command
  std::vector<std::pair<std::string, std::string>> setting = {};  ///< of `each`, in order
  std::vector<StageOption> options = {};
  bool chooses = false;  ///< with `best_of`: references to it resolve to the model that it chooses
  std::string expected_error = {};  ///< text that its error must contain; empty: it must not fail
  std::vector<std::size_t> dependencies = {};  ///< the stages that it refers to
};

/// A curve of a figure: the stages of a group, or some of them.
struct PipelineCurve {
  std::string label = {};
  std::vector<std::size_t> stages = {};
  std::string y = {};  ///< replaces the y of the panel; empty: the same
};

/// A dashed line across a figure: a number from the results of one stage.
struct PipelineReference {
  std::string label = {};
  std::size_t stage = 0;
  std::string y = {};  ///< a path into its results
};

/// The y axis of a panel.
struct PipelinePanel {
  /// A path into results, "test.eval_accuracy". "log.first.eval_accuracy", "log.highest.eval_accuracy" and
  /// "log.last.eval_accuracy" refer to the evaluations that a training logged. For trials: "value", the objective, or a
  /// metric of the trial ("average_bits").
  std::string y;
  std::string label;
};

/// Values of x besides the variables of `each`.
inline constexpr std::string_view kEpochs = "epoch";  ///< evaluations of trainings
inline constexpr std::string_view kSteps = "step";    ///< lines that trainings log
inline constexpr std::string_view kTrials = "trial";  ///< trials of searches, the best so far
inline constexpr std::string_view kCpuSeconds =
    "cpu_seconds";  ///< CPU time of these trials until then

/// A figure of the results of stages.
struct PipelineFigure {
  std::string name;  ///< of its files
  int line = 0;
  std::string title = {};
  std::string x = {};  ///< a variable of `each`, or one of the above
  std::string x_label = {};
  std::vector<PipelinePanel> panels = {};  ///< side by side
  std::vector<PipelineCurve> curves = {};
  std::vector<PipelineReference> references = {};  ///< in the first panel

  bool is_of_trials() const { return x == kTrials || x == kCpuSeconds; }
};

/// A reference to a stage or to a pick.
struct StageReference {
  std::optional<std::size_t> stage = {};
  std::optional<std::size_t> pick = {};
};

/// A value of a stage or of a pick: "{narrowest.after.eval_accuracy}".
struct ValueReference {
  StageReference from = {};
  std::string path =
      {};  ///< a variable of `each`, or a path into results; empty: the value that decided the pick
};

/// A value of the current stage or row, or a number computed from such values ("best.values.0 - bits/100") and from
/// others ("{narrowest.bits}").
struct ValueFormula {
  std::string path = {};  ///< a variable of `each`, or a path; empty: it is computed
  MetricFormula formula = {};
  std::map<std::string, ValueReference> others = {};  ///< by their names in it, with braces
};

/// A condition on such numbers, "comparison.change_interval.1 >= 0": `left` is at most `right`, or equal to it.
struct ValueCondition {
  ValueFormula left, right;
  bool equal = false;
};

/// A column of a table: a value for each of its stages.
struct PipelineColumn {
  std::string label = {};
  std::string key = {};  ///< machine-readable key made from the label: "ptq_test" for "PTQ, test"
  std::vector<std::size_t> stages = {};
  ValueFormula y = {};
  /// Instead of `y`: shows how many trials it took until the best so far was within this distance of the best of the
  /// column's stages that differ only in the variable of the rows.
  std::optional<double> within = {};
};

/// A table of the results of stages.
struct PipelineTable {
  std::string name;  ///< of its file
  int line = 0;
  std::string title = {};
  std::string by = {};  ///< a row for each value of this variable of `each`, or for each "stage"
  /// Instead of `by`: a path to a list or an object in the results of each stage, with a row for every member, or
  /// "trial" for the trials of a search. Columns refer to these rows.
  std::string rows = {};
  bool folded = false;  ///< collapsed at first
  std::vector<PipelineColumn> columns = {};
};

/// A drawing of a stage, for the report.
struct PipelinePicture {
  std::string title = {};
  std::size_t stage = 0;
  std::string file = {};  ///< in the stage's folder, SVG
};

/// A published number, which the report prints with its source.
struct PublishedNumber {
  std::string what = {};
  std::string value = {};
  std::string source = {};
  /// Position of the number in the first panel of a figure; drawn only on data that `Pipeline::published_on` matches.
  struct Mark {
    std::size_t figure = 0;
    double x = 0, y = 0;
  };
  std::vector<Mark> marks = {};
};

/// A name for one of several: the stage, or the row of a list in their results, with the highest or lowest value `by`.
struct PipelinePick {
  std::string name;
  int line = 0;
  std::vector<std::size_t> stages = {};
  std::string rows = {};  ///< as in a table; empty: the stages themselves
  ValueFormula by = {};
  bool highest = true;
  std::vector<ValueCondition> where = {};
  bool significant = false;  ///< only p-values below 0.05 with Holm's correction for all stages
};

/// A text that contains values of stages: "{narrowest.width} bits reach {narrowest.after.eval_accuracy}".
struct StatementText {
  enum class Form : std::uint8_t {
    whole,  ///< with its interval
    value,  ///< "{narrowest.after.eval_accuracy:value}", without it
    count,  ///< "{failing:count}", how many fulfil the conditions of a pick: "17 of 30"
  };
  /// A text, and the value that follows it.
  struct Piece {
    std::string text = {};
    std::optional<ValueReference> value = {};
    Form form = Form::whole;
  };
  std::vector<Piece> pieces = {};
};

/// A claim, and the stages that confirm or contradict it.
struct PipelineClaim {
  std::string name;
  int line = 0;
  std::string says = {};    ///< "trained through the quantizer, 4 bits are better than rounded"
  std::string source = {};  ///< where it was published; empty: not published
  /// Comparisons in which B is claimed to be better. Otherwise one stage or pick, whose value `y` is claimed to be
  /// above or below another value, or whose text at the path `y` is claimed to be `is`.
  std::vector<StageReference> stages = {};
  std::optional<ValueFormula> y = {};
  std::optional<ValueFormula> above = {}, below = {};
  std::string is = {};
  StatementText found =
      {};  ///< text that the result prints instead of the value or the changes; empty: those
};

/// A sentence or a paragraph of the report.
struct PipelineStatement {
  int line = 0;
  std::optional<std::size_t> claim = {};  ///< the claim whose conclusion selects the list of texts
  /// One list; with a claim one for each `ClaimConclusion`, possibly empty. The report prints the first text of the
  /// list whose values were all measured.
  std::vector<std::vector<StatementText>> texts = {};
};

/// A name and a value below the headline.
struct PipelineKeyFigure {
  std::string name;
  StatementText value;
};

struct Pipeline {
  std::string where;  ///< its file, for error messages
  std::string title = {};
  std::string text;                   ///< the file
  std::vector<PipelineStage> stages;  ///< each after those that it needs
  std::vector<PipelineFigure> figures = {};
  std::vector<PipelineTable> tables = {};
  std::vector<PipelinePicture> pictures = {};
  std::vector<std::size_t> chapters =
      {};  ///< stages whose reports the pipeline's report summarizes
  std::vector<PublishedNumber> published = {};
  std::string published_on = {};  ///< a glob over the setting `data`; empty: never drawn
  std::vector<PipelinePick> picks = {};
  std::vector<PipelineClaim> claims = {};
  /// The question of the report, its answer, the evidence and the explanation.
  std::string question = {};
  std::vector<PipelineStatement> answer = {}, evidence = {}, why = {};
  std::vector<PipelineKeyFigure> key_figures = {};
  std::map<std::string, std::string> settings = {};  ///< given values replace those of the file

  /// "pipeline.toml, line 12"
  std::string place(int line) const;
};

/// Parses the text of a pipeline. `where` is its file, and `kinds` are those of all commands. Settings of `variant`
/// (empty: none) replace those of the file, and `given` settings replace either. Leaves out a stage with `when_needed`
/// if no other stage refers to it, and one with `with_others` if a stage that it refers to is left out. Throws
/// `UserError` with file and line for invalid TOML, unknown keys, settings and stages, cycles of stages, and ambiguous
/// names.
Pipeline parse_pipeline(std::string_view text, const std::string& where, const StageKinds& kinds,
                        const std::map<std::string, std::string>& given,
                        const std::string& variant = {});

}  // namespace hone
