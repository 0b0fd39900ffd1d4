#include "hone/jobs/pack.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "hone/base/cpu.h"
#include "hone/base/interrupt.h"
#include "hone/base/own_process.h"
#include "hone/base/text.h"
#include "hone/formats/packing.h"
#include "hone/frontends/huggingface/architecture.h"
#include "hone/jobs/compress.h"
#include "hone/jobs/model_card.h"
#include "hone/jobs/size_and_time.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"
#include "hone/passes/prune.h"
#include "hone/runtime/native_formats.h"
#include "hone/study/change_headline.h"
#include "hone/study/result.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// Rounds the model to the recipe's formats, without training.
Model quantized_by(const Recipe& recipe, const Model& model, const std::string& name,
                   Context& context) {
  CompressOptions options;
  options.plan = resolve(recipe, unquantized_graph(model));
  options.sparsities = resolve_sparsities(recipe, unquantized_graph(model));
  Graph graph = forward_graph(model);
  with_context(name, [&] { quantize(graph, options.plan); });
  user_check(
      !calibration_reads_examples(graph, quantizer_names(model.graph)),
      "{}: formats of the recipe need ranges from examples, which packing does not read; run "
      "`hone quantize` with this recipe and data, then pack its output",
      name);
  return compress(model, {}, options, context);
}

// Memory for packing: each thread packs one tensor, in the worst case the largest ones.
double packing_room(const ParameterStore& parameters, int threads) {
  std::vector<std::int64_t> counts;
  for (const auto& [name, tensor] : parameters.tensors()) counts.push_back(tensor.count());
  std::ranges::sort(counts, std::greater<>());
  counts.resize(std::min(counts.size(), static_cast<std::size_t>(threads)));
  return kPackingRoom * static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0LL));
}

// Returns the bytes of weights mapped from files, whose pages are released as their codes are made.
double mapped_bytes(const ParameterStore& parameters) {
  double bytes = 0;
  for (const auto& [name, tensor] : parameters.tensors())
    if (tensor.storage()->mapped) bytes += static_cast<double>(tensor.size_bytes());
  return bytes;
}

std::string size_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

// Suggests input formats that would make the products native, given the weight formats.
std::string native_hint(const MemoryAccount& account, const FormatTable& formats,
                        const std::string& input_setting) {
  std::set<std::string> inputs;
  std::string weights;
  for (const AccountRow& row : account.rows) {
    if (row.part != WeightUse::product || row.format == kUnpackedFormat) continue;
    const Format weight = parse_format(row.format, formats);
    if (native_unsupported_reason(weight).empty())
      inputs.insert(shell_word(to_string(native_input(weight, formats))));
    else
      weights += (weights.empty() ? "" : ", ") + row.format;
  }
  if (!inputs.empty())
    return fmt::format(" For native products, pack it again with {} {}, which rounds inputs.",
                       input_setting, fmt::join(inputs, " or "));
  return weights.empty() ? "" : fmt::format(" Native products do not support {} weights.", weights);
}

std::string arithmetic_text(const MemoryAccount& account, std::string_view arithmetic,
                            const FormatTable& formats, const std::string& input_setting) {
  std::string text =
      arithmetic == kNative
          ? "Native: linear layers whose inputs have matching formats multiply codes."
      : account.theoretical_saving() == 0
          ? "The weights are in fp32; their file leaves out zeros."
          : fmt::format(
                "Packed: weights are stored in few bits, products are computed in fp32, so "
                "large batches are no faster.{}",
                native_hint(account, formats, input_setting));
  if (account.transient_bytes > 0)
    text += fmt::format(" A run temporarily unpacks up to {} of weights at once.",
                        size_text(account.transient_bytes));
  return text;
}

// Returns the passes in the model's history that changed shapes.
std::vector<std::string> shape_passes(const Model& model) {
  std::vector<std::string> passes = model.facts.history.passes;
  std::erase_if(passes, [](const std::string& pass) {
    return !pass.starts_with("prune_structure") && !pass.starts_with("drop_layers") &&
           !pass.starts_with("trim_vocabulary");
  });
  return passes;
}

// Describes the weights, the shapes, and the programs that load the folder.
std::vector<std::string> unpacked_lines(const Model& model, const ModelSize& size) {
  std::vector<std::string> lines = {
      size.quantized ? "Quantizers round weights and inputs, as in the packed model."
                     : "Nothing is rounded when the model runs."};
  if (const std::optional<EncoderShapes> shapes = encoder_shapes(model))
    lines.push_back(fmt::format("{}: {}.", find_architecture(model.facts.architecture, "").title,
                                to_text(*shapes)));
  if (const std::vector<std::string> passes = shape_passes(model); !passes.empty())
    lines.push_back(fmt::format("Passes that changed shapes: {}.", fmt::join(passes, ", ")));
  lines.push_back(loading_text(model));
  return lines;
}

// Sets the headline, key figures and sections for a packed model.
void describe_packed(Document& document, const PackJob& job, const ModelSize& size_before,
                     const MemoryAccount& account, std::string_view arithmetic, bool reads_texts,
                     const fs::path& folder, const FormatTable& formats) {
  const bool has_formats = account.theoretical_saving() != 0;
  document.headline = fmt::format("{}: {}",
                                  arithmetic == kNative ? "Packed, native"
                                  : has_formats         ? "Packed"
                                                        : "On disk",
                                  size_fact("", static_cast<double>(size_before.stored_bytes),
                                            static_cast<double>(account.stored_bytes()))
                                      .value);
  if (has_formats)
    document.key_figures.push_back(size_fact("In memory",
                                             static_cast<double>(size_before.memory_bytes),
                                             static_cast<double>(account.bytes)));
  document.key_figures.push_back({"Arithmetic", std::string(arithmetic)});
  document.evidence = job.recipe
                          ? "The weights were rounded to these formats now, and the accuracy was "
                            "not measured; `hone compare` with the baseline measures it."
                          : "Packing keeps the values of the weights; nothing was measured again.";
  document.output = job.output.folder;
  if (reads_texts)
    document.next = {{"Classify a text",
                      fmt::format("hone predict {} \"some text\"", shell_word(job.output.folder))}};
  Section result;
  if (has_formats) result.blocks.push_back(PageTable{account_table(account_result(account))});
  result.blocks.push_back(Paragraph{
      arithmetic_text(account, arithmetic, formats, job.invocation.setting("input_format"))});
  if (account.left_out_bytes > 0)
    result.blocks.push_back(Paragraph{fmt::format("The file leaves out {} of zeros{}.",
                                                  size_text(account.left_out_bytes),
                                                  has_formats ? ", which the table counts" : "")});
  result.blocks.push_back(figure_block(
      account_figure({{"", saving_steps(account)}},
                     fmt::format("{}, packed: memory saved, and why not more", job.model)),
      folder / "memory", "The saving that is left after each step", document.notes));
  document.sections = {std::move(result)};
  document.sections.push_back(
      {"Memory saved, step by step", paragraphs(reasons(account)), /*folded=*/true});
}

}  // namespace

const Fields& fields_of(const PackFields*) {
  using P = PackFields;
  static const Fields fields = describe<P>(
      "pack", "A model whose weights are stored in the codes of their formats.",
      field<&P::model>("model", "The model as it was named."),
      field<&P::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&P::rounded>("rounded", "Whether this command rounded the weights to formats."),
      field<&P::account>("account", "What the bytes of the weights are for."),
      field<&P::output>("output", "The folder that was written."));
  return fields;
}

const Fields& fields_of(const UnpackFields*) {
  using U = UnpackFields;
  static const Fields fields = describe<U>(
      "unpack", "A packed model with its weights in fp32 again.",
      field<&U::model>("model", "The model as it was named."),
      field<&U::arithmetic>("arithmetic", kArithmeticMeaning),
      field<&U::size>("size", "Size of the weights."),
      field<&U::shapes>("shapes", "The sizes of the encoder; null: the model reads images."),
      field<&U::shape_passes>("shape_passes", "Passes that changed shapes, in order."),
      inlined<&U::loading>(), field<&U::output>("output", "The folder that was written."));
  return fields;
}

PackResult pack_model(const PackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  Model& model = source.model;
  user_check(
      !is_packed(model),
      "{}: is packed already; to pack more of it, run `hone unpack` first and pack its output "
      "with all formats",
      job.model);
  const Model before = model;
  const bool rounds = job.recipe.has_value();
  if (rounds) model = quantized_by(*job.recipe, model, job.model, context);
  PackResult result;
  Document& document = result.document;
  document.title = fmt::format("{} packed", job.model);
  for (const UnpackedParameter& one : unpackable(model.graph))
    document.notes.push_back(fmt::format("{} stays in fp32: {}", one.parameter, one.reason));
  const std::string why = document.notes.empty()
                              ? "the model has formats for inputs and outputs only"
                              : document.notes[0];
  const double codes = static_cast<double>(model_size(model, {}).packed_bytes);
  predict_growth(std::max(0.0, codes - mapped_bytes(model.parameters)) +
                     packing_room(model.parameters, context.pool.threads()),
                 model.parameters);
  const std::size_t masks = pruned_weights(model.graph).size();
  transform(model, "pack", context.session());
  model.facts.stored_without_zeros =
      !has_packed_weights(model.graph) && has_many_zeros(saved_bytes(model));
  if (masks > 0)
    document.notes.push_back(fmt::format(
        "the masks of {} pruned weights are not packed: training the output of `hone unpack` would "
        "fill their zeros; train {} instead",
        masks, job.model));
  user_check(is_packed(model) || model.quantization,
             "{}: has neither formats to pack its weights in nor enough zeros to leave out; give "
             "`weight_format` or a `recipe`, or pack the output of `hone quantize` or `hone prune`",
             job.model);
  user_check(is_packed(model), "{}: none of its weights can be packed: {}", job.model, why);
  stop_if_interrupted();
  write_model(source, output.path());
  if (!rounds)
    copy_model_card(
        source.folder, before,
        card_copy(source.model, job.output.name_of(output.path(), output.path()),
                  fmt::format("Packed by `{}`: the same values in fewer bytes. The numbers "
                              "here are those of the model before packing.",
                              job.invocation.command)),
        output.path());
  result.account = memory_account(model, output.path(), context.session());
  const std::string_view arithmetic = arithmetic_of_run(forward_graph(model), context.session());
  result.fields = to_json(PackFields{.model = job.model,
                                     .arithmetic = std::string(arithmetic),
                                     .rounded = rounds,
                                     .account = account_result(result.account),
                                     .output = job.output.folder});
  result.basis = basis_without_texts(arithmetic);
  describe_packed(document, job, model_size(before, {}), result.account, arithmetic, !source.images,
                  output.path(), context.library.formats);
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  print_notes(context, document.notes);
  return result;
}

JobResult unpack_model(const UnpackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, 0);
  const Model before = source.model;
  const bool packed = is_packed(before);
  // Removing the formats can also make transformers load the model.
  user_check(packed || (job.loadable && transformers_loading(before).unpacks),
             "{}: is not packed; its weights are in fp32. {}", job.model, loading_text(before));
  // Pages of codes are released as they are decoded.
  predict_memory(static_cast<double>(resident_bytes()) +
                 extra_bytes(source.model.graph, unquantized_graph(source.model)));
  source.model.facts.stored_without_zeros = false;
  if (job.loadable) {
    source.model = for_other_programs(before, context.session());
    const TransformersLoading loading = transformers_loading(source.model);
    user_check(
        loading.loads(),
        "`loadable`: transformers cannot load {}: {}; leave `loadable` out to unpack it for hone",
        job.model, loading.reason);
  } else {
    transform(source.model, "unpack", context.session());
  }
  stop_if_interrupted();
  write_model(source, output.path());
  copy_model_card(source.folder, before,
                  card_copy(source.model, job.output.name_of(output.path(), output.path()),
                            fmt::format("Unpacked by `{}`. The numbers here are those of the model "
                                        "before unpacking.",
                                        job.invocation.command)),
                  output.path());
  const ModelSize size = model_size(source.model, output.path());
  const std::string_view arithmetic = arithmetic_of(source.model.graph);
  const TransformersLoading loading = transformers_loading(source.model);
  JobResult result{.fields = to_json(UnpackFields{.model = job.model,
                                                  .arithmetic = std::string(arithmetic),
                                                  .size = size,
                                                  .shapes = encoder_shapes(source.model),
                                                  .shape_passes = shape_passes(source.model),
                                                  .loading = loading_result(loading),
                                                  .output = job.output.folder}),
                   .basis = basis_without_texts(arithmetic)};
  Document& document = result.document;
  document.title = fmt::format("{} unpacked", job.model);
  document.headline = fmt::format("Unpacked to fp32: {} on disk, loaded by {}",
                                  size_text(size.disk_bytes.value_or(0)),
                                  loading.loads() ? "transformers and hone" : "hone only");
  document.key_figures = {{"Parameters", grouped(size.parameters)},
                          {"In memory", size_text(size.memory_bytes)}};
  document.sections = {{"", paragraphs(unpacked_lines(source.model, size))}};
  document.output = job.output.folder;
  write_report(result, job.invocation, output.path(), context);
  output.commit();
  return result;
}

}  // namespace hone
