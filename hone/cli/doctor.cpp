#include "hone/cli/doctor.h"

#include <unistd.h>

#include <cmath>

#include "hone/base/process.h"
#include "hone/base/text.h"
#include "hone/cli/arguments.h"
#include "hone/cli/print_result.h"
#include "hone/cli/terminal_output.h"
#include "hone/compiler/machine_code.h"
#include "hone/cuda/compiler.h"
#include "hone/cuda/gpu_peaks.h"
#include "hone/cuda/products.h"
#include "hone/frontends/huggingface/hub_cache.h"
#include "hone/kernels/peak.h"
#include "hone/report/table.h"
#include "hone/runtime/peaks.h"

namespace hone {
namespace {

constexpr std::uint64_t kLowSpace = std::uint64_t{1} << 30;  // bytes of memory or disk

/// An external program that hone calls.
struct Program {
  std::string name;
  std::vector<std::string> version_command;
  std::string package;
  std::string effect;  ///< of its absence, as a clause
};

const std::vector<Program>& programs() {
  static const std::vector<Program> rows = {
      {"gnuplot", {"gnuplot", "--version"}, "gnuplot-nox", "figures are not drawn"},
      {"graphviz", {"dot", "-V"}, "graphviz", "`hone draw` does not work"}};
  return rows;
}

/// The results of the checks, as a table and as JSON fields, and the problems found.
struct Checkup {
  Table table{{{"what", "What"}, {"value", "Value"}}};
  DoctorFields fields;

  void show(const std::string& what, const std::string& value) { table.add_row({what, value}); }
  void complain(std::string problem) { fields.problems.push_back(std::move(problem)); }
};

std::string size_text(std::uint64_t bytes) { return human_bytes(static_cast<double>(bytes)); }

void check_processor(Checkup& c) {
  const Machine& machine = c.fields.machine;
  const int threads = machine.threads;
  c.show("hone", fmt::format("{}, built with {}", machine.hone, machine.compiler));
  c.show("system", machine.system);
  c.show("processor", machine.processor);
  c.show("threads", fmt::format("{} of {} processors", threads, machine.processors));
  if (threads > machine.processors)
    c.complain(
        fmt::format("{} threads exceed the {} processors and wait for each other; use --threads {}",
                    threads, machine.processors, machine.processors));
  const InstructionSets present = instruction_sets();
  std::vector<std::string>& absent_names = c.fields.absent_instruction_sets;
  const std::vector<std::string> all = names({true, true, true, true, true, true});
  for (const std::string& name : all)
    if (std::ranges::find(machine.instruction_sets, name) == machine.instruction_sets.end())
      absent_names.push_back(name);
  std::string text = fmt::format("{}", fmt::join(machine.instruction_sets, ", "));
  if (!absent_names.empty()) text += fmt::format("; absent: {}", fmt::join(absent_names, ", "));
  c.show("instruction sets", text);
  c.show("kernels run with",
         machine.vector_target +
             (machine.vector_target.starts_with("AVX3") ? ", Highway's name of AVX-512" : ""));
  if (!present.avx2 || !present.fma)
    c.complain(
        "the processor has no AVX2 with FMA: products take several times as long; use another "
        "machine for long training");
}

void check_memory(Checkup& c) {
  const Machine& machine = c.fields.machine;
  std::string text = fmt::format("{}, {} available", size_text(machine.memory_bytes),
                                 size_text(machine.memory_available_bytes));
  std::uint64_t usable = machine.memory_available_bytes;
  if (machine.memory_limit_bytes) {
    text += fmt::format("; limit of this process: {}", size_text(*machine.memory_limit_bytes));
    usable = std::min(usable, *machine.memory_limit_bytes);
  }
  c.show("memory", text);
  if (usable < kLowSpace)
    c.complain(
        fmt::format("only {} of memory is available; close other programs, or lower --batch_size",
                    size_text(usable)));
}

// Returns the free bytes; null if they are unknown.
std::optional<std::uintmax_t> check_folder(const std::string& what, const fs::path& folder,
                                           Checkup& c) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  if (error) {
    c.show(what, fmt::format("{}: {}", folder.string(), error.message()));
    c.complain(fmt::format("{}: {}", folder.string(), error.message()));
    return std::nullopt;
  }
  c.show(what, fmt::format("{} free in {}", size_text(space.available), folder.string()));
  if (space.available < kLowSpace)
    c.complain(
        fmt::format("only {} of disk are free in {}: results may not find room; delete something",
                    size_text(space.available), folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    c.complain(
        fmt::format("{}: cannot be written to; work in another folder, or set "
                    "TMPDIR if it is the temporary one",
                    folder.string()));
  return space.available;
}

// Measures both forms of products of bytes. Shares of the peak refer to the faster one.
template <typename Measure>
void measure_integers(Context& context, Measure&& measure, Checkup& c) {
  DoctorFields& fields = c.fields;
  const int threads = context.pool.threads();
  const std::string unit = fmt::format("GOP/s on {}", threads);
  const double by_bytes = kernels::measure_int8_byte_gops(context.pool);
  const double widened = kernels::measure_int8_widened_gops(context.pool);
  fields.peak_int8_gops = measure("peak, 8-bit integers", unit, PeakKind::int8_gops, threads,
                                  std::max(by_bytes, widened));
  if (const char* instruction = kernels::int8_byte_instruction()) {
    fields.int8_byte_instruction = instruction;
    fields.peak_int8_byte_gops = measure(fmt::format("peak, bytes multiplied by {}", instruction),
                                         unit, PeakKind::int8_byte_gops, threads, by_bytes);
  } else {
    c.show("peak, bytes multiplied", "no instruction of the CPU does that");
  }
  fields.peak_int8_widened_gops = measure("peak, bytes widened to 16 bits", unit,
                                          PeakKind::int8_widened_gops, threads, widened);
}

// Measures products of bfloat16 and of signs.
template <typename Measure>
void measure_other_products(Context& context, Measure&& measure, Checkup& c) {
  const int threads = context.pool.threads();
  const double bf16 = kernels::measure_bf16_gflops(context.pool);
  if (bf16 > 0)
    c.fields.peak_bf16_gflops = measure("peak, bf16", fmt::format("GFLOP/s on {}", threads),
                                        PeakKind::bf16_gflops, threads, bf16);
  else
    c.show("peak, bf16", "the CPU has no instructions for bf16");
  c.fields.peak_sign_gops =
      measure("peak, signs", fmt::format("GOP/s on {}", threads), PeakKind::sign_gops, threads,
              kernels::measure_sign_gops(context.pool));
}

// Measures the peaks again, and shows the highest known ones.
void check_peaks(Context& context, Checkup& c) {
  ThreadPool alone(1);
  const int threads = context.pool.threads();
  const fs::path file = peaks_file();
  std::vector<std::string> notes;
  DoctorFields& fields = c.fields;
  const auto measure = [&](const std::string& what, const std::string& unit, PeakKind kind, int on,
                           double measured) {
    const Peak peak = keep_highest(kind, on, measured, file, notes);
    c.show(what, fmt::format("{} {}, {}", three_digits(peak.value), unit, provenance(peak)));
    fields.peaks.push_back({.kind = std::string(to_string(kind)),
                            .threads = on,
                            .value = peak.value,
                            .measured_now = peak.measured_now,
                            .date = peak.date});
    return peak.value;
  };
  fields.peak_gflops_one_thread =
      measure("peak, fp32", "GFLOP/s on one thread", PeakKind::fp32_gflops, 1,
              kernels::measure_fma_gflops(alone));
  fields.peak_gflops = fields.peak_gflops_one_thread;
  if (threads > 1)
    fields.peak_gflops = measure("", fmt::format("GFLOP/s on {}", threads), PeakKind::fp32_gflops,
                                 threads, kernels::measure_fma_gflops(context.pool));
  measure_integers(context, measure, c);
  measure_other_products(context, measure, c);
  fields.copy_gb_per_s =
      measure("memory bandwidth", "GB/s copying, read and written", PeakKind::copy_gbps, threads,
              kernels::measure_copy_gbps(context.pool));
  fields.read_gb_per_s = measure("", "GB/s reading", PeakKind::read_gbps, threads,
                                 kernels::measure_read_gbps(context.pool));
  if (!file.empty()) fields.peaks_file = file;
  c.show("peaks are stored in", file.empty() ? "no file: HOME is not set" : file.string());
  fields.problems.insert(fields.problems.end(), notes.begin(), notes.end());
}

// A peak must be this many times that of fp32 for products to count as faster, because peaks vary from run to run.
constexpr double kFaster = 1.1;

std::string speed_text(const FormatSpeed& speed) {
  if (speed.most_rows)
    return fmt::format(
        "faster than fp32 up to about {:.0f} rows of input (examples times tokens), where reading "
        "weights limits products",
        *speed.most_rows);
  if (!speed.peak_ratio) return "not faster than fp32: the CPU has no instructions for them";
  return speed.faster
             ? fmt::format("faster than fp32: at most {}×, by the peaks",
                           three_digits(*speed.peak_ratio))
             : fmt::format("not faster than fp32: {}× its peak", three_digits(*speed.peak_ratio));
}

// Derives advice on the choice of a format from the peaks and the kernels' thresholds.
void advise_on_formats(Checkup& c) {
  DoctorFields& fields = c.fields;
  const auto add_native = [&](const char* formats, std::optional<double> peak) {
    FormatSpeed speed{.formats = formats};
    if (peak) speed.peak_ratio = *peak / fields.peak_gflops;
    speed.faster = speed.peak_ratio && *speed.peak_ratio >= kFaster;
    fields.format_speeds.push_back(speed);
  };
  add_native("native int, mxint", fields.peak_int8_gops);
  add_native("native bf16", fields.peak_bf16_gflops);
  add_native("native binary", fields.peak_sign_gops);
  // An fp32 weight has 4 bytes and takes 2 operations per row. With this many rows, reading it and computing with it
  // take equally long.
  constexpr double kBytes = 4, kOperations = 2;
  fields.format_speeds.push_back(
      {.formats = "packed weights",
       .most_rows = kBytes / kOperations * fields.peak_gflops / fields.read_gb_per_s,
       .faster = true});
  for (const FormatSpeed& speed : fields.format_speeds) c.show(speed.formats, speed_text(speed));
  fields.sparsity_thresholds = sparsity_thresholds();
  for (const char* products : {"fp32", "native int"})
    c.show(fmt::format("zeros in {}", products),
           fmt::format("skipped from {} on", thresholds_text(products)));
  c.show("measure your shapes",
         "hone bench linear --shape INPUTS,OUTPUTS --rows 1,16,256 --sparsity 0,0.5,0.8,0.9");
}

// Checks whether --executor compiled would generate code. It is no problem if not.
void check_code_generation(Checkup& c) {
  const std::string missing = compiler::code_generation_missing();
  const std::string version = compiler::llvm_version();
  if (!version.empty()) c.fields.llvm = version;
  c.fields.vector_lanes = compiler::vector_lanes();
  c.show("generated code", missing.empty() ? fmt::format("by LLVM {}, vectors of {} floats",
                                                         version, c.fields.vector_lanes)
                                           : "none: " + missing);
}

// Returns why no GPU can be used; "" if one can.
std::string gpus_missing() {
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

void check_gpu_peaks(Checkup& c) {
  cuda::CudaDevice& gpu = cuda::device(0);
  std::map<std::string, double>& peaks = c.fields.gpu_peaks;
  const auto measure = [&](const std::string& name, DType type) {
    const double tflops = cuda::measure_products_gflops(gpu, type) / 1e3;
    c.show("peak of cuda:0, " + name, fmt::format("{} TFLOP/s of products", three_digits(tflops)));
    peaks[name + "_tflops"] = tflops;
  };
  measure("fp32", DType::f32);
  gpu.set_arithmetic(cuda::Arithmetic::tf32);
  measure("tf32", DType::f32);
  gpu.set_arithmetic(cuda::Arithmetic::fp32);
  measure("bf16", DType::bf16);
  measure("fp16", DType::f16);
  const double tops = cuda::measure_byte_products_gops(gpu) / 1e3;
  c.show("peak of cuda:0, int8", fmt::format("{} TOP/s of products", three_digits(tops)));
  peaks["int8_tops"] = tops;
  const double copied = cuda::measure_copy_gbps(gpu);
  c.show("memory of cuda:0", fmt::format("{:.0f} GB/s copying", copied));
  peaks["copy_gb_per_s"] = copied;
}

// Checks whether --device cuda works. It is no problem if the machine has no GPU.
void check_gpus(Checkup& c) {
  DoctorFields& fields = c.fields;
  for (const cuda::GpuInfo& gpu : cuda::gpus()) {
    const std::string text =
        fmt::format("{}, {}, {} multiprocessors, compute capability {}.{}", gpu.name,
                    size_text(gpu.memory_bytes), gpu.multiprocessors, gpu.major, gpu.minor);
    c.show(fmt::format("cuda:{}", fields.gpus.size()), text);
    fields.gpus.push_back(text);
  }
  const std::string missing = gpus_missing();
  if (!missing.empty()) fields.gpus_missing = missing;
  if (fields.gpus.empty()) return c.show("GPUs", "none: " + missing);
  if (!missing.empty()) return c.complain("graphs do not run on the GPU: " + missing);
  c.show("NVRTC", cuda::compiler_state().version);
  try {
    check_gpu_peaks(c);
  } catch (const Error& fault) {  // the other checks still run
    fields.gpu_peaks.clear();
    fields.gpus_missing = fault.what();
    c.complain(fault.what());
  }
}

void check_software(Checkup& c) {
  DoctorFields& fields = c.fields;
  std::error_code error;
  fields.hub_cache = hub_cache_folder();
  fields.hub_cache_exists = fs::exists(fields.hub_cache, error);
  c.show("Hugging Face cache",
         fields.hub_cache.string() + (fields.hub_cache_exists ? "" : " (does not exist)"));
  for (const Program& program : programs()) {
    std::optional<std::string>& version = fields.programs.emplace_back(program.name, "").second;
    try {
      const std::string said = run_program(program.version_command, ".", program.package);
      version = trim(split(said, '\n').front());
    } catch (const UserError& missing) {
      version.reset();
      c.complain(fmt::format("{} is missing, so {}: apt-get install {}", program.name,
                             program.effect, program.package));
    }
    c.show(program.name, version.value_or("missing"));
  }
  fields.machine.libraries.emplace_back("CLI11", CLI11_VERSION);
  for (const auto& [name, version] : fields.machine.libraries) c.show(name, version);
}

struct DoctorArguments {
  RunArguments run;
};

Options options_of(const DoctorArguments*) { return group<&DoctorArguments::run>(host_options()); }

void check_up(DoctorArguments& a) {
  Context context = make_context(a.run);
  Checkup c;
  c.fields.machine = this_machine(context.pool.threads());
  check_processor(c);
  check_peaks(context, c);
  advise_on_formats(c);
  check_code_generation(c);
  check_gpus(c);
  check_memory(c);
  c.fields.disk_here_bytes = check_folder("disk here", fs::current_path(), c);
  c.fields.disk_temporary_bytes =
      check_folder("disk for temporary files", fs::temp_directory_path(), c);
  check_software(c);
  if (a.run.json) return print_result("doctor", to_json(c.fields));
  print_text(a.run, to_text(c.table, text_style(a.run)));
  if (c.fields.problems.empty()) return print_text(a.run, "\nNothing is missing.\n");
  print_text(a.run, "\nProblems:\n");
  for (const std::string& problem : c.fields.problems) print_text(a.run, "- {}\n", problem);
}

}  // namespace

const Fields& fields_of(const PeakResult*) {
  using P = PeakResult;
  static const Fields fields =
      describe<P>("peak", "The highest rate that was measured on this machine.",
                  field<&P::kind>("kind", "What was measured, with its unit."),
                  field<&P::threads>("threads", "Threads that were used."),
                  field<&P::value>("value", "The highest known rate."),
                  field<&P::measured_now>("measured_now", "The rate in this run."),
                  field<&P::date>("date", Unit::utc, "Date of the highest rate."));
  return fields;
}

const Fields& fields_of(const FormatSpeed*) {
  using F = FormatSpeed;
  static const Fields fields = describe<F>(
      "format_speed",
      "Whether products of some formats are expected to be faster than those of fp32. An estimate: "
      "`hone bench linear` measures products.",
      field<&F::formats>("formats", "The formats; native: of weights and inputs."),
      field<&F::peak_ratio>("peak_ratio",
                            "The measured peak of their products relative to that of fp32: the "
                            "largest possible speedup of products that arithmetic limits. Null: "
                            "the CPU has no instructions for them, or products are of fp32."),
      field<&F::most_rows>("most_rows",
                           "Rows of the input, examples times tokens, up to which reading fp32 "
                           "weights limits products, by the measured peaks; null: of native "
                           "formats."),
      field<&F::faster>("faster", "They are expected to be faster, up to that many rows."));
  return fields;
}

const Fields& fields_of(const DoctorFields*) {
  using D = DoctorFields;
  static const Fields fields = describe<D>(
      "doctor", "Hardware, software and speed of this machine.", inlined<&D::machine>(),
      field<&D::absent_instruction_sets>("absent_instruction_sets",
                                         "Instruction sets that hone uses and this CPU lacks."),
      field<&D::peak_gflops_one_thread>("peak_gflops_one_thread", Unit::gflop_per_second,
                                        "Fp32 multiply-adds, measured."),
      field<&D::peak_gflops>("peak_gflops", Unit::gflop_per_second, "The same on all threads."),
      field<&D::peak_int8_gops>("peak_int8_gops", Unit::gop_per_second,
                                "Products of bytes and their sums, measured: the faster of the two "
                                "forms, which shares of the peak refer to."),
      field<&D::peak_int8_byte_gops>("peak_int8_byte_gops", Unit::gop_per_second,
                                     "By the instruction that multiplies bytes; null: none."),
      field<&D::peak_int8_widened_gops>("peak_int8_widened_gops", Unit::gop_per_second,
                                        "With bytes widened to 16 bits before the multiplication."),
      field<&D::int8_byte_instruction>("int8_byte_instruction",
                                       "The instruction that multiplies bytes; null: none."),
      field<&D::peak_bf16_gflops>("peak_bf16_gflops", Unit::gflop_per_second,
                                  "Products of bfloat16 pairs and their sums, measured; null: the "
                                  "CPU has no instructions for them."),
      field<&D::peak_sign_gops>("peak_sign_gops", Unit::gop_per_second,
                                "Products of signs and their sums, measured."),
      field<&D::copy_gb_per_s>("copy_gb_per_s", Unit::gigabytes_per_second,
                               "Copying memory, measured."),
      field<&D::read_gb_per_s>("read_gb_per_s", Unit::gigabytes_per_second,
                               "Reading memory, measured."),
      field<&D::format_speeds>("format_speeds",
                               "Formats that are expected to be faster than fp32 on this CPU."),
      field<&D::sparsity_thresholds>(
          "sparsity_thresholds",
          "Sparsities from which on products on the CPU skip zeros, by pattern."),
      field<&D::peaks>("peaks", "The measured rates, with dates and what was measured now."),
      field<&D::peaks_file>("peaks_file", "File that stores them; null: they are not stored."),
      field<&D::llvm>("llvm", "Version of LLVM for --executor compiled; null: none."),
      field<&D::vector_lanes>("vector_lanes",
                              "Floats in a vector of generated code; 0: no code is generated."),
      field<&D::gpus>("gpus", "GPUs, by the number of their device."),
      field<&D::gpus_missing>("gpus_missing", "Why no GPU can be used; null: one can."),
      field<&D::gpu_peaks>("gpu_peaks",
                           "Of the first GPU, measured: products in each arithmetic in 10^12 "
                           "operations a second, memory copied in GB/s; empty without one."),
      field<&D::disk_here_bytes>("disk_here_bytes", Unit::bytes,
                                 "Free in the current folder; null: unknown."),
      field<&D::disk_temporary_bytes>("disk_temporary_bytes", Unit::bytes,
                                      "Free in the folder for temporary files; null: unknown."),
      field<&D::hub_cache>("hub_cache", "Folder of models of the Hugging Face hub."),
      field<&D::hub_cache_exists>("hub_cache_exists", "That folder exists."),
      field<&D::programs>("programs", "Versions of the programs that hone calls; null: missing."),
      field<&D::problems>("problems", "What is missing or too little, one sentence each."));
  return fields;
}

Command doctor_command() {
  return {.name = "doctor",
          .summary = "Check what this machine supports and what is missing",
          .example = "hone doctor",
          .run = runs<DoctorArguments, check_up>(),
          .stage = {.allowed = false}};
}

}  // namespace hone
