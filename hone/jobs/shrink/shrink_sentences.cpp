#include "hone/jobs/shrink/shrink_sentences.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/shrink/shrink_advice.h"
#include "hone/jobs/shrink/shrink_tables.h"
#include "hone/metrics/evidence.h"
#include "hone/models/vocabulary_cut.h"

namespace hone {
namespace {

std::string trimmed_text(const ShrinkFindings& f) {
  const TrimmedVocabulary& trimmed = *f.trimmed;
  const auto respelled = [&] {
    return respelled_texts(f.original.tokenizer, f.data.test, f.subject.baseline.tokenizer,
                           f.subject.data.test)
        .size();
  };
  if (!trimmed.applied)
    return fmt::format(
        "Vocabulary: all {} tokens are kept. With only the {} that the training split uses, {}.",
        grouped(trimmed.before), grouped(trimmed.after), trimmed.summary);
  return fmt::format(
      "Vocabulary: {} of {} tokens are kept, those that the training split uses ({}; {} examples "
      "of {} are tokenized differently). `--only prune,sparsify,quantize,allocate,train` keeps all "
      "tokens.",
      grouped(trimmed.after), grouped(trimmed.before), trimmed.summary,
      grouped(static_cast<std::int64_t>(respelled())), short_name_and_size(f.data.measured));
}

std::string_view goal_text(ShrinkGoal goal) {
  if (goal == ShrinkGoal::both) return "size and latency";
  return goal == ShrinkGoal::size ? "size" : "latency";
}

}  // namespace

std::string too_few_texts_sentence(const ShrinkFindings& f) {
  if (f.self_comparison.passes) return "";
  return fmt::format("{} {}",
                     too_few_sentence(f.self_comparison, f.made_on(),
                                      counted_text(f.job.max_evaluations, "evaluation")),
                     needed_sentence(f));
}

std::string use_of_result(const ShrinkFindings& f, const JudgedGates& gates) {
  const std::string folder = fmt::format("{}/{}", f.job.output.folder, f.judged_folder());
  if (f.proven) return usage_advice(gates, folder);
  return fmt::format(
      "{} is the most promising candidate. It is not shown to be within the limit, so do not rely "
      "on it.",
      folder);
}

std::vector<std::string> choice_sentences(const ShrinkFindings& f) {
  std::vector<std::string> lines;
  if (f.chosen) {
    const JudgedCandidate& one = f.points[*f.chosen];
    std::string line = fmt::format(
        "{}: candidate {} ({}){}.", f.proven ? "Chosen" : "Most promising", one.number, one.recipe,
        f.proven
            ? ""
            : fmt::format(", the best by {} of those {}", goal_text(f.job.goal),
                          one.could_pass()
                              ? "that more examples may show to be within the limit"
                              : fmt::format("whose {} dropped by no more than the limit",
                                            f.subject.baseline_measured->evaluation.metric.text)));
    if (!f.is_measured_where_chosen())
      line += fmt::format(
          " On {}, {}.", f.made_on(),
          candidate_change(*one.measured, f.subject.baseline_measured->evaluation.metric, f.gates,
                           f.job.max_evaluations));
    lines.push_back(std::move(line));
  }
  if (f.not_shown) {
    const JudgedCandidate& one = f.points[*f.not_shown];
    const ShrinkShares& shares = one.measured->shares;
    const ShrinkShares than = f.chosen ? f.points[*f.chosen].measured->shares : ShrinkShares{};
    const bool smaller = shares.bytes < than.bytes,
               faster = shares.batch_latency < than.batch_latency;
    lines.push_back(fmt::format(
        "Candidate {} is {} ({:.1f}% of the size, {:.1f}% of the latency), but {}. {}", one.number,
        smaller && faster ? "smaller and faster"
        : smaller         ? "smaller"
        : faster          ? "faster"
                          : "faster at batch size 1",
        100 * shares.bytes, 100 * shares.batch_latency, one.measured->summary,
        more_examples_sentence(f, *one.measured->examples_needed)));
  }
  return lines;
}

std::string end_sentence(const ShrinkFindings& f) {
  const bool vocabulary = f.trimmed && f.trimmed->evaluated;
  const std::string needed = needed_sentence(f);
  return fmt::format("The search ended after {} ({} of at most {}{}) and {} of {}: {}.{}{}",
                     counted_text(std::ssize(f.points), "candidate"), f.evaluations(),
                     counted_text(f.job.max_evaluations, "evaluation"),
                     vocabulary ? ", 1 of the smaller vocabulary" : "", clock_text(f.seconds),
                     clock_text(f.job.budget_seconds), f.end, needed.empty() ? "" : " ", needed);
}

std::string reused_sentence(const ShrinkFindings& f) {
  const auto reused = std::ranges::count_if(f.points, &JudgedCandidate::trained_before);
  if (reused == 0) return "";
  return fmt::format(
      "{} of {} candidates were trained in an earlier run, and their weights reused; --no_cache "
      "trains again",
      reused, f.points.size());
}

std::string training_sentence(const ShrinkFindings& f) {
  return training_caveat(f.trained_steps, f.trained_steps, "compression");
}

std::string removed_tokens_sentence(const ShrinkFindings& f) {
  if (!f.trimmed || !f.trimmed->applied) return "";
  return fmt::format(
      "{} of {} tokens were removed from the vocabulary, so predictions for texts with words "
      "that the training split lacks may differ.",
      grouped(f.trimmed->before - f.trimmed->after), grouped(f.trimmed->before));
}

std::string stricter_tests_text(const ShrinkFindings& f) {
  if (f.tests() == 1) return "";
  return fmt::format(
      " With up to {} tests on the {} split, a candidate may pass by chance. hone therefore tests "
      "each at a level of {:.2g}% instead of {:g}% (Bonferroni correction), so a candidate may be "
      "inconclusive although its whole interval is within the limit.",
      f.tests(), f.chosen_on().facts.split, 100 * kVerdictLevel / static_cast<double>(f.tests()),
      100 * kVerdictLevel);
}

std::vector<std::string> search_sentences(const ShrinkFindings& f) {
  std::vector<std::string> lines;
  if (f.trimmed) lines.push_back(trimmed_text(f));
  if (f.job.loadable)
    lines.emplace_back(
        "Candidates were evaluated as transformers computes them, in fp32 with rounded weights. "
        "Their sizes and latencies are those of the packed model.");
  return lines;
}

std::vector<std::string> model_sentences(const ShrinkFindings& f, const ShrunkModel& written) {
  std::vector<std::string> lines;
  if (const std::optional<Comparison>& counted = written.both.comparison.counted)
    lines.push_back(fmt::format("Predictions on {}: correct → wrong {}, wrong → correct {}.",
                                short_name_and_size(f.data.measured),
                                grouped(counted->only_baseline), grouped(counted->only_candidate)));
  for (std::string& line : lines_of(written.size_and_time)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> loadable_sentences(const ShrinkFindings& f,
                                            const std::vector<ShrunkModel>& all) {
  if (!f.job.loadable) return {};
  std::vector<std::string> lines = {
      fmt::format("{}/ has fp32 weights{}; nothing is rounded when the model runs. {} All results "
                  "refer to this folder.",
                  all[0].name, all.size() > 1 ? " with the values of their formats" : "",
                  loading_text(all[0].model))};
  if (all.size() == 1) {
    lines.emplace_back("No weight is packed, so no other folder was written.");
  } else {
    lines.push_back(
        fmt::format("{}/ is the same model packed ({}), for hone only: {}. On {}, {}.", all[1].name,
                    all[1].arithmetic,
                    size_and_speed(all[1].size_and_time.size_before, all[1].size_and_time.size,
                                   all[1].size_and_time.times),
                    short_name_and_size(f.data.measured), all[1].both.verdict.summary));
  }
  return lines;
}

std::vector<std::string> reading_notes(const ShrinkFindings& f, std::string_view arithmetic) {
  const std::string& part = f.chosen_on().facts.split;
  std::vector<std::string> notes = {
      fmt::format(
          "Within limit: the change is shown to be above -{:g} points. One test alone shows "
          "it where the whole 95% confidence interval is; several tests ask for more. It "
          "does not mean that nothing was lost.",
          100 * f.margin()),
      fmt::format("All tests on the {} split together accept a candidate that is not within the "
                  "limit in at most {:g}% of runs.{}",
                  part, 100 * kVerdictLevel, stricter_tests_text(f))};
  if (f.chosen_on().facts.repeated_rows + f.data.measured.facts.repeated_rows > 0)
    notes.emplace_back(kEffectiveSizeMeaning);
  for (std::string& note : std::vector<std::string>{
           "Sizes are those of the weights in the files that hone writes: the baseline in fp32, "
           "packed weights without the zeros that their file leaves out. Names and places in the "
           "file are not counted.",
           "Latencies of the result are medians over paired rounds; a speedup is the median of the "
           "rounds' "
           "ratios, so it may differ from the ratio of the latencies. Noisy: one end of the 95% "
           "interval of the speedup is more than 1.5 times the other.",
           fmt::format("The compressed model is {}. Native models multiply in their few bits; "
                       "simulated ones round values and compute in fp32.",
                       arithmetic),
           fmt::format("Each candidate depended on the results before it, so the numbers of the "
                       "chosen one on the {} split are optimistic. {}",
                       part,
                       f.is_measured_where_chosen()
                           ? "The result is measured on the same examples; evaluate it on others."
                           : fmt::format("The {} split was evaluated once in this run, at the end. "
                                         "Earlier runs on the same data are not counted.",
                                         f.data.measured.facts.split)),
           "Candidates depend on latencies measured on this machine, so the same command may "
           "choose otherwise. The same steps with the same data and seed give the same model, bit "
           "for bit."})
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace hone
