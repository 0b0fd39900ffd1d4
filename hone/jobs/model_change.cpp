#include "hone/jobs/model_change.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/bench_work.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/job_options.h"
#include "hone/models/text_limit.h"
#include "hone/passes/pack.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"
#include "hone/train/training_graph.h"

namespace hone {
namespace {

constexpr std::string_view kChanged = "changed";  // a pass or a merged adapter need not compress

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

// Returns why the model has no training step, or "".
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

// "77 → 69"
std::string count_change(std::int64_t before, std::int64_t after) {
  return before == after ? fmt::format("{} (unchanged)", grouped(after))
                         : fmt::format("{} → {}", grouped(before), grouped(after));
}

std::string operations_change(const ModelChange& change) {
  return count_change(sum_of(change, &OperationCount::before),
                      sum_of(change, &OperationCount::after));
}

// "Operations: 77 → 69; dropout 8 → 0."
std::string operations_text(const ModelChange& change) {
  std::string kinds;
  for (const OperationCount& count : change.operations)
    if (count.before != count.after)
      kinds += fmt::format("{}{} {} → {}", kinds.empty() ? "; " : ", ", count.operation,
                           count.before, count.after);
  return fmt::format("Operations: {}{}.", operations_change(change), kinds);
}

Table metrics_table(const ModelChange& change) {
  const BeforeAndAfter& both = *change.metrics;
  return comparison_table(
      {{change.name_before, change.bits_before, both.before, std::nullopt,
        change.arithmetic_before},
       {change.name, change.bits, both.after, both.comparison, change.arithmetic}});
}

// Lists the kinds whose number changed, or all.
Table operations_table(const ModelChange& change, bool of_all) {
  Table table({{"operation", "Operation"}, {"before", "Baseline"}, {"after", "Changed"}});
  for (const OperationCount& count : change.operations)
    if (of_all || count.before != count.after)
      table.add_row({count.operation, count.before, count.after});
  return table;
}

std::vector<Section> sections_of(const ModelChange& change,
                                 const std::optional<EncodedSplits>& data,
                                 const std::vector<std::string>& labels) {
  Section first;
  if (change.metrics) {
    first.blocks.push_back(
        PageTable{metrics_table(change), metrics_caption(change.metrics->before, *data, {})});
  } else if (const Table changed = operations_table(change, /*of_all=*/false);
             !changed.rows().empty()) {
    first.blocks.push_back(PageTable{changed, "Operations whose number changed."});
  }
  if (!change.no_gradient.empty())
    first.blocks.push_back(Paragraph{
        fmt::format("The model can predict, but not be trained: {}.", change.no_gradient)});
  first.blocks.push_back(Paragraph{change.loading});
  std::vector<Section> sections = {std::move(first)};
  if (change.metrics)
    sections.push_back(
        details_section(named_evaluations(*change.metrics, *data, kChanged), labels));
  sections.push_back(
      {"Operations",
       {PageTable{operations_table(change, /*of_all=*/true), "By kind, in the training graph."}},
       /*folded=*/true});
  sections.push_back(size_and_latency_section(change.size_and_time));
  return sections;
}

}  // namespace

std::optional<EncodedSplits> load_evaluation_data(TextModel& source, const std::string& name,
                                                  const EvaluationData& texts, std::uint64_t seed,
                                                  Context& context,
                                                  std::vector<std::string>& notes) {
  if (texts.data.options.source.empty()) return std::nullopt;
  return load_encoded(source, name, texts.data, texts.split, seed, MetricsOf::one_model, context,
                      notes);
}

ModelChange measure_change(const TextModel& before, const TextModel& after, const fs::path& folder,
                           const std::optional<EncodedSplits>& data, std::int64_t batch_size,
                           Context& context, std::vector<std::string>& notes) {
  ModelChange change;
  change.operations = count_operations(before.model.graph, after.model.graph);
  const EncodedSet timed = data ? data->test
                                : random_examples(after.model, kLatencyBatches.front(),
                                                  tokens_of_run(0, after.model.facts.limits));
  change.size_and_time = size_and_time(before, timed, after.model, timed, folder, context);
  change.bits_before = average_weight_bits(before.model);
  change.bits = average_weight_bits(after.model);
  change.arithmetic_before = arithmetic_of_run(forward_graph(before.model), context.session());
  change.arithmetic = arithmetic_of_run(forward_graph(after.model), context.session());
  change.loading = loading_text(after.model);
  change.no_gradient = missing_gradient(after.model);
  if (!change.no_gradient.empty() && !missing_gradient(before.model).empty())
    change.no_gradient.clear();
  if (data) {
    const Measurement measured =
        measure_before(before, *data, batch_size, context, notes, "the change");
    change.metrics = measure_after(after.model, measured, *data, batch_size, /*gates=*/{}, context,
                                   fmt::format("{}, {}", kChanged, data->measured.facts.split));
    std::vector<std::string> doubts;
    for (const std::string& concern :
         concerns(change.metrics->after.evaluation, after.model.facts.labels))
      doubts.push_back(fmt::format("after the change, {}", concern));
    print_warnings(context, doubts);
    notes.insert(notes.end(), doubts.begin(), doubts.end());
  }
  return change;
}

const Fields& fields_of(const OperationCount*) {
  using O = OperationCount;
  static const Fields fields =
      describe<O>("operation_count", "Operations of one kind in the training graph of a model.",
                  field<&O::operation>("operation", "The kind."),
                  field<&O::before>("before", "How many the baseline has."),
                  field<&O::after>("after", "How many the changed model has."));
  return fields;
}

const Fields& fields_of(const ModelChangeResult*) {
  using M = ModelChangeResult;
  static const Fields fields = describe<M>(
      "model_change", "A model changed without training, before and after.",
      field<&M::model>("model", "The model as it was named."),
      field<&M::data>("data", "The data the metric was measured on; null without --data."),
      inlined<&M::measured>(), field<&M::operations>("operations", "Each kind of operation."),
      field<&M::parameters_before>("parameters_before", "Number of parameters of the baseline."),
      field<&M::parameters>("parameters", "Number of parameters."), inlined<&M::size_and_time>(),
      field<&M::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&M::no_gradient>("no_gradient",
                             "Why the model can no longer be trained; null: it can, or the "
                             "baseline could not either."),
      inlined<&M::metrics>());
  return fields;
}

ModelChangeResult model_change_result(const ModelChange& change, const std::string& model,
                                      const std::optional<EncodedSplits>& data,
                                      const std::vector<std::string>& labels) {
  ModelChangeResult result{.model = model,
                           .operations = change.operations,
                           .parameters_before = change.size_and_time.size_before.parameters,
                           .parameters = change.size_and_time.size.parameters,
                           .size_and_time = size_and_time_result(change.size_and_time),
                           .arithmetic = std::string(change.arithmetic)};
  if (data) {
    SubjectResult subject = subject_result(model, data->identity, data->measured);
    result.data = std::move(subject.data);
    result.measured = std::move(subject.measured);
  }
  if (!change.no_gradient.empty()) result.no_gradient = change.no_gradient;
  if (change.metrics) result.metrics = before_and_after_result(*change.metrics, labels);
  return result;
}

CardFacts card_facts(const ModelChangeResult& change) {
  CardFacts facts;
  if (change.metrics)
    facts = facts_of_change({change.model, change.data.value_or(DataResult{}), change.measured},
                            *change.metrics);
  facts.base = change.model;
  facts.no_metrics_reason = "It was not evaluated. Metrics of the baseline do not apply to it.";
  return facts;
}

std::vector<std::string> lines_of(const ModelChange& change) {
  std::vector<std::string> lines = {operations_text(change)};
  for (std::string& line : lines_of(change.size_and_time)) lines.push_back(std::move(line));
  return lines;
}

void describe_change(Document& document, const std::string& what, const ModelChange& change,
                     const std::optional<EncodedSplits>& data, const std::string& data_setting,
                     const std::vector<std::string>& labels) {
  if (change.metrics) {
    describe_change(document, what, *change.metrics, data->measured);
  } else {
    document.headline =
        fmt::format("{}: operations {}, accuracy not measured", what, operations_change(change));
    document.evidence = fmt::format("Give {} to measure how predictions changed.", data_setting);
  }
  prepend_key_figures(document, size_and_latency_facts(change.size_and_time));
  document.sections = sections_of(change, data, labels);
}

Basis basis_of(const ModelChange& change, const std::string& source,
               const std::optional<EncodedSplits>& data) {
  if (data) return basis_of(source, *data, std::string(change.arithmetic), 0);
  return {std::string(change.arithmetic), 0, "none", "none", "nothing was chosen or evaluated"};
}

Options options_of(const EvaluationData*) {
  return {Heading::data,
          {group<&EvaluationData::data>(),
           split_option<&EvaluationData::split>("split to compare predictions on; by default test"),
           eval_batch_option<&EvaluationData::batch_size>()}};
}

}  // namespace hone
