#include "hone/jobs/model_card.h"

#include <algorithm>
#include <cmath>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/synthetic.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/jobs/compress.h"
#include "hone/metrics/evidence.h"
#include "hone/models/text_limit.h"
#include "hone/passes/pack.h"
#include "hone/runtime/machine.h"
#include "hone/text/tokenizer_files.h"

namespace hone {
namespace {

constexpr std::int64_t kFewTexts = 1000;         // an accuracy of 90% is known to 2 points there
constexpr std::int64_t kFewOfAClass = 50;        // texts to learn a class from
constexpr double kRarelyFound = 0.5;             // recall
constexpr std::size_t kMostConfusedClasses = 6;  // with a column for each

constexpr std::string_view kWeightsTitle = "## Weights, and who can load them\n",
                           kTakesTitle = "## What it takes\n",
                           kOriginTitle = "## How it was made\n";

// The rows of this model as hone computes it.
std::vector<const CardRow*> own_rows(const CardFacts& facts) {
  std::vector<const CardRow*> rows;
  for (const CardRow& row : facts.rows)
    if (row.is_own()) rows.push_back(&row);
  return rows;
}

constexpr std::string_view kUnknown = "–";

// "90.3%", "–"
std::string percent_text(double share, int digits = kShareDigits) {
  return std::isnan(share) ? std::string(kUnknown) : percent_number(share, digits) + "%";
}

// "89.5 to 91.0%", "–"
std::string interval_text(const Interval& interval, int digits = kShareDigits) {
  if (std::isnan(interval.low) || std::isnan(interval.high)) return std::string(kUnknown);
  return fmt::format("{} to {}%", percent_number(interval.low, digits),
                     percent_number(interval.high, digits));
}

// The element of that name, if there is one.
template <typename T>
std::optional<T> named(const EvaluationResult::ByName<T>& elements, std::string_view name) {
  for (const auto& [own, element] : elements)
    if (own == name) return element;
  return std::nullopt;
}

// NaN where the task does not have the metric.
double metric_of(const EvaluationResult& evaluation, std::string_view name) {
  return named(evaluation.metrics, name).value_or(std::nan(""));
}
Interval interval_of(const EvaluationResult& evaluation, std::string_view name) {
  return named(evaluation.intervals, name).value_or(Interval{std::nan(""), std::nan("")});
}

// "80 trained on, effective n = 120"; empty: nothing that is known flatters the row. `with_size`: the effective size is not
// said beside it.
std::string cautions_text(const CardRow& row, bool with_size = true) {
  std::vector<std::string> cautions = row.split.cautions;
  if (with_size && is_notably_less(row.split.effective_n, row.split.n))
    cautions.push_back("effective n = " + grouped(row.split.effective_n));
  return fmt::format("{}", fmt::join(cautions, ", "));
}

// A string in YAML: JSON's are among them, and so is what no plain scalar may hold.
std::string yaml(const std::string& text) { return to_line(Json(text)); }

std::string base_model(const CardFacts& facts) {
  std::error_code error;
  if (is_fresh(facts.base) || fs::exists(facts.base, error)) return "";
  const std::optional<HubName> name = parse_hub_name(facts.base);
  return name ? name->repository : "";
}

// As the hub calls what is classified.
std::string_view kind_of_examples(const Model& model) {
  return model.facts.limits.image ? "image" : "text";
}

std::string library_name(const Model& model) {
  return transformers_loading(model).loads() ? "transformers" : "hone";
}

// Of what is quantized.
std::string format_tags(const Model& model) {
  if (!model.quantization) return "";
  return fmt::format("- quantized\n- {}\n", yaml(model.quantization->method));
}

// The results of the model, as the hub reads them.
std::string model_index(const ModelCard& card, const Model& model) {
  const std::string_view kind = kind_of_examples(model);
  const std::string source = card.facts.data ? card.facts.data->source : "";
  std::string results;
  for (const CardRow* row : own_rows(card.facts)) {
    const EvaluationResult& m = row->evaluation;
    const std::string cautions = cautions_text(*row, /*with_size=*/false);
    std::string basis = sample_size_text(m.samples, m.effective_samples);
    if (!cautions.empty()) basis += ", " + cautions;
    std::string metrics;
    for (const std::string& type : {m.metric.key, std::string("loss")}) {
      const double value = metric_of(m, type);
      if (std::isnan(value)) continue;
      const std::string interval = interval_text(interval_of(m, type));
      metrics += fmt::format(
          "    - type: {}\n      value: {}\n      name: {}\n", type, to_line(Json(value)),
          yaml(fmt::format("{} ({}{})", type, basis,
                           interval == kUnknown ? "" : fmt::format("; 95%: {}", interval))));
    }
    if (metrics.empty()) continue;
    results += fmt::format(
        "  - task:\n      type: {}-classification\n    dataset:\n      name: {}\n      type: {}\n"
        "      split: {}\n    metrics:\n{}",
        kind, yaml(source), yaml(source), row->split.split, metrics);
  }
  return results.empty()
             ? ""
             : fmt::format("model-index:\n- name: {}\n  results:\n{}", yaml(card.name), results);
}

std::string metadata(const ModelCard& card, const Model& model) {
  const CardFacts& facts = card.facts;
  const std::string_view kind = kind_of_examples(model);
  std::string text = fmt::format("---\nlibrary_name: {}\npipeline_tag: {}-classification\n",
                                 facts.library.empty() ? library_name(model) : facts.library, kind);
  const std::string base = base_model(facts);
  if (!base.empty()) text += fmt::format("base_model: {}\n", yaml(base));
  if (!base.empty() && !facts.relation.empty())
    text += fmt::format("base_model_relation: {}\n", facts.relation);
  text += fmt::format("tags:\n- hone\n- {}\n- {}-classification\n", model.facts.architecture, kind);
  for (const std::string& tag : facts.tags) text += fmt::format("- {}\n", tag);
  text += format_tags(model);
  if (const auto own = own_rows(facts); !own.empty())
    text += fmt::format("metrics:\n- {}\n", own.back()->evaluation.metric.key);
  return text + model_index(card, model) + "---\n";
}

std::string what_it_does(Task task, const std::string& labels) {
  if (task == Task::regression) return fmt::format("gives the number {}", labels);
  if (task == Task::multi_label) return fmt::format("gives any number of the labels {}", labels);
  return fmt::format("tells {} apart", labels);
}

std::string introduction(const ModelCard& card, const Model& model) {
  std::vector<std::string> labels;
  for (const std::string& label : model.facts.labels) labels.push_back(markdown_code(label));
  return fmt::format("# {}\n\nA {} {} of {}: {}. It {}.\n\n", card.name,
                     find_architecture(model.facts.architecture, card.name).title,
                     model.facts.task() == Task::regression ? "regression" : "classifier",
                     model.facts.limits.image ? "images" : "texts", card.facts.origin,
                     what_it_does(model.facts.task(), fmt::format("{}", fmt::join(labels, ", "))));
}

std::string figure_row(std::string_view what, const EvaluationResult& m, const std::string& split) {
  const double loss = metric_of(m, "loss");
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", what, split, grouped(m.samples),
                     percent_text(metric_of(m, m.metric.key)),
                     interval_text(interval_of(m, m.metric.key)), hone::share_text(m.baseline),
                     std::isnan(loss) ? std::string(kUnknown) : fmt::format("{:.4f}", loss));
}

// How the model differs from its base.
std::string comparison_text(const CardFacts& facts) {
  if (!facts.comparison) return "";
  const ComparisonResult& comparison = *facts.comparison;
  std::string text = fmt::format("Against the model before: {}.", comparison.verdict.summary);
  if (comparison.flip_share)
    text += fmt::format(" {} that differ: {} (95% CI {}).",
                        comparison.answer_flip_share ? "Texts with answers" : "Predictions",
                        percent_text(*comparison.flip_share, kDifferenceDigits),
                        comparison.flip_interval
                            ? interval_text(*comparison.flip_interval, kDifferenceDigits)
                            : std::string(kUnknown));
  text += "\n\n";
  return facts.caveat.empty() ? text : text + facts.caveat + "\n\n";
}

std::string figures(const CardFacts& facts) {
  std::string text = "## Figures\n\n";
  if (facts.rows.empty()) return text + facts.unmeasured + "\n\n";
  const CardRow& judged = facts.rows.back();
  text += fmt::format("| | split | n | {} | 95% interval | constant prediction | loss |\n",
                      judged.evaluation.metric.text);
  text += "|---|---|---|---|---|---|---|\n";
  for (const CardRow& row : facts.rows)
    text += figure_row(row.is_own() ? "this model" : row.what, row.evaluation, row.split.split);
  if (facts.in_transformers)
    text += figure_row("this model in `transformers`", *facts.in_transformers, judged.split.split);
  text += "\n";
  std::string flattered;
  for (const CardRow* row : own_rows(facts))
    if (const std::string cautions = cautions_text(*row); !cautions.empty())
      flattered +=
          fmt::format("{}{}: {}", flattered.empty() ? "" : "; ", row->split.split, cautions);
  if (!flattered.empty()) text += fmt::format("To be read with: {}.\n\n", flattered);
  text += comparison_text(facts);
  return facts.seed ? text + "These are the figures of one seed; another gives others.\n\n" : text;
}

// A cell of a table in Markdown.
std::string cell_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

// "90.27% (89.10 to 91.30%)"
std::string share_text(double share, const Interval& interval) {
  const std::string text = percent_text(share);
  return text == kUnknown ? text : fmt::format("{} ({})", text, interval_text(interval));
}

// Figures of each class, or of each label; of numbers there are none.
EvaluationResult::ByName<ClassResult> of_classes_or_labels(const EvaluationResult& m) {
  EvaluationResult::ByName<ClassResult> all;
  if (m.classes) all = *m.classes;
  if (m.labels)
    for (const auto& [label, figures] : *m.labels) all.emplace_back(label, figures.of_class);
  return all;
}

// How each class was told from the others, on the part the model is judged by, and of a few what its texts were taken for.
std::string classes(const CardFacts& facts) {
  const auto rows = own_rows(facts);
  if (rows.empty()) return "";
  const EvaluationResult& m = rows.back()->evaluation;
  const auto of_class = of_classes_or_labels(m);
  if (of_class.empty()) return "";
  const bool confused = m.confusion && of_class.size() <= kMostConfusedClasses;
  std::string header = fmt::format("| {} | examples | precision | recall | F1 |",
                                   m.labels ? "label" : "class"),
              line = "|---|---|---|---|---|", body;
  for (std::size_t row = 0; row < of_class.size(); ++row) {
    const auto& [label, one] = of_class[row];
    const std::string name = cell_text(markdown_code(label));
    if (confused) header += fmt::format(" taken for {} |", name);
    if (confused) line += "---|";
    body += fmt::format("| {} | {} | {} | {} | {} |", name, grouped(one.support),
                        share_text(one.precision, one.precision_interval),
                        share_text(one.recall, one.recall_interval), percent_text(one.f1));
    if (confused)
      for (const std::int64_t texts : m.confusion->at(row))
        body += fmt::format(" {} |", grouped(texts));
    body += "\n";
  }
  return fmt::format(
      "## {}\n\nOn the {} split, n = {}; in brackets the 95% interval:\n\n{}\n{}\n{}\n",
      m.labels ? "Labels" : "Classes", rows.back()->split.split, grouped(m.samples), header, line,
      body);
}

std::string what_it_takes(const ModelCard& card) {
  if (card.takes.empty()) return "";
  return fmt::format("{}\n- {}\n\n", kTakesTitle, fmt::join(card.takes, "\n- "));
}

// The passes over the model's graph, and that some are not known.
std::string history_text(const History& history) {
  constexpr std::size_t kShown = 12, kCharacters = 400;
  std::string text;
  if (!history.complete)
    text +=
        "- passes over its graph: the first are not known, the version of hone that ran them "
        "kept no history\n";
  for (std::size_t i = 0; i < std::min(history.passes.size(), kShown); ++i)
    text += fmt::format("- pass over its graph: {}\n",
                        markdown_code(shorten(history.passes[i], kCharacters)));
  if (history.passes.size() > kShown)
    text += fmt::format("- and {} more; `hone inspect` lists them\n",
                        grouped(static_cast<long long>(history.passes.size() - kShown)));
  return text;
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

// Sentences: how the weights are kept, and which programs load the folder.
std::vector<std::string> about_weights(const Model& model) {
  const bool packed = has_packed_weights(model.graph);
  return {packed ? "The weights are packed, in the codes of their formats. How fast the model is "
                   "depends on the processor: `hone bench` tells."
          : model.quantization
              ? "It is not smaller or faster yet: weights are stored in fp32, as the values they "
                "take in their format, and arithmetic is simulated: values are rounded, sums are "
                "in fp32."
              : "The weights are in fp32.",
          loading_text(model)};
}

std::string weights_section(const std::vector<std::string>& sentences) {
  return fmt::format("{}\n- {}\n\n", kWeightsTitle, fmt::join(sentences, "\n- "));
}

std::string weights_section(const CardFacts& facts, const Model& model, Truncation truncation) {
  if (!facts.weights.empty()) return weights_section(facts.weights);
  std::vector<std::string> sentences = about_weights(model);
  if (truncation == Truncation::head_tail) sentences.emplace_back(kHeadTailElsewhere);
  if (facts.in_transformers && !facts.rows.empty()) {
    const auto& [what, here, split] = facts.rows.back();
    const MetricName& metric = here.metric;
    sentences.push_back(
        fmt::format("Measured on the {} split, n = {}: {} {} in `transformers`, {} here.",
                    split.split, facts.in_transformers->samples, metric.text,
                    hone::share_text(metric_of(*facts.in_transformers, metric.key)),
                    hone::share_text(metric_of(here, metric.key))));
  }
  return weights_section(sentences);
}

// The end of the section that begins at `at`.
std::size_t section_end(const std::string& card, std::size_t at) {
  const std::size_t end = card.find("\n## ", at);
  return end == std::string::npos ? card.size() : end + 1;
}

// Takes the section with this title out; where it stood, or npos.
std::size_t erase_section(std::string& card, std::string_view title) {
  const std::size_t at = card.find(title);
  if (at != std::string::npos) card.erase(at, section_end(card, at) - at);
  return at;
}

void replace_history(std::string& card, const History& before, const History& history) {
  const std::size_t begin = card.find(kOriginTitle);
  if (begin == std::string::npos) return;
  const std::size_t end = section_end(card, begin);
  const std::string listed = history_text(before);
  const std::size_t at = listed.empty() ? end - 1 : card.find(listed, begin);
  if (at < end) card.replace(at, listed.size(), history_text(history));
}

// The title and the metadata contain the name.
void rename(std::string& card, const std::string& name) {
  const auto replace_line = [&](std::string_view start, const std::string& text) {
    const std::size_t at = card.find(start);
    if (at == std::string::npos) return;
    const std::size_t begin = at + start.size();
    card.replace(begin, card.find('\n', begin) - begin, text);
  };
  replace_line("\nmodel-index:\n- name: ", yaml(name));
  replace_line("\n# ", name);
}

std::string_view tokens_read(Truncation truncation) {
  return truncation == Truncation::head   ? "the first tokens"
         : truncation == Truncation::tail ? "the last tokens"
                                          : "a quarter of them from the beginning, the others from "
                                            "the end";
}

// What the figures of a row say against the model.
std::vector<std::string> limits_of(const CardRow& row, std::string_view kind) {
  const EvaluationResult& m = row.evaluation;
  const std::string& split = row.split.split;
  std::vector<std::string> lines;
  if (m.samples < kFewTexts)
    lines.push_back(fmt::format(
        "Its {} was measured on {} {}s only ({} split): 95% intervals of so few are wide, here {}.",
        m.metric.text, grouped(m.samples), kind, split,
        interval_text(interval_of(m, m.metric.key))));
  if (m.only_predicts)
    lines.push_back(
        fmt::format("It predicts one class only: every {} of the {} split was taken for {}.", kind,
                    split, markdown_code(*m.only_predicts)));
  for (const auto& [label, one] : of_classes_or_labels(m))
    if (one.recall < kRarelyFound)
      lines.push_back(fmt::format("{} is found in {} of cases ({} split, {} such {}s).",
                                  markdown_code(label), percent_text(one.recall), split,
                                  grouped(one.support), kind));
  return lines;
}

// A sentence for each thing that it should not be trusted with.
std::vector<std::string> limits(const CardFacts& facts, const Model& model, const CardCut& cut) {
  const std::string_view kind = kind_of_examples(model);
  std::vector<std::string> lines;
  if (facts.is_of_data && facts.data && facts.data->source.starts_with(kSyntheticPrefix))
    lines.push_back(
        "It was trained on generated texts that no person wrote: what it makes of others is not "
        "known.");
  for (const CardRow* row : own_rows(facts))
    for (std::string& line : limits_of(*row, kind)) lines.push_back(std::move(line));
  // What was only quantized has learnt nothing from this data.
  if (facts.steps > 0 && facts.data)
    for (const SplitResult& split : facts.data->splits)
      if (split.split == "train" && split.classes)
        for (const auto& [label, rows] : *split.classes)
          if (rows < kFewOfAClass)
            lines.push_back(fmt::format("It has seen {} {}s of {} in training.", rows, kind,
                                        markdown_code(label)));
  if (own_rows(facts).empty()) lines.push_back("How well it does was not measured.");
  lines.insert(lines.end(), facts.limits.begin(), facts.limits.end());
  const std::string every =
      model.facts.task() == Task::regression ? "every text gets a number"
      : model.facts.task() == Task::multi_label
          ? fmt::format("every text gets what it is given of its {} labels",
                        model.facts.labels.size())
          : fmt::format("every text gets one of its {} labels", model.facts.labels.size());
  if (const std::optional<ImageSize>& image = model.facts.limits.image) {
    lines.push_back(fmt::format(
        "It reads the middle of pictures, of {} x {} pixels, as preprocessor_config.json says.",
        image->height, image->width));
    return lines;
  }
  lines.push_back(
      fmt::format("Texts of more than {} tokens are cut: it reads {}.{}", cut.tokens,
                  tokens_read(cut.truncation),
                  cut.truncation == Truncation::head_tail
                      ? " `transformers` has no such truncation and reads the last ones."
                      : ""));
  lines.push_back(fmt::format("{}, also one that is about something else.", capitalized(every)));
  return lines;
}

}  // namespace

std::string markdown_code(const std::string& name) {
  const std::string text = shown_name(name, name.size());  // in one line, all of it
  return text.find('`') == std::string::npos ? "`" + text + "`" : "`` " + text + " ``";
}

CardFacts facts_of_training(const SubjectResult& subject, std::uint64_t seed, std::int64_t steps,
                            std::int64_t weights_of_step) {
  const std::string base = markdown_code(subject.model);
  return {.base = subject.model,
          .origin = is_fresh(subject.model) ? fmt::format("trained from fresh weights ({})", base)
                                            : base + " fine-tuned",
          .relation = "finetune",
          .data = subject.data,
          .is_of_data = true,
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

std::string to_markdown(const ModelCard& card, const Model& model, const CardCut& cut) {
  std::string text = metadata(card, model) + "\n" + introduction(card, model) +
                     figures(card.facts) + classes(card.facts) + what_it_takes(card) +
                     weights_section(card.facts, model, cut.truncation) + origin(card, model) +
                     "## What it is not fit for\n\n";
  for (const std::string& line : limits(card.facts, model, cut)) text += "- " + line + "\n";
  return text;
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

CardCopy card_copy(const Model& model, std::string name, std::string how) {
  return {.name = std::move(name),
          .how = std::move(how),
          .library = library_name(model),
          .weights = about_weights(model),
          .quantized = model.quantization.has_value(),
          .history = model.facts.history};
}

std::string carried_card(std::string card, const Model& before, const CardCopy& copy) {
  const auto replace = [&](const std::string& from, const std::string& to) {
    if (const std::size_t at = card.find(from); at != std::string::npos && !from.empty())
      card.replace(at, from.size(), to);
  };
  replace("library_name: transformers\n", "library_name: hone\n");
  replace("library_name: hone\n", fmt::format("library_name: {}\n", copy.library));
  if (!copy.quantized) replace(format_tags(before), "");
  erase_section(card, kTakesTitle);
  std::vector<std::string> sentences = copy.weights;
  sentences.insert(sentences.begin(), copy.how);
  const std::string section = weights_section(sentences);
  const std::size_t at = erase_section(card, kWeightsTitle);
  if (at == std::string::npos) return card + "\n" + section;
  card.insert(at, section);
  replace_history(card, before.facts.history, copy.history);
  rename(card, copy.name);
  return card;
}

void carry_card(const fs::path& from, const Model& before, const CardCopy& copy,
                const fs::path& folder) {
  const fs::path file = from / "README.md";
  if (from.empty() || !path_exists(file)) return;
  write_file(folder / "README.md", carried_card(read_file(file), before, copy));
}

}  // namespace hone
