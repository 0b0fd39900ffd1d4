#include "hone/jobs/shrink/shrink.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

#include "hone/base/interrupt.h"
#include "hone/base/periodic.h"
#include "hone/base/text.h"
#include "hone/base/usage_check.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/run_identity.h"
#include "hone/jobs/search/quiet_trial.h"
#include "hone/jobs/search/recipe_checks.h"
#include "hone/jobs/search/recipe_sections.h"
#include "hone/jobs/search/search_subject.h"
#include "hone/jobs/shrink/shrink_report.h"
#include "hone/jobs/shrink/shrink_sentences.h"
#include "hone/jobs/shrink/shrink_space.h"
#include "hone/metrics/planning.h"
#include "hone/models/transform.h"
#include "hone/models/vocabulary_cut.h"
#include "hone/passes/prune.h"
#include "hone/study/result.h"
#include "hone/train/text_examples.h"

namespace hone {
namespace {

constexpr const char* kSecondsSpent = "seconds_spent";
constexpr double kClockSeconds = 2;

SearchJob search_of(const ShrinkJob& job, const std::string& model) {
  SearchJob search{.model = model, .recipe = {}, .output = {}};
  search.data = job.data;
  search.training.eval_batch_size = job.eval_batch_size;
  search.split = job.split;
  search.seed = job.seed;
  search.row_hashes = job.row_hashes;
  return search;
}

bool may(const ShrinkJob& job, std::string_view means) {
  return job.only.empty() || std::ranges::find(job.only, means) != job.only.end();
}

void check_job(const ShrinkJob& job) {
  user_check(!is_new_model(job.model),
             "{}: the weights are fresh, so there is no accuracy to keep; give a trained model",
             job.model);
  usage_check(job.recipe.empty() || (job.freeze.empty() && job.only.empty()),
              "`recipe` defines the whole search space, so `only` and `freeze` have no effect; "
              "leave them out, and edit the sections and `freeze` of the recipe");
  for (const std::string& word : job.only) {
    const std::vector<std::string> known = shrink_methods();
    usage_check(std::ranges::find(known, word) != known.end(), "`only`: expected {}, got '{}'",
                fmt::join(known, ", "), word);
  }
  usage_check(
      may(job, "quantize") || std::ranges::find(job.only, "allocate") == job.only.end(),
      "`only`: allocate gives a narrower format to some of the layers that quantize rounds; give "
      "quantize as well");
  usage_check(
      job.only.empty() || std::ranges::any_of(job.only,
                                              [](const std::string& word) {
                                                return word == "prune" || word == "sparsify" ||
                                                       word == "quantize";
                                              }),
      "`only`: {} gives no candidates; give prune, sparsify or quantize too, or use `hone trim`",
      fmt::join(job.only, ", "));
}

// Candidates derive from the given model, so there is no architecture to choose.
const SearchRecipe kNothing{.where = {}, .text = {}, .objectives = {}};

TrialSubject open_given(const ShrinkJob& job, Context& context, std::vector<std::string>& notes) {
  TrialSubject given = open_subject(search_of(job, job.model), kNothing, context, notes);
  check_unquantized(given.baseline.model, job.model);
  given.loadable = job.loadable;
  const TransformersLoading loading = transformers_loading(given.baseline.model);
  user_check(!job.loadable || loading.loads(), "`loadable`: transformers cannot load {}: {}",
             job.model, loading.reason);
  user_check(!given.baseline.model.has_untrained_head(),
             "{}: has no classification head, so there is no accuracy to keep; train one first "
             "with `hone train`",
             job.model);
  // Masks keep zeros during training; packed weights have none.
  if (!pruned_weights(given.baseline.model.graph).empty())
    transform(given.baseline.model, "unprune", context.session());
  return given;
}

/// Suppresses messages while it lives, for data that is read a second time.
class MutedMessages {
 public:
  explicit MutedMessages(Context& context) : context_(context) {
    std::swap(say_, context.on_message);
  }
  ~MutedMessages() { std::swap(say_, context_.on_message); }
  MutedMessages(const MutedMessages&) = delete;
  MutedMessages& operator=(const MutedMessages&) = delete;

 private:
  Context& context_;
  decltype(Context::on_message) say_ = {};
};

/// The model with only the tokens that its training split uses.
struct Trimming {
  std::optional<TrimmedVocabulary> found = {};
  std::optional<TrialSubject> subject = {};  ///< if it was kept

  /// Describes it for recipes: "vocabulary -71%".
  std::string recipe() const {
    if (!subject) return "";
    const double left = static_cast<double>(found->after) / static_cast<double>(found->before);
    return fmt::format("vocabulary -{:.0f}%", 100 * (1 - left));
  }
};

// Writes the trimmed model to `folder`, and reads the texts again with its tokenizer.
Trimming trim(const ShrinkJob& job, const std::vector<Gate>& gates, const TrialSubject& given,
              const fs::path& folder, Context& context) {
  Trimming trimming;
  if (!may(job, "trim") || freezes_tables(given.baseline.model, job.freeze)) return trimming;
  const VocabularyCut fewer = cut_vocabulary(given.baseline, given.data.train, /*keep=*/0);
  if (std::ssize(fewer.kept) == fewer.before) return trimming;
  const QuietTrial quiet(context);
  const MutedMessages unsaid(context);
  const TextModel model = cut(given.baseline, fewer, context.session());
  write_cut_model(given.baseline, model, fewer, folder);
  std::vector<std::string> said_already;
  TrialSubject subject =
      read_subject(search_of(job, folder.string()), kNothing, context, said_already);
  trimming.found = {.before = fewer.before, .after = std::ssize(fewer.kept)};
  TrimmedVocabulary& found = *trimming.found;
  // Predictions can change only for texts that are tokenized differently.
  const std::size_t others = respelled_texts(given.baseline.tokenizer, given.data.validation,
                                             subject.baseline.tokenizer, subject.data.validation)
                                 .size();
  // The only evaluation is reserved for a candidate.
  if (others > 0 && job.max_evaluations == 1) {
    found.summary =
        "no model was evaluated, because the only evaluation is reserved for a candidate";
    return trimming;
  }
  found.evaluated = others > 0;
  if (found.evaluated) {
    const Measurement measured = measure(subject.baseline.model, subject.data.validation,
                                         job.eval_batch_size, context, "validate");
    const GateVerdict verdict = judge(gates, given.baseline_measured->view(), measured.view(),
                                      truth_of(given.data.validation), job.max_evaluations)
                                    .verdict;
    found.applied = verdict.within_limit();
    found.summary = verdict.summary;
  } else {
    found.applied = true;
    found.summary = fmt::format("no example of {} is tokenized differently",
                                short_name_and_size(given.data.measured_choice()));
  }
  if (!found.applied) return trimming;
  // Candidates are judged against the original.
  subject.baseline_measured = given.baseline_measured;
  subject.loadable = given.loadable;
  trimming.subject = std::move(subject);
  return trimming;
}

std::string space_text(const ShrinkJob& job, const TrialSubject& subject) {
  return job.recipe.empty() ? shrink_space(subject, job.only, job.freeze) : read_file(job.recipe);
}

// Converts candidates for the planner; `holds` decides which count as kept.
template <typename Holds>
std::vector<TriedPoint> tried_points(const std::vector<JudgedCandidate>& judged,
                                     const Holds& holds) {
  std::vector<TriedPoint> tried;
  for (const JudgedCandidate& one : judged)
    tried.push_back({one.point, one.measured ? one.measured->shares : ShrinkShares{}, holds(one),
                     one.measured ? one.measured->flip_share.value_or(TriedPoint::kNotKnown)
                                  : TriedPoint::kNotKnown,
                     one.measured && one.measured->is_batch1_noisy()});
  return tried;
}

/// A shrink run in progress.
class Shrinking {
 public:
  Shrinking(const ShrinkJob& job, const std::vector<Gate>& gates, const TrialSubject& subject,
            ShrinkTrials& trials, std::int64_t evaluations_before, bool too_few_texts,
            const ShrinkTimer& timer, Context& context)
      : job_(job),
        gates_(gates),
        margin_(margin_for(gates, subject.baseline_measured->evaluation.metric)),
        subject_(subject),
        trials_(trials),
        evaluations_before_(evaluations_before),
        too_few_texts_(too_few_texts),
        timer_(timer),
        context_(context) {
    const Json spent = trials.attribute(kSecondsSpent);
    if (spent.is_number()) spent_before_ = spent.get<double>();
  }

  // Returns why it ended.
  std::string run(const PlanningCounts& planning) {
    // Stores the time spent periodically, so that a resumed run knows it however this one ends.
    const Periodic clock(kClockSeconds, [this] { trials_.store(kSecondsSpent, spent()); });
    const double first = trials_.effects_seconds(planning), needed = spent() + first;
    if (first > 0 && needed > job_.budget_seconds && trials_.judged().empty()) {
      enough_seconds_ = needed + untrained_seconds({});
      return fmt::format(
          "measuring the effect of each step takes about {}, before the first candidate{}",
          clock_text(first), budget_advice());
    }
    say(fmt::format(
        "budget {}{}; writing and measuring the result comes after it",
        clock_text(job_.budget_seconds),
        first > 0 ? fmt::format(": about {} to measure the effect of each step, then candidates",
                                clock_text(std::max(1.0, first)))
                  : ""));
    const MeasuredEffects effects = trials_.effects(planning);
    trials_.finish_interrupted();  // an interrupted evaluation comes first
    for (;;) {
      stop_if_interrupted();
      const std::vector<JudgedCandidate> judged = trials_.judged();
      const auto evaluations = evaluations_before_ + std::ssize(judged);
      if (evaluations >= job_.max_evaluations)
        return job_.max_evaluations == 1
                   ? "the one evaluation is used"
                   : fmt::format("all {} evaluations are used", job_.max_evaluations);
      ShrinkState state{
          .parameters = trials_.parameters(),
          .effects = effects.levels,
          .begin = effects.begin,
          .reference_points = effects.reference_points,
          .goal = job_.goal,
          .key = [&](const ShrinkPoint& p) { return trials_.key_of(p); },
          .seconds_left = job_.budget_seconds - spent(),
          .evaluation_seconds = job_.budget_seconds / static_cast<double>(job_.max_evaluations)};
      const double untrained = untrained_seconds(judged),
                   pace = training_slowdown(judged, untrained);
      state.seconds = [&, untrained, pace](const ShrinkPoint& p) {
        return untrained + pace * training_seconds(p);
      };
      if (subject_.baseline.model.facts.task() == Task::single_label)
        state.pass_chance = [&](double flips) { return chance_to_show(flips); };
      state.tried = tried_points(judged, [&](const JudgedCandidate& one) { return stays(one); });
      const std::optional<ShrinkStep> step = next_step(state);
      if (!step) return reason_of(std::move(state), judged);
      const std::int64_t number = std::ssize(judged) + 1;
      report(*step, number, state);
      trials_.evaluate(*step, number);
      report(trials_.judged().back());
    }
  }

  double spent() const {
    const std::chrono::duration<double> now = std::chrono::steady_clock::now() - begin_;
    return spent_before_ + now.count();
  }

  double spent_before() const { return spent_before_; }
  std::optional<double> enough_seconds() const { return enough_seconds_; }

  // Returns whether later candidates build on this one: it is shown to be kept, or, if there are too few examples to
  // show that, more examples may show it.
  bool stays(const JudgedCandidate& one) const {
    return one.within_limit() || (too_few_texts_ && one.could_pass());
  }

  bool may_be_kept(const JudgedCandidate& one) const {
    return one.measured && one.measured->conclusion != Conclusion::exceeds_limit &&
           one.measured->change >= -margin_;
  }

 private:
  // Explains why there is no next step: too little time, too few validation examples, or no promising candidate.
  std::string reason_of(ShrinkState state, const std::vector<JudgedCandidate>& judged) {
    const double left = std::max(0.0, state.seconds_left);
    state.seconds_left = std::numeric_limits<double>::infinity();
    if (const std::optional<ShrinkStep> next = next_step(state)) {
      enough_seconds_ = spent() + next->seconds;
      return fmt::format("the next candidate ({}) would take about {}, and {} was left{}{}",
                         trials_.recipe_of(next->point), clock_text(next->seconds),
                         clock_text(left), budget_advice(), untried_text(judged));
    }
    if (state.pass_chance) {
      state.pass_chance = nullptr;
      if (next_step(state))
        return fmt::format(
            "{} has too few examples to show that another candidate is within the limit",
            short_name_and_size(subject_.data.measured_choice()));
    }
    return "no other candidate is likely to be within the limit and 1% smaller or faster";
  }

  // Rounds up to whole minutes, since the estimate is rough.
  std::string budget_advice() const {
    return fmt::format(". Give --budget {:.0f}m or more", std::ceil(*enough_seconds_ / 60));
  }

  // ". No candidate with fewer layers or training was tried"; "" if all methods were tried.
  std::string untried_text(const std::vector<JudgedCandidate>& judged) const {
    const std::vector<ShrinkParameter>& parameters = trials_.parameters();
    std::map<std::string, bool> tried;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ShrinkParameter& one = parameters[i];
      if (one.is_native()) continue;
      bool& is_tried = tried[one.is_structure() ? "fewer " + one.name.substr(one.name.find('.') + 1)
                             : one.is_pruning() ? "blocks of weights removed"
                                                : "training"];
      is_tried = is_tried || std::ranges::any_of(judged, [&](const JudgedCandidate& candidate) {
                   return candidate.point[i] > 0;
                 });
    }
    std::vector<std::string> means;
    for (const auto& [mean, is_tried] : tried)
      if (!is_tried) means.push_back(mean);
    if (means.empty()) return "";
    return fmt::format(". No candidate with {} was tried", fmt::join(means, " or "));
  }

  // Estimates the training time from the baseline's time on the validation split. Forward and backward take about three
  // times as long per text, and the teacher's predictions once.
  double training_seconds(const ShrinkPoint& point) const {
    constexpr double kForwards = 4.5;
    const TrialConfiguration configuration = trials_.configuration_of(point);
    double texts = 0;
    for (const std::optional<Json>* section : {&configuration.training, &configuration.train_on}) {
      if (!*section) continue;
      const TrainingOptions training = settings_of<FineTuneOptions>(**section).training;
      const double steps = static_cast<double>(training.max_steps * training.batch_size *
                                               training.gradient_accumulation_steps);
      texts +=
          steps > 0 ? steps : training.epochs * static_cast<double>(subject_.data.train.size());
    }
    return kForwards * texts * subject_.baseline_measured->seconds /
           static_cast<double>(subject_.data.validation.size());
  }

  // Returns the mean time to make, time and evaluate an untrained candidate; an estimate before the first one.
  double untrained_seconds(const std::vector<JudgedCandidate>& judged) const {
    constexpr double kFixedSeconds = 1;
    double took = 0, count = 0;
    for (const JudgedCandidate& one : judged) {
      if (!one.measured || training_seconds(one.point) > 0) continue;
      took += one.measured->seconds;
      ++count;
    }
    return count > 0 ? took / count
                     : kFixedSeconds + subject_.baseline_measured->seconds +
                           timer_.seconds(kShrinkTimerRounds);
  }

  // Returns how much longer training took than estimated, a factor.
  double training_slowdown(const std::vector<JudgedCandidate>& judged, double untrained) const {
    double took = 0, estimated = 0;
    for (const JudgedCandidate& one : judged) {
      if (!one.measured || one.trained_before) continue;
      const double training = training_seconds(one.point);
      if (training == 0) continue;
      took += one.measured->seconds - untrained;
      estimated += training;
    }
    return estimated > 0 ? std::clamp(took / estimated, 0.2, 20.0) : 1;
  }

  // Assumes equal accuracy, and that half of the changed predictions become correct, half wrong, as with two classes.
  double chance_to_show(double flips) const {
    const DisagreementRates rates{.lost = flips / 2, .gained = flips / 2};
    return power_to_show_within_limit(
        rates, margin_, static_cast<std::int64_t>(subject_.data.validation.size()),
        normal_above(kVerdictLevel /
                     static_cast<double>(job_.max_evaluations * std::ssize(gates_))));
  }

  void say(const std::string& sentence) const {
    if (context_.on_message && !context_.progress.quiet) context_.on_message(sentence);
  }

  void report(const ShrinkStep& step, std::int64_t number, const ShrinkState& state) const {
    const std::optional<std::size_t> best = state.best();
    say(fmt::format(
        "candidate {} of at most {}: {}\n  predicted: {} of the size, {} of the latency; {}; about "
        "{}.{} {} of {} spent",
        number, job_.max_evaluations - evaluations_before_, trials_.recipe_of(step.point),
        percent_text(step.shares.bytes), percent_text(step.shares.batch_latency),
        too_few_texts_ ? "too few examples to show that it is within the limit"
                       : fmt::format("{:.0f}% chance to be within the limit", 100 * step.chance),
        clock_text(std::max(1.0, step.seconds)),
        best ? best_text(state.tried[*best].shares) : std::string(), clock_text(spent()),
        clock_text(job_.budget_seconds)));
  }

  // "  candidate 3: accuracy changed by +0.26 points (95% CI -0.61 to +1.16): within limit; 7.2% of the size, 14.7% of
  // the latency"
  void report(const JudgedCandidate& one) const {
    const auto& measured = one.measured;
    say(fmt::format(
        "  candidate {}: {}{}", one.number,
        measured
            ? fmt::format("{}; {} of the size, {} of the latency",
                          candidate_change(*measured, subject_.baseline_measured->evaluation.metric,
                                           gates_, job_.max_evaluations),
                          percent_text(measured->shares.bytes),
                          percent_text(measured->shares.batch_latency))
            : fmt::format("failed: {}", one.failure.value_or("")),
        one.trained_before ? "; trained in an earlier run, its weights are reused" : ""));
  }

  // " Best so far: 10.5% of the size, 75.8% of the latency."
  std::string best_text(const ShrinkShares& shares) const {
    return fmt::format(" {} so far: {} of the size, {} of the latency.",
                       too_few_texts_ ? "Most promising" : "Best", percent_text(shares.bytes),
                       percent_text(shares.batch_latency));
  }

  static std::string percent_text(double share) { return fmt::format("{:.1f}%", 100 * share); }

  const ShrinkJob& job_;
  const std::vector<Gate>& gates_;
  double margin_;  ///< of the task's metric
  const TrialSubject& subject_;
  ShrinkTrials& trials_;
  std::int64_t evaluations_before_;
  bool too_few_texts_;
  const ShrinkTimer& timer_;
  Context& context_;
  double spent_before_ = 0;
  std::optional<double> enough_seconds_ = {};
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Returns the best candidate that more examples may show to be within the limit, if it is better than the chosen one.
std::optional<std::size_t> not_shown(const ShrinkFindings& f) {
  if (!f.proven) return std::nullopt;
  return best_within_limit(
      f.job.goal,
      tried_points(f.points, [](const JudgedCandidate& one) { return one.could_pass(); }),
      f.chosen ? f.points[*f.chosen].measured->shares : ShrinkShares{});
}

}  // namespace

JobResult shrink_model(const ShrinkJob& job, Context& context) {
  check_job(job);
  JobResult result{.document = {.title = fmt::format("{}, compressed", job.model), .headline = {}}};
  OutputFolder output(job.output.folder, job.output.resumable({.resume = job.resume}));
  TrialSubject given = open_given(job, context, result.document.notes);
  Invocation request = job.invocation;
  if (!job.recipe.empty()) request.settings["recipe"] = read_file(job.recipe);
  if (!begin_run(request, given.baseline.model.parameters, given.data, output, /*teacher=*/nullptr,
                 /*bounds=*/{"budget"}))
    return finished<JobResult>(output, job.output);
  const std::vector<Gate> gates = gates_of(job.gates, given.baseline.model, job.model);
  const ScratchFolder scratch(output.path() / "trimmed");
  Trimming trimming = trim(job, gates, given, scratch.path(), context);
  TrialSubject& subject = trimming.subject ? *trimming.subject : given;
  const std::string text = space_text(job, subject);
  SearchRecipe recipe = parse_search_recipe(text, job.recipe.empty() ? "space.toml" : job.recipe,
                                            context.library.formats);
  check_recipe(recipe, subject);
  score_units(recipe, subject, context);
  const TrialSpace space(std::move(recipe), [&](const Json& architecture) {
    return linears_of(subject, architecture, context);
  });
  ShrinkTimer timer(given.baseline.model, given.data.validation, subject.data.validation, context);
  const ShrinkGate gate{*given.baseline_measured, gates, job.max_evaluations};
  ShrinkFindings findings{
      .job = job,
      .original = given.baseline,
      .gates = gates,
      .data = given.data,
      .subject = subject,
      .timer = timer,
      .trimmed = trimming.found,
      .self_comparison = judge_baseline(gates, given.baseline_measured->view(),
                                        truth_of(given.data.validation), job.max_evaluations),
      .space = text};
  // Warns before time is spent.
  if (!findings.self_comparison.passes) print_warnings(context, {too_few_texts_sentence(findings)});
  ShrinkTrials trials(subject, space, gate, trimming.recipe(), timer, output.path() / "study.db",
                      job.cache, output.path() / "trainings", context);
  Shrinking shrinking(job, gates, subject, trials,
                      trimming.found && trimming.found->evaluated ? 1 : 0,
                      !findings.self_comparison.passes, timer, context);
  const PlanningCounts planning = trials.planning_counts(job.budget_seconds);
  // Narrow layers are chosen on training texts too, so that validation texts only judge.
  subject.allocation_data = {allocation_sample(subject.data.train, planning.layers, subject.seed),
                             quick_calibration(subject.calibration)};
  findings.end = shrinking.run(planning);
  findings.enough_seconds = shrinking.enough_seconds();
  findings.points = trials.judged();
  const auto best_of = [&](const auto& holds) {
    return best_within_limit(job.goal, tried_points(findings.points, holds));
  };
  findings.chosen = best_of([](const JudgedCandidate& one) { return one.within_limit(); });
  // If no validation text contains a removed token, nothing is shown about other texts.
  findings.proven = findings.chosen.has_value() ||
                    (trimming.found && trimming.found->evaluated && trimming.found->applied);
  if (!findings.proven) {
    findings.chosen = best_of([](const JudgedCandidate& one) { return one.could_pass(); });
    if (!findings.chosen)
      findings.chosen =
          best_of([&](const JudgedCandidate& one) { return shrinking.may_be_kept(one); });
    // Only tokens were removed, and all predictions on the deciding split are the same.
    findings.proven = !findings.chosen && trimming.subject.has_value();
  }
  findings.not_shown = not_shown(findings);
  if (findings.chosen) findings.points[*findings.chosen].chosen = true;
  findings.seconds = shrinking.spent();
  result.seconds_before = shrinking.spent_before();
  TextModel made = subject.baseline;
  TrialConfiguration configuration;
  if (findings.chosen) {
    const ShrinkPoint& point = findings.points[*findings.chosen].point;
    configuration = trials.configuration_of(point);
    made.model = trials.model_of(point).model;
    findings.trained_steps = training_steps(subject, configuration);
  }
  made.trained_on = record_of_trial(search_of(job, job.model), given, configuration);
  result = report_shrink(findings, made, std::move(result), output, context);
  trials.close();
  check_is_whole((output.path() / "study.db").string());
  output.commit();
  return result;
}

}  // namespace hone
