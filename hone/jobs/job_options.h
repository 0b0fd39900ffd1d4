#pragma once

#include "hone/base/options.h"
#include "hone/jobs/value_kinds.h"
#include "hone/metrics/task.h"

/// Options that several jobs share, each bound to a member of the job: `split_option<&EvaluateJob::split>(…)`. Options
/// have the names of Hugging Face's scripts where those exist.
namespace hone {

/// Returns a figure's file name without its extension .svg or .png.
std::string without_figure_ending(const std::string& file);

/// A required `MODEL`.
template <auto... kMembers>
OptionDef model_argument(std::string_view meaning, std::string_view name = "MODEL") {
  return argument<kMembers...>(name, meaning).required().takes(kModelValue);
}

/// `--split`; a data folder can have other split names, which are known once it is read.
template <auto... kMembers>
OptionDef split_option(std::string_view meaning) {
  OptionDef row = option<kMembers...>("split", meaning)
                      .one_of({"train", "validation", "test", "all"})
                      .shown("SPLIT")
                      .under(Heading::data);
  row.unrestricted_by = "data";
  return row;
}

template <auto... kMembers>
OptionDef adapter_option(
    std::string_view name = "adapter",
    std::string_view meaning = "LoRA adapter folder to apply (hone's or PEFT's)") {
  return option<kMembers...>(name, meaning).takes(kAdapterValue);
}

template <auto... kMembers>
OptionDef eval_batch_option(std::string_view meaning = "examples per evaluation batch") {
  return option<kMembers...>("per_device_eval_batch_size,batch_size", meaning)
      .from(1)
      .under(Heading::training)
      .rare();
}

/// `--seeds`, for jobs that can be repeated.
template <auto... kMembers>
OptionDef seeds_option() {
  return option<kMembers...>("seeds", "repeat with this many seeds; report mean and spread")
      .from(1)
      .under(Heading::training)
      .rare();
}

/// `--freeze GLOB[,GLOB…]`, repeatable.
template <auto... kMembers>
OptionDef freeze_option() {
  return option<kMembers...>("freeze", "parameters to leave unchanged, such as 'bert.embeddings.*'")
      .shown("GLOB")
      .separated()
      .checked([](const std::string& glob) -> std::string {
        return glob.empty() ? "expected a glob of parameters, got nothing" : "";
      })
      .under(Heading::options)
      .rare();
}

template <auto... kMembers>
OptionDef problem_type_option() {
  return option<kMembers...>(
             "problem_type",
             "task: single_label_classification, regression, ...; by default detected")
      .one_of(task_names())
      .shown("TASK")
      .under(Heading::training)
      .rare();
}

/// `--report_to`, for jobs with a training log.
template <auto... kMembers>
OptionDef report_to_option() {
  return option<kMembers...>("report_to",
                             "also write TensorBoard logs to runs/ in the output folder")
      .one_of({"none", "tensorboard"})
      .under(Heading::output)
      .rare();
}

/// `--no_row_hashes`, for jobs that write models.
template <auto... kMembers>
OptionDef row_hashes_option() {
  return option<kMembers...>("no_row_hashes", "store no fingerprints of the training examples")
      .inverted()
      .under(Heading::output)
      .rare();
}

/// `--resume`, for jobs that store progress without training checkpoints.
template <auto... kMembers>
OptionDef resume_option() {
  return option<kMembers...>("resume", "continue an interrupted run, or start a new one")
      .under(Heading::output)
      .for_caller();
}

template <auto... kMembers>
OptionDef no_cache_option() {
  return option<kMembers...>("no_cache", "do not use or update the store of earlier runs")
      .under(Heading::output)
      .for_caller()
      .rare();
}

/// `--overwrite`, for jobs that write single files.
template <auto... kMembers>
OptionDef overwrite_option(std::string_view meaning) {
  return option<kMembers...>("overwrite", meaning).under(Heading::output).for_caller().rare();
}

/// `--figure`, which writes several files.
template <auto... kMembers>
OptionDef figure_option(std::string_view meaning) {
  return option<kMembers...>("figure", meaning)
      .takes(kFigureValue)
      .replaced(without_figure_ending)
      .under(Heading::output)
      .rare();
}

/// `--batch_size` and `--tokens`, the size of a run to measure or count. By default `--tokens` is 0: see
/// `tokens_of_run`.
template <auto... kMembers>
OptionDef run_batch_option() {
  return option<kMembers...>("batch_size", "batch size").from(1);
}
template <auto... kMembers>
OptionDef run_tokens_option() {
  return option<kMembers...>(
             "tokens", "tokens per example; by default 128, or fewer if the model reads fewer")
      .from(1);
}

}  // namespace hone
