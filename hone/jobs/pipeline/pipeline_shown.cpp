#include "hone/jobs/pipeline/pipeline_shown.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_claims.h"
#include "hone/jobs/pipeline/pipeline_toml.h"

namespace hone {
namespace {

// "PTQ, margin SNR (dB)" is "ptq_margin_snr_db"; what is no ASCII stays.
std::string key_of_label(const std::string& label) {
  std::string key;
  for (const char c : label) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || byte >= 0x80) {
      key += static_cast<char>(std::tolower(byte));
    } else if (!key.empty() && key.back() != '_') {
      key += '_';
    }
  }
  if (key.ends_with('_')) key.pop_back();
  return key;
}

// "tally.PATH.*.KEY" is a path; what has spaces, braces or parentheses is computed.
bool is_path(std::string_view text) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' ||
           c == '*';
  };
  return !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_') &&
         std::ranges::all_of(text, belongs);
}

// Of a table with `rows`, what its first columns may be called.
bool is_row_key(const std::string& key) { return key == "stage" || key == "name"; }

class ShownReader {
 public:
  ShownReader(const toml::table& file, const TomlPlace& place, Pipeline& pipeline)
      : file_(file), place_(place), pipeline_(pipeline) {}

  void read() {
    if (const toml::node* figures = file_.get("figure"))
      for (const auto& [name, node] : in_order(table_at(*figures, "figure", place_)))
        read_figure(name, *node);
    if (const toml::node* picks = file_.get("pick"))
      for (const auto& [name, node] : in_order(table_at(*picks, "pick", place_)))
        read_pick(name, *node);
    if (const toml::node* tables = file_.get("table"))
      for (const auto& [name, node] : in_order(table_at(*tables, "table", place_)))
        read_table(name, *node);
    if (const toml::node* pictures = file_.get("picture"))
      for (const auto& [name, node] : in_order(table_at(*pictures, "picture", place_)))
        read_picture(name, *node);
    if (const toml::node* chapters = file_.get("chapters"))
      pipeline_.chapters = stages_named(*chapters, "chapters");
    read_published();
    if (const toml::node* claims = file_.get("claim"))
      for (const auto& [name, node] : in_order(table_at(*claims, "claim", place_)))
        read_claim(name, *node);
    pipeline_.question = string_at(file_, "question", place_);
    pipeline_.answer = statements_at("answer");
    pipeline_.evidence = statements_at("evidence");
    pipeline_.why = statements_at("why");
    for (const toml::table* told : tables_of("key_figure", {"name", "value"}))
      pipeline_.key_figures.push_back(
          {scalar_text(needed(*told, "name", "key_figure"), "name", place_),
           statement_text(needed(*told, "value", "key_figure"), "value")});
  }

 private:
  std::vector<std::size_t> stages_named(const toml::node& node, std::string_view key) const {
    std::vector<std::size_t> found;
    const auto add = [&](const toml::node& value) {
      const std::string name = scalar_text(value, key, place_);
      const std::size_t before = found.size();
      for (std::size_t i = 0; i < pipeline_.stages.size(); ++i) {
        const PipelineStage& stage = pipeline_.stages[i];
        if (stage.group == name || glob_match(name, stage.name)) found.push_back(i);
      }
      std::vector<std::string> known = group_names(pipeline_);
      user_check(found.size() > before, "{}: {}: no stage is called '{}'; there are {}{}",
                 place_.at(value), key, name, fmt::join(known, ", "), did_you_mean(name, known));
    };
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& value : *list) add(value);
    } else {
      add(node);
    }
    return found;
  }

  const toml::node& needed(const toml::table& table, const char* key, std::string_view what) const {
    const toml::node* node = table.get(key);
    user_check(node != nullptr, "{}: {}: {} is missing", place_.at(table), what, key);
    return *node;
  }

  void read_figure(const std::string& name, const toml::node& node) {
    check_name(name, "a figure", node, place_);
    user_check(!name.ends_with("_zoom"),
               "{}: a figure cannot be called '{}': files that end so are second looks, zoomed in",
               place_.at(node), name);
    const toml::table& table = table_at(node, name, place_);
    check_keys(table, {"title", "x", "x_label", "y", "y_label", "curve", "reference"}, "a figure",
               place_);
    PipelineFigure figure{.name = name, .line = line_of(node)};
    figure.title = string_at(table, "title", place_, name);
    figure.x = scalar_text(needed(table, "x", name), "x", place_);
    figure.x_label = string_at(table, "x_label", place_, figure.x);
    figure.panels = panels_of(table, name);
    const toml::node& curves = needed(table, "curve", name);
    user_check(curves.is_array(), "{}: {}: expected [[figure.{}.curve]]", place_.at(curves), name,
               name);
    for (const toml::node& item : *curves.as_array()) add_curves(item, figure);
    if (const toml::node* references = table.get("reference")) read_references(*references, figure);
    pipeline_.figures.push_back(std::move(figure));
  }

  // One panel, or as many as `y` lists.
  std::vector<PipelineHeight> panels_of(const toml::table& table, const std::string& name) const {
    const auto texts = [&](const toml::node& node, std::string_view key) {
      std::vector<std::string> list;
      if (const toml::array* array = node.as_array()) {
        for (const toml::node& one : *array) list.push_back(scalar_text(one, key, place_));
      } else {
        list.push_back(scalar_text(node, key, place_));
      }
      return list;
    };
    const toml::node& y = needed(table, "y", name);
    const std::vector<std::string> paths = texts(y, "y");
    const toml::node* given = table.get("y_label");
    const std::vector<std::string> labels = given == nullptr ? paths : texts(*given, "y_label");
    user_check(!paths.empty() && labels.size() == paths.size(),
               "{}: {}: expected a y_label for each y, got {} for {}", place_.at(y), name,
               labels.size(), paths.size());
    std::vector<PipelineHeight> panels;
    for (std::size_t i = 0; i < paths.size(); ++i) panels.push_back({paths[i], labels[i]});
    return panels;
  }

  // A curve, or with `per` one for each value of a variable.
  void add_curves(const toml::node& item, PipelineFigure& figure) const {
    const toml::table& told = table_at(item, "curve", place_);
    const PipelineCurve all = curve_of(told, item, figure);
    const std::string per = string_at(told, "per", place_);
    if (per.empty()) return figure.curves.push_back(all);
    user_check(told.get("label") == nullptr,
               "{}: {}: with `per`, curves are labelled by the values of '{}'", place_.at(item),
               figure.name, per);
    std::vector<PipelineCurve> curves;
    for (const std::size_t index : all.stages) {
      const PipelineStage& stage = pipeline_.stages[index];
      const std::string* value = value_in(stage.setting, per);
      user_check(value != nullptr, "{}: {}: per: '{}' is no variable of the stage {}",
                 place_.at(item), figure.name, per, stage.name);
      auto one = std::ranges::find(curves, *value, &PipelineCurve::label);
      if (one == curves.end())
        one = curves.insert(curves.end(), {.label = *value, .stages = {}, .y = all.y});
      one->stages.push_back(index);
    }
    figure.curves.insert(figure.curves.end(), curves.begin(), curves.end());
  }

  PipelineCurve curve_of(const toml::table& curve, const toml::node& item,
                         const PipelineFigure& figure) const {
    check_keys(curve, {"label", "stages", "y", "per"}, "a curve", place_);
    PipelineCurve one;
    one.stages = stages_named(needed(curve, "stages", "curve"), "stages");
    one.label = string_at(curve, "label", place_, pipeline_.stages[one.stages.front()].group);
    one.y = string_at(curve, "y", place_);
    user_check(one.y.empty() || figure.panels.size() == 1,
               "{}: {}: a curve has a y of its own only in a figure of one panel", place_.at(item),
               figure.name);
    for (const std::size_t index : one.stages) {
      const PipelineStage& stage = pipeline_.stages[index];
      user_check(!figure.is_of_trials() || stage.kind.searches,
                 "{}: {}: the stage {} runs {}, which has no trials; those of search have",
                 place_.at(item), figure.name, stage.name, stage.command.front());
      const bool is_known = figure.x == kEpochs || figure.x == kSteps || figure.is_of_trials() ||
                            figure.x.find('.') != std::string::npos ||
                            value_in(stage.setting, figure.x) != nullptr;
      user_check(is_known,
                 "{}: {}: x: '{}' is no variable of the stage {}, and no path into its result, "
                 "which has a '.'",
                 place_.at(item), figure.name, figure.x, stage.name);
    }
    return one;
  }

  void read_references(const toml::node& list, PipelineFigure& figure) const {
    user_check(list.is_array(), "{}: {}: expected [[figure.{}.reference]]", place_.at(list),
               figure.name, figure.name);
    for (const toml::node& item : *list.as_array()) {
      const toml::table& told = table_at(item, "reference", place_);
      check_keys(told, {"label", "stage", "y"}, "a reference", place_);
      const std::vector<std::size_t> found =
          stages_named(needed(told, "stage", "reference"), "stage");
      user_check(found.size() == 1, "{}: {}: a reference is of one stage, not {}", place_.at(item),
                 figure.name, found.size());
      PipelineReference one{.stage = found.front(),
                            .y = scalar_text(needed(told, "y", "reference"), "y", place_)};
      one.label = string_at(told, "label", place_, pipeline_.stages[one.stage].name);
      figure.references.push_back(std::move(one));
    }
  }

  // Of a table with `by`: which row a stage is in.
  void check_row(const PipelineStage& stage, const std::string& by, const std::string& name,
                 const toml::node& item) const {
    user_check(by == "stage" || value_in(stage.setting, by) != nullptr,
               "{}: {}: by: '{}' is no variable of the stage {}", place_.at(item), name, by,
               stage.name);
  }

  PipelineColumn column_of(const toml::node& item, const PipelineTable& table) const {
    const toml::table& told = table_at(item, "column", place_);
    check_keys(told, {"label", "stages", "y", "within"}, "a column", place_);
    PipelineColumn column;
    if (table.rows.empty()) {
      column.stages = stages_named(needed(told, "stages", "column"), "stages");
      for (const std::size_t index : column.stages)
        check_row(pipeline_.stages[index], table.by, table.name, item);
    } else {
      user_check(told.get("stages") == nullptr,
                 "{}: {}: with `rows`, the stages are those of the table", place_.at(item),
                 table.name);
    }
    const toml::node *y = told.get("y"), *within = told.get("within");
    user_check((y == nullptr) != (within == nullptr),
               "{}: {}: expected y = \"PATH\" or within = NUMBER", place_.at(item), table.name);
    if (y != nullptr) {
      column.y = formula_at(*y, "y");
    } else {
      user_check(within->is_number() && *within->value<double>() >= 0,
                 "{}: {}: within: expected a number from 0 on, in units of the objective",
                 place_.at(*within), table.name);
      for (const std::size_t index : column.stages)
        user_check(
            pipeline_.stages[index].kind.searches,
            "{}: {}: within: the stage {} runs {}, which has no trials; those of search have",
            place_.at(*within), table.name, pipeline_.stages[index].name,
            pipeline_.stages[index].command.front());
      user_check(table.rows.empty(), "{}: {}: within is for tables with `by`", place_.at(*within),
                 table.name);
      column.within = *within->value<double>();
    }
    column.label =
        string_at(told, "label", place_, y == nullptr ? "trials" : scalar_text(*y, "y", place_));
    column.key = key_of_label(column.label);
    user_check(!column.key.empty(), "{}: {}: label: expected letters or digits, got '{}'",
               place_.at(item), table.name, column.label);
    const bool is_first = column.key == table.by || (table.by.empty() && is_row_key(column.key));
    user_check(!is_first && std::ranges::find(table.columns, column.key, &PipelineColumn::key) ==
                                table.columns.end(),
               "{}: {}: label: two columns would be called '{}' in {}.csv; choose another label",
               place_.at(item), table.name, column.key, table.name);
    return column;
  }

  void read_table(const std::string& name, const toml::node& node) {
    check_name(name, "a table", node, place_);
    user_check(name != "results" && name != "stages",
               "{}: a table cannot be called '{}': the pipeline has one of that name",
               place_.at(node), name);
    const toml::table& told = table_at(node, name, place_);
    check_keys(told, {"title", "by", "rows", "stages", "folded", "column"}, "a table", place_);
    PipelineTable table{.name = name, .line = line_of(node)};
    table.title = string_at(told, "title", place_, name);
    table.by = string_at(told, "by", place_);
    table.rows = string_at(told, "rows", place_);
    if (const toml::node* folded = told.get("folded")) {
      user_check(folded->is_boolean(), "{}: {}: folded: expected true or false", place_.at(*folded),
                 name);
      table.folded = folded->as_boolean()->get();
    }
    user_check(table.by.empty() != table.rows.empty(),
               "{}: {}: expected by = \"VARIABLE\" or \"stage\", or rows = \"PATH\"",
               place_.at(node), name);
    const toml::node& list = needed(told, "column", name);
    user_check(list.is_array() && !list.as_array()->empty(), "{}: {}: expected [[table.{}.column]]",
               place_.at(list), name, name);
    for (const toml::node& item : *list.as_array()) table.columns.push_back(column_of(item, table));
    user_check(!table.rows.empty() || told.get("stages") == nullptr,
               "{}: {}: stages stand in the columns of a table with `by`", place_.at(node), name);
    if (!table.rows.empty()) {
      const std::vector<std::size_t> stages = stages_named(needed(told, "stages", name), "stages");
      check_rows(table.rows, stages, node, name);
      for (PipelineColumn& column : table.columns) column.stages = stages;
    }
    pipeline_.tables.push_back(std::move(table));
  }

  void read_picture(const std::string& name, const toml::node& node) {
    const toml::table& told = table_at(node, name, place_);
    check_keys(told, {"title", "stage", "file"}, "a picture", place_);
    const toml::node &stage = needed(told, "stage", name), &file = needed(told, "file", name);
    const std::vector<std::size_t> found = stages_named(stage, "stage");
    user_check(found.size() == 1, "{}: {}: expected one stage", place_.at(stage), name);
    PipelinePicture picture{.title = string_at(told, "title", place_, name),
                            .stage = found.front(),
                            .file = scalar_text(file, "file", place_)};
    const std::filesystem::path path(picture.file);
    user_check(path.extension() == ".svg" && !path.has_parent_path(),
               "{}: {}: expected the name of an .svg file of the stage, got '{}'", place_.at(file),
               name, picture.file);
    pipeline_.pictures.push_back(std::move(picture));
  }

  // The tables of a list [[NAME]], with these keys.
  std::vector<const toml::table*> tables_of(const char* name,
                                            const std::vector<std::string>& keys) const {
    const toml::node* node = file_.get(name);
    if (node == nullptr) return {};
    user_check(node->is_array(), "{}: {}: expected [[{}]]", place_.at(*node), name, name);
    std::vector<const toml::table*> tables;
    for (const toml::node& item : *node->as_array()) {
      tables.push_back(&table_at(item, name, place_));
      check_keys(*tables.back(), keys, fmt::format("[[{}]]", name), place_);
    }
    return tables;
  }

  void read_published() {
    pipeline_.published_on = string_at(file_, "published_on", place_);
    for (const toml::table* told :
         tables_of("published", {"what", "value", "source", "figure", "marks"})) {
      PublishedNumber number{scalar_text(needed(*told, "what", "published"), "what", place_),
                             scalar_text(needed(*told, "value", "published"), "value", place_),
                             scalar_text(needed(*told, "source", "published"), "source", place_)};
      if (const toml::node* marks = told->get("marks")) number.marks = marks_of(*told, *marks);
      pipeline_.published.push_back(std::move(number));
    }
  }

  std::vector<PublishedNumber::Mark> marks_of(const toml::table& told,
                                              const toml::node& node) const {
    const std::string name = scalar_text(needed(told, "figure", "published"), "figure", place_);
    const auto figure = std::ranges::find(pipeline_.figures, name, &PipelineFigure::name);
    user_check(figure != pipeline_.figures.end(), "{}: published: no figure is called '{}'",
               place_.at(told), name);
    std::vector<PublishedNumber::Mark> marks;
    const toml::array* list = node.as_array();
    const auto is_number = [](const toml::node& value) { return value.is_number(); };
    const bool is_list =
        list != nullptr && !list->empty() &&
        std::ranges::all_of(*list, [&](const toml::node& mark) {
          const toml::array* place = mark.as_array();
          return place != nullptr && place->size() == 2 && std::ranges::all_of(*place, is_number);
        });
    user_check(is_list, "{}: published: marks: expected a list of [x, y]", place_.at(node));
    for (const toml::node& mark : *list)
      marks.push_back({static_cast<std::size_t>(figure - pipeline_.figures.begin()),
                       *mark.as_array()->get(0)->value<double>(),
                       *mark.as_array()->get(1)->value<double>()});
    return marks;
  }

  void read_pick(const std::string& name, const toml::node& node) {
    check_name(name, "a pick", node, place_);
    const std::vector<std::string> known = group_names(pipeline_);
    user_check(std::ranges::find(known, name) == known.end() && !pipeline_.settings.contains(name),
               "{}: '{}' is a stage or a setting too", place_.at(node), name);
    const toml::table& told = table_at(node, name, place_);
    check_keys(told, {"stages", "rows", "highest", "lowest", "where"}, "a pick", place_);
    const toml::node *highest = told.get("highest"), *lowest = told.get("lowest");
    user_check((highest == nullptr) != (lowest == nullptr),
               "{}: {}: expected highest = \"PATH\" or lowest = \"PATH\"", place_.at(node), name);
    PipelinePick pick{
        .name = name,
        .line = line_of(node),
        .stages = stages_named(needed(told, "stages", name), "stages"),
        .rows = string_at(told, "rows", place_),
        .by = highest != nullptr ? formula_at(*highest, "highest") : formula_at(*lowest, "lowest"),
        .highest = highest != nullptr};
    check_rows(pick.rows, pick.stages, node, name);
    if (const toml::node* where = told.get("where"))
      for (const std::string& text : texts_at(*where, "where", place_)) {
        FormulaConstraint both = with_context(fmt::format("{}: where", place_.at(*where)), [&] {
          return parse_constraint(with_settings(text));
        });
        pick.where.push_back({.left = value_formula(std::move(both.left), *where, "where"),
                              .right = value_formula(std::move(both.right), *where, "where")});
      }
    pipeline_.picks.push_back(std::move(pick));
  }

  std::optional<std::size_t> pick_named(const std::string& name) const {
    const auto pick = std::ranges::find(pipeline_.picks, name, &PipelinePick::name);
    if (pick == pipeline_.picks.end()) return std::nullopt;
    return static_cast<std::size_t>(pick - pipeline_.picks.begin());
  }

  void read_claim(const std::string& name, const toml::node& node) {
    check_name(name, "a claim", node, place_);
    const toml::table& table = table_at(node, name, place_);
    check_keys(table, {"says", "source", "stage", "y", "above", "below", "is", "found"}, "a claim",
               place_);
    PipelineClaim claim{.name = name, .line = line_of(node)};
    claim.says = scalar_text(needed(table, "says", name), "says", place_);
    claim.source = string_at(table, "source", place_);
    const toml::node& stage = needed(table, "stage", name);
    const std::optional<std::size_t> pick =
        stage.is_string() ? pick_named(stage.as_string()->get()) : std::nullopt;
    if (pick) {
      claim.stages = {{.pick = pick}};
    } else {
      for (const std::size_t index : stages_named(stage, "stage"))
        claim.stages.push_back({.stage = index});
    }
    if (const toml::node* y = table.get("y")) claim.y = formula_at(*y, "y");
    claim.is = string_at(table, "is", place_);
    if (const toml::node* found = table.get("found")) claim.found = statement_text(*found, "found");
    for (const auto& [key, bound] :
         {std::pair("above", &claim.above), std::pair("below", &claim.below)})
      if (const toml::node* value = table.get(key)) *bound = formula_at(*value, key);
    const auto limits =
        std::ptrdiff_t{claim.above.has_value()} + claim.below.has_value() + !claim.is.empty();
    if (!claim.y) {
      const auto compares = [&](const StageReference& one) {
        if (one.stage) return pipeline_.stages[*one.stage].kind.compares;
        const PipelinePick& pick = pipeline_.picks[*one.pick];
        return pick.rows.empty() && std::ranges::all_of(pick.stages, [&](std::size_t i) {
                 return pipeline_.stages[i].kind.compares;
               });
      };
      user_check(std::ranges::all_of(claim.stages, compares) && limits == 0,
                 "{}: {}: expected stages that run compare, of which B is said to be the better; "
                 "or a stage with y, and above, below or is",
                 place_.at(stage), name);
    } else {
      user_check(limits == 1 && claim.stages.size() == 1,
                 "{}: {}: expected one stage, and with y one of above, below and is",
                 place_.at(stage), name);
    }
    pipeline_.claims.push_back(std::move(claim));
  }

  std::vector<PipelineStatement> statements_at(const char* list) const {
    std::vector<PipelineStatement> statements;
    std::vector<std::string> keys = {"says", "claim"};
    for (const EnumWord& one : enum_words(ClaimConclusion())) keys.emplace_back(one.word);
    for (const toml::table* told : tables_of(list, keys)) {
      PipelineStatement statement{.line = line_of(*told)};
      const toml::node *says = told->get("says"), *claim = told->get("claim");
      user_check((says == nullptr) != (claim == nullptr),
                 "{}: {}: expected says = \"TEXT\", or claim = \"NAME\" and a text for its "
                 "conclusions",
                 place_.at(*told), list);
      if (claim == nullptr) {
        user_check(told->size() == 1, "{}: {}: a text for a conclusion without a claim",
                   place_.at(*told), list);
        statement.says = statement_text(*says, "says");
      } else {
        const std::string name = text_at(*claim, "claim", place_);
        const auto found = std::ranges::find(pipeline_.claims, name, &PipelineClaim::name);
        user_check(found != pipeline_.claims.end(), "{}: {}: no claim is called '{}'",
                   place_.at(*claim), list, name);
        statement.claim = static_cast<std::size_t>(found - pipeline_.claims.begin());
        for (const EnumWord& one : enum_words(ClaimConclusion())) {
          const toml::node* text = told->get(one.word);
          statement.by_conclusion.push_back(text == nullptr ? StatementText()
                                                            : statement_text(*text, one.word));
        }
        user_check(told->size() > 1, "{}: {}: no text for any conclusion of the claim '{}'",
                   place_.at(*told), list, name);
      }
      statements.push_back(std::move(statement));
    }
    return statements;
  }

  // "rounded to {narrow.width} bits, {narrow.after.eval_accuracy:value}"
  StatementText statement_text(const toml::node& node, std::string_view key) const {
    const std::string text = text_at(node, key, place_);
    StatementText statement;
    std::string before;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "}}") == 0) {
        before += text[i++];
        continue;
      }
      if (text[i] != '{') {
        before += text[i];
        continue;
      }
      const std::size_t end = text.find('}', i);
      user_check(end != std::string::npos, "{}: {}: a {{ without its }} in '{}'", place_.at(node),
                 key, text);
      const std::string name = text.substr(i + 1, end - i - 1);
      i = end;
      if (const auto setting = pipeline_.settings.find(name); setting != pipeline_.settings.end()) {
        before += setting->second;
        continue;
      }
      statement.pieces.push_back(value_piece(name, node, key));
      statement.pieces.back().text = std::exchange(before, "");
    }
    if (!before.empty()) statement.pieces.push_back({.text = std::move(before)});
    return statement;
  }

  StatementText::Piece value_piece(const std::string& name, const toml::node& node,
                                   std::string_view key) const {
    using Form = StatementText::Form;
    constexpr std::pair<std::string_view, Form> kForms[] = {{":value", Form::value},
                                                            {":count", Form::count}};
    StatementText::Piece piece;
    std::string whole = name;
    for (const auto& [ending, form] : kForms)
      if (name.ends_with(ending)) {
        whole.resize(name.size() - ending.size());
        piece.form = form;
      }
    piece.value = reference_of(whole, node, key);
    user_check(
        piece.form != Form::count || (piece.value->from.pick && piece.value->path.empty()),
        "{}: {}: {{{}}}: expected a pick, how many of whose stages or rows fulfil its conditions",
        place_.at(node), key, name);
    return piece;
  }

  // "STAGE.PATH", "PICK.PATH" or "PICK". Names and paths both have dots: the longest name counts.
  ValueReference reference_of(const std::string& name, const toml::node& node,
                              std::string_view key) const {
    ValueReference value;
    value.from.pick = pick_named(name);
    if (value.from.pick) return value;
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0;
         dot = name.rfind('.', dot - 1)) {
      const std::string owner = name.substr(0, dot);
      value.path = name.substr(dot + 1);
      value.from.pick = pick_named(owner);
      if (value.from.pick) return value;
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < pipeline_.stages.size(); ++i)
        if (pipeline_.stages[i].name == owner || pipeline_.stages[i].group == owner)
          found.push_back(i);
      if (found.empty()) continue;
      user_check(found.size() == 1, "{}: {}: {{{}}}: {} is {} stages; name one, or a pick",
                 place_.at(node), key, name, owner, found.size());
      value.from.stage = found.front();
      return value;
    }
    fail("{}: {}: {{{}}}: expected a setting, or {{STAGE.PATH}}, {{PICK.PATH}} or {{PICK}}",
         place_.at(node), key, name);
  }

  // With the values of settings in place of their names.
  std::string with_settings(const std::string& text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
      const auto setting = end == std::string::npos
                               ? pipeline_.settings.end()
                               : pipeline_.settings.find(text.substr(i + 1, end - i - 1));
      if (setting == pipeline_.settings.end()) {
        result += text[i];
      } else {
        result += setting->second;
        i = end;
      }
    }
    return result;
  }

  ValueFormula value_formula(MetricFormula formula, const toml::node& node,
                             std::string_view key) const {
    ValueFormula made{.formula = std::move(formula)};
    for (const std::string& name : made.formula.names()) {
      if (name.starts_with('{'))
        made.others.emplace(name, reference_of(name.substr(1, name.size() - 2), node, key));
      else if (name == made.formula.text())
        made.path = name;
    }
    return made;
  }

  ValueFormula formula_at(const toml::node& node, std::string_view key) const {
    const std::string text = with_settings(scalar_text(node, key, place_));
    if (is_path(text)) return {.path = text};
    return value_formula(with_context(fmt::format("{}: {}", place_.at(node), key),
                                      [&] { return parse_formula(text); }),
                         node, key);
  }

  // Of a table or a pick: trials are rows of searches.
  void check_rows(const std::string& rows, const std::vector<std::size_t>& stages,
                  const toml::node& node, const std::string& name) const {
    if (rows != kTrials) return;
    for (const std::size_t index : stages)
      user_check(pipeline_.stages[index].kind.searches,
                 "{}: {}: rows: the stage {} runs {}, which has no trials; those of search have",
                 place_.at(node), name, pipeline_.stages[index].name,
                 pipeline_.stages[index].command.front());
  }

  const toml::table& file_;
  const TomlPlace& place_;
  Pipeline& pipeline_;
};

// Stages that are left out go from lists.
void keep(std::vector<std::size_t>& named, const std::vector<std::optional<std::size_t>>& moved) {
  std::vector<std::size_t> left;
  for (const std::size_t stage : named)
    if (moved[stage]) left.push_back(*moved[stage]);
  named = std::move(left);
}

}  // namespace

void read_shown(const toml::table& file, const TomlPlace& place, Pipeline& pipeline) {
  ShownReader(file, place, pipeline).read();
}

void follow_stages(Pipeline& pipeline, const std::vector<std::optional<std::size_t>>& moved,
                   const std::vector<std::string>& names) {
  const auto follow_value = [&](ValueReference& value) {
    if (value.from.stage) value.from.stage = moved[*value.from.stage];
  };
  const auto follow_formula = [&](ValueFormula& formula) {
    for (auto& [name, value] : formula.others) follow_value(value);
  };
  for (PipelineTable& table : pipeline.tables)
    for (PipelineColumn& column : table.columns) {
      keep(column.stages, moved);
      follow_formula(column.y);
    }
  const auto left_out = [&](const std::string& what, int line, std::size_t stage) {
    fail("{}, line {}: {}: the stage {} is left out, as no other needs it", pipeline.where, line,
         what, names[stage]);
  };
  keep(pipeline.chapters, moved);
  for (PipelineFigure& figure : pipeline.figures) {
    for (PipelineCurve& curve : figure.curves) keep(curve.stages, moved);
    for (PipelineReference& reference : figure.references) {
      if (!moved[reference.stage]) left_out("figure " + figure.name, figure.line, reference.stage);
      reference.stage = *moved[reference.stage];
    }
  }
  for (PipelinePicture& picture : pipeline.pictures) {
    if (!moved[picture.stage]) left_out("picture " + picture.title, 1, picture.stage);
    picture.stage = *moved[picture.stage];
  }
  for (PipelinePick& pick : pipeline.picks) {
    keep(pick.stages, moved);
    follow_formula(pick.by);
    for (ValueCondition& condition : pick.where) {
      follow_formula(condition.left);
      follow_formula(condition.right);
    }
  }
  for (PipelineClaim& claim : pipeline.claims) {
    for (std::optional<ValueFormula>* formula : {&claim.y, &claim.above, &claim.below})
      if (*formula) follow_formula(**formula);
    for (StageReference& reference : claim.stages) {
      if (!reference.stage) continue;
      if (!moved[*reference.stage]) left_out("claim " + claim.name, claim.line, *reference.stage);
      reference.stage = moved[*reference.stage];
    }
  }
  const auto follow = [&](StatementText& text) {
    for (StatementText::Piece& piece : text.pieces)
      if (piece.value) follow_value(*piece.value);
  };
  for (std::vector<PipelineStatement>* statements :
       {&pipeline.answer, &pipeline.evidence, &pipeline.why})
    for (PipelineStatement& statement : *statements) {
      follow(statement.says);
      for (StatementText& text : statement.by_conclusion) follow(text);
    }
  for (PipelineKeyFigure& figure : pipeline.key_figures) follow(figure.value);
  for (PipelineClaim& claim : pipeline.claims) follow(claim.found);
}

}  // namespace hone
