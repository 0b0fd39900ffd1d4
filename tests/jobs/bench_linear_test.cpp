#include "hone/jobs/bench_linear.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/runtime/fake_device.h"
#include "tests/support/expect.h"
#include "tests/support/tiny_jobs.h"

namespace hone {
namespace {

std::vector<Format> linear_formats(const std::vector<const char*>& texts) {
  std::vector<Format> formats;
  for (const char* text : texts)
    formats.push_back(parse_format(text, testing::quiet_context().library.formats));
  return formats;
}

LinearJob small_linear_job() {
  return {.rows = {1, 7},
          .inputs = 64,
          .outputs = 64,
          .formats = linear_formats({"mxint(bits=8)", "int(bits=4,per=row)"}),
          .runs = 6};
}

TEST(BenchLinear, HoldsEveryWayAndFormatBesideFp32) {
  const LinearResult result = bench_linear(small_linear_job(), testing::quiet_context());
  const char* names[] = {"fp32",
                         "bf16",
                         "packed mxint(bits=8,block=32,axis=-1)",
                         "packed int(bits=4,per=row,scale=static)",
                         "native mxint(bits=8,block=32,axis=-1)",
                         "native int(bits=4,per=row,scale=static)"};
  ASSERT_EQ(result.bench.times.size(), 12u);
  for (std::size_t i = 0; i < result.bench.times.size(); ++i) {
    const LinearTimes& times = result.bench.times[i];
    EXPECT_EQ(times.name(), names[i % 6]);
    EXPECT_EQ(times.rows, i < 6 ? 1 : 7);
    EXPECT_TRUE(times.was_run());
    EXPECT_EQ(times.rounds_ms.size(), 6u);
    EXPECT_GT(times.first_ms, 0);
    EXPECT_GT(times.min_ms, 0);
    EXPECT_LE(times.min_ms, times.median_ms);
    EXPECT_EQ(times.flops, 2.0 * static_cast<double>(times.rows) * 64 * 64);
    EXPECT_GT(times.share_of_bandwidth(), 0);
    EXPECT_TRUE(times.speedup);
    EXPECT_EQ(times.speedup->interval.has_value(),
              times.implementation != LinearImplementation::fp32);
    const bool is_coarse = times.format && times.format->starts_with("int(");
    EXPECT_LT(times.relative_difference, is_coarse ? 0.3 : 0.05) << times.name();
    EXPECT_EQ(times.relative_difference > 1e-4, times.implementation != LinearImplementation::fp32)
        << times.name();
  }
  EXPECT_EQ(result.bench.times[0].relative_difference, 0);
  EXPECT_EQ(result.bench.times[2].kernel, "packed_linear / codes");
  EXPECT_EQ(result.bench.times[4].kernel, "native_linear / integers");
  EXPECT_EQ(result.bench.times[4].input_format, "mxint(bits=8,block=32,axis=-1)");
  EXPECT_FALSE(result.bench.times[2].input_format);
}

TEST(BenchLinear, CountsTheBytesThatARunMustMove) {
  const LinearResult result = bench_linear(small_linear_job(), testing::quiet_context());
  constexpr std::int64_t kSize = 64, kWeights = kSize * kSize;
  // bias, and 7 rows of x and y
  const std::int64_t floats = 4 * (kSize + 7 * (kSize + kSize));
  const std::int64_t weights[] = {4 * kWeights, 2 * kWeights, kWeights + kWeights / 32,
                                  kWeights / 2 + 4 * kSize};
  for (std::size_t implementation = 0; implementation < 4; ++implementation) {
    const LinearTimes& times = result.bench.times[6 + implementation];
    EXPECT_EQ(times.weight_bytes, weights[implementation]) << times.name();
    EXPECT_EQ(times.bytes,
              weights[implementation] +
                  (times.implementation == LinearImplementation::bf16 ? floats / 2 : floats));
  }
  EXPECT_EQ(result.bench.times[10].weight_bytes, weights[2]);
}

TEST(BenchLinear, SaysWhyWhatIsNotRunIsNot) {
  LinearJob job = small_linear_job();
  job.rows = {2};
  job.implementations = {LinearImplementation::packed, LinearImplementation::native};
  job.formats = linear_formats({"mxint(bits=8,block=8)", "integer(width=24,frac=16)"});
  const LinearResult result = bench_linear(job, testing::quiet_context());
  ASSERT_EQ(result.bench.times.size(), 4u);
  EXPECT_TRUE(result.bench.times[0].was_run());
  EXPECT_FALSE(result.bench.times[0].speedup);  // fp32 was not requested
  EXPECT_NE(result.bench.times[1].not_run->find("its codes have 24 bits"), std::string::npos)
      << *result.bench.times[1].not_run;
  EXPECT_NE(result.bench.times[2].not_run->find("native computation does not support"),
            std::string::npos)
      << *result.bench.times[2].not_run;
  const Json& refused = result.fields["times"][2];
  EXPECT_EQ(refused["not_run"], *result.bench.times[2].not_run);
  EXPECT_TRUE(refused["median_ms"].is_null());
  EXPECT_EQ(refused["timed_runs"], 0);
  const std::string text = to_text(result.document);
  EXPECT_NE(
      text.find("Not run: native mxint(bits=8,block=8,axis=-1): " + *result.bench.times[2].not_run),
      std::string::npos)
      << text;
}

TEST(BenchLinear, RunsWhereTheHostCannotReach) {
  testing::FakeDevice device;
  Context there(/*threads=*/1, /*quiet=*/true);
  there.library = testing::fake_library();
  there.device = &device;
  const LinearResult result =
      bench_linear({.rows = {2},
                    .inputs = 32,
                    .outputs = 3,
                    .formats = linear_formats({"mxint(bits=8)"}),
                    .implementations = {LinearImplementation::packed, LinearImplementation::native,
                                        LinearImplementation::bf16},
                    .runs = 1},
                   there);
  ASSERT_EQ(result.bench.times.size(), 3u);
  for (std::size_t implementation = 0; implementation < 2; ++implementation) {
    EXPECT_TRUE(result.bench.times[implementation].was_run());
    EXPECT_LT(result.bench.times[implementation].relative_difference, 0.05);
    EXPECT_GT(result.bench.times[implementation].min_ms, 0);
  }
  // The device has no kernels for bf16.
  EXPECT_EQ(result.bench.times[2].not_run,
            "no kernel of linear on fake:0; reference: values are not f32");
}

LinearJob small_sparse_job() {
  return {.rows = {1, 16},
          .inputs = 64,
          .outputs = 64,
          .formats = linear_formats({"int(bits=8,per=row)", "mxint(bits=8)"}),
          .sparsities = {0.9, 0, 0.5, 0.9},
          .runs = 6};
}

// Returns the times of an implementation with so many rows, in the order of the result.
std::vector<LinearTimes> sparse_times(const LinearResult& result,
                                      LinearImplementation implementation, std::int64_t rows) {
  std::vector<LinearTimes> found;
  for (const LinearTimes& times : result.bench.times)
    if (times.is_sparse() && times.implementation == implementation && times.rows == rows)
      found.push_back(times);
  return found;
}

TEST(BenchLinear, SparseProductsAgreeWithTheirWeightAndFollowTheDenseOnes) {
  const LinearResult result = bench_linear(small_sparse_job(), testing::quiet_context());
  // Six dense ones, then fp32, bf16 and native int with three sparsities each.
  ASSERT_EQ(result.bench.times.size(), 2u * (6 + 9));
  for (std::size_t i = 0; i < result.bench.times.size(); ++i) {
    const LinearTimes& times = result.bench.times[i];
    ASSERT_TRUE(times.was_run()) << times.name();
    EXPECT_EQ(times.is_sparse(), i % 15 >= 6);
    EXPECT_EQ(times.over_dense.has_value(), times.is_sparse());
    EXPECT_EQ(times.used.has_value(), times.is_sparse());
    EXPECT_TRUE(times.median_interval);
    EXPECT_TRUE(times.speedup);
  }
  const double tolerances[] = {1e-6, 0.02, 0.05};
  const char* const kernels[] = {"linear / sparse 4x1", "linear / sparse 4x1",
                                 "native_linear / sparse 1x4"};
  for (const std::int64_t rows : {1, 16})
    for (std::size_t i = 0; i < 3; ++i) {
      constexpr LinearImplementation kImplementations[] = {
          LinearImplementation::fp32, LinearImplementation::bf16, LinearImplementation::native};
      const std::vector<LinearTimes> rising = sparse_times(result, kImplementations[i], rows);
      ASSERT_EQ(rising.size(), 3u);
      EXPECT_EQ(rising[0].sparsity, 0);
      EXPECT_EQ(rising[1].sparsity, 0.5);
      EXPECT_EQ(rising[2].sparsity, 0.9);
      EXPECT_GT(*rising[0].weight_bytes, *rising[1].weight_bytes);
      EXPECT_GT(*rising[1].weight_bytes, *rising[2].weight_bytes);
      EXPECT_GT(*rising[1].stored, *rising[2].stored);
      for (const LinearTimes& times : rising) {
        EXPECT_EQ(times.block, i == 2 ? "1x4" : "4x1");
        EXPECT_EQ(times.kernel, kernels[i]);
        EXPECT_LT(times.relative_difference, tolerances[i]) << times.name();
      }
      // At run time, sparse kernels are chosen at 50% zeros only for 16 rows, at 90% for one row as well, and never for
      // bf16.
      EXPECT_FALSE(*rising[0].used);
      EXPECT_EQ(*rising[1].used, i != 1 && rows == 16) << rising[1].name();
      EXPECT_EQ(*rising[2].used, i != 1) << rising[2].name();
    }
  const std::vector<std::string> without = {"packed int(bits=8,per=row,scale=static)",
                                            "packed mxint(bits=8,block=32,axis=-1)",
                                            "native mxint(bits=8,block=32,axis=-1)"};
  EXPECT_EQ(result.bench.no_sparse_kernel, without);
  EXPECT_EQ(result.bench.break_evens.size(), 6u);
  const std::string text = to_text(result.document);
  for (const char* part : {"Speedup over dense", "zeros in blocks of 1x4", "No sparse kernel"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_TRUE(result.fields["times"][14]["over_dense"]["speedup"].is_number());
  // A key figure for the fastest dense product of each number of rows, and one for the fastest sparse product.
  EXPECT_EQ(result.document.key_figures.size(), 4U);
  EXPECT_NE(result.document.headline.find("% zeros"), std::string::npos)
      << result.document.headline;
}

TEST(BenchLinear, CountsTheBytesOfSparseWeightsWithTheirIndices) {
  LinearJob job = small_sparse_job();
  job.rows = {2};
  job.implementations = {LinearImplementation::fp32};
  job.sparsities = {0.5};
  const LinearResult in_blocks = bench_linear(job, testing::quiet_context());
  // 16 lists, and half of 16 x 64 entries: 2 bytes for the column, 16 for the values
  EXPECT_EQ(in_blocks.bench.times[1].weight_bytes, 16 * 4 + 512 * 18);
  EXPECT_EQ(in_blocks.bench.times[1].stored, 0.5);
  job.block = PruneBlock{};
  const LinearResult single = bench_linear(job, testing::quiet_context());
  EXPECT_EQ(single.bench.times[1].block, "weights");
  EXPECT_EQ(single.bench.times[1].kernel, "linear / sparse weights");
  EXPECT_EQ(single.bench.times[1].weight_bytes, 64 * 4 + 2048 * 6);
  EXPECT_LT(single.bench.times[1].relative_difference, 1e-6);
}

TEST(BenchLinear, HasNoSparseProductsWhereTheHostCannotReach) {
  testing::FakeDevice device;
  Context there(/*threads=*/1, /*quiet=*/true);
  there.library = testing::fake_library();
  there.device = &device;
  const LinearResult result = bench_linear({.rows = {2},
                                            .inputs = 32,
                                            .outputs = 3,
                                            .sparsities = {0.5},
                                            .implementations = {LinearImplementation::fp32},
                                            .runs = 1},
                                           there);
  ASSERT_EQ(result.bench.times.size(), 1u);
  EXPECT_EQ(result.bench.no_sparse_kernel, std::vector<std::string>{"fp32"});
  EXPECT_TRUE(result.bench.break_evens.empty());
}

// Fewer rows require more zeros.
TEST(BenchLinear, UsesSparseFloatsForFewRowsOnlyWhereMostWeightsAreZero) {
  LinearJob job = small_sparse_job();
  job.implementations = {LinearImplementation::fp32};
  job.sparsities = {0.6, 0.8};
  job.block = PruneBlock{};
  const LinearResult single = bench_linear(job, testing::quiet_context());
  job.sparsities = {0.8, 0.95};
  const LinearResult sparser = bench_linear(job, testing::quiet_context());
  const auto used = [](const LinearResult& result, std::int64_t rows) {
    std::vector<bool> all;
    for (const LinearTimes& times : sparse_times(result, LinearImplementation::fp32, rows))
      all.push_back(*times.used);
    return all;
  };
  EXPECT_EQ(used(single, 1), (std::vector<bool>{false, false}));
  EXPECT_EQ(used(single, 16), (std::vector<bool>{false, true}));
  EXPECT_EQ(used(sparser, 1), (std::vector<bool>{false, true}));
}

TEST(BenchLinear, MarksChoicesThatTheTimesContradict) {
  BenchLinearFields bench{
      .what = "linear", .device = "cpu:0", .threads = 1, .inputs = 8, .outputs = 8};
  LinearTimes dense{.rows = 1};
  dense.kernel = "linear / gemm";
  dense.weight_bytes = dense.bytes = 256;
  dense.copies = 2;
  dense.in_cache = false;
  dense.rounds_ms = {1};
  for (const auto& [used, speedup] : {std::pair(true, 0.67), {false, 1.5}, {true, 1.5}}) {
    LinearTimes sparse = dense;
    sparse.sparsity = 0.8;
    sparse.block = "1x4";
    sparse.stored = 0.2;
    sparse.used = used;
    sparse.over_dense = Speedup{speedup, Interval{speedup - 0.1, speedup + 0.1}};
    bench.times = {dense, sparse};
    bench.break_evens = sparse_break_evens(bench.times);
    const std::string text = to_text(linear_document(bench, {}, 2, true));
    EXPECT_EQ(text.find("yes, though slower here") != std::string::npos, used && speedup < 1)
        << text;
    EXPECT_EQ(text.find("noisy"), std::string::npos) << text;
    EXPECT_EQ(text.find("no, though faster here") != std::string::npos, !used && speedup > 1)
        << text;
    bench.interrupted = true;
    EXPECT_NE(to_text(linear_document(bench, {}, 2, true)).find("1 of 2 numbers of rows"),
              std::string::npos);
    bench.interrupted = false;
  }
}

TEST(BenchLinear, MarksBreakEvensOfNoisySpeedups) {
  BenchLinearFields bench{
      .what = "linear", .device = "cpu:0", .threads = 1, .inputs = 8, .outputs = 8};
  LinearTimes dense{.rows = 1};
  dense.kernel = "linear / gemm";
  dense.weight_bytes = dense.bytes = 256;
  dense.copies = 2;
  dense.in_cache = false;
  dense.rounds_ms = {1};
  LinearTimes sparse = dense;
  sparse.sparsity = 0.8;
  sparse.block = "1x4";
  sparse.stored = 0.2;
  sparse.used = true;
  sparse.over_dense = Speedup{3, Interval{1.37, 11}};
  bench.times = {dense, sparse};
  bench.break_evens = sparse_break_evens(bench.times);
  const Document document = linear_document(bench, {}, 1, true);
  EXPECT_NE(document.evidence.find("1 of 1 speedups are noisy"), std::string::npos)
      << document.evidence;
  EXPECT_NE(to_text(document).find("with 1 row, noisy"), std::string::npos) << to_text(document);
}

LinearTimes sparse_point(double sparsity, double speedup, std::optional<Interval> interval) {
  LinearTimes times{.rows = 16};
  times.sparsity = sparsity;
  times.block = "4x1";
  times.over_dense = Speedup{speedup, interval};
  return times;
}

TEST(BenchLinear, InterpolatesTheBreakEvenBetweenSparsities) {
  const std::vector<SparseBreakEven> found =
      sparse_break_evens({{.rows = 16},
                          sparse_point(0, 0.5, Interval{0.45, 0.55}),
                          sparse_point(0.9, 2, Interval{1.6, 2.5}),
                          sparse_point(0.5, 0.8, Interval{0.75, 0.9})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rows, 16);
  EXPECT_EQ(found[0].sparsities, 3);
  EXPECT_FALSE(found[0].is_at_most);
  // The ratios of times are 1.25 and 0.5, at the ends of the intervals 1.333 and 0.625, and 1.111 and 0.4.
  EXPECT_NEAR(found[0].sparsity.value(), 0.5 + 0.4 * 0.25 / 0.75, 1e-12);
  EXPECT_NEAR(found[0].interval->low, 0.5 + 0.4 * (1 / 0.9 - 1) / (1 / 0.9 - 0.4), 1e-12);
  EXPECT_NEAR(found[0].interval->high, 0.5 + 0.4 * (1 / 0.75 - 1) / (1 / 0.75 - 1 / 1.6), 1e-12);
}

TEST(BenchLinear, BreakEvenIsNotShownWhereTheLastIntervalContainsOne) {
  for (const auto& last : {std::optional(Interval{0.98, 1.2}), std::optional<Interval>()}) {
    const std::vector<SparseBreakEven> found = sparse_break_evens(
        {sparse_point(0.5, 0.8, Interval{0.75, 0.9}), sparse_point(0.9, 1.1, last)});
    ASSERT_EQ(found.size(), 1u);
    EXPECT_FALSE(found[0].sparsity);
    EXPECT_FALSE(found[0].interval);
  }
}

TEST(BenchLinear, BreakEvenIsAtMostTheLowestSparsityWhereAllAreFaster) {
  const std::vector<SparseBreakEven> found = sparse_break_evens(
      {sparse_point(0.5, 1.2, Interval{1.1, 1.3}), sparse_point(0.9, 3, Interval{2.9, 3.1})});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].is_at_most);
  EXPECT_EQ(found[0].sparsity, 0.5);
}

TEST(BenchLinear, SaysTheSameToProgramsAndPeople) {
  LinearJob job = small_linear_job();
  job.rows = {1};
  const LinearResult result = bench_linear(job, testing::quiet_context());
  EXPECT_EQ(result.fields["device"], "cpu:0");
  EXPECT_EQ(result.fields["inputs"], 64);
  EXPECT_EQ(result.fields["outputs"], 64);
  EXPECT_EQ(result.fields["interrupted"], false);
  EXPECT_FALSE(result.was_interrupted);
  for (const LinearTimes& times : result.bench.times) {
    EXPECT_GT(*times.copies, 1);
    EXPECT_LE(*times.copies, kMostLinearCopies);
  }
  const Json& packed = result.fields["times"][2];
  EXPECT_EQ(packed["impl"], "packed");
  EXPECT_EQ(packed["bytes"], *result.bench.times[2].bytes);
  EXPECT_DOUBLE_EQ(packed["gb_per_s"], result.bench.times[2].gbps());
  const std::string text = to_text(result.document);
  EXPECT_TRUE(text.starts_with("Linear of 64 inputs and 64 outputs")) << text;
  for (const char* part : {"1 row", "Speedup", "copies of the weight"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  // The bandwidth of memory is not mentioned if the weights stay in a cache.
  const LinearTimes& least =
      *std::ranges::min_element(result.bench.times, {}, &LinearTimes::median_ms);
  EXPECT_EQ(text.find(" of the bandwidth of memory") == std::string::npos, *least.in_cache) << text;
}

}  // namespace
}  // namespace hone
