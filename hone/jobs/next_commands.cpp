#include "hone/jobs/next_commands.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone {
namespace {

constexpr std::string_view kRunModels[] = {
    "allocate", "bench", "choose",   "compare", "eval",   "lora merge", "predict",
    "profile",  "prune", "quantize", "search",  "shrink", "train",      "trim"};

bool runs_models(std::string_view command) {
  return std::ranges::any_of(kRunModels, [&](std::string_view name) {
    return command.starts_with(fmt::format("hone {} ", name));
  });
}

}  // namespace

std::vector<NextCommand> on_device(std::vector<NextCommand> commands, std::string_view device,
                                   std::string_view precision) {
  for (auto& [purpose, command] : commands) {
    if (device == "cpu" || !runs_models(command) || command.find(" --device ") != command.npos)
      continue;
    command += fmt::format(" --device {}", device);
    if (precision != "fp32") command += fmt::format(" --precision {}", precision);
  }
  return commands;
}

}  // namespace hone
