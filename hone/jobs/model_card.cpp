#include "hone/jobs/model_card.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card_sections.h"
#include "hone/models/text_limit.h"
#include "hone/passes/pack.h"
#include "hone/runtime/machine.h"
#include "hone/text/tokenizer_files.h"

namespace hone {

std::string markdown_code(const std::string& name) {
  const std::string text = shown_name(name, name.size());  // in one line, not shortened
  return text.find('`') == std::string::npos ? "`" + text + "`" : "`` " + text + " ``";
}

CardFacts facts_of_training(const SubjectResult& subject, std::uint64_t seed, std::int64_t steps,
                            std::int64_t weights_of_step) {
  const std::string base = markdown_code(subject.model);
  return {.base = subject.model,
          .origin = is_new_model(subject.model)
                        ? fmt::format("trained from fresh weights ({})", base)
                        : base + " fine-tuned",
          .relation = "finetune",
          .data = subject.data,
          .trained_on_data = true,
          .seed = seed,
          .steps = steps,
          .weights_of_step = weights_of_step};
}

CardFacts facts_of_change(const SubjectResult& subject, const BeforeAndAfterResult& both,
                          const std::string& before) {
  const MeasuredSplitResult split = subject.measured.value_or(MeasuredSplitResult{});
  return {.base = subject.model,
          .origin = {},
          .data = subject.data,
          .rows = {{before, both.before, split}, {"", both.after, split}},
          .comparison = both.comparison};
}

std::vector<std::string> about_weights(const Model& model) {
  const bool packed = has_packed_weights(model.graph);
  return {packed ? "The weights are packed, in the codes of their formats. The speed of the model "
                   "depends on the CPU; `hone bench` measures it."
          : model.quantization
              ? "It is not smaller or faster yet: weights are stored in fp32, as the values they "
                "take in their format, and arithmetic is simulated: values are rounded, sums are "
                "in fp32."
          : model.facts.stored_without_zeros
              ? "The weights are in fp32, stored without their zeros."
              : "The weights are in fp32.",
          loading_text(model)};
}

std::string weights_section(const std::vector<std::string>& sentences) {
  return fmt::format("{}\n- {}\n\n", kWeightsTitle, fmt::join(sentences, "\n- "));
}

std::string history_text(const History& history) {
  constexpr std::size_t kShown = 12, kCharacters = 400;
  std::string text;
  if (!history.complete)
    text +=
        "- passes over its graph: the first are unknown, because the version of hone that ran them "
        "stored no history\n";
  for (std::size_t i = 0; i < std::min(history.passes.size(), kShown); ++i)
    text += fmt::format("- pass over its graph: {}\n",
                        markdown_code(shorten(history.passes[i], kCharacters)));
  if (history.passes.size() > kShown)
    text += fmt::format("- and {} more; `hone inspect` lists them\n",
                        grouped(static_cast<long long>(history.passes.size() - kShown)));
  return text;
}

namespace {

std::string task_sentence(Task task, const std::string& labels) {
  if (task == Task::regression) return fmt::format("predicts the number {}", labels);
  if (task == Task::multi_label) return fmt::format("predicts any number of the labels {}", labels);
  return fmt::format("predicts one of the classes {}", labels);
}

std::string introduction(const ModelCard& card, const Model& model) {
  std::vector<std::string> labels;
  for (const std::string& label : model.facts.labels) labels.push_back(markdown_code(label));
  return fmt::format("# {}\n\nA {} {} of {}: {}. It {}.\n\n", card.name,
                     find_architecture(model.facts.architecture, card.name).title,
                     model.facts.task() == Task::regression ? "regression" : "classifier",
                     model.facts.limits.image ? "images" : "texts", card.facts.origin,
                     task_sentence(model.facts.task(), fmt::format("{}", fmt::join(labels, ", "))));
}

std::string size_section(const ModelCard& card) {
  if (card.size_notes.empty()) return "";
  return fmt::format("{}\n- {}\n\n", kSizeTitle, fmt::join(card.size_notes, "\n- "));
}

std::vector<std::string> weight_sentences(const CardFacts& facts, const Model& model,
                                          Truncation truncation) {
  if (!facts.weights.empty()) return facts.weights;
  std::vector<std::string> sentences = about_weights(model);
  if (truncation == Truncation::head_tail) sentences.emplace_back(kHeadTailInOtherPrograms);
  if (facts.in_transformers && !facts.rows.empty()) {
    const auto& [what, here, split] = facts.rows.back();
    const MetricName& metric = here.metric;
    sentences.push_back(
        fmt::format("Measured on the {} split, n = {}: {} {} in `transformers`, {} here.",
                    split.split, facts.in_transformers->samples, metric.text,
                    share_text(metric_of(*facts.in_transformers, metric.key)),
                    share_text(metric_of(here, metric.key))));
  }
  return sentences;
}

std::string origin(const ModelCard& card, const Model& model) {
  const CardFacts& facts = card.facts;
  std::string text = fmt::format("{}\nBy hone {}:\n\n```sh\n{}\n```\n\n", kOriginTitle,
                                 hone_version(), card.command_line);
  if (facts.data) {
    std::string parts;
    for (const SplitResult& split : facts.data->splits)
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", split.split, grouped(split.rows));
    text += fmt::format(
        "- data: {}{}{}\n", markdown_code(facts.data->source),
        parts.empty() ? "" : fmt::format("; rows: {}", parts),
        facts.data->hash.empty() ? "" : fmt::format("; fingerprint `{}`", facts.data->hash));
  }
  if (facts.seed) text += fmt::format("- seed: {}\n", *facts.seed);
  if (facts.steps > 0 || facts.weights_of_step)
    text += fmt::format("- steps: {}{}\n", facts.steps,
                        facts.weights_of_step ? fmt::format("; the weights are those after step {}",
                                                            *facts.weights_of_step)
                                              : "");
  if (facts.format)
    text += fmt::format("- format: {}, {:.4g} bits per quantized weight\n",
                        markdown_code(*facts.format), average_weight_bits(model));
  return text + history_text(model.facts.history) + "\n";
}

}  // namespace

std::string to_markdown(const ModelCard& card, const Model& model, const CardCut& cut) {
  return card_metadata(card, model) + "\n" + introduction(card, model) +
         metrics_section(card.facts) + classes_section(card.facts) + size_section(card) +
         weights_section(weight_sentences(card.facts, model, cut.truncation)) +
         origin(card, model) + limits_section(card.facts, model, cut);
}

void write_model_card(const ModelCard& card, const Model& model, const fs::path& folder) {
  CardCut cut{.tokens = model.facts.limits.tokens,
              .truncation = read_truncation(folder).value_or(Truncation::head)};
  const std::optional<TokenLimit> of_folder = read_sentence_encoder(folder).limit;
  for (const std::int64_t tokens :
       {of_folder ? of_folder->tokens : cut.tokens, card.max_seq_length})
    if (tokens > 0) cut.tokens = std::min(cut.tokens, tokens);
  write_file(folder / "README.md", to_markdown(card, model, cut));
}

}  // namespace hone
