#include "hone/jobs/merge_adapter.h"

#include "hone/base/interrupt.h"
#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/models/transform.h"
#include "hone/models/unrounded_weights.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr std::string_view kRoundedAgain =
    "the merged weights were rounded to the model's formats again, so predictions differ from "
    "those with the unmerged adapter";

}  // namespace

const Fields& fields_of(const MergeFields*) {
  using M = MergeFields;
  static const Fields fields = describe<M>(
      "lora", "An adapter merged into its model; before: the unmerged adapter.",
      inlined<&M::change>(), field<&M::adapter>("adapter", "The adapter as it was named."),
      field<&M::lora>("lora", "Size of the adapter."),
      field<&M::rounded_again>("rounded_again",
                               "Whether the merged weights were rounded to the model's formats "
                               "again."),
      field<&M::output>("output", "The folder that was written."));
  return fields;
}

JobResult merge_adapter(const MergeJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_with_adapter(job.model, job.adapter, context, job.seed);
  JobResult result;
  Document& document = result.document;
  document.title = fmt::format("{} merged into {}", job.adapter, job.model);
  const auto data =
      load_evaluation_data(source, job.model, job.texts, job.seed, context, document.notes);
  if (!data) document.notes = source.model.warnings;
  const AdapterSize adapter = adapter_size(source.model, job.adapter);
  const TextModel before = source;
  transform(source.model, "fuse_lora", context.session());
  const bool rounds = source.model.quantization.has_value();
  const Model merged = source.model;
  if (rounds) {
    source.model = round_weights(merged, context);
    document.notes.emplace_back(kRoundedAgain);
  }
  stop_if_interrupted();
  write_model(source, output.path());
  if (rounds) write_unrounded(merged, source.model, output.path());
  ModelChange change = measure_change(before, source, output.path(), data, job.texts.batch_size,
                                      context, document.notes);
  change.name_before = "with adapter";
  change.name = "merged";
  const std::vector<std::string>& labels = source.model.facts.labels;
  const ModelChangeResult changed = model_change_result(change, job.model, data, labels);
  result.fields = to_json(MergeFields{.change = changed,
                                      .adapter = job.adapter,
                                      .lora = adapter,
                                      .rounded_again = rounds,
                                      .output = job.output.folder});
  describe_change(document,
                  fmt::format("{} merged into {} linear layer{}", job.adapter,
                              adapter.linear_layers, adapter.linear_layers == 1 ? "" : "s"),
                  change, data, job.invocation.setting("data"), labels);
  document.output = job.output.folder;
  result.basis = basis_of(change, job.texts.data.options.source, data);
  CardFacts facts = card_facts(changed);
  facts.origin = fmt::format("{} with the adapter {} in its weights", markdown_code(job.model),
                             markdown_code(job.adapter));
  facts.relation = "merge";
  write_model_card({job.output.name_of(output.path(), output.path()), job.invocation.command,
                    std::move(facts), lines_of(change)},
                   source.model, output.path());
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  if (!data) print_warnings(context, document.notes);
  if (data && rounds) print_warnings(context, {std::string(kRoundedAgain)});
  return result;
}

}  // namespace hone
