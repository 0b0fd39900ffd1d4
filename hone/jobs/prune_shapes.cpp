#include "hone/jobs/prune_shapes.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/bench.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/shrink_findings.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded.h"
#include "hone/passes/drop_layers.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"
#include "hone/study/unit_importance.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

// Of the texts that are timed.
constexpr std::int64_t kTimedTexts = 8, kTimedTokens = 128;

constexpr std::string_view kLayers = "layers";

/// What became of the units of a group, or of the layers.
struct PrunedGroup {
  std::string kind, name;
  std::int64_t before = 0, after = 0;
};

std::vector<std::string> structures_of(const PruneShapesJob& job) {
  std::vector<std::string> names;
  for (const UnitKind kind : job.structure.kinds) names.emplace_back(to_string(kind));
  if (job.layers) names.emplace_back(kLayers);
  return names;
}

// "pruned 50.0 % of heads and neurons, l1, local"
std::string label_of(const PruneShapesJob& job) {
  std::string text = fmt::format("pruned {} of {}", share_text(job.structure.sparsity),
                                 fmt::join(structures_of(job), " and "));
  if (!job.structure.kinds.empty())
    text += fmt::format(", {}, {}", job.structure.method,
                        job.structure.scope == UnitScope::local ? "local" : "global");
  return text;
}

std::vector<UnitGroup> groups_of(const Graph& graph, const std::vector<UnitKind>& kinds) {
  std::vector<UnitGroup> groups;
  for (const UnitKind kind : kinds)
    for (UnitGroup& group : unit_groups(graph, kind)) groups.push_back(std::move(group));
  return groups;
}

// The share of layers goes, to the nearest number; one stays at least.
void drop_share_of_layers(Model& model, double share, const Session& session,
                          std::vector<PrunedGroup>& pruned) {
  const LayerStack stack = layer_stack(model.graph);
  const std::int64_t kept = std::max<std::int64_t>(
      1, stack.count - std::llround(share * static_cast<double>(stack.count)));
  if (kept < stack.count) transform(model, fmt::format("drop_layers(keep={})", kept), session);
  pruned.push_back({std::string(kLayers), stack.path, stack.count, kept});
}

UnitScores scores_of(const PruneShapesJob& job, const Model& model,
                     const std::vector<UnitGroup>& groups, const EncodedSplits& data,
                     Context& context) {
  const std::string& method = job.structure.method;
  if (method != "first_order")
    return [&model, power = method == "l1" ? 1 : 2](const UnitGroup& group) {
      return unit_magnitudes(group, model.parameters, power);
    };
  CalibrationRun run = job.importance;
  run.seed = job.common.seed;
  return [importance =
              unit_importance(model, groups, text_examples(data.train), run, context.session())](
             const UnitGroup& group) { return importance.at(group.reader->name()); };
}

void prune_units(Model& model, const PruneShapesJob& job, const EncodedSplits& data,
                 Context& context, std::vector<PrunedGroup>& pruned) {
  const std::vector<UnitGroup> before = groups_of(model.graph, job.structure.kinds);
  const Model scored = model;
  const UnitScores scores = scores_of(job, scored, before, data, context);
  for (const UnitGroup& group : before)
    pruned.push_back({std::string(to_string(group.kind)), group.reader->name(), group.count, 0});
  change_model(
      model, "prune_structure",
      [&] { return prune_structure(model.graph, model.parameters, job.structure, scores); },
      context.session(), prune_structure_text(job.structure));
  for (const UnitGroup& group : groups_of(model.graph, job.structure.kinds))
    std::ranges::find_if(pruned, [&](const PrunedGroup& one) {
      return one.name == group.reader->name() && one.kind == to_string(group.kind);
    })->after = group.count;
}

std::string counts_text(const std::vector<PrunedGroup>& pruned) {
  std::string text;
  std::vector<std::string> kinds;
  for (const PrunedGroup& one : pruned)
    if (std::ranges::find(kinds, one.kind) == kinds.end()) kinds.push_back(one.kind);
  for (const std::string& kind : kinds) {
    std::int64_t before = 0, after = 0;
    for (const PrunedGroup& one : pruned)
      if (one.kind == kind) {
        before += one.before;
        after += one.after;
      }
    text += fmt::format("{}{} of {} {}", text.empty() ? "" : ", ", grouped(after), grouped(before),
                        kind);
  }
  return text + " stay.";
}

Table to_table(const std::vector<PrunedGroup>& pruned) {
  Table table({{"kind", "What"}, {"name", "Where"}, {"before", "Before"}, {"after", "After"}});
  for (const PrunedGroup& one : pruned) table.add_row({one.kind, one.name, one.before, one.after});
  return table;
}

Json to_json(const std::vector<PrunedGroup>& pruned) {
  Json rows = Json::array();
  for (const PrunedGroup& one : pruned)
    rows.push_back(
        {{"kind", one.kind}, {"name", one.name}, {"before", one.before}, {"after", one.after}});
  return rows;
}

// The passes that made one of the other.
std::string passes_of(const Model& before, const Model& after) {
  const std::vector<std::string>& passes = after.facts.history.passes;
  return fmt::format("{}", fmt::join(passes.begin() + std::ssize(before.facts.history.passes),
                                     passes.end(), "; "));
}

std::optional<TrainedOn> record_of(const PruneJob& job, const TextModel& parent,
                                   const EncodedSplits& data) {
  std::optional<TrainedOn> record = parent.trained_on;
  if (job.how.trains) {
    record = after_training(record, data.identity.hash, data.train_rows, data.validation_rows);
    remember_columns(*record, job.data.options);
  }
  return job.row_hashes ? record : without_rows(record);
}

}  // namespace

std::optional<ShapeStructure> parse_shape_structure(const std::string& text) {
  ShapeStructure structure;
  const std::vector<std::string> words = split(text, ',');
  const auto is_shape = [](std::string_view word) {
    return word == kLayers || word == to_string(UnitKind::heads) ||
           word == to_string(UnitKind::neurons);
  };
  if (std::ranges::none_of(words, is_shape)) return std::nullopt;
  for (const std::string& word : words) {
    user_check(is_shape(word) && std::ranges::count(words, word) == 1,
               "expected heads, neurons and layers, each once, apart by commas, got '{}'", text);
    if (word == kLayers) {
      structure.layers = true;
    } else {
      structure.kinds.push_back(word == to_string(UnitKind::heads) ? UnitKind::heads
                                                                   : UnitKind::neurons);
    }
  }
  return structure;
}

PruneResult prune_shapes_job(const PruneShapesJob& job, Context& context) {
  const PruneJob& common = job.common;
  const std::string label = label_of(job);
  RunReport report{.title = fmt::format("{}: {}", common.model, label),
                   .invocation = common.invocation};
  user_check(job.structure.sparsity >= 0 && job.structure.sparsity < 1,
             "`sparsity`: expected a share from 0 to below 1, got {}", job.structure.sparsity);
  OutputFolder output(common.output.folder, common.output.resumable(common.resume));
  TextModel parent = open_model(common.model, context, common.seed);
  check_not_packed(parent.model, common.model);
  if (!job.structure.kinds.empty()) check_unquantized(parent.model, common.model);
  // Layers go with their formats; what training through these left beside the rounded weights goes along.
  const bool rounds = parent.model.quantization.has_value();
  const bool parent_is_unrounded = take_unrounded(parent.model, parent.folder);
  user_check(!parent.model.fresh_head() || !common.max_drop_points,
             "`max_drop`: {} has no classification head, so there is no accuracy to hold; leave it "
             "out, or train a head first with `hone train`",
             common.model);
  groups_of(parent.model.graph,
            job.structure.kinds);  // what cannot go is known before data is read
  const EncodedSplits data = load_encoded(parent, common.model, common.data, common.split,
                                          common.seed, FiguresOf::one_model, context, report.notes);
  if (!begin_run(report.invocation, parent.model.parameters, data, output))
    return {.was_finished = true, .fields = finished_results(output)};
  const std::int64_t batch = common.how.fine_tune.eval_batch_size;
  const Measurement before = measure_before(parent, data, batch, context, report.notes, "pruning");

  const fs::path& folder = output.path();
  TextModel model = parent;
  model.trained_on = record_of(common, parent, data);
  std::vector<PrunedGroup> pruned;
  if (job.layers)
    drop_share_of_layers(model.model, job.structure.sparsity, context.session(), pruned);
  if (!job.structure.kinds.empty()) prune_units(model.model, job, data, context, pruned);
  std::int64_t steps = 0;
  std::vector<Section> sections;
  if (common.how.trains) {
    FineTuneOptions options = common.how.fine_tune;
    options.title = "train pruned";
    options.training.seed = common.seed;
    options.training.save_steps = common.resume.save_steps;
    options.checkpoints = checkpoints_in(folder, common.resume, model, output);
    TrainingLog log = training_log_in(folder, common.report_to);
    fine_tune(model.model, data, options, log, context);
    steps = log.steps().empty() ? 0 : log.steps().back().step;
    Section curve =
        learning_curve_section(log, label + "; one seed", folder / "learning_curve", report.notes);
    if (!curve.blocks.empty()) sections.push_back(std::move(curve));
  }
  const Model unrounded = model.model;
  if (rounds) model.model = round_weights(unrounded, context);
  const BeforeAndAfter both =
      measure_after(model.model, before, data, batch, margin_of(common.max_drop_points), context);
  write_model(model, folder);
  if (rounds && (common.how.trains || parent_is_unrounded))
    write_unrounded(unrounded, model.model, folder);
  const EncodedSet timed = random_texts(model.model, kTimedTexts,
                                        std::min(kTimedTokens, model.model.facts.limits.tokens));
  const ShrinkFindings found = shrink_findings(parent, timed, model.model, timed, folder, context);

  const auto& labels = model.model.facts.labels;
  const std::string_view arithmetic = arithmetic_of(model.model.graph);
  const std::string caveat = training_caveat(steps, steps, "pruning");
  PruneResult result{.verdict = both.verdict, .part = name_and_size(data.measured)};
  result.fields = subject_of(common.model, data.identity, data.measured);
  const bool scores = !job.structure.kinds.empty();
  result.fields.update(
      {{"pruning", passes_of(parent.model, model.model)},
       {"structure", fmt::format("{}", fmt::join(structures_of(job), ","))},
       {"sparsity", job.structure.sparsity},
       {"method", scores ? Json(job.structure.method) : Json()},
       {"scope",
        scores ? Json(job.structure.scope == UnitScope::local ? "local" : "global") : Json()},
       {"arithmetic", arithmetic},
       {"units", to_json(pruned)},
       {"protocol", to_string(data.protocol)},
       {"seed", common.seed},
       {"seeds", 1}});
  result.fields.update(to_json(both, labels));
  result.fields.update(to_json(found));
  if (common.how.trains) result.fields["steps"] = steps;
  if (!caveat.empty()) result.fields["caveat"] = caveat;
  if (common.max_drop_points) result.fields["gate"] = gate_json(both.verdict);
  write_model_card({common.output.name_of(folder, folder), common.invocation.command,
                    result_of("prune", result.fields)},
                   model.model, folder);

  const std::string random = headless_remark(parent.model, common.how.trains);
  report.headline = !common.how.trains && !random.empty()
                        ? fmt::format("{}: {}.", label, random)
                        : fmt::format("{}, {}: {}.", label, result.part, both.verdict.summary);
  report.basis = basis_of(common.data.options.source, data, std::string(arithmetic));
  report.results = result.fields;
  const double bits = average_weight_bits(model.model);
  const Table table =
      comparison_table({{"before", bits, before, std::nullopt, arithmetic},
                        {label, bits, both.after, both.comparison, arithmetic, both.verdict}});
  const std::string caption = figures_caption(before, data, {caveat, random});
  std::vector<std::string> lines = {counts_text(pruned)};
  for (std::string& line : lines_of(found)) lines.push_back(std::move(line));
  report.sections = {{"Result", {PageTable{table, caption}}}};
  for (const std::string& line : lines) report.sections[0].blocks.push_back(Paragraph{line});
  if (common.max_drop_points)
    report.sections[0].blocks.push_back(Paragraph{gate_text(both.verdict, result.part)});
  report.sections.push_back({"What stays", {PageTable{to_table(pruned), ""}}});
  report.sections.insert(report.sections.end(), sections.begin(), sections.end());
  const std::vector<NamedEvaluation> evaluations = named_evaluations(both, data);
  report.sections.push_back(details_section(evaluations, labels));
  std::vector<std::string> doubts;
  for (const std::string& concern : concerns(both.after.evaluation, labels))
    doubts.push_back(fmt::format("after pruning, {}", concern));
  tell_warnings(context, doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  write_run_report(report, folder, context);
  output.commit();
  result.text = [=, headline = report.headline, verdict = both.verdict,
                 written = common.output.folder](const TextStyle& style) {
    std::string text =
        fmt::format("{}\n\n{}\n\n{}\n{}", toned(headline, tone_of(verdict), style), caption,
                    to_text(table, style), details_text(evaluations, labels, style));
    for (const std::string& line : lines) text += line + "\n";
    return text + fmt::format("One seed; written to {}\n", written);
  };
  return result;
}

}  // namespace hone
