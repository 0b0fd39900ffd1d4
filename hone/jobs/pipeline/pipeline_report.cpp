#include "hone/jobs/pipeline/pipeline_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_statements.h"
#include "hone/jobs/pipeline/pipeline_tables.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/jobs/runs.h"
#include "hone/jobs/runs_table.h"
#include "hone/study/result.h"

namespace hone {
namespace {

std::string settings_text(const PipelineStage& stage) {
  std::vector<std::string> words;
  for (const auto& [name, value] : stage.setting) words.push_back(name + " " + value);
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string ending_text(const PipelineStage& stage, const StageOutcome& outcome) {
  if (!stage.expected_error.empty()) return "failed as expected";
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
                   std::string(enum_name(outcome.state)), real(outcome.seconds, 1),
                   bytes(outcome.peak_bytes),
                   outcome.predicted_bytes > 0 ? bytes(outcome.predicted_bytes) : Cell(absent)});
  }
  return table;
}

/// Returns the warnings of the stages that `is_meant` selects, each once, with all stages that printed it.
std::vector<std::string> warnings_of(const Pipeline& pipeline,
                                     const std::vector<StageOutcome>& outcomes,
                                     bool (*is_meant)(const StageOutcome&)) {
  std::vector<std::pair<std::string, std::vector<std::string>>> said;  // (warning, stages)
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!is_meant(outcomes[i])) continue;
    for (const std::string& warning : outcomes[i].warnings) {
      auto found = std::ranges::find(said, warning, [](const auto& one) { return one.first; });
      if (found == said.end()) found = said.insert(said.end(), {warning, {}});
      found->second.push_back(pipeline.stages[i].name);
    }
  }
  std::vector<std::string> lines;
  for (const auto& [warning, stages] : said)
    lines.push_back(fmt::format("{}: {}", fmt::join(stages, ", "), warning));
  return lines;
}

/// Returns the results in the folders of stages, as `hone runs` lists them.
std::optional<Table> figures_table(const Pipeline& pipeline, const fs::path& folder) {
  Runs runs;
  for (const PipelineStage& stage : pipeline.stages) {
    if (!path_exists(folder / stage.name / "settings.json")) continue;
    Runs own = read_runs({(folder / stage.name).string()});
    for (RunFolder& run : own.folders) {
      const bool several = run.rows.size() > 1;  // a choice has a row for every model
      for (RunRow& row : run.rows)
        row.folder =
            several && row.variant ? fmt::format("{}: {}", stage.name, *row.variant) : stage.name;
      runs.folders.push_back(std::move(run));
    }
  }
  if (runs.folders.empty()) return std::nullopt;
  const RankedRuns ranked = rank_runs(runs, "", false);
  const Json rows = to_json(ranked.rows);
  const auto is_there = [&](std::string_view column) {
    return std::ranges::any_of(rows, [&](const Json& row) {
      const bool judges_nothing = column == "verdict" && row.at("limit").is_null();
      return !judges_nothing && !value_at(row, std::string(column)).is_null();
    });
  };
  // A table without metrics is not useful.
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

PipelineStageResult stage_result(const PipelineStage& stage, const StageOutcome& outcome) {
  return {.stage = stage.name,
          .command = stage.command.front(),
          .setting = stage.setting,
          .state = outcome.state,
          .chosen_stage = outcome.chosen_stage,
          .record = stage_record(outcome)};
}

// Returns the stages with failed gates, except candidates of a choice.
std::vector<std::string> failed_gates(const Pipeline& pipeline,
                                      const std::vector<StageOutcome>& outcomes) {
  std::set<std::size_t> candidates;
  for (const PipelineStage& stage : pipeline.stages)
    if (stage.chooses) candidates.insert(stage.dependencies.begin(), stage.dependencies.end());
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    if (outcomes[i].code == kGateFailed && !candidates.contains(i))
      names.push_back(pipeline.stages[i].name);
  return names;
}

// Returns the `summary` of the object that contains the value at this path.
std::string summary_near(const Json& result, const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos) return "";
  const Json& summary = value_at_path(result, path.substr(0, dot) + ".summary");
  return summary.is_string() ? summary.get<std::string>() : "";
}

std::vector<UsedFinding> used_findings_of(const Pipeline& pipeline,
                                          const std::vector<StageOutcome>& outcomes) {
  std::vector<UsedFinding> all;
  for (const PipelineStage& stage : pipeline.stages)
    for (const StageOption& option : stage.options)
      for (const StageValue& value : option.values) {
        if (value.path.empty()) continue;
        const UsedFinding one{option.name,
                              resolved_text(outcomes[*value.stage].result, value),
                              pipeline.stages[*value.stage].name,
                              value.path,
                              !value_at_path(outcomes[*value.stage].result, value.path).is_null(),
                              summary_near(outcomes[*value.stage].result, value.path)};
        auto known = std::ranges::find_if(all, [&](const UsedFinding& other) {
          return other.option == one.option && other.from == one.from && other.path == one.path;
        });
        if (known == all.end()) known = all.insert(all.end(), one);
        known->stages.push_back(stage.name);
      }
  return all;
}

// "12 (9 computed, 3 from the store)"
std::string stages_text(const std::vector<StageOutcome>& outcomes) {
  std::vector<std::string> parts;
  for (const StageState state : {StageState::computed, StageState::done_before, StageState::stored})
    if (const auto count = std::ranges::count(outcomes, state, &StageOutcome::state); count > 0)
      parts.push_back(fmt::format("{} {}", count, enum_name(state)));
  return fmt::format("{} ({})", outcomes.size(), fmt::join(parts, ", "));
}

// Joins the sentences, each with a capital letter and a full stop.
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

// Returns the pipeline's answer, else the conclusions of its claims, else the number of stages.
std::string pipeline_headline(const std::vector<std::string>& answer,
                              const std::vector<ClaimResult>& claims, std::size_t stages) {
  if (!answer.empty()) return as_text(answer);
  if (claims.size() == 1) return capitalized(claims.front().sentence);
  if (!claims.empty()) return capitalized(claims_text(claims));
  return fmt::format("{} stage{} done", stages, stages == 1 ? "" : "s");
}

}  // namespace

std::span<const EnumName> enum_names(StageState) {
  static constexpr EnumName kWords[] = {{static_cast<int>(StageState::computed), "computed"},
                                        {static_cast<int>(StageState::done_before), "done before"},
                                        {static_cast<int>(StageState::stored), "from the store"}};
  return kWords;
}

StageRecord stage_record(const StageOutcome& outcome) {
  StageRecord record{.key = outcome.key,
                     .command_line = outcome.command_line,
                     .exit_code = outcome.code,
                     .computed = outcome.computed,
                     .seconds = outcome.seconds,
                     .peak_bytes = outcome.peak_bytes,
                     .warnings = outcome.warnings,
                     .result = outcome.result};
  if (!outcome.failure.empty()) record.failure = outcome.failure;
  if (outcome.predicted_bytes > 0) record.predicted_bytes = outcome.predicted_bytes;
  return record;
}

std::string UsedFinding::sentence() const {
  return fmt::format(
      "`{}` is {} in {}: {}.{}{}", option, value, fmt::join(stages, ", "),
      is_found
          ? fmt::format("the value `{}` in the result of the stage {}", path, from)
          : fmt::format(
                "the result of the stage {} has no value `{}`, so the pipeline uses its default",
                from, path),
      why.empty() ? "" : " ", why);
}

std::string PipelineFields::failed_gates_text() const {
  std::vector<std::string> parts;
  for (const std::string& name : failed_gates) {
    const Json& result =
        std::ranges::find(stages, name, &PipelineStageResult::stage)->record.result;
    std::vector<std::string> gates;
    const Json& judged = value_at(result, "gate");
    const Json& all = value_at(judged, "gates");
    for (const Json& gate : all.is_array() ? all : Json::array())
      if (gate.at("verdict") != enum_name(Conclusion::within_limit))
        gates.push_back(fmt::format("{} {}", gate.at("gate").get<std::string>(),
                                    gate.at("verdict") == enum_name(Conclusion::exceeds_limit)
                                        ? "failed"
                                        : "is inconclusive"));
    // Choices and searches have a summary instead of gates.
    const Json& summary = value_at(judged.is_object() ? judged : result, "summary");
    if (gates.empty() && summary.is_string()) gates.push_back(summary.get<std::string>());
    parts.push_back(gates.empty() ? name : fmt::format("{}: {}", name, fmt::join(gates, ", ")));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

const Fields& fields_of(const StageRecord*) {
  using S = StageRecord;
  static const Fields fields = describe<S>(
      "stage_record", "The stored state of a stage.",
      field<&S::key>("key", "Fingerprint of the settings and inputs of the stage."),
      field<&S::command_line>("command_line", "Its command line, for the folder of the pipeline."),
      field<&S::exit_code>("exit_code", "Exit code of the command; 3: a gate did not pass."),
      field<&S::failure>("failure", "Why the stage failed; null: it did not."),
      field<&S::computed>("computed", Unit::utc, "When it was computed."),
      field<&S::seconds>("seconds", Unit::seconds, "Duration of the computation."),
      field<&S::peak_bytes>("peak_bytes", Unit::bytes, "Peak of the resident memory."),
      field<&S::predicted_bytes>("predicted_bytes", Unit::bytes,
                                 "Predicted peak; null: the command predicts none."),
      field<&S::warnings>("warnings", "Warnings of the command."),
      field<&S::result>("result", "The result of the command."));
  return fields;
}

const Fields& fields_of(const PipelineStageResult*) {
  using P = PipelineStageResult;
  static const Fields fields = describe<P>(
      "pipeline_stage", "A finished stage.",
      field<&P::stage>("stage", "Name of the stage and of its folder."),
      field<&P::command>("command", "The command that it runs."),
      field<&P::setting>("setting", "Values of its `each`."),
      field<&P::state>("state",
                       "Whether this run, an interrupted one that it continues, or another one "
                       "computed it."),
      field<&P::chosen_stage>(
          "stands_for", "The stage that references to it resolve to: the chosen one, or itself."),
      inlined<&P::record>());
  return fields;
}

const Fields& fields_of(const UsedFinding*) {
  using T = UsedFinding;
  static const Fields fields = describe<T>(
      "taken_finding", "An option whose value comes from the result of another stage.",
      field<&T::option>("option", "Name of the option."), field<&T::value>("value", "Its value."),
      field<&T::from>("from", "The stage that it comes from."),
      field<&T::path>("path",
                      "Path into the result of that stage; without a value there, the pipeline's "
                      "default is used."),
      omitted<&T::is_found>(), omitted<&T::why>(),
      field<&T::stages>("stages", "Stages with this option."));
  return fields;
}

const Fields& fields_of(const PipelineFields*) {
  using P = PipelineFields;
  static const Fields fields = describe<P>(
      "pipeline", "A pipeline that was run.",
      field<&P::pipeline>("pipeline", "The file, or the name of the lab."),
      field<&P::title>("title", "Its title, or else the file."),
      field<&P::question>("question", "The question that the report answers; empty: none."),
      field<&P::summary>("summary", "The answer, else the conclusions of the claims."),
      field<&P::settings>("settings", "Settings of the pipeline."),
      field<&P::why>("why", "Paragraphs that explain the result."),
      field<&P::claims>("claims", "Claims that it checks."),
      field<&P::tables>("tables",
                        "Its tables by name. A row has the values of its columns, with the "
                        "`_interval`, `_n` and `_runs` of those that have them."),
      field<&P::stages>("stages", "Its stages, in the order they ran."),
      field<&P::failed_gates>("failed_gates",
                              "Stages whose gates did not pass, except candidates of a choice; "
                              "any: exit code 3."),
      field<&P::used_findings>("taken", "Options whose values come from other stages."),
      field<&P::notes>("notes", "Figures that were not drawn."));
  return fields;
}

namespace {

// Adds each table to the sections and to `fields`, and writes it to the folder. Folded tables get their own sections.
void add_tables(const PipelineFindings& found, PipelineFields& fields,
                std::vector<Section>& sections) {
  Section shown{"Tables", {}};
  std::vector<Section> folded;
  for (const PipelineTable& entry : found.pipeline.tables) {
    const auto has_stages = [](const PipelineColumn& column) { return !column.stages.empty(); };
    if (std::ranges::none_of(entry.columns, has_stages)) continue;
    const Table table = pipeline_table(entry, found);
    fields.tables.emplace_back(entry.name, to_json(table));
    fs::create_directories(found.folder / kFigures);
    write_file(found.folder / kFigures / (entry.name + ".csv"), to_csv(table));
    if (entry.folded)
      folded.push_back({entry.title, {PageTable{table}}, /*folded=*/true});
    else
      shown.blocks.push_back(PageTable{table, entry.title});
  }
  sections.push_back(std::move(shown));
  std::ranges::move(folded, std::back_inserter(sections));
}

Section figures_section(const PipelineFindings& found, std::vector<std::string>& notes) {
  const Pipeline& pipeline = found.pipeline;
  Section section{"Figures", {}};
  for (const PipelineFigure& figure : pipeline.figures) {
    const auto has_stages = [](const PipelineCurve& curve) { return !curve.stages.empty(); };
    if (std::ranges::any_of(figure.curves, has_stages))
      draw_pipeline_figure(figure, found, section, notes);
  }
  for (const PipelinePicture& picture : pipeline.pictures) {
    const std::string name =
        (fs::path(found.outcomes[picture.stage].chosen_stage) / picture.file).string();
    const fs::path file = found.folder / name;
    user_check(path_exists(file), "picture {}: the stage {} wrote no {}", picture.title,
               pipeline.stages[picture.stage].name, picture.file);
    section.blocks.push_back(PageFigure{read_file(file), "", picture.title, picture.title, name});
  }
  return section;
}

// Lists the questions and answers of the reports of stages, with links to them.
Section chapters_section(const PipelineFindings& found) {
  const Pipeline& pipeline = found.pipeline;
  Section section{"Reports", {}};
  if (pipeline.chapters.empty()) return section;
  Chapters chapters;
  for (const std::size_t chapter : pipeline.chapters) {
    const std::string file =
        (fs::path(found.outcomes[chapter].chosen_stage) / "report.html").string();
    user_check(path_exists(found.folder / file), "chapters: the stage {} wrote no report",
               pipeline.stages[chapter].name);
    const Json& result = found.outcomes[chapter].result;
    const auto text = [&](const char* key) {
      const Json& value = value_at(result, key);
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    chapters.rows.push_back({file, text("title"), text("question"), text("summary")});
  }
  section.blocks = {std::move(chapters)};
  return section;
}

Section published_section(const Pipeline& pipeline) {
  Section section{"Published results", {}, /*folded=*/true};
  if (pipeline.published.empty()) return section;
  Table table({{"what", "Result"}, {"value", "Published"}, {"source", "Source"}});
  for (const PublishedNumber& one : pipeline.published)
    table.add_row({one.what, one.value, one.source});
  section.blocks = {
      PageTable{std::move(table), "From other programs, data and machines, for orientation only."}};
  return section;
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
  PipelineFields fields{.pipeline = pipeline.where,
                        .title = document.title,
                        .question = pipeline.question,
                        .settings = pipeline.settings,
                        .failed_gates = failed_gates(pipeline, outcomes),
                        .used_findings = used_findings_of(pipeline, outcomes)};
  for (const PipelineClaim& claim : pipeline.claims) fields.claims.push_back(judge(claim, found));
  for (std::size_t i = 0; i < outcomes.size(); ++i)
    fields.stages.push_back(stage_result(pipeline.stages[i], outcomes[i]));
  const auto said = [&](const std::vector<PipelineStatement>& statements) {
    return statement_texts(statements, fields.claims, found);
  };
  const std::vector<std::string> answer = said(pipeline.answer);
  document.question = pipeline.question;
  document.headline = pipeline_headline(answer, fields.claims, outcomes.size());
  document.evidence = as_text(said(pipeline.evidence));
  for (const PipelineKeyFigure& figure : pipeline.key_figures)
    if (std::optional<std::string> value = filled(figure.value, found))
      document.key_figures.push_back({figure.name, std::move(*value)});
  if (document.key_figures.empty()) document.key_figures = {{"Stages", stages_text(outcomes)}};
  if (!fields.claims.empty())
    document.key_figures.push_back({"Claims", claims_text(fields.claims)});
  if (!fields.failed_gates.empty()) {
    document.tone = Tone::bad;
    document.key_figures.push_back({"Gates not passed", fields.failed_gates_text()});
  }
  const Table stages = stages_table(pipeline, outcomes);
  const PageTable shown_stages{
      stages,
      fmt::format("Stages: {}. Time and memory are those of the run that computed the stage. Run "
                  "its command in this folder.",
                  stages_text(outcomes))};
  const std::optional<Table> figures = figures_table(pipeline, folder);
  const bool has_own = !pipeline.figures.empty() || !pipeline.tables.empty() ||
                       !pipeline.pictures.empty() || !pipeline.chapters.empty();
  document.sections = {chapters_section(found), figures_section(found, document.notes)};
  add_tables(found, fields, document.sections);
  Section why{"Why", {}};
  for (std::string& paragraph : said(pipeline.why)) {
    why.blocks.push_back(Paragraph{paragraph});
    fields.why.push_back(std::move(paragraph));
  }
  document.sections.push_back(std::move(why));
  document.sections.push_back(claims_section(fields.claims));
  document.sections.push_back(published_section(pipeline));
  if (figures)
    document.sections.push_back({"Results of all stages", {PageTable{*figures}}, has_own});
  document.sections.push_back({"Stages", {shown_stages}, has_own || figures});
  Section warnings{"Warnings of stages", {}, /*folded=*/true};
  for (std::string& warning :
       warnings_of(pipeline, outcomes, [](const StageOutcome&) { return true; }))
    warnings.blocks.push_back(Paragraph{std::move(warning)});
  document.sections.push_back(std::move(warnings));
  Section values{"Values taken from other stages", {}, /*folded=*/true};
  for (const UsedFinding& one : fields.used_findings)
    values.blocks.push_back(Paragraph{one.sentence()});
  document.sections.push_back(std::move(values));
  document.sections.push_back(
      {"Commands", {Preformatted{commands_text(pipeline, outcomes)}}, /*folded=*/true});
  document.sections.push_back({"Pipeline", {Preformatted{pipeline.text}}, /*folded=*/true});
  document.output = job.output.folder;
  // The results of stages have their own seeds and protocols.
  result.basis = {.seeds = -1,
                  .protocol = "the page of each stage names the split on which that stage chooses"};
  std::vector<std::string> sentences = answer;
  if (sentences.empty())
    for (const ClaimResult& one : fields.claims) sentences.push_back(one.sentence);
  fields.summary = sentences.empty() ? document.headline : as_text(sentences);
  fields.notes = document.notes;
  result.fields = job.results ? job.results(fields) : to_json(fields);
  if (figures) write_file(folder / "results.csv", to_csv(*figures));
  write_file(folder / "stages.csv", to_csv(stages));
  write_file(folder / "pipeline.toml", pipeline.text);
  print_warnings(context, document.notes);
  // Stages computed in this run have printed their warnings already.
  print_warnings(context, warnings_of(pipeline, outcomes, [](const StageOutcome& one) {
                   return one.state != StageState::computed;
                 }));
  write_report(result, job.invocation, folder, context);
  return result;
}

}  // namespace hone
