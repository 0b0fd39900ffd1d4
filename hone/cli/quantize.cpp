#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/command_line.h"
#include "hone/cli/explanation.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/cli/settings.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/layer_figure.h"
#include "hone/jobs/learning_curve.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/run_identity.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded.h"
#include "hone/study/class_table.h"
#include "hone/study/comparison_table.h"
#include "hone/study/result.h"
#include "hone/study/seeds.h"
#include "hone/train/class_weights.h"

namespace hone {
namespace {

struct QuantizeArguments {
  std::string model;
  FormatArguments formats;
  bool qat = false;
  bool explain = false;
  std::optional<double> max_drop_points;
  CalibrationArguments calibration;
  std::string split;
  DataArguments data;
  FineTuneOptions training;
  std::string report_to = "none";
  ResumeArguments resume;
  std::int64_t seeds = 1;
  bool row_hashes = true;
  OutputArguments output;
  RunArguments run;

  double margin() const { return max_drop_points ? *max_drop_points / 100 : kUsualMargin; }
};

/// What all seeds of a job share.
struct QuantizeJob {
  const QuantizeArguments& arguments;
  const CLI::App& app;  ///< that they were parsed by
  const TextModel& parent;
  bool parent_is_unrounded =
      false;  ///< its weights are those of a training, before they were rounded
  const EncodedSplits& data;
  const Measurement& before;
  CompressOptions options;
  QuantizationPlan
      plan;  ///< of the copy: the parent's, where it is quantized already, and that of the options
  std::size_t calibration_texts = 0;  ///< of the training part; 0: the formats need none
  OutputFolder& output;
  Context& context;

  std::string label() const {
    return fmt::format("{} {}", options.qat ? "QAT" : "PTQ", summary(plan));
  }
  bool goes_on() const { return parent.model.quantization.has_value(); }
  /// What the model before computes in, where it is quantized already.
  std::string parent_format() const {
    return goes_on() ? summary(parent.model.quantization->plan) : "";
  }
  /// What is measured of every seed.
  std::vector<NamedFigures> figures() const {
    const std::string& measured = data.measured.facts.part;
    const std::vector<std::string> doubts = cautions(data.measured);
    return {{"before", "before, " + measured, doubts}, {"after", "after, " + measured, doubts}};
  }
  Json subject() const {
    Json subject = subject_of(arguments.model, data.identity, data.measured);
    subject["format"] = summary(plan);
    subject["parent_format"] = goes_on() ? Json(parent_format()) : Json();
    return subject;
  }
  std::string part() const { return name_and_size(data.measured); }
  /// `caveat`: of what was trained, see `caveat_of`.
  std::string caption(const std::string& caveat) const {
    const std::string twice =
        goes_on() ? fmt::format(
                        " The model before is quantized already ({}): what that has cost "
                        "is no part of the change.",
                        parent_format())
                  : "";
    return fmt::format("On {}; {}.{}{}{}", part(), majority_text(before.evaluation), twice,
                       caveat.empty() ? "" : " ", caveat);
  }
  Graph graph() const { return plain_graph(parent.model); }
};

/// One quantized model, written to its folder, and what the report says of it.
struct Quantized {
  Json result;
  Table table = Table(std::vector<Column>{});
  Comparison comparison;
  Verdict verdict;
  std::int64_t steps = 0;  ///< of its training
  std::string classes;     ///< for the terminal
  std::vector<LayerBar> layers;
  ModelSize size;
  std::vector<Section> sections;
  std::vector<std::string> doubts;  ///< about the figures
  std::vector<std::string> notes;
};

// "QAT integer(width=8,frac=4), test, n = 4 000: kept: …"
std::string headline(const QuantizeJob& job, const Verdict& verdict) {
  return fmt::format("{}, {}: {}.", job.label(), job.part(), verdict.summary);
}

// What a change after training holds beside the quantizing, for no model was trained as long without it. `results`: of
// every seed; empty where nothing was trained.
std::string caveat_of(const std::vector<Json>& results) {
  std::vector<std::int64_t> steps;
  for (const Json& result : results)
    if (result.contains("steps")) steps.push_back(result["steps"].get<std::int64_t>());
  if (steps.empty()) return "";
  const auto [least, most] = std::ranges::minmax(steps);
  return fmt::format(
      "The model after was trained {}{} step{} longer than the one before, and no fp32 model as "
      "long beside it: the change is that of training and quantizing together.",
      least == most ? "" : grouped(least) + " to ", grouped(most), most == 1 ? "" : "s");
}

// Quantized by rounding alone, or trained with a log and a learning curve in the folder.
Model quantized_copy(const QuantizeJob& job, const CompressOptions& options, const fs::path& folder,
                     Quantized& quantized) {
  if (!options.qat) return compress(job.parent.model, job.data, options, job.context);
  TrainingLog log = training_log_in(folder, job.arguments.report_to);
  Model model = compress(job.parent.model, job.data, options, log, job.context);
  quantized.steps = log.steps().empty() ? 0 : log.steps().back().step;
  Section curve = learning_curve_section(log, job.label() + ", simulated; one seed",
                                         folder / "learning_curve", quantized.notes);
  if (!curve.blocks.empty()) quantized.sections.push_back(std::move(curve));
  return model;
}

Quantized quantize_once(const QuantizeJob& job, std::uint64_t seed, const fs::path& folder) {
  const QuantizeArguments& a = job.arguments;
  CompressOptions options = job.options;
  options.fine_tune.training.seed = seed;
  TextModel model = job.parent;
  model.trained_on = record_of_copy(job.parent, job.data, options);
  if (a.qat) remember_columns(*model.trained_on, a.data.options);
  if (!a.row_hashes) model.trained_on = without_rows(model.trained_on);
  options.fine_tune.checkpoints = checkpoints_in(folder, a.resume, model, job.output);
  Quantized quantized;
  const Model unrounded = quantized_copy(job, options, folder, quantized);
  model.model = round_weights(unrounded, job.context);
  const Measurement after =
      measure(model.model, job.data.test, options.fine_tune.eval_batch_size, job.context, "after");
  quantized.comparison =
      compare(job.before.view(), after.view(), job.data.test.labels, job.data.test.text_numbers);
  quantized.verdict = verdict(quantized.comparison, a.margin());
  const double weight_bits = average_weight_bits(model.model);
  std::vector<ComparedModel> compared = {
      {"before", average_weight_bits(job.parent.model), job.before, std::nullopt, job.goes_on()},
      {job.label(), weight_bits, after, quantized.comparison, /*quantized=*/true,
       quantized.verdict}};
  const auto& labels = model.model.facts.labels;
  quantized.result = job.subject();
  quantized.result.update({{"method", a.qat ? "qat" : "ptq"},
                           {"arithmetic", "simulated"},
                           {"average_weight_bits", weight_bits},
                           {"quantized_modules", job.plan.size()},
                           {"protocol", to_string(job.data.protocol)},
                           {"before", to_json(job.before, labels)},
                           {"after", to_json(after, labels)},
                           {"comparison", to_json(quantized.comparison, quantized.verdict)},
                           {"seed", seed},
                           {"seeds", 1},
                           {"calibration_texts", job.calibration_texts}});
  if (a.qat) {
    quantized.result["steps"] = quantized.steps;
    quantized.result["caveat"] = caveat_of({quantized.result});
  }
  if (a.qat && !options.fine_tune.class_weights.empty()) {
    const std::vector<float> weights =
        class_weights(options.fine_tune.class_weights, job.data.train.labels, labels);
    for (std::size_t c = 0; c < labels.size(); ++c)
      quantized.result["class_weights"][labels[c]] = weights[c];
  }
  if (a.max_drop_points) quantized.result["gate"] = gate_json(quantized.verdict);
  for (const std::string& concern : concerns(after.evaluation, labels))
    quantized.doubts.push_back(fmt::format("after quantizing, {}", concern));
  const std::vector<NamedFigures> figures = job.figures();
  const std::vector<NamedEvaluation> measured = {
      {figures[0].name, job.before.evaluation, figures[0].cautions},
      {figures[1].name, after.evaluation, figures[1].cautions}};
  quantized.classes = class_text(measured, labels, text_style(a.run));
  quantized.sections.push_back(class_section(measured, labels));
  if (!notice_for_other_programs(job.plan).empty()) {
    const Measurement elsewhere =
        measure(without_quantizers(model.model, job.context.session()), job.data.test,
                options.fine_tune.eval_batch_size, job.context, "as transformers");
    const Comparison comparison = compare(job.before.view(), elsewhere.view(), job.data.test.labels,
                                          job.data.test.text_numbers);
    quantized.result["as_transformers"] = to_json(elsewhere, labels);
    quantized.result["as_transformers"]["comparison"] =
        to_json(comparison, verdict(comparison, a.margin()));
    compared.push_back({"as transformers computes it", weight_bits, elsewhere, comparison,
                        /*quantized=*/true, verdict(comparison, a.margin())});
  }
  quantized.table = comparison_table(compared);
  quantized.layers = layer_bars(unrounded, model.model, options.plan, job.graph());
  write_model(model, folder);
  if (a.qat || job.parent_is_unrounded) write_unrounded(unrounded, model.model, folder);
  quantized.size = model_size(model.model, folder);
  quantized.result["size"] = to_json(quantized.size);
  write_model_card({a.output.name_of(folder, job.output.path()), command_line(job.app),
                    result_of("quantize", quantized.result)},
                   model.model, folder);
  return quantized;
}

// What is lost where, by rounding alone, and what loses less, saved in the job's folder.
Explanation explain(const QuantizeJob& job) {
  const QuantizeArguments& a = job.arguments;
  Diagnosis diagnosis = diagnose(job.parent.model, job.before, job.data, job.options, job.context);
  NextStep next =
      next_step({job.app, job.options, a.output.folder, job.output.path()}, diagnosis, job.graph());
  return {std::move(diagnosis), std::move(next), a.seeds};
}

// What each layer costs, drawn in `folder`: of the explanation where there is one, else the weights as they were rounded.
Section layer_section(const QuantizeJob& job, const std::optional<Explanation>& explanation,
                      std::vector<LayerBar> weights, const fs::path& folder,
                      std::vector<std::string>& notes) {
  const std::string title =
      fmt::format("What is left of each layer's {}, {}",
                  explanation ? "operands, each alone, without training" : "weights",
                  summary(job.options.plan));
  std::vector<Block> blocks = layer_figure(
      explanation ? layer_bars(explanation->diagnosis, job.graph()) : std::move(weights), title,
      folder / "layers", notes);
  return explanation ? to_section(*explanation, std::move(blocks))
                     : Section{"Layers", std::move(blocks)};
}

// What others make of the model that is saved; "" where it is the same.
std::string saved_remark(const QuantizeJob& job) {
  const std::string notice = notice_for_other_programs(job.plan);
  return notice.empty() ? "" : "What is saved: " + notice + ".";
}

// What is worth knowing of the model whatever it was measured on: its size, and what others make of it.
std::vector<std::string> remarks(const QuantizeJob& job, const ModelSize& size) {
  std::vector<std::string> lines = {to_text(size), saved_remark(job)};
  std::erase(lines, "");
  return lines;
}

void print_one(const QuantizeJob& job, const Quantized& quantized,
               const std::optional<Explanation>& explanation) {
  const QuantizeArguments& a = job.arguments;
  if (a.run.json) return print_result("quantize", quantized.result);
  print_text(a.run, "{}\n\n{}\n\n{}\n{}{} operations quantized{}; one seed; written to {}\n",
             toned(headline(job, quantized.verdict), tone_of(quantized.verdict), text_style(a.run)),
             job.caption(caveat_of({quantized.result})),
             to_text(quantized.table, text_style(a.run)), quantized.classes, job.plan.size(),
             job.goes_on() ? fmt::format(", {} of them now", job.options.plan.size()) : "",
             a.output.folder);
  for (const std::string& line : remarks(job, quantized.size)) print_text(a.run, "{}\n", line);
  if (explanation) print_text(a.run, "\n{}", to_text(*explanation, text_style(a.run)));
}

Verdict quantize_one_seed(const QuantizeJob& job, RunReport report) {
  const QuantizeArguments& a = job.arguments;
  const fs::path& folder = job.output.path();
  Quantized quantized = quantize_once(job, a.run.seed, folder);
  std::optional<Explanation> explanation;
  if (a.explain || worth_explaining(quantized.comparison)) {
    explanation = explain(job);
    quantized.result["diagnosis"] = to_json(*explanation, job.graph());
  }
  quantized.sections.push_back(
      layer_section(job, explanation, std::move(quantized.layers), folder, quantized.notes));
  report.results = quantized.result;
  report.headline = headline(job, quantized.verdict);
  report.sections = {
      {"Result", {PageTable{quantized.table, job.caption(caveat_of({quantized.result}))}}}};
  if (a.max_drop_points)
    report.sections[0].blocks.push_back(Paragraph{gate_text(quantized.verdict, job.part())});
  for (const std::string& line : remarks(job, quantized.size))
    report.sections[0].blocks.push_back(Paragraph{line});
  report.sections.insert(report.sections.end(), quantized.sections.begin(),
                         quantized.sections.end());
  for (const auto& lines : {quantized.doubts, quantized.notes})
    report.notes.insert(report.notes.end(), lines.begin(), lines.end());
  write_run_report(report, folder, job.context);
  job.output.commit();
  for (const auto& lines : {quantized.doubts, quantized.notes}) print_warnings(lines);
  print_one(job, quantized, explanation);
  return quantized.verdict;
}

// The results of all seeds, those that an earlier run has left among them.
std::vector<Json> results_of_seeds(const QuantizeJob& job) {
  std::vector<Json> results;
  for (const SeedFolder& seed :
       seed_folders(job.output.path(), job.arguments.run.seed, job.arguments.seeds)) {
    if (!seed.done) {
      Quantized quantized = quantize_once(job, seed.seed, seed.path);
      layer_section(job, std::nullopt, std::move(quantized.layers), seed.path, quantized.notes);
      print_warnings(quantized.notes);
      write_results("quantize", quantized.result, seed.path);
    }
    results.push_back(read_json(seed.path / "results.json"));
  }
  return results;
}

Verdict quantize_seeds(const QuantizeJob& job, RunReport report) {
  const QuantizeArguments& a = job.arguments;
  const fs::path& folder = job.output.path();
  const std::vector<Json> results = results_of_seeds(job);
  const SeedChanges changes = seed_changes(results);
  const std::vector<NamedFigures> figures = job.figures(), after = {figures[1]};
  const Table table = seed_table(results, figures);
  const Verdict change = verdict_of_seeds(changes, a.margin());
  const std::string spread = fmt::format("After, on {}: {}.", job.part(),
                                         seed_sentence(accuracy_spread(results, "after")));
  std::optional<Explanation> explanation;
  if (a.explain || std::ranges::any_of(changes.comparisons, worth_explaining))
    explanation = explain(job);
  Json result = job.subject();
  result.update({{"method", "qat"},
                 {"arithmetic", "simulated"},
                 {"protocol", to_string(job.data.protocol)},
                 {"calibration_texts", job.calibration_texts},
                 {"change", paired_json(changes, change)}});
  for (const char* key : {"average_weight_bits", "quantized_modules", "size", "class_weights"})
    if (results.front().contains(key)) result[key] = results.front()[key];
  const std::string caveat = caveat_of(results), caption = job.caption(caveat);
  if (!caveat.empty()) result["caveat"] = caveat;
  result.update(runs_json(results, figures));
  if (a.max_drop_points) result["gate"] = gate_json(change);
  if (explanation) result["diagnosis"] = to_json(*explanation, job.graph());
  report.results = result;
  report.basis.seeds = a.seeds;
  report.headline = headline(job, change);
  std::vector<std::string> undrawn;
  const Figure dots = seed_figure(
      results, figures, fmt::format("{}, {}; {} seeds", job.label(), job.part(), a.seeds));
  report.sections = {{"Result",
                      {PageTable{table, caption}, Paragraph{spread},
                       figure_block(dots, folder / "seeds",
                                    "Accuracy after, a dot for each seed, and before", undrawn)}}};
  if (a.max_drop_points)
    report.sections[0].blocks.push_back(Paragraph{gate_text(change, job.part())});
  const std::string remark = saved_remark(job);
  if (!remark.empty()) report.sections[0].blocks.push_back(Paragraph{remark});
  Section classes = class_section_of_seeds(results, after);
  if (!classes.blocks.empty()) report.sections.push_back(std::move(classes));
  if (explanation) report.sections.push_back(layer_section(job, explanation, {}, folder, undrawn));
  report.notes.insert(report.notes.end(), undrawn.begin(), undrawn.end());
  const std::vector<std::string> doubts = seed_concerns(results, after);
  for (const auto& lines : {doubts, undrawn}) print_warnings(lines);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  write_run_report(report, folder, job.context);
  job.output.commit();
  if (a.run.json) {
    print_result("quantize", result);
  } else {
    print_text(a.run, "{}\n\n{}\n\n{}\n{}\n\n{}written to {}\n{}{}",
               toned(headline(job, change), tone_of(change), text_style(a.run)), caption,
               to_text(table, text_style(a.run)), spread,
               class_text_of_seeds(results, after, text_style(a.run)), a.output.folder, remark,
               remark.empty() ? "" : "\n");
    if (explanation) print_text(a.run, "\n{}", to_text(*explanation, text_style(a.run)));
  }
  return change;
}

void quantize(QuantizeArguments& a, const CLI::App& app) {
  if (a.seeds > 1 && !a.qat)
    throw UsageError(
        "hone quantize: --seeds repeats training with --qat; quantizing by rounding alone draws "
        "nothing at random, so all seeds would give the same model");
  RunReport report;
  report.invocation = invocation_of(app);
  Context context = make_context(a.run);
  const Recipe recipe = recipe_from(a.formats, context.library.formats);
  CompressOptions options{
      .qat = a.qat, .fine_tune = a.training, .calibration = a.calibration.parsed(a.run.seed)};
  options.fine_tune.training.save_steps = a.resume.save_steps;
  options.fine_tune.title = "train quantized";
  OutputFolder output(a.output.folder, a.output.resumable(a.resume));
  TextModel parent = open_model(a.model, context, a.run.seed);
  // What training through its quantizers left beside the rounded weights computes the same, and goes on with more.
  const bool parent_is_unrounded = take_unrounded(parent.model, parent.folder);
  options.plan = resolve(recipe, plain_graph(parent.model));
  const QuantizationPlan plan =
      with_context(a.model, [&] { return whole_plan(parent.model, options.plan); });
  const EncodedSplits data = load_encoded(parent, a.model, a.data, a.split, a.run.seed,
                                          FiguresOf::one_model, context, report.notes);
  if (!begin_run(report.invocation, parent.model.parameters, data, output))
    return print_finished(output, a.run.json);
  const Measurement before = measure(parent.model, data.test, options.fine_tune.eval_batch_size,
                                     context, "before, " + data.measured.facts.part);
  std::vector<std::string> doubts;
  for (const std::string& concern : concerns(before.evaluation, parent.model.facts.labels))
    doubts.push_back(fmt::format("before quantizing, {}", concern));
  print_warnings(doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  const std::size_t calibration_texts = calibration_rows(parent.model, data, options).size();
  if (calibration_texts > 0) {
    report.notes.push_back(fmt::format("calibrated on {} of {} training texts, drawn by seed {}",
                                       grouped(static_cast<long long>(calibration_texts)),
                                       grouped(data.train.size()), a.run.seed));
    print_notes({report.notes.back()}, context);
  }
  const QuantizeJob job{a,      app,     parent, parent_is_unrounded, data,
                        before, options, plan,   calibration_texts,   output,
                        context};
  report.title = fmt::format("{} quantized: {}", a.model, job.label());
  report.basis = basis_of(a.data.options.source, data, "simulated " + summary(plan));
  const Verdict verdict = a.seeds == 1 ? quantize_one_seed(job, std::move(report))
                                       : quantize_seeds(job, std::move(report));
  if (a.max_drop_points) check_gate(verdict, job.part(), a.run);
}

}  // namespace

Command quantize_command() {
  return {"quantize", "make a quantized copy of a model, and say what was lost",
          "hone quantize my-model --format 'integer(width=8,frac=4)' --data "
          "'synth:negation?seed=7&n=30000' -o my-model-int8",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<QuantizeArguments>();
            app.add_option("MODEL", a->model,
                           "model folder; of one that is quantized already, what is not yet")
                ->required();
            declare(app, a->formats);
            app.add_flag("--explain", a->explain,
                         "say where the accuracy is lost and what would do better; without it only "
                         "when half a point or more is lost");
            app.add_flag("--qat", a->qat, "train with the quantizers in place");
            app.add_option(
                   "--max_drop", a->max_drop_points,
                   "points of accuracy that may be lost: exit code 3 unless the verdict is kept, "
                   "which means that the whole 95 % interval of the change lies above minus "
                   "them; docs/output.md and `hone schema` define kept, lost and unclear")
                ->check(number_from(0));
            declare(app, a->calibration);
            app.add_option(
                "--split", a->split,
                "part to measure on: train, validation, test or all; by default test, or "
                "what was set aside when the model was trained on this data, or what "
                "--validation_split sets aside");
            declare(app, a->data, /*required=*/true);
            declare_train_samples(app, a->data);
            declare(app, a->training);
            declare_report_to(app, a->report_to);
            declare(app, a->resume);
            declare_row_hashes(app, a->row_hashes);
            declare_seeds(app, a->seeds);
            declare(app, a->output);
            declare(app, a->run);
            return [a, &app] { quantize(*a, app); };
          }};
}

}  // namespace hone
