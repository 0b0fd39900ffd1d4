#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// Returns what to do instead of a flag of Hugging Face's TrainingArguments or example scripts (run_glue,
/// run_classification) that hone does not have: "hone has no option --eval_strategy: hone evaluates after every epoch;
/// …". Returns "" for any other word, and if the answer names an option missing from the command's `options`. `flag` is
/// the word as written, "--fp16" or "--fp16=true"; `shown` is its name in the message.
std::string trainer_flag_advice(std::string_view flag, std::string_view shown,
                                const std::vector<std::string>& options);

}  // namespace hone
