#include "hone/cli/trainer_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace hone {
namespace {

/// Flags with one answer.
struct FlagRow {
  std::vector<std::string_view> flags;
  std::string_view answer;
};

const std::vector<FlagRow>& flag_rows() {
  static const std::vector<FlagRow> table = {
      // Actions and folders.
      {{"do_train"}, "`hone train` always trains; remove the option"},
      {{"do_eval"},
       "training evaluates the validation and test splits anyway, and `hone eval` evaluates any "
       "model; remove the option"},
      {{"do_predict"}, "use `hone predict MODEL --data FILE`"},
      {{"model_name_or_path", "model_name", "model"},
       "give the model as the first argument, without an option"},
      {{"resume_from_checkpoint"}, "use --resume with the same output folder"},
      {{"logging_dir"}, "--report_to tensorboard writes to runs/ in the output folder"},
      {{"run_name", "project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id"},
       "a run is named after its output folder"},
      // Data.
      {{"task_name", "dataset_name", "dataset_config_name", "train_file", "validation_file",
        "test_file", "data_dir"},
       "use --data with a file, or with a folder that contains train.*, validation.* and test.*; "
       "hone downloads nothing"},
      {{"text_column_names", "text_column_name", "sentence1_key", "sentence2_key"},
       "use --text_column, and --text_pair_column for the second text"},
      {{"label_column_name"}, "use --label_column"},
      {{"label_names"}, "label names come from the data; a trained model keeps its own"},
      {{"text_column_delimiter"}, "hone does not join columns; --text_pair_column reads pairs"},
      {{"train_split_name", "validation_split_name", "test_split_name"},
       "splits are found by their usual names: train, validation (or dev, valid, val), test"},
      {{"validation_split_percentage"}, "use --validation_split with a fraction (default: 0.1)"},
      {{"remove_splits", "remove_columns", "remove_unused_columns"},
       "hone reads only the text and label columns; remove the option"},
      {{"shuffle_train_dataset"},
       "examples are shuffled every epoch; --no_shuffle keeps their order"},
      {{"shuffle_seed", "data_seed"}, "--seed also seeds the order of the examples"},
      {{"max_length", "max_len"}, "use --max_seq_length"},
      {{"truncation_side"}, "use --truncation: head (right), tail (left) or head_tail"},
      {{"max_predict_samples"}, "not supported; shorten the file"},
      {{"pad_to_max_length"},
       "batches are padded to their longest example, which changes no result; remove the option"},
      {{"overwrite_cache", "preprocessing_num_workers", "dataloader_num_workers",
        "dataloader_pin_memory", "dataloader_persistent_workers", "dataloader_prefetch_factor",
        "dataloader_multiprocessing_context", "dataloader_in_order"},
       "all --threads read and tokenize examples, and nothing is cached; remove the option"},
      {{"dataloader_drop_last"}, "not supported; the last batch of an epoch is always used"},
      {{"metric_name"}, "all metrics are computed; --metric_for_best_model selects one"},
      {{"predict_with_generate", "generation_max_length", "generation_num_beams",
        "sortish_sampler"},
       "hone does not support models that generate text"},
      {{"do_regression"}, "use --problem_type regression if labels are whole numbers"},
      // Model and tokenizer.
      {{"config_name", "tokenizer_name"}, "config and tokenizer are read from the model folder"},
      {{"cache_dir"}, "set HF_HUB_CACHE to the folder of downloaded models"},
      {{"model_revision", "revision"}, "append it to the model: OWNER/NAME@REVISION"},
      {{"use_fast_tokenizer", "trust_remote_code", "low_cpu_mem_usage", "use_safetensors",
        "save_safetensors"},
       "hone has one tokenizer, runs no remote code, uses no network and writes safetensors; "
       "remove the option"},
      {{"use_auth_token", "token", "hub_token"},
       "hone downloads nothing; download the model with `hf auth login` and `hf download "
       "OWNER/NAME`, and hone finds it in that cache, or give its folder"},
      {{"torch_dtype", "fp16", "bf16", "fp16_full_eval", "bf16_full_eval", "half_precision_backend",
        "fp16_opt_level", "fp16_backend", "tf32"},
       "use --precision bf16, or tf32 on a GPU (--device cuda); weights stay in fp32, and training "
       "in fp16 is not supported; `hone quantize` converts models to bf16, fp16 and others"},
      {{"gradient_checkpointing", "gradient_checkpointing_kwargs", "activation_checkpointing",
        "activation_checkpointing_kwargs"},
       "not supported; a smaller --batch_size with more --gradient_accumulation_steps needs less "
       "memory"},
      {{"attn_implementation", "use_liger_kernel", "liger_kernel_config", "use_cache",
        "torch_compile", "torch_compile_backend", "torch_compile_mode", "jit_mode_eval"},
       "hone chooses the fastest kernels by itself; remove the option"},
      // Optimizer and schedule.
      {{"optim", "adafactor"}, "AdamW is the only optimizer; remove the option"},
      {{"optim_args", "optim_target_modules"},
       "AdamW is the only optimizer; use --adam_beta1, --adam_beta2, --adam_epsilon and "
       "--weight_decay"},
      {{"lr_scheduler_kwargs"},
       "schedules only have --warmup_steps and --warmup_ratio; remove the option"},
      {{"accumulate_grad_batches"}, "use --gradient_accumulation_steps"},
      {{"eval_accumulation_steps"},
       "logits of an evaluation take a few bytes per example; remove the option"},
      {{"train_batch_size", "per_gpu_train_batch_size"}, "use --batch_size"},
      {{"eval_batch_size", "per_gpu_eval_batch_size"}, "use --per_device_eval_batch_size"},
      {{"auto_find_batch_size"},
       "not supported; hone reports how much memory a batch that does not fit would need"},
      {{"layer_decay", "llrd"}, "use --layerwise_lr_decay"},
      {{"temperature", "teacher_model", "teacher_model_name_or_path"},
       "use --distill with the teacher's folder, --distill_temperature and --distill_alpha"},
      {{"neftune_noise_alpha"}, "not supported"},
      // Logging, evaluation, saving.
      {{"evaluation_strategy", "eval_strategy"},
       "hone evaluates after every epoch; --eval_steps N evaluates every N steps, "
       "--validation_split 0 never"},
      {{"logging_strategy", "logging_first_step"},
       "use --logging_steps N; learning_curve.csv contains every step"},
      {{"logging_nan_inf_filter"},
       "a loss that is not a number ends the training; remove the option"},
      {{"save_strategy", "save_on_each_node", "save_only_model",
        "restore_callback_states_from_checkpoint", "enable_jit_checkpoint"},
       "hone saves after every epoch and evaluation; --save_steps saves more often, "
       "--save_total_limit limits the checkpoints"},
      {{"greater_is_better"},
       "it follows from --metric_for_best_model; lower is better for loss, mse, rmse and mae"},
      {{"early_stopping_threshold"}, "any improvement counts; use --early_stopping_patience"},
      {{"eval_delay", "eval_on_start", "batch_eval_metrics", "include_for_metrics",
        "include_inputs_for_metrics", "eval_do_concat_batches", "eval_use_gather_object",
        "prediction_loss_only", "use_legacy_prediction_loop", "include_tokens_per_second",
        "include_num_input_tokens_seen", "torch_empty_cache_steps",
        "average_tokens_across_devices"},
       "not supported"},
      {{"train_sampling_strategy"},
       "examples are shuffled every epoch; --group_by_length batches similar lengths, --no_shuffle "
       "keeps the order"},
      {{"length_column_name"}, "--group_by_length computes the lengths by itself"},
      // Reports.
      {{"disable_tqdm"}, "use --quiet"},
      {{"log_level", "log_level_replica", "log_on_each_node", "verbose"},
       "--quiet hides the progress; warnings are always printed"},
      {{"push_to_hub", "push_to_hub_model_id", "push_to_hub_organization", "push_to_hub_token",
        "hub_model_id", "hub_strategy", "hub_private_repo", "hub_always_push", "hub_revision"},
       "hone uses no network; upload the output folder with `hf upload`"},
      // Machines.
      {{"no_cuda", "use_cpu"},
       "hone uses the CPU unless you give --device cuda; remove the option"},
      {{"use_mps_device", "use_ipex"},
       "hone supports CPUs and, with --device cuda, NVIDIA GPUs; remove the option"},
      {{"local_rank",
        "ddp_backend",
        "ddp_find_unused_parameters",
        "ddp_bucket_cap_mb",
        "ddp_broadcast_buffers",
        "ddp_timeout",
        "ddp_static_graph",
        "sharded_ddp",
        "xpu_backend",
        "deepspeed",
        "fsdp",
        "fsdp_config",
        "fsdp_min_num_params",
        "fsdp_transformer_layer_cls_to_wrap",
        "parallelism_config",
        "accelerator_config",
        "tpu_num_cores",
        "tpu_metrics_debug",
        "mp_parameters",
        "ray_scope",
        "past_index",
        "dispatch_batches",
        "split_batches",
        "full_determinism",
        "ignore_data_skip",
        "skip_memory_metrics",
        "debug",
        "torchdynamo"},
       "hone uses one machine with all --threads, and results do not depend on them; remove the "
       "option"},
  };
  return table;
}

// Whether all options named in the answer are in `options`.
bool has_options(std::string_view answer, const std::vector<std::string>& options) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  for (std::size_t at = answer.find("--"); at != std::string_view::npos;
       at = answer.find("--", at + 2)) {
    const std::size_t end = std::min(answer.find_first_not_of(kLetters, at + 2), answer.size());
    if (std::ranges::find(options, answer.substr(at, end - at)) == options.end()) return false;
  }
  return true;
}

}  // namespace

std::string trainer_flag_advice(std::string_view flag, std::string_view shown,
                                const std::vector<std::string>& options) {
  if (!flag.starts_with("--")) return "";
  flag.remove_prefix(2);
  const std::string_view name = flag.substr(0, flag.find('='));
  for (const FlagRow& row : flag_rows())
    if (std::ranges::find(row.flags, name) != row.flags.end())
      return has_options(row.answer, options)
                 ? fmt::format("hone has no option {}: {}", shown, row.answer)
                 : "";
  return "";
}

}  // namespace hone
