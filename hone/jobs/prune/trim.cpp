#include "hone/jobs/prune/trim.h"

#include "hone/base/percentage.h"
#include "hone/base/printable.h"
#include "hone/base/text.h"
#include "hone/data/data_facts.h"
#include "hone/jobs/before_and_after.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/unrounded_weights.h"
#include "hone/models/vocabulary_cut.h"
#include "hone/passes/quantize.h"
#include "hone/study/comparison_table.h"
#include "hone/study/evaluation_details.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::size_t kMostExcerpts = 8;
constexpr std::size_t kExcerptCharacters = 60;

/// The removed tokens and the texts that they change.
struct Trimmed {
  VocabularyCut cut;
  std::vector<RespelledText> respelled;  ///< measured texts that are tokenized differently
  std::int64_t texts = 0;                ///< measured

  double share() const {
    return texts == 0 ? 0 : static_cast<double>(respelled.size()) / static_cast<double>(texts);
  }
};

std::string tokens_text(const Trimmed& trimmed) {
  const VocabularyCut& cut = trimmed.cut;
  return fmt::format(
      "Vocabulary: {} of {} tokens are kept: {} special tokens and single characters, and {} "
      "others. The training split uses {} tokens of both kinds.",
      grouped(std::ssize(cut.kept)), grouped(cut.before), grouped(cut.lasting),
      grouped(std::ssize(cut.kept) - cut.lasting), grouped(cut.used));
}

std::string respelled_text(const Trimmed& trimmed, const std::string& part) {
  if (trimmed.respelled.empty())
    return fmt::format("All {} texts of {} are tokenized as before.", grouped(trimmed.texts), part);
  const RespelledText& first = trimmed.respelled.front();
  return fmt::format("{} of {} texts of {} ({}) are tokenized differently, such as {} for {}.",
                     grouped(std::ssize(trimmed.respelled)), grouped(trimmed.texts), part,
                     share_text(trimmed.share()), shown_name(first.after),
                     shown_name(first.before));
}

// Lists some of the texts by their beginning.
Table to_table(const Trimmed& trimmed, const std::vector<Example>& texts) {
  Table table({{"text", "Text"}, {"before", "Removed token"}, {"after", "Replaced by"}});
  for (std::size_t i = 0; i < std::min(kMostExcerpts, trimmed.respelled.size()); ++i) {
    const RespelledText& one = trimmed.respelled[i];
    table.add_row({shown_name(texts[static_cast<std::size_t>(one.row)].text, kExcerptCharacters),
                   shown_name(one.before), shown_name(one.after)});
  }
  return table;
}

TrimmedVocabularyResult vocabulary_result(const Trimmed& trimmed) {
  TrimmedVocabularyResult result{.tokens_before = trimmed.cut.before,
                                 .tokens = std::ssize(trimmed.cut.kept),
                                 .lasting = trimmed.cut.lasting,
                                 .used = trimmed.cut.used,
                                 .retokenized_examples = std::ssize(trimmed.respelled),
                                 .retokenized_share = trimmed.share()};
  for (std::size_t i = 0; i < std::min(kMostExcerpts, trimmed.respelled.size()); ++i) {
    const RespelledText& one = trimmed.respelled[i];
    result.examples.push_back({.example = one.row, .before = one.before, .after = one.after});
  }
  return result;
}

void check_removes_tokens(const VocabularyCut& cut, const std::string& name) {
  user_check(std::ssize(cut.kept) < cut.before,
             "{}: all {} tokens are kept, because the training split uses them, and nothing was "
             "written; give `keep_tokens` to keep fewer",
             name, grouped(cut.before));
}

// Compares the trimmed model with its baseline, followed by its gates and `lines`.
Section result_section(const TextModel& baseline, const Measurement& before, const TextModel& model,
                       const BeforeAndAfter& both, const EncodedSplits& data,
                       const std::vector<std::string>& lines, std::string_view arithmetic) {
  const double bits = average_weight_bits(model.model);
  const std::string random = headless_remark(baseline.model, false);
  Section section{
      "",
      {PageTable{
          comparison_table({{"baseline", bits, before, std::nullopt, arithmetic},
                            {"trimmed", bits, both.after, both.comparison, arithmetic,
                             both.gates.any() ? std::optional(both.verdict) : std::nullopt}}),
          metrics_caption(before, data,
                          {random.empty() ? "" : fmt::format("Note that {}.", random)})}}};
  for (Block& block : gate_blocks(both.gates, name_and_size(data.measured)))
    section.blocks.push_back(std::move(block));
  for (const std::string& line : lines) section.blocks.push_back(Paragraph{line});
  return section;
}

// Title, headline, key figures and next command.
void describe_trimmed(Document& document, const TrimJob& job, const Model& baseline,
                      const Trimmed& trimmed, const BeforeAndAfter& both,
                      const MeasuredSplit& measured, const SizeAndTime& found) {
  const std::string label = fmt::format(
      "{} of {} tokens kept", grouped(std::ssize(trimmed.cut.kept)), grouped(trimmed.cut.before));
  document.title = fmt::format("{} trimmed: {}", job.model, label);
  describe_change(document, label, both, measured);
  if (const std::string random = headless_remark(baseline, false); !random.empty())
    document.headline = fmt::format("{}: {}", label, random);
  prepend_key_figures(document, size_and_latency_facts(found));
  document.output = job.output.folder;
  const std::string folder = shell_word(job.output.folder);
  document.next = {
      {"Store the weights in 8 bits",
       fmt::format("hone pack {}{} -o {}", folder,
                   baseline.quantization ? "" : " --weight_format 'int(bits=8,per=row)'",
                   shell_word(job.output.folder + "-packed"))}};
}

}  // namespace

const Fields& fields_of(const RetokenizedResult*) {
  using R = RetokenizedResult;
  static const Fields fields = describe<R>(
      "respelled_text", "A text that is tokenized differently.",
      field<&R::example>("example", "Its index in the split that was measured, from 0."),
      field<&R::before>("before", "The first token that was removed."),
      field<&R::after>("after", "The tokens in its place."));
  return fields;
}

const Fields& fields_of(const TrimmedVocabularyResult*) {
  using T = TrimmedVocabularyResult;
  static const Fields fields = describe<T>(
      "trimmed_vocabulary", "The tokens that are kept.",
      field<&T::tokens_before>("tokens_before", "Tokens of the baseline."),
      field<&T::tokens>("tokens", "Tokens that are kept."),
      field<&T::lasting>("lasting",
                         "Tokens that are always kept: special ones, single characters and bytes."),
      field<&T::used>("used", "Tokens that the training split uses."),
      field<&T::retokenized_examples>("respelled_examples", Unit::examples,
                                      "Measured examples that are tokenized differently."),
      field<&T::retokenized_share>("respelled_share", Unit::share, "The same as a share."),
      field<&T::examples>("examples", "Some of them."));
  return fields;
}

const Fields& fields_of(const TrimFields*) {
  using T = TrimFields;
  static const Fields fields =
      describe<T>("trim", "A model with fewer tokens compared with its baseline.",
                  inlined<&T::subject>(), field<&T::arithmetic>("arithmetic", kArithmeticMeaning),
                  field<&T::vocabulary>("vocabulary", "The tokens that are kept."),
                  inlined<&T::both>(), inlined<&T::size_and_time>(),
                  field<&T::gate>("gate", "Whether the gates hold; null: no gates."),
                  field<&T::output>("output", "The folder that was written."));
  return fields;
}

JobResult trim_job(const TrimJob& job, Context& context) {
  JobResult result;
  Document& document = result.document;
  OutputFolder output(job.output.folder, job.output.options());
  TextModel baseline = open_model(job.model, context, job.seed);
  check_not_packed(baseline.model, job.model);
  check_reads_texts(baseline.model.facts, job.model, "a vocabulary");
  const std::vector<Gate> gates = gates_of(job.gates, baseline.model, job.model);
  std::vector<Example> texts;
  EncodedSplits data = load_encoded(baseline, job.model, job.data, job.split, job.seed,
                                    MetricsOf::one_model, context, document.notes,
                                    [&](const DataSet&, const EvaluationExamples& measured,
                                        std::vector<std::string>&) { texts = measured.examples; });
  Trimmed trimmed{.cut = cut_vocabulary(baseline, data.train, job.keep),
                  .respelled = {},
                  .texts = data.test.size()};
  check_removes_tokens(trimmed.cut, job.model);
  const Measurement before =
      measure_before(baseline, data, job.eval_batch_size, context, document.notes, "trimming");
  // Unrounded weights lose the same rows; the scales of a table are computed from the rows that are kept.
  TextModel source = baseline;
  const bool baseline_is_unrounded = load_unrounded(source.model, baseline.folder);
  TextModel model = cut(source, trimmed.cut, context.session());
  const Model unrounded = model.model;
  if (unrounded.quantization) model.model = round_weights(unrounded, context);
  const EncodedSet texts_before = data.test;
  const std::string& part = data.measured.facts.split;
  data.test = encode_split(model, texts, part, job.data.cut, context, document.notes);
  trimmed.respelled = respelled_texts(baseline.tokenizer, texts_before, model.tokenizer, data.test);
  const BeforeAndAfter both =
      measure_after(model.model, before, data, job.eval_batch_size, gates, context);
  const fs::path& folder = output.path();
  write_cut_model(baseline, model, trimmed.cut, folder);
  if (baseline_is_unrounded) write_unrounded(unrounded, model.model, folder);
  SizeAndTime found =
      size_and_time(baseline, texts_before, model.model, data.test, folder, context);
  found.models = fmt::format("{} {}", shell_word(job.model), shell_word(job.output.folder));

  const auto& labels = model.model.facts.labels;
  const std::string_view arithmetic =
      arithmetic_of_run(forward_graph(model.model), context.session());
  const std::string measured = name_and_size(data.measured);
  result.gate = outcome_of(both.gates);
  const TrimFields fields{.subject = subject_result(job.model, data.identity, data.measured),
                          .arithmetic = std::string(arithmetic),
                          .vocabulary = vocabulary_result(trimmed),
                          .both = before_and_after_result(both, labels),
                          .size_and_time = size_and_time_result(found),
                          .gate = gate_result_if_any(both.gates),
                          .output = job.output.folder};
  result.fields = to_json(fields);
  result.basis = basis_of(job.data.options.source, data, std::string(arithmetic));
  std::vector<std::string> lines = {tokens_text(trimmed), respelled_text(trimmed, part)};
  Section first = result_section(baseline, before, model, both, data, lines, arithmetic);
  for (std::string& line : lines_of(found)) lines.push_back(std::move(line));
  CardFacts facts = facts_of_change(fields.subject, fields.both);
  facts.origin =
      fmt::format("{} with {} of its {} tokens", markdown_code(job.model),
                  grouped(fields.vocabulary.tokens), grouped(fields.vocabulary.tokens_before));
  write_model_card(
      {job.output.name_of(folder, folder), job.invocation.command, std::move(facts), lines},
      model.model, folder);
  describe_trimmed(document, job, baseline.model, trimmed, both, data.measured, found);
  document.sections = {std::move(first)};
  if (!trimmed.respelled.empty())
    document.sections.push_back(
        {"Texts that are tokenized differently",
         {PageTable{to_table(trimmed, texts), "Some of them, with the first removed token."}},
         /*folded=*/true});
  document.sections.push_back(size_and_latency_section(found));
  document.sections.push_back(details_section(named_evaluations(both, data), labels));
  const std::vector<std::string> metric_warnings = concerns(both, labels, "trimming");
  print_warnings(context, metric_warnings);
  document.notes.insert(document.notes.end(), metric_warnings.begin(), metric_warnings.end());
  write_report(result, job.invocation, folder, context);
  output.commit();
  return result;
}

}  // namespace hone
