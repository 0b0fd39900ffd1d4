#include "hone/jobs/shrink/shrink_advice.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hone/base/file.h"
#include "hone/base/text.h"
#include "hone/jobs/job_result.h"
#include "hone/metrics/planning.h"
#include "hone/study/result.h"

namespace hone {
namespace {

constexpr double kLargestSplit = 0.5;

// What gates on a class need is counted in examples of that class.
bool has_class_gates(const ShrinkFindings& f) {
  return std::ranges::any_of(f.gates, [](const Gate& gate) { return gate.of_class.has_value(); });
}

// Those that show it, if all were different.
std::int64_t different_examples(const ShrinkFindings& f) {
  if (has_class_gates(f)) return 0;
  std::int64_t most = f.itself.passes ? 0 : f.itself.hardest.examples_needed.value_or(0);
  if (f.chosen) most = std::max(most, f.points[*f.chosen].measured->examples_needed.value_or(0));
  return most;
}

// In rows of the validation split, as many of them repeated as now.
ExamplesNeeded needed_for(const ShrinkFindings& f, std::int64_t different) {
  const PartFacts& facts = f.chosen_on().facts;
  const double rows = static_cast<double>(different) * static_cast<double>(facts.rows) /
                      static_cast<double>(std::max<std::int64_t>(1, facts.effective_rows()));
  return {.validation = rounded_up(static_cast<std::int64_t>(std::ceil(rows))),
          .at_hand = f.data.train.size() + f.data.validation.size(),
          .set_aside = f.data.validation_source.origin == ValidationOrigin::set_aside,
          .in_validation = f.data.validation.size()};
}

std::string allowed_drop_text(double points) {
  return fmt::format("{:g} point{}", points, points == 1 ? "" : "s");
}

// The words of a shell line as they are written, quotes included.
std::vector<std::string> shell_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') quoted = !quoted;
    if (c != ' ' || quoted) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// The line that trained the model, if its folder knows it; empty: it does not.
std::string training_command(const std::string& model) {
  const fs::path settings = fs::path(model) / "settings.json";
  if (!path_exists(settings)) return "";
  const Json known = read_json(settings);
  const Json& line = value_at(known, "command_line");
  return line.is_string() && line.get<std::string>().starts_with("hone train ")
             ? line.get<std::string>()
             : "";
}

std::optional<NextCommand> again_with(const ShrinkFindings& f, const std::string& purpose,
                                      std::map<std::string, std::string> instead) {
  if (!f.job.invocation.command_with) return std::nullopt;
  instead.insert({{"resume", ""}, {"overwrite_output_dir", ""}});
  return NextCommand{purpose, f.job.invocation.command_with(instead)};
}

}  // namespace

std::optional<double> ExamplesNeeded::split() const {
  const double share =
      std::ceil(100 * static_cast<double>(validation) / static_cast<double>(at_hand)) / 100;
  return set_aside && share <= kLargestSplit ? std::optional(share) : std::nullopt;
}

std::optional<ExamplesNeeded> examples_needed(const ShrinkFindings& f) {
  const std::int64_t different = f.proven ? 0 : different_examples(f);
  return different == 0 ? std::nullopt : std::optional(needed_for(f, different));
}

std::string more_examples_sentence(const ShrinkFindings& f, std::int64_t different) {
  if (has_class_gates(f)) return "More validation examples may show it.";
  const ExamplesNeeded needed = needed_for(f, different);
  if (const std::optional<double> split = needed.split())
    return fmt::format("Train the baseline again with --validation_split {:g} to find out.",
                       *split);
  if (needed.set_aside || needed.validation > needed.at_hand)
    return fmt::format(
        "The data has {} examples for training and validation together, too few "
        "to find out.",
        grouped(needed.at_hand));
  return fmt::format(
      "The data has a {} split of its own, with {} examples, which --validation_split does not "
      "change. Add examples to it that the baseline was not trained on.",
      f.chosen_on().facts.part, grouped(needed.in_validation));
}

std::string needed_sentence(const ShrinkFindings& f) {
  const std::optional<ExamplesNeeded> needed = examples_needed(f);
  if (!needed)
    return f.proven || f.itself.passes
               ? ""
               : fmt::format("Needed: {}.", needed_text(f.itself, "--max_evaluations"));
  std::string text =
      fmt::format("Needed: about {} validation examples", grouped(needed->validation));
  if (const std::optional<double> split = needed->split())
    text += fmt::format(", which --validation_split {:g} sets aside from the {} at hand", *split,
                        grouped(needed->at_hand));
  else if (needed->set_aside)
    text += fmt::format(
        ", and {} examples are at hand for training and validation together; about {} would "
        "provide them with the default --validation_split of {:g}",
        grouped(needed->at_hand),
        grouped(rounded_up(
            std::llround(static_cast<double>(needed->validation) / JobData().validation_split))),
        JobData().validation_split);
  else
    text += fmt::format("; the {} split has {}", f.chosen_on().facts.part,
                        grouped(needed->in_validation));
  std::vector<std::string> ways;
  if (!f.itself.passes && f.itself.points_that_show)
    ways.push_back("a limit of " + allowed_drop_text(*f.itself.points_that_show));
  if (!f.itself.passes && f.itself.evaluations_that_show > 0)
    ways.push_back(
        fmt::format("the given limit with --max_evaluations {}", f.itself.evaluations_that_show));
  if (!ways.empty())
    text += fmt::format(". The examples at hand are enough to show {}", fmt::join(ways, ", or "));
  return text + ".";
}

std::string with_validation_split(const std::string& command, double split,
                                  const std::string& output) {
  constexpr std::array kValued = {"-o", "--output_dir", "--validation_split"};
  constexpr std::array kFlags = {"--overwrite_output_dir", "--overwrite", "--resume", "--json"};
  const auto is_one = [](const auto& names, const std::string& word) {
    std::string name = word.substr(0, word.find('='));
    std::ranges::replace(name, '-', '_');
    return std::ranges::any_of(names, [&](std::string known) {
      std::ranges::replace(known, '-', '_');
      return known == name;
    });
  };
  std::vector<std::string> kept;
  bool is_value = false;
  for (std::string& word : shell_words(command)) {
    if (std::exchange(is_value, false)) continue;
    if (is_one(kValued, word))
      is_value = word.find('=') == std::string::npos;
    else if (!is_one(kFlags, word))
      kept.push_back(std::move(word));
  }
  return fmt::format("{} --validation_split {:g} -o {}", fmt::join(kept, " "), split,
                     shell_word(output));
}

std::vector<NextCommand> commands_that_help(const ShrinkFindings& f) {
  std::vector<NextCommand> next;
  if (f.proven) return next;
  const auto add = [&](std::optional<NextCommand> command) {
    if (command) next.push_back(std::move(*command));
  };
  const std::string& output = f.job.output.folder;
  const std::optional<ExamplesNeeded> needed = examples_needed(f);
  const std::optional<double> split = needed ? needed->split() : std::nullopt;
  if (const std::string trained = training_command(f.job.model); split && !trained.empty()) {
    const std::string model =
        free_name(f.job.model, fmt::format("-split{:.0f}", std::round(100 * *split)));
    next.push_back({fmt::format("Train the baseline again with about {} validation examples",
                                grouped(needed->validation)),
                    with_validation_split(trained, *split, model)});
    add(again_with(f, "Then shrink that model",
                   {{"MODEL", model}, {"output_dir", free_name(model, "-small")}}));
  }
  const bool has_gates = !f.job.gates.gates.empty();
  if (!f.itself.passes && f.itself.points_that_show && !has_gates)
    add(again_with(
        f, "Or allow a drop of " + allowed_drop_text(*f.itself.points_that_show),
        {{"max_drop", fmt::format("{:g}", *f.itself.points_that_show)},
         {"output_dir", free_name(output, fmt::format("-drop{:g}", *f.itself.points_that_show))}}));
  if (!f.is_nothing() || !f.itself.passes) return next;
  if (f.enough_seconds)
    add(again_with(f, "Allow more time",
                   {{"budget", fmt::format("{:.0f}m", std::ceil(*f.enough_seconds / 60))},
                    {"output_dir", free_name(output, "-longer")}}));
  else if (!has_gates)
    add(again_with(
        f, "Allow a drop of " + allowed_drop_text(200 * f.margin()),
        {{"max_drop", fmt::format("{:g}", 200 * f.margin())},
         {"output_dir", free_name(output, fmt::format("-drop{:g}", 200 * f.margin()))}}));
  return next;
}

}  // namespace hone
