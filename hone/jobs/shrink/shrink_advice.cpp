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

// Whether more examples cannot help: the best candidate is too close to the limit, or misses a gate by too much.
bool is_too_close(const ShrinkFindings& f) {
  return f.chosen && !f.proven && !f.points[*f.chosen].could_pass();
}

// Returns the number of different examples needed; 0 if no number suffices.
std::int64_t different_examples(const ShrinkFindings& f) {
  if (is_too_close(f)) return 0;
  std::int64_t most = f.self_comparison.passes ? 0 : f.self_comparison.examples_needed.value_or(0);
  if (f.chosen) most = std::max(most, f.points[*f.chosen].measured->examples_needed.value_or(0));
  return most;
}

// A gate to widen, and its new limit.
struct WiderLimit {
  const Gate& gate;
  double points = 0;
};

// If the baseline compared with itself misses a gate, returns the limit that the examples at hand can show. Otherwise
// returns twice the limit of the gate that the most promising candidate misses. None if the gate allows no drop, or if
// the baseline misses several.
std::optional<WiderLimit> wider_limit(const ShrinkFindings& f) {
  if (!f.self_comparison.passes && !f.self_comparison.min_limit_points) return std::nullopt;
  const Gate& gate =
      !f.self_comparison.passes
          ? *std::ranges::find(f.gates, f.self_comparison.hardest.metric, &Gate::metric)
      : f.chosen
          ? *std::ranges::find(f.gates, f.points[*f.chosen].measured->missed.at(0), &Gate::text)
          : f.gates.front();
  if (gate.margin <= 0) return std::nullopt;
  return WiderLimit{
      gate, f.self_comparison.min_limit_points.value_or(std::min(100.0, 200 * gate.margin))};
}

// Converts to rows of the validation split, with the current share of repeats.
ExamplesNeeded needed_for(const ShrinkFindings& f, std::int64_t different) {
  const SplitFacts& facts = f.chosen_on().facts;
  const double rows = static_cast<double>(different) * static_cast<double>(facts.rows) /
                      static_cast<double>(std::max<std::int64_t>(1, facts.effective_rows()));
  return {.validation = rounded_up(static_cast<std::int64_t>(std::ceil(rows))),
          .available = f.data.train.size() + f.data.validation.size(),
          .set_aside = f.data.validation_source.origin == ValidationOrigin::set_aside,
          .in_validation = f.data.validation.size()};
}

std::string allowed_drop_text(double points) {
  return fmt::format("{:g} point{}", points, points == 1 ? "" : "s");
}

// Splits a shell line into words, quotes included.
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

// Returns the command that trained the model, from its folder; empty if it is not known.
std::string training_command(const std::string& model) {
  const fs::path settings = fs::path(model) / "settings.json";
  if (!path_exists(settings)) return "";
  const Json known = read_json(settings);
  const Json& line = value_at(known, "command_line");
  return line.is_string() && line.get<std::string>().starts_with("hone train ")
             ? line.get<std::string>()
             : "";
}

// "1 point"; with several gates "5 points for recall of science"
std::string limit_text(const ShrinkFindings& f, const WiderLimit& wider) {
  return allowed_drop_text(wider.points) +
         (f.gates.size() == 1 ? "" : " for " + wider.gate.metric.text);
}

std::optional<NextCommand> repeat_with(const ShrinkFindings& f, const std::string& purpose,
                                       std::map<std::string, std::string> instead) {
  if (!f.job.invocation.command_with) return std::nullopt;
  instead.insert({{"resume", ""}, {"overwrite_output_dir", ""}});
  return NextCommand{purpose, f.job.invocation.command_with(instead)};
}

}  // namespace

std::optional<double> ExamplesNeeded::split() const {
  const double share =
      std::ceil(100 * static_cast<double>(validation) / static_cast<double>(available)) / 100;
  return set_aside && share <= kLargestSplit ? std::optional(share) : std::nullopt;
}

std::optional<ExamplesNeeded> examples_needed(const ShrinkFindings& f) {
  const std::int64_t different = f.proven ? 0 : different_examples(f);
  return different == 0 ? std::nullopt : std::optional(needed_for(f, different));
}

std::string more_examples_sentence(const ShrinkFindings& f, std::int64_t different) {
  const ExamplesNeeded needed = needed_for(f, different);
  if (const std::optional<double> split = needed.split())
    return fmt::format("Train the baseline again with --validation_split {:g} to find out.",
                       *split);
  if (needed.set_aside || needed.validation > needed.available)
    return fmt::format(
        "The data has {} examples for training and validation together, too few "
        "to find out.",
        grouped(needed.available));
  return fmt::format(
      "The data has a {} split of its own, with {} examples, which --validation_split does not "
      "change. Add examples to it that the baseline was not trained on.",
      f.chosen_on().facts.split, grouped(needed.in_validation));
}

std::string needed_sentence(const ShrinkFindings& f) {
  if (f.proven) return "";
  const std::optional<ExamplesNeeded> needed = examples_needed(f);
  const std::optional<WiderLimit> wider = wider_limit(f);
  if (!needed) {
    if (!is_too_close(f) && f.self_comparison.passes) return "";
    return fmt::format(
        "{} for more examples to settle it; a {} may.",
        is_too_close(f)
            ? fmt::format("The change of candidate {} is too close to the limit{}",
                          f.points[*f.chosen].number, f.gates.size() == 1 ? "" : ", or beyond it,")
            : std::string("The limit is too narrow"),
        wider ? "limit of " + limit_text(f, *wider) : "larger limit");
  }
  std::string text = fmt::format("Needed: {}about {} validation examples",
                                 f.points.empty() ? "at least " : "", grouped(needed->validation));
  if (const std::optional<double> split = needed->split())
    text += fmt::format(", which --validation_split {:g} sets aside from the {} at hand", *split,
                        grouped(needed->available));
  else if (needed->set_aside)
    text += fmt::format(
        ", and {} examples are at hand for training and validation together; about {} would "
        "provide them with the default --validation_split of {:g}",
        grouped(needed->available),
        grouped(rounded_up(
            std::llround(static_cast<double>(needed->validation) / JobData().validation_split))),
        JobData().validation_split);
  else
    text += fmt::format("; the {} split has {}", f.chosen_on().facts.split,
                        grouped(needed->in_validation));
  std::vector<std::string> ways;
  if (wider && (!f.self_comparison.passes || !needed->split()))
    ways.push_back("a limit of " + limit_text(f, *wider));
  if (!f.self_comparison.passes && f.self_comparison.max_evaluations > 0)
    ways.push_back(fmt::format("the given limit with --max_evaluations {}",
                               f.self_comparison.max_evaluations));
  if (!ways.empty())
    text += fmt::format(". The examples at hand may show {}", fmt::join(ways, ", or "));
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

std::vector<NextCommand> suggested_commands(const ShrinkFindings& f) {
  std::vector<NextCommand> next;
  if (f.proven && !f.not_shown) return next;
  const auto add = [&](std::optional<NextCommand> command) {
    if (command) next.push_back(std::move(*command));
  };
  const std::string& output = f.job.output.folder;
  const std::optional<ExamplesNeeded> needed =
      f.not_shown ? needed_for(f, *f.points[*f.not_shown].measured->examples_needed)
                  : examples_needed(f);
  const std::optional<double> split = needed ? needed->split() : std::nullopt;
  if (const std::string trained = training_command(f.job.model); split && !trained.empty()) {
    const std::string model =
        unused_name(f.job.model, fmt::format("-split{:.0f}", std::round(100 * *split)));
    next.push_back({fmt::format("Train the baseline again with about {} validation examples",
                                grouped(needed->validation)),
                    with_validation_split(trained, *split, model)});
    add(repeat_with(f, "Then shrink that model",
                    {{"MODEL", model}, {"output_dir", unused_name(model, "-small")}}));
  }
  if (f.proven) return next;
  if (f.is_unchanged() && f.self_comparison.passes && f.enough_seconds) {
    add(repeat_with(f, "Allow more time",
                    {{"budget", fmt::format("{:.0f}m", std::ceil(*f.enough_seconds / 60))},
                     {"output_dir", unused_name(output, "-longer")}}));
    return next;
  }
  // Only --max_drop, or a single --gate, can be changed in the command.
  const std::optional<WiderLimit> wider = wider_limit(f);
  const std::vector<std::string>& typed = f.job.gates.gates;
  if (!wider || (f.self_comparison.passes && !next.empty())) return next;
  const bool is_typed = std::ranges::find(typed, wider->gate.text) != typed.end();
  if (is_typed && typed.size() > 1) return next;
  const std::string points = fmt::format("{:g}", wider->points),
                    name = wider->gate.text.substr(0, wider->gate.text.find(">="));
  add(repeat_with(
      f, fmt::format("{} a drop of {}", next.empty() ? "Allow" : "Or allow", limit_text(f, *wider)),
      {is_typed ? std::pair<const std::string, std::string>("gate", name + ">=-" + points)
                : std::pair<const std::string, std::string>("max_drop", points),
       {"output_dir", unused_name(output, "-drop" + points)}}));
  return next;
}

}  // namespace hone
