#include "hone/cuda/compiler.h"

#include <algorithm>
#include <mutex>

#include <fmt/ranges.h>
#include "hone/base/cache_folder.h"
#include "hone/base/error.h"
#include "hone/base/file.h"
#include "hone/base/hash.h"

#include "hone/cuda/shared_library.h"

namespace hone::cuda {
namespace {

using ProgramHandle = struct ProgramRecord*;

// NVRTC's functions, declared as in nvrtc.h. They return 0 on success.
struct Compiler {
  int (*version)(int*, int*) = nullptr;
  int (*create)(ProgramHandle*, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names) = nullptr;
  int (*destroy)(ProgramHandle*) = nullptr;
  int (*compile)(ProgramHandle, int options, const char* const*) = nullptr;
  int (*log_size)(ProgramHandle, std::size_t*) = nullptr;
  int (*log)(ProgramHandle, char*) = nullptr;
  int (*code_size)(ProgramHandle, std::size_t*) = nullptr;
  int (*code)(ProgramHandle, char*) = nullptr;
  CompilerState state;

  Compiler() {
    const char* const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
    const Symbol symbols[] = {{"nvrtcVersion", &version},
                              {"nvrtcCreateProgram", &create},
                              {"nvrtcDestroyProgram", &destroy},
                              {"nvrtcCompileProgram", &compile},
                              {"nvrtcGetProgramLogSize", &log_size},
                              {"nvrtcGetProgramLog", &log},
                              {"nvrtcGetCUBINSize", &code_size},
                              {"nvrtcGetCUBIN", &code}};
    state.missing = load_library(names, symbols);
    if (!state.missing.empty()) return;
    int major = 0, minor = 0;
    version(&major, &minor);
    state.version = fmt::format("{}.{}", major, minor);
  }
};

const Compiler& compiler() {
  static const Compiler loaded;
  return loaded;
}

// Kernels call fused multiply-adds by name, like the CPU's code. Functions run on the GPU by default, so that headers
// shared with the CPU's code need no CUDA keywords.
std::vector<std::string> options_for(const Program& program, const std::string& architecture) {
  std::vector<std::string> options = {"--gpu-architecture=" + architecture, "--std=c++17",
                                      "--fmad=false", "--device-as-default-execution-space"};
  for (const std::string& definition : program.definitions) options.push_back("-D" + definition);
  return options;
}

std::string_view source_of(const Program& program) {
  if (!program.source.empty()) return program.source;
  const auto found = std::ranges::find(source_files(), program.file, &SourceFile::name);
  HONE_ASSERT(found != source_files().end(), "no kernel source {}", program.file);
  return found->text;
}

// Returns a fingerprint of all that the machine code depends on. It covers every header, since there are few, not only
// those that the source includes.
std::string key_of(std::string_view source, const std::vector<std::string>& options) {
  Fingerprint print;
  const auto add = [&](std::string_view text) {
    print.add(text);
    print.add(std::string_view("\0", 1));
  };
  add(compiler().state.version);
  for (const std::string& option : options) add(option);
  for (const SourceFile& file : source_files()) {
    if (file.name.ends_with(".cu")) continue;
    add(file.name);
    add(file.text);
  }
  add(source);
  return print.text();
}

std::string compile(const Program& program, std::string_view source,
                    const std::vector<std::string>& options) {
  const Compiler& nvrtc = compiler();
  std::vector<const char*> names, texts, flags;
  for (const SourceFile& file : source_files()) {
    if (file.name.ends_with(".cu")) continue;
    names.push_back(file.name.data());
    texts.push_back(file.text.data());
  }
  for (const std::string& option : options) flags.push_back(option.c_str());
  const std::string text(source), name(program.file);
  ProgramHandle handle = nullptr;
  HONE_ASSERT(nvrtc.create(&handle, text.c_str(), name.c_str(), static_cast<int>(names.size()),
                           texts.data(), names.data()) == 0,
              "NVRTC rejects {}", name);
  const int result = nvrtc.compile(handle, static_cast<int>(flags.size()), flags.data());
  std::size_t size = 0;
  nvrtc.log_size(handle, &size);
  std::string log(size, '\0');
  nvrtc.log(handle, log.data());
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  std::string code;
  if (result == 0) {
    nvrtc.code_size(handle, &size);
    code.resize(size);
    nvrtc.code(handle, code.data());
  }
  nvrtc.destroy(&handle);
  if (result == 0) return code;
  const std::string message = fmt::format("NVRTC {} cannot compile {} ({}):\n{}",
                                          nvrtc.state.version, name, fmt::join(options, " "), log);
  if (program.source.empty()) throw InternalError(message);
  throw UserError(message);
}

fs::path kept_in(const std::string& key) {
  const fs::path folder = cache_folder();
  return folder.empty() ? fs::path() : folder / "cuda" / (key + ".cubin");
}

}  // namespace

CompilerState compiler_state() { return compiler().state; }

std::string machine_code(const Program& program, const std::string& architecture) {
  user_check(compiler().state.missing.empty(),
             "kernels for the GPU cannot be compiled: {}; install NVRTC of CUDA 12 or 13",
             compiler().state.missing);
  const std::string_view source = source_of(program);
  const std::vector<std::string> options = options_for(program, architecture);
  const fs::path file = kept_in(key_of(source, options));
  std::error_code error;
  if (!file.empty() && fs::exists(file, error)) return read_file(file);
  std::string code = compile(program, source, options);
  if (file.empty()) return code;
  try {  // a cache that cannot be written only costs time
    fs::create_directories(file.parent_path());
    write_file(file, code);
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
  }
  return code;
}

}  // namespace hone::cuda
