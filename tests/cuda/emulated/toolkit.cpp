#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "hone/cuda/heuristic.h"

// NVRTC and cuBLASLt of an emulated GPU. The host's compiler compiles each source to a library, with emulation.h before
// it and its PTX replaced by functions of emulation.h. The path of the library is the machine code that the driver
// (cli/drivers/driver.cpp) loads. Products are plain loops. Built as both libraries. HONE_EMULATION is the folder of
// emulation.h, HONE_EMULATED the folder for compiled libraries.
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "." : value;
}

// ---- sources

/// The replacement of an inline PTX statement that contains `part`. Operands are the names of the surrounding function.
struct Instruction {
  std::string_view part, code;
};
constexpr Instruction kInstructions[] = {
    {"cvt.f32.f16", "y = emulated::of_half(x.bits);"},
    {"cvt.rn.bf16.f32", "y.bits = emulated::to_bfloat(x);"},
    {"cvt.rn.f16.f32", "y.bits = emulated::to_half(x);"},
    {"x2.f32 %0, %1, %2", "both = emulated::pair(low, high, TYPE[0] == 'b');"},
    {"fma.rn.bf16x2", "d = emulated::fused_bfloats(a, b, c);"},
    {"f32.bf16.bf16.f32", "emulated::multiply(sums, a, b.x, b.y, 'b');"},
    {"m16n8k32.row.col.s32", "emulated::multiply_bytes(d, a[0], a[1], a[2], a[3], b[0], b[1], c);"},
    {"m16n8k16.row.col.s32", "emulated::multiply_bytes(d, a0, a1, 0, 0, b0, 0, c);"},
    {"mma.sync", "emulated::multiply(sum, a, b0, b1, TYPE[0]);"},
    {"cvt.rna.tf32.f32", "rounded = emulated::to_tf32(x);"},
    {"x4.trans", "emulated::load_matrices(x, address, true);"},
    {"ldmatrix", "emulated::load_matrices(x, address, false);"},
    {"cp.async.cg", "emulated::copy_bytes(to, from, 16, is_there);"},
    {"cp.async.ca", "emulated::copy_bytes(to, from, 4, is_there);"},
    {"cp.async.", ""},
    {"x * 1.44269504f", "y = std::exp2(x * 1.44269504f);"},
    {"ex2.approx", "y = std::exp2(x);"},
    {"no_allocate.u32", "std::memcpy(&word, from, 4);"},
    {"no_allocate.u16", "std::memcpy(&half, from, 2);"},
    {"no_allocate.v4.u32", "std::memcpy(&words, from, 16);"},
    {"no_allocate.v2.u32",
     "std::memcpy(&read.words[0], codes + i, 4); std::memcpy(&read.words[kCodeWords - 1], codes + "
     "i + 4, 4);"}};

// Statements without a replacement remain, and the compiler rejects them.
std::string without_instructions(std::string text) {
  static const std::regex statement(R"(asm( volatile)?\s*\([^;]*?\)\s*;)");
  std::string result;
  std::smatch match;
  while (std::regex_search(text, match, statement)) {
    // A semicolon may end an instruction within its text, too.
    std::string all = match.str();
    std::string code = all;
    for (const Instruction& instruction : kInstructions) {
      if (all.find(instruction.part) == std::string::npos) continue;
      code = instruction.code;
      break;
    }
    result += match.prefix().str() + code;
    text = match.suffix().str();
  }
  return result + text;
}

std::string for_the_host(std::string text) {
  // Removes the semicolons of PTX, which are in strings.
  static const std::regex in_string(R"(;(\\n)?")");
  text = std::regex_replace(text, in_string, "\"");
  text = without_instructions(std::move(text));
  static const std::regex dynamic(R"(extern __shared__ ([A-Za-z0-9_<>, ]+?) ?(\w+)\[\];)");
  return std::regex_replace(text, dynamic,
                            "$1* const $2 = reinterpret_cast<$1*>(emulated::dynamic_memory);");
}

// Returns functions with which the driver launches the kernels of a preprocessed source.
std::string starts_of(const std::string& text) {
  static const std::regex kernel(R"(extern "C"\s+void\s+(\w+)\s*\()");
  std::string starts;
  for (auto found = std::sregex_iterator(text.begin(), text.end(), kernel);
       found != std::sregex_iterator(); ++found) {
    const std::string name = (*found)[1];
    starts += "extern \"C\" void emulated_" + name +
              "(const unsigned* extents, void** arguments, std::function<void()>* start) {\n"
              "  const EmulatedExtent grid{extents[0], extents[1], extents[2]}, block{extents[3], "
              "extents[4], extents[5]};\n"
              "  const auto body = emulated::start_of(" +
              name +
              ", arguments);\n"
              "  *start = [=] { emulated::run(grid, block, body); };\n}\n";
  }
  return starts;
}

struct Program {
  std::string source;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string code, log;
};

std::string read(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void write(const std::string& path, const std::string& text) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    mkdir(path.substr(0, slash).c_str(), 0777);
  std::ofstream(path) << text;
}

// Returns 0, or 6, NVRTC's code for compilation errors.
int compile(Program& program, int count, const char* const* options) {
  std::string all = program.source, definitions;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    if (option.rfind("-D", 0) != 0) continue;
    const std::size_t equals = option.find('=');
    definitions += "#define " + option.substr(2, equals - 2) + " " +
                   (equals == std::string::npos ? "1" : option.substr(equals + 1)) + "\n";
  }
  all += definitions;
  for (const auto& [name, text] : program.headers) all += name + text;
  all += read(variable("HONE_EMULATION") + "/emulation.h");
  char folder_name[32];
  std::snprintf(folder_name, sizeof folder_name, "%016zx", std::hash<std::string>()(all));
  const std::string folder = variable("HONE_EMULATED") + "/" + folder_name,
                    library = folder + "/kernels.so",
                    part = folder + "/" + std::to_string(getpid());
  struct stat found = {};
  if (stat(library.c_str(), &found) != 0) {
    for (const auto& [name, text] : program.headers)
      if (name != "cmath" && name != "cstdint") write(folder + "/" + name, for_the_host(text));
    const auto compiler = [&](const std::string& arguments) {
      return std::system(("g++ -std=c++20 " + arguments + " 2> " + part + ".log").c_str()) == 0;
    };
    write(part + ".cpp", "#define __CUDA_ARCH__ 800\n#include \"emulation.h\"\n" + definitions +
                             for_the_host(program.source));
    bool made = compiler("-E -P -I" + folder + " -I" + variable("HONE_EMULATION") + " " + part +
                         ".cpp -o " + part + ".ii");
    if (made) {
      write(part + ".ii", read(part + ".ii") + starts_of(read(part + ".ii")));
      made = compiler("-O1 -w -ffp-contract=off -fno-gnu-unique -shared -fPIC -fpreprocessed " +
                      part + ".ii -o " + part + ".so") &&
             std::rename((part + ".so").c_str(), library.c_str()) == 0;
    }
    if (!made) {
      program.log = read(part + ".log");
      return 6;
    }
  }
  program.code = "emulated:" + library;
  return 0;
}

// ---- products

/// A column-major matrix.
struct Layout {
  int type = 0;
  std::int64_t rows = 0, columns = 0, leading = 0, batch_stride = 0;
  std::int32_t batch = 1;
};

enum Type { kF32 = 0, kF16 = 2, kI8 = 3, kI32 = 10, kBf16 = 14 };

float value_at(const void* data, int type, std::int64_t at) {
  if (type == kF32) return static_cast<const float*>(data)[at];
  if (type == kI8) return static_cast<const std::int8_t*>(data)[at];
  const std::uint16_t bits = static_cast<const std::uint16_t*>(data)[at];
  float value = 0;
  if (type == kF16) {
    _Float16 half;
    std::memcpy(&half, &bits, 2);
    return float(half);
  }
  const std::uint32_t wide = std::uint32_t(bits) << 16;
  std::memcpy(&value, &wide, 4);
  return value;
}
void put(void* data, int type, std::int64_t at, double value) {
  if (type == kF32) {
    static_cast<float*>(data)[at] = float(value);
  } else if (type == kI32) {
    static_cast<std::int32_t*>(data)[at] = std::int32_t(value);
  } else if (type == kF16) {
    const _Float16 half = _Float16(float(value));
    std::memcpy(static_cast<std::uint16_t*>(data) + at, &half, 2);
  } else {
    const float rounded = float(value);
    std::uint32_t bits;
    std::memcpy(&bits, &rounded, 4);
    static_cast<std::uint16_t*>(data)[at] =
        std::uint16_t(rounded != rounded ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  }
}

struct Description {
  std::int32_t turns_a = 0, turns_b = 0, epilogue = 1, bias_type = 0;
  const void* bias = nullptr;
};

double followed(double value, int epilogue) {
  constexpr int kRelu = 2, kGelu = 32;
  if ((epilogue & kRelu) != 0) return value > 0 ? value : 0;
  if ((epilogue & kGelu) != 0)
    return 0.5 * value *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (value + 0.044715 * value * value * value)));
  return value;
}

/// d = epilogue(op(a) op(b)) + c.
struct Product {
  Description description;
  Layout of_a, of_b, of_d;
  const void *a, *b, *c;
  void* d;
};

void multiply(const Product& p) {
  constexpr int kBias = 4;
  const bool turns_a = p.description.turns_a != 0, turns_b = p.description.turns_b != 0;
  const std::int64_t inner = turns_a ? p.of_a.rows : p.of_a.columns;
  for (std::int64_t number = 0; number < p.of_d.batch; ++number)
    for (std::int64_t j = 0; j < p.of_d.columns; ++j)
      for (std::int64_t i = 0; i < p.of_d.rows; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < inner; ++k) {
          const std::int64_t at_a = turns_a ? k + i * p.of_a.leading : i + k * p.of_a.leading,
                             at_b = turns_b ? j + k * p.of_b.leading : k + j * p.of_b.leading;
          sum += double(value_at(p.a, p.of_a.type, number * p.of_a.batch_stride + at_a)) *
                 double(value_at(p.b, p.of_b.type, number * p.of_b.batch_stride + at_b));
        }
        if ((p.description.epilogue & kBias) != 0)
          sum += value_at(p.description.bias, p.description.bias_type, i);
        sum = followed(sum, p.description.epilogue);
        const std::int64_t at = number * p.of_d.batch_stride + i + j * p.of_d.leading;
        if (p.c != nullptr) sum += value_at(p.c, p.of_d.type, at);
        put(p.d, p.of_d.type, at, sum);
      }
}

// Puts work on the driver's queue: it is executed at once, or recorded while a run is captured.
void put_on_queue(std::function<void()> work) {
  static auto* const put = reinterpret_cast<void (*)(std::function<void()>)>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), "emulated_put_on_queue"));
  put(std::move(work));
}

using hone::cuda::Heuristic;

}  // namespace

extern "C" {

using Handle = void*;

int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 78;
  return 0;
}
int nvrtcCreateProgram(Program** program, const char* source, const char*, int count,
                       const char* const* texts, const char* const* names) {
  *program = new Program{source, {}, {}, {}};
  for (int i = 0; i < count; ++i) (*program)->headers.emplace_back(names[i], texts[i]);
  return 0;
}
int nvrtcDestroyProgram(Program** program) {
  delete *program;
  return 0;
}
int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  return compile(*program, count, options);
}
int nvrtcGetProgramLogSize(Program* program, std::size_t* size) {
  *size = program->log.size();
  return 0;
}
int nvrtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.data(), program->log.size());
  return 0;
}
int nvrtcGetCUBINSize(Program* program, std::size_t* size) {
  *size = program->code.size() + 1;
  return 0;
}
int nvrtcGetCUBIN(Program* program, char* code) {
  std::memcpy(code, program->code.c_str(), program->code.size() + 1);
  return 0;
}

int cublasLtCreate(Handle* handle) {
  static char one;
  *handle = &one;
  return 0;
}
int cublasLtMatmulDescCreate(Description** description, int, int) {
  *description = new Description();
  return 0;
}
int cublasLtMatmulDescSetAttribute(Description* description, int fact, const void* value,
                                   std::size_t size) {
  void* const places[] = {&description->turns_a, &description->turns_b, &description->epilogue,
                          &description->bias, &description->bias_type};
  constexpr int kFacts[] = {3, 4, 7, 8, 26};
  for (std::size_t i = 0; i < std::size(kFacts); ++i)
    if (kFacts[i] == fact) std::memcpy(places[i], value, size);
  return 0;
}
int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows, std::uint64_t columns,
                               std::int64_t leading) {
  *layout = new Layout{type, std::int64_t(rows), std::int64_t(columns), leading};
  return 0;
}
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int fact, const void* value,
                                     std::size_t size) {
  std::memcpy(fact == 5 ? static_cast<void*>(&layout->batch) : &layout->batch_stride, value, size);
  return 0;
}
int cublasLtMatmulPreferenceCreate(Handle* preference) { return cublasLtCreate(preference); }
int cublasLtMatmulPreferenceSetAttribute(Handle, int, const void*, std::size_t) { return 0; }
int cublasLtMatmulAlgoGetHeuristic(Handle, Description*, Layout* a, Layout*, Layout*, Layout* d,
                                   Handle, int, Heuristic* found, int* count) {
  // Like the real one: strides and rows of bytes are multiples of four, and there are more than 16 columns.
  const bool refused =
      a->type == kI8 && (d->rows % 4 != 0 || a->leading % 4 != 0 || d->columns <= 16);
  *found = {};
  *count = refused ? 0 : 1;
  return refused ? 15 : 0;
}
int cublasLtMatmul(Handle, Description* description, const void*, const void* a, Layout* of_a,
                   const void* b, Layout* of_b, const void* beta, const void* c, Layout*, void* d,
                   Layout* of_d, const Heuristic*, void*, std::size_t, Handle) {
  std::int32_t beta_bits = 0;
  std::memcpy(&beta_bits, beta, 4);
  const Product product{*description, *of_a, *of_b, *of_d, a, b, beta_bits != 0 ? c : nullptr, d};
  put_on_queue([product] { multiply(product); });
  return 0;
}

}  // extern "C"
