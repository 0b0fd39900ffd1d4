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

/// A claim, judged by a comparison.
struct Judged {
  std::string conclusion;  ///< found, opposite, inconclusive
  std::string sentence;
  Json change = nullptr, interval = nullptr;
};

// "test, n = 500"; of results that do not say, nothing.
std::string measured_on(const Json& result) {
  const Json &part = value_at(result, "split"), &n = value_at(result, "n");
  if (!part.is_string() || !n.is_number_integer()) return "examples that it does not name";
  const std::vector<std::string> cautions = cautions_of(result);
  return fmt::format("{}, n = {}{}", part.get<std::string>(), grouped(n.get<std::int64_t>()),
                     cautions.empty() ? "" : fmt::format(", {}", fmt::join(cautions, ", ")));
}

Judged judge(const PipelineClaim& claim, const StageOutcome& comparison) {
  const Json& result = comparison.result;
  const Json& change =
      value_at(result, value_at(result, "comparison").is_object() ? "comparison" : "change");
  Judged judged{.conclusion = "inconclusive", .sentence = {}};
  const Json& interval = value_at(change, "change_interval");
  if (interval.is_array() && interval[0].is_number()) {
    judged.interval = interval;
    judged.change = value_at(change, "change");
    if (interval[0].get<double>() > 0) judged.conclusion = "found";
    if (interval[1].get<double>() < 0) judged.conclusion = "opposite";
  }
  const char* opening = judged.conclusion == "found"      ? "reproduced"
                        : judged.conclusion == "opposite" ? "contradicted"
                                                          : "inconclusive";
  std::string numbers;
  if (judged.interval.is_array() && judged.change.is_number())
    numbers =
        fmt::format(", {} points (95% CI {} to {}) on {}", points_text(judged.change.get<double>()),
                    points_text(judged.interval[0].get<double>()),
                    points_text(judged.interval[1].get<double>()), measured_on(result));
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
  if (!stage.fails.empty()) return "failed as expected";
  return outcome.code == 0 ? "done" : "done, gate not passed";
}

Table stages_table(const Pipeline& pipeline, const std::vector<StageOutcome>& outcomes) {
  Table table({{"stage", "Stage"},
               {"command", "Command"},
               {"ended", "Outcome"},
               {"state", "Result"},
               {"seconds", "Time (s)"},
               {"peak_bytes", "Peak memory"},
               {"predicted_bytes", "Predicted"}});
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const PipelineStage& stage = pipeline.stages[i];
    const StageOutcome& outcome = outcomes[i];
    table.add_row({stage.name, stage.command.front(), ending_text(stage, outcome),
                   to_string(outcome.state), real(outcome.seconds, 1), bytes(outcome.peak_bytes),
                   outcome.predicted_bytes > 0 ? bytes(outcome.predicted_bytes) : Cell(absent)});
  }
  return table;
}

/// Warnings of stages, each once, with all stages that printed it.
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

/// The results in the folders of stages, as `hone runs` lists them.
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
  constexpr const char* kFigureColumns[] = {
      "eval_accuracy", "eval_f1_micro",      "eval_r2", "change", "flip_share",
      "verdict",       "average_weight_bits"};
  if (std::ranges::none_of(kFigureColumns, is_there)) return std::nullopt;
  std::vector<std::string> columns = {"folder"};
  for (const char* column : {"eval_accuracy", "eval_f1_micro", "eval_r2", "split", "n", "change",
                             "flip_share", "verdict", "average_weight_bits", "arithmetic"})
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
          {"predicted_bytes", outcome.predicted_bytes},
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

// "12 (9 computed, 3 from the store)"
std::string stages_text(const std::vector<StageOutcome>& outcomes) {
  std::vector<std::string> parts;
  for (const StageState state : {StageState::computed, StageState::done_before, StageState::stored})
    if (const auto count = std::ranges::count(outcomes, state, &StageOutcome::state); count > 0)
      parts.push_back(fmt::format("{} {}", count, to_string(state)));
  return fmt::format("{} ({})", outcomes.size(), fmt::join(parts, ", "));
}

// "2 of 3 claims reproduced, 1 inconclusive"
std::string claims_text(const std::vector<Judged>& claims) {
  const auto count = [&](const char* conclusion) {
    return std::ranges::count(claims, conclusion, &Judged::conclusion);
  };
  std::string text = fmt::format("{} of {} claim{} reproduced", count("found"), claims.size(),
                                 claims.size() == 1 ? "" : "s");
  if (const auto opposite = count("opposite"); opposite > 0)
    text += fmt::format(", {} contradicted", opposite);
  if (const auto open = count("inconclusive"); open > 0)
    text += fmt::format(", {} inconclusive", open);
  return text;
}

// The findings: the pipeline's own, else of claims, else that all is done.
std::string pipeline_headline(const std::vector<std::string>& own,
                              const std::vector<Judged>& claims, std::size_t stages) {
  std::vector<std::string> parts = own;
  if (claims.size() == 1)
    parts.push_back(claims.front().sentence);
  else if (!claims.empty())
    parts.push_back(claims_text(claims));
  if (parts.empty())
    parts.push_back(fmt::format("{} stage{} done", stages, stages == 1 ? "" : "s"));
  return capitalized(fmt::format("{}", fmt::join(parts, "; ")));
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

std::string failed_gates_text(const Json& results) {
  std::vector<std::string> parts;
  for (const Json& name : results.at("failed_gates")) {
    const auto is_it = [&](const Json& row) { return row.at("stage") == name; };
    const Json& result = std::ranges::find_if(results.at("stages"), is_it)->at("result");
    std::vector<std::string> gates;
    const Json& all = value_at(value_at(result, "gate"), "gates");
    for (const Json& gate : all.is_array() ? all : Json::array())
      if (gate.at("verdict") != word_of(Conclusion::within_limit))
        gates.push_back(fmt::format("{} {}", gate.at("gate").get<std::string>(),
                                    gate.at("verdict") == word_of(Conclusion::exceeds_limit)
                                        ? "failed"
                                        : "is inconclusive"));
    // What chooses or searches says in a sentence that nothing passes.
    const Json& summary = value_at(result, "summary");
    if (gates.empty() && summary.is_string()) gates.push_back(summary.get<std::string>());
    parts.push_back(gates.empty()
                        ? name.get<std::string>()
                        : fmt::format("{}: {}", name.get<std::string>(), fmt::join(gates, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

namespace {

Json claim_json(const Pipeline& pipeline, const PipelineClaim& claim, const Judged& judged) {
  return {{"claim", claim.name},
          {"says", claim.says},
          {"source", claim.source},
          {"stage", pipeline.stages[claim.comparison].name},
          {"conclusion", judged.conclusion},
          {"change", judged.change},
          {"change_interval", judged.interval},
          {"sentence", judged.sentence}};
}

Section claims_section(const Pipeline& pipeline, const std::vector<Judged>& judged) {
  Section section{"Claims", {}};
  if (judged.empty()) return section;
  Table table({{"claim", "Claim"}, {"source", "Source"}, {"conclusion", "Result here"}});
  for (std::size_t i = 0; i < judged.size(); ++i) {
    const PipelineClaim& claim = pipeline.claims[i];
    table.add_row({claim.says, claim.source.empty() ? Cell(absent) : Cell(claim.source),
                   judged[i].sentence.substr(claim.says.size() + 2)});
  }
  section.blocks = {PageTable{std::move(table),
                              "Each by the 95% confidence interval of one comparison of one seed, "
                              "not corrected for the number of claims."}};
  return section;
}

// Each table, which is written to the folder, too; for programs the rows by its name.
Section tables_section(const PipelineFindings& found, Json& rows) {
  Section section{"Tables", {}};
  for (const PipelineTable& told : found.pipeline.tables) {
    const auto has_stages = [](const PipelineColumn& column) { return !column.stages.empty(); };
    if (std::ranges::none_of(told.columns, has_stages)) continue;
    const Table table = pipeline_table(told, found);
    section.blocks.push_back(PageTable{table, told.title});
    rows[told.name] = to_json(table);
    fs::create_directories(found.folder / kFigures);
    write_file(found.folder / kFigures / (told.name + ".csv"), to_csv(table));
  }
  return section;
}

Section figures_section(const PipelineFindings& found, std::vector<std::string>& notes) {
  const Pipeline& pipeline = found.pipeline;
  Section section{"Figures", {}};
  for (const PipelineFigure& figure : pipeline.figures)
    draw_pipeline_figure(figure, found, section, notes);
  for (const PipelinePicture& picture : pipeline.pictures) {
    const fs::path file = found.folder / found.outcomes[picture.stage].stands_for / picture.file;
    user_check(path_exists(file), "picture {}: the stage {} has left no {}", picture.title,
               pipeline.stages[picture.stage].name, picture.file);
    section.blocks.push_back(PageFigure{read_file(file), "", picture.title, picture.title});
  }
  return section;
}

void add_chapters(const PipelineFindings& found, std::vector<Section>& sections) {
  const Pipeline& pipeline = found.pipeline;
  Section links{"Reports of stages", {}, /*folded=*/true};
  for (const std::size_t chapter : pipeline.chapters) {
    const std::string& stage = pipeline.stages[chapter].name;
    const fs::path file = found.folder / found.outcomes[chapter].stands_for / "report.html";
    user_check(path_exists(file), "chapters: the stage {} has left no report", stage);
    sections.push_back({"", {EmbeddedPage{read_file(file), kConditions}}});
    links.blocks.push_back(Paragraph{fmt::format("{}/report.html", stage)});
  }
  sections.push_back(std::move(links));
}

Section published_section(const Pipeline& pipeline) {
  Section section{"Published results", {}, /*folded=*/true};
  if (pipeline.published.empty()) return section;
  Table table({{"what", "Result"}, {"value", "Published"}, {"source", "Source"}});
  for (const PublishedFigure& one : pipeline.published)
    table.add_row({one.what, one.value, one.source});
  section.blocks = {
      PageTable{std::move(table), "From other programs, data and machines, for orientation only."}};
  return section;
}

// The first warnings, and the rest folded.
void add_warnings(const std::vector<std::string>& warnings, std::vector<Section>& sections) {
  constexpr std::size_t kMostWarnings = 8;
  Section first{"Warnings of stages", {}}, rest{"More warnings of stages", {}, /*folded=*/true};
  for (std::size_t i = 0; i < warnings.size(); ++i)
    (i < kMostWarnings ? first : rest).blocks.push_back(Paragraph{warnings[i]});
  sections.push_back(std::move(first));
  sections.push_back(std::move(rest));
}

std::string commands_text(const Pipeline& pipeline, const std::vector<StageOutcome>& outcomes) {
  std::string lines;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    lines += fmt::format(
        "# {}{}\n{}\n", pipeline.stages[i].name,
        pipeline.stages[i].setting.empty() ? "" : ": " + settings_text(pipeline.stages[i]),
        outcomes[i].command_line);
  return lines;
}

}  // namespace

JobResult write_pipeline_report(const PipelineJob& job, const std::vector<StageOutcome>& outcomes,
                                const StageStudies& studies, const fs::path& folder,
                                const Context& context) {
  const Pipeline& pipeline = job.pipeline;
  const PipelineFindings found{pipeline, outcomes, studies, folder};
  JobResult result{.document = {.title = pipeline.title.empty() ? pipeline.where : pipeline.title}};
  Document& document = result.document;
  std::vector<std::string> own;
  for (const PipelineFinding& finding : pipeline.findings)
    own.push_back(finding_sentence(finding, outcomes[finding.stage]));
  std::vector<Judged> judged;
  Json claims = Json::array();
  for (const PipelineClaim& claim : pipeline.claims) {
    judged.push_back(judge(claim, outcomes[claim.comparison]));
    claims.push_back(claim_json(pipeline, claim, judged.back()));
  }
  const std::vector<std::string> failed = failed_gates(pipeline, outcomes);
  document.headline = pipeline_headline(own, judged, outcomes.size());
  document.key_figures = {{"Stages", stages_text(outcomes)}};
  if (!judged.empty()) document.key_figures.push_back({"Claims", claims_text(judged)});
  Json rows = Json::array();
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    rows.push_back(stage_json(pipeline.stages[i], outcomes[i]));
  result.fields = {{"stages", rows}, {"failed_gates", failed}};
  if (!failed.empty()) {
    document.tone = Tone::bad;
    document.key_figures.push_back({"Gates not passed", failed_gates_text(result.fields)});
  }
  const Table stages = stages_table(pipeline, outcomes);
  const PageTable shown_stages{stages,
                               "Time and memory are those of the run that computed the stage. Run "
                               "its command in this folder."};
  const std::optional<Table> figures = figures_table(pipeline, folder);
  document.sections = {{"", {figures ? PageTable{*figures} : shown_stages}},
                       claims_section(pipeline, judged)};
  Json table_rows = Json::object();
  document.sections.push_back(tables_section(found, table_rows));
  document.sections.push_back(figures_section(found, document.notes));
  add_chapters(found, document.sections);
  add_warnings(warnings_of(pipeline, outcomes), document.sections);
  const std::vector<Taken> taken = taken_of(pipeline, outcomes);
  Section values{"Values taken from other stages", {}, /*folded=*/true};
  for (const Taken& one : taken) values.blocks.push_back(Paragraph{one.sentence()});
  document.sections.push_back(std::move(values));
  document.sections.push_back(published_section(pipeline));
  if (figures) document.sections.push_back({"Stages", {shown_stages}, /*folded=*/true});
  document.sections.push_back(
      {"Commands", {Preformatted{commands_text(pipeline, outcomes)}}, /*folded=*/true});
  document.sections.push_back({"Pipeline", {Preformatted{pipeline.text}}, /*folded=*/true});
  document.output = job.output.folder;
  result.basis = {"as in the results of each stage", 1, "as in the commands",
                  "as in the results of each stage",
                  "stages that choose do so on the split they name"};
  std::vector<std::string> sentences = own;  // and those of claims
  for (const Judged& one : judged) sentences.push_back(one.sentence);
  Json settings = Json::object();
  for (const auto& [name, value] : pipeline.settings) settings[name] = value;
  result.fields.update({{"pipeline", pipeline.where},
                        {"title", document.title},
                        {"summary", sentences.empty() ? document.headline : as_text(sentences)},
                        {"settings", settings},
                        {"claims", claims},
                        {"tables", table_rows},
                        {"taken", to_json(taken)},
                        {"notes", document.notes}});
  result.fields.update(job.facts);
  if (figures) write_file(folder / "results.csv", to_csv(*figures));
  write_file(folder / "stages.csv", to_csv(stages));
  write_file(folder / "pipeline.toml", pipeline.text);
  tell_warnings(context, document.notes);
  write_report(result, job.invocation, folder, context);
  return result;
}

}  // namespace hone
