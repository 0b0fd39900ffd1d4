#include <gtest/gtest.h>

#include <regex>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of the flags of Hugging Face's TrainingArguments and example scripts.
namespace hone::testing {
namespace {

std::string help_of_train() {
  static const std::string help =
      run_well({"train", "--help-all"}, fs::temp_directory_path()).output;
  return help;
}

bool is_flag_of_train(const std::string& flag) {
  return std::regex_search(help_of_train(), std::regex("(^|[ ,])" + flag + "[ ,\n]"));
}

// Returns the program's messages for a flag with a value.
std::string answer_to(const std::string& flag) {
  const TemporaryFolder folder;
  const Ending ending =
      run_hone({"train", "tiny", "--data", "synth:lookup?n=300&test=60", "-o", "out", flag, "1"},
               folder.path());
  EXPECT_EQ(ending.code, kUsageError) << flag << ": " << ending.messages;
  EXPECT_TRUE(entries(folder.path()).empty()) << flag;
  return ending.messages;
}

// Each flag is supported, or its error says what to do instead; none is treated as a misspelling.
TEST(TrainerFlags, AreThereOrAnswered) {
  for (const std::string flag : {"--model_name_or_path",
                                 "--activation_checkpointing",
                                 "--liger_kernel_config",
                                 "--use_cache",
                                 "--trackio_bucket_id",
                                 "--enable_jit_checkpoint",
                                 "--dataloader_in_order",
                                 "--train_sampling_strategy",
                                 "--ddp_static_graph",
                                 "--sharded_ddp",
                                 "--use_legacy_prediction_loop",
                                 "--predict_with_generate",
                                 "--task_name",
                                 "--train_file",
                                 "--validation_file",
                                 "--do_train",
                                 "--do_eval",
                                 "--fp16",
                                 "--bf16",
                                 "--save_strategy",
                                 "--evaluation_strategy",
                                 "--eval_strategy",
                                 "--logging_strategy",
                                 "--push_to_hub",
                                 "--dataloader_num_workers",
                                 "--optim",
                                 "--save_safetensors",
                                 "--fp16=true",
                                 "--lr_scheduler_kwargs",
                                 "--eval-strategy"}) {
    const std::string answer = answer_to(flag);
    EXPECT_NE(answer.find("hone has no option "), std::string::npos) << answer;
    EXPECT_EQ(answer.find("did you mean"), std::string::npos) << answer;
  }
  for (const char* flag : {"--output_dir",
                           "--overwrite_output_dir",
                           "--num_train_epochs",
                           "--max_steps",
                           "--per_device_train_batch_size",
                           "--per_device_eval_batch_size",
                           "--learning_rate",
                           "--weight_decay",
                           "--adam_beta1",
                           "--adam_beta2",
                           "--adam_epsilon",
                           "--max_grad_norm",
                           "--warmup_steps",
                           "--warmup_ratio",
                           "--lr_scheduler_type",
                           "--gradient_accumulation_steps",
                           "--label_smoothing_factor",
                           "--logging_steps",
                           "--eval_steps",
                           "--save_steps",
                           "--save_total_limit",
                           "--seed",
                           "--load_best_model_at_end",
                           "--metric_for_best_model",
                           "--group_by_length",
                           "--report_to",
                           "--ignore_mismatched_sizes",
                           "--max_seq_length"})
    EXPECT_TRUE(is_flag_of_train(flag)) << flag;
}

// The Trainer's parser accepts values of boolean flags.
TEST(TrainerFlags, ThatAreTrueSayHow) {
  const TemporaryFolder folder;
  const Ending ending = run_hone({"train", "tiny", "--data", "synth:lookup?n=300&test=60", "-o",
                                  "out", "--group_by_length", "True"},
                                 folder.path());
  EXPECT_EQ(ending.code, kUsageError);
  EXPECT_NE(ending.messages.find("a flag without a value is true; --flag=false turns it off"),
            std::string::npos)
      << ending.messages;
}

// A token is for private models, so "nothing to choose here" would not help.
TEST(TrainerFlags, SayHowPrivateModelsAreHad) {
  for (const char* flag : {"--hub_token", "--token", "--use_auth_token"})
    EXPECT_NE(answer_to(flag).find("hone downloads nothing"), std::string::npos) << answer_to(flag);
}

// The Trainer uses a GPU if there is one, so its users ask for the CPU or for another precision.
TEST(TrainerFlags, SayHowAGpuIsTaken) {
  for (const char* flag : {"--no_cuda", "--use_cpu", "--use_mps_device"})
    EXPECT_NE(answer_to(flag).find("--device cuda"), std::string::npos) << answer_to(flag);
  for (const char* flag : {"--bf16", "--fp16", "--tf32", "--torch_dtype", "--bf16_full_eval"})
    EXPECT_NE(answer_to(flag).find("use --precision bf16, or tf32 on a GPU"), std::string::npos)
        << answer_to(flag);
}

TEST(TrainerFlags, AreAnsweredWithFlagsThatExist) {
  for (const char* flag :
       {"--evaluation_strategy", "--optim_args", "--save_strategy", "--train_file", "--logging_dir",
        "--resume_from_checkpoint", "--shuffle_train_dataset", "--lr_scheduler_kwargs",
        "--label_smoothing", "--layer_decay", "--train_batch_size", "--disable_tqdm", "--bf16",
        "--no_cuda"}) {
    const std::string answer = answer_to(flag);
    const std::regex named("--[a-z_0-9]+");
    std::vector<std::string> found(std::sregex_token_iterator(answer.begin(), answer.end(), named),
                                   {});
    ASSERT_GE(found.size(), 2u) << answer;
    for (const std::string& other : found) {
      if (other == flag || other == "--help") continue;
      EXPECT_TRUE(is_flag_of_train(other)) << answer;
    }
  }
}

}  // namespace
}  // namespace hone::testing
