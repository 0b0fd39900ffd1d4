#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/cli/run_hone.h"
#include "tests/support/expect.h"

// Tests of --device cuda with a fake driver (drivers/driver.cpp), so that no GPU is needed: faulty machines, and a GPU
// that computes nothing, on which all host code runs.
namespace hone::testing {
namespace {

constexpr int kWrongCommandLine = 2, kOurFault = 70;

// Makes the started programs load the driver and libraries in `folder` instead of the machine's.
class DriverIn {
 public:
  DriverIn(const fs::path& folder, const std::string& state) {
    const char* const set = ::getenv("LD_LIBRARY_PATH");
    if (set != nullptr) before_ = set;
    ::setenv("LD_LIBRARY_PATH", (folder.string() + (set ? ":" + before_ : "")).c_str(), 1);
    ::setenv("HONE_TEST_GPU", state.c_str(), 1);
    ::setenv("XDG_CACHE_HOME", caches_.path().c_str(), 1);
  }
  ~DriverIn() {
    before_.empty() ? ::unsetenv("LD_LIBRARY_PATH")
                    : ::setenv("LD_LIBRARY_PATH", before_.c_str(), 1);
    ::unsetenv("HONE_TEST_GPU");
    ::unsetenv("XDG_CACHE_HOME");
  }
  DriverIn(const DriverIn&) = delete;
  DriverIn& operator=(const DriverIn&) = delete;

 private:
  std::string before_;
  TemporaryFolder caches_;
};

// Sets HONE_TEST_GPU to `state`. An empty state is a GPU without a fault.
class TestGpu : public DriverIn {
 public:
  explicit TestGpu(const std::string& state = "") : DriverIn(HONE_DRIVERS, state) {}
};

fs::path plugin_file(const std::string& name) { return fs::path(HONE_PLUGINS) / (name + ".so"); }

std::vector<std::string> on_gpu(std::vector<std::string> words) {
  words.insert(words.end(), {"--device", "cuda", "--threads", "1", "--quiet"});
  return words;
}

// Returns one command line for each kind of job.
std::vector<std::vector<std::string>> jobs_on_gpu(const fs::path& folder) {
  const std::string model = workshop() / "model", data = workshop() / "reviews.csv";
  return {
      on_gpu({"eval", model, "--data", data, "-o", folder / "measured"}),
      on_gpu({"train", model, "--data", data, "--max_steps", "2", "-o", folder / "trained"}),
      on_gpu({"quantize", model, "--format", "int", "--data", data, "-o", folder / "rounded"}),
      on_gpu({"predict", model, "a fine film", "-o", folder / "predicted.csv"}),
      on_gpu({"bench", model, "--batch_size", "2", "--tokens", "8", "--runs", "1"}),
      on_gpu({"profile", model, "--batch_size", "2", "--tokens", "8", "-o", folder / "profile"})};
}

// Expects every job to exit with `code` and a single error that contains all fragments, and to write nothing.
void expect_failures(int code, const std::vector<std::string>& fragments) {
  const TemporaryFolder folder;
  for (const std::vector<std::string>& words : jobs_on_gpu(folder.path())) {
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, code) << words[0] << ": " << ending.messages;
    EXPECT_EQ(ending.output, "") << words[0];
    EXPECT_NE(ending.messages.find("error: "), std::string::npos) << words[0] << ending.messages;
    EXPECT_EQ(ending.messages.find("error: "), ending.messages.rfind("error: "))
        << words[0] << ": one error is told once: " << ending.messages;
    for (const std::string& fragment : fragments)
      EXPECT_NE(ending.messages.find(fragment), std::string::npos)
          << words[0] << ": expected '" << fragment << "' in " << ending.messages;
    EXPECT_EQ(entries(folder.path()), std::vector<std::string>()) << words[0];
  }
}

Json doctors_findings() {
  return run_json({"doctor", "--threads", "1"}, fs::temp_directory_path());
}

// Expects exactly one problem to contain the fragment.
void expect_problem(const Json& found, const std::string& fragment) {
  const auto names_it = [&](const Json& problem) {
    return problem.get<std::string>().find(fragment) != std::string::npos;
  };
  EXPECT_EQ(std::ranges::count_if(found["problems"], names_it), 1)
      << "expected '" << fragment << "' in " << found["problems"];
}

// ---- machines without a usable GPU

TEST(Devices, WithoutADriverAreRefused) {
  // The loader finds this invalid library first on machines that have a GPU.
  const TemporaryFolder none;
  none.file("libcuda.so.1", "no library\n");
  const DriverIn driver(none.path(), "");
  expect_failures(1, {"no GPU can be used: NVIDIA's driver: libcuda.so.1 is not installed",
                      "omit --device to run on the CPU"});
  const Json found = doctors_findings();
  EXPECT_EQ(found["gpus"], Json::array());
  EXPECT_EQ(found["gpus_missing"], "NVIDIA's driver: libcuda.so.1 is not installed");
  EXPECT_EQ(found["gpu_peaks"], Json::object());
  for (const Json& problem : found["problems"])
    EXPECT_EQ(problem.get<std::string>().find("NVIDIA"), std::string::npos)
        << "a machine without a GPU lacks nothing: " << problem;
}

TEST(Devices, WithoutAGpuAreRefused) {
  const TestGpu gpu("no_gpu");
  expect_failures(
      1, {"no GPU can be used: NVIDIA's driver finds no GPU", "omit --device to run on the CPU"});
}

TEST(Devices, WithAnOldDriverAreRefused) {
  const TestGpu gpu("old_driver");
  const std::string what = "NVIDIA's driver is too old: it is for CUDA 11.4, hone needs 12.0";
  expect_failures(1, {what, "omit --device to run on the CPU"});
  const Json found = doctors_findings();
  EXPECT_EQ(found["gpus"], Json::array());
  EXPECT_EQ(found["gpus_missing"], what);
}

TEST(Devices, ThatAreOldAreRefused) {
  const TestGpu gpu("old_gpu");
  const std::string what = "cuda:0 (Test GPU) has compute capability 7.0; hone's kernels need 8.0";
  expect_failures(1, {what, "omit --device to run on the CPU"});
  const Json found = doctors_findings();
  EXPECT_EQ(found["gpus"].size(), 1);
  EXPECT_EQ(found["gpu_peaks"], Json::object());
  EXPECT_TRUE(found["gpus_missing"].get<std::string>().starts_with(what));
  expect_problem(found, what);
}

TEST(Devices, ThatCannotAllocateInStreamOrderAreRefused) {
  const TestGpu gpu("no_pools");
  expect_failures(1, {"cuda:0 (Test GPU) cannot allocate in stream order"});
}

TEST(Devices, ThatAreNotThereAreRefused) {
  const TestGpu gpu;
  const Ending ending = run_hone({"bench", "tiny", "--device", "cuda:1"}, workshop());
  EXPECT_EQ(ending.code, 1);
  EXPECT_EQ(ending.messages, "error: there is no cuda:1; this machine has 1 GPU\n");
}

// A library with NVRTC's name, but without its functions.
TEST(Devices, WithoutACompilerAreShownByDoctorWithWhatToDo) {
  const TemporaryFolder folder;
  const fs::path drivers(HONE_DRIVERS);
  for (const char* name : {"libcuda.so.1", "libcublasLt.so.13"})
    fs::create_symlink(drivers / name, folder.path() / name);
  fs::create_symlink(drivers / "libcuda.so.1", folder.path() / "libnvrtc.so.13");
  const DriverIn driver(folder.path(), "");
  const Json found = doctors_findings();
  EXPECT_EQ(found["gpus"].size(), 1);
  EXPECT_EQ(found["gpus_missing"],
            "NVRTC, which compiles kernels: libnvrtc.so.13 is too old: it has no nvrtcVersion; "
            "install it of CUDA 12 or 13, or put its folder into LD_LIBRARY_PATH");
  expect_problem(found, "install it of CUDA 12 or 13, or put its folder into LD_LIBRARY_PATH");
  expect_failures(1, {"kernels for the GPU cannot be compiled: libnvrtc.so.13 is too old",
                      "install NVRTC of CUDA 12 or 13"});
}

// ---- GPUs that fail

TEST(Devices, ThatAreFullSayHowMuchIsMissing) {
  const TestGpu gpu("full");
  expect_failures(1, {"not enough memory on cuda:0: ", "smaller"});
}

TEST(Devices, ThatAreLostEndTheJob) {
  for (const char* state : {"error=214", "error=214,after=5"}) {
    const TestGpu gpu(state);
    expect_failures(1, {"failed on the GPU: CUDA_ERROR_ECC_UNCORRECTABLE: "
                        "uncorrectable ECC error encountered"});
  }
}

// Simulates an invalid memory access by one of hone's kernels.
TEST(Devices, WhoseKernelsFailAskForAReport) {
  for (const char* state : {"error=719", "error=719,after=5"}) {
    const TestGpu gpu(state);
    expect_failures(kOurFault, {"internal error: ", "failed on the GPU: CUDA_ERROR_LAUNCH_FAILED: ",
                                "This is a fault of hone, not yours; please report it"});
  }
}

TEST(Devices, ThatAreLostWhileTheyTrainLeaveACheckpointToGoOnFrom) {
  const TemporaryFolder folder;
  std::vector<std::string> words =
      on_gpu({"train", workshop() / "model", "--data", workshop() / "reviews.csv", "--max_steps",
              "6", "--save_steps", "1", "-o", "out"});
  {
    const TestGpu gpu("error=214,after=500");
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, 1);
    EXPECT_NE(ending.messages.find("; the last checkpoint is out.partial/checkpoint-"),
              std::string::npos)
        << ending.messages;
    EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"out.partial"});
  }
  const TestGpu gpu;
  words.push_back("--resume");
  run_well(words, folder.path());
  EXPECT_EQ(entries(folder.path()), std::vector<std::string>{"out"});
}

// ---- a GPU that computes nothing

TEST(Devices, RunAllJobs) {
  const TestGpu gpu;
  const TemporaryFolder folder;
  for (const std::vector<std::string>& words : jobs_on_gpu(folder.path()))
    run_well(words, folder.path());
  EXPECT_EQ(entries(folder.path()), (std::vector<std::string>{"measured", "predicted.csv",
                                                              "profile", "rounded", "trained"}));
  for (const char* precision : {"tf32", "bf16", "fp16"})
    run_well(on_gpu({"eval", workshop() / "model", "--data", workshop() / "reviews.csv",
                     "--precision", precision}),
             folder.path());
  const std::string next =
      fmt::format("hone eval {} --data {} --device cuda", (folder.path() / "trained").string(),
                  (workshop() / "reviews.csv").string());
  EXPECT_NE(read_file(folder.path() / "trained/report.md").find(next), std::string::npos) << next;
  run_well(on_gpu({"kernels", "resnet18"}), folder.path());
  run_well(on_gpu({"kernels", "rounded"}), folder.path());
}

// Runs every command that trains or evaluates. Those that write a folder store the device in it.
TEST(Devices, AreNamedByEveryJobThatTrainsOrEvaluates) {
  const TestGpu gpu;
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  run_well({"train", "model", "--data", "reviews.csv", "--max_steps", "1", "--lora", "r=2", "-o",
            "adapter"},
           folder.path());
  const auto run = [&](std::vector<std::string> words, const std::string& output = "",
                       int code = 0) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    if (words[0] != "pass") words.insert(words.end(), {"--data", "reviews.csv"});
    if (!output.empty()) words.insert(words.end(), {"-o", output});
    const Ending ending = run_hone(on_gpu(words), folder.path());
    EXPECT_EQ(ending.code, code) << ending.messages;
    if (output.empty() || ending.code != code) return;
    EXPECT_EQ(read_json(folder.path() / output / "settings.json")["device"],
              "cuda:0, Test GPU, products of fp32 in fp32");
  };
  const std::vector<std::string> few = {"--max_steps", "2", "--batch_size", "8"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  for (const char* method : {"l1", "wanda", "first_order", "sparsegpt"})
    run({"prune", "model", "--method", method}, std::string("prune-") + method);
  run(with({"prune", "model", "--method", "movement", "--schedule", "cubic"}, few), "movement");
  run({"prune", "model", "--structure", "heads", "--method", "first_order"}, "heads");
  run({"trim", "model"}, "trim");
  run(with({"sparsities", "model", "--sparsities", "0.5"}, few), "sparsities");
  run(with({"widths", "model", "--widths", "8.4"}, few), "widths");
  run({"compare", "model", "prune-l1"}, "compare");
  run({"choose", "model", "prune-l1"}, "choose");
  run({"compare-formats", "model", "--candidate", "int(bits=8)"}, "formats");
  run({"suggest", "model", "--format", "integer(width=6,frac=3)"});
  run({"sensitivity", "model", "--formats", "int(bits=4)", "--sparsities", "0.5"}, "sensitivity");
  run({"statistics", "model"}, "statistics");
  run({"allocate", "model", "--formats", "int(bits=8),int(bits=2)", "--budget", "latency_ms<=1000",
       "--candidates", "2", "--no_cache"},
      "allocate");
  run({"lora", "merge", "model", "--adapter", "adapter"}, "merged");
  run({"pass", "model", "fuse_attention"}, "passed");
  // Five texts cannot show that a drop is within a limit, so the exit code is 3.
  run({"shrink", "model", "--only", "quantize", "--budget", "1m", "--max_evaluations", "1",
       "--no_cache"},
      "shrink", /*code=*/3);
  const Json times = read_json(folder.path() / "prune-l1/results.json")["times"];
  EXPECT_EQ(times[0]["device"], "cuda:0, Test GPU, products of fp32 in fp32");
}

// ---- several GPUs

TEST(Devices, ShareTheTrialsOfASearch) {
  const TestGpu gpus("gpus=2");
  const TemporaryFolder folder;
  fs::copy(workshop(), folder.path(), fs::copy_options::recursive);
  folder.file("space.toml", "[[precision]]\nformats = ['int(bits=[4,5,6,8])']\n");
  const std::vector<std::string> search = {"search", "model",       "--recipe",   "space.toml",
                                           "--data", "reviews.csv", "--no_cache", "--trials",
                                           "4",      "-o",          "out"};
  const Json both = run_json(on_gpu(search), folder.path());
  EXPECT_EQ(both["workers"], 2) << "one for each GPU";
  EXPECT_EQ(both["trials"]["complete"], 4);
  EXPECT_EQ(both["times"][0]["device"], "cuda:0, Test GPU, products of fp32 in fp32");
  // A search cannot be resumed on another device or in another precision.
  for (const std::vector<std::string>& elsewhere :
       {std::vector<std::string>{"--device", "cpu"}, {"--device", "cuda", "--precision", "bf16"}}) {
    std::vector<std::string> again = search;
    again.insert(again.end(), elsewhere.begin(), elsewhere.end());
    again.insert(again.end(), {"--resume", "--threads", "1", "--quiet"});
    const Ending ending = run_hone(again, folder.path());
    EXPECT_EQ(ending.code, 1) << ending.messages;
    EXPECT_NE(ending.messages.find("contains another finished run"), std::string::npos)
        << ending.messages;
  }
  const Ending joining =
      run_hone({"search", "model", "--recipe", "space.toml", "--data", "reviews.csv", "--no_cache",
                "--join", "--storage", "out/study.db", "--threads", "1", "--quiet"},
               folder.path());
  EXPECT_EQ(joining.code, 1) << joining.messages;
  EXPECT_NE(joining.messages.find("computed by: \"cuda, Test GPU, "), std::string::npos)
      << joining.messages;
  std::vector<std::string> one = search;
  one.back() = "one";
  one.insert(one.end(), {"--device", "cuda:1", "--threads", "1", "--quiet"});
  const Json alone = run_json(one, folder.path());
  EXPECT_EQ(alone["workers"], 1);
  EXPECT_EQ(alone["times"][0]["device"], "cuda:1, Test GPU, products of fp32 in fp32");
}

TEST(Devices, AreDescribedByDoctor) {
  const TestGpu gpu;
  const Json found = doctors_findings();
  EXPECT_EQ(found["gpus"], (Json{"Test GPU, 2 GiB, 2 multiprocessors, compute capability 8.0"}));
  EXPECT_EQ(found["gpus_missing"], nullptr);
  for (const char* peak :
       {"fp32_tflops", "tf32_tflops", "bf16_tflops", "int8_tops", "copy_gb_per_s"})
    EXPECT_GT(found["gpu_peaks"][peak], 0) << peak;
}

// The example of docs/developers/adding-a-kernel.md.
TEST(Devices, RunAKernelOfAPluginBeforeTheirOwn) {
  const TestGpu gpu;
  const auto profiled = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bench", "tiny", "--batch_size", "2", "--tokens", "8", "--runs", "1",
                               "--profile", "--plugin", plugin_file("gelu")});
    return run_well(on_gpu(more), workshop()).output;
  };
  for (const std::string& shown :
       {profiled({"--train"}), profiled({"--skip_pass", "fuse_linear"})}) {
    EXPECT_NE(shown.find("gelu / mine "), std::string::npos) << shown;
    EXPECT_EQ(shown.find("gelu / vector "), std::string::npos) << shown;
  }
  const std::string shown =
      run_well({"bench", "tiny", "--batch_size", "2", "--tokens", "8", "--runs", "1", "--train",
                "--profile", "--plugin", plugin_file("gelu")},
               workshop())
          .output;
  EXPECT_NE(shown.find("gelu / vector "), std::string::npos) << "the processor has its own";
}

TEST(Devices, NameTheKernelsThatAFormatOfAPluginHasNone) {
  const TestGpu gpu;
  const TemporaryFolder folder;
  const Ending ending =
      run_hone(on_gpu({"quantize", workshop() / "model", "--format", "apot", "--plugin",
                       plugin_file("apot"), "--data", workshop() / "reviews.csv", "-o", "out"}),
               folder.path());
  EXPECT_EQ(ending.code, 1) << ending.messages;
  for (const char* fragment :
       {"(quantize): no kernel on cuda:0; elements: the format does not round single values",
        "; integers: the format is not int"})
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
  EXPECT_TRUE(entries(folder.path()).empty());
}

TEST(Devices, SayWhatTheCompilerSaysOfAPluginsKernel) {
  const TestGpu gpu;
  const Ending ending = run_hone(on_gpu({"bench", "tiny", "--batch_size", "2", "--tokens", "8",
                                         "--train", "--plugin", plugin_file("wrong_kernel")}),
                                 workshop());
  EXPECT_EQ(ending.code, 1);
  for (const char* fragment : {"NVRTC 13.77 cannot compile wrong.cu", "as its source asks for"})
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
}

// ---- 16-bit precision on the CPU

TEST(Devices, ComputeInBf16OnTheProcessor) {
  const TemporaryFolder folder;
  const std::vector<std::string> data = {"--data", workshop() / "reviews.csv", "--precision",
                                         "bf16"};
  const auto with_data = [&](std::vector<std::string> words) {
    words.insert(words.end(), data.begin(), data.end());
    return words;
  };
  const Json in_bf16 = run_json(with_data({"eval", workshop() / "model"}), folder.path());
  const Json in_fp32 =
      run_json({"eval", workshop() / "model", "--data", workshop() / "reviews.csv"}, folder.path());
  EXPECT_EQ(in_bf16["arithmetic"], "bf16");
  EXPECT_EQ(in_bf16["in_fp32"]["eval_loss"], in_fp32["eval_loss"]);
  EXPECT_NE(in_bf16["eval_loss"], in_fp32["eval_loss"]);
  EXPECT_TRUE(in_bf16["comparison"]["flips"].is_number());
  EXPECT_TRUE(in_fp32["in_fp32"].is_null());

  // Results do not depend on the number of threads.
  const auto train = [&](const char* name, const char* threads) {
    run_well(with_data({"train", "tiny", "--max_steps", "3", "--batch_size", "4", "--threads",
                        threads, "-o", name}),
             folder.path());
    return read_file(folder.path() / name / "model.safetensors");
  };
  EXPECT_EQ(train("one", "1"), train("three", "3"));
}

// ---- command lines

// Commands that compute nothing have no --device: an ineffective option would hide where results were computed.
TEST(Devices, AreOptionsOfTheCommandsThatUseThem) {
  const std::set<std::string> host = {"tokenize", "pack",  "unpack", "convert", "export",
                                      "study",    "watch", "runs",   "plan",    "compile",
                                      "inspect",  "draw",  "diff",   "passes",  "formats",
                                      "doctor",   "cache", "schema", "man",     "completion"};
  for (const std::string& command : command_names()) {
    std::vector<std::string> words = {command, "--help-all"};
    if (command == "lora") words.insert(words.begin() + 1, "merge");
    const bool has = run_well(words, workshop()).output.find("\n  --device") != std::string::npos;
    EXPECT_EQ(has, !host.contains(command)) << command;
  }
  const Ending ending = run_hone({"pack", "model", "--device", "cuda", "-o", "x"}, workshop());
  EXPECT_EQ(ending.code, kWrongCommandLine) << ending.messages;
}

TEST(Devices, AreHandedToStagesThatHaveTheOption) {
  const TemporaryFolder folder;
  folder.file("stages.toml",
              "[stage.trained]\nrun = 'train'\nMODEL = 'tiny'\ndata = 'synth:tail?n=400'\n"
              "[stage.own]\nrun = 'eval'\nMODEL = '{trained}'\ndata = 'synth:tail?n=400'\n"
              "device = 'cpu'\n"
              "[stage.packed]\nrun = 'pack'\nMODEL = '{trained}'\nformat = 'int(bits=8)'\n");
  const Json planned =
      run_json({"run", "stages.toml", "--dry_run", "--device", "cuda", "--precision", "bf16"},
               folder.path())["planned"];
  const auto has = [&](int stage, const char* words) {
    return planned[stage]["command_line"].get<std::string>().find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(0, "--device cuda --precision bf16")) << planned;
  EXPECT_TRUE(has(1, "--device cpu --precision bf16")) << planned << "what a stage has stays";
  EXPECT_FALSE(has(2, "--device") || has(2, "--precision")) << planned;
}

TEST(Devices, AreNamedOnTheCommandLineAlone) {
  const TemporaryFolder folder;
  const auto refuse = [&](const std::vector<std::string>& more, const std::string& fragment) {
    std::vector<std::string> words = {
        "eval", workshop() / "model", "--data", workshop() / "reviews.csv", "-o", "out"};
    words.insert(words.end(), more.begin(), more.end());
    const Ending ending = run_hone(words, folder.path());
    EXPECT_EQ(ending.code, kWrongCommandLine) << ending.messages;
    EXPECT_NE(ending.messages.find(fragment), std::string::npos) << ending.messages;
    EXPECT_TRUE(entries(folder.path()).empty());
  };
  for (const char* device : {"gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:99999", "CUDA"})
    refuse({"--device", device},
           fmt::format("--device: expected cpu, cuda or cuda:N, got {}", device));
  for (const char* precision : {"tf32", "fp16"})
    refuse({"--precision", precision},
           fmt::format("--precision {} needs --device cuda; the CPU supports fp32 and bf16",
                       precision));
  refuse({"--device", "cuda", "--precision", "int8"}, "--precision");
}

}  // namespace
}  // namespace hone::testing
