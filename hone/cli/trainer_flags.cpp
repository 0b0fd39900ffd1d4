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
      // What to do.
      {{"do_train"}, "`hone train` trains; leave it out"},
      {{"do_eval"},
       "training measures the validation and test splits by itself, `hone eval` any model; leave "
       "it "
       "out"},
      {{"do_predict"}, "`hone predict MODEL --data FILE` prints the predictions of a model"},
      {{"model_name_or_path", "model_name", "model"},
       "the model is the first argument, without a flag"},
      {{"resume_from_checkpoint"}, "--resume goes on with the same output folder"},
      {{"logging_dir"}, "--report_to tensorboard writes to runs/ of the output folder"},
      {{"run_name", "project", "trackio_space_id", "trackio_bucket_id", "trackio_static_space_id"},
       "the name of a run is that of its output folder"},
      // Data.
      {{"task_name", "dataset_name", "dataset_config_name", "train_file", "validation_file",
        "test_file", "data_dir"},
       "--data takes a file, or a folder with train.*, validation.* and test.* in it; nothing is "
       "downloaded"},
      {{"text_column_names", "text_column_name", "sentence1_key", "sentence2_key"},
       "--text_column names the column, --text_pair_column that of the second text"},
      {{"label_column_name"}, "--label_column names the column"},
      {{"label_names"}, "the labels' names come from the data, and a trained model keeps its own"},
      {{"text_column_delimiter"},
       "--text_pair_column makes pairs; joining columns is not there yet"},
      {{"train_split_name", "validation_split_name", "test_split_name"},
       "parts are found by their usual names: train, validation (or dev, valid, val), test"},
      {{"validation_split_percentage"}, "--validation_split takes a share, 0.1 by default"},
      {{"remove_splits", "remove_columns", "remove_unused_columns"},
       "only the columns of text and label are read; leave it out"},
      {{"shuffle_train_dataset"},
       "the texts are shuffled every epoch; --no_shuffle takes them in order"},
      {{"shuffle_seed", "data_seed"}, "--seed decides on the order of the texts too"},
      {{"max_length", "max_len"}, "--max_seq_length is the most tokens of a text"},
      {{"truncation_side"},
       "--truncation says which tokens of a long text are kept: head (right), tail (left) or "
       "head_tail"},
      {{"max_predict_samples"}, "not there yet: cut the file that is read"},
      {{"pad_to_max_length"},
       "batches are padded to their longest text, which changes no result; leave it out"},
      {{"overwrite_cache", "preprocessing_num_workers", "dataloader_num_workers",
        "dataloader_pin_memory", "dataloader_persistent_workers", "dataloader_prefetch_factor",
        "dataloader_multiprocessing_context", "dataloader_in_order"},
       "texts are read and tokenized by all --threads, and nothing is kept in a cache; leave it "
       "out"},
      {{"dataloader_drop_last"},
       "not there yet: the last batch of an epoch is used, however small"},
      {{"metric_name"}, "all metrics are computed; --metric_for_best_model chooses by one"},
      {{"predict_with_generate", "generation_max_length", "generation_num_beams",
        "sortish_sampler"},
       "models that write text are not there: hone classifies it"},
      {{"do_regression"}, "--problem_type regression, where labels are whole numbers"},
      // Model and tokenizer.
      {{"config_name", "tokenizer_name"}, "config and tokenizer are those of the model's folder"},
      {{"cache_dir"}, "HF_HUB_CACHE says where models of the hub lie"},
      {{"model_revision", "revision"}, "name it with the model: OWNER/NAME@REVISION"},
      {{"use_fast_tokenizer", "trust_remote_code", "low_cpu_mem_usage", "use_safetensors",
        "save_safetensors"},
       "nothing to choose here: one tokenizer, no remote code, no network, weights as safetensors; "
       "leave it out"},
      {{"use_auth_token", "token", "hub_token"},
       "hone downloads nothing, private models neither: fetch one with Hugging Face's own tools "
       "(hf "
       "auth login, hf download OWNER/NAME), and hone finds it in their cache; or give its folder"},
      {{"torch_dtype", "fp16", "bf16", "fp16_full_eval", "bf16_full_eval", "half_precision_backend",
        "fp16_opt_level", "fp16_backend", "tf32"},
       "--precision bf16 computes so, on a GPU (--device cuda) tf32 as well; weights "
       "stay in "
       "fp32; training in fp16 is not there; `hone quantize` "
       "makes models in bf16, fp16 and others"},
      {{"gradient_checkpointing", "gradient_checkpointing_kwargs", "activation_checkpointing",
        "activation_checkpointing_kwargs"},
       "not there yet; a smaller --batch_size needs less memory, and with "
       "--gradient_accumulation_steps "
       "steps stay as large"},
      {{"attn_implementation", "use_liger_kernel", "liger_kernel_config", "use_cache",
        "torch_compile", "torch_compile_backend", "torch_compile_mode", "jit_mode_eval"},
       "there is one implementation of the graph, the fastest for this processor; leave it out"},
      // Optimizer and schedule.
      {{"optim", "adafactor"}, "AdamW is the only optimizer yet; leave it out"},
      {{"optim_args", "optim_target_modules"},
       "AdamW is the only optimizer yet: --adam_beta1, --adam_beta2, --adam_epsilon, "
       "--weight_decay"},
      {{"lr_scheduler_kwargs"},
       "schedules have no settings but --warmup_steps and --warmup_ratio; leave it out"},
      {{"accumulate_grad_batches"},
       "--gradient_accumulation_steps is the number of batches per step"},
      {{"eval_accumulation_steps"},
       "logits of an evaluation take a few bytes per text, wherever they are; leave it out"},
      {{"train_batch_size", "per_gpu_train_batch_size"},
       "--batch_size is the number of texts per batch, of which --gradient_accumulation_steps make "
       "a "
       "step"},
      {{"eval_batch_size", "per_gpu_eval_batch_size"},
       "--per_device_eval_batch_size is the number of texts per batch of an evaluation"},
      {{"auto_find_batch_size"},
       "not there yet; a batch that does not fit the memory is refused with what it would take"},
      {{"layer_decay", "llrd"}, "--layerwise_lr_decay is the factor from layer to layer"},
      {{"temperature", "teacher_model", "teacher_model_name_or_path"},
       "--distill takes the folder of the teacher, --distill_temperature and --distill_alpha say "
       "how"},
      {{"neftune_noise_alpha"}, "not there yet"},
      // When to log, evaluate, save.
      {{"evaluation_strategy", "eval_strategy"},
       "evaluations come after every epoch; --eval_steps N asks for them by steps, "
       "--validation_split 0 for none"},
      {{"logging_strategy", "logging_first_step"},
       "--logging_steps N is the way; learning_curve.csv has every step"},
      {{"logging_nan_inf_filter"}, "a loss that is no number ends the training; leave it out"},
      {{"save_strategy", "save_on_each_node", "save_only_model",
        "restore_callback_states_from_checkpoint", "enable_jit_checkpoint"},
       "checkpoints come after every epoch and evaluation; --save_steps adds some, "
       "--save_total_limit says how many stay"},
      {{"greater_is_better"},
       "it follows from --metric_for_best_model: of loss, mse, rmse and mae less is better"},
      {{"early_stopping_threshold"},
       "any gain counts; --early_stopping_patience says how many tries"},
      {{"eval_delay", "eval_on_start", "batch_eval_metrics", "include_for_metrics",
        "include_inputs_for_metrics", "eval_do_concat_batches", "eval_use_gather_object",
        "prediction_loss_only", "use_legacy_prediction_loop", "include_tokens_per_second",
        "include_num_input_tokens_seen", "torch_empty_cache_steps",
        "average_tokens_across_devices"},
       "not there yet"},
      {{"train_sampling_strategy"},
       "texts are shuffled every epoch; --group_by_length puts texts of like length together, "
       "--no_shuffle takes them in order"},
      {{"length_column_name"}, "--group_by_length measures the texts itself"},
      // Reports.
      {{"disable_tqdm"}, "--quiet shows no progress"},
      {{"log_level", "log_level_replica", "log_on_each_node", "verbose"},
       "--quiet shows no progress; warnings are always shown"},
      {{"push_to_hub", "push_to_hub_model_id", "push_to_hub_organization", "push_to_hub_token",
        "hub_model_id", "hub_strategy", "hub_private_repo", "hub_always_push", "hub_revision"},
       "not there yet: hone uses no network; `huggingface-cli upload` takes the output folder as "
       "it "
       "is"},
      // Machines.
      {{"no_cuda", "use_cpu"},
       "hone computes on the processor unless --device cuda is given; leave it out"},
      {{"use_mps_device", "use_ipex"},
       "hone computes on the processor or, by --device cuda, on NVIDIA's GPUs; leave it "
       "out"},
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
       "hone computes on one machine with all --threads, and results do not depend on them; leave "
       "it out"},
  };
  return table;
}

// Whether all options that the answer names are among these.
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

std::string trainer_flag_answer(std::string_view flag, std::string_view shown,
                                const std::vector<std::string>& options) {
  if (!flag.starts_with("--")) return "";
  flag.remove_prefix(2);
  const std::string_view name = flag.substr(0, flag.find('='));
  for (const FlagRow& row : flag_rows())
    if (std::ranges::find(row.flags, name) != row.flags.end())
      return has_options(row.answer, options)
                 ? fmt::format("{} is no flag of hone: {}", shown, row.answer)
                 : "";
  return "";
}

}  // namespace hone
