#include "hone/metrics/gated_change.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "hone/base/random.h"
#include "hone/metrics/metric.h"
#include "hone/metrics/p_value.h"
#include "hone/metrics/planning.h"
#include "hone/metrics/seeds.h"
#include "tests/metrics/counted.h"
#include "tests/support/expect.h"

namespace hone {
namespace {

using Classes = std::vector<std::int32_t>;
using Floats = std::vector<float>;
using testing::counted;

LabelScheme scheme_of(Task task, std::int64_t outputs) {
  LabelScheme scheme = {.task = task};
  for (std::int64_t i = 0; i < outputs; ++i) scheme.names.push_back(fmt::format("c{}", i));
  return scheme;
}

/// Outputs of two models for the same examples.
struct Sample {
  Task task = Task::single_label;
  std::int64_t outputs = 0;
  Classes classes = {};
  Floats targets = {}, baseline = {}, candidate = {};
  Classes texts = {};

  Truth truth() const { return {task, classes, targets, texts}; }
  Logits baseline_logits() const { return {baseline, outputs}; }
  Logits candidate_logits() const { return {candidate, outputs}; }
  Gate gate(std::string_view text) const { return parse_gate(text, scheme_of(task, outputs)); }
  MetricChange change(std::string_view text) const {
    return gated_change(gate(text), baseline_logits(), candidate_logits(), truth());
  }
  /// Returns the gated metric of the candidate minus that of the baseline, from two evaluations.
  double difference(std::string_view text) const {
    const Gate g = gate(text);
    return gated_value(g, evaluate(candidate_logits(), truth())) -
           gated_value(g, evaluate(baseline_logits(), truth()));
  }
  /// Returns the examples with these row numbers.
  Sample at(const std::vector<std::size_t>& rows) const {
    Sample part = {.task = task, .outputs = outputs};
    const auto width = static_cast<std::size_t>(outputs);
    for (const std::size_t row : rows) {
      if (!classes.empty()) part.classes.push_back(classes[row]);
      for (std::size_t o = row * width; o < (row + 1) * width; ++o) {
        if (!targets.empty()) part.targets.push_back(targets[o]);
        part.baseline.push_back(baseline[o]);
        part.candidate.push_back(candidate[o]);
      }
    }
    return part;
  }
};

/// Appends logits that predict `answer`. A negative `answer` appends a row without a prediction.
void predict(Floats& logits, std::int64_t classes, std::int32_t answer) {
  for (std::int32_t c = 0; c < classes; ++c)
    logits.push_back(answer < 0 ? std::numeric_limits<float>::quiet_NaN() : c == answer ? 1 : 0);
}

Sample sample_of(std::int64_t classes, const Classes& truth, const Classes& baseline,
                 const Classes& candidate) {
  Sample s = {.outputs = classes, .classes = truth};
  for (const std::int32_t answer : baseline) predict(s.baseline, classes, answer);
  for (const std::int32_t answer : candidate) predict(s.candidate, classes, answer);
  return s;
}

std::size_t pick(RandomSequence& random, const std::vector<double>& shares) {
  double left = random.uniform();
  for (std::size_t i = 0; i + 1 < shares.size(); ++i)
    if ((left -= shares[i]) < 0) return i;
  return shares.size() - 1;
}

/// Returns text numbers, with one to three rows each if `repeated`, and one otherwise.
Classes draw_texts(RandomSequence& random, std::int64_t count, bool repeated) {
  Classes texts;
  for (std::int32_t text = 0; text < count; ++text)
    texts.insert(texts.end(), repeated ? 1 + random.below(3) : 1, text);
  return texts;
}

/// A population of examples whose metrics are known exactly.
struct ExamplePopulation {
  virtual ~ExamplePopulation() = default;
  virtual double true_change(const std::string& gate) const = 0;
  virtual Sample draw(RandomSequence& random, std::int64_t texts, bool repeated) const = 0;
};

/// Draws the true class by its share. The baseline predicts by a row of its confusion matrix. With probability
/// `changed` the candidate predicts independently by a row of another matrix; otherwise it predicts the same class.
struct ClassPopulation : ExamplePopulation {
  using Matrix = std::vector<std::vector<double>>;
  std::vector<double> shares;
  Matrix baseline, other;
  double changed = 0;

  /// Returns a matrix that is right with probability `right`, with errors spread evenly over the other classes.
  static Matrix matrix(std::size_t classes, double right) {
    Matrix m(classes, std::vector<double>(classes, (1 - right) / static_cast<double>(classes - 1)));
    for (std::size_t c = 0; c < classes; ++c) m[c][c] = right;
    return m;
  }
  ClassPopulation(std::vector<double> of, double right, double then, double change)
      : shares(std::move(of)),
        baseline(matrix(shares.size(), right)),
        other(matrix(shares.size(), then)),
        changed(change) {}

  // Returns the F1 of each class for one model, from the probabilities of (truth, prediction).
  std::vector<double> f1(bool candidate) const {
    const std::size_t classes = shares.size();
    std::vector<double> found(classes), predicted(classes), result(classes);
    for (std::size_t t = 0; t < classes; ++t)
      for (std::size_t a = 0; a < classes; ++a) {
        const double p =
            shares[t] *
            (candidate ? (1 - changed) * baseline[t][a] + changed * other[t][a] : baseline[t][a]);
        predicted[a] += p;
        if (t == a) found[a] += p;
      }
    for (std::size_t c = 0; c < classes; ++c) result[c] = 2 * found[c] / (predicted[c] + shares[c]);
    return result;
  }
  double true_change(const std::string& gate) const override {
    const std::vector<double> before = f1(false), after = f1(true);
    double change = 0;
    for (std::size_t c = 0; c < shares.size(); ++c) {
      const double weight = gate == "f1_weighted>=0" ? shares[c]
                            : gate == "f1_macro>=0"  ? 1 / static_cast<double>(shares.size())
                            : gate == fmt::format("f1(c{})>=0", c) ? 1
                                                                   : 0;
      change += weight * (after[c] - before[c]);
    }
    return change;
  }
  Sample draw(RandomSequence& random, std::int64_t texts, bool repeated) const override {
    const auto classes = std::ssize(shares);
    Sample s = {.outputs = classes};
    std::vector<std::array<std::int32_t, 3>> drawn;
    for (std::int64_t i = 0; i < texts; ++i) {
      const std::size_t truth = pick(random, shares), before = pick(random, baseline[truth]);
      const std::size_t after = random.uniform() < changed ? pick(random, other[truth]) : before;
      drawn.push_back({static_cast<std::int32_t>(truth), static_cast<std::int32_t>(before),
                       static_cast<std::int32_t>(after)});
    }
    const Classes rows = draw_texts(random, texts, repeated);
    for (const std::int32_t text : rows) {
      const auto& [truth, before, after] = drawn[static_cast<std::size_t>(text)];
      s.classes.push_back(truth);
      predict(s.baseline, classes, before);
      predict(s.candidate, classes, after);
    }
    if (repeated) s.texts = rows;
    return s;
  }
};

/// Normally distributed scores around the means of the classes. The candidate's scores have additional noise. The area
/// is P(score of a positive > score of a negative).
struct ScorePopulation : ExamplePopulation {
  double positive, noise;
  ScorePopulation(double of_positive, double with_noise)
      : positive(of_positive), noise(with_noise) {}

  static double area(double variance) { return normal_tail(-1.5 / std::sqrt(2 * variance)); }
  double true_change(const std::string& /*gate*/) const override {
    return area(1 + noise * noise) - area(1);
  }
  Sample draw(RandomSequence& random, std::int64_t texts, bool repeated) const override {
    Sample s = {.outputs = 2};
    std::vector<std::array<float, 3>> drawn;
    for (std::int64_t i = 0; i < texts; ++i) {
      const bool is_positive = random.uniform() < positive;
      const double before = (is_positive ? 1.5 : 0) + random.normal();
      drawn.push_back({is_positive ? 1.0f : 0.0f, static_cast<float>(before),
                       static_cast<float>(before + noise * random.normal())});
    }
    const Classes rows = draw_texts(random, texts, repeated);
    for (const std::int32_t text : rows) {
      const auto& [truth, before, after] = drawn[static_cast<std::size_t>(text)];
      s.classes.push_back(truth == 1 ? 1 : 0);
      s.baseline.insert(s.baseline.end(), {0, before});
      s.candidate.insert(s.candidate.end(), {0, after});
    }
    if (repeated) s.texts = rows;
    return s;
  }
};

struct Setting {
  std::string name;
  std::string gate;
  std::shared_ptr<ExamplePopulation> population;
  bool many = true;  ///< many predictions of every kind change
};

std::vector<Setting> settings() {
  const std::vector<double> balanced(4, 0.25), rare = {0.6, 0.35, 0.05};
  const auto classes = [](const std::vector<double>& shares, double then, double changed) {
    return std::make_shared<ClassPopulation>(shares, 0.85, then, changed);
  };
  std::vector<Setting> all;
  for (const auto& [how, then, changed] : {std::tuple("many", 0.75, 0.5), {"few", 0.5, 0.06}}) {
    const auto even = classes(balanced, then, changed), uneven = classes(rare, then, changed);
    all.push_back(
        {fmt::format("macro F1, balanced, {} changes", how), "f1_macro>=0", even, changed > 0.1});
    all.push_back(
        {fmt::format("macro F1, rare class, {} changes", how), "f1_macro>=0", uneven, false});
    all.push_back(
        {fmt::format("weighted F1, {} changes", how), "f1_weighted>=0", uneven, changed > 0.1});
    all.push_back({fmt::format("F1 of rare class, {} changes", how), "f1(c2)>=0", uneven, false});
  }
  for (const double noise : {0.6, 0.15})
    for (const double positive : {0.5, 0.1})
      all.push_back({fmt::format("AUC, {:.0f}% positive, noise {}", 100 * positive, noise),
                     "auc>=0", std::make_shared<ScorePopulation>(positive, noise)});
  return all;
}

struct Coverage {
  int draws = 0, defined = 0, covered = 0, kept = 0, lost = 0;
  double true_change = 0, mean_change = 0, mean_half = 0;
};

Coverage coverage_of(const Setting& setting, std::int64_t texts, bool repeated, int draws) {
  RandomSequence random(17, stream_of(fmt::format("{} {} {}", setting.name, texts, repeated)));
  Coverage shares{.draws = draws, .true_change = setting.population->true_change(setting.gate)};
  for (int draw = 0; draw < draws; ++draw) {
    const MetricChange c = setting.population->draw(random, texts, repeated).change(setting.gate);
    const Conclusion conclusion = verdict(c, -shares.true_change).conclusion;
    shares.kept += conclusion == Conclusion::within_limit;
    shares.lost += conclusion == Conclusion::exceeds_limit;
    if (!c.interval) continue;
    ++shares.defined;
    shares.covered +=
        c.interval->low <= shares.true_change && shares.true_change <= c.interval->high;
    shares.mean_change += c.change / draws;
    shares.mean_half += c.half_width / draws;
  }
  return shares;
}

/// Returns the allowed error of a share of `draws` with this `probability`: 3.3 standard errors, exceeded once in 2,000
/// on each side.
double sampling_error(double probability, int draws) {
  return 3.3 * std::sqrt(probability * (1 - probability) / draws);
}

// Coverage is at least 93%, and at most 99% if many predictions of every kind change. A drop of exactly the margin gets
// each verdict in at most 2.5% of the draws.
void expect_level(const Setting& setting, const Coverage& s) {
  const double n = s.draws;
  EXPECT_EQ(s.defined, s.draws) << setting.name;
  EXPECT_GE(s.covered / n, 0.93 - sampling_error(0.93, s.draws)) << setting.name;
  if (setting.many) {
    EXPECT_LE(s.covered / n, 0.99 + sampling_error(0.99, s.draws)) << setting.name;
  }
  EXPECT_LE(s.kept / n, kVerdictLevel + sampling_error(kVerdictLevel, s.draws)) << setting.name;
  EXPECT_LE(s.lost / n, kVerdictLevel + sampling_error(kVerdictLevel, s.draws)) << setting.name;
  // Checks `true_change`: the mean of the draws agrees within its own error.
  EXPECT_NEAR(s.mean_change, s.true_change, 0.1 * s.mean_half) << setting.name;
}

TEST(GatedChange, CoversTheTrueChangeInAFewSettings) {
  constexpr int kDraws = 1000;
  const std::vector<Setting> all = settings();
  for (const std::size_t which : {0u, 2u, 8u}) {
    expect_level(all[which], coverage_of(all[which], 200, which != 0, kDraws));
  }
}

void print_row(const Setting& setting, std::int64_t texts, bool repeated, const Coverage& s) {
  const double percent = 100.0 / s.draws;
  fmt::print("{:36} {:5} {:>4} {:+8.4f} {:+8.4f} {:8.4f} {:6.1f}% {:5.2f}% {:5.2f}%\n",
             setting.name, texts, repeated ? "1-3" : "1", s.true_change, s.mean_change, s.mean_half,
             percent * s.covered, percent * s.kept, percent * s.lost);
}

// With ten positive examples the t distribution is slightly optimistic: about 3% are within the limit instead of 2.5%.
TEST(LongGatedChange, CoversTheTrueChangeOfAreasOfTenPositiveExamples) {
  constexpr int kDraws = 8000;
  constexpr double kLevel = 0.03;
  for (const std::int64_t texts : {100, 200, 1000})
    for (const double noise : {0.6, 0.15})
      for (const bool repeated : {false, true}) {
        const Setting setting{
            fmt::format("AUC, ten positive, noise {}", noise), "auc>=0",
            std::make_shared<ScorePopulation>(10.0 / static_cast<double>(texts), noise), false};
        const Coverage s = coverage_of(setting, texts, repeated, kDraws);
        print_row(setting, texts, repeated, s);
        EXPECT_GE(s.covered / double(kDraws), 0.95 - sampling_error(0.95, kDraws)) << setting.name;
        EXPECT_LE(s.kept / double(kDraws), kLevel + sampling_error(kLevel, kDraws)) << setting.name;
      }
}

// Prints a table. If few predictions of a kind change, the interval is wider than necessary.
TEST(LongGatedChange, CoversTheTrueChangeInAllSettings) {
  constexpr int kDraws = 2000;
  fmt::print("{:36} {:>5} {:>4} {:>8} {:>8} {:>8} {:>7} {:>6} {:>6}\n", "metric", "texts", "rows",
             "change", "mean", "half", "covered", "kept", "lost");
  for (const Setting& setting : settings()) {
    for (const std::int64_t texts : {200, 1000}) {
      for (const bool repeated : {false, true}) {
        const Coverage s = coverage_of(setting, texts, repeated, kDraws);
        print_row(setting, texts, repeated, s);
        expect_level(setting, s);
      }
    }
  }
}

void expect_same(const MetricChange& a, const MetricChange& b) {
  EXPECT_DOUBLE_EQ(a.change, b.change);
  EXPECT_DOUBLE_EQ(a.interval->low, b.interval->low);
  EXPECT_DOUBLE_EQ(a.interval->high, b.interval->high);
  EXPECT_EQ(a.examples, b.examples);
  for (const double margin : {-0.1, -0.01, 0.0, 0.02}) {
    EXPECT_DOUBLE_EQ(a.score(margin), b.score(margin)) << margin;
  }
}

/// Returns three classes of unequal size, with 300 texts of one to three rows.
Sample repeated_sample() {
  RandomSequence random(3, stream_of("repeated"));
  return ClassPopulation({0.5, 0.3, 0.2}, 0.8, 0.6, 0.4).draw(random, 300, true);
}

TEST(GatedChange, OfTheRecallOfAClassIsTangosOnItsExamples) {
  for (const bool repeated : {false, true}) {
    Sample s = repeated_sample();
    if (!repeated) s.texts.clear();
    const Classes before = predictions(s.baseline_logits()),
                  after = predictions(s.candidate_logits());
    std::int64_t examples = 0, lost = 0, gained = 0;
    std::map<std::int32_t, std::int64_t> rows;
    for (std::size_t i = 0; i < s.classes.size(); ++i) {
      if (s.classes[i] != 1) continue;
      ++examples;
      if (repeated) ++rows[s.texts[i]];
      lost += before[i] == 1 && after[i] != 1;
      gained += before[i] != 1 && after[i] == 1;
    }
    ASSERT_GT(lost, gained);
    Comparison by_hand = counted(examples, lost, gained);
    std::int64_t squares = 0;
    for (const auto& [text, count] : rows) squares += count * count;
    if (repeated) by_hand.evidence = static_cast<double>(examples) / static_cast<double>(squares);
    const MetricChange change = s.change("recall(c1)>=-2");
    expect_same(change, accuracy_change(by_hand));
    EXPECT_DOUBLE_EQ(change.evidence, by_hand.evidence);
    EXPECT_DOUBLE_EQ(change.score(-0.02), tango_score(by_hand, -0.02));
    EXPECT_NEAR(change.change, s.difference("recall(c1)>=-2"), 1e-15);
    EXPECT_EQ(change.unit, "examples of c1");
    EXPECT_EQ(change.metric.key, "recall(c1)");
    EXPECT_NEAR(change.candidate - change.baseline, change.change, 1e-15);
  }
}

/// Returns examples with three labels. The baseline is right on 85% of them, and the candidate changes a tenth of its
/// predictions.
Sample label_sample(std::int64_t count = 400) {
  RandomSequence random(5, stream_of("labels"));
  Sample s = {.task = Task::multi_label, .outputs = 3};
  for (std::int64_t i = 0; i < 3 * count; ++i) {
    const bool has = random.uniform() < 0.4, right = random.uniform() < 0.85,
               changed = random.uniform() < 0.1;
    s.targets.push_back(has ? 1 : 0);
    s.baseline.push_back(has == right ? 1 : -1);
    s.candidate.push_back((has == right) != changed ? 1 : -1);
  }
  return s;
}

Sample number_sample(std::int64_t count = 200) {
  RandomSequence random(6, stream_of("numbers"));
  Sample s = {.task = Task::regression, .outputs = 1};
  for (std::int64_t i = 0; i < count; ++i) {
    const double truth = random.normal(), given = truth + 0.5 * random.normal();
    s.targets.push_back(static_cast<float>(truth));
    s.baseline.push_back(static_cast<float>(given));
    s.candidate.push_back(static_cast<float>(given + 0.1 * random.normal()));
  }
  return s;
}

TEST(GatedChange, OfTheRecallOfALabelIsTangosOnItsExamples) {
  const Sample s = label_sample();
  std::int64_t examples = 0, lost = 0, gained = 0;
  for (std::size_t i = 2; i < s.targets.size(); i += 3) {
    if (s.targets[i] == 0) continue;
    ++examples;
    lost += s.baseline[i] > 0 && s.candidate[i] < 0;
    gained += s.baseline[i] < 0 && s.candidate[i] > 0;
  }
  ASSERT_GT(lost, gained);
  const MetricChange change = s.change("recall(c2)>=-2");
  expect_same(change, accuracy_change(counted(examples, lost, gained)));
  EXPECT_NEAR(change.change, s.difference("recall(c2)>=-2"), 1e-15);
}

TEST(GatedChange, OfTheMetricsATaskIsJudgedByIsTheirs) {
  const Sample classes = repeated_sample(), labels = label_sample(), numbers = number_sample();
  expect_same(classes.change("accuracy>=0"),
              accuracy_change(compare(classes.baseline_logits(), classes.candidate_logits(),
                                      classes.classes, classes.texts)));
  const MultiLabelComparison of_labels =
      compare_multi_label(labels.baseline_logits(), labels.candidate_logits(), labels.targets);
  expect_same(labels.change("f1_micro>=0"), of_labels.micro_f1);
  expect_same(labels.change("subset_accuracy>=0"), of_labels.subset_accuracy);
  expect_same(
      numbers.change("r2>=0"),
      compare_regression({numbers.baseline, 1}, {numbers.candidate, 1}, numbers.targets).r2);
}

/// Returns every metric of the task that can be gated, overall and for each class.
std::vector<std::string> all_gates(const Sample& s) {
  std::vector<std::string> gates;
  for (const Metric& metric : metrics(s.task))
    if (metric.greater_is_better && (!metric.of_two_classes || s.outputs == 2))
      gates.push_back(fmt::format("{}>=0", metric.name));
  if (s.task == Task::regression) return gates;
  for (const char* metric : {"precision", "recall", "f1"})
    for (std::int64_t c = 0; c < s.outputs; ++c)
      gates.push_back(fmt::format("{}(c{})>=0", metric, c));
  return gates;
}

TEST(GatedChange, IsTheDifferenceOfTwoEvaluations) {
  RandomSequence random(7, stream_of("two classes"));
  for (const Sample& s : {repeated_sample(), label_sample(), number_sample(),
                          ScorePopulation(0.4, 0.6).draw(random, 300, true)}) {
    for (const std::string& gate : all_gates(s)) {
      const MetricChange c = s.change(gate);
      EXPECT_NE(c.change, 0) << gate;
      EXPECT_NEAR(c.change, s.difference(gate), 1e-14) << gate;
      EXPECT_EQ(c.candidate - c.baseline, s.difference(gate)) << gate;
      ASSERT_TRUE(c.interval) << gate;
      EXPECT_LT(c.interval->low, c.change) << gate;
      EXPECT_GT(c.interval->high, c.change) << gate;
      EXPECT_NEAR(c.score(c.interval->low), kNormal975, 1e-6) << gate;
    }
  }
}

/// Returns the standard deviation of each gate's change over bootstrap replicates. Each replicate draws as many texts
/// as there are, with all their rows.
std::vector<double> bootstrap_errors(const Sample& s, const std::vector<std::string>& gates,
                                     int replicates) {
  std::map<std::int32_t, std::vector<std::size_t>> by_text;
  for (std::size_t i = 0; i < s.classes.size(); ++i)
    by_text[s.texts.empty() ? static_cast<std::int32_t>(i) : s.texts[i]].push_back(i);
  RandomSequence random(11, stream_of("bootstrap"));
  std::vector<double> sum(gates.size()), squares(gates.size()), errors(gates.size());
  std::vector<Gate> parsed;
  for (const std::string& gate : gates) parsed.push_back(s.gate(gate));
  for (int r = 0; r < replicates; ++r) {
    std::vector<std::size_t> rows;
    for (std::size_t t = 0; t < by_text.size(); ++t) {
      const auto& own = by_text.at(static_cast<std::int32_t>(random.below(by_text.size())));
      rows.insert(rows.end(), own.begin(), own.end());
    }
    const Sample drawn = s.at(rows);
    const TaskEvaluation before = evaluate(drawn.baseline_logits(), drawn.truth()),
                         after = evaluate(drawn.candidate_logits(), drawn.truth());
    for (std::size_t g = 0; g < gates.size(); ++g) {
      const double change = gated_value(parsed[g], after) - gated_value(parsed[g], before);
      sum[g] += change;
      squares[g] += change * change;
    }
  }
  const double n = replicates;
  for (std::size_t g = 0; g < gates.size(); ++g)
    errors[g] = std::sqrt((squares[g] - sum[g] * sum[g] / n) / (n - 1));
  return errors;
}

// The standard deviation of 2,000 replicates has an error below 5% (3 / sqrt(2 · 2,000)). The interval is wider because
// of the predictions that it adds: 1.96² / K for K differing texts, one of which weighs at most 5 times the mean square
// here. Jackknife and bootstrap differ by less than 3% for hundreds of texts.
TEST(GatedChange, HasTheStandardErrorOfAPairedBootstrapOverTexts) {
  RandomSequence random(8, stream_of("for the bootstrap"));
  const Sample three = ClassPopulation({0.4, 0.35, 0.25}, 0.8, 0.6, 0.7).draw(random, 500, true),
               two = ScorePopulation(0.4, 0.8).draw(random, 500, true);
  for (const auto& [s, gates] :
       {std::pair(&three, std::vector<std::string>{"f1_macro>=0", "f1_weighted>=0", "f1(c2)>=0",
                                                   "precision(c0)>=0", "precision_macro>=0"}),
        {&two, {"auc>=0"}}}) {
    const std::vector<double> errors = bootstrap_errors(*s, gates, 2000);
    for (std::size_t g = 0; g < gates.size(); ++g) {
      SCOPED_TRACE(gates[g]);
      const MetricChange c = s->change(gates[g]);
      const double error = c.half_width / student_975(c.texts - 1),
                   added = 5 * kNormal975 * kNormal975 / static_cast<double>(c.differing_texts);
      EXPECT_GT(c.differing_texts, 60);
      EXPECT_GT(error / errors[g], 0.92);
      EXPECT_LT(error / errors[g], 1.08 * std::sqrt(1 + added));
    }
  }
}

TEST(GatedChange, OfTheSameModelIsZeroWithAWidth) {
  RandomSequence random(7, stream_of("two classes"));
  for (Sample s : {repeated_sample(), label_sample(), number_sample(),
                   ScorePopulation(0.4, 0.6).draw(random, 300, true)}) {
    s.candidate = s.baseline;
    for (const std::string& gate : all_gates(s)) {
      const MetricChange c = s.change(gate);
      EXPECT_EQ(c.change, 0) << gate;
      ASSERT_TRUE(c.interval) << gate;
      EXPECT_LT(c.interval->low, 0) << gate;
      EXPECT_GT(c.interval->high, 0) << gate;
      EXPECT_FALSE(verdict(c, 0).within_limit()) << gate;
    }
  }
}

// A first difference does not narrow the interval.
TEST(GatedChange, OfOneAnswerIsNoSurerThanOfNone) {
  Classes truth;
  for (std::int32_t i = 0; i < 300; ++i) truth.push_back(i % 3);
  Classes one_lost = truth;
  one_lost[4] = 2;
  const Sample none = sample_of(3, truth, truth, truth), one = sample_of(3, truth, truth, one_lost);
  for (const char* gate : {"f1_macro>=0", "f1_weighted>=0", "f1(c1)>=0", "precision(c2)>=0",
                           "recall(c1)>=0", "accuracy>=0"}) {
    SCOPED_TRACE(gate);
    const MetricChange before = none.change(gate), after = one.change(gate);
    EXPECT_LT(after.change, 0);
    EXPECT_LT(after.interval->low, before.interval->low);
    EXPECT_GT(after.interval->high, 0) << "one answer shows no loss";
    EXPECT_NE(after.notes.find("; 1 of "), std::string::npos) << after.notes;
    EXPECT_NE(before.notes.find("no prediction changed"), std::string::npos) << before.notes;
  }
}

TEST(GatedChange, IsNotDefinedWithoutExamplesOfTheClass) {
  const Classes truth = {0, 1, 0, 1, 0, 1}, baseline = {0, 1, 0, 0, 0, 1},
                candidate = {0, 1, 2, 0, 0, 1};
  const Sample s = sample_of(3, truth, baseline, candidate);
  for (const auto& [gate, note] : {std::pair("recall(c2)>=-2", "; there is no example of c2"),
                                   {"f1(c2)>=-2", "; there is no example of c2"},
                                   {"precision(c2)>=-2", "; the baseline never predicts c2"}}) {
    SCOPED_TRACE(gate);
    const MetricChange c = s.change(gate);
    EXPECT_TRUE(std::isnan(c.change));
    EXPECT_FALSE(c.interval);
    EXPECT_EQ(c.notes, note);
    const Gate gates[] = {s.gate(gate)};
    const MetricChange changes[] = {c};
    EXPECT_EQ(judge_gates(gates, changes).conclusion, Conclusion::inconclusive);
  }
  // An area needs both classes.
  const Sample alike = sample_of(2, {1, 1, 1}, {1, 1, 0}, {1, 0, 0});
  EXPECT_EQ(alike.change("auc>=-1").notes,
            "; all labels, or all predictions of a model, are the same");
}

// The baseline predicts the class only once, so its precision rests on one example and no error can be computed.
TEST(GatedChange, IsNotDefinedWhereItRestsOnOneText) {
  const Sample s = sample_of(2, {0, 1, 0, 1, 1}, {0, 1, 0, 0, 0}, {0, 1, 0, 1, 1});
  const MetricChange c = s.change("precision(c1)>=-2");
  EXPECT_TRUE(std::isnan(c.change));
  EXPECT_FALSE(c.interval);
  EXPECT_EQ(c.notes, "; it depends on a single example");
  EXPECT_EQ(c.baseline, 1);
  // So does an area with a single positive example.
  const Sample one = sample_of(2, {0, 1, 0, 0, 0}, {0, 1, 0, 0, 1}, {0, 1, 0, 1, 1});
  EXPECT_EQ(one.change("auc>=-2").notes, "; it depends on a single example");
  EXPECT_FALSE(one.change("auc>=-2").interval);
}

TEST(GatedChange, SaysThatPredictionsAreNoNumbers) {
  const Sample s = sample_of(2, {0, 0, 1, 1}, {0, 1, 1, 0}, {-1, -1, -1, -1});
  EXPECT_EQ(s.change("auc>=-2").notes, "; 4 of 4 predictions of the candidate are not finite");
  EXPECT_EQ(s.change("recall(c1)>=-2").change, -0.5) << "no prediction is never right";
}

Gate gate_on_class(double margin, std::int64_t c = 0) {
  return parse_gate(fmt::format("recall(c{})>={}", c, -100 * margin),
                    scheme_of(Task::single_label, 9));
}

TEST(JudgeGates, IsTheOneRuleForOneGateAndOneEvaluation) {
  const Gate gates[] = {gate_on_class(0.02)};
  for (const int lost : {0, 10, 30, 60, 200}) {
    const MetricChange changes[] = {accuracy_change(counted(2000, lost, 10))};
    const Verdict alone = verdict(changes[0], 0.02);
    const GateVerdict all = judge_gates(gates, changes);
    EXPECT_EQ(all.conclusion, alone.conclusion);
    EXPECT_EQ(all.summary, alone.summary);
    EXPECT_EQ(all.gates.at(0).p_value, alone.p_value);
  }
}

// Bonferroni's correction uses the number of gates times the number of evaluations.
TEST(JudgeGates, AsksMoreOfMoreGatesAndEvaluations) {
  int stricter = 0;
  for (int lost = 0; lost < 60; ++lost) {
    const MetricChange change = accuracy_change(counted(2000, lost, 10));
    const double alone = verdict(change, 0.01).p_value;
    for (const auto& [count, evaluations] : {std::pair(1, 1), {2, 1}, {3, 1}, {2, 5}}) {
      std::vector<Gate> gates;
      std::vector<MetricChange> changes(static_cast<std::size_t>(count), change);
      for (int g = 0; g < count; ++g) gates.push_back(gate_on_class(0.01, g));
      const GateVerdict all = judge_gates(gates, changes, evaluations);
      const double corrected = std::min(1.0, count * evaluations * alone);
      for (const Verdict& v : all.gates) EXPECT_DOUBLE_EQ(v.p_value, corrected);
      EXPECT_EQ(all.within_limit(), corrected <= 0.025)
          << count << " " << evaluations << " " << lost;
      stricter += alone <= 0.025 && !all.within_limit();
    }
  }
  EXPECT_GT(stricter, 5);
}

TEST(JudgeGates, KeepsWhereAllAreKeptAndLosesWhereOneIsLost) {
  const MetricChange kept = accuracy_change(counted(10'000, 10, 10)),
                     unclear = accuracy_change(counted(10'000, 110, 10)),
                     lost = accuracy_change(counted(10'000, 900, 10));
  const Gate gates[] = {gate_on_class(0.01, 0), gate_on_class(0.01, 1)};
  const auto conclusion = [&](const MetricChange& a, const MetricChange& b) {
    const MetricChange changes[] = {a, b};
    return judge_gates(gates, changes).conclusion;
  };
  EXPECT_EQ(conclusion(kept, kept), Conclusion::within_limit);
  EXPECT_EQ(conclusion(kept, unclear), Conclusion::inconclusive);
  EXPECT_EQ(conclusion(unclear, kept), Conclusion::inconclusive);
  EXPECT_EQ(conclusion(kept, lost), Conclusion::exceeds_limit);
  EXPECT_EQ(conclusion(lost, unclear), Conclusion::exceeds_limit);
  const MetricChange both[] = {kept, lost};
  EXPECT_EQ(judge_gates(gates, both).summary, "1 of 2 gates fails, in points: accuracy -8.90");
  EXPECT_THROW(judge_gates(gates, std::span(both, 1)), InternalError);
}

TEST(JudgeGates, SayOfEachUnclearOneHowManyExamplesWouldTell) {
  const MetricChange changes[] = {accuracy_change(counted(10'000, 10, 10)),
                                  accuracy_change(counted(100, 1, 0))};
  const Gate gates[] = {gate_on_class(0.01, 0), gate_on_class(0.03, 1)};
  const GateVerdict all = judge_gates(gates, changes);
  ASSERT_EQ(all.conclusion, Conclusion::inconclusive);
  ASSERT_TRUE(all.gates[1].examples_needed);
  EXPECT_NE(all.summary.find(fmt::format("{} {} needed", about_text(*all.gates[1].examples_needed),
                                         gated_examples(gates[1]))),
            std::string::npos)
      << all.summary;
}

TEST(JudgeGates, TakesTheMarginOfEachGate) {
  const MetricChange loses_two = accuracy_change(counted(10'000, 210, 10));
  const MetricChange changes[] = {loses_two, loses_two};
  const Gate gates[] = {gate_on_class(0.01, 0), gate_on_class(0.05, 1)};
  const GateVerdict all = judge_gates(gates, changes);
  EXPECT_EQ(all.gates[0].conclusion, Conclusion::exceeds_limit);
  EXPECT_EQ(all.gates[1].conclusion, Conclusion::within_limit);
}

TEST(JudgeGatesOfChoice, IsHolmsOverCandidatesTimesGates) {
  const Gate gates[] = {gate_on_class(0.01, 0), gate_on_class(0.02, 1)};
  const auto change = [](int lost) { return accuracy_change(counted(4000, lost, 20)); };
  const std::vector<std::vector<MetricChange>> candidates = {
      {change(20), change(60)}, {change(35), change(40)}, {change(300), change(20)}};
  std::vector<double> p_values;
  for (const std::vector<MetricChange>& one : candidates)
    for (std::size_t g = 0; g < 2; ++g)
      p_values.push_back(verdict(one[g], gates[g].margin).p_value);
  const std::vector<double> adjusted = holm_adjusted(p_values);
  const std::vector<std::vector<Gate>> own(3, {gates[0], gates[1]});
  const std::vector<GateVerdict> verdicts = judge_gates_of_choice(own, candidates);
  ASSERT_EQ(verdicts.size(), 3u);
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t g = 0; g < 2; ++g) {
      const Verdict& v = verdicts[k].gates.at(g);
      EXPECT_DOUBLE_EQ(v.p_value, adjusted[2 * k + g]);
      EXPECT_EQ(v.margin, gates[g].margin);
      EXPECT_EQ(v.candidates, 6);
      EXPECT_EQ(v.change, candidates[k][g].change);
    }
  EXPECT_NE(adjusted[2], p_values[2]);
  EXPECT_TRUE(verdicts[0].within_limit());
  EXPECT_EQ(verdicts[2].conclusion, Conclusion::exceeds_limit);
  EXPECT_TRUE(judge_gates_of_choice({}, {}).empty());
}

TEST(JudgeGatesOfChoice, CorrectForTheGatesThatEachHasToPass) {
  const Gate first = gate_on_class(0.01, 0), second = gate_on_class(0.02, 1);
  const MetricChange change = accuracy_change(counted(4000, 20, 20));
  const std::vector<std::vector<Gate>> gates = {{}, {first, second}, {second}};
  const std::vector<std::vector<MetricChange>> changes = {{}, {change, change}, {change}};
  const std::vector<GateVerdict> verdicts = judge_gates_of_choice(gates, changes);
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_TRUE(verdicts[0].within_limit()) << "it has none to pass";
  ASSERT_EQ(verdicts[1].gates.size(), 2u);
  ASSERT_EQ(verdicts[2].gates.size(), 1u);
  EXPECT_EQ(verdicts[2].gates[0].candidates, 3);
  EXPECT_EQ(verdicts[2].gates[0].margin, 0.02);
}

SeedChanges seeds_of(const std::vector<int>& lost) {
  SeedChanges seeds;
  for (const int one : lost) {
    seeds.changes.push_back(accuracy_change(counted(4000, one, 20)));
    seeds.before.push_back(0.9);
    seeds.after.push_back(0.9 + seeds.changes.back().change);
  }
  return seeds;
}

TEST(JudgeGatesOfSeeds, JudgesEachGateAtItsFullLevel) {
  const Gate gates[] = {gate_on_class(0.01, 0), gate_on_class(0.02, 1)};
  const SeedChanges good = seeds_of({20, 25, 22, 18, 24, 21}),
                    bad = seeds_of({320, 350, 322, 318, 324, 321});
  for (const auto& [second, conclusion] :
       {std::pair(&good, Conclusion::within_limit), {&bad, Conclusion::exceeds_limit}}) {
    const SeedChanges changes[] = {good, *second};
    const GateVerdict all = judge_gates_of_seeds(gates, changes);
    EXPECT_EQ(all.conclusion, conclusion);
    for (std::size_t g = 0; g < 2; ++g) {
      const Verdict alone = verdict_of_seeds(changes[g], gates[g].margin);
      EXPECT_EQ(all.gates.at(g).summary, alone.summary);
      EXPECT_EQ(all.gates[g].change_interval->low, alone.change_interval->low);
    }
  }
}

/// For one class: the numbers of examples on which both models are right, only the baseline, and only the candidate.
struct OfClass {
  int both = 0, baseline = 0, candidate = 0;
};

Sample sample_with(const std::vector<OfClass>& classes) {
  Classes truth, baseline, candidate;
  const auto add = [&](std::int32_t c, int count, bool before, bool after) {
    const std::int32_t wrong = c == 0 ? 1 : 0;
    for (int i = 0; i < count; ++i) {
      truth.push_back(c);
      baseline.push_back(before ? c : wrong);
      candidate.push_back(after ? c : wrong);
    }
  };
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto c = static_cast<std::int32_t>(i);
    add(c, classes[i].both, true, true);
    add(c, classes[i].baseline, true, false);
    add(c, classes[i].candidate, false, true);
  }
  return sample_of(std::ssize(classes), truth, baseline, candidate);
}

std::vector<DegradedClass> lost_of(const Sample& s) {
  return degraded_classes(s.baseline_logits(), s.candidate_logits(), s.truth());
}

// McNemar's p-values 2 / 2^10, 2 / 2^8, 2 / 2^12; Holm: times 2, 1, 3.
TEST(LostClasses, AreThoseOfMcNemarsTestAfterHolmsCorrection) {
  const std::vector<DegradedClass> lost =
      lost_of(sample_with({{10, 10, 0}, {12, 8, 0}, {5, 0, 12}}));
  ASSERT_EQ(lost.size(), 2u) << "the third gains";
  EXPECT_EQ(lost[0].index, 0);
  EXPECT_EQ(lost[0].examples, 20);
  EXPECT_DOUBLE_EQ(lost[0].change, -0.5);
  EXPECT_DOUBLE_EQ(lost[0].p_value, 2 * 2.0 / 1024);
  EXPECT_EQ(lost[0].interval.low, accuracy_change_interval(counted(20, 10, 0)).low);
  EXPECT_EQ(lost[0].interval.high, accuracy_change_interval(counted(20, 10, 0)).high);
  EXPECT_EQ(lost[1].index, 1);
  EXPECT_DOUBLE_EQ(lost[1].p_value, 2.0 / 256);
}

TEST(LostClasses, BeginWithTheLargestFall) {
  const std::vector<DegradedClass> lost = lost_of(sample_with({{12, 8, 0}, {10, 10, 0}}));
  ASSERT_EQ(lost.size(), 2u);
  EXPECT_EQ(lost[0].index, 1);
}

TEST(LostClasses, AreCorrectedForTheClassesThatHaveExamples) {
  // 2 / 2^6 = 0.031 alone, 0.063 among two classes with examples.
  EXPECT_EQ(lost_of(sample_with({{9, 6, 0}, {}, {}})).size(), 1u);
  EXPECT_TRUE(lost_of(sample_with({{9, 6, 0}, {9, 0, 0}, {}})).empty());
  EXPECT_EQ(lost_of(sample_with({{9, 7, 0}, {9, 0, 0}, {}})).size(), 1u);
  EXPECT_TRUE(lost_of(sample_with({{9, 0, 0}, {9, 0, 0}})).empty());
}

TEST(LostClasses, AreCorrectedForTheComparisons) {
  const Sample s = sample_with({{12, 8, 0}, {}});  // 2 / 2^8 = 0.0078 alone
  const auto lost = [&](std::int64_t comparisons) {
    return degraded_classes(s.baseline_logits(), s.candidate_logits(), s.truth(), comparisons);
  };
  ASSERT_EQ(lost(6).size(), 1u);
  EXPECT_DOUBLE_EQ(lost(6)[0].p_value, 6 * 2.0 / 256);
  EXPECT_TRUE(lost(7).empty());
}

TEST(LostClasses, CountATextOnce) {
  Sample s = sample_with({{9, 6, 0}, {}});
  ASSERT_EQ(lost_of(s).size(), 1u);
  for (std::int32_t i = 0; i < 15; ++i) s.texts.push_back(i / 2);  // 6 rows of 4 texts
  EXPECT_TRUE(lost_of(s).empty());
}

TEST(LostClasses, AreLabelsOfSeveralAndNoneOfNumbers) {
  Sample s = {.task = Task::multi_label, .outputs = 2};
  for (int i = 0; i < 20; ++i) {
    s.targets.insert(s.targets.end(), {1, i < 10 ? 1.0f : 0.0f});
    s.baseline.insert(s.baseline.end(), {1, 1});
    s.candidate.insert(s.candidate.end(), {1, i < 9 ? -1.0f : 1.0f});
  }
  const std::vector<DegradedClass> lost = lost_of(s);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].index, 1);
  EXPECT_EQ(lost[0].examples, 10);
  EXPECT_DOUBLE_EQ(lost[0].change, -0.9);
  EXPECT_DOUBLE_EQ(lost[0].p_value, 2 * 2.0 / 512);
  EXPECT_TRUE(lost_of(number_sample()).empty());
}

}  // namespace
}  // namespace hone
