#include "hone/jobs/pipeline/report_claims.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/jobs/pipeline/pipeline_claims.h"
#include "hone/jobs/pipeline/pipeline_toml.h"
#include "hone/jobs/pipeline/report_values.h"

namespace hone {
namespace {

void read_pick(const ReportConfig& f, const std::string& name, const toml::node& node) {
  check_name(name, "a pick", node, f.place);
  const std::vector<std::string> known = group_names(f.pipeline);
  user_check(std::ranges::find(known, name) == known.end() && !f.pipeline.settings.contains(name),
             "{}: '{}' is also a stage or a setting", f.place.at(node), name);
  const toml::table& entry = table_at(node, name, f.place);
  check_keys(entry, {"stages", "rows", "highest", "lowest", "where", "significant"}, "a pick",
             f.place);
  const toml::node *highest = entry.get("highest"), *lowest = entry.get("lowest");
  user_check((highest == nullptr) != (lowest == nullptr),
             "{}: {}: expected highest = \"PATH\" or lowest = \"PATH\"", f.place.at(node), name);
  PipelinePick pick{.name = name,
                    .line = line_of(node),
                    .stages = stages_named(f, required_key(f, entry, "stages", name), "stages"),
                    .rows = string_at(entry, "rows", f.place),
                    .by = highest != nullptr ? formula_at(f, *highest, "highest")
                                             : formula_at(f, *lowest, "lowest"),
                    .highest = highest != nullptr};
  check_rows(f, pick.rows, pick.stages, node, name);
  if (const toml::node* where = entry.get("where"))
    for (const std::string& text : texts_at(*where, "where", f.place))
      pick.where.push_back(condition_of(f, text, *where));
  if (const toml::node* significant = entry.get("significant")) {
    user_check(significant->is_boolean(), "{}: {}: significant: expected true or false",
               f.place.at(*significant), name);
    pick.significant = significant->as_boolean()->get();
  }
  user_check(!pick.significant || pick.rows.empty(),
             "{}: {}: significant compares stages; leave out rows", f.place.at(node), name);
  f.pipeline.picks.push_back(std::move(pick));
}

void read_claim(const ReportConfig& f, const std::string& name, const toml::node& node) {
  check_name(name, "a claim", node, f.place);
  const toml::table& table = table_at(node, name, f.place);
  check_keys(table, {"says", "source", "stage", "y", "above", "below", "is", "found"}, "a claim",
             f.place);
  PipelineClaim claim{.name = name, .line = line_of(node)};
  claim.says = scalar_text(required_key(f, table, "says", name), "says", f.place);
  claim.source = string_at(table, "source", f.place);
  const toml::node& stage = required_key(f, table, "stage", name);
  const std::optional<std::size_t> pick =
      stage.is_string() ? pick_named(f, stage.as_string()->get()) : std::nullopt;
  if (pick) {
    claim.stages = {{.pick = pick}};
  } else {
    for (const std::size_t index : stages_named(f, stage, "stage"))
      claim.stages.push_back({.stage = index});
  }
  if (const toml::node* y = table.get("y")) claim.y = formula_at(f, *y, "y");
  claim.is = string_at(table, "is", f.place);
  if (const toml::node* found = table.get("found"))
    claim.found = statement_text(f, *found, "found");
  for (const auto& [key, bound] :
       {std::pair("above", &claim.above), std::pair("below", &claim.below)})
    if (const toml::node* value = table.get(key)) *bound = formula_at(f, *value, key);
  const auto limits =
      std::ptrdiff_t{claim.above.has_value()} + claim.below.has_value() + !claim.is.empty();
  if (!claim.y) {
    const auto compares = [&](const StageReference& one) {
      if (one.stage) return f.pipeline.stages[*one.stage].kind.compares;
      const PipelinePick& pick = f.pipeline.picks[*one.pick];
      return pick.rows.empty() && std::ranges::all_of(pick.stages, [&](std::size_t i) {
               return f.pipeline.stages[i].kind.compares;
             });
    };
    user_check(std::ranges::all_of(claim.stages, compares) && limits == 0,
               "{}: {}: expected stages that run compare, in which B is claimed to be better; or a "
               "stage with y, and above, below or is",
               f.place.at(stage), name);
  } else {
    user_check(limits == 1 && claim.stages.size() == 1,
               "{}: {}: expected one stage, and with y one of above, below and is",
               f.place.at(stage), name);
  }
  f.pipeline.claims.push_back(std::move(claim));
}

// Reads a text, or a list of texts.
std::vector<StatementText> alternatives_at(const ReportConfig& f, const toml::node& node,
                                           std::string_view key) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return {statement_text(f, node, key)};
  user_check(!list->empty(), "{}: {}: an empty list", f.place.at(node), key);
  std::vector<StatementText> texts;
  for (const toml::node& one : *list) texts.push_back(statement_text(f, one, key));
  return texts;
}

std::vector<PipelineStatement> statements_at(const ReportConfig& f, const char* list) {
  std::vector<PipelineStatement> statements;
  std::vector<std::string> keys = {"says", "claim"};
  for (const EnumName& one : enum_names(ClaimConclusion())) keys.emplace_back(one.name);
  for (const toml::table* entry : tables_of(f, list, keys)) {
    PipelineStatement statement{.line = line_of(*entry)};
    const toml::node *says = entry->get("says"), *claim = entry->get("claim");
    user_check((says == nullptr) != (claim == nullptr),
               "{}: {}: expected says = \"TEXT\", or claim = \"NAME\" and a text for its "
               "conclusions",
               f.place.at(*entry), list);
    if (claim == nullptr) {
      user_check(entry->size() == 1, "{}: {}: a text for a conclusion without a claim",
                 f.place.at(*entry), list);
      statement.texts = {alternatives_at(f, *says, "says")};
    } else {
      const std::string name = text_at(*claim, "claim", f.place);
      const auto found = std::ranges::find(f.pipeline.claims, name, &PipelineClaim::name);
      user_check(found != f.pipeline.claims.end(), "{}: {}: no claim is called '{}'",
                 f.place.at(*claim), list, name);
      statement.claim = static_cast<std::size_t>(found - f.pipeline.claims.begin());
      for (const EnumName& one : enum_names(ClaimConclusion())) {
        const toml::node* text = entry->get(one.name);
        statement.texts.push_back(text == nullptr ? std::vector<StatementText>()
                                                  : alternatives_at(f, *text, one.name));
      }
      user_check(entry->size() > 1, "{}: {}: no text for any conclusion of the claim '{}'",
                 f.place.at(*entry), list, name);
    }
    statements.push_back(std::move(statement));
  }
  return statements;
}

}  // namespace

void read_picks(const ReportConfig& f) {
  read_named(f, "pick",
             [&](const std::string& name, const toml::node& node) { read_pick(f, name, node); });
}

void read_claims(const ReportConfig& f) {
  read_named(f, "claim",
             [&](const std::string& name, const toml::node& node) { read_claim(f, name, node); });
}

void read_statements(const ReportConfig& f) {
  f.pipeline.question = string_at(f.file, "question", f.place);
  f.pipeline.answer = statements_at(f, "answer");
  f.pipeline.evidence = statements_at(f, "evidence");
  f.pipeline.why = statements_at(f, "why");
  for (const toml::table* entry : tables_of(f, "key_figure", {"name", "value"}))
    f.pipeline.key_figures.push_back(
        {scalar_text(required_key(f, *entry, "name", "key_figure"), "name", f.place),
         statement_text(f, required_key(f, *entry, "value", "key_figure"), "value")});
}

}  // namespace hone
