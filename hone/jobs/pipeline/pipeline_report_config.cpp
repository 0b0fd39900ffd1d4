#include "hone/jobs/pipeline/pipeline_report_config.h"

#include <filesystem>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/pipeline_toml.h"
#include "hone/jobs/pipeline/report_claims.h"
#include "hone/jobs/pipeline/report_figures.h"
#include "hone/jobs/pipeline/report_tables.h"

namespace hone {
namespace {

void read_picture(const ReportConfig& f, const std::string& name, const toml::node& node) {
  const toml::table& entry = table_at(node, name, f.place);
  check_keys(entry, {"title", "stage", "file"}, "a picture", f.place);
  const toml::node &stage = required_key(f, entry, "stage", name),
                   &file = required_key(f, entry, "file", name);
  const std::vector<std::size_t> found = stages_named(f, stage, "stage");
  user_check(found.size() == 1, "{}: {}: expected one stage", f.place.at(stage), name);
  PipelinePicture picture{.title = string_at(entry, "title", f.place, name),
                          .stage = found.front(),
                          .file = scalar_text(file, "file", f.place)};
  const std::filesystem::path path(picture.file);
  user_check(path.extension() == ".svg" && !path.has_parent_path(),
             "{}: {}: expected the name of an .svg file of the stage, got '{}'", f.place.at(file),
             name, picture.file);
  f.pipeline.pictures.push_back(std::move(picture));
}

}  // namespace

void read_report_config(const toml::table& file, const TomlPlace& place, Pipeline& pipeline) {
  const ReportConfig f{file, place, pipeline};
  read_figures(f);
  read_picks(f);
  read_tables(f);
  read_named(f, "picture",
             [&](const std::string& name, const toml::node& node) { read_picture(f, name, node); });
  if (const toml::node* chapters = file.get("chapters"))
    pipeline.chapters = stages_named(f, *chapters, "chapters");
  read_published(f);
  read_claims(f);
  read_statements(f);
}

namespace {

// Updates the indices in a list, and removes stages that were left out.
void keep(std::vector<std::size_t>& named, const std::vector<std::optional<std::size_t>>& moved) {
  std::vector<std::size_t> left;
  for (const std::size_t stage : named)
    if (moved[stage]) left.push_back(*moved[stage]);
  named = std::move(left);
}

}  // namespace

void remap_stages(Pipeline& pipeline, const std::vector<std::optional<std::size_t>>& moved,
                  const std::vector<std::string>& names) {
  const auto remap_value = [&](ValueReference& value) {
    if (value.from.stage) value.from.stage = moved[*value.from.stage];
  };
  const auto remap_formula = [&](ValueFormula& formula) {
    for (auto& [name, value] : formula.others) remap_value(value);
  };
  for (PipelineTable& table : pipeline.tables)
    for (PipelineColumn& column : table.columns) {
      keep(column.stages, moved);
      remap_formula(column.y);
    }
  const auto left_out = [&](const std::string& what, int line, std::size_t stage) {
    fail("{}, line {}: {}: the stage {} is left out, because no other stage refers to it",
         pipeline.where, line, what, names[stage]);
  };
  keep(pipeline.chapters, moved);
  for (PipelineFigure& figure : pipeline.figures) {
    for (PipelineCurve& curve : figure.curves) keep(curve.stages, moved);
    std::erase_if(figure.references,
                  [&](const PipelineReference& reference) { return !moved[reference.stage]; });
    for (PipelineReference& reference : figure.references)
      reference.stage = *moved[reference.stage];
  }
  for (PipelinePicture& picture : pipeline.pictures) {
    if (!moved[picture.stage]) left_out("picture " + picture.title, 1, picture.stage);
    picture.stage = *moved[picture.stage];
  }
  for (PipelinePick& pick : pipeline.picks) {
    keep(pick.stages, moved);
    remap_formula(pick.by);
    for (ValueCondition& condition : pick.where) {
      remap_formula(condition.left);
      remap_formula(condition.right);
    }
  }
  for (PipelineClaim& claim : pipeline.claims) {
    for (std::optional<ValueFormula>* formula : {&claim.y, &claim.above, &claim.below})
      if (*formula) remap_formula(**formula);
    for (StageReference& reference : claim.stages) {
      if (!reference.stage) continue;
      if (!moved[*reference.stage]) left_out("claim " + claim.name, claim.line, *reference.stage);
      reference.stage = moved[*reference.stage];
    }
  }
  const auto remap = [&](StatementText& text) {
    for (StatementText::Piece& piece : text.pieces)
      if (piece.value) remap_value(*piece.value);
  };
  for (std::vector<PipelineStatement>* statements :
       {&pipeline.answer, &pipeline.evidence, &pipeline.why})
    for (PipelineStatement& statement : *statements)
      for (std::vector<StatementText>& list : statement.texts)
        for (StatementText& text : list) remap(text);
  for (PipelineKeyFigure& figure : pipeline.key_figures) remap(figure.value);
  for (PipelineClaim& claim : pipeline.claims) remap(claim.found);
}

}  // namespace hone
