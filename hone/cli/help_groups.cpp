#include "hone/cli/help_groups.h"

#include <algorithm>
#include <string>

#include "hone/cli/settings.h"

namespace hone {
namespace {

struct HelpGroup {
  std::string_view heading;
  bool common;
  std::vector<std::string_view> options;
};

// Options that several commands share, and rare ones of a single command. An option without a row is listed under
// "Options" and is common.
const std::vector<HelpGroup>& groups() {
  static const std::vector<HelpGroup> table = {
      {"Options", true, {}},
      {"Options",
       false,
       {"input_format",
        "bias_format",
        "output_format",
        "rule",
        "static",
        "keep_slower",
        "no_smooth_scales",
        "no_bias_correction",
        "explain",
        "mode",
        "target",
        "scope",
        "activation_sparsity",
        "with_activations",
        "ramp",
        "freeze",
        "operands",
        "same_format",
        "opset",
        "sensitivity_samples",
        "latency_batch_size",
        "latency_tokens",
        "candidates",
        "swaps",
        "sampler_seed",
        "optuna",
        "promote",
        "concurrency",
        "async",
        "join",
        "space",
        "patience",
        "id_column",
        "fields",
        "png",
        "equal_layers",
        "inputs_b",
        "added_bits",
        "for_optuna_3_1",
        "process",
        "processes",
        "warmup",
        "shape",
        "rows",
        "dtype",
        "impl",
        "elements",
        "group",
        "bits",
        "to"}},
      {"Data", true, {"data", "text_column", "label_column", "split", "validation_split"}},
      {"Data",
       false,
       {"text_pair_column", "no_header", "quoting", "encoding", "json_field", "strict_utf8",
        "max_seq_length", "truncation", "label_map", "max_eval_samples", "max_train_samples",
        "protocol"}},
      {"Training",
       true,
       {"num_train_epochs", "per_device_train_batch_size", "learning_rate", "distill"}},
      {"Training",
       false,
       {"max_steps",
        "per_device_eval_batch_size",
        "gradient_accumulation_steps",
        "lr_scheduler_type",
        "layerwise_lr_decay",
        "warmup_steps",
        "warmup_ratio",
        "weight_decay",
        "adam_beta1",
        "adam_beta2",
        "adam_epsilon",
        "max_grad_norm",
        "eval_steps",
        "load_best_model_at_end",
        "metric_for_best_model",
        "early_stopping_patience",
        "class_weights",
        "label_smoothing_factor",
        "group_by_length",
        "no_shuffle",
        "distill_temperature",
        "distill_alpha",
        "problem_type",
        "vocab_size",
        "lowercase",
        "strip_accents",
        "seeds"}},
      {"Calibration", false, {"calibration", "calibration_batches", "percentile", "force"}},
      {"Output", true, {"output_dir", "output", "overwrite_output_dir", "resume", "json"}},
      {"Output",
       false,
       {"overwrite", "quiet", "color", "figure", "logging_steps", "save_steps", "save_total_limit",
        "save_optimizer_state", "report_to", "no_row_hashes", "no_cache"}},
      {"Execution", true, {"device"}},
      {"Execution", false, {"threads", "seed", "precision", "executor"}},
      {"Debugging", false, {"plugin", "show_passes", "skip_pass", "dump_passes"}},
  };
  return table;
}

const HelpGroup& group_of(const CLI::Option& option) {
  const std::string name = argument_name(option);
  for (const HelpGroup& group : groups())
    if (std::ranges::find(group.options, name) != group.options.end()) return group;
  return groups().front();
}

}  // namespace

const std::vector<std::string_view>& help_headings() {
  static const std::vector<std::string_view> headings = [] {
    std::vector<std::string_view> all;
    for (const HelpGroup& group : groups())
      if (all.empty() || all.back() != group.heading) all.push_back(group.heading);
    return all;
  }();
  return headings;
}

std::string_view help_heading(const CLI::Option& option) { return group_of(option).heading; }

bool is_common(const CLI::Option& option) { return group_of(option).common; }

}  // namespace hone
