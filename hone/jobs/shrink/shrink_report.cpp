#include "hone/jobs/shrink/shrink_report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>

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
  written.both =
      measure_after(made.model, before, f.subject.data, f.job.eval_batch_size, f.gates, context);
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

// "26.3 %"
std::string share_of(double after, double before) { return share_text(after / before); }

// "20.7 % (18.1 to 21.6)": the median ratio of rounds that took turns, as everywhere; the ratio of medians may differ from it.
std::string time_share_text(const TimesInTurn& times) {
  return fmt::format("{} ({} to {})", share_of(1, times.speedup),
                     percent_number(1 / times.speedup_interval.high),
                     percent_number(1 / times.speedup_interval.low));
}

// What a person asks first, a row each; two columns for each model.
Table before_and_after_table(const std::vector<Written>& all) {
  std::vector<Column> columns = {{"what", "What"}, {"before", "Before"}};
  for (const Written& w : all) {
    const bool alone = all.size() == 1;
    columns.push_back({&w == &all[0] ? "after" : "packed",
                       alone ? "After" : fmt::format("{} ({})", w.name, w.arithmetic)});
    columns.push_back({&w == &all[0] ? "share" : "packed_share",
                       alone ? "After of before" : fmt::format("{} of before", w.name)});
  }
  Table table(columns);
  const auto row = [&](const std::string& what, const Cell& before, const auto& after) {
    std::vector<Cell> cells = {what, before};
    for (const Written& w : all)
      for (const std::string& cell : after(w)) cells.emplace_back(cell);
    table.add_row(std::move(cells));
  };
  using Cells = std::vector<std::string>;
  const SizeAndTime& first = all[0].takes;
  const auto sizes = [&](const std::string& what, const auto& size_of, const auto& text) {
    const double before = size_of(first.size_before);
    if (before > 0)
      row(what, text(before), [&](const Written& w) {
        return Cells{text(size_of(w.takes.size)), share_of(size_of(w.takes.size), before)};
      });
  };
  const auto bytes_text = [](double count) { return human_bytes(count); };
  const auto ms_text = [](double ms) { return three_digits(ms) + " ms"; };
  const auto count_text = [](double count) { return grouped(std::llround(count)); };
  sizes(
      "Weights on disk",
      [](const ModelSize& size) { return static_cast<double>(size.disk_bytes.value_or(0)); },
      bytes_text);
  sizes(
      "Weights in memory",
      [](const ModelSize& size) { return static_cast<double>(size.memory_bytes); }, bytes_text);
  sizes(
      "Parameters", [](const ModelSize& size) { return static_cast<double>(size.parameters); },
      count_text);
  for (std::size_t i = 0; i < first.times.size(); ++i) {
    const ModelTimes& one = first.times[i];
    row(one.at_a_time == 1 ? std::string("A text, alone")
                           : fmt::format("A text, {} at a time", one.at_a_time),
        ms_text(one.times.before.median_ms), [&](const Written& w) {
          const TimesInTurn& times = w.takes.times[i].times;
          return Cells{ms_text(times.after.median_ms), time_share_text(times)};
        });
  }
  const TaskEvaluation& before = all[0].both.before.evaluation;
  row(figure_title(before.figure), figure_sentence(before), [](const Written& w) {
    return Cells{figure_sentence(w.both.after.evaluation), change_sentence(w.both.comparison)};
  });
  return table;
}

Cell judged_cell(const JudgedPoint& one, const FigureName& figure) {
  const auto [low, high] = one.figure_interval;
  return figure.may_be_negative ? number_within(one.figure, low, high)
                                : percent_within(one.figure, low, high);
}

// Every decision with what was foretold and what came of it.
Table trail_table(const ShrinkFindings& f) {
  const FigureName& figure = f.subject.parent_measured->evaluation.figure;
  Table table({{"trial", "Trial"},
               {"step", "What was new"},
               {"foretold_bytes", "Bytes foretold"},
               {"bytes_share", "measured"},
               {"foretold_time", "Time foretold"},
               {"time_share", "measured"},
               {"chance", "Chance"},
               {"figure", figure_title(figure)},
               {"change", "Change"},
               {"change_low", "95 % from"},
               {"change_high", "to"},
               {"flips", "Flips"},
               {"p_value", "p"},
               {"verdict", "Verdict"},
               {"examples_needed", "Examples needed"},
               {"foretold_seconds", "Foretold (s)"},
               {"seconds", "Took (s)"},
               {"chosen", "Chosen"}});
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    const auto when_made = [&](Cell cell) { return made ? std::move(cell) : Cell(absent); };
    Cell verdict(made ? to_string(one.conclusion) : "failed");
    verdict.tone = one.kept() ? Tone::good : Tone::plain;
    table.add_row({one.trial, one.step, percent(one.foretold.bytes),
                   when_made(percent(one.shares.bytes)), percent(one.foretold.time),
                   when_made(percent(one.shares.time)), percent(one.chance, 0),
                   when_made(judged_cell(one, figure)), when_made(real(100 * one.change, 2)),
                   when_made(real(100 * one.change_interval.low, 2)),
                   when_made(real(100 * one.change_interval.high, 2)),
                   std::isnan(one.flips) ? Cell(absent) : when_made(percent(one.flips, 2)),
                   when_made(PValue{one.p_value}), verdict,
                   one.examples_needed ? Cell(*one.examples_needed) : Cell(absent),
                   real(one.foretold_seconds, 1), when_made(real(one.seconds, 1)),
                   f.chosen == i ? "yes" : "no"});
  }
  return table;
}

// "kept, chosen", "unclear, most promising"
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

// "15.1 % (19.8 %)"
Cell beside_foretold(const JudgedPoint& one, const std::string& measured,
                     const std::string& foretold) {
  return fmt::format("{} ({})", one.failure.empty() ? measured : "–", foretold);
}

// The same for a page; trail.csv has a column for each number.
Table page_trail(const ShrinkFindings& f) {
  Table table({{"trial", "Trial"},
               {"step", "What was new"},
               {"bytes_share", "Bytes (foretold)"},
               {"time_share", "Time (foretold)"},
               {"chance", "Chance foretold"},
               {"change", "Change (95 %)"},
               {"flips", "Flips"},
               {"p_value", "p"},
               {"verdict", "Verdict"},
               {"examples_needed", "Examples needed"},
               {"seconds", "Took (foretold), s"}});
  const auto share = [](double value) { return share_of(value, 1); };
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    table.add_row({one.trial, one.step,
                   beside_foretold(one, share(one.shares.bytes), share(one.foretold.bytes)),
                   beside_foretold(one, share(one.shares.time), share(one.foretold.time)),
                   percent(one.chance, 0), change_cell(one),
                   made && !std::isnan(one.flips) ? percent(one.flips, 2) : Cell(absent),
                   made ? Cell(PValue{one.p_value}) : Cell(absent), verdict_cell(f, i),
                   one.examples_needed ? Cell(*one.examples_needed) : Cell(absent),
                   beside_foretold(one, fmt::format("{:.1f}", one.seconds),
                                   fmt::format("{:.1f}", one.foretold_seconds))});
  }
  return table;
}

// The same for a screen.
Table brief_trail(const ShrinkFindings& f) {
  Table table({{"trial", "Trial"},
               {"bytes_share", "Bytes"},
               {"time_share", "Time"},
               {"change", "Change"},
               {"verdict", "Verdict"},
               {"seconds", "Took (s)"},
               {"step", "What was new"}});
  for (std::size_t i = 0; i < f.points.size(); ++i) {
    const JudgedPoint& one = f.points[i];
    const bool made = one.failure.empty();
    const auto when_made = [&](Cell cell) { return made ? std::move(cell) : Cell(absent); };
    table.add_row({one.trial, when_made(percent(one.shares.bytes)),
                   when_made(percent(one.shares.time)), change_cell(one), verdict_cell(f, i),
                   when_made(real(one.seconds, 1)), one.step});
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
  return trimmed.kept
             ? fmt::format(
                   "{} of {} tokens stay, those that the training part uses ({}; {} texts of {} "
                   "are "
                   "other tokens). Words that it does not have may be other tokens now, and be "
                   "answered otherwise: --only prune,quantize,allocate,train keeps all tokens.",
                   grouped(trimmed.after), grouped(trimmed.before), trimmed.summary,
                   grouped(static_cast<std::int64_t>(respelled())), name_and_size(f.data.measured))
             : fmt::format("All {} tokens stay: with the {} that the training part uses, {}.",
                           grouped(trimmed.before), grouped(trimmed.after), trimmed.summary);
}

std::int64_t looks_of(const ShrinkFindings& f) {
  return std::ssize(f.points) + (f.trimmed && f.trimmed->looked ? 1 : 0);
}

std::vector<std::string> sentences_of(const ShrinkFindings& f) {
  std::vector<std::string> lines;
  if (f.trimmed) lines.push_back(trimmed_text(f));
  const std::int64_t looks = looks_of(f);
  lines.push_back(fmt::format(
      "{} of at most {} looks at {} {} taken, and verdicts are corrected for {} (Bonferroni). It "
      "ended as {}. To look took {}.",
      looks, f.job.looks, part_chosen_on(f), looks == 1 ? "was" : "were", f.job.looks, f.end,
      clock_text(f.seconds)));
  if (f.chosen) {
    const JudgedPoint& one = f.points[*f.chosen];
    lines.push_back(fmt::format("{} is trial {}, of all steps together: {}. On {}{} {}.",
                                f.proven ? "Chosen" : "Most promising", one.trial, one.all,
                                part_chosen_on(f), one.kept() ? " it was" : ":", one.summary));
  }
  if (f.not_shown) {
    const JudgedPoint& one = f.points[*f.not_shown];
    lines.push_back(fmt::format(
        "Trial {} takes less, {:.1f} % of the bytes and {:.1f} % of the time, and was not shown to "
        "be kept; {}. More data, or a larger --validation_split, may be worth it.",
        one.trial, 100 * one.shares.bytes, 100 * one.shares.time, one.summary));
  }
  if (f.job.loadable)
    lines.emplace_back(
        "Trials were judged as transformers computes them, in fp32 on the values of their formats. "
        "Their bytes and times are those of the packed model.");
  if (!f.itself.passes) lines.push_back(too_few_texts_sentence(f));
  const bool same_part = f.subject.data.measured_choice().facts.part == f.data.measured.facts.part;
  lines.push_back(fmt::format(
      "What was tried next depended on the verdicts before it, so the figure on {} may flatter "
      "what was chosen; {}",
      part_chosen_on(f),
      same_part ? "the result is measured on the same texts: measure it on others to know."
                : fmt::format("{} was looked at once in this run, at the end. If this command was "
                              "run before on the same data, that is not counted.",
                              f.data.measured.facts.part)));
  lines.push_back(
      "What is tried follows times measured on this machine now, so the same command may choose "
      "otherwise; the same steps with the same data and seed give the same model, bit for bit.");
  return lines;
}

// The brief trail, and what its numbers are; empty where nothing was tried.
std::function<std::string(const TextStyle&)> tried_text(const ShrinkFindings& f) {
  if (f.points.empty()) return [](const TextStyle&) { return std::string(); };
  const std::string told = fmt::format(
      "{}; bytes in memory and time of a text, some at a time, of what the model takes that was "
      "given, time by the fastest of {} short rounds, to choose by: what is chosen is timed again, "
      "longer, with an interval; points of {}, 95 %, each look alone. What is new is what the best "
      "before it "
      "had "
      "not; shares of heads, neurons and layers are of the model that was given.",
      made_on(f), kShrinkTimerRounds, f.subject.parent_measured->evaluation.figure.text);
  return [told, trail = brief_trail(f)](const TextStyle& style) {
    return fmt::format("{}\n{}\n\n", to_text(trail, style), told);
  };
}

// "6.1 % of the bytes of its weights and, for a text, 20.7 % (18.1 to 21.6) of the time in batches of 32, …"
std::string takes_text(const SizeAndTime& t) {
  std::vector<std::string> times;
  for (const ModelTimes& one : t.times)
    times.push_back(
        fmt::format("{} of the time {}", time_share_text(one.times),
                    one.at_a_time == 1 ? "alone" : fmt::format("in batches of {}", one.at_a_time)));
  return fmt::format("{} of the bytes of its weights and, for a text, {}",
                     share_of(static_cast<double>(t.size.memory_bytes),
                              static_cast<double>(t.size_before.memory_bytes)),
                     fmt::join(times, ", "));
}

std::string headline_of(const ShrinkFindings& f, const Written& w) {
  const std::string takes = takes_text(w.takes);
  const std::string reported =
      fmt::format("{}: {}", name_and_size(f.data.measured), w.both.verdict.summary);
  if (!f.proven)
    return fmt::format(
        "Nothing was shown to be kept on {}, corrected for {} looks. The most promising takes {}; "
        "{}{}.",
        made_on(f), f.job.looks, takes,
        w.both.verdict.kept() ? "if it had been the only look, " : "", reported);
  const bool unconfirmed = f.chosen && !w.both.verdict.kept();
  return fmt::format(
      "Takes {}; {}.{}", takes, reported,
      unconfirmed ? fmt::format(" What {} had shown is not confirmed.", made_on(f)) : "");
}

// The same, and what became of a model that was written.
std::vector<std::string> sentences_of(const ShrinkFindings& f, const Written& written) {
  std::vector<std::string> lines = sentences_of(f);
  if (const std::optional<Comparison>& counted = written.both.comparison.counted)
    lines.push_back(fmt::format("Of {}, {} right answers became wrong and {} wrong ones right.",
                                name_and_size(f.data.measured), grouped(counted->only_parent),
                                grouped(counted->only_candidate)));
  for (std::string& line : lines_of(written.takes)) lines.push_back(std::move(line));
  return lines;
}

// What was written for transformers, and beside it.
std::vector<std::string> loadable_lines(const ShrinkFindings& f, const std::vector<Written>& all) {
  if (!f.job.loadable) return {};
  std::vector<std::string> lines = {
      fmt::format("{}/ is in fp32: the weights have the values of their formats, and nothing is "
                  "rounded when the model runs. {} The verdict is on this folder.",
                  all[0].name, loading_text(all[0].model))};
  if (all.size() == 1) {
    lines.emplace_back("No weight is packed, so no other folder was written.");
  } else {
    lines.push_back(fmt::format("{}/ is the same model packed ({}), for hone alone: {}; {}: {}.",
                                all[1].name, all[1].arithmetic, takes_text(all[1].takes),
                                name_and_size(f.data.measured), all[1].both.verdict.summary));
  }
  return lines;
}

// Commands that classify a text, show what was tried, and make all of this again.
std::string how_to_run(const ShrinkFindings& f) {
  const std::string model = fmt::format("{}/{}", f.job.output.folder, judged_folder(f));
  return fmt::format(
      "hone predict {} \"some text\"       # classify a text\nhone study {}/study.db shrink       "
      "# "
      "what was tried\n{}\nAll of this again, in its place:\n{}{}\n",
      shell_word(model), shell_word(f.job.output.folder),
      f.job.loadable
          ? fmt::format("AutoModelForSequenceClassification.from_pretrained({})  # in Python\n",
                        to_line(Json(model)))
          : "",
      f.job.invocation.command, f.job.output.overwrite ? "" : " --overwrite");
}

Json fields_of(const ShrinkFindings& f, const Table& trail) {
  Json json = subject_of(f.job.model, f.data.identity, f.data.measured);
  json.update({{"goal", to_string(f.job.goal)},
               {"max_drop", 100 * f.margin()},
               {"budget_seconds", f.job.budget_seconds},
               {"seconds", f.seconds},
               {"looks", looks_of(f)},
               {"most_looks", f.job.looks},
               {"end", f.end},
               {"proven", f.proven},
               {"seed", f.job.seed},
               {"seeds", 1},
               {"chosen_on", to_json(f.subject.data.measured_choice())},
               {"texts_needed", !f.itself.passes && f.itself.hardest.examples_needed
                                    ? Json(*f.itself.hardest.examples_needed)
                                    : Json()},
               {"trial", f.chosen ? Json(f.points[*f.chosen].trial) : Json()},
               {"trail", to_json(trail)},
               {"output", is_nothing(f) ? Json() : Json(judged_folder(f))}});
  if (f.trimmed)
    json["vocabulary"] = {{"tokens_before", f.trimmed->before},
                          {"tokens", f.trimmed->after},
                          {"kept", f.trimmed->kept}};
  return json;
}

std::vector<Block> paragraphs(const std::vector<std::string>& lines) {
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.emplace_back(Paragraph{line});
  return blocks;
}

// What all reports of shrinking have, be there a model or not.
void add_trail(const ShrinkFindings& f, const Table& trail, RunReport& report,
               const fs::path& folder) {
  std::vector<Block> tried;
  if (!f.points.empty())
    tried.push_back(figure_block(
        tried_figure(f), folder / "shrink",
        "What was tried: points beside the model as it was given, against bytes and against time.",
        report.notes));
  if (!f.points.empty())
    tried.emplace_back(Paragraph{fmt::format(
        "Bars are 95 % of each look alone, on {}. For {} looks together they would be "
        "longer, so a bar may end above the margin and its point not be shown to be "
        "kept. Times in figure and table are of the fastest of {} rounds, to choose by; "
        "those of the result are above, with intervals.",
        made_on(f), f.job.looks, kShrinkTimerRounds)});
  tried.emplace_back(PageTable{
      page_trail(f),
      fmt::format(
          "Every step on {}, in brackets what was foretold of it from what each level does alone "
          "on training texts. What is new is what the best before it had not; all shares are of "
          "the model as it was given. The chance is what was foretold, before it was made, of "
          "being shown to be kept. Training (trained: by floats, then QAT: through the "
          "quantizers) is towards the answers of that model on training texts. Changes are points "
          "of {}, their intervals of each look alone; p is of a loss of {:g} points or more, "
          "corrected for {} looks: kept is 0.025 or less.",
          made_on(f), f.subject.parent_measured->evaluation.figure.text, 100 * f.margin(),
          f.job.looks)});
  report.sections.push_back({"What was tried", std::move(tried)});
  write_file(folder / "trail.csv", to_csv(trail));
  write_file(folder / "space.toml", f.space);
}

ShrinkResult report_nothing(const ShrinkFindings& f, RunReport report, OutputFolder& output,
                            Context& context) {
  const Table trail = trail_table(f);
  report.headline = f.points.empty() ? fmt::format("Nothing was tried: {}.", f.end)
                                     : fmt::format(
                                           "Nothing smaller was found that {} does not show, or "
                                           "suggest, to lose more than {:g} "
                                           "points: {}.",
                                           made_on(f), 100 * f.margin(), f.end);
  report.basis = basis_of(f.job.data.options.source, f.data, std::string(kFloat));
  report.results = fields_of(f, trail);
  std::vector<std::string> lines = sentences_of(f);
  report.sections = {{"Result", paragraphs(lines)}};
  add_trail(f, trail, report, output.path());
  write_run_report(report, output.path(), context);
  ShrinkResult result{.fields = report.results,
                      .gate = GateOutcome{.passed = false,
                                          .text = "Gates: failed, as no model was made.",
                                          .summary = "no model was made"}};
  result.text = [headline = report.headline, tried = tried_text(f), lines](const TextStyle& style) {
    return fmt::format("{}\n\n{}{}\nNo model was written.\n", headline, tried(style),
                       fmt::join(lines, "\n"));
  };
  return result;
}

}  // namespace

double ShrinkFindings::margin() const {
  return margin_for(gates, subject.parent_measured->evaluation.figure);
}

std::string too_few_texts_sentence(const ShrinkFindings& f) {
  return too_few_sentence(f.itself, made_on(f), fmt::format("{} looks", f.job.looks),
                          "--max_evaluations");
}

ShrinkResult report_shrink(const ShrinkFindings& f, const TextModel& made, RunReport report,
                           OutputFolder& output, Context& context) {
  if (is_nothing(f)) return report_nothing(f, std::move(report), output, context);
  const std::vector<Written> all = write_all(f, made, output.path(), report.notes, context);
  const Written& written = all.front();
  const std::vector<std::string>& labels = made.model.facts.labels;
  const Table trail = trail_table(f), both = before_and_after_table(all),
              layers = layer_table(made.model);
  report.headline = headline_of(f, written);
  report.basis = basis_of(
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
  report.results = fields_of(f, trail);
  report.results.update(fields_of_version(written));
  JudgedGates gates = written.both.gates;
  // What was not shown where it was to be chosen by passes no gate.
  if (!f.proven && gates.verdict.kept()) {
    gates.verdict.conclusion = Conclusion::unclear;
    gates.verdict.summary =
        fmt::format("nothing was shown to be kept on {}, by which it was to be chosen", made_on(f));
  }
  report.results["gate"] = to_json(gates);
  const std::string gated_on = name_and_size(f.data.measured);
  std::vector<std::string> lines = sentences_of(f, written);
  for (std::string& line : loadable_lines(f, all)) lines.push_back(std::move(line));
  const std::string caption = fmt::format(
      "{}, {}; the change is from the model as it was given, and kept is that all of its 95 % "
      "interval lies above -{:g} points, not that nothing is lost; flips are predictions that "
      "differ. Native are products of the codes themselves; simulated ones are of floats. Times "
      "are medians of "
      "rounds that took turns, their shares medians of the ratios of rounds, in brackets 95 %.",
      name_and_size(f.data.measured), written.arithmetic, 100 * f.margin());
  report.sections = {
      {"Before and after",
       {figure_block(summary_figure(written.takes, written.both.before.evaluation,
                                    written.both.after.evaluation),
                     output.path() / "summary",
                     "Size, latency and accuracy of the baseline and of the compressed model.",
                     report.notes),
        PageTable{both, caption}}}};
  if (const fs::path figure = output.path() / "summary.svg"; path_exists(figure))
    write_file(output.path() / "summary-dark.svg", dark_svg(read_file(figure)));
  for (Block& block : gate_blocks(gates, gated_on))
    report.sections[0].blocks.push_back(std::move(block));
  for (const std::string& line : lines) report.sections[0].blocks.emplace_back(Paragraph{line});
  report.sections[0].blocks.emplace_back(Preformatted{how_to_run(f)});
  add_trail(f, trail, report, output.path());
  if (!layers.rows().empty())
    report.sections.push_back(
        {"Layers", {PageTable{layers, "What takes which format; all else is in fp32."}}});
  const std::vector<NamedEvaluation> measured = named_evaluations(written.both, f.data);
  report.sections.push_back(details_section(measured, labels));
  for (const std::string& doubt : concerns(written.both, labels, "shrinking")) {
    report.notes.push_back(doubt);
    tell_warnings(context, {doubt});
  }
  for (const Written& one : all) {
    Json result = report.results;
    result.update(fields_of_version(one));
    const fs::path folder = output.path() / one.name;
    write_model_card({f.job.output.name_of(folder, output.path()), f.job.invocation.command,
                      result_of("shrink", result), sentences_of(f, one)},
                     one.model, folder);
  }
  if (f.job.loadable) report.results["loadable"] = "transformers";
  if (all.size() > 1) report.results["packed"] = fields_of_version(all[1]);
  write_run_report(report, output.path(), context);
  ShrinkResult result{.fields = report.results, .gate = outcome_of(gates, gated_on)};
  result.text = [=, headline = report.headline, run = how_to_run(f), tried = tried_text(f),
                 destination = f.job.output.folder,
                 name = judged_folder(f)](const TextStyle& style) {
    return fmt::format(
        "{}\n\n{}\n{}\n\n{}{}{}\n\nThe model is in {}/{}; {}/report.html shows all of it, class by "
        "class and layer by layer:\n{}",
        headline, to_text(both, style), caption, gate_text(gates, gated_on, style), tried(style),
        fmt::join(lines, "\n"), destination, name, destination, run);
  };
  return result;
}

}  // namespace hone
