#include "hone/jobs/pack.h"

#include "hone/base/text.h"
#include "hone/jobs/compress.h"
#include "hone/models/model_size.h"
#include "hone/models/transform.h"
#include "hone/passes/pack.h"

namespace hone {
namespace {

// Of the recipe's formats, by rounding alone.
Model quantized_by(const Recipe& recipe, const Model& model, const std::string& name,
                   Context& context) {
  CompressOptions options;
  options.plan = resolve(recipe, plain_graph(model));
  Graph graph = forward_graph(model);
  with_context(name, [&] { quantize(graph, options.plan); });
  user_check(!calibrates_on_texts(graph, quantizer_names(model.graph)),
             "{}: formats of the recipe want ranges from texts, which packing does not look at; "
             "`hone quantize` with this "
             "recipe and data first, then pack what it writes",
             name);
  return compress(model, {}, options, context);
}

// Where it cannot be drawn the model is not lost for it.
bool draw_account(const MemoryAccount& account, const std::string& name, const fs::path& stem,
                  const Context& context) {
  try {
    write_figure(account_figure({{"", saving_steps(account)}},
                                fmt::format("{}, packed: what is saved, and why not more", name)),
                 stem);
    return true;
  } catch (const UserError& error) {
    tell_notes(context,
               {fmt::format("{} was not drawn: {}", stem.filename().string(), error.what())});
    return false;
  }
}

std::string size_text(std::int64_t count) { return human_bytes(static_cast<double>(count)); }

}  // namespace

PackResult pack_model(const PackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, job.seed);
  Model& model = source.model;
  user_check(!has_packed_weights(model.graph), "{}: is packed already", job.model);
  if (job.recipe) model = quantized_by(*job.recipe, model, job.model, context);
  user_check(
      model.quantization.has_value(),
      "{}: has no formats to pack its weights in; give `weight_format` or a `recipe`, or pack what "
      "`hone quantize` wrote",
      job.model);
  const std::vector<LeftUnpacked> left = unpackable(model.graph);
  transform(model, "pack", context.session());
  user_check(has_packed_weights(model.graph), "{}: none of its weights can be packed{}", job.model,
             left.empty() ? ": the model has formats for inputs and outputs alone"
                          : fmt::format(": {}: {}", left[0].parameter, left[0].reason));
  for (const LeftUnpacked& one : left)
    tell_notes(context, {fmt::format("{} stays in fp32: {}", one.parameter, one.reason)});
  write_model(source, output.path());
  PackResult result{
      .account = memory_account(model, output.path(), context.session()), .fields = {}, .text = {}};
  const MemoryAccount& account = result.account;
  const bool is_drawn = draw_account(account, job.model, output.path() / "memory", context);
  output.commit();
  const std::string_view arithmetic = arithmetic_of_run(forward_graph(model), context.session());
  result.fields = {{"model", job.model},
                   {"arithmetic", arithmetic},
                   {"account", to_json(account)},
                   {"output", job.output.folder}};
  result.text = [account, arithmetic, is_drawn,
                 folder = job.output.folder](const TextStyle& style) {
    std::string text = to_text(account_table(account), style) + "\n";
    for (const std::string& line : reasons(account)) text += line + "\n";
    text +=
        fmt::format("\nWeights: {} in memory, {} on disk, for {} in fp32", size_text(account.bytes),
                    size_text(account.file_bytes.value_or(0)), size_text(account.fp32_bytes));
    text += arithmetic == kNative
                ? " (native: products of linears whose inputs have formats that fit are of codes)."
                : " (packed: bytes are small, sums are in fp32).";
    if (account.transient_bytes > 0)
      text += fmt::format(" A run unpacks up to {} of them as a whole, for a while.",
                          size_text(account.transient_bytes));
    return text + fmt::format("\nWritten to {}{}\n", folder,
                              is_drawn ? "; memory.svg there shows where the bytes are" : "");
  };
  return result;
}

UnpackResult unpack_model(const UnpackJob& job, Context& context) {
  OutputFolder output(job.output.folder, job.output.options());
  TextModel source = open_model(job.model, context, 0);
  user_check(has_packed_weights(source.model.graph),
             "{}: is not packed; its weights are in fp32 as they stand", job.model);
  transform(source.model, "unpack", context.session());
  write_model(source, output.path());
  const ModelSize size = model_size(source.model, output.path());
  output.commit();
  UnpackResult result;
  result.fields = {{"model", job.model},
                   {"arithmetic", "simulated"},
                   {"size", to_json(size)},
                   {"output", job.output.folder}};
  result.text = [text = to_text(size), folder = job.output.folder](const TextStyle&) {
    return fmt::format("{}\nWritten to {}\n", text, folder);
  };
  return result;
}

}  // namespace hone
