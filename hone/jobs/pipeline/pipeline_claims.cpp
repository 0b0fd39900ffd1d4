#include "hone/jobs/pipeline/pipeline_claims.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hone/base/text.h"
#include "hone/jobs/pipeline/pipeline_formulas.h"
#include "hone/jobs/pipeline/pipeline_statements.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/study/result.h"

namespace hone {
namespace {

// "test, n = 500"; "examples that it does not name" if the results have no split.
std::string measured_on(const Json& result) {
  const Json &part = value_at(result, "split"), &n = value_at(result, "n");
  if (!part.is_string() || !n.is_number_integer()) return "unspecified examples";
  const std::vector<std::string> cautions = cautions_of(result);
  return fmt::format("{}, n = {}{}", part.get<std::string>(), grouped(n.get<std::int64_t>()),
                     cautions.empty() ? "" : fmt::format(", {}", fmt::join(cautions, ", ")));
}

/// The change that one comparison shows for the second model.
struct ComparedChange {
  std::string stage, where;
  double change = kNoValue, p = kNoValue;
  std::optional<Interval> interval = {};

  ClaimConclusion conclusion() const {
    if (!interval) return ClaimConclusion::inconclusive;
    if (interval->low > 0) return ClaimConclusion::reproduced;
    return interval->high < 0 ? ClaimConclusion::contradicted : ClaimConclusion::inconclusive;
  }
  std::string text() const {
    if (!interval) return "not measured";
    return fmt::format("{} points (95% CI {} to {}) on {}", points_text(change),
                       points_text(interval->low), points_text(interval->high), where);
  }
};

ComparedChange compared(const PipelineStage& stage, const Json& result) {
  const Json& change =
      value_at(result, value_at(result, "comparison").is_object() ? "comparison" : "change");
  ComparedChange one{.stage = stage.name, .where = measured_on(result)};
  one.change = number_or_nan(value_at(change, "change"));
  one.p = number_or_nan(value_at(change, "mcnemar_p"));
  const Json& interval = value_at(change, "change_interval");
  if (interval.is_array() && interval[0].is_number() && !std::isnan(one.change))
    one.interval = {interval[0].get<double>(), number_or_nan(interval[1])};
  return one;
}

// Returns the last part of a stage's name, which distinguishes it within its group: "0.8".
std::string member_of(const std::string& stage) { return stage.substr(stage.rfind('/') + 1); }

// Combines the conclusions of all comparisons, and sets the sentence.
void conclude(const std::vector<ComparedChange>& all, ClaimResult& judged) {
  std::vector<double> p;
  for (const ComparedChange& one : all) p.push_back(one.p);
  const std::optional<std::vector<bool>> corrected = significant_after_holm(p);
  std::vector<std::string> held, opposite;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (corrected && !(*corrected)[i]) continue;
    if (all[i].conclusion() == ClaimConclusion::reproduced) held.push_back(member_of(all[i].stage));
    if (all[i].conclusion() == ClaimConclusion::contradicted)
      opposite.push_back(member_of(all[i].stage));
  }
  const auto are_half = [&](const std::vector<std::string>& some) {
    return !some.empty() && 2 * some.size() >= all.size();
  };
  if (are_half(held) && opposite.empty()) judged.conclusion = ClaimConclusion::reproduced;
  if (held.empty() && are_half(opposite)) judged.conclusion = ClaimConclusion::contradicted;
  if (all.size() == 1) {
    judged.sentence = fmt::format("{}, {}", enum_name(judged.conclusion), all.front().text());
    return;
  }
  judged.sentence = fmt::format("{}: it holds in {} of {} comparisons{}",
                                enum_name(judged.conclusion), held.size(), all.size(),
                                held.empty() ? "" : fmt::format(" ({})", fmt::join(held, ", ")));
  if (!opposite.empty())
    judged.sentence +=
        fmt::format(", the opposite in {} ({})", opposite.size(), fmt::join(opposite, ", "));
  const ComparedChange& largest = *std::ranges::max_element(
      all, {}, [](const ComparedChange& one) { return one.interval ? one.change : -1; });
  judged.sentence += fmt::format("{}; the largest change is {} at {}",
                                 corrected ? ", p-values with Holm's correction" : "",
                                 largest.text(), member_of(largest.stage));
}

void judge_comparisons(const std::vector<ValueSource>& places, const PipelineFindings& found,
                       ClaimResult& judged) {
  std::vector<ComparedChange> all;
  for (const ValueSource& place : places)
    all.push_back(compared(found.pipeline.stages[place.stage], found.outcomes[place.stage].result));
  if (all.size() == 1 && all.front().interval) {
    judged.change = all.front().change;
    judged.change_interval = all.front().interval;
  }
  conclude(all, judged);
}

std::string text_of(const ValueFormula& formula) {
  return formula.path.empty() ? formula.formula.text() : formula.path;
}

// Returns the ends of the interval, or the value twice if it has none.
Interval ends_of(const Estimate& estimate) {
  if (std::isnan(estimate.low)) return {estimate.value, estimate.value};
  return {estimate.low, estimate.high};
}

void judge_value(const PipelineClaim& claim, const ValueSource& place,
                 const PipelineFindings& found, ClaimResult& judged) {
  const auto text_of_value = [&](const ValueFormula& formula) {
    std::optional<std::string> text = value_text(formula, place, StatementText::Form::whole, found);
    if (!text)
      judged.sentence = fmt::format("{}, as the result of the stage {} has no value {}",
                                    enum_name(judged.conclusion),
                                    found.pipeline.stages[place.stage].name, text_of(formula));
    return text;
  };
  std::optional<std::string> text = text_of_value(*claim.y);
  if (!text) return;
  if (!claim.is.empty()) {
    judged.conclusion =
        *text == claim.is ? ClaimConclusion::reproduced : ClaimConclusion::contradicted;
  } else {
    const ValueFormula& limit = claim.above ? *claim.above : *claim.below;
    if (!limit.path.empty() || !limit.formula.names().empty()) {
      const std::optional<std::string> other = text_of_value(limit);
      if (!other) return;
      *text += " against " + *other;
    }
    const Interval value = ends_of(evaluate_formula(*claim.y, place, found)),
                   bound = ends_of(evaluate_formula(limit, place, found));
    if (value.low > bound.high)
      judged.conclusion = claim.above ? ClaimConclusion::reproduced : ClaimConclusion::contradicted;
    else if (value.high < bound.low)
      judged.conclusion = claim.below ? ClaimConclusion::reproduced : ClaimConclusion::contradicted;
  }
  judged.sentence = fmt::format("{}, {}", enum_name(judged.conclusion), *text);
}

}  // namespace

std::span<const EnumName> enum_names(ClaimConclusion) {
  static constexpr EnumName kWords[] = {
      {static_cast<int>(ClaimConclusion::reproduced), "reproduced"},
      {static_cast<int>(ClaimConclusion::contradicted), "contradicted"},
      {static_cast<int>(ClaimConclusion::inconclusive), "inconclusive"}};
  return kWords;
}

ClaimResult judge(const PipelineClaim& claim, const PipelineFindings& found) {
  ClaimResult judged{.claim = claim.name, .says = claim.says};
  if (!claim.source.empty()) judged.source = claim.source;
  judged.sentence = fmt::format("{}, as nothing was measured", enum_name(judged.conclusion));
  std::vector<ValueSource> places;
  for (const StageReference& reference : claim.stages)
    if (std::optional<ValueSource> place = source_of(reference, found))
      places.push_back(std::move(*place));
  if (!places.empty()) {
    const PipelineStage& first = found.pipeline.stages[places.front().stage];
    judged.stage = places.size() == 1 ? first.name : first.group;
    if (claim.y)
      judge_value(claim, places.front(), found, judged);
    else
      judge_comparisons(places, found, judged);
  }
  if (const std::optional<std::string> text = filled(claim.found, found);
      text && !claim.found.pieces.empty())
    judged.sentence = fmt::format("{}: {}", enum_name(judged.conclusion), *text);
  judged.sentence = fmt::format("{}: {}", claim.says, judged.sentence);
  return judged;
}

std::string claims_text(const std::vector<ClaimResult>& claims) {
  const auto count = [&](ClaimConclusion conclusion) {
    return std::ranges::count(claims, conclusion, &ClaimResult::conclusion);
  };
  std::string text = fmt::format("{} of {} claim{} reproduced", count(ClaimConclusion::reproduced),
                                 claims.size(), claims.size() == 1 ? "" : "s");
  for (const ClaimConclusion other : {ClaimConclusion::contradicted, ClaimConclusion::inconclusive})
    if (const auto found = count(other); found > 0)
      text += fmt::format(", {} {}", found, enum_name(other));
  return text;
}

Section claims_section(const std::vector<ClaimResult>& claims) {
  Section section{"Claims", {}};
  if (claims.empty()) return section;
  Table table({{"claim", "Claim"}, {"source", "Source"}, {"conclusion", "Result here"}});
  for (const ClaimResult& claim : claims)
    table.add_row({claim.says, claim.source ? Cell(*claim.source) : Cell(absent),
                   claim.sentence.substr(claim.says.size() + 2)});
  section.blocks = {PageTable{
      std::move(table),
      "The 95% confidence intervals come from one seed and are not corrected for the number of "
      "claims. A claim on several comparisons is reproduced if it holds in at least half "
      "of them, and the opposite in none."}};
  return section;
}

const Fields& fields_of(const ClaimResult*) {
  using C = ClaimResult;
  static const Fields fields = describe<C>(
      "pipeline_claim", "A claim and its conclusion from the stages.",
      field<&C::claim>("claim", "Its name."), field<&C::says>("says", "The claim."),
      field<&C::source>("source", "Where it was published; null: not named."),
      field<&C::stage>("stage",
                       "The stage that it is judged by, or the group of several; empty: none was "
                       "run."),
      field<&C::conclusion>("conclusion",
                            "Of a comparison: whether the 95% confidence interval of the change "
                            "is above zero, below zero, or contains it. Several comparisons are "
                            "corrected by Holm's method."),
      field<&C::change>("change", Unit::difference,
                        "Of the metric, from the first model to the second; null: not one "
                        "comparison, or not known."),
      field<&C::change_interval>("change_interval", Unit::difference,
                                 "95% confidence interval of the change; null: not known."),
      field<&C::sentence>("sentence", "The conclusion as a sentence."));
  return fields;
}

}  // namespace hone
