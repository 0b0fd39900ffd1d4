#include "hone/jobs/shrink/shrink_sentences.h"

#include <algorithm>

#include "hone/base/text.h"
#include "hone/jobs/shrink/shrink_tables.h"
#include "hone/models/vocabulary_cut.h"

namespace hone {
namespace {

std::string trimmed_text(const ShrinkFindings& f) {
  const TrimmedVocabulary& trimmed = *f.trimmed;
  const auto respelled = [&] {
    return respelled_texts(f.original.tokenizer, f.data.test, f.subject.parent.tokenizer,
                           f.subject.data.test)
        .size();
  };
  if (!trimmed.applied)
    return fmt::format(
        "Vocabulary: all {} tokens are kept. With only the {} that the training split uses, {}.",
        grouped(trimmed.before), grouped(trimmed.after), trimmed.summary);
  return fmt::format(
      "Vocabulary: {} of {} tokens are kept, those that the training split uses ({}; {} examples "
      "of {} are tokenized differently). `--only prune,quantize,allocate,train` keeps all tokens.",
      grouped(trimmed.after), grouped(trimmed.before), trimmed.summary,
      grouped(static_cast<std::int64_t>(respelled())), name_and_size(f.data.measured));
}

}  // namespace

std::string too_few_texts_sentence(const ShrinkFindings& f) {
  return too_few_sentence(f.itself, f.made_on(), fmt::format("{} evaluations", f.job.looks),
                          "--max_evaluations");
}

std::string size_and_speed(const SizeAndTime& t) {
  std::string text = size_change(static_cast<double>(t.size_before.memory_bytes),
                                 static_cast<double>(t.size.memory_bytes));
  if (text == "the same") text = "same size";
  return fmt::format("{}, {}", text, speedup_headline(t.times.front().times.ratio()));
}

std::vector<std::string> choice_sentences(const ShrinkFindings& f) {
  std::vector<std::string> lines;
  if (f.chosen) {
    const JudgedPoint& one = f.points[*f.chosen];
    std::string line = fmt::format("{}: candidate {} ({}).", f.proven ? "Chosen" : "Most promising",
                                   one.number, one.recipe);
    if (!f.is_measured_where_chosen())
      line += fmt::format(" On the {} split, {}.", f.chosen_on().facts.part, one.measured->summary);
    lines.push_back(std::move(line));
  }
  if (f.not_shown) {
    const JudgedPoint& one = f.points[*f.not_shown];
    lines.push_back(fmt::format(
        "Candidate {} is smaller or faster ({:.1f}% of the size, {:.1f}% of the latency), but {}. "
        "More validation examples may show it: train the baseline again with a larger "
        "--validation_split.",
        one.number, 100 * one.measured->shares.bytes, 100 * one.measured->shares.time,
        one.measured->summary));
  }
  return lines;
}

std::string end_sentence(const ShrinkFindings& f) {
  const bool vocabulary = f.trimmed && f.trimmed->looked;
  std::string text = fmt::format(
      "The search ended after {} candidate{} ({} of at most {} evaluations{}) and {} of {}: {}.",
      f.points.size(), f.points.size() == 1 ? "" : "s", f.evaluations(), f.job.looks,
      vocabulary ? ", 1 of the smaller vocabulary" : "", clock_text(f.seconds),
      clock_text(f.job.budget_seconds), f.end);
  if (f.itself.passes) return text;
  const bool has_number =
      !f.proven && f.chosen && f.points[*f.chosen].measured->examples_needed.has_value();
  if (!has_number) return too_few_texts_sentence(f) + " " + text;
  text += fmt::format(" {} has too few examples for {} evaluations", capitalized(f.made_on()),
                      f.job.looks);
  if (f.itself.evaluations_that_show > 0)
    text += fmt::format("; --max_evaluations {} needs fewer", f.itself.evaluations_that_show);
  return text + ".";
}

std::string reused_sentence(const ShrinkFindings& f) {
  const auto reused = std::ranges::count_if(f.points, &JudgedPoint::trained_before);
  if (reused == 0) return "";
  return fmt::format(
      "{} of {} candidates were trained in an earlier run, and their weights reused; --no_cache "
      "trains again",
      reused, f.points.size());
}

std::string removed_tokens_sentence(const ShrinkFindings& f) {
  if (!f.trimmed || !f.trimmed->applied) return "";
  return fmt::format(
      "{} of {} tokens were removed from the vocabulary, so words that the training split lacks "
      "may be classified differently.",
      grouped(f.trimmed->before - f.trimmed->after), grouped(f.trimmed->before));
}

std::string stricter_tests_text(const ShrinkFindings& f) {
  if (f.tests() == 1) return "";
  return fmt::format(
      " Up to {} models are evaluated on the {} split, so one may pass by chance. hone therefore "
      "tests each at a level of {:.2g}% instead of {:g}% (Bonferroni correction for {} tests). A "
      "candidate may be inconclusive although its whole interval is within the limit.",
      f.job.looks, f.chosen_on().facts.part, 100 * kVerdictLevel / static_cast<double>(f.tests()),
      100 * kVerdictLevel, f.tests());
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
                                name_and_size(f.data.measured), grouped(counted->only_parent),
                                grouped(counted->only_candidate)));
  for (std::string& line : lines_of(written.takes)) lines.push_back(std::move(line));
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
    lines.push_back(fmt::format("{}/ is the same model packed ({}), for hone only: {}. On {}, {}.",
                                all[1].name, all[1].arithmetic, size_and_speed(all[1].takes),
                                name_and_size(f.data.measured), all[1].both.verdict.summary));
  }
  return lines;
}

std::vector<std::string> reading_notes(const ShrinkFindings& f, std::string_view arithmetic) {
  return {
      fmt::format("Within limit: the whole 95% confidence interval of the change is above -{:g} "
                  "points. It does not mean that nothing was lost.",
                  100 * f.margin()),
      fmt::format("All tests on the {} split together accept a candidate that is not within the "
                  "limit in at most {:g}% of runs.{}",
                  f.chosen_on().facts.part, 100 * kVerdictLevel, stricter_tests_text(f)),
      "Latencies are medians over paired rounds; a speedup is the median of the rounds' ratios, so "
      "it may differ from the ratio of the latencies.",
      fmt::format("The compressed model is {}. Native models multiply in their few bits; simulated "
                  "ones round values and compute in fp32.",
                  arithmetic),
      fmt::format(
          "Each candidate depended on the results before it, so the numbers on the {} split "
          "flatter the chosen one. {}",
          f.chosen_on().facts.part,
          f.is_measured_where_chosen()
              ? "The result is measured on the same examples; evaluate it on others."
              : fmt::format("The {} split was evaluated once in this run, at the end. "
                            "Earlier runs on the same data are not counted.",
                            f.data.measured.facts.part)),
      "Candidates depend on latencies measured on this machine, so the same command may choose "
      "otherwise. The same steps with the same data and seed give the same model, bit for bit."};
}

}  // namespace hone
