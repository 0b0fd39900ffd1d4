#include "hone/jobs/model_card.h"

#include <algorithm>

#include "hone/base/error.h"
#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/synthetic.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/frontends/huggingface/other_programs.h"
#include "hone/models/text_limit.h"
#include "hone/passes/pack.h"
#include "hone/runtime/machine.h"
#include "hone/study/measure.h"
#include "hone/study/result.h"
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

/// A line of figures: what was measured where.
struct Row {
  std::string what;
  std::string part;
  const Json* measurement;
};

std::string text_at(const Json& value, const std::string& key) {
  return value_at(value, key).is_string() ? value[key].get<std::string>() : "";
}

bool is_quantized(const ModelCard& card) { return text_at(card.result, "command") == "quantize"; }

// What another model was changed to without training it: by a pass, by an adapter that became part of it, or by tokens that
// went.
bool is_changed(const ModelCard& card) {
  const std::string command = text_at(card.result, "command");
  return command == "pass" || command == "lora" || command == "trim";
}

bool is_adapter(const ModelCard& card) {
  return value_at(card.result, "lora").is_object() && !is_changed(card);
}
bool is_pruned(const ModelCard& card) { return text_at(card.result, "command") == "prune"; }
bool is_shrunk(const ModelCard& card) { return text_at(card.result, "command") == "shrink"; }

// Whether it was made of another and measured beside it.
bool has_parent_measured(const ModelCard& card) {
  return is_quantized(card) || is_pruned(card) || is_shrunk(card);
}

// A name that was given on the command line, or a label, as code.
std::string code(const std::string& name) {
  const std::string text = shown_name(name, name.size());  // in one line, all of it
  return text.find('`') == std::string::npos ? "`" + text + "`" : "`` " + text + " ``";
}

std::vector<Row> rows_of(const ModelCard& card) {
  const Json& result = card.result;
  const std::string part = text_at(result, "split");
  std::vector<Row> rows;
  const auto add = [&](const std::string& what, const std::string& where, const char* key) {
    if (value_at(result, key).is_object()) rows.push_back({what, where, &result[key]});
  };
  if (has_parent_measured(card)) {
    const std::string parent = text_at(result, "parent_format");
    add(is_pruned(card)   ? "before pruning"
        : is_shrunk(card) ? "before shrinking"
        : parent.empty()  ? "before quantization"
                          : fmt::format("before, quantized already ({})", code(parent)),
        part, "before");
    add("this model", part, "after");
    add("this model in `transformers`", part, "as_transformers");
  } else if (is_changed(card)) {
    add("before", part, "before");
    add("this model", part, "after");
  } else {
    // Under the original protocol they are the same texts.
    if (text_at(result, "protocol") != "original") add("this model", "validation", "validation");
    add("this model", "test", "test");
  }
  return rows;
}

// The rows that tell of this model as hone computes it.
std::vector<Row> own_rows(const ModelCard& card) {
  std::vector<Row> rows = rows_of(card);
  std::erase_if(rows, [](const Row& row) { return row.what != "this model"; });
  return rows;
}

constexpr std::string_view kUnknown = "–";

// "90.3%", "–"
std::string percent_text(const Json& share, int digits = kShareDigits) {
  return share.is_number() ? percent_number(share.get<double>(), digits) + "%"
                           : std::string(kUnknown);
}

// "89.5 to 91.0%", "–"
std::string interval_text(const Json& interval, int digits = kShareDigits) {
  if (!interval.is_array() || interval.size() != 2 || !interval[0].is_number() ||
      !interval[1].is_number())
    return std::string(kUnknown);
  return fmt::format("{} to {}%", percent_number(interval[0].get<double>(), digits),
                     percent_number(interval[1].get<double>(), digits));
}

// "80 trained on, effective n = 120"; empty: nothing that is known flatters the row. `with_size`: the effective size is not
// said beside it.
std::string cautions_text(const ModelCard& card, const Row& row, bool with_size = true) {
  // Where two models were compared what is known of the texts stands beside its rows.
  Json figures = has_parent_measured(card) || is_changed(card) ? card.result : *row.measurement;
  if (!with_size) figures.erase("effective_n");
  std::vector<std::string> cautions = cautions_of(figures);
  // They tell of the model before: through the quantizers its head was trained.
  if (text_at(card.result, "method") == "qat")
    for (std::string& caution : cautions)
      if (caution.starts_with("untrained ")) caution += " before that training";
  return fmt::format("{}", fmt::join(cautions, ", "));
}

// A string in YAML: JSON's are among them, and so is what no plain scalar may hold.
std::string yaml(const std::string& text) { return to_line(Json(text)); }

std::string base_model(const ModelCard& card) {
  const std::string model = text_at(card.result, "model");
  std::error_code error;
  if (is_fresh(model) || fs::exists(model, error)) return "";
  const std::optional<HubName> name = parse_hub_name(model);
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

std::string metadata(const ModelCard& card, const Model& model) {
  std::string text =
      fmt::format("---\nlibrary_name: {}\npipeline_tag: {}-classification\n",
                  is_adapter(card) ? "peft" : library_name(model), kind_of_examples(model));
  const std::string base = base_model(card);
  if (!base.empty()) text += fmt::format("base_model: {}\n", yaml(base));
  // What a pass makes of a model, or what lost tokens, is none of the relations that the hub knows.
  if (!base.empty() && (!is_changed(card) || text_at(card.result, "command") == "lora"))
    text += fmt::format("base_model_relation: {}\n", is_quantized(card) ? "quantized"
                                                     : is_adapter(card) ? "adapter"
                                                     : is_changed(card) ? "merge"
                                                                        : "finetune");
  text += fmt::format("tags:\n- hone\n- {}\n- {}-classification\n", model.facts.architecture,
                      kind_of_examples(model));
  if (is_adapter(card)) text += "- lora\n";
  if (is_pruned(card)) text += "- pruned\n";
  text += format_tags(model);
  const std::vector<Row> own = own_rows(card);
  const FigureName figure = own.empty() ? kAccuracy : figure_of(*own.back().measurement);
  if (!own.empty() || !is_changed(card)) text += fmt::format("metrics:\n- {}\n", figure.key);
  const std::string source = text_at(value_at(card.result, "data"), "source");
  std::string results;
  for (const Row& row : own_rows(card)) {
    const Json& m = *row.measurement;
    const bool sized = value_at(m, "eval_samples").is_number();
    const std::string cautions = cautions_text(card, row, /*with_size=*/!sized);
    std::string basis = sized ? sample_size_text(m) : "";
    if (!cautions.empty()) basis += (basis.empty() ? "" : ", ") + cautions;
    std::string metrics;
    for (const std::string& type : {figure.key, std::string("loss")}) {
      const std::string key = fmt::format("eval_{}", type);
      if (!value_at(m, key).is_number()) continue;
      metrics += fmt::format("    - type: {}\n      value: {}\n", type, to_line(m[key]));
      const std::string interval = interval_text(value_at(m, key + "_interval"));
      if (!basis.empty())
        metrics += fmt::format(
            "      name: {}\n",
            yaml(fmt::format("{} ({}{})", type, basis,
                             interval == kUnknown ? "" : fmt::format("; 95%: {}", interval))));
    }
    if (metrics.empty()) continue;
    results += fmt::format(
        "  - task:\n      type: {}-classification\n    dataset:\n      name: {}\n      type: {}\n"
        "      split: {}\n    metrics:\n{}",
        kind_of_examples(model), yaml(source), yaml(source), row.part, metrics);
  }
  if (!results.empty())
    text += fmt::format("model-index:\n- name: {}\n  results:\n{}", yaml(card.name), results);
  return text + "---\n";
}

std::string what_it_does(Task task, const std::string& labels) {
  if (task == Task::regression) return fmt::format("gives the number {}", labels);
  if (task == Task::multi_label) return fmt::format("gives any number of the labels {}", labels);
  return fmt::format("tells {} apart", labels);
}

std::string trained_origin(const std::string& parent) {
  return is_fresh(parent) ? fmt::format("trained from fresh weights ({})", code(parent))
                          : fmt::format("{} fine-tuned", code(parent));
}

std::string introduction(const ModelCard& card, const Model& model) {
  const std::string parent = text_at(card.result, "model");
  std::vector<std::string> labels;
  for (const std::string& label : model.facts.labels) labels.push_back(code(label));
  const std::string origin =
      is_quantized(card)
          ? fmt::format("{} quantized to {} ({})", code(parent),
                        code(text_at(card.result, "format")),
                        text_at(card.result, "method") == "qat" ? "trained through the quantizers"
                                                                : "rounded after training")
      : is_pruned(card)
          ? fmt::format("{} pruned (`{}`){}", code(parent), text_at(card.result, "pruning"),
                        card.result.contains("steps") ? " and trained" : "")
      : is_shrunk(card)   ? fmt::format("{} made smaller", code(parent))
      : is_adapter(card)  ? fmt::format("an adapter (LoRA) of {}", code(parent))
      : !is_changed(card) ? trained_origin(parent)
      : card.result.contains("vocabulary")
          ? fmt::format("{} with {} of its {} tokens", code(parent),
                        grouped(card.result["vocabulary"].value("tokens", std::int64_t{0})),
                        grouped(card.result["vocabulary"].value("tokens_before", std::int64_t{0})))
      : card.result.contains("pass")
          ? fmt::format("{} after the pass {}", code(parent), code(text_at(card.result, "pass")))
          : fmt::format("{} with the adapter {} in its weights", code(parent),
                        code(text_at(card.result, "adapter")));
  return fmt::format("# {}\n\nA {} {} of {}: {}. It {}.\n\n", card.name,
                     find_architecture(model.facts.architecture, card.name).title,
                     model.facts.task() == Task::regression ? "regression" : "classifier",
                     model.facts.limits.image ? "images" : "texts", origin,
                     what_it_does(model.facts.task(), fmt::format("{}", fmt::join(labels, ", "))));
}

bool model_is_of_labels(const Json& comparison) {
  return !value_at(comparison, "answer_flip_share").is_null();
}

std::string figures(const ModelCard& card) {
  std::string text = "## Figures\n\n";
  const std::vector<Row> rows = rows_of(card);
  if (rows.empty())
    return text +
           (is_changed(card)
                ? "Its answers were not measured. Figures of the model before are not its own.\n\n"
                : "It was measured on nothing: the data had no split for that.\n\n");
  const FigureName figure = figure_of(*rows.back().measurement);
  text += fmt::format("| | split | n | {} | 95% interval | constant prediction | loss |\n",
                      figure.text);
  text += "|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    const Json& m = *row.measurement;
    const Json& loss = value_at(m, "eval_loss");
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", row.what, row.part,
                        value_at(m, "eval_samples").is_number()
                            ? grouped(m["eval_samples"].get<std::int64_t>())
                            : "–",
                        percent_text(value_at(m, fmt::format("eval_{}", figure.key))),
                        interval_text(value_at(m, fmt::format("eval_{}_interval", figure.key))),
                        hone::share_text(baseline_of(m)),
                        loss.is_number() ? fmt::format("{:.4f}", loss.get<double>()) : "–");
  }
  text += "\n";
  std::string flattered;
  for (const Row& row : own_rows(card))
    if (const std::string cautions = cautions_text(card, row); !cautions.empty())
      flattered += fmt::format("{}{}: {}", flattered.empty() ? "" : "; ", row.part, cautions);
  if (!flattered.empty()) text += fmt::format("To be read with: {}.\n\n", flattered);
  const Json& comparison = value_at(card.result, "comparison");
  if (comparison.is_object()) {
    const std::string sentence =
        text_at(comparison, comparison.contains("summary") ? "summary" : "verdict");
    text += fmt::format("Against the model before: {}.", sentence);
    if (!value_at(comparison, "flip_share").is_null())
      text += fmt::format(" {} that differ: {} (95% CI {}).",
                          model_is_of_labels(comparison) ? "Texts with answers" : "Predictions",
                          percent_text(value_at(comparison, "flip_share"), kDifferenceDigits),
                          interval_text(value_at(comparison, "flip_interval"), kDifferenceDigits));
    text += "\n\n";
    const std::string caveat = text_at(card.result, "caveat");
    if (!caveat.empty()) text += caveat + "\n\n";
  }
  if (is_changed(card)) return text;
  return text + "These are the figures of one seed; another gives others.\n\n";
}

// A cell of a table in Markdown.
std::string cell_text(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '\\');
  return text;
}

// "90.27% (89.10 to 91.30%)"
std::string share_text(const Json& figures, const char* key) {
  const std::string share = percent_text(value_at(figures, key));
  return share == kUnknown
             ? share
             : fmt::format("{} ({})", share,
                           interval_text(value_at(figures, fmt::format("{}_interval", key))));
}

// Figures of each class, or of each label; of numbers there are none.
const Json& of_classes_or_labels(const Json& measurement) {
  return value_at(measurement, value_at(measurement, "eval_labels").is_object() ? "eval_labels"
                                                                                : "eval_classes");
}

// How each class was told from the others, on the part the model is judged by, and of a few what its texts were taken for.
std::string classes(const ModelCard& card) {
  const std::vector<Row> rows = own_rows(card);
  if (rows.empty() || !of_classes_or_labels(*rows.back().measurement).is_object()) return "";
  const Json& measurement = *rows.back().measurement;
  const Json& of_class = of_classes_or_labels(measurement);
  const Json& confusion = value_at(measurement, "eval_confusion");
  const bool confused = confusion.is_array() && of_class.size() <= kMostConfusedClasses;
  const bool several = value_at(measurement, "eval_labels").is_object();
  std::string header = fmt::format("| {} | examples | precision | recall | F1 |",
                                   several ? "label" : "class"),
              line = "|---|---|---|---|---|", body;
  std::size_t row = 0;
  for (const auto& [label, figures] : of_class.items()) {
    const std::string name = cell_text(code(label));
    if (confused) header += fmt::format(" taken for {} |", name);
    if (confused) line += "---|";
    body += fmt::format("| {} | {} | {} | {} | {} |", name,
                        grouped(figures.value("support", std::int64_t{0})),
                        share_text(figures, "precision"), share_text(figures, "recall"),
                        percent_text(value_at(figures, "f1")));
    if (confused)
      for (const Json& texts : confusion.at(row))
        body += fmt::format(" {} |", grouped(texts.get<std::int64_t>()));
    body += "\n";
    ++row;
  }
  return fmt::format(
      "## {}\n\nOn the {} split, n = {}; in brackets the 95% interval:\n\n{}\n{}\n{}\n",
      several ? "Labels" : "Classes", rows.back().part,
      grouped(measurement.value("eval_samples", std::int64_t{0})), header, line, body);
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
    text +=
        fmt::format("- pass over its graph: {}\n", code(shorten(history.passes[i], kCharacters)));
  if (history.passes.size() > kShown)
    text += fmt::format("- and {} more; `hone inspect` lists them\n",
                        grouped(static_cast<long long>(history.passes.size() - kShown)));
  return text;
}

std::string origin(const ModelCard& card, const Model& model) {
  const Json& r = card.result;
  const Json& data = value_at(r, "data");
  std::string text = fmt::format("{}\nBy hone {}:\n\n```sh\n{}\n```\n\n", kOriginTitle,
                                 hone_version(), card.command_line);
  std::string parts;
  for (const Json& part : value_at(data, "splits"))
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", text_at(part, "split"),
                         grouped(part.value("rows", std::int64_t{0})));
  if (!text_at(data, "source").empty())
    text += fmt::format("- data: {}{}{}\n", code(text_at(data, "source")),
                        parts.empty() ? "" : fmt::format("; rows: {}", parts),
                        text_at(data, "hash").empty()
                            ? ""
                            : fmt::format("; fingerprint `{}`", text_at(data, "hash")));
  if (value_at(r, "seed").is_number()) text += fmt::format("- seed: {}\n", to_line(r["seed"]));
  if (value_at(r, "steps").is_number())
    text += fmt::format("- steps: {}{}\n", to_line(r["steps"]),
                        value_at(r, "weights_of_step").is_number()
                            ? "; the weights are those after step " + to_line(r["weights_of_step"])
                            : "");
  if (value_at(r, "format").is_string())
    text += fmt::format("- format: {}, {:.4g} bits per quantized weight\n",
                        code(text_at(r, "format")), r.value("average_weight_bits", 32.0));
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

std::string weights_section(const ModelCard& card, const Model& model, Truncation truncation) {
  const Json& r = card.result;
  if (is_adapter(card))
    return weights_section(std::vector{fmt::format(
        "It is of use beside the model that it was trained on alone, {}, which base.json knows by "
        "a fingerprint of its weights: `hone predict MODEL --adapter FOLDER`, or PEFT; `hone lora "
        "merge` makes one model of both.",
        code(text_at(r, "model")))});
  std::vector<std::string> sentences = about_weights(model);
  if (truncation == Truncation::head_tail) sentences.emplace_back(kHeadTailElsewhere);
  if (const Json& elsewhere = value_at(r, "as_transformers"); elsewhere.is_object())
    sentences.push_back(
        fmt::format("Measured on the {} split, n = {}: {} {} in `transformers`, {} here.",
                    text_at(r, "split"), to_line(value_at(elsewhere, "eval_samples")),
                    figure_of(elsewhere).text, hone::share_text(figure_estimate(elsewhere).value),
                    hone::share_text(figure_estimate(value_at(r, "after")).value)));
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

// A sentence for each thing that it should not be trusted with.
std::vector<std::string> limits(const ModelCard& card, const Model& model, const CardCut& cut) {
  const Json& r = card.result;
  const Json& data = value_at(r, "data");
  const std::string_view kind = kind_of_examples(model);
  std::vector<std::string> lines;
  if (text_at(data, "source").starts_with(kSyntheticPrefix) && !is_changed(card))
    lines.push_back(
        "It was trained on generated texts that no person wrote: what it makes of others is not "
        "known.");
  for (const Row& row : own_rows(card)) {
    const Json& m = *row.measurement;
    const std::int64_t n = m.value("eval_samples", std::int64_t{0});
    if (n < kFewTexts)
      lines.push_back(fmt::format(
          "Its {} was measured on {} {}s only ({} split): 95% intervals of so few are wide, here "
          "{}.",
          figure_of(m).text, grouped(n), kind, row.part,
          interval_text(value_at(m, fmt::format("eval_{}_interval", figure_of(m).key)))));
    if (value_at(m, "eval_only_predicts").is_string())
      lines.push_back(
          fmt::format("It predicts one class only: every {} of the {} split was taken for {}.",
                      kind, row.part, code(m["eval_only_predicts"].get<std::string>())));
    for (const auto& [label, figures] : of_classes_or_labels(m).items()) {
      const Json& recall = value_at(figures, "recall");
      if (recall.is_number() && recall.get<double>() < kRarelyFound)
        lines.push_back(fmt::format("{} is found in {} of cases ({} split, {} such {}s).",
                                    code(label), percent_text(recall), row.part,
                                    grouped(figures.value("support", std::int64_t{0})), kind));
    }
  }
  // What was only quantized has learnt nothing from this data.
  const bool learnt = r.value("steps", std::int64_t{0}) > 0;
  for (const Json& part : value_at(data, "splits"))
    if (learnt && text_at(part, "split") == "train")
      for (const auto& [label, rows] : value_at(part, "classes").items())
        if (rows.is_number() && rows.get<std::int64_t>() < kFewOfAClass)
          lines.push_back(fmt::format("It has seen {} {}s of {} in training.", to_line(rows), kind,
                                      code(label)));
  if (own_rows(card).empty()) lines.push_back("How well it does was not measured.");
  if (card.result.contains("zeros"))
    lines.push_back(
        "It is not smaller or faster for its zeros, which are stored and multiplied like other "
        "numbers.");
  if (is_shrunk(card) && value_at(value_at(r, "vocabulary"), "kept") == true)
    lines.push_back(
        "Words that its training texts do not have may be other tokens than to the model before, "
        "and be answered otherwise.");
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

std::string to_markdown(const ModelCard& card, const Model& model, const CardCut& cut) {
  std::string text = metadata(card, model) + "\n" + introduction(card, model) + figures(card) +
                     classes(card) + what_it_takes(card) +
                     weights_section(card, model, cut.truncation) + origin(card, model) +
                     "## What it is not fit for\n\n";
  for (const std::string& line : limits(card, model, cut)) text += "- " + line + "\n";
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
