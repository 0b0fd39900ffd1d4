#include <unistd.h>

#include <cmath>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/screen.h"
#include "hone/compiler/machine_code.h"
#include "hone/cuda/card_peaks.h"
#include "hone/cuda/compiler.h"
#include "hone/cuda/products.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/kernels/peak.h"
#include "hone/report/table.h"
#include "hone/runtime/machine.h"
#include "hone/runtime/peaks.h"

namespace hone {
namespace {

constexpr std::uint64_t kLittle = std::uint64_t{1} << 30;  // bytes of memory or disk

/// A program that hone runs for a part of its work.
struct Program {
  std::string name;
  std::vector<std::string> version_command;
  std::string package;
  std::string without;  ///< what there is not without it, with its verb
};

const std::vector<Program>& programs() {
  static const std::vector<Program> rows = {
      {"gnuplot", {"gnuplot", "--version"}, "gnuplot-nox", "are no figures"},
      {"graphviz", {"dot", "-V"}, "graphviz", "is no hone draw"}};
  return rows;
}

/// What is shown, for people and for programs, and what is amiss.
struct Checkup {
  Table table{{{"what", "What"}, {"value", "Value"}}};
  Json json = Json::object();
  std::vector<std::string> problems;

  void add(const std::string& key, const std::string& what, const std::string& value, Json raw) {
    table.add_row({what, value});
    json[key] = std::move(raw);
  }
};

std::string size_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

void check_processor(const Machine& machine, int threads, Checkup& c) {
  c.add("hone", "hone", fmt::format("{}, built with {}", hone_version(), machine.compiler),
        hone_version());
  c.json["compiler"] = machine.compiler;
  c.add("system", "system", machine.system, machine.system);
  c.add("processor", "processor", machine.processor, machine.processor);
  c.add("threads", "threads", fmt::format("{} of {} processors", threads, machine.processors),
        threads);
  c.json["processors"] = machine.processors;
  if (threads > machine.processors)
    c.problems.push_back(
        fmt::format("{} threads on {} processors wait for each other; give --threads {}", threads,
                    machine.processors, machine.processors));
  const InstructionSets present = instruction_sets();
  std::vector<std::string> absent_names;
  const std::vector<std::string> all = names({true, true, true, true, true, true});
  for (const std::string& name : all)
    if (std::ranges::find(machine.instruction_sets, name) == machine.instruction_sets.end())
      absent_names.push_back(name);
  std::string text = fmt::format("{}", fmt::join(machine.instruction_sets, ", "));
  if (!absent_names.empty()) text += fmt::format("; absent: {}", fmt::join(absent_names, ", "));
  c.add("instruction_sets", "instruction sets", text, machine.instruction_sets);
  c.json["absent_instruction_sets"] = absent_names;
  c.add("vector_target", "kernels run with",
        machine.vector_target +
            (machine.vector_target.starts_with("AVX3") ? ", Highway's name of AVX-512" : ""),
        machine.vector_target);
  if (!present.avx2 || !present.fma)
    c.problems.push_back(
        "the processor has no AVX2 with FMA: products take several times as long; use another "
        "machine for long training");
}

void check_memory(const Machine& machine, Checkup& c) {
  const MachineMemory& memory = machine.memory;
  std::string text = fmt::format("{}, {} available", size_text(memory.total_bytes),
                                 size_text(memory.available_bytes));
  std::uint64_t usable = memory.available_bytes;
  if (machine.memory_limit_bytes) {
    text += fmt::format("; this process may have {}", size_text(*machine.memory_limit_bytes));
    usable = std::min(usable, *machine.memory_limit_bytes);
  }
  c.add("memory_bytes", "memory", text, memory.total_bytes);
  c.json["memory_available_bytes"] = memory.available_bytes;
  c.json["memory_limit_bytes"] =
      machine.memory_limit_bytes ? Json(*machine.memory_limit_bytes) : Json();
  if (usable < kLittle)
    c.problems.push_back(fmt::format(
        "only {} of memory can be had: end other programs, or give smaller batches (--batch_size)",
        size_text(usable)));
}

void check_folder(const std::string& key, const std::string& what, const fs::path& folder,
                  Checkup& c) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) {
    c.add(key, what, fmt::format("{}: {}", folder.string(), error.message()), nullptr);
    c.problems.push_back(fmt::format("{}: {}", folder.string(), error.message()));
    return;
  }
  c.add(key, what, fmt::format("{} free in {}", size_text(space.available), folder.string()),
        space.available);
  if (space.available < kLittle)
    c.problems.push_back(
        fmt::format("only {} of disk are free in {}: results may not find room; delete something",
                    size_text(space.available), folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    c.problems.push_back(
        fmt::format("{}: cannot be written to; work in another folder, or set "
                    "TMPDIR if it is the temporary one",
                    folder.string()));
}

// Measures again; what is shown is the highest known.
void check_peaks(Context& context, Checkup& c) {
  ThreadPool alone(1);
  const int threads = context.pool.threads();
  const fs::path file = peaks_file();
  std::vector<std::string> notes;
  Json all = Json::array();
  const auto add = [&](const char* key, const char* what, const std::string& unit, PeakKind kind,
                       int on, double measured) {
    const Peak peak = keep_highest(kind, on, measured, file, notes);
    c.add(key, what, fmt::format("{} {}, {}", three_digits(peak.value), unit, provenance(peak)),
          peak.value);
    all.push_back({{"kind", to_string(kind)},
                   {"threads", on},
                   {"value", peak.value},
                   {"measured_now", peak.measured_now},
                   {"date", peak.date}});
  };
  add("peak_gflops_one_thread", "peak, fp32", "GFLOP/s on one thread", PeakKind::fp32_gflops, 1,
      kernels::measure_fma_gflops(alone));
  if (threads > 1)
    add("peak_gflops", "", fmt::format("GFLOP/s on {}", threads), PeakKind::fp32_gflops, threads,
        kernels::measure_fma_gflops(context.pool));
  add("peak_int8_gops", "peak, 8-bit integers", fmt::format("GOP/s on {}", threads),
      PeakKind::int8_gops, threads, kernels::measure_int8_gops(context.pool));
  add("copy_gb_per_s", "memory bandwidth", "GB/s copying, read and written", PeakKind::copy_gbps,
      threads, kernels::measure_copy_gbps(context.pool));
  add("read_gb_per_s", "", "GB/s reading", PeakKind::read_gbps, threads,
      kernels::measure_read_gbps(context.pool));
  if (threads == 1) c.json["peak_gflops"] = c.json["peak_gflops_one_thread"];
  c.add("peaks_file", "peaks are kept in",
        file.empty() ? "nothing: HOME is not set" : file.string(),
        file.empty() ? Json() : Json(file.string()));
  c.json["peaks"] = all;
  c.problems.insert(c.problems.end(), notes.begin(), notes.end());
}

// Whether --executor compiled would generate code. Without it nothing is amiss.
void check_code_generation(Checkup& c) {
  const std::string missing = compiler::code_generation_missing();
  const int lanes = compiler::vector_lanes();
  c.add("llvm", "generated code",
        missing.empty()
            ? fmt::format("by LLVM {}, vectors of {} floats", compiler::llvm_version(), lanes)
            : "none: " + missing,
        compiler::llvm_version().empty() ? Json() : Json(compiler::llvm_version()));
  c.json["vector_lanes"] = lanes;
}

// Why no card can be used; "" when one can.
std::string cards_missing() {
  if (std::string driver = cuda::driver_missing(); !driver.empty()) return driver;
  constexpr const char* kInstall =
      "; install it of CUDA 12 or 13, or put its folder into LD_LIBRARY_PATH";
  if (const std::string compiler = cuda::compiler_state().missing; !compiler.empty())
    return "NVRTC, which compiles kernels: " + compiler + kInstall;
  if (const std::string products = cuda::products_missing(); !products.empty())
    return "cuBLAS, which multiplies: " + products + kInstall;
  try {
    cuda::device(0);
  } catch (const UserError& unfit) {
    return unfit.what();
  }
  return "";
}

void check_card_peaks(Checkup& c) {
  cuda::CudaDevice& card = cuda::device(0);
  Json peaks = Json::object();
  const auto measure = [&](const std::string& name, DType type) {
    const double tflops = cuda::measure_products_gflops(card, type) / 1e3;
    c.table.add_row(
        {"peak of cuda:0, " + name, fmt::format("{} TFLOP/s of products", three_digits(tflops))});
    peaks[name + "_tflops"] = tflops;
  };
  measure("fp32", DType::f32);
  card.set_arithmetic(cuda::Arithmetic::tf32);
  measure("tf32", DType::f32);
  card.set_arithmetic(cuda::Arithmetic::fp32);
  measure("bf16", DType::bf16);
  measure("fp16", DType::f16);
  const double tops = cuda::measure_byte_products_gops(card) / 1e3;
  c.table.add_row(
      {"peak of cuda:0, int8", fmt::format("{} TOP/s of products", three_digits(tops))});
  peaks["int8_tops"] = tops;
  const double copied = cuda::measure_copy_gbps(card);
  c.table.add_row({"memory of cuda:0", fmt::format("{:.0f} GB/s copying", copied)});
  peaks["copy_gb_per_s"] = copied;
  c.json["card_peaks"] = peaks;
}

// Whether --device cuda would do. Without a card nothing is amiss.
void check_cards(Checkup& c) {
  c.json["card_peaks"] = Json::object();
  Json found = Json::array();
  int index = 0;
  for (const cuda::Card& card : cuda::cards()) {
    const std::string text =
        fmt::format("{}, {}, {} multiprocessors, compute capability {}.{}", card.name,
                    size_text(card.memory_bytes), card.multiprocessors, card.major, card.minor);
    c.table.add_row({fmt::format("cuda:{}", index++), text});
    found.push_back(text);
  }
  const std::string missing = cards_missing();
  if (found.empty()) c.table.add_row({"GPUs", "none: " + missing});
  c.json["cards"] = found;
  c.json["cards_missing"] = missing.empty() ? Json() : Json(missing);
  if (found.empty()) return;
  if (!missing.empty()) return c.problems.push_back("graphs do not run on the GPU: " + missing);
  c.table.add_row({"NVRTC", cuda::compiler_state().version});
  try {
    check_card_peaks(c);
  } catch (const Error& fault) {  // a doctor goes on
    c.json["cards_missing"] = fault.what();
    c.problems.emplace_back(fault.what());
  }
}

void check_software(const Machine& machine, Checkup& c) {
  const fs::path cache = hub_cache_folder();
  std::error_code error;
  const bool there = fs::exists(cache, error);
  c.add("hub_cache", "Hugging Face cache", cache.string() + (there ? "" : " (not there)"),
        cache.string());
  c.json["hub_cache_exists"] = there;
  Json found = Json::object();
  for (const Program& program : programs()) {
    try {
      const std::string said = run_program(program.version_command, ".", program.package);
      const std::string version(trim(split(said, '\n').front()));
      c.table.add_row({program.name, version});
      found[program.name] = version;
    } catch (const UserError& missing) {
      c.table.add_row({program.name, "missing"});
      found[program.name] = nullptr;
      c.problems.push_back(fmt::format("{} is missing, without which there {}: apt-get install {}",
                                       program.name, program.without, program.package));
    }
  }
  c.json["programs"] = found;
  Json libraries = to_json(machine)["libraries"];
  libraries["CLI11"] = CLI11_VERSION;
  for (const auto& [name, version] : libraries.items())
    c.table.add_row({name, version.get<std::string>()});
  c.json["libraries"] = libraries;
}

void check_up(const RunArguments& a) {
  Context context = make_context(a);
  const Machine machine = this_machine();
  Checkup c;
  check_processor(machine, context.pool.threads(), c);
  check_peaks(context, c);
  check_code_generation(c);
  check_cards(c);
  check_memory(machine, c);
  check_folder("disk_here_bytes", "disk here", fs::current_path(), c);
  check_folder("disk_temporary_bytes", "disk for temporary files", fs::temp_directory_path(), c);
  check_software(machine, c);
  c.json["problems"] = c.problems;
  if (a.json) return print_result("doctor", c.json);
  print_text(a, to_text(c.table, text_style(a)));
  if (c.problems.empty()) return print_text(a, "\nNothing is missing.\n");
  print_text(a, "\nProblems:\n");
  for (const std::string& problem : c.problems) print_text(a, "- {}\n", problem);
}

}  // namespace

Command doctor_command() {
  return {"doctor", "Check what this machine supports and what is missing", "hone doctor",
          [](CLI::App& app) -> std::function<void()> {
            auto a = std::make_shared<RunArguments>();
            declare(app, *a);
            return [a] { check_up(*a); };
          },
          /*measures_time=*/true};
}

}  // namespace hone
