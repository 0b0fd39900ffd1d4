#include "hone/jobs/prune/trim.h"

#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/data_facts.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/quantize.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/unrounded.h"
#include "hone/models/vocabulary_cut.h"
#include "hone/passes/quantize.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kMostExcerpts = 8;
constexpr std::size_t kExcerptCharacters = 60;

/// What is told of the tokens.
struct Trimmed {
  VocabularyCut cut;
  std::vector<RespelledText> respelled;  ///< of the texts that were measured
  std::int64_t texts = 0;                ///< that were measured

  double share() const {
    return texts == 0 ? 0 : static_cast<double>(respelled.size()) / static_cast<double>(texts);
  }
};

std::string tokens_text(const Trimmed& trimmed) {
  const VocabularyCut& cut = trimmed.cut;
  return fmt::format(
      "{} of {} tokens stay: the {} that the training part uses, and {} special ones and single "
      "characters, used or not.",
      grouped(std::ssize(cut.kept)), grouped(cut.before), grouped(cut.used), grouped(cut.lasting));
}

std::string respelled_text(const Trimmed& trimmed, const std::string& part) {
  if (trimmed.respelled.empty())
    return fmt::format("All {} texts of {} are the same tokens as before.", grouped(trimmed.texts),
                       part);
  const RespelledText& first = trimmed.respelled.front();
  return fmt::format("{} of {} texts of {} ({}) are other tokens now, such as {} for {}.",
                     grouped(std::ssize(trimmed.respelled)), grouped(trimmed.texts), part,
                     share_text(trimmed.share()), shown_name(first.after),
                     shown_name(first.before));
}

// Some of them, with how they begin.
Table to_table(const Trimmed& trimmed, const std::vector<Example>& texts) {
  Table table({{"text", "Text"}, {"before", "Token before"}, {"after", "Now"}});
  for (std::size_t i = 0; i < std::min(kMostExcerpts, trimmed.respelled.size()); ++i) {
    const RespelledText& one = trimmed.respelled[i];
    table.add_row({shown_name(texts[static_cast<std::size_t>(one.row)].text, kExcerptCharacters),
                   shown_name(one.before), shown_name(one.after)});
  }
  return table;
}

Json to_json(const Trimmed& trimmed) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < std::min(kMostExcerpts, trimmed.respelled.size()); ++i)
    rows.push_back({{"example", trimmed.respelled[i].row},
                    {"before", trimmed.respelled[i].before},
                    {"after", trimmed.respelled[i].after}});
  return {{"tokens_before", trimmed.cut.before},
          {"tokens", trimmed.cut.kept.size()},
          {"lasting", trimmed.cut.lasting},
          {"used", trimmed.cut.used},
          {"respelled_texts", trimmed.respelled.size()},
          {"respelled_share", trimmed.share()},
          {"examples", rows}};
}

void check_goes(const VocabularyCut& cut, const std::string& name) {
  user_check(std::ssize(cut.kept) < cut.before,
             "{}: all {} tokens stay, for the training part uses them, and nothing was written; "
             "`keep_tokens` says how many are to stay",
             name, grouped(cut.before));
}

}  // namespace

TrimResult trim_job(const TrimJob& job, Context& context) {
  RunReport report{.title = fmt::format("{} with fewer tokens", job.model),
                   .invocation = job.invocation};
  OutputFolder output(job.output.folder, job.output.options());
  TextModel parent = open_model(job.model, context, job.seed);
  check_not_packed(parent.model, job.model);
  check_reads_texts(parent.model.facts, job.model, "a vocabulary");
  const std::vector<Gate> gates = gates_of(job.gates, parent.model, job.model);
  std::vector<Example> texts;
  EncodedSplits data = load_encoded(parent, job.model, job.data, job.split, job.seed,
                                    FiguresOf::one_model, context, report.notes,
                                    [&](const DataSet&, const MeasuredTexts& measured,
                                        std::vector<std::string>&) { texts = measured.examples; });
  Trimmed trimmed{.cut = cut_vocabulary(parent, data.train, job.keep),
                  .respelled = {},
                  .texts = data.test.size()};
  check_goes(trimmed.cut, job.model);
  const Measurement before =
      measure_before(parent, data, job.eval_batch_size, context, report.notes, "trimming");
  // Weights before rounding, which training goes on from, lose the same rows; scales of a table are those of what is left.
  TextModel source = parent;
  const bool parent_is_unrounded = take_unrounded(source.model, parent.folder);
  TextModel model = cut(source, trimmed.cut, context.session());
  const Model unrounded = model.model;
  if (unrounded.quantization) model.model = round_weights(unrounded, context);
  const EncodedSet texts_before = data.test;
  const std::string& part = data.measured.facts.part;
  data.test = encode_part(model, texts, part, job.data.cut, context, report.notes);
  trimmed.respelled = respelled_texts(parent.tokenizer, texts_before, model.tokenizer, data.test);
  const BeforeAndAfter both =
      measure_after(model.model, before, data, job.eval_batch_size, gates, context);
  const fs::path& folder = output.path();
  write_cut_model(parent, model, trimmed.cut, folder);
  if (parent_is_unrounded) write_unrounded(unrounded, model.model, folder);
  const SizeAndTime found =
      size_and_time(parent, texts_before, model.model, data.test, folder, context);

  const auto& labels = model.model.facts.labels;
  const std::string_view arithmetic = arithmetic_of(model.model.graph);
  const std::string measured = name_and_size(data.measured);
  TrimResult result{.verdict = both.verdict, .gate = outcome_of(both.gates, measured)};
  result.fields = subject_of(job.model, data.identity, data.measured);
  result.fields.update({{"arithmetic", arithmetic}, {"vocabulary", to_json(trimmed)}});
  result.fields.update(to_json(both, labels));
  result.fields.update(to_json(found));
  result.fields["output"] = job.output.folder;

  const std::string random = headless_remark(parent.model, false);
  report.headline =
      random.empty()
          ? fmt::format("{} of {} tokens, {}: {}.", grouped(std::ssize(trimmed.cut.kept)),
                        grouped(trimmed.cut.before), measured, both.verdict.summary)
          : fmt::format("{}.", random);
  report.basis = basis_of(job.data.options.source, data, std::string(arithmetic));
  report.results = result.fields;
  const double bits = average_weight_bits(model.model);
  const Table table =
      comparison_table({{"before", bits, before, std::nullopt, arithmetic},
                        {"trimmed", bits, both.after, both.comparison, arithmetic, both.verdict}});
  const std::string caption = figures_caption(before, data, {random});
  std::vector<std::string> lines = {tokens_text(trimmed), respelled_text(trimmed, part)};
  for (std::string& line : lines_of(found)) lines.push_back(std::move(line));
  write_model_card({job.output.name_of(folder, folder), job.invocation.command,
                    result_of("trim", result.fields), lines},
                   model.model, folder);
  report.sections = {{"Result", {PageTable{table, caption}}}};
  for (Block& block : gate_blocks(both.gates, measured))
    report.sections[0].blocks.push_back(std::move(block));
  for (const std::string& line : lines) report.sections[0].blocks.push_back(Paragraph{line});
  if (!trimmed.respelled.empty())
    report.sections.push_back(
        {"Texts that are other tokens now",
         {PageTable{to_table(trimmed, texts), "Some of them, with the first token that went."}}});
  const std::vector<std::string> doubts = concerns(both, labels, "trimming");
  tell_warnings(context, doubts);
  report.notes.insert(report.notes.end(), doubts.begin(), doubts.end());
  const std::vector<NamedEvaluation> evaluations = named_evaluations(both, data);
  report.sections.push_back(details_section(evaluations, labels));
  write_run_report(report, folder, context);
  output.commit();
  result.text = [=, headline = report.headline, verdict = both.verdict, judged = both.gates,
                 written = job.output.folder](const TextStyle& style) {
    std::string text =
        fmt::format("{}\n\n{}\n\n{}\n{}{}", toned(headline, tone_of(verdict), style), caption,
                    to_text(table, style), gate_text(judged, measured, style),
                    details_text(evaluations, labels, style));
    for (const std::string& line : lines) text += line + "\n";
    return text + fmt::format("Written to {}\n", written);
  };
  return result;
}

}  // namespace hone
