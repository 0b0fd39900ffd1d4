#pragma once

#include <string>
#include <string_view>

namespace hone {

/// What to do instead of a flag that Hugging Face's TrainingArguments and example scripts (run_glue,
/// run_classification) have and hone has not: "evaluations come after every epoch; --eval_steps N …". "" for any other
/// word. `flag` is as it was written, "--fp16" or "--fp16=true".
std::string trainer_flag_answer(std::string_view flag);

}  // namespace hone
