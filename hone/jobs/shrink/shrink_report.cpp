#include "hone/jobs/shrink/shrink_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/choice.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/shrink/shrink_figures.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/models/vocabulary_cut.h"
#include "hone/passes/pack.h"
#include "hone/report/inline_svg.h"
#include "hone/runtime/run_passes.h"
#include "hone/study/change_headline.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::int64_t kAtATime = 32;

std::string made_on(const ShrinkFindings& f) {
  return name_and_size(f.subject.data.measured_choice());
}

// The same where it was named before.
std::string part_chosen_on(const ShrinkFindings& f) {
  return f.subject.data.measured_choice().facts.part;
}

// Nothing became smaller, and no model is written.
bool is_nothing(const ShrinkFindings& f) { return !f.chosen && !f.proven; }

std::string folder_name(const ShrinkFindings& f) { return f.proven ? "model" : "unproven"; }

// Of the model that is judged.
std::string judged_folder(const ShrinkFindings& f) {
  if (!f.job.loadable) return folder_name(f);
  return f.proven ? "transformers" : "unproven-transformers";
}

bool is_measured_where_chosen(const ShrinkFindings& f) {
  return part_chosen_on(f) == f.data.measured.facts.part;
}

// Those that the verdict on the result is corrected for: it was chosen among so many on the same examples. A vocabulary on which no
// example depends was not chosen.
std::int64_t evaluations_behind(const ShrinkFindings& f) {
  const bool chosen = f.chosen || (f.trimmed && f.trimmed->looked);
  return is_measured_where_chosen(f) && chosen ? f.job.looks : 1;
}

/// A model that was written, measured.
struct Written {
  std::string name;  ///< of its folder
  Model model;
  BeforeAndAfter both;
  SizeAndTime takes;
  std::string_view arithmetic = kFloat;
};

Written write_and_measure(const ShrinkFindings& f, const TextModel& made, const std::string& name,
                          const Measurement& before, const fs::path& output, Context& context) {
  Written written{.name = name, .model = made.model, .both = {}, .takes = {}};
  written.both = measure_after(made.model, before, f.subject.data, f.job.eval_batch_size, f.gates,
                               context, "after", evaluations_behind(f));
  if (!f.proven)
    overrule(written.both,
             fmt::format("but no candidate was shown to be within the limit on {}, which decides",
                         made_on(f)));
  written.arithmetic = arithmetic_of_run(forward_graph(made.model), context.session());
  const fs::path folder = output / name;
  fs::create_directories(folder);
  write_model(made, folder);
  written.takes = {.size_before = model_size(f.original.model, f.original.folder),
                   .size = model_size(made.model, folder),
                   .times = time_models(f.original.model, made.model, f.data.test, kAtATime,
                                        context, &f.subject.data.test),
                   .threads = context.pool.threads(),
                   .loading = transformers_loading(made.model)};
  return written;
}

// The model that is judged comes first. Beside the one for transformers there is the packed one, where any weight is packed.
std::vector<Written> write_all(const ShrinkFindings& f, const TextModel& made,
                               const fs::path& output, std::vector<std::string>& notes,
                               Context& context) {
  const Measurement before =
      measure_before(f.original, f.data, f.job.eval_batch_size, context, notes, "shrinking");
  std::vector<Written> written;
  if (f.job.loadable) {
    TextModel plain = made;
    plain.model = for_other_programs(made.model, context.session());
    written.push_back(write_and_measure(f, plain, judged_folder(f), before, output, context));
  }
  if (!f.job.loadable || has_packed_weights(made.model.graph))
    written.push_back(write_and_measure(f, made, folder_name(f), before, output, context));
  return written;
}

// "16× smaller", "1.02× larger", "the same".
std::string size_change(double before, double after) {
  if (before == after) return "the same";
  return before > after ? fmt::format("{}× smaller", three_digits(before / after))
                        : fmt::format("{}× larger", three_digits(after / before));
}

// What a person asks first, a row each; two columns for each model.
Table before_and_after_table(const std::vector<Written>& all) {
  std::vector<Column> columns = {{"what", "What"}, {"before", "Baseline"}};
  for (const Written& w : all) {
    const bool alone = all.size() == 1, first = &w == &all[0];
    columns.push_back({first ? "after" : "packed",
                       alone ? "Compressed" : fmt::format("{} ({})", w.name, w.arithmetic)});
    columns.push_back({first ? "change" : "packed_change",
                       alone ? "Change (95% CI)" : fmt::format("Change of {}", w.name)});
  }
  Table table(columns);
  using Cells = std::vector<Cell>;
  const auto row = [&](const std::string& what, const Cell& before, const auto& after) {
    Cells cells = {what, before};
    for (const Written& w : all)
      for (Cell& cell : after(w)) cells.push_back(std::move(cell));
    table.add_row(std::move(cells));
  };
  const SizeAndTime& first = all[0].takes;
  const auto sizes = [&](const std::string& what, const auto& size_of, const auto& text) {
    const double before = size_of(first.size_before);
    if (before > 0)
      row(what, text(before), [&](const Written& w) {
        const double after = size_of(w.takes.size);
        return Cells{text(after), size_change(before, after)};
      });
  };
  const auto bytes_text = [](double count) { return short_bytes(count); };
  const auto ms_text = [](double ms) { return three_digits(ms) + " ms"; };
  const auto count_text = [](double count) { return grouped(std::llround(count)); };
  sizes(
      "Size on disk",
      [](const ModelSize& size) { return static_cast<double>(size.disk_bytes.value_or(0)); },
      bytes_text);
  sizes(
      "Size in memory",
      [](const ModelSize& size) { return static_cast<double>(size.memory_bytes); }, bytes_text);
  sizes(
      "Parameters", [](const ModelSize& size) { return static_cast<double>(size.parameters); },
      count_text);
  for (std::size_t i = 0; i < first.times.size(); ++i) {
    const ModelTimes& one = first.times[i];
    row(fmt::format("Latency per example, batch size {}", one.at_a_time),
        ms_text(one.times.before.median_ms), [&](const Written& w) {
          const TimesInTurn& times = w.takes.times[i].times;
          return Cells{ms_text(times.after.median_ms), speedup_text(times)};
        });
  }
  const TaskEvaluation& before = all[0].both.before.evaluation;
  row(figure_title(before.figure), share_text(before.value), [](const Written& w) {
    return Cells{share_text(w.both.after.evaluation.value), points_change(w.both.comparison)};
  });
  row("Predictions changed", absent, [](const Written& w) {
    return Cells{absent, flips_figure(w.both.comparison).value};
  });
  return table;
}

Cell figure_of(const JudgedPoint& one, const FigureName& figure) {
  const auto [low, high] = one.figure_interval;
  return figure.may_be_negative ? number_within(one.figure, low, high)
                                : percent_within(one.figure, low, high);
}

// Every candidate: what was predicted and what was measured.
Table trail_table(const ShrinkFindings& f) {
  const FigureName& figure = f.subject.parent_measured->evaluation.figure;
  Table table({{"candidate", "Candidate"},
               {"trial", "Trial"},
               {"recipe", "Recipe"},
               {"predicted_bytes_share", "Predicted size"},
               {"bytes_share", "Size"},
               {"predicted_time_share", "Predicted latency"},
               {"time_share", "Latency"},
               {"chance", "Predicted chance"},
               {"metric", figure_title(figure)},
               {"change", "Change"},
               {"change_low", "CI from"},
               {"change_high", "to"},
               {"flips", "Predictions changed"},
               {"p_value", "p"},
               {"verdict", "Result"},
               {"examples_needed", "Examples needed"},
               {"predicted_seconds", "Predicted (s)"},
               {"seconds", "Took (s)"},
               {"trained_before", "Trained in an earlier run"},
               {"chosen", "Chosen"}});
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    const auto when_made = [&](Cell cell) { return made ? std::move(cell) : Cell(absent); };
    Cell verdict(made ? to_string(one.conclusion) : "failed");
    verdict.tone = one.kept() ? Tone::good : Tone::plain;
    table.add_row({one.number,
                   one.trial,
                   one.recipe,
                   percent(one.predicted.bytes),
                   when_made(percent(one.shares.bytes)),
                   percent(one.predicted.time),
                   when_made(percent(one.shares.time)),
                   percent(one.chance, 0),
                   when_made(figure_of(one, figure)),
                   when_made(real(100 * one.change, 2)),
                   when_made(real(100 * one.change_interval.low, 2)),
                   when_made(real(100 * one.change_interval.high, 2)),
                   std::isnan(one.flips) ? Cell(absent) : when_made(percent(one.flips, 2)),
                   when_made(PValue{one.p_value}),
                   verdict,
                   one.examples_needed ? Cell(*one.examples_needed) : Cell(absent),
                   real(one.predicted_seconds, 1),
                   when_made(real(one.seconds, 1)),
                   one.trained_before ? "yes" : "no",
                   f.chosen == i ? "yes" : "no"});
  }
  return table;
}

// "within limit, chosen", "inconclusive, most promising"
Cell verdict_cell(const ShrinkFindings& f, std::size_t i) {
  const JudgedPoint& one = f.points[i];
  Cell cell(!one.failure.empty() ? "failed"
            : f.chosen == i      ? fmt::format("{}, {}", to_string(one.conclusion),
                                          f.proven ? "chosen" : "most promising")
                                 : std::string(to_string(one.conclusion)));
  cell.tone = one.kept() ? Tone::good : Tone::plain;
  return cell;
}

Cell change_cell(const JudgedPoint& one) {
  if (!one.failure.empty()) return absent;
  return fmt::format("{:+.2f} ({:+.2f} to {:+.2f})", 100 * one.change,
                     100 * one.change_interval.low, 100 * one.change_interval.high);
}

// "12.0", "0.4, reused"
std::string took_text(const JudgedPoint& one) {
  return fmt::format("{:.1f}{}", one.seconds, one.trained_before ? ", reused" : "");
}

std::string latency_header(const ShrinkFindings& f) {
  return fmt::format("Latency, batch size {}", f.timer.at_a_time());
}

// "15.1% (19.8%)"
Cell beside_predicted(const JudgedPoint& one, const std::string& measured,
                      const std::string& predicted) {
  return fmt::format("{} ({})", one.failure.empty() ? measured : "–", predicted);
}

// The same for a page; candidates.csv has a column for each number.
Table page_trail(const ShrinkFindings& f) {
  Table table({{"candidate", "Candidate"},
               {"recipe", "Recipe"},
               {"bytes_share", "Size (predicted)"},
               {"time_share", latency_header(f) + " (predicted)"},
               {"chance", "Predicted chance"},
               {"change", "Change (95% CI)"},
               {"flips", "Predictions changed"},
               {"p_value", "p"},
               {"verdict", "Result"},
               {"examples_needed", "Examples needed"},
               {"seconds", "Took (predicted), s"}});
  const auto share = [](double value) { return share_text(value); };
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    table.add_row(
        {one.number, one.recipe,
         beside_predicted(one, share(one.shares.bytes), share(one.predicted.bytes)),
         beside_predicted(one, share(one.shares.time), share(one.predicted.time)),
         percent(one.chance, 0), change_cell(one),
         made && !std::isnan(one.flips) ? percent(one.flips, 2) : Cell(absent),
         made ? Cell(PValue{one.p_value}) : Cell(absent), verdict_cell(f, i),
         one.examples_needed ? Cell(*one.examples_needed) : Cell(absent),
         beside_predicted(one, took_text(one), fmt::format("{:.1f}", one.predicted_seconds))});
  }
  return table;
}

// The same for a screen.
Table brief_trail(const ShrinkFindings& f) {
  Table table({{"candidate", "Candidate"},
               {"bytes_share", "Size"},
               {"time_share", latency_header(f)},
               {"change", "Change (95% CI)"},
               {"verdict", "Result"},
               {"seconds", "Took (s)"},
               {"recipe", "Recipe"}});
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    const auto when_made = [&](Cell cell) { return made ? std::move(cell) : Cell(absent); };
    table.add_row({one.number, when_made(percent(one.shares.bytes)),
                   when_made(percent(one.shares.time)), change_cell(one), verdict_cell(f, i),
                   when_made(one.trained_before ? Cell(took_text(one)) : real(one.seconds, 1)),
                   one.recipe});
  }
  return table;
}

// What every layer of the result takes.
Table layer_table(const Model& model) {
  Table table({{"layer", "Layer"}, {"weight", "Weight"}, {"input", "Input"}, {"shape", "Shape"}});
  const Graph graph = plain_graph(model);
  if (!model.quantization) return table;
  const auto text = [](const std::optional<Format>& format) {
    return format ? Cell(to_string(*format)) : Cell(kFloat);
  };
  for (const auto& [layer, formats] : model.quantization->plan) {
    const Node* node = graph.find(layer);
    // Tables are read by numbers of rows, which have no format.
    Cell shape = absent, input = absent;
    if (node != nullptr && node->is(kUsualLayer)) {
      input = text(formats.input);
      shape = Cell::List{node->types()[0].dim(-1).size, node->input_types()[0].dim(-1).size};
    }
    table.add_row({layer, text(formats.weight), input, shape});
  }
  return table;
}

std::string trimmed_text(const ShrinkFindings& f) {
  const TrimmedVocabulary& trimmed = *f.trimmed;
  const auto respelled = [&] {
    return respelled_texts(f.original.tokenizer, f.data.test, f.subject.parent.tokenizer,
                           f.subject.data.test)
        .size();
  };
  if (!trimmed.kept)
    return fmt::format(
        "Vocabulary: all {} tokens are kept. With only the {} that the training "
        "split uses, {}.",
        grouped(trimmed.before), grouped(trimmed.after), trimmed.summary);
  return fmt::format(
      "Vocabulary: {} of {} tokens are kept, those that the training split uses ({}; {} examples "
      "of "
      "{} are tokenized differently). Words that the training split lacks may be tokenized, and "
      "classified, differently; `--only prune,quantize,allocate,train` keeps all tokens.",
      grouped(trimmed.after), grouped(trimmed.before), trimmed.summary,
      grouped(static_cast<std::int64_t>(respelled())), name_and_size(f.data.measured));
}

std::int64_t looks_of(const ShrinkFindings& f) {
  return std::ssize(f.points) + (f.trimmed && f.trimmed->looked ? 1 : 0);
}

// What was chosen, and what might have been.
std::vector<std::string> choice_sentences(const ShrinkFindings& f) {
  std::vector<std::string> lines;
  if (f.chosen) {
    const JudgedPoint& one = f.points[*f.chosen];
    std::string line = fmt::format("{}: candidate {} ({}).", f.proven ? "Chosen" : "Most promising",
                                   one.number, one.recipe);
    if (!is_measured_where_chosen(f))
      line += fmt::format(" On the {} split, {}.", part_chosen_on(f), one.summary);
    lines.push_back(std::move(line));
  }
  if (f.not_shown) {
    const JudgedPoint& one = f.points[*f.not_shown];
    lines.push_back(fmt::format(
        "Candidate {} is smaller or faster ({:.1f}% of the size, {:.1f}% of the latency), but {}. "
        "More data, or a larger --validation_split, may show it.",
        one.number, 100 * one.shares.bytes, 100 * one.shares.time, one.summary));
  }
  return lines;
}

// Why the search ended, and what may help where there are too few examples. The number of examples is that of the verdict where it
// says one.
std::string end_sentence(const ShrinkFindings& f) {
  const bool vocabulary = f.trimmed && f.trimmed->looked;
  std::string text = fmt::format(
      "The search ended after {} candidate{} ({} of at most {} evaluations{}) and {} of {}: {}.",
      f.points.size(), f.points.size() == 1 ? "" : "s", looks_of(f), f.job.looks,
      vocabulary ? ", 1 of the smaller vocabulary" : "", clock_text(f.seconds),
      clock_text(f.job.budget_seconds), f.end);
  if (f.itself.passes) return text;
  const bool has_number = !f.proven && f.chosen && f.points[*f.chosen].examples_needed.has_value();
  if (!has_number) return text + " " + too_few_texts_sentence(f);
  text += fmt::format(" {} has too few examples for {} evaluations", capitalized(made_on(f)),
                      f.job.looks);
  if (f.itself.evaluations_that_show > 0)
    text += fmt::format("; --max_evaluations {} needs fewer", f.itself.evaluations_that_show);
  return text + ".";
}

// "2 of 3 candidates were trained in an earlier run, whose weights are reused; --no_cache trains them again."
std::string reused_sentence(const ShrinkFindings& f) {
  const auto reused = std::ranges::count_if(f.points, &JudgedPoint::trained_before);
  if (reused == 0) return "";
  return fmt::format(
      "{} of {} candidates were trained in an earlier run, and their weights reused; --no_cache "
      "trains again",
      reused, f.points.size());
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

std::vector<Block> paragraphs(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.emplace_back(Paragraph{line});
  return blocks;
}

// How the numbers of a report are to be read, once for all of them.
std::vector<Block> reading_notes(const ShrinkFindings& f, std::string_view arithmetic) {
  std::vector<std::string> lines = {
      fmt::format("Within limit: the whole 95% confidence interval of the change is above -{:g} "
                  "points. It does not mean that nothing was lost.",
                  100 * f.margin()),
      fmt::format("Results on the {} split are corrected for {} evaluations (Bonferroni): all of "
                  "them together claim a candidate to be within the limit falsely in at most 2.5% "
                  "of cases. Intervals are those of each evaluation alone, so a whole interval "
                  "within the limit may still be inconclusive.",
                  part_chosen_on(f), f.job.looks),
      "Latencies are medians over paired rounds; a speedup is the median of the rounds' ratios, so "
      "it may differ from the ratio of the latencies.",
      fmt::format("The compressed model is {}. Native models multiply in their few bits; simulated "
                  "ones round values and compute in fp32.",
                  arithmetic),
      fmt::format(
          "Each candidate depended on the results before it, so the numbers on the {} split "
          "flatter the chosen one. {}",
          part_chosen_on(f),
          is_measured_where_chosen(f)
              ? "The result is measured on the same examples; evaluate it on others."
              : fmt::format("The {} split was evaluated once in this run, at the end. "
                            "Earlier runs on the same data are not counted.",
                            f.data.measured.facts.part)),
      "Candidates depend on latencies measured on this machine, so the same command may choose "
      "otherwise. The same steps with the same data and seed give the same model, bit for bit."};
  return paragraphs(lines);
}

// "16× smaller, 6.6× faster"
std::string size_and_speed(const SizeAndTime& t) {
  std::string text = size_change(static_cast<double>(t.size_before.memory_bytes),
                                 static_cast<double>(t.size.memory_bytes));
  if (text == "the same") text = "same size";
  return fmt::format("{}, {}", text, speedup_headline(t.times.front().times.ratio()));
}

// Headline, key figures and evidence.
void describe(const ShrinkFindings& f, const Written& w, Document& document) {
  describe_change(document, size_and_speed(w.takes), w.both, f.data.measured);
  document.headline = fmt::format("{}, {}", size_and_speed(w.takes), gate_headline(w.both.gates));
  const std::vector<Fact> figures = size_and_latency_figures(w.takes);
  document.key_figures.insert(document.key_figures.begin(), figures.begin(), figures.end());
  if (!f.proven)
    document.headline = fmt::format(
        "No candidate was shown to be within the limit. Most promising: {}", document.headline);
  if (f.chosen && f.proven && !w.both.gates.verdict.kept())
    document.evidence += fmt::format(" The result on {} is not confirmed.", made_on(f));
  document.evidence += " " + end_sentence(f);
  if (const std::string noise = noise_warning(w.takes.times); !noise.empty())
    document.evidence += " " + noise;
}

// Predictions, size and latency of a model that was written.
std::vector<std::string> sentences_of(const ShrinkFindings& f, const Written& written) {
  std::vector<std::string> lines;
  if (const std::optional<Comparison>& counted = written.both.comparison.counted)
    lines.push_back(fmt::format("Predictions on {}: correct → wrong {}, wrong → correct {}.",
                                name_and_size(f.data.measured), grouped(counted->only_parent),
                                grouped(counted->only_candidate)));
  for (std::string& line : lines_of(written.takes)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> card_sentences(const ShrinkFindings& f, const Written& written) {
  std::vector<std::string> lines = choice_sentences(f);
  lines.push_back(end_sentence(f));
  for (const auto& more : {search_sentences(f), sentences_of(f, written)})
    lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

// What was written for transformers, and beside it.
std::vector<std::string> loadable_lines(const ShrinkFindings& f, const std::vector<Written>& all) {
  if (!f.job.loadable) return {};
  std::vector<std::string> lines = {
      fmt::format("{}/ has fp32 weights{}; nothing is rounded when the model runs. {} All results "
                  "refer to this "
                  "folder.",
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

std::vector<NextCommand> next_commands(const ShrinkFindings& f) {
  const std::string model = fmt::format("{}/{}", f.job.output.folder, judged_folder(f));
  std::vector<NextCommand> next = {
      {"Classify a text", fmt::format("hone predict {} \"some text\"", shell_word(model))},
      {"List the candidates",
       fmt::format("hone study {}/study.db shrink", shell_word(f.job.output.folder))}};
  if (f.job.loadable)
    next.push_back(
        {"Load it in Python", fmt::format("AutoModelForSequenceClassification.from_pretrained({})",
                                          to_line(Json(model)))});
  return next;
}

Json fields_of(const ShrinkFindings& f, const Table& trail) {
  Json json = subject_of(f.job.model, f.data.identity, f.data.measured);
  json.update({{"goal", to_string(f.job.goal)},
               {"max_drop", 100 * f.margin()},
               {"budget_seconds", f.job.budget_seconds},
               {"seconds", f.seconds},
               {"evaluations", looks_of(f)},
               {"max_evaluations", f.job.looks},
               {"end", f.end},
               {"proven", f.proven},
               {"seed", f.job.seed},
               {"seeds", 1},
               {"chosen_on", to_json(f.subject.data.measured_choice())},
               {"examples_needed", !f.itself.passes && f.itself.hardest.examples_needed
                                       ? Json(*f.itself.hardest.examples_needed)
                                       : Json()},
               {"candidate", f.chosen ? Json(f.points[*f.chosen].number) : Json()},
               {"trial", f.chosen ? Json(f.points[*f.chosen].trial) : Json()},
               {"candidates", to_json(trail)},
               {"output", is_nothing(f) ? Json() : Json(judged_folder(f))}});
  if (f.trimmed)
    json["vocabulary"] = {{"tokens_before", f.trimmed->before},
                          {"tokens", f.trimmed->after},
                          {"kept", f.trimmed->kept}};
  return json;
}

// What all reports of shrinking have, be there a model or not.
void add_trail(const ShrinkFindings& f, const Table& trail, Document& document,
               const fs::path& folder) {
  write_file(folder / "candidates.csv", to_csv(trail));
  write_file(folder / "space.toml", f.space);
  if (f.points.empty()) return;
  const std::string reused = reused_sentence(f);
  if (!reused.empty()) document.notes.push_back(reused);
  document.sections.push_back(
      {"Candidates",
       {PageTable{brief_trail(f),
                  fmt::format(
                      "On {}. Size and latency are relative to the baseline; latencies are medians "
                      "of {} rounds on {} examples, to choose by. Changes are points of {} with "
                      "the 95% confidence interval of this evaluation alone; results are "
                      "corrected for {} evaluations.{}",
                      made_on(f), kShrinkTimerRounds, f.timer.at_a_time(),
                      f.subject.parent_measured->evaluation.figure.text, f.job.looks,
                      reused.empty() ? "" : fmt::format(" {}.", reused))}}});
  document.sections.push_back(
      {"Candidates in detail",
       {figure_block(tried_figure(f), folder / "shrink",
                     "Accuracy change of each candidate against its size and its latency.",
                     document.notes),
        Paragraph{fmt::format(
            "Bars are 95% intervals of each evaluation alone, on {}. Corrected for {} evaluations "
            "they are longer, so a candidate whose bar ends above the limit may still be "
            "inconclusive.",
            made_on(f), f.job.looks)},
        PageTable{page_trail(f),
                  fmt::format(
                      "Predictions, in brackets, were made before the candidate was. \"Trained\" "
                      "is distillation from the baseline on training examples. p tests a drop of "
                      "{:g} points or more, corrected for {} evaluations; 0.025 or less is within "
                      "the limit.",
                      100 * f.margin(), f.job.looks)}},
       /*folded=*/true});
}

JobResult report_nothing(const ShrinkFindings& f, JobResult result, OutputFolder& output,
                         Context& context) {
  const Table trail = trail_table(f);
  Document& document = result.document;
  document.tone = Tone::unclear;
  document.headline =
      f.points.empty()
          ? "No model was written: no candidate was evaluated"
          : fmt::format("No model was written: every candidate lost more than {:g} points",
                        100 * f.margin());
  document.evidence = fmt::format("On {}. {}", made_on(f), end_sentence(f));
  document.output = f.job.output.folder;
  document.sections = {{"", paragraphs(choice_sentences(f))},
                       {"Details", paragraphs(search_sentences(f)), /*folded=*/true}};
  result.basis = basis_of(f.job.data.options.source, f.data, std::string(kFloat));
  result.fields = fields_of(f, trail);
  result.gate = GateOutcome{.passed = false, .summary = "no model was made"};
  add_trail(f, trail, document, output.path());
  document.sections.push_back({"How to read this", reading_notes(f, kFloat), /*folded=*/true});
  write_report(result, f.job.invocation, output.path(), context);
  return result;
}

}  // namespace

double ShrinkFindings::margin() const {
  return margin_for(gates, subject.parent_measured->evaluation.figure);
}

std::string too_few_texts_sentence(const ShrinkFindings& f) {
  return too_few_sentence(f.itself, made_on(f), fmt::format("{} evaluations", f.job.looks),
                          "--max_evaluations");
}

JobResult report_shrink(const ShrinkFindings& f, const TextModel& made, JobResult result,
                        OutputFolder& output, Context& context) {
  if (is_nothing(f)) return report_nothing(f, std::move(result), output, context);
  Document& document = result.document;
  const std::vector<Written> all = write_all(f, made, output.path(), document.notes, context);
  const Written& written = all.front();
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Table trail = trail_table(f), layers = layer_table(made.model);
  result.basis = basis_of(
      f.job.data.options.source, f.data,
      written.model.quantization
          ? fmt::format("{} {}", written.arithmetic, summary(written.model.quantization->plan))
          : std::string(kFloat));
  const auto fields_of_version = [&](const Written& one) {
    Json fields = to_json(one.both, labels);
    fields.erase("gate");  // that of the folder which is judged stands above
    fields.update(to_json(one.takes));
    fields["arithmetic"] = one.arithmetic;
    fields["output"] = one.name;
    return fields;
  };
  result.fields = fields_of(f, trail);
  result.fields.update(fields_of_version(written));
  const JudgedGates& gates = written.both.gates;
  result.fields["gate"] = to_json(gates);
  result.gate = outcome_of(gates);
  describe(f, written, document);
  document.output = f.job.output.folder;
  document.next = next_commands(f);
  Section first{
      "",
      {PageTable{
           before_and_after_table(all),
           fmt::format("{}, {}.", capitalized(name_and_size(f.data.measured)), written.arithmetic)},
       figure_block(summary_figure(written.takes, written.both.before.evaluation,
                                   written.both.after.evaluation),
                    output.path() / "summary",
                    "Size, latency and accuracy of the baseline and the compressed model.",
                    document.notes)}};
  if (const fs::path figure = output.path() / "summary.svg"; path_exists(figure))
    write_file(output.path() / "summary-dark.svg", dark_svg(read_file(figure)));
  for (Block& block : gate_blocks(gates, name_and_size(f.data.measured)))
    first.blocks.push_back(std::move(block));
  for (const auto& lines : {choice_sentences(f), loadable_lines(f, all)})
    for (Block& block : paragraphs(lines)) first.blocks.push_back(std::move(block));
  document.sections.push_back(std::move(first));
  add_trail(f, trail, document, output.path());
  std::vector<std::string> details = search_sentences(f);
  for (std::string& line : sentences_of(f, written)) details.push_back(std::move(line));
  document.sections.push_back({"Details", paragraphs(details), /*folded=*/true});
  document.sections.push_back(
      {"How to read this", reading_notes(f, written.arithmetic), /*folded=*/true});
  if (!layers.rows().empty())
    document.sections.push_back(
        {"Layers",
         {PageTable{layers, "Formats of each layer; everything else is fp32."}},
         /*folded=*/true});
  document.sections.push_back(details_section(named_evaluations(written.both, f.data), labels));
  for (const std::string& doubt : concerns(written.both, labels, "shrinking")) {
    document.notes.push_back(doubt);
    tell_warnings(context, {doubt});
  }
  for (const Written& one : all) {
    Json fields = result.fields;
    fields.update(fields_of_version(one));
    const fs::path folder = output.path() / one.name;
    write_model_card({f.job.output.name_of(folder, output.path()), f.job.invocation.command,
                      result_of("shrink", fields), card_sentences(f, one)},
                     one.model, folder);
  }
  if (f.job.loadable) result.fields["loadable"] = "transformers";
  if (all.size() > 1) result.fields["packed"] = fields_of_version(all[1]);
  write_report(result, f.job.invocation, output.path(), context);
  return result;
}

}  // namespace hone
