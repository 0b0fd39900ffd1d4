#include "hone/jobs/model_change.h"

#include <algorithm>
#include <numeric>

#include "hone/base/text.h"
#include "hone/jobs/bench_work.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/text_limit.h"
#include "hone/passes/pack.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"
#include "hone/train/memory_check.h"
#include "hone/train/predictor.h"
#include "hone/train/text_examples.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

// Of a batch that is timed.
constexpr std::int64_t kTimedTexts = 8, kTimedTokens = 128;

std::vector<OperationCount> count_operations(const Graph& before, const Graph& after) {
  std::vector<OperationCount> counts;
  const auto count_of = [&](const Node& node) -> OperationCount& {
    const auto found = std::ranges::find(counts, node.op().name, &OperationCount::operation);
    if (found != counts.end()) return *found;
    return counts.emplace_back(OperationCount{.operation = std::string(node.op().name)});
  };
  for (const Node* node : before.of_kind(NodeKind::operation)) ++count_of(*node).before;
  for (const Node* node : after.of_kind(NodeKind::operation)) ++count_of(*node).after;
  return counts;
}

// Both by the same texts, in turn.
TimesInTurn time_both(const Model& before, const Model& after, std::int64_t tokens,
                      Context& context) {
  Predictor first(forward_graph(before), before.parameters, context.session()),
      second(forward_graph(after), after.parameters, context.session());
  const Bindings bindings = {{'B', kTimedTexts}, {'S', tokens}};
  predict_beside({{first.graph(), bindings, first.parameters()},
                   {second.graph(), bindings, second.parameters()}},
                  context.session());
  std::vector<std::int64_t> rows(kTimedTexts);
  std::iota(rows.begin(), rows.end(), 0);
  const NamedTensors batch =
      text_examples(random_examples(after, kTimedTexts, tokens)).batch(rows, 0);
  return time_in_turn([&] { first.rows(batch); }, [&] { second.rows(batch); });
}

// Why no training step can be made of it; empty: one can.
std::string missing_gradient(const Model& model) {
  try {
    Graph graph = model.graph;
    add_training_step(graph, {});
    return "";
  } catch (const UserError& error) {
    return error.what();
  }
}

std::int64_t sum_of(const ModelChange& change, std::int64_t OperationCount::*member) {
  std::int64_t sum = 0;
  for (const OperationCount& count : change.operations) sum += count.*member;
  return sum;
}

// "69 operations, 77 before: dropout 0 (8)."
std::string operations_text(const ModelChange& change) {
  std::string kinds;
  for (const OperationCount& count : change.operations)
    if (count.before != count.after)
      kinds += fmt::format("{}{} {} ({})", kinds.empty() ? ": " : ", ", count.operation,
                           count.after, count.before);
  return fmt::format("{} operations, {} before{}.", sum_of(change, &OperationCount::after),
                     sum_of(change, &OperationCount::before),
                     kinds.empty() ? ", of the same kinds" : kinds);
}

std::string parameters_text(const ModelChange& change) {
  const std::int64_t before = change.size_before.parameters, after = change.size.parameters;
  std::string text =
      before == after ? fmt::format("{} parameters, as before.", grouped(after))
                      : fmt::format("{} parameters, {} before.", grouped(after), grouped(before));
  text += " " + to_text(change.size);
  if (change.size.memory_bytes != change.size_before.memory_bytes)
    text += fmt::format(" Before: {} in memory.",
                        human_bytes(static_cast<double>(change.size_before.memory_bytes)));
  return text;
}

std::string times_text(const ModelChange& change) {
  const TimesInTurn& times = change.times;
  return fmt::format(
      "{}: {:.2f} ms at least and {:.2f} in the median, {:.2f} and {:.2f} "
      "before; "
      "{}.",
      change.timed, times.after.min_ms, times.after.median_ms, times.before.min_ms,
      times.before.median_ms, speedup_text(times));
}

Table answers_table(const ModelChange& change) {
  const BeforeAndAfter& both = *change.answers;
  return comparison_table(
      {{"before", change.bits_before, both.before, std::nullopt, change.arithmetic_before},
       {"after", change.bits, both.after, both.comparison, change.arithmetic, both.verdict}});
}

Table operations_table(const ModelChange& change) {
  Table table({{"operation", "Operation"}, {"before", "Before"}, {"after", "After"}});
  for (const OperationCount& count : change.operations)
    table.add_row({count.operation, count.before, count.after});
  return table;
}

}  // namespace

std::optional<EncodedSplits> load_answer_texts(TextModel& source, const std::string& name,
                                               const AnswerTexts& texts, std::uint64_t seed,
                                               Context& context, std::vector<std::string>& notes) {
  if (texts.data.options.source.empty()) return std::nullopt;
  return load_encoded(source, name, texts.data, texts.split, seed, FiguresOf::one_model, context,
                      notes);
}

ModelChange describe_change(const TextModel& before, const TextModel& after, const fs::path& folder,
                            const std::optional<EncodedSplits>& data, std::int64_t batch_size,
                            Context& context, std::vector<std::string>& notes) {
  ModelChange change;
  change.operations = count_operations(before.model.graph, after.model.graph);
  change.size_before = model_size(before.model, before.folder);
  change.size = model_size(after.model, folder);
  change.batch = kTimedTexts;
  change.tokens = std::min(kTimedTokens, after.model.facts.limits.tokens);
  change.timed = run_size_text(change.batch, change.tokens, after.model.facts.limits);
  change.times = time_both(before.model, after.model, change.tokens, context);
  change.bits_before = average_weight_bits(before.model);
  change.bits = average_weight_bits(after.model);
  change.arithmetic_before = arithmetic_of_run(forward_graph(before.model), context.session());
  change.arithmetic = arithmetic_of_run(forward_graph(after.model), context.session());
  change.others = transformers_loading(after.model);
  change.loading = loading_text(after.model);
  change.no_gradient = missing_gradient(after.model);
  if (!change.no_gradient.empty() && !missing_gradient(before.model).empty())
    change.no_gradient.clear();
  if (data) {
    const Measurement measured =
        measure_before(before, *data, batch_size, context, notes, "the change");
    change.answers = measure_after(after.model, measured, *data, batch_size, /*gates=*/{}, context);
    std::vector<std::string> doubts;
    for (const std::string& concern :
         concerns(change.answers->after.evaluation, after.model.facts.labels))
      doubts.push_back(fmt::format("after, {}", concern));
    tell_warnings(context, doubts);
    notes.insert(notes.end(), doubts.begin(), doubts.end());
  }
  return change;
}

Json to_json(const ModelChange& change, const std::string& model,
             const std::optional<EncodedSplits>& data, const std::vector<std::string>& labels,
             const std::string& before_name, const std::string& after_name) {
  Json fields = data ? subject_of(model, data->identity, data->measured) : Json{{"model", model}};
  Json operations = Json::array();
  for (const OperationCount& count : change.operations)
    operations.push_back(
        {{"operation", count.operation}, {"before", count.before}, {"after", count.after}});
  Json times = {{"batch", change.batch}, {"tokens", change.tokens}};
  times.update(to_json(change.times, before_name, after_name));
  fields.update({{"operations", operations},
                 {"parameters_before", change.size_before.parameters},
                 {"parameters", change.size.parameters},
                 {"size_before", to_json(change.size_before)},
                 {"size", to_json(change.size)},
                 {"times", times},
                 {"arithmetic", change.arithmetic},
                 {"no_gradient", change.no_gradient.empty() ? Json() : Json(change.no_gradient)}});
  fields.update(to_json(change.others));
  if (change.answers) fields.update(to_json(*change.answers, labels));
  return fields;
}

ChangeSentences sentences_of(const ModelChange& change, const std::string& what,
                             const std::optional<EncodedSplits>& data,
                             const std::string& data_setting) {
  ChangeSentences words;
  words.takes = {operations_text(change), parameters_text(change), times_text(change)};
  words.lines = words.takes;
  if (change.answers) {
    words.headline = fmt::format("{}, {}: {}.", what, name_and_size(data->measured),
                                 change.answers->verdict.summary);
    words.caption = figures_caption(change.answers->before, *data, {});
  } else {
    words.headline = fmt::format("{}: what became of its answers was not measured.", what);
    words.lines.push_back(
        fmt::format("Its answers were not measured: {} with texts does that.", data_setting));
  }
  if (!change.no_gradient.empty())
    words.lines.push_back(
        fmt::format("It answers, but cannot be trained any more: {}.", change.no_gradient));
  words.lines.push_back(change.loading);
  return words;
}

std::vector<Section> sections_of(const ModelChange& change, const ChangeSentences& words,
                                 const std::optional<EncodedSplits>& data,
                                 const std::vector<std::string>& labels) {
  Section result{"Result", {}};
  if (change.answers) result.blocks.push_back(PageTable{answers_table(change), words.caption});
  for (const std::string& line : words.lines) result.blocks.push_back(Paragraph{line});
  std::vector<Section> sections = {std::move(result)};
  if (change.answers)
    sections.push_back(details_section(named_evaluations(*change.answers, *data), labels));
  sections.push_back(
      {"Operations",
       {PageTable{operations_table(change), "By kind, of the graph as it is trained."}}});
  return sections;
}

std::function<std::string(const TextStyle&)> text_of(const ModelChange& change,
                                                     const ChangeSentences& words,
                                                     const std::optional<EncodedSplits>& data,
                                                     const std::vector<std::string>& labels,
                                                     const std::string& folder) {
  std::vector<NamedEvaluation> measured;
  if (change.answers) measured = named_evaluations(*change.answers, *data);
  return [=](const TextStyle& style) {
    std::string text;
    if (change.answers)
      text =
          fmt::format("{}\n\n{}\n\n{}\n{}",
                      toned(words.headline, tone_of(change.answers->verdict), style), words.caption,
                      to_text(answers_table(change), style), details_text(measured, labels, style));
    for (const std::string& line : words.lines) text += line + "\n";
    return text + fmt::format("Written to {}\n", folder);
  };
}

Basis basis_of(const ModelChange& change, const std::string& source,
               const std::optional<EncodedSplits>& data) {
  if (data) return basis_of(source, *data, std::string(change.arithmetic), 0);
  return {std::string(change.arithmetic), 0, "none: no text was read", "none",
          "nothing was chosen, and no answer was measured"};
}

}  // namespace hone
