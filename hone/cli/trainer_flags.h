#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone {

/// What to do instead of a flag that Hugging Face's TrainingArguments and example scripts (run_glue,
/// run_classification) have and hone has not: "evaluations come after every epoch; --eval_steps N …". "" for any other
/// word, and where the answer names an option that is not among the `options` of the command. `flag` begins as it was
/// written, "--fp16" or "--fp16=true"; `shown` is how the message calls it.
std::string trainer_flag_answer(std::string_view flag, std::string_view shown,
                                const std::vector<std::string>& options);

}  // namespace hone
