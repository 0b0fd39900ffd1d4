#include "hone/jobs/pipeline/pipeline_file.h"

#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>

#include "hone/base/error.h"
#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_report_config.h"
#include "hone/jobs/pipeline/pipeline_toml.h"
#include "hone/jobs/toml_file.h"

namespace hone {
namespace {

// Keys of a stage's table about the stage itself; all others are options of its command.
constexpr std::string_view kRun = "run", kEach = "each", kBestOf = "best_of", kFails = "fails",
                           kWhenNeeded = "when_needed", kWithOthers = "with_others";
constexpr std::string_view kTaken[] = {"stages", "figures"};  // reserved subfolders

Setting setting_of(const toml::table& table, const TomlPlace& place) {
  Setting setting;
  for (const auto& [name, node] : in_order(table))
    setting.emplace_back(name, scalar_text(*node, name, place));
  return setting;
}

/// Returns all settings of an `each`: a list of tables, or the product of named lists, the last name varying fastest.
std::vector<Setting> settings_of_each(
    const toml::node& node, const TomlPlace& place,
    const std::function<const toml::node&(const toml::node&)>& setting_or_node) {
  std::vector<Setting> all;
  if (const toml::array* list = node.as_array()) {
    for (const toml::node& item : *list) {
      user_check(item.is_table(), "{}: each: expected tables such as {{ width = 8 }}",
                 place.at(item));
      all.push_back(setting_of(*item.as_table(), place));
      const auto same_name = [](const auto& a, const auto& b) { return a.first == b.first; };
      user_check(std::ranges::equal(all.front(), all.back(), same_name),
                 "{}: each: all settings must have the same names in the same order",
                 place.at(item));
    }
  } else {
    user_check(node.is_table(),
               "{}: each: expected lists by name, {{ width = [8, 16] }}, or a list of tables",
               place.at(node));
    all.emplace_back();
    for (const auto& [name, given] : in_order(*node.as_table())) {
      const toml::node* values = &setting_or_node(*given);
      user_check(values->is_array() && !values->as_array()->empty(),
                 "{}: each: {}: expected a list of values", place.at(*values), name);
      std::vector<Setting> longer;
      for (const Setting& setting : all)
        for (const toml::node& value : *values->as_array()) {
          longer.push_back(setting);
          longer.back().emplace_back(name, scalar_text(value, name, place));
        }
      all = std::move(longer);
    }
  }
  user_check(!all.empty() && !all.front().empty(), "{}: each: no settings", place.at(node));
  return all;
}

// "8-4": the folder name, made from all values, or only from the one called `name`.
std::string member_name(const Setting& all) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
  std::string name;
  const std::string* own = value_in(all, "name");
  const Setting setting = own == nullptr ? all : Setting{{"name", *own}};
  for (const auto& [key, value] : setting) {
    if (!name.empty()) name += '-';
    for (const char c : value) name += kPlain.find(c) == std::string_view::npos ? '_' : c;
  }
  return name.front() == '.' ? "_" + name : name;
}

// Returns the kind of the subcommand in the first two words, else that of the command in the first word.
StageKind kind_of(const std::vector<std::string>& command, const StageKinds& kinds) {
  auto found = command.size() < 2 ? kinds.end() : kinds.find(command[0] + " " + command[1]);
  if (found == kinds.end()) found = kinds.find(command.front());
  return found == kinds.end() ? StageKind() : found->second;
}

class PipelineReader {
 public:
  PipelineReader(const toml::table& file, const std::string& where, const StageKinds& kinds,
                 const std::map<std::string, std::string>& given, const std::string& variant)
      : file_(file), place_{where}, kinds_(kinds), given_(given), variant_(variant) {
    pipeline_.where = where;
  }

  Pipeline read() {
    check_keys(file_,
               {"title", "question", "answer", "evidence", "key_figure", "why", "settings",
                "variant", "common", "stage", "figure", "table", "picture", "chapters", "published",
                "published_on", "pick", "claim"},
               "a pipeline", place_);
    pipeline_.title = string_at(file_, "title", place_);
    read_settings();
    list_stages();
    for (std::size_t i = 0; i < pipeline_.stages.size(); ++i) read_stage(i);
    read_report_config(file_, place_, pipeline_);
    sort();
    return std::move(pipeline_);
  }

 private:
  void read_settings() {
    if (const toml::node* node = file_.get("settings"))
      settings_ = &table_at(*node, "settings", place_);
    std::vector<std::string> names;
    if (settings_ != nullptr)
      for (const auto& [name, node] : in_order(*settings_)) {
        check_name(name, "a setting", *node, place_);
        names.push_back(name);
        if (!node->is_array() && !node->is_table())
          pipeline_.settings[name] = scalar_text(*node, name, place_);
      }
    read_variants(names);
    for (const auto& [name, value] : given_) {
      user_check(std::ranges::find(names, name) != names.end(), "{}: has no setting '{}'{}",
                 place_.where, name,
                 names.empty() ? "; it has none at all"
                               : fmt::format("; its settings are {}{}", fmt::join(names, ", "),
                                             did_you_mean(name, names)));
      pipeline_.settings[name] = value;
      replaced_.insert_or_assign(name, replacement(name, value));
    }
  }

  // Replaces settings of the file by those of the requested variant.
  void read_variants(const std::vector<std::string>& settings) {
    std::vector<std::string> names;
    if (const toml::node* variants = file_.get("variant"))
      for (const auto& [name, node] : in_order(table_at(*variants, "variant", place_))) {
        check_name(name, "a variant", *node, place_);
        names.push_back(name);
        const toml::table& table = table_at(*node, name, place_);
        check_keys(table, settings, "a variant, which are settings of the pipeline", place_);
        if (name != variant_) continue;
        for (const auto& [key, value] : in_order(table)) {
          toml::table one;
          one.insert(key, *value);
          replaced_.insert_or_assign(key, std::move(one));
          if (!value->is_array() && !value->is_table())
            pipeline_.settings[key] = scalar_text(*value, key, place_);
        }
      }
    user_check(variant_.empty() || std::ranges::find(names, variant_) != names.end(),
               "{}: has no variant '{}'{}", place_.where, variant_,
               names.empty() ? "; it has none at all"
                             : fmt::format("; its variants are {}{}", fmt::join(names, ", "),
                                           did_you_mean(variant_, names)));
  }

  // Parses a given value with the type of the file's value.
  toml::table replacement(const std::string& name, const std::string& value) const {
    toml::table table;
    if (settings_->get(name)->is_string()) {
      table.insert(name, value);
      return table;
    }
    try {
      return toml::parse(fmt::format("{} = {}", name, value), "setting " + name);
    } catch (const toml::parse_error& error) {
      fail("{}: expected a value of the same type as in the file ({}), got '{}': {}", name,
           place_.at(*settings_->get(name)), value, error.description());
    }
  }

  const toml::node* setting(const std::string& name) const {
    if (const auto given = replaced_.find(name); given != replaced_.end())
      return given->second.get(name);
    return settings_ == nullptr ? nullptr : settings_->get(name);
  }

  // Returns the node itself, or the setting that it refers to: "{widths}".
  const toml::node& setting_or_node(const toml::node& node) const {
    if (!node.is_string()) return node;
    const std::string& text = node.as_string()->get();
    if (text.size() < 3 || text.front() != '{' || text.back() != '}') return node;
    const toml::node* value = setting(text.substr(1, text.size() - 2));
    return value == nullptr ? node : *value;
  }

  bool is_set(const toml::table& table, std::string_view key) const {
    const toml::node* node = table.get(key);
    user_check(node == nullptr || node->is_boolean(), "{}: {}: expected true or false",
               place_.at(node == nullptr ? static_cast<const toml::node&>(table) : *node), key);
    return node != nullptr && node->as_boolean()->get();
  }

  // Lists the stages with their settings, so that others can refer to them.
  void list_stages() {
    const toml::node* stages = file_.get("stage");
    user_check(stages != nullptr, "{}: has no stage; write [stage.NAME] with run = \"COMMAND\"",
               place_.where);
    for (const auto& [name, node] : in_order(table_at(*stages, "stage", place_))) {
      check_name(name, "a stage", *node, place_);
      user_check(std::ranges::find(kTaken, name) == std::end(kTaken),
                 "{}: a stage cannot be called '{}': the pipeline has a folder of that name",
                 place_.at(*node), name);
      const toml::table& table = table_at(*node, name, place_);
      user_check(setting(name) == nullptr,
                 "{}: '{}' is a stage and a setting, so {{{}}} is ambiguous", place_.at(*node),
                 name, name);
      std::vector<Setting> settings = {{}};
      if (const toml::node* each = table.get(kEach))
        settings = settings_of_each(setting_or_node(*each), place_,
                                    [this](const toml::node& value) -> const toml::node& {
                                      return setting_or_node(value);
                                    });
      for (const Setting& setting : settings) {
        PipelineStage stage{.name = name, .group = name, .line = line_of(*node), .command = {}};
        stage.setting = setting;
        if (!setting.empty()) stage.name += "/" + member_name(setting);
        user_check(std::ranges::none_of(
                       pipeline_.stages,
                       [&](const PipelineStage& other) { return other.name == stage.name; }),
                   "{}: each: two settings of {} are called {}", place_.at(*node), name,
                   stage.name);
        for (const auto& [variable, value] : setting)
          user_check(
              this->setting(variable) == nullptr && file_["stage"][variable].node() == nullptr,
              "{}: each: '{}' is also the name of a stage or a setting", place_.at(*node),
              variable);
        if (is_set(table, kWhenNeeded)) when_needed_.insert(pipeline_.stages.size());
        if (is_set(table, kWithOthers)) with_others_.insert(pipeline_.stages.size());
        tables_.push_back(&table);
        pipeline_.stages.push_back(std::move(stage));
      }
    }
  }

  // Returns the stages of the group whose settings agree with `from` in the variables that both have.
  std::vector<std::size_t> members(const std::string& group, const Setting& from) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < pipeline_.stages.size(); ++i) {
      const PipelineStage& stage = pipeline_.stages[i];
      if (stage.group != group) continue;
      const bool fits = std::ranges::all_of(stage.setting, [&](const auto& one) {
        const std::string* own = value_in(from, one.first);
        return own == nullptr || *own == one.second;
      });
      if (fits) found.push_back(i);
    }
    return found;
  }

  bool is_group(const std::string& name) const {
    return std::ranges::any_of(pipeline_.stages,
                               [&](const PipelineStage& s) { return s.group == name; });
  }

  std::optional<std::size_t> index_of(const std::string& name) const {
    const auto found = std::ranges::find(pipeline_.stages, name, &PipelineStage::name);
    if (found == pipeline_.stages.end()) return std::nullopt;
    return static_cast<std::size_t>(found - pipeline_.stages.begin());
  }
  bool is_stage(const std::string& name) const { return index_of(name).has_value(); }

  [[noreturn]] void unknown_name(const std::string& name, const PipelineStage& stage,
                                 const toml::node& node) const {
    std::vector<std::string> known = group_names(pipeline_);
    for (const auto& [key, value] : stage.setting) known.push_back(key);
    if (settings_ != nullptr)
      for (const auto& [key, value] : *settings_) known.emplace_back(key.str());
    fail(
        "{}: {{{}}} is neither a stage nor a setting; there are {}{}; literal braces are written "
        "{{{{ and }}}}",
        place_.at(node), name, fmt::join(known, ", "), did_you_mean(name, known));
  }

  /// Expands a text to its values: one, or in a list one for each stage of a group.
  std::vector<StageValue> values_of(const std::string& text, const PipelineStage& stage,
                                    const toml::node& node, bool in_list) const {
    std::vector<StageValue> values(1);
    const auto append = [&](const std::string& piece) {
      for (StageValue& value : values) (value.stage ? value.suffix : value.prefix) += piece;
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text.compare(i, 2, "{{") == 0 || text.compare(i, 2, "}}") == 0) {
        append(std::string(1, text[i++]));
        continue;
      }
      user_check(text[i] != '}', "{}: unmatched }} in '{}'; a literal one is written }}}}",
                 place_.at(node), text);
      if (text[i] != '{') {
        append(std::string(1, text[i]));
        continue;
      }
      const std::size_t end = text.find('}', i);
      user_check(end != std::string::npos,
                 "{}: unmatched {{ in '{}'; a literal one is written {{{{", place_.at(node), text);
      const std::string name = text.substr(i + 1, end - i - 1);
      i = end;
      if (const std::string* own = value_in(stage.setting, name)) {
        append(*own);
      } else if (const toml::node* value = setting(name)) {
        append(scalar_text(*value, name, place_));
      } else if (name.find('|') != std::string::npos) {
        user_check(!values.front().stage, "{}: '{}' refers to two stages", place_.at(node), text);
        const StageValue found = finding_of(name, stage, node);
        for (StageValue& one : values)
          one = {one.prefix, found.stage, "", found.path, found.fallback};
      } else if (is_group(name) || is_stage(name)) {
        const std::vector<std::size_t> found =
            is_group(name) ? members(name, stage.setting) : std::vector{*index_of(name)};
        user_check(!values.front().stage, "{}: '{}' refers to two stages", place_.at(node), text);
        user_check(!found.empty(), "{}: {}: no stage of {} has the same settings", place_.at(node),
                   stage.name, name);
        user_check(in_list || found.size() == 1,
                   "{}: {{{}}} refers to {} stages here; choose one of them by a stage with "
                   "best_of = \"{{{}}}\", or give this one the same `each`",
                   place_.at(node), name, found.size(), name);
        const std::string before = values.front().prefix;
        values.clear();
        for (const std::size_t one : found) values.push_back({before, one, ""});
      } else {
        unknown_name(name, stage, node);
      }
    }
    return values;
  }

  // Parses "ranking.leader.sampler|tpe": a result of a stage, and the default if there is none.
  StageValue finding_of(const std::string& name, const PipelineStage& stage,
                        const toml::node& node) const {
    const std::size_t dot = name.find('.'), bar = name.find('|');
    user_check(dot < bar, "{}: {{{}}}: expected {{STAGE.PATH|VALUE}}", place_.at(node), name);
    const std::string group = name.substr(0, dot);
    if (!is_group(group)) unknown_name(group, stage, node);
    const std::vector<std::size_t> found = members(group, stage.setting);
    user_check(found.size() == 1, "{}: {{{}}}: {} refers to {} stages here; expected one",
               place_.at(node), name, group, found.size());
    return {.stage = found.front(),
            .path = name.substr(dot + 1, bar - dot - 1),
            .fallback = name.substr(bar + 1)};
  }

  StageOption option_of(const std::string& name, const toml::node& given, PipelineStage& stage) {
    StageOption option{.name = name, .line = line_of(given)};
    const toml::node& node = setting_or_node(given);
    if (const auto* truth = node.as_boolean()) {
      option.flag = truth->get();
      return option;
    }
    const auto add = [&](const toml::node& value, bool in_list) {
      const toml::node& seen = setting_or_node(value);
      for (StageValue& one : values_of(scalar_text(seen, name, place_), stage, value, in_list)) {
        if (one.stage && one.path.empty()) stage.dependencies.push_back(*one.stage);
        option.values.push_back(std::move(one));
      }
    };
    if (const toml::array* list = node.as_array()) {
      for (const toml::node& value : *list) add(value, true);
      user_check(!list->empty(), "{}: {}: an empty list", place_.at(given), name);
    } else {
      add(node, false);
    }
    return option;
  }

  void read_stage(std::size_t index) {
    PipelineStage& stage = pipeline_.stages[index];
    const toml::table& table = *tables_[index];
    const toml::node *run = table.get(kRun), *best_of = table.get(kBestOf);
    user_check((run == nullptr) != (best_of == nullptr),
               "{}: {}: expected run = \"COMMAND\", or best_of = \"{{STAGE}}\"", place_.at(table),
               stage.group);
    stage.chooses = best_of != nullptr;
    if (stage.chooses) {
      const auto choose = std::ranges::find_if(
          kinds_, [](const auto& one) { return !one.second.choice_argument.empty(); });
      HONE_ASSERT(choose != kinds_.end(), "no command chooses");
      stage.command = {choose->first};
      StageOption models{.name = std::string(choose->second.choice_argument),
                         .line = line_of(*best_of)};
      const auto add = [&](const toml::node& value) {
        const std::vector<StageValue> found =
            values_of(scalar_text(value, kBestOf, place_), stage, value, /*in_list=*/true);
        for (const StageValue& one : found) {
          user_check(one.stage && one.prefix.empty() && one.path.empty(),
                     "{}: best_of: expected stages, got '{}'", place_.at(value), one.prefix);
          stage.dependencies.push_back(*one.stage);
          models.values.push_back(one);
        }
      };
      if (const toml::array* list = best_of->as_array()) {
        for (const toml::node& value : *list) add(value);
      } else {
        add(*best_of);
      }
      user_check(!models.values.empty(), "{}: best_of: an empty list", place_.at(*best_of));
      stage.options.push_back(std::move(models));
    } else {
      stage.command = split(string_at(table, kRun, place_), ' ');
      std::erase(stage.command, "");
      user_check(!stage.command.empty(), "{}: run: expected a command of hone", place_.at(*run));
    }
    stage.kind = kind_of(stage.command, kinds_);
    stage.expected_error = string_at(table, kFails, place_);
    for (const auto& [name, node] : in_order(table)) {
      constexpr std::string_view kOwn[] = {kRun, kEach, kBestOf, kFails, kWhenNeeded, kWithOthers};
      if (std::ranges::find(kOwn, name) != std::end(kOwn)) continue;
      StageOption option = option_of(name, *node, stage);
      stage.options.push_back(std::move(option));
    }
    add_common(stage);
    std::ranges::sort(stage.dependencies);
    stage.dependencies.erase(std::unique(stage.dependencies.begin(), stage.dependencies.end()),
                             stage.dependencies.end());
  }

  void add_common(PipelineStage& stage) {
    const toml::node* common = file_.get("common");
    if (common == nullptr) return;
    for (const auto& [name, node] : in_order(table_at(*common, "common", place_))) {
      if (std::ranges::any_of(stage.options,
                              [&, n = name](const StageOption& o) { return o.name == n; }))
        continue;
      const std::size_t needed = stage.dependencies.size();
      StageOption option = option_of(name, *node, stage);
      user_check(stage.dependencies.size() == needed, "{}: common: {} refers to a stage",
                 place_.at(*node), name);
      option.is_common = true;
      stage.options.push_back(std::move(option));
    }
  }

  // Returns the requested stages, those that they need, and `with_others` stages whose references are all present.
  std::set<std::size_t> stages_there() const {
    std::vector<std::size_t> order, path;
    std::set<std::size_t> there;
    for (std::size_t i = 0; i < pipeline_.stages.size(); ++i)
      if (!when_needed_.contains(i) && !with_others_.contains(i)) visit(i, order, path, there);
    for (std::size_t before = 0; before < there.size();) {
      before = there.size();
      for (const std::size_t i : with_others_)
        if (std::ranges::all_of(pipeline_.stages[i].dependencies,
                                [&](std::size_t need) { return there.contains(need); }))
          there.insert(i);
    }
    return there;
  }

  // References to results become dependencies if the stage is present, and defaults if it is not.
  void resolve_values(const std::set<std::size_t>& there) {
    for (PipelineStage& stage : pipeline_.stages)
      for (StageOption& option : stage.options)
        for (StageValue& value : option.values) {
          if (value.path.empty()) continue;
          if (there.contains(*value.stage))
            stage.dependencies.push_back(*value.stage);
          else
            value = {.prefix = value.with(value.fallback)};
        }
  }

  // Sorts each stage after those that it needs, otherwise in the order of the file.
  void sort() {
    const std::set<std::size_t> there = stages_there();
    resolve_values(there);
    const std::vector<PipelineStage>& stages = pipeline_.stages;
    std::vector<std::size_t> order;
    std::vector<std::size_t> path;
    std::set<std::size_t> done;
    for (const std::size_t i : there) visit(i, order, path, done);
    std::vector<std::optional<std::size_t>> place_of(stages.size());
    for (std::size_t i = 0; i < order.size(); ++i) place_of[order[i]] = i;
    std::vector<std::string> stages_before;
    for (const PipelineStage& stage : stages) stages_before.push_back(stage.name);
    std::vector<PipelineStage> sorted;
    for (const std::size_t index : order) sorted.push_back(stages[index]);
    for (PipelineStage& stage : sorted) {
      for (std::size_t& need : stage.dependencies) need = *place_of[need];
      for (StageOption& option : stage.options)
        for (StageValue& value : option.values)
          if (value.stage) value.stage = *place_of[*value.stage];
    }
    pipeline_.stages = std::move(sorted);
    remap_stages(pipeline_, place_of, stages_before);
  }

  void visit(std::size_t index, std::vector<std::size_t>& order, std::vector<std::size_t>& path,
             std::set<std::size_t>& done) const {
    if (done.contains(index)) return;
    const PipelineStage& stage = pipeline_.stages[index];
    if (const auto again = std::ranges::find(path, index); again != path.end()) {
      std::string circle;
      for (auto at = again; at != path.end(); ++at)
        circle += pipeline_.stages[*at].name + " needs ";
      fail("{}: stages depend on each other in a cycle: {}{}",
           fmt::format("{}, line {}", place_.where, stage.line), circle, stage.name);
    }
    path.push_back(index);
    for (const std::size_t need : stage.dependencies) visit(need, order, path, done);
    path.pop_back();
    done.insert(index);
    order.push_back(index);
  }

  const toml::table& file_;
  TomlPlace place_;
  const StageKinds& kinds_;
  const std::map<std::string, std::string>& given_;
  const std::string& variant_;
  const toml::table* settings_ = nullptr;
  std::set<std::size_t> when_needed_, with_others_;
  std::map<std::string, toml::table> replaced_;
  std::vector<const toml::table*> tables_;  // for each stage
  Pipeline pipeline_;
};

}  // namespace

std::string Pipeline::place(int line) const { return fmt::format("{}, line {}", where, line); }

Pipeline parse_pipeline(std::string_view text, const std::string& where, const StageKinds& kinds,
                        const std::map<std::string, std::string>& given,
                        const std::string& variant) {
  const toml::table file = parse_toml(text, where);
  Pipeline pipeline = PipelineReader(file, where, kinds, given, variant).read();
  pipeline.text = text;
  return pipeline;
}

}  // namespace hone
