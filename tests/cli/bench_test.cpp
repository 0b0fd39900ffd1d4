#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <chrono>

#include "hone/jobs/bench_work.h"
#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

namespace hone::testing {
namespace {

Json bench(std::vector<std::string> more) {
  std::vector<std::string> words = {"bench",    "model", "--batch_size", "1",
                                    "--tokens", "4",     "--runs",       "3"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(words, workshop());
}

double share_of_peak(const Json& result) {
  const double gflops =
      result["computed_gflop"].get<double>() / (result["min_ms"].get<double>() / 1e3);
  return gflops / result["peak_gflops"].get<double>();
}

// Runs `hone bench` in batches of one text with four tokens.
Json bench_calls(std::vector<std::string> more) {
  more.insert(more.begin(), {"bench", "model", "--batch_size", "1", "--tokens", "4"});
  return run_json(more, workshop());
}

TEST(Bench, ReportsTimesAndWhatTheyWereTakenOf) {
  const Json result = bench({"--threads", "1"});
  EXPECT_NE(result["what"].get<std::string>().find("1x4"), std::string::npos);
  EXPECT_EQ(result["timed_runs"], 3);
  EXPECT_EQ(result["threads"], 1);
  EXPECT_GT(result["first_ms"], 0);
  EXPECT_GT(result["min_ms"], 0);
  EXPECT_LE(result["min_ms"], result["median_ms"]);
  EXPECT_DOUBLE_EQ(result["share_of_peak"], share_of_peak(result));
}

TEST(Bench, TrainingCostsMoreThanInference) {
  EXPECT_GT(bench({"--train"})["gflop"], bench({})["gflop"]);
}

TEST(Bench, ProfilesByKernel) {
  const Json kernels = bench({"--qat", "integer(width=8,frac=4)", "--profile"})["kernels"];
  double share = 0;
  bool quantizes = false;
  for (const Json& row : kernels) {
    share += row["share"].get<double>();
    quantizes |= row["kernel"].get<std::string>().starts_with("quantize");
  }
  EXPECT_NEAR(share, 1, 1e-12);
  EXPECT_TRUE(quantizes) << kernels;
}

std::string peaks_kept() { return fs::path(::getenv("XDG_CACHE_HOME")) / "hone/peaks.json"; }

TEST(Bench, DividesByTheHighestPeakThatIsKnown) {
  const TemporaryFolder caches;
  ::setenv("XDG_CACHE_HOME", caches.path().c_str(), 1);
  const Json first = bench({"--threads", "1"});
  EXPECT_EQ(first["peak_gflops"], first["peak_gflops_now"]);
  // A stored peak a hundred times higher.
  Json kept = read_json(peaks_kept());
  ASSERT_EQ(kept["peaks"].size(), 1);
  EXPECT_EQ(kept["peaks"][0]["threads"], 1);
  EXPECT_EQ(kept["peaks"][0]["kind"], "fp32_gflops");
  kept["peaks"][0]["value"] = 100 * first["peak_gflops"].get<double>();
  kept["peaks"][0]["date"] = "2001-02-03";
  write_file(peaks_kept(), to_document(kept));
  const Json second = bench({"--threads", "1"});
  EXPECT_EQ(second["peak_gflops"], kept["peaks"][0]["value"]);
  EXPECT_LT(second["peak_gflops_now"], second["peak_gflops"]);
  EXPECT_EQ(second["peak_date"], "2001-02-03");
  EXPECT_DOUBLE_EQ(second["share_of_peak"], share_of_peak(second));
  const std::string shown = run_well({"bench", "model", "--batch_size", "1", "--tokens", "4",
                                      "--runs", "1", "--threads", "1"},
                                     workshop())
                                .output;
  EXPECT_NE(shown.find("on one thread, the highest known, of 2001-02-03; "), std::string::npos)
      << shown;
  // Peaks are stored per number of threads. That of two threads is at least that of one.
  EXPECT_GE(bench({"--threads", "2"})["peak_gflops"], second["peak_gflops"]);
  EXPECT_EQ(read_json(peaks_kept())["peaks"].size(), 2);
  ::unsetenv("XDG_CACHE_HOME");
}

TEST(Bench, TimesModelsInTurnBesideTheFirst) {
  const TemporaryFolder folder;
  const std::string coarse = folder.path() / "coarse";
  run_well(
      {"quantize", "model", "--format", "mxint(bits=8)", "--data", "reviews.csv", "-o", coarse},
      workshop());
  const std::vector<std::string> words = {"bench", "model",  coarse, "--batch_size",
                                          "1",     "--runs", "9"};
  const Json result = run_json(words, workshop());
  EXPECT_EQ(result["tokens"], 128);
  ASSERT_EQ(result["models"].size(), 2u);
  const Json &first = result["models"][0], &other = result["models"][1];
  EXPECT_EQ(first["model"], "model");
  EXPECT_EQ(first["arithmetic"], "fp32");
  EXPECT_EQ(first["speedup"], 1);
  EXPECT_TRUE(first["speedup_interval"].is_null());
  EXPECT_EQ(other["arithmetic"], "simulated");
  EXPECT_EQ(other["rounds_ms"].size(), 9u);
  EXPECT_LE(other["speedup_interval"][0], other["speedup"]);
  EXPECT_GE(other["speedup_interval"][1], other["speedup"]);
  EXPECT_GT(first["weight_bytes"], 0);
  const std::string shown = run_well(words, workshop()).output;
  for (const char* part : {"9 paired rounds", "baseline", "ms per batch", "Latency per example"})
    EXPECT_NE(shown.find(part), std::string::npos) << part << "\n" << shown;
  // The default number of tokens is limited by the model with fewer positions.
  const std::string narrow = folder.file(
      "narrow.json", R"({"model_type": "bert", "hidden_size": 32, "num_hidden_layers": 1,
                         "num_attention_heads": 2, "intermediate_size": 64,
                         "max_position_embeddings": 12})");
  EXPECT_EQ(run_json({"bench", "model", narrow, "--batch_size", "1", "--runs", "2"},
                     workshop())["tokens"],
            12);
  const auto few =
      run_well({"bench", "model", coarse, "--batch_size", "1", "--runs", "2"}, workshop());
  EXPECT_NE(few.output.find("too few rounds for a 95% CI"), std::string::npos) << few.output;
}

TEST(Bench, TimesTrainingStepsInTurn) {
  const Json result = run_json(
      {"bench", "model", "model", "--train", "--batch_size", "2", "--tokens", "4", "--runs", "2"},
      workshop());
  for (const Json& one : result["models"]) EXPECT_EQ(one["rounds_ms"].size(), 2u);
}

// At 8x8 pixels the last stage has one value per channel and image.
TEST(Bench, TimesTrainingStepsOfBatchNormsInTurn) {
  const TemporaryFolder folder;
  const auto network = [&](int width) {
    return folder
        .file(fmt::format("{}.json", width),
              fmt::format(R"({{"model_type": "resnet", "embedding_size": 8, "hidden_sizes": [8, {}],
                               "depths": [1, 1], "layer_type": "basic", "image_size": 8}})",
                          width))
        .string();
  };
  const auto words = [&](const std::string& batch) {
    return std::vector<std::string>{"bench",        network(12), network(16), "--train",
                                    "--batch_size", batch,       "--runs",    "2"};
  };
  for (const std::string batch : {"2", "3"}) {
    const Json result = run_json(words(batch), workshop());
    EXPECT_EQ(std::to_string(result["batch"].get<std::int64_t>()), batch);
    ASSERT_EQ(result["models"].size(), 2u);
    for (const Json& one : result["models"]) {
      EXPECT_EQ(one["rounds_ms"].size(), 2u);
      EXPECT_GT(one["min_ms"], 0);
    }
  }
  const Ending single = run_hone(words("1"), workshop());
  EXPECT_EQ(single.code, 1);
  EXPECT_NE(single.messages.find("larger batches"), std::string::npos) << single.messages;
}

// The default for inference is the batch size of reports.
TEST(Bench, HasADefaultBatchSizeForEachKindOfWork) {
  const auto batch_of = [](std::vector<std::string> words) {
    words.insert(words.end(), {"--tokens", "4"});
    return run_json(words, workshop())["batch"].get<std::int64_t>();
  };
  EXPECT_EQ(batch_of({"bench", "model", "--runs", "1"}), kLatencyBatch);
  EXPECT_EQ(batch_of({"bench", "model", "model", "--runs", "1"}), kLatencyBatch);
  EXPECT_EQ(batch_of({"bench", "model", "--runs", "1", "--train"}), kRunBatch);
  EXPECT_EQ(batch_of({"bench", "model", "--runs", "1", "--lora", "r=2"}), kRunBatch);
  EXPECT_EQ(batch_of({"bench", "model", "--iterations", "2", "--process", "warm"}), kRunBatch);
  EXPECT_EQ(batch_of({"profile", "model", "--runs", "1"}), kRunBatch);
}

TEST(Bench, RefusesModelsThatCannotBeBesideEachOther) {
  const auto refusal = [](std::vector<std::string> more) {
    more.insert(more.begin(), "bench");
    return run_hone(more, workshop());
  };
  const Ending alone = refusal({"model", "attention"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_NE(alone.messages.find("hone bench: attention cannot be compared with models"),
            std::string::npos)
      << alone.messages;
  const Ending late = refusal({"--threads", "1", "linear"});
  EXPECT_EQ(late.code, 2);
  EXPECT_NE(late.messages.find("`hone bench linear …`"), std::string::npos) << late.messages;
  const Ending flag = refusal({"model", "coarse", "--iterations", "5"});
  EXPECT_EQ(flag.code, 2);
  EXPECT_NE(flag.messages.find("--iterations is an option of `hone bench MODEL`"),
            std::string::npos)
      << flag.messages;
  const Ending kinds = refusal({"model", "resnet18"});
  EXPECT_EQ(kinds.code, 1);
  EXPECT_NE(kinds.messages.find("model and resnet18 have different inputs"), std::string::npos)
      << kinds.messages;
}

TEST(Bench, SaysThatAQuantizedModelIsSimulated) {
  const TemporaryFolder folder;
  const std::string model = folder.path() / "quantized";
  run_well({"quantize", "model", "--format", "mxint(bits=8)", "--data", "reviews.csv", "-o", model},
           workshop());
  const std::vector<std::string> words = {"bench",    model, "--batch_size", "1",
                                          "--tokens", "4",   "--runs",       "1"};
  // The whole output uses one label.
  const Json quantized = run_json(words, workshop());
  EXPECT_EQ(quantized["arithmetic"], "simulated");
  const std::string format = quantized["format"], what = quantized["what"];
  EXPECT_TRUE(format.starts_with("mxint(bits=8")) << format;
  EXPECT_NE(what.find("inference, simulated " + format + ", "), std::string::npos) << what;
  EXPECT_EQ(what.find("fp32"), std::string::npos) << what;
  const Json with_format = bench({"--format", "bf16"});
  EXPECT_NE(with_format["what"].get<std::string>().find("inference, simulated bf16, model"),
            std::string::npos)
      << with_format;
  EXPECT_EQ(with_format["arithmetic"], "simulated");
  EXPECT_EQ(with_format["format"], "bf16");
  EXPECT_TRUE(bench({})["format"].is_null());
  EXPECT_NE(bench({})["what"].get<std::string>().find("inference, fp32, "), std::string::npos);
  std::vector<std::string> twice = words;
  twice.insert(twice.end(), {"--format", "bf16"});
  const Ending refused = run_hone(twice, workshop());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("already quantized"), std::string::npos) << refused.messages;
}

TEST(BenchIterations, TimesFreshProcessesAndAWarmOne) {
  const TemporaryFolder folder;
  const std::string figure = folder.path() / "calls";
  const Json result = bench_calls({"--executor", "eager,interpreter", "--iterations", "22",
                                   "--processes", "2", "--threads", "1", "--figure", figure});
  EXPECT_EQ(result["iterations"], 22);
  EXPECT_EQ(result["ignored"], 4);
  ASSERT_EQ(result["executors"].size(), 2u);
  for (const Json& executor : result["executors"]) {
    EXPECT_EQ(executor["warm"]["calls_ms"].size(), 22u);
    ASSERT_EQ(executor["fresh"].size(), 2u);
    EXPECT_EQ(executor["fresh"][1]["calls_ms"].size(), 22u);
    for (std::size_t i = 0; i < 2; ++i) {
      double sum = 0;
      for (const Json& call : executor["fresh"][i]["calls_ms"]) sum += call.get<double>();
      EXPECT_GT(executor["process_ms"][i].get<double>(), sum) << "all of it, and reading the model";
    }
  }
  EXPECT_EQ(result["times"].size(), 4u);
  EXPECT_EQ(result["comparisons"].size(), 2u);
  EXPECT_TRUE(path_exists(figure + ".svg"));
  EXPECT_TRUE(read_file(figure + ".png").starts_with("\x89PNG"));
}

TEST(BenchIterations, RunsOneExecutorFromTheBeginningOfItsProcess) {
  const Json result =
      bench_calls({"--executor", "eager", "--iterations", "3", "--process", "this"});
  EXPECT_EQ(result["executors"].size(), 1u);
  EXPECT_TRUE(result["executors"][0]["warm"].is_null());
  EXPECT_EQ(result["executors"][0]["fresh"][0]["calls_ms"].size(), 3u);
  EXPECT_TRUE(result["comparisons"].empty());
}

TEST(BenchIterations, MeasuresMistakesWhenAsked) {
  const Json result = bench_calls({"--pitfalls", "--iterations", "7"});
  EXPECT_EQ(result["rounds"], 7);
  EXPECT_EQ(result["mistakes"].size(), 7u);
}

TEST(BenchIterations, RefusesWhatDoesNothingOrCannotBe) {
  const auto expect_refusal = [](int code, const char* message, std::vector<std::string> words) {
    words.insert(words.begin(), {"bench", "model"});
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_NE(ending.messages.find(message), std::string::npos) << ending.messages;
  };
  expect_refusal(2, "--executor: expected some of eager, interpreter, compiled, graph, each once",
                 {"--executor", "fast"});
  expect_refusal(2, "--warmup of a model needs --iterations", {"--warmup", "3"});
  expect_refusal(2, "--runs does nothing with --iterations", {"--iterations", "9", "--runs", "3"});
  expect_refusal(2, "--pitfalls uses the interpreter", {"--pitfalls", "--executor", "eager"});
  expect_refusal(2, "--pitfalls supports inference only",
                 {"--pitfalls", "--train", "--tokens", "4"});
  expect_refusal(2, "--process this: expected one executor",
                 {"--iterations", "3", "--process", "this", "--tokens", "4"});
}

TEST(BenchAttention, TakesItsShapeTypesAndWaysByComma) {
  const Json result = run_json({"bench", "attention", "--shape", "1,2,9,8", "--dtype", "fp32",
                                "--impl", "fused,naive", "--runs", "3", "--threads", "1"},
                               workshop());
  EXPECT_EQ(result["threads"], 1);
  ASSERT_EQ(result["times"].size(), 2);
  EXPECT_EQ(result["times"][0]["impl"], "fused");
  EXPECT_EQ(result["times"][0]["timed_runs"], 3);
  EXPECT_LT(result["times"][0]["relative_difference"], 1e-5);
}

TEST(BenchAttention, RefusesWhatDoesNothingOrCannotBe) {
  const auto expect_refusal = [](int code, const char* message, std::vector<std::string> words) {
    words.insert(words.begin(), {"bench", "attention"});
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, code);
    EXPECT_NE(ending.messages.find(message), std::string::npos) << ending.messages;
  };
  expect_refusal(2, "--batch_size is an option of `hone bench MODEL`", {"--batch_size", "2"});
  expect_refusal(2, "--shape: expected texts,heads,tokens,size of a head", {"--shape", "2,3,4"});
  expect_refusal(2, "--dtype: expected some of fp32, bf16, fp16, each once", {"--dtype", "fp8"});
  expect_refusal(2, "--impl: expected some of naive, fused, each once", {"--impl", "fused,fused"});
  expect_refusal(2, "--group is an option of `hone bench dequantize`", {"--group", "32"});
}

TEST(BenchLinear, TakesItsShapeRowsFormatsAndWays) {
  const Json result =
      run_json({"bench", "linear", "--shape", "9,32,16", "--rows", "1, 3", "--format",
                "mxint, int(bits=4)", "--impl", "packed,fp32", "--runs", "3", "--threads", "1"},
               workshop());
  EXPECT_EQ(result["threads"], 1);
  EXPECT_EQ(result["inputs"], 32);
  EXPECT_EQ(result["outputs"], 16);
  ASSERT_EQ(result["times"].size(), 6);
  const Json& first = result["times"][0];
  EXPECT_EQ(first["rows"], 1);
  EXPECT_EQ(first["impl"], "packed");
  EXPECT_EQ(first["format"], "mxint(bits=8,block=32,axis=-1)");
  EXPECT_EQ(first["timed_runs"], 3);
  EXPECT_EQ(result["times"][5]["rows"], 3);
  EXPECT_EQ(result["times"][5]["impl"], "fp32");
  const Json of_shape = run_json(
      {"bench", "linear", "--shape", "9,32,16", "--impl", "fp32", "--runs", "1"}, workshop());
  ASSERT_EQ(of_shape["times"].size(), 1);
  EXPECT_EQ(of_shape["times"][0]["rows"], 9);
}

TEST(BenchLinear, TimesSparseProductsBesideDenseOnes) {
  const Json result = run_json({"bench", "linear", "--shape", "4,64,64", "--impl", "fp32,native",
                                "--sparsity", "0.9,0.5", "--block", "1x4", "--runs", "6"},
                               workshop());
  ASSERT_EQ(result["times"].size(), 3 + 3 * 2);  // fp32, int8 and int4
  const Json& sparse = result["times"][3];
  EXPECT_EQ(sparse["impl"], "fp32");
  EXPECT_EQ(sparse["sparsity"], 0.5);
  EXPECT_EQ(sparse["block"], "1x4");
  EXPECT_TRUE(sparse["over_dense"]["speedup_interval"].is_array());
  EXPECT_TRUE(sparse["used"].is_boolean());
  EXPECT_TRUE(result["times"][0]["sparsity"].is_null());
  EXPECT_EQ(result["break_evens"].size(), 3);
  EXPECT_EQ(result["break_evens"][0]["sparsities"], 2);
}

// A million runs take more than half an hour.
TEST(BenchLinear, PrintsWhatWasMeasuredWhenItIsInterrupted) {
  const std::vector<std::string> words = {"bench",  "linear",    "--shape", "64,64",  "--rows",
                                          "1,2",    "--impl",    "packed",  "--runs", "1000000",
                                          "--json", "--threads", "1"};
  // An interrupt before the first measurement prints nothing, so slow machines get more time.
  Ending ending;
  for (int seconds = 2; ending.output.empty() && seconds <= 128; seconds *= 2) {
    const auto start = std::chrono::steady_clock::now();
    ending = run_hone_until(words, workshop(), SIGINT, [&] {
      return std::chrono::steady_clock::now() - start > std::chrono::seconds(seconds);
    });
  }
  EXPECT_EQ(ending.code, 128 + SIGINT) << ending.messages;
  EXPECT_NE(ending.messages.find("incomplete"), std::string::npos) << ending.messages;
  const std::vector<Json> lines = json_lines(ending.output);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["interrupted"], true);
  EXPECT_EQ(lines[0]["times"].size(), 2u);  // two formats, one row count
  EXPECT_GT(lines[0]["times"][0]["timed_runs"], 0);
}

TEST(BenchLinear, RefusesWhatDoesNothingOrCannotBe) {
  const auto expect_refusal = [](const char* message, std::vector<std::string> words) {
    words.insert(words.begin(), {"bench", "linear"});
    const Ending ending = run_hone(words, workshop());
    EXPECT_EQ(ending.code, 2);
    EXPECT_NE(ending.messages.find(message), std::string::npos) << ending.messages;
  };
  expect_refusal("--batch_size is an option of `hone bench MODEL`", {"--batch_size", "2"});
  expect_refusal("--shape: expected rows,inputs,outputs", {"--shape", "4096"});
  expect_refusal("--rows: expected whole numbers of at least 1", {"--rows", "0"});
  expect_refusal("--impl: expected some of fp32, bf16, packed, native, each once",
                 {"--impl", "naive"});
  expect_refusal("--format: unknown format 'nibble'", {"--format", "nibble"});
  expect_refusal("--precision: expected fp32 or tf32, got 'bf16'", {"--precision", "bf16"});
  expect_refusal("--sparsity", {"--sparsity", "1"});
  expect_refusal("--block", {"--block", "2:4", "--sparsity", "0.5"});
  expect_refusal("--sparsity", {"--block", "1x4"});
}

Json dequantized(std::vector<std::string> more) {
  std::vector<std::string> words = {"bench", "dequantize", "--runs", "2"};
  words.insert(words.end(), more.begin(), more.end());
  return run_json(words, workshop());
}

TEST(BenchDequantize, TimesEveryArrayAgainstMovingItsBytes) {
  const Json result =
      dequantized({"--elements", "1024, 4000", "--group", "32,7", "--threads", "1"});
  EXPECT_EQ(result["what"], "mxint8 to bf16");
  EXPECT_EQ(result["threads"], 1);
  ASSERT_EQ(result["times"].size(), 4);
  for (const Json& row : result["times"]) {
    const auto count = row["elements"].get<std::int64_t>(),
               group = row["group"].get<std::int64_t>();
    EXPECT_EQ(row["bytes"], 3 * count + (count + group - 1) / group);
    EXPECT_EQ(row["tiles"].is_null(), count % group != 0);
    EXPECT_EQ(row["timed_runs"], 2);
    EXPECT_LE(row["min_ms"], row["median_ms"]);
    EXPECT_LE(row["move_min_ms"], row["move_median_ms"]);
    const double share = row["move_min_ms"].get<double>() / row["min_ms"].get<double>();
    EXPECT_DOUBLE_EQ(row["share_of_bandwidth"], share);
    EXPECT_NEAR(row["gb_per_s"].get<double>() / row["move_gb_per_s"].get<double>(), share, 1e-9);
    EXPECT_EQ(row["partition"]["chunks"], 1);
    EXPECT_EQ(row["partition"]["around_caches"], false);
  }
  EXPECT_EQ(
      result["times"][0]["tiles"],
      parse_json(R"({"tile_rows": 32, "tile_columns": 32, "grid_x": 1, "grid_y": 1, "calls": 1,
                           "threads": 1024})",
                 "tiles"));
}

TEST(BenchDequantize, TakesFourBitsAndFloats) {
  const Json result =
      dequantized({"--elements", "1001,1000", "--group", "8", "--bits", "4", "--to", "fp32"});
  EXPECT_EQ(result["what"], "mxint4 to fp32");
  EXPECT_EQ(result["times"][0]["bytes"], 501 + 126 + 4 * 1001);
  EXPECT_TRUE(result["times"][1]["tiles"].is_null());  // mase-cuda supports 8 bits only
}

TEST(BenchDequantize, SpellsOutAnElementOfEitherBranch) {
  for (const int bits : {8, 4}) {
    const Json spelled = dequantized(
        {"--elements", "1000", "--group", "8", "--bits", std::to_string(bits)})["spelled"];
    ASSERT_EQ(spelled.size(), 2);
    EXPECT_EQ(spelled[0]["branch"], "out - bias");
    EXPECT_EQ(spelled[1]["branch"], "out");
    for (const Json& element : spelled) {
      const int mantissa = element["mantissa"], scale = element["scale"];
      EXPECT_EQ(element["value"], std::ldexp(mantissa, scale - 125 - bits));
      EXPECT_EQ(element["code"].get<std::string>().size(), static_cast<std::size_t>(bits));
      EXPECT_EQ(element["unit"], std::abs(mantissa) >> (bits - 2) & 1);
      EXPECT_EQ(element["branch"] == "out", element["out"] == element["bfloat16"]);
    }
  }
}

TEST(BenchDequantize, TellsPeopleTheSame) {
  const std::string text = run_well({"bench", "dequantize", "--elements", "4096", "--group", "32",
                                     "--runs", "1", "--threads", "1"},
                                    workshop())
                               .output;
  for (const char* part : {"mxint8 to bf16 on one thread", "Share of copy", "Tile rows", "Grid x",
                           "|m| & 0x40", "clear: no leading 1", "out - bias = "})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(BenchDequantize, DrawsHowTheWorkIsCut) {
  const TemporaryFolder folder;
  const std::vector<std::string> words = {"bench",    "dequantize", "--elements", "1000",
                                          "--group",  "40",         "--runs",     "1",
                                          "--figure", "tiles"};
  run_well(words, folder.path());
  EXPECT_NE(read_file(folder.path() / "tiles.svg").find("block (0, 1)"), std::string::npos);
  EXPECT_TRUE(read_file(folder.path() / "tiles.png").starts_with("\x89PNG"));
  const Ending refused = run_hone(words, folder.path());
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.messages.find("tiles.svg"), std::string::npos) << refused.messages;
  std::vector<std::string> again = words;
  again.emplace_back("--overwrite");
  run_well(again, folder.path());
  again[5] = "32";
  EXPECT_NE(run_hone(again, folder.path())
                .messages.find("that is a multiple of the group size 32, got 1,000"),
            std::string::npos);
}

TEST(BenchDequantize, RefusesWhatDoesNothingOrCannotBe) {
  const auto expect_refusal = [](int code, const std::string& message,
                                 std::vector<std::string> more) {
    more.insert(more.begin(), "bench");
    const Ending ending = run_hone(more, workshop());
    EXPECT_EQ(ending.code, code) << ending.messages;
    EXPECT_NE(ending.messages.find(message), std::string::npos) << ending.messages;
  };
  expect_refusal(2, "--batch_size is an option of `hone bench MODEL`",
                 {"dequantize", "--batch_size", "2"});
  expect_refusal(2, "--elements is an option of `hone bench dequantize`",
                 {"model", "--elements", "2"});
  for (const char* wrong : {"0", "12x", "4,,5", "-3"})
    expect_refusal(2,
                   fmt::format("--elements: expected whole numbers of at least 1 with commas "
                               "between them, got '{}'",
                               wrong),
                   {"dequantize", fmt::format("--elements={}", wrong)});
  expect_refusal(2, "--elements needs a value", {"dequantize", "--elements="});
  expect_refusal(2, "--to: expected bf16 or fp32, got 'fp16'", {"dequantize", "--to", "fp16"});
  expect_refusal(2, "--bits: expected 8 or 4, got '6'", {"dequantize", "--bits", "6"});
  expect_refusal(2, "--figure: mase-cuda supports 8-bit elements only, got 4; leave it out",
                 {"dequantize", "--bits", "4", "--figure", "tiles"});
  expect_refusal(1, "not enough memory: 1,000,000,000,000,000 elements take",
                 {"dequantize", "--elements", "1000000000000000"});
}

TEST(LongBenchDequantize, TakesTheWholeTableOfTheLab) {
  const Json times = run_json({"bench", "dequantize", "--runs", "1"}, workshop())["times"];
  ASSERT_GE(times.size(), 5 * 7);  // fewer if memory is short
  EXPECT_EQ(times[0]["elements"], 1024);
  EXPECT_EQ(times[0]["group"], 8);
  EXPECT_EQ(times[6]["group"], 512);
  EXPECT_GE(times.back()["elements"], 16777216);
}

TEST(Bench, TimesProductsOfCodes) {
  const Json times = run_json({"bench", "model", "--batch_size", "2", "--tokens", "8", "--runs",
                               "1", "--native", "mxint(bits=4)", "--profile"},
                              workshop());
  EXPECT_EQ(times["arithmetic"], "native");
  EXPECT_GT(times["peak_int8_gops"].get<double>(), 0);
  EXPECT_NE(times["kernels"].dump().find("native_linear / integers"), std::string::npos);
  const Json bf16 = run_json({"bench", "model", "--batch_size", "2", "--tokens", "8", "--runs", "1",
                              "--native", "bf16", "--profile"},
                             workshop());
  EXPECT_EQ(bf16["arithmetic"], "native");
  EXPECT_NE(bf16["kernels"].dump().find("native_linear / bf16"), std::string::npos);
  EXPECT_GT(bf16["share_of_bf16_peak"].get<double>(), 0);
  EXPECT_TRUE(bf16["share_of_int8_peak"].is_null());
  const Ending fp16 = run_hone({"bench", "model", "--native", "fp16"}, workshop());
  EXPECT_EQ(fp16.code, 1);
  EXPECT_NE(fp16.messages.find("native computation does not support weights in fp16"),
            std::string::npos)
      << fp16.messages;
  const Ending both =
      run_hone({"bench", "model", "--native", "int(bits=8)", "--train"}, workshop());
  EXPECT_EQ(both.code, 2);
  EXPECT_NE(both.messages.find("--native times inference"), std::string::npos) << both.messages;
}

}  // namespace
}  // namespace hone::testing
