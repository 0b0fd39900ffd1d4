#include "hone/jobs/pipeline/pipeline_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_figures.h"
#include "hone/jobs/pipeline/pipeline_tables.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/runs.h"
#include "hone/jobs/runs_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr const char* kFigures = "figures";

/// What was found of a claim.
struct Judged {
  std::string conclusion;  ///< found, opposite, unclear
  std::string sentence;
  Json change = nullptr, interval = nullptr;
};

// "test, n = 500"; of results that do not say, nothing.
std::string measured_on(const Json& result) {
  const Json &part = value_at(result, "part"), &n = value_at(result, "n");
  if (!part.is_string() || !n.is_number_integer()) return "texts that it does not name";
  const std::vector<std::string> cautions = cautions_of(result);
  return fmt::format("{}, n = {}{}", part.get<std::string>(), grouped(n.get<std::int64_t>()),
                     cautions.empty() ? "" : fmt::format(", {}", fmt::join(cautions, ", ")));
}

Judged judge(const PipelineClaim& claim, const StageOutcome& comparison) {
  const Json& result = comparison.result;
  const Json& change =
      value_at(result, value_at(result, "comparison").is_object() ? "comparison" : "change");
  Judged judged{.conclusion = "unclear", .sentence = {}};
  std::string summary;
  for (const auto& [key, value] : change.items())
    if (key.ends_with("_change_interval") && value.is_array() && value.size() == 2 &&
        value[0].is_number()) {
      judged.interval = value;
      judged.change = value_at(change, key.substr(0, key.size() - std::string("_interval").size()));
      if (value[0].get<double>() > 0) judged.conclusion = "found";
      if (value[1].get<double>() < 0) judged.conclusion = "opposite";
    }
  const char* opening = judged.conclusion == "found" ? "found here too"
                        : judged.conclusion == "opposite"
                            ? "not found: the opposite is shown"
                            : "cannot tell: no difference is shown, which is not to say that there "
                              "is none";
  std::string numbers;
  if (judged.interval.is_array() && judged.change.is_number())
    numbers = fmt::format("; {:+.2f} points (95 %: {:+.2f} to {:+.2f}) on {}",
                          100 * judged.change.get<double>(), 100 * judged.interval[0].get<double>(),
                          100 * judged.interval[1].get<double>(), measured_on(result));
  judged.sentence = fmt::format("{}: {}{}", claim.says, opening, numbers);
  return judged;
}

// "dropouts before: 8", "not known" where the stage has found none.
std::string finding_sentence(const PipelineFinding& finding, const StageOutcome& outcome) {
  const Cell cell = cell_at(outcome.result, finding.y);
  const std::string text = cell.is_absent() ? "not known" : display_text(cell);
  if (finding.says.empty()) return text;
  const std::size_t place = finding.says.find(kValuePlace);
  return finding.says.substr(0, place) + text + finding.says.substr(place + kValuePlace.size());
}

std::string settings_text(const PipelineStage& stage) {
  std::vector<std::string> words;
  for (const auto& [name, value] : stage.setting) words.push_back(name + " " + value);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string ending_text(const PipelineStage& stage, const StageOutcome& outcome) {
  if (!stage.fails.empty()) return "failed, as it was to";
  return outcome.code == 0 ? "done" : "done; its gate did not pass";
}

Table stages_table(const Pipeline& pipeline, const std::vector<StageOutcome>& outcomes) {
  Table table({{"stage", "Stage"},
               {"command", "Command"},
               {"ended", "Ended"},
               {"state", "Result"},
               {"seconds", "Time (s)"},
               {"peak_bytes", "Peak memory"},
               {"foretold_bytes", "Foretold"}});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const PipelineStage& stage = pipeline.stages[i];
    const StageOutcome& outcome = outcomes[i];
    table.add_row({stage.name, stage.command.front(), ending_text(stage, outcome),
                   to_string(outcome.state), real(outcome.seconds, 1), bytes(outcome.peak_bytes),
                   outcome.foretold_bytes > 0 ? bytes(outcome.foretold_bytes) : Cell(absent)});
  }
  return table;
}

/// What stages warned of, each sentence once, with all that said it.
std::vector<std::string> warnings_of(const Pipeline& pipeline,
                                     const std::vector<StageOutcome>& outcomes) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;  // a sentence, and by whom
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    for (const std::string& warning : outcomes[i].warnings) {
      auto found = std::ranges::find(said, warning, [](const auto& one) { return one.first; });
      if (found == said.end()) found = said.insert(said.end(), {warning, {}});
      found->second.push_back(pipeline.stages[i].name);
    }
  std::vector<std::string> lines;
  for (const auto& [warning, stages] : said)
    lines.push_back(fmt::format("{}: {}", fmt::join(stages, ", "), warning));
  return lines;
}

/// What `hone runs` would say of the stages' folders, by the stages' names.
std::optional<Table> figures_table(const Pipeline& pipeline, const fs::path& folder) {
  Runs runs;
  for (const PipelineStage& stage : pipeline.stages) {
    if (!path_exists(folder / stage.name / "settings.json")) continue;
    Runs own = read_runs({(folder / stage.name).string()});
    for (RunFolder& run : own.folders) {
      const bool several = run.rows.size() > 1;  // a row for every model of a choice
      for (Json& row : run.rows)
        row["folder"] = several && value_at(row, "variant").is_string()
                            ? fmt::format("{}: {}", stage.name, row["variant"].get<std::string>())
                            : stage.name;
      runs.folders.push_back(std::move(run));
    }
  }
  if (runs.folders.empty()) return std::nullopt;
  const RankedRuns ranked = rank_runs(runs, "", false);
  const auto is_there = [&](const char* column) {
    return std::ranges::any_of(ranked.rows, [&](const Json& row) { return row.contains(column); });
  };
  // What figures were measured on is worth a table only with figures.
  constexpr const char* kFigureColumns[] = {"eval_accuracy",      "eval_f1_micro", "eval_r2",
                                            "accuracy_change",    "flip_share",    "verdict",
                                            "average_weight_bits"};
  if (std::ranges::none_of(kFigureColumns, is_there)) return std::nullopt;
  std::vector<std::string> columns = {"folder"};
  for (const char* column :
       {"eval_accuracy", "eval_f1_micro", "eval_r2", "part", "n", "accuracy_change", "flip_share",
        "verdict", "average_weight_bits", "arithmetic"})
    if (is_there(column)) columns.emplace_back(column);
  std::vector<std::string> common;
  return runs_table(ranked, columns, common);
}

Json stage_json(const PipelineStage& stage, const StageOutcome& outcome) {
  Json setting = Json::object();
  for (const auto& [name, value] : stage.setting) setting[name] = value;
  return {{"stage", stage.name},
          {"key", outcome.key},
          {"command", stage.command.front()},
          {"command_line", outcome.command_line},
          {"setting", setting},
          {"state", to_string(outcome.state)},
          {"exit_code", outcome.code},
          {"failure", outcome.failure},
          {"computed", outcome.computed},
          {"seconds", outcome.seconds},
          {"peak_bytes", outcome.peak_bytes},
          {"foretold_bytes", outcome.foretold_bytes},
          {"warnings", outcome.warnings},
          {"stands_for", outcome.stands_for},
          {"result", outcome.result}};
}

// Of stages that no other one chooses among.
std::vector<std::string> failed_gates(const Pipeline& pipeline,
                                      const std::vector<StageOutcome>& outcomes) {
  std::set<std::size_t> candidates;
  for (const PipelineStage& stage : pipeline.stages)
    if (stage.chooses) candidates.insert(stage.needs.begin(), stage.needs.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].code == kGateFailed && !candidates.contains(i))
      names.push_back(pipeline.stages[i].name);
  return names;
}

/// An option whose value is what a stage has found, and the stages that took it.
struct Taken {
  std::string option, value, from, path;
  bool is_found = true;  ///< otherwise the value is the one that the pipeline has for that case
  std::string why = {};  ///< what the stage says of it; empty: nothing
  std::vector<std::string> stages = {};

  std::string sentence() const {
    return fmt::format("{}: {} in {}, {}{}{}", option, value, fmt::join(stages, ", "),
                       is_found
                           ? fmt::format("as the stage {} found ({})", from, path)
                           : fmt::format("the default, as the stage {} found no {}", from, path),
                       why.empty() ? "" : ". ", why);
  }
};

// What an object in the results says of itself in `sentence`, to whoever takes another of its keys.
std::string sentence_beside(const Json& result, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return "";
  const Json& sentence = value_at_path(result, path.substr(0, dot) + ".sentence");
  return sentence.is_string() ? sentence.get<std::string>() : "";
}

std::vector<Taken> taken_of(const Pipeline& pipeline, const std::vector<StageOutcome>& outcomes) {
  std::vector<Taken> all;
  for (const PipelineStage& stage : pipeline.stages)
    for (const StageOption& option : stage.options)
      for (const StageValue& value : option.values) {
        if (value.path.empty()) continue;
        const Taken one{option.name,
                        found_at(outcomes[*value.stage].result, value),
                        pipeline.stages[*value.stage].name,
                        value.path,
                        !value_at_path(outcomes[*value.stage].result, value.path).is_null(),
                        sentence_beside(outcomes[*value.stage].result, value.path)};
        auto known = std::ranges::find_if(all, [&](const Taken& other) {
          return other.option == one.option && other.from == one.from && other.path == one.path;
        });
        if (known == all.end()) known = all.insert(all.end(), one);
        known->stages.push_back(stage.name);
      }
  return all;
}

Json to_json(const std::vector<Taken>& taken) {
  Json rows = Json::array();
  for (const Taken& one : taken)
    rows.push_back({{"option", one.option},
                    {"value", one.value},
                    {"from", one.from},
                    {"path", one.path},
                    {"stages", one.stages}});
  return rows;
}

std::string headline_of(const std::vector<StageOutcome>& outcomes,
                        const std::vector<Judged>& claims) {
  const auto count = [&](StageState state) {
    return std::ranges::count(outcomes, state, &StageOutcome::state);
  };
  std::string text =
      fmt::format("{} stages: {} computed", outcomes.size(), count(StageState::computed));
  if (const auto before = count(StageState::done_before); before > 0)
    text += fmt::format(", {} before the interruption", before);
  if (const auto stored = count(StageState::stored); stored > 0)
    text += fmt::format(", {} from the store", stored);
  if (claims.empty()) return text;
  const auto concluded = [&](const char* conclusion) {
    return std::ranges::count(claims, conclusion, &Judged::conclusion);
  };
  return text + fmt::format(
                    "; findings of others: {} of {} found here too, {} not, {} cannot be told",
                    concluded("found"), claims.size(), concluded("opposite"), concluded("unclear"));
}

// One behind the other, each with a capital and a full stop; empty: there are none.
std::string as_text(const std::vector<std::string>& sentences) {
  std::string text;
  for (std::string sentence : sentences) {
    sentence.front() =
        static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    text += fmt::format("{}{}{}", text.empty() ? "" : " ", sentence,
                        sentence.ends_with('.') ? "" : ".");
  }
  return text;
}

}  // namespace

std::string to_string(StageState state) {
  constexpr const char* kNames[] = {"computed", "done before", "from the store"};
  return kNames[static_cast<std::size_t>(state)];
}

PipelineResult write_pipeline_report(const PipelineJob& job,
                                     const std::vector<StageOutcome>& outcomes,
                                     const StageStudies& studies, const fs::path& folder,
                                     const Context& context) {
  const Pipeline& pipeline = job.pipeline;
  const PipelineFindings found{pipeline, outcomes, studies, folder};
  RunReport report{.title = pipeline.title.empty() ? pipeline.where : pipeline.title,
                   .invocation = job.invocation};
  std::vector<std::string> sentences;  // findings of its own, then those of others
  for (const PipelineFinding& finding : pipeline.findings)
    sentences.push_back(finding_sentence(finding, outcomes[finding.stage]));
  const std::string own = as_text(sentences);
  std::vector<Judged> judged;
  Json claims = Json::array();
  Table claim_table(
      {{"claim", "What was found elsewhere"}, {"source", "By"}, {"conclusion", "Here"}});
  for (const PipelineClaim& claim : pipeline.claims) {
    judged.push_back(judge(claim, outcomes[claim.comparison]));
    const Judged& one = judged.back();
    sentences.push_back(one.sentence);
    claims.push_back({{"claim", claim.name},
                      {"says", claim.says},
                      {"source", claim.source},
                      {"stage", pipeline.stages[claim.comparison].name},
                      {"conclusion", one.conclusion},
                      {"change", one.change},
                      {"change_interval", one.interval},
                      {"sentence", one.sentence}});
    claim_table.add_row({claim.says, claim.source.empty() ? Cell(absent) : Cell(claim.source),
                         one.sentence.substr(claim.says.size() + 2)});
  }
  report.headline = own + (own.empty() ? "" : " ") + headline_of(outcomes, judged);
  const Table stages = stages_table(pipeline, outcomes);
  const std::optional<Table> figures = figures_table(pipeline, folder);
  Section told_first{"Findings", {}};
  if (!own.empty()) told_first.blocks.push_back(Paragraph{own});
  if (!claims.empty())
    told_first.blocks.push_back(
        PageTable{claim_table,
                  "Each by the 95 % interval of one comparison, uncorrected for "
                  "their number, of one seed."});
  if (!told_first.blocks.empty()) report.sections.push_back(std::move(told_first));
  if (figures) report.sections.push_back({"Results", {PageTable{*figures}}});
  const std::vector<Taken> taken = taken_of(pipeline, outcomes);
  if (!taken.empty()) {
    Section section{"Values taken from other stages", {}};
    for (const Taken& one : taken) section.blocks.push_back(Paragraph{one.sentence()});
    report.sections.push_back(std::move(section));
  }
  Section tabled{"Tables", {}};
  std::vector<std::pair<std::string, Table>> tables;
  Json table_rows = Json::object();
  for (const PipelineTable& told : pipeline.tables) {
    const auto has_stages = [](const PipelineColumn& column) { return !column.stages.empty(); };
    if (std::ranges::none_of(told.columns, has_stages)) continue;
    tables.emplace_back(told.title, pipeline_table(told, found));
    tabled.blocks.push_back(PageTable{tables.back().second, told.title});
    table_rows[told.name] = to_json(tables.back().second);
    fs::create_directories(folder / kFigures);
    write_file(folder / kFigures / (told.name + ".csv"), to_csv(tables.back().second));
  }
  if (!tables.empty()) report.sections.push_back(tabled);
  Section drawn{"Figures", {}};
  for (const PipelineFigure& figure : pipeline.figures)
    draw_pipeline_figure(figure, found, drawn, report.notes);
  for (const PipelinePicture& picture : pipeline.pictures) {
    const fs::path file = folder / outcomes[picture.stage].stands_for / picture.file;
    user_check(path_exists(file), "picture {}: the stage {} has left no {}", picture.title,
               pipeline.stages[picture.stage].name, picture.file);
    drawn.blocks.push_back(PageFigure{read_file(file), "", picture.title, picture.title});
  }
  if (!drawn.blocks.empty()) report.sections.push_back(drawn);
  for (const std::size_t chapter : pipeline.chapters) {
    const fs::path file = folder / outcomes[chapter].stands_for / "report.html";
    user_check(path_exists(file), "chapters: the stage {} has left no report",
               pipeline.stages[chapter].name);
    report.sections.push_back(
        {"",
         {EmbeddedPage{read_file(file), "What this stands on"},
          Paragraph{fmt::format("All of it: {}/report.html", pipeline.stages[chapter].name)}}});
  }
  if (!pipeline.published.empty()) {
    Table published({{"what", "What"}, {"value", "Published"}, {"source", "By"}});
    for (const PublishedFigure& one : pipeline.published)
      published.add_row({one.what, one.value, one.source});
    report.sections.push_back(
        {"Published elsewhere",
         {PageTable{published, "Of other programs, data and machines; none is a target."}}});
  }
  const std::vector<std::string> warnings = warnings_of(pipeline, outcomes);
  if (!warnings.empty()) {
    Section warned{"What stages warned of", {}};
    for (const std::string& line : warnings) warned.blocks.push_back(Paragraph{line});
    report.sections.push_back(std::move(warned));
  }
  report.sections.push_back({"Stages",
                             {PageTable{stages,
                                        "Times and memory are those of when a stage was "
                                        "computed. Their commands are to be run in this "
                                        "folder."}}});
  std::string lines;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    lines += fmt::format(
        "# {}{}\n{}\n", pipeline.stages[i].name,
        pipeline.stages[i].setting.empty() ? "" : ": " + settings_text(pipeline.stages[i]),
        outcomes[i].command_line);
  report.sections.push_back({"Commands", {Preformatted{lines}}, /*folded=*/true});
  report.sections.push_back({"The pipeline", {Preformatted{pipeline.text}}, /*folded=*/true});
  report.basis = {"as in the results of each stage", 1, "as in the commands",
                  "as in the results of each stage",
                  "stages that choose do so on the part they name"};
  Json settings = Json::object();
  for (const auto& [name, value] : pipeline.settings) settings[name] = value;
  Json rows = Json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    rows.push_back(stage_json(pipeline.stages[i], outcomes[i]));
  report.results = {{"pipeline", pipeline.where},
                    {"title", report.title},
                    {"summary", sentences.empty() ? report.headline : as_text(sentences)},
                    {"settings", settings},
                    {"claims", claims},
                    {"tables", table_rows},
                    {"stages", rows},
                    {"failed_gates", failed_gates(pipeline, outcomes)},
                    {"taken", to_json(taken)},
                    {"notes", report.notes}};
  report.results.update(job.facts);
  if (figures) write_file(folder / "results.csv", to_csv(*figures));
  write_file(folder / "stages.csv", to_csv(stages));
  write_file(folder / "pipeline.toml", pipeline.text);
  tell_warnings(context, report.notes);
  write_run_report(report, folder, context);
  PipelineResult result{.fields = report.results};
  result.text = [headline = report.headline, stages, figures, tables, judged, taken, warnings,
                 folder = job.output.folder](const TextStyle& style) {
    std::string text = headline + "\n\n" + to_text(stages, style);
    if (figures) text += "\n" + to_text(*figures, style);
    for (const auto& [title, table] : tables) text += "\n" + title + "\n" + to_text(table, style);
    for (const Judged& one : judged) text += "\n" + one.sentence + "\n";
    for (const Taken& one : taken) text += "\n" + one.sentence() + "\n";
    if (!warnings.empty()) text += "\nWarnings of stages:\n";
    constexpr std::size_t kMostWarnings = 8;
    for (std::size_t i = 0; i < std::min(warnings.size(), kMostWarnings); ++i)
      text += warnings[i] + "\n";
    if (warnings.size() > kMostWarnings)
      text += fmt::format("and {} more, in report.html\n", warnings.size() - kMostWarnings);
    return text + fmt::format("\nreport.html in {}\n", folder);
  };
  return result;
}

}  // namespace hone
