#include "hone/metrics/gate.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "hone/base/error.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/metrics/metric.h"

namespace hone {
namespace {

constexpr double kMostPoints = 100;
constexpr const char* kMetricsOfClass[] = {"precision", "recall", "f1"};

/// The parts of a gate's text.
struct GateWords {
  std::string metric;
  std::optional<std::string> of_class;
  double points = 0;
};

std::optional<double> number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '_';
  });
}

GateWords words_of(std::string_view text) {
  const auto refuse = [&](std::string_view what) {
    fail(
        "gate '{}': {}; expected METRIC>=-POINTS or METRIC(CLASS)>=-POINTS, as in f1_macro>=-0.5 "
        "or 'recall(legal)>=-2'",
        text, what);
  };
  const std::size_t sign = text.rfind(">=");
  if (sign == std::string_view::npos) refuse("there is no >=");
  const std::string_view name = trim(text.substr(0, sign)), number = trim(text.substr(sign + 2));
  GateWords words;
  const std::size_t open = name.find('(');
  words.metric = trim(name.substr(0, open));
  if (open != std::string_view::npos) {
    if (!name.ends_with(')')) refuse("a class ends with ) before >=");
    words.of_class = trim(name.substr(open + 1, name.size() - open - 2));
    if (words.of_class->empty()) refuse("there is no class between ( and )");
  }
  if (!is_word(words.metric)) refuse(fmt::format("'{}' is not the name of a metric", words.metric));
  const std::optional<double> points = number_in(number);
  if (!points) refuse(fmt::format("'{}' is no number of points", number));
  if (std::abs(*points) > kMostPoints)
    refuse(fmt::format("a metric changes by {} points at most", kMostPoints));
  words.points = *points;
  return words;
}

// Returns f1_macro for macro_f1 and for eval_f1_macro.
std::string usual_name(std::string_view name) {
  constexpr std::string_view kPrefix = "eval_";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  for (const std::string_view average : {"macro", "micro", "weighted", "samples"})
    if (name.starts_with(average) && name.substr(average.size()).starts_with('_'))
      return fmt::format("{}_{}", name.substr(average.size() + 1), average);
  return std::string(name);
}

bool is_of_class(std::string_view metric) {
  return std::ranges::find(kMetricsOfClass, metric) != std::end(kMetricsOfClass);
}

std::vector<std::string> gated_metrics(const LabelScheme& scheme) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics(scheme.task))
    if (metric.greater_is_better && (!metric.of_two_classes || scheme.names.size() == 2))
      names.emplace_back(metric.name);
  return names;
}

std::string shown_names(const std::vector<std::string>& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) shown.push_back(shown_name(name));
  return fmt::format("{}", fmt::join(shown, ", "));
}

[[noreturn]] void refuse_metric(std::string_view text, const std::string& name,
                                const LabelScheme& scheme) {
  std::vector<std::string> known = gated_metrics(scheme);
  const Metric* own = metric_called(scheme.task, name);
  if (own != nullptr && !own->greater_is_better)
    fail("gate '{}': {} is not counted in points; gate {} instead", text, own->text, known.front());
  if (scheme.task != Task::regression && is_of_class(name))
    fail("gate '{}': of which class? Write {}({})>=…, or gate {}_macro; the classes are {}", text,
         name, shown_name(scheme.names.at(0)), name, shown_names(scheme.names));
  if (own != nullptr)
    fail("gate '{}': {} is defined for two classes, and there are {}; gate {}", text, own->text,
         scheme.names.size(), fmt::join(known, ", "));
  std::vector<std::string> near = known;
  if (scheme.task != Task::regression)
    for (const char* metric : kMetricsOfClass) {
      near.emplace_back(metric);
      known.push_back(fmt::format("{}(CLASS)", metric));
    }
  const auto has_it = [&](Task task) { return metric_called(task, name) != nullptr; };
  const auto other = std::ranges::find_if(kTasks, has_it);
  const std::string hint = other == std::end(kTasks)
                               ? did_you_mean(name, near)
                               : fmt::format(", which is a metric of {}; the task is {}",
                                             to_string(*other), to_string(scheme.task));
  fail("gate '{}': expected one of {}, got '{}'{}", text, fmt::join(known, ", "), name, hint);
}

[[noreturn]] void refuse_metric_of_class(std::string_view text, const std::string& name,
                                         const GateWords& words, const LabelScheme& scheme) {
  const std::vector<std::string> known(std::begin(kMetricsOfClass), std::end(kMetricsOfClass));
  if (metric_called(scheme.task, name) != nullptr)
    fail("gate '{}': {} is computed over all classes; for one class, gate {}", text, words.metric,
         fmt::join(known, ", "));
  fail("gate '{}': there is no metric '{}' of one class, expected {}{}", text, words.metric,
       fmt::join(known, ", "), did_you_mean(words.metric, known));
}

std::int64_t class_called(std::string_view text, std::string_view name,
                          const std::vector<std::string>& names) {
  const auto place = [&](std::string_view wanted) -> std::optional<std::int64_t> {
    const auto found = std::ranges::find(names, wanted);
    if (found == names.end()) return std::nullopt;
    return found - names.begin();
  };
  if (const auto exact = place(name)) return *exact;
  const bool quoted = name.size() >= 2 && name.front() == name.back() &&
                      (name.front() == '\'' || name.front() == '"');
  if (quoted) name = name.substr(1, name.size() - 2);
  if (const auto found = place(name)) return *found;
  fail("gate '{}': expected one of the classes {}, got '{}'{}", text, shown_names(names), name,
       did_you_mean(name, names));
}

Gate gate_of_class(const std::string& metric, std::int64_t label, const LabelScheme& scheme) {
  const std::string& name = scheme.names.at(static_cast<std::size_t>(label));
  return {.metric = {fmt::format("{}({})", metric, name),
                     fmt::format("{} of {}", metric == "f1" ? "F1" : metric, shown_name(name))},
          .base_metric = metric,
          .of_class = label,
          .class_name = name,
          .text = {}};
}

Gate gate_on(const GateWords& words, std::string_view text, const LabelScheme& scheme) {
  const std::string name = usual_name(words.metric);
  if (words.of_class) {
    if (scheme.task == Task::regression)
      fail("gate '{}': numbers have no classes; gate {}", text,
           fmt::join(gated_metrics(scheme), ", "));
    if (!is_of_class(name)) refuse_metric_of_class(text, name, words, scheme);
    return gate_of_class(name, class_called(text, *words.of_class, scheme.names), scheme);
  }
  if (scheme.task == Task::single_label && scheme.names.size() == 2 && is_of_class(name))
    return gate_of_class(name, 1, scheme);
  const std::vector<std::string> known = gated_metrics(scheme);
  if (std::ranges::find(known, name) == known.end()) refuse_metric(text, name, scheme);
  const Metric& metric = find_metric(scheme.task, name);
  return {.metric = {name, std::string(metric.text),
                     /*may_be_negative=*/scheme.task == Task::regression},
          .base_metric = name,
          .text = {}};
}

}  // namespace

void check_gate_syntax(std::string_view text) {
  const GateWords words = words_of(text);
  const std::string name = usual_name(words.metric);
  const auto has_it = [&](Task task) { return metric_called(task, name) != nullptr; };
  if (is_of_class(name) || std::ranges::any_of(kTasks, has_it)) return;
  std::vector<std::string> known(std::begin(kMetricsOfClass), std::end(kMetricsOfClass));
  for (const Task task : kTasks)
    for (const Metric& metric : metrics(task)) known.emplace_back(metric.name);
  fail("gate '{}': there is no metric '{}'{}", text, words.metric,
       did_you_mean(words.metric, known));
}

Gate parse_gate(std::string_view text, const LabelScheme& scheme) {
  const GateWords words = words_of(text);
  Gate gate = gate_on(words, text, scheme);
  gate.margin = words.points == 0 ? 0 : -words.points / 100;
  gate.text = text;
  return gate;
}

double gated_value(const Gate& gate, const TaskEvaluation& e) {
  if (!gate.of_class) return find_metric(e.task(), gate.base_metric).value(e);
  const std::vector<ClassMetrics>& all = e.classes() != nullptr
                                             ? e.classes()->of_class
                                             : std::get<MultiLabelEvaluation>(e.details).of_label;
  const PrecisionRecall& of_class = all.at(static_cast<std::size_t>(*gate.of_class)).scores;
  if (gate.base_metric == "precision") return of_class.precision;
  return gate.base_metric == "recall" ? of_class.recall : of_class.f1;
}

}  // namespace hone
