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
#include "hone/runtime/packed_kernels.h"
#include "hone/train/memory_check.h"

namespace hone {
namespace {

// Of the recipe's formats, by rounding alone.
Model quantized_by(const Recipe& recipe, const Model& model, const std::string& name,
                   Context& context) {
  CompressOptions options;
  options.plan = resolve(recipe, plain_graph(model));
  options.sparsities = resolve_sparsities(recipe, plain_graph(model));
  Graph graph = forward_graph(model);
  with_context(name, [&] { quantize(graph, options.plan); });
  user_check(!calibrates_on_texts(graph, quantizer_names(model.graph)),
             "{}: formats of the recipe want ranges from texts, which packing does not look at; "
             "`hone quantize` with this "
             "recipe and data first, then pack what it writes",
             name);
  return compress(model, {}, options, context);
}

// What packing works in: each thread is at one tensor, at worst all at the largest.
double packing_room(const ParameterStore& parameters, int threads) {
  std::vector<std::int64_t> counts;
  for (const auto& [name, tensor] : parameters.tensors()) counts.push_back(tensor.count());
  std::ranges::sort(counts, std::greater<>());
  counts.resize(std::min(counts.size(), static_cast<std::size_t>(threads)));
  return kPackingRoom * static_cast<double>(std::accumulate(counts.begin(), counts.end(), 0LL));
}

// Of weights that lie in files, whose pages go as their codes come.
double mapped_bytes(const ParameterStore& parameters) {
  double bytes = 0;
  for (const auto& [name, tensor] : parameters.tensors())
    if (tensor.storage()->mapped) bytes += static_cast<double>(tensor.size_bytes());
  return bytes;
}

std::string size_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

// Of formats of weights: with which inputs their products would be of codes.
std::string native_way_text(const MemoryAccount& account, const FormatTable& formats) {
  std::set<std::string> inputs;
  std::string weights;
  for (const AccountRow& row : account.rows) {
    if (row.part != WeightPart::product || row.format == kUnpackedFormat) continue;
    const Format weight = parse_format(row.format, formats);
    if (native_objection(weight).empty())
      inputs.insert(to_string(native_input(weight, formats)));
    else
      weights += (weights.empty() ? "" : ", ") + row.format;
  }
  if (!inputs.empty())
    return fmt::format("; products are native with inputs in {}: give that as `input_format`",
                       fmt::join(inputs, " or "));
  return weights.empty() ? "" : fmt::format("; no native product takes weights in {}", weights);
}

std::string weights_text(const MemoryAccount& account, std::string_view arithmetic,
                         const FormatTable& formats) {
  std::string text = fmt::format(
      "Weights: {} in memory, {} in their file, for {} in fp32", size_text(account.bytes),
      size_text(account.file_bytes.value_or(0)), size_text(account.fp32_bytes));
  text += arithmetic == kNative
              ? " (native: products of linears whose inputs have formats that fit are of codes)."
              : fmt::format(
                    " (packed: bytes are small, sums are in fp32, so it is no faster where "
                    "texts are many{}).",
                    native_way_text(account, formats));
  if (account.transient_bytes > 0)
    text += fmt::format(" A run unpacks up to {} of them as a whole, for a while.",
                        size_text(account.transient_bytes));
  return text;
}

// Packing looks at no texts.
constexpr std::string_view kRoundedNow =
    "Weights were rounded to these formats just now, and what that costs was not measured: `hone "
    "compare` with the model before does";

// The passes that changed shapes, as the history of the model has them.
std::vector<std::string> shape_passes(const Model& model) {
  std::vector<std::string> passes = model.facts.history.passes;
  std::erase_if(passes, [](const std::string& pass) {
    return !pass.starts_with("prune_structure") && !pass.starts_with("drop_layers") &&
           !pass.starts_with("trim_vocabulary");
  });
  return passes;
}

// Sentences: what the folder holds, and who can load it.
std::vector<std::string> unpacked_lines(const Model& model, const ModelSize& size) {
  std::vector<std::string> lines = {fmt::format(
      "Weights in fp32: {} parameters, {} on disk.{}", grouped(size.parameters),
      size_text(size.disk_bytes.value_or(0)),
      size.quantized ? " Quantizers round them and what layers read, as in the packed model."
                     : " Nothing is rounded when the model runs.")};
  if (const std::optional<EncoderShapes> shapes = encoder_shapes(model))
    lines.push_back(fmt::format("{}: {}.", find_architecture(model.facts.architecture, "").title,
                                to_text(*shapes)));
  if (const std::vector<std::string> passes = shape_passes(model); !passes.empty())
    lines.push_back(fmt::format("Shapes were changed by {}.", fmt::join(passes, ", ")));
  lines.push_back(loading_text(model));
  return lines;
}

}  // namespace

PackResult pack_model(const PackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  Model& model = source.model;
  user_check(!has_packed_weights(model.graph),
             "{}: is packed already; to pack more of it, `hone unpack` it first and pack what that "
             "writes with all formats",
             job.model);
  const Model before = model;
  const bool rounds = job.recipe.has_value();
  if (rounds) model = quantized_by(*job.recipe, model, job.model, context);
  user_check(
      model.quantization.has_value(),
      "{}: has no formats to pack its weights in; give `weight_format` or a `recipe`, or pack what "
      "`hone quantize` wrote",
      job.model);
  RunReport report{.title = fmt::format("{} packed", job.model), .invocation = job.invocation};
  for (const LeftUnpacked& one : unpackable(model.graph))
    report.notes.push_back(fmt::format("{} stays in fp32: {}", one.parameter, one.reason));
  const std::string why =
      report.notes.empty() ? "the model has formats for inputs and outputs alone" : report.notes[0];
  const double codes = static_cast<double>(model_size(model, {}).packed_bytes);
  foretell_growth(std::max(0.0, codes - mapped_bytes(model.parameters)) +
                      packing_room(model.parameters, context.pool.threads()),
                  model.parameters);
  const std::size_t masks = pruned_weights(model.graph).size();
  transform(model, "pack", context.session());
  if (masks > 0)
    report.notes.push_back(fmt::format(
        "the masks of {} pruned weights are not packed: their zeros stand in the codes, "
        "and training what `hone unpack` writes would fill them; train {} instead",
        masks, job.model));
  user_check(has_packed_weights(model.graph), "{}: none of its weights can be packed: {}",
             job.model, why);
  stop_if_interrupted();
  write_model(source, output.path());
  if (!rounds)
    carry_card(source.folder, before, source.model,
               fmt::format("Packed by `{}`: the same values in fewer bytes. The figures here are "
                           "those of the model before.",
                           job.invocation.command),
               output.path());
  PackResult result{
      .account = memory_account(model, output.path(), context.session()), .fields = {}, .text = {}};
  const MemoryAccount& account = result.account;
  const std::string_view arithmetic = arithmetic_of_run(forward_graph(model), context.session());
  result.fields = {{"model", job.model},
                   {"arithmetic", arithmetic},
                   {"rounded", rounds},
                   {"account", to_json(account)},
                   {"output", job.output.folder}};
  const std::string headline = weights_text(account, arithmetic, context.library.formats);
  report.headline = headline;
  report.basis = basis_without_texts(arithmetic);
  report.results = result.fields;
  if (rounds) report.notes.emplace_back(kRoundedNow);
  std::vector<Block> blocks = {PageTable{account_table(account)}};
  for (const std::string& line : reasons(account)) blocks.push_back(Paragraph{line});
  blocks.push_back(figure_block(
      account_figure({{"", saving_steps(account)}},
                     fmt::format("{}, packed: what is saved, and why not more", job.model)),
      output.path() / "memory", "What is left of the saving, step by step", report.notes));
  report.sections = {{"Account", std::move(blocks)}};
  write_run_report(report, output.path(), context);
  output.commit();
  tell_notes(context, report.notes);
  result.text = [account, headline, rounds, folder = job.output.folder](const TextStyle& style) {
    std::string text = to_text(account_table(account), style) + "\n";
    for (const std::string& line : reasons(account)) text += line + "\n";
    text += "\n" + headline;
    if (rounds) text += fmt::format("\n{}.", kRoundedNow);
    return text +
           fmt::format("\nWritten to {}; report.html there shows where the bytes are\n", folder);
  };
  return result;
}

UnpackResult unpack_model(const UnpackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, 0);
  user_check(has_packed_weights(source.model.graph),
             "{}: is not packed; its weights are in fp32 as they stand", job.model);
  // Pages of codes that are read go as their values come.
  foretell_memory(static_cast<double>(resident_bytes()) +
                  bytes_beside(source.model.graph, plain_graph(source.model)));
  const Model packed = source.model;
  if (job.loadable) {
    source.model = for_other_programs(packed, context.session());
    const TransformersLoading loading = transformers_loading(source.model);
    user_check(
        loading.loads(),
        "`loadable`: no folder of {} can be loaded by transformers: {}; leave `loadable` out "
        "to unpack it for hone",
        job.model, loading.reason);
  } else {
    transform(source.model, "unpack", context.session());
  }
  stop_if_interrupted();
  write_model(source, output.path());
  carry_card(source.folder, packed, source.model,
             fmt::format("Unpacked by `{}`. The figures here are those of the packed model.",
                         job.invocation.command),
             output.path());
  const ModelSize size = model_size(source.model, output.path());
  const std::vector<std::string> lines = unpacked_lines(source.model, size);
  const std::string_view arithmetic = arithmetic_of(source.model.graph);
  UnpackResult result;
  result.fields = {{"model", job.model},
                   {"arithmetic", arithmetic},
                   {"size", to_json(size)},
                   {"shape_passes", shape_passes(source.model)},
                   {"output", job.output.folder}};
  if (const std::optional<EncoderShapes> shapes = encoder_shapes(source.model))
    result.fields["shapes"] = to_json(*shapes);
  result.fields.update(to_json(transformers_loading(source.model)));
  RunReport report{.title = fmt::format("{} unpacked", job.model),
                   .headline = lines.front(),
                   .invocation = job.invocation,
                   .basis = basis_without_texts(arithmetic),
                   .results = result.fields};
  std::vector<Block> blocks;
  for (const std::string& line : lines) blocks.emplace_back(Paragraph{line});
  report.sections = {{"The folder", std::move(blocks)}};
  write_run_report(report, output.path(), context);
  output.commit();
  result.text = [lines, folder = job.output.folder](const TextStyle&) {
    return fmt::format("{}\nWritten to {}\n", fmt::join(lines, "\n"), folder);
  };
  return result;
}

}  // namespace hone
