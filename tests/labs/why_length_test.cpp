#include "tests/labs/why_length.h"

#include <algorithm>
#include <optional>

#include "hone/jobs/pipeline/pipeline_claims.h"
#include "hone/jobs/pipeline/pipeline_values.h"
#include "hone/labs/shipped_pipelines.h"

// Bounds the length of the Why of labs that are pipelines. Conclusions and missing values are combined freely, so no
// run needs to reach the bounds.
namespace hone {
namespace {

using Form = StatementText::Form;

/// The range of the word counts of one or more texts.
struct WordRange {
  std::int64_t fewest = 0, most = 0;
};

// Counts a value with its interval, "+1.25 points (95% CI +0.50 to +2.00)", if such values have one.
std::int64_t words_of_value(const StatementText::Piece& piece, const Pipeline& pipeline) {
  constexpr std::int64_t kCount = 3, kInterval = 5;
  if (piece.form == Form::count) return kCount;
  const ValueReference& value = *piece.value;
  const std::string path =
      value.path.empty() ? pipeline.picks[*value.from.pick].by.path : value.path;
  const Quantity of = quantity_at(path);
  const bool has_interval = of == Quantity::points || of == Quantity::flips || path.empty() ||
                            path.ends_with("accuracy") || path.ends_with("speedup");
  return (of == Quantity::points ? 2 : 1) +
         (has_interval && piece.form == Form::whole ? kInterval : 0);
}

std::int64_t words_of_text(const StatementText& text, const Pipeline& pipeline) {
  std::string filled;
  for (const StatementText::Piece& piece : text.pieces) {
    filled += piece.text;
    if (!piece.value) continue;
    filled += "1";
    for (std::int64_t i = 1; i < words_of_value(piece, pipeline); ++i) filled += " 1";
  }
  return testing::words_of(filled);
}

// Returns false for values of stages that the pipeline leaves out.
bool is_measured(const StatementText::Piece& piece, const Pipeline& pipeline) {
  if (!piece.value) return true;
  const StageReference& from = piece.value->from;
  return from.pick ? !pipeline.picks[*from.pick].stages.empty() : from.stage.has_value();
}

// A pick with conditions may find nothing, unless a claim was judged by it.
bool is_certain(const StatementText::Piece& piece, const Pipeline& pipeline,
                const std::optional<std::size_t>& judged) {
  if (!piece.value || !piece.value->from.pick || piece.form == Form::count) return true;
  const std::size_t pick = *piece.value->from.pick;
  return pick == judged || pipeline.picks[pick].where.empty();
}

// Returns the range for the first text whose values are all available.
WordRange words_of_list(const std::vector<StatementText>& texts, const Pipeline& pipeline,
                        const std::optional<std::size_t>& judged) {
  WordRange range{testing::kMostWords, 0};
  for (const StatementText& text : texts) {
    const auto measured = [&](const auto& piece) { return is_measured(piece, pipeline); };
    const auto certain = [&](const auto& piece) { return is_certain(piece, pipeline, judged); };
    if (!std::ranges::all_of(text.pieces, measured)) continue;
    const std::int64_t words = words_of_text(text, pipeline);
    range = {std::min(range.fewest, words), std::max(range.most, words)};
    if (std::ranges::all_of(text.pieces, certain)) return range;
  }
  return {0, range.most};
}

WordRange words_of_statement(const PipelineStatement& statement, const Pipeline& pipeline) {
  if (!statement.claim) return words_of_list(statement.texts[0], pipeline, std::nullopt);
  const PipelineClaim& claim = pipeline.claims[*statement.claim];
  WordRange range{testing::kMostWords, 0};
  for (std::size_t i = 0; i < statement.texts.size(); ++i) {
    const bool is_judged = static_cast<ClaimConclusion>(i) != ClaimConclusion::inconclusive;
    const WordRange one = words_of_list(statement.texts[i], pipeline,
                                        is_judged ? claim.stages.front().pick : std::nullopt);
    range = {std::min(range.fewest, one.fewest), std::max(range.most, one.most)};
  }
  return range;
}

const StageKinds kKinds = {{"choose", {.choice_argument = "MODELS"}},
                           {"compare", {.compares = true}},
                           {"search", {.searches = true}}};

TEST(PipelineLabs, HaveAWhyOfUsualLengthWhateverTheyFind) {
  for (const ShippedPipeline& lab : shipped_pipelines()) {
    const Pipeline whole = parse_pipeline(lab.text, lab.name, kKinds, {});
    if (whole.why.empty()) continue;
    // A model given by the user leaves out the stages that make one.
    std::vector<std::map<std::string, std::string>> all_given = {{}};
    for (const char* setting : {"model", "parent"})
      if (whole.settings.contains(setting)) all_given.push_back({{setting, "mine"}});
    for (const std::map<std::string, std::string>& given : all_given) {
      const Pipeline pipeline = parse_pipeline(lab.text, lab.name, kKinds, given);
      WordRange sum;
      for (const PipelineStatement& statement : pipeline.why) {
        const WordRange words = words_of_statement(statement, pipeline);
        sum = {sum.fewest + words.fewest, sum.most + words.most};
      }
      const std::string which = lab.name + (given.empty() ? "" : ", " + given.begin()->first);
      EXPECT_GE(sum.fewest, testing::kFewestWords) << which;
      EXPECT_LE(sum.most, testing::kMostWords) << which;
    }
  }
}

}  // namespace
}  // namespace hone
